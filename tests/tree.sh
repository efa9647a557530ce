#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the source tree promises: the law of dependencies, a manual that knows
# every option and key, complete lists and catalogues.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
memtop=$PWD/memtop
work=$(mktemp -d /tmp/memtop-tree-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
unset LANGUAGE
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# law FOLDER ALLOWED...: project headers that FOLDER may include.
law() {
    folder=$1
    shift
    allowed=$(printf '%s|' "$@")
    find "$top/src/$folder" -name '*.[ch]' -exec grep -HE '^#include "' {} + |
        grep -vE "\"(config\\.h|(${allowed%|})/[a-z0-9-]+\\.h)\"" >"$work/found" &&
        fail "src/$folder includes what it must not: $(cat "$work/found")"
}

# only PATTERN FILE...: the files that may include a system header.
only() {
    pattern=$1
    shift
    grep -lE "^#include <($pattern)" $(find "$top/src" -name '*.[ch]') >"$work/found"
    while read -r file; do
        case " $* " in
        *" ${file#"$top"/src/} "*) ;;
        *) fail "$file includes <$pattern>" ;;
        esac
    done <"$work/found"
}

# --- dependencies ---
law base base
law segment segment base
law preload 'preload(/[a-z]+)?' segment base
law preload/log preload/log preload segment base
law preload/memprof preload/memprof preload/sites preload segment base
law preload/ring preload/ring preload segment base
law preload/sites preload/sites preload segment base
grep -lE '^#include "preload/[a-z]+/' "$top"/src/preload/*.[ch] >"$work/found"
[ "$(cat "$work/found")" = "$top/src/preload/start.c" ] ||
    fail "only preload/start.c knows features: $(cat "$work/found")"
law system system segment base
law symbols symbols system segment base
law monitor monitor symbols system segment base
law files files monitor symbols system segment base
law record record files monitor symbols system segment base
law replay replay files monitor symbols system segment base
law report report files monitor symbols system segment base
law tui tui report files monitor symbols system segment base
law programs programs tui report replay record files monitor symbols system segment base
only 'curses|ncurses|term\.h' tui/term.c
only 'gd' report/png.c report/png-draw.h report/png-draw.c
only 'libelf|gelf' system/elffile.c
only 'elfutils|dwarf' symbols/dwarf.c
only 'libiberty' symbols/demangle.c
only 'jansson' files/fields.h
only 'zstd' files/pack.c

# --- the library's objects do not call each other in circles ---
# (syscall is libc's for the library itself, though sandbox.c passes on all calls of it)
find "$top/src/preload" -name '*.c' |
    sed "s#^$top/##; s#\([^/]*\)\.c\$#libmemtop_so-\1.o#" >"$work/objects"
xargs nm -A <"$work/objects" >"$work/symbols"
awk '{ object = $1; sub(/:.*/, "", object); kind = $(NF - 1) }
     kind ~ /^[A-TV-Z]$/ { home[$NF] = object }
     kind ~ /^[Uw]$/ && $NF != "syscall" { user[NR] = object; wanted[NR] = $NF }
     END { for (i in user) if (wanted[i] in home) print user[i], home[wanted[i]] }' \
    "$work/symbols" | sort -u >"$work/calls"
[ "$(wc -l <"$work/calls")" -gt 100 ] || fail "few calls: $(cat "$work/calls")"
tsort "$work/calls" >"$work/order" 2>"$work/circles" ||
    fail "preload's objects call in a circle: $(cat "$work/circles")"

# --- names ---
# once WHAT PATTERN NAME: NAME, a sed expression, is what a line that matches PATTERN
# defines; nothing may be defined in two places.
once() {
    find "$top/src" "$top/include" -name '*.[ch]' -exec grep -hE "$2" {} + |
        sed -E "$3" | sort >"$work/found"
    [ "$(wc -l <"$work/found")" -gt 100 ] || fail "few ${1}s: $(cat "$work/found")"
    uniq -d "$work/found" >"$work/twice"
    [ ! -s "$work/twice" ] || fail "$1 in two places: $(xargs <"$work/twice")"
}
once guard '^#ifndef [A-Z0-9_]+_H$' 's/^#ifndef //'
once tag '(^|[ (])(struct|union|enum) [a-z][a-z0-9_]* \{' \
    's/.*(struct|union|enum) ([a-z][a-z0-9_]*) \{.*/\2/'

# --- no line is longer than .clang-format's limit ---
limit=$(sed -n 's/^ColumnLimit: //p' "$top/.clang-format")
find "$top/src" "$top/include" "$top/tests" "$top/bench" "$top/examples" -name '*.[ch]' \
    >"$work/sources"
[ "$(wc -l <"$work/sources")" -gt 300 ] || fail "few C files: $(cat "$work/sources")"
LC_ALL=C.UTF-8 xargs grep -nHE "^.{$((limit + 1))}" <"$work/sources" >"$work/found"
[ ! -s "$work/found" ] || fail "longer than $limit columns: $(cut -d : -f 1,2 "$work/found")"

# --- what doc/ARCHITECTURE names is there ---
grep -oE '\b(base|segment|preload|system|symbols|monitor|files|record|replay|report|tui|programs)/[a-z/-]+(\.[ch])?' \
    "$top/doc/ARCHITECTURE" | sort -u >"$work/named"
[ "$(wc -l <"$work/named")" -gt 40 ] || fail "few files in doc/ARCHITECTURE"
while read -r file; do
    [ -e "$top/src/$file" ] || [ -e "$top/src/$file.c" ] || [ -e "$top/src/$file.h" ] ||
        fail "doc/ARCHITECTURE names src/$file"
done <"$work/named"

# --- the manual ---
"$memtop" --help | sed -n 's/^ .*\(--[a-z-]*\).*/\1/p' | sort -u >"$work/options"
[ "$(wc -l <"$work/options")" -gt 20 ] || fail "few options: $(cat "$work/options")"
sed -n 's/^ *X([A-Z_]*, \(N_(\)\{0,1\}"\([^"]*\)"[),].*/\2/p' "$top/src/tui/keys.h" |
    tr ' ' '\n' | grep -v '^$' | sort -u >"$work/keys"
[ "$(wc -l <"$work/keys")" -gt 15 ] || fail "few keys: $(cat "$work/keys")"
# The page in other languages has the same options, keys and sections.
parts() {
    grep -oE '^\.(SH|SS|TP|TS|EX|RS)' "$1"
}
for manual in "$top/doc/memtop.1" "$top"/doc/*/memtop.1; do
    page=${manual#"$top/doc/"}
    sed 's/\\-/-/g; s/\\f[A-Z]//g' "$manual" >"$work/manual"
    while read -r option; do
        grep -qF -e "$option" "$work/manual" || fail "$option is not in $page"
    done <"$work/options"
    sed -n '/^_$/,/^\.TE/p' "$work/manual" | cut -f 1 >"$work/table"
    while read -r key; do
        grep -qiF -e "$key" "$work/table" || fail "key $key is not in $page"
    done <"$work/keys"
    parts "$top/doc/memtop.1" >"$work/parts"
    parts "$manual" | cmp -s - "$work/parts" ||
        fail "$page has other sections and paragraphs than memtop.1"
done
if command -v groff >/dev/null 2>&1; then
    for page in "$top"/doc/memtop*.1 "$top"/doc/*/*.1 "$top/doc/libmemtop.7" \
        "$top/doc/memprof.3"; do
        groff -t -ww -man -K utf8 -Tutf8 "$page" 2>&1 >/dev/null | grep . &&
            fail "groff complains of $page"
    done
fi

# --- messages ---
grep -lE '(^|[^A-Za-z_])(_|N_|ngettext)\("' $(find "$top/src" -name '*.[ch]') |
    sed "s#^$top/##" | sort >"$work/marked"
grep -v '^#' "$top/po/POTFILES.in" | sort -u >"$work/listed"
missing=$(comm -23 "$work/marked" "$work/listed" | grep -v '^src/base/i18n.h$')
[ -z "$missing" ] || fail "not in po/POTFILES.in: $missing"
if command -v xgettext >/dev/null 2>&1; then
    xgettext -D "$top" -f "$top/po/POTFILES.in" -k_ -kN_ -kngettext:1,2 \
        --from-code=UTF-8 -o "$work/memtop.pot" 2>/dev/null
    # translated_within COLUMNS WORD...: where the display has no more room.
    translated_within() {
        columns=$1
        shift
        for word; do
            text=$(awk -v line="msgid \"$word\"" '$0 == line { getline; print; exit }' \
                "$catalogue" | sed 's/^msgstr "\(.*\)"$/\1/')
            [ -n "$text" ] || fail "$catalogue has no '$word'"
            [ "$(printf %s "$text" | LC_ALL=C.UTF-8 wc -L)" -le "$columns" ] ||
                fail "$catalogue: '$text' is wider than $columns columns"
        done
    }
    grep -v '^#' "$top/po/LINGUAS" | tr ' ' '\n' | grep . | sort >"$work/languages"
    (cd "$top/po" && ls ./*.po) | sed 's#^\./##; s#\.po$##' | sort >"$work/catalogues"
    cmp -s "$work/languages" "$work/catalogues" ||
        fail "po/LINGUAS has $(xargs <"$work/languages"), catalogues $(xargs <"$work/catalogues")"
    for catalogue in "$top"/po/*.po; do
        msgattrib --only-fuzzy --no-obsolete "$catalogue" | grep -q '^msgid' &&
            fail "$catalogue has fuzzy entries"
        msgattrib --only-obsolete "$catalogue" | grep -q '^#~ msgid' &&
            fail "$catalogue has obsolete entries"
        msgfmt -c -o "$work/memtop.mo" "$catalogue" || fail "msgfmt $catalogue"
        translated_within 8 STARTING 'NO DATA' RUNNING IDLE STOPPED STALE EXITED KILLED \
            GONE PAUSED HISTORY SAVED other
        translated_within 9 failed calls/s
        translated_within 2 s d h m ms
        msgcmp "$catalogue" "$work/memtop.pot" >"$work/cmp" 2>&1 ||
            fail "$catalogue is not complete: $(head -n 6 "$work/cmp")"
        grep 'is not used' "$work/cmp" && fail "$catalogue has entries no source has"
    done
    # French has a no-break space within its quotes and before : ; ! and ?
    awk '/^msgid/ || !/^(msgstr|")/ { inside = 0 } /^msgstr/ { inside = 1 }
         inside && / [:;!?]|« | »/ { print }' "$top/po/fr.po" >"$work/breaks"
    [ ! -s "$work/breaks" ] || fail "po/fr.po lacks a no-break space: $(cat "$work/breaks")"
fi

[ $failures = 0 ] && echo "all passed"
exit $failures

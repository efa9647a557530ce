#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The completion of bash: every option of --help is offered, words for every value
# that is one of some words, and memtop takes each of them; commands, files, processes.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
build=$PWD
support=/usr/share/bash-completion/bash_completion
[ -r $support ] || exit 77
work=$(mktemp -d /tmp/memtop-completion-XXXXXX) || exit 99
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export PATH=$build:$PATH MEMTOP_DIR=$work/segments LC_ALL=C.UTF-8
mkdir -m 700 "$MEMTOP_DIR"
# shellcheck disable=SC1090
. $support
# shellcheck disable=SC1091
. "$top/completion/memtop.bash"
shopt -s extglob
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# Outside of a completion the shell's own refuses to work.
# shellcheck disable=SC2317 # the completion calls it
compopt() {
    :
}

# PROGRAM's long options as --help has them, with their values.
options_of() {
    "$1" --help | sed -nE 's/^  (-.)?[, ]*(--[a-z-]+)(\[?=[A-Z|]+)?.*/\2\3/p'
}

# complete_line WORD...: the last one is being typed; = is a word of its own, as for
# readline.  The answers are left in COMPREPLY.
complete_line() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMP_LINE=$*
    COMP_LINE=${COMP_LINE/ =?( )/=}
    COMP_POINT=${#COMP_LINE}
    COMP_TYPE=9
    COMPREPLY=()
    "$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')" "$1" "${!#}" "${*: -2:1}" 2>"$work/said"
    [ ! -s "$work/said" ] || fail "$*: $(cat "$work/said")"
}

# offered WORDS WORD...: completing these gives just that, in any order.
offered() {
    local wanted=$1

    shift
    complete_line "$@"
    [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs)" = "$wanted" ] ||
        fail "$*: offers '${COMPREPLY[*]}', not '$wanted'"
}

# --- options ---
for program in memtop memtopstat memtop-munge memtop-replay; do
    complete_line $program --
    printf '%s\n' "${COMPREPLY[@]}" | sort >"$work/offered"
    options_of $program | sed 's/\[.*//; s/=.*/=/' | sort >"$work/known"
    [ "$(wc -l <"$work/known")" -ge 4 ] || fail "few options of $program"
    cmp -s "$work/known" "$work/offered" ||
        fail "$program's options: $(diff "$work/known" "$work/offered")"
done
offered "--accounting=" memtop --acc

# --- values: those that are neither of a file, a number, nor free text are words ---
options_of memtop | tr -d '[' | grep '=' |
    grep -vE '=(FILE|FILE\|FD|NUM|SECS|SIZE|RATE|STRING|COMMAND|NAME|PID\|NAME|TIME|FILTER)$' >"$work/values"
[ "$(wc -l <"$work/values")" -ge 5 ] || fail "few values: $(cat "$work/values")"
while IFS='=' read -r option _; do
    complete_line memtop "$option" =
    [ ${#COMPREPLY[@]} -ge 2 ] || fail "no words for $option"
    for word in "${COMPREPLY[@]}"; do
        [[ $word != *\\\> ]] || word=${word%\\>}\>1M/min
        [[ $word != @(heap|stack)* ]] || word=${word%/min}
        [[ $word != *: ]] || word=$word-
        (cd "$work" && memtop -Bq --report=overview --sites "$option=$word" true </dev/null \
            >/dev/null 2>said) ||
            fail "memtop does not take $option=$word: $(cat "$work/said")"
    done
done <"$work/values"
offered "block braille" memtop -g b
offered "block braille" memtop -Bqg b
offered "block braille" memtop --graph b
offered "block braille" memtop -q --graph = b

# --- files, commands and their own arguments ---
cd "$work" || exit 99
mkdir bin && printf '#!/bin/sh\n' >bin/memtop-example && chmod +x bin/memtop-example
PATH=$work/bin:$PATH
echo >a-file.txt
offered a-file.txt memtop -o a-f
offered a-file.txt memtop --read = a-f
offered a-file.txt memtopstat a-f
offered a-file.txt memtopstat -x 300 a-f
offered a-file.txt memtop-munge a-f
offered "jemalloc" memtop-replay --compare je
offered memtop-example memtop memtop-ex
offered memtop-example memtop -B -i 1 memtop-ex
offered memtop-example memtop --color memtop-ex
offered memtop-example memtop -- memtop-ex
offered memtop-example memtop -n memtop-ex
offered a-file.txt memtop --format = json memtop-example a-f
offered a-file.txt memtop -Bi 1 -- memtop-example -o a-f

# --- processes that are observed: others may be, too ---
LD_PRELOAD=$build/libmemtop.so tail -f /dev/null &
server=$!
until memtop -l 2>/dev/null | grep -qw "$server"; do
    kill -0 "$server" || break
done
for option in -a "--attach ="; do
    # shellcheck disable=SC2086 # two words
    complete_line memtop $option ""
    [[ " ${COMPREPLY[*]} " == *" $server "* ]] || fail "$option does not offer $server"
    [[ ${COMPREPLY[*]} == +([0-9 ]) ]] || fail "$option offers ${COMPREPLY[*]}"
done

[ $failures = 0 ] && echo "all passed"
exit $failures

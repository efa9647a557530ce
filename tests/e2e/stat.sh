#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtopstat: memusagestat's command line, any file, always a picture or a message.
. "$(dirname "$0")/common.sh"
tested=$memtopstat
LC_ALL=C.UTF-8

# picture FILE WIDTH HEIGHT: a PNG of that size, which is then removed.
picture() {
    # shellcheck disable=SC2046
    set -- "$1" "$2" "$3" $(od -An -t u1 -j 16 -N 8 "$1")
    [ $(($4 * 16777216 + $5 * 65536 + $6 * 256 + $7)) = "$2" ] &&
        [ $(($8 * 16777216 + $9 * 65536 + ${10} * 256 + ${11})) = "$3" ] ||
        fail "$1 is not of $2x$3: $*"
    rm -f "$1"
}

"$memtop" -B -q -d good "$cases" 1 || exit 99
built_with HAVE_GD || skip "without libgd"
run 0 good out.png
rm out.png

# --- the command line ---
run 0 good
silent err out
picture good.png 800 600
run 0 -tT good --string=title -o other.png -x 300 -y200
picture other.png 300 200
run 0 good third.png -o other.png
picture third.png 800 600
[ ! -e other.png ] || fail "-o counts although there is an OUTFILE"
run 0 -t -x 0 -y 0 good
picture good.png 800 600
run 0 -x -5 -y none good
picture good.png 800 600
run 0 -x 1 -y 1 good
picture good.png 100 80
run 0 --time --total --x-size=400 --y-size 400 --output f.png good
picture f.png 400 400
run 0 -s "Заголовок 日本語 العربية $(printf '\033[31m')" good
picture good.png 800 600

# --- letters missing in all fonts are reported; only fonts of one directory are used
# ---
# with_fonts DIRECTORY ARG...
with_fonts() {
    printf '<?xml version="1.0"?><fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>' \
        "$1" "$work/cache" >fonts.conf
    shift
    FONTCONFIG_FILE=$work/fonts.conf
    export FONTCONFIG_FILE
    run 0 "$@" good
    picture good.png 800 600
    unset FONTCONFIG_FILE
}
mkdir none fonts
with_fonts "$work/none" -s "Plain…"
silent err
with_fonts "$work/none" -s "Заголовок"
says err 'some letters are missing in the picture: no installed font has them'
dejavu=$(fc-match -f '%{file}' 'DejaVu Sans' 2>/dev/null)
case $dejavu in
*/DejaVuSans.ttf)
    cp "$dejavu" fonts
    with_fonts "$work/fonts" -s "Größe — Заголовок"
    silent err
    if built_with HAVE_FONTCONFIG; then
        with_fonts "$work/fonts" -s "標題"
        says err 'some letters are missing in the picture'
    fi
    ;;
esac

run 64
says out "Try \`memtopstat --help' or \`memtopstat --usage'"
run 64 good a b
says out Try
run 64 --bogus
says err "unrecognized option '--bogus'"
run 64 -o
says err "requires an argument"
run 0 --help
says out 'DATAFILE [OUTFILE]'
run 0 --version
says out memtop
run 2 missing
says err 'cannot read missing: No such file'
run 2 .
says err 'cannot read .: Is a directory'
echo precious >there
run 1 good there
says err 'there: File exists'
[ "$(cat there)" = precious ] || fail "a file was overwritten"
run 1 good missing/there
says err 'cannot create missing/there: No such file'
ln -s "$memtopstat" memusagestat
cp ../"$(basename "$work")"/good copy
./memusagestat copy && ./memusagestat copy || fail "under memusagestat's name: $?"
picture copy.png 800 600
if [ -w /dev/full ]; then
    ./memusagestat copy /dev/full 2>err && fail "/dev/full was written to"
    says err 'cannot write /dev/full: No space left'
    [ -c /dev/full ] || fail "/dev/full is gone"
fi

# --- files in all conditions, which are never changed ---
record() { # HEAP STACK TIME, each below 256
    printf "$(printf '\\%03o\\0\\0\\0\\0\\0\\0\\0' "$1" "$2" "$3")"
}
{ record 0 0 9; record 0 0 9; record 50 3 10; record 70 1 20; } >killed
run 0 killed
says err 'killed was not completed'
picture killed.png 800 600
{ record 0 9 5; record 9 9 5; record 9 1 5; } >equal # memusagestat: SIGFPE
for options in '' -t -T -tT; do
    # shellcheck disable=SC2086
    run 0 $options equal
    silent err out
    picture equal.png 800 600
done
{ record 0 9 5; record 9 9 99; record 9 1 6; record 0 0 0; record 8 1 50; record 7 1 20; } >odd
run 0 -t odd
says err 'odd: 1 record is empty'
says err 'odd: 1 record is older'
picture odd.png 800 600
{ cat odd; record 7 1 20; printf xyz; } >tail
run 0 tail
says err 'tail: 3 bytes at the end'
says err 'tail: 1 record at the end was written twice'
picture tail.png 800 600
{ record 0 0 9; record 0 0 9; } >empty
run 0 empty
run 0 -tT empty e2.png
picture empty.png 800 600
{ record 0 0 9; printf 12345; } >short
run 2 short
says err 'cannot read short: too short'
: >nothing
run 2 nothing
{ record 0 0 9; record 0 0 9; head -c 4800 /dev/urandom; } >noise # any bytes are records
for options in '' -t -T -tT; do
    # shellcheck disable=SC2086
    run 0 $options noise noise.png
    picture noise.png 800 600
done
head -c 4800 /dev/urandom >noise # but not headers
run 2 noise none.png
says err 'cannot read noise: it is binary, but not of a kind that memtop reads'
run 2 /etc/passwd none.png
says err 'cannot read /etc/passwd: it is text, but not of a kind that memtop reads'
[ ! -e none.png ] || fail "a picture of anything"
chmod 400 good # memusagestat refuses it
cksum good >before
run 0 good
picture good.png 800 600
cksum good | cmp -s - before || fail "the data file was changed"
if command -v memusage >/dev/null; then
    memusage -d theirs "$cases" 1 2>/dev/null
    run 0 -t theirs
    picture theirs.png 800 600
    memusage -u -d theirs sh -c 'kill -9 $$' 2>/dev/null
    run 0 theirs
fi

# --- a session is not taken for a data file, however damaged ---
"$memtop" -B -q --save=kept.memtop "$cases" 1 || fail "no session: $(cat err)"
run 2 kept.memtop
says err 'kept.memtop is a session, which has no calls: memtop -r shows it, memtopstat --export exports its sites'
[ ! -e kept.memtop.png ] || fail "a session was drawn as a data file"

# --- memtop -p draws every call with the same code ---
for options in '' -t -T '-t -T --title x -x 640 -y 480'; do
    # shellcheck disable=SC2086
    "$memtop" -B -q $options -p drawn "$cases" 1 2>err || fail "-p $options: $(cat err)"
    case $options in
    *-x*) picture drawn.png 640 480 ;;
    *) picture drawn.png 800 600 ;;
    esac
done
echo old >drawn.png
"$memtop" -B -q -p drawn true 2>err && fail "-p overwrote a file"
ln -s "$memtop" memusage
./memusage -p drawn.png "$cases" 1 2>err || fail "memusage -p: $(cat err)"
picture drawn.png 800 600

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The exit status of each program, under each of its names, for each kind of error.
. "$(dirname "$0")/common.sh"
build=${memtop%/*}
# A replay leaves the blocks live that the log leaves.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
ln -s "$memtop" memusage
ln -s "$memtopstat" memusagestat
built_with HAVE_GD || skip 'without libgd nothing can be drawn'

# --- what is given ---
"$memtop" -B -q -d dat "$cases" 4 || fail 'no data file'
printf '7 7 malloc(10)=0x10\nrubbish\n' >log
printf '1 1 malloc(10)=#1\nrubbish\n' >munged
printf '1 1 malloc(10)=0x10\n' >clean
echo 'nothing that is known' >text
echo precious >existing

# --- the table ---
# The columns are those of src/programs/status.c, the rows the kinds of errors; - marks
# errors that a program does not have.
table='
what        memtop memusage memtopstat memusagestat munge compat replay
fine             0        0          0            0     0      0      0
option         125        1         64           64    64     64     64
argument       125        1         64           64    64     64     64
nofile         125        1         64            1     -      -      -
manyfiles        -        -         64            1    64     64     64
missing        125        -          2            1     2      2      2
directory      125        -          2            1     2      2      2
kind           125        -          2            1     2      0      2
empty          125        -          2            1     2      0      2
refused          0        -          1            1     1      0      1
existing       125        -          1            -     -      -      -
unwritable     125      125          1            1     -      -      -
full           125      125          1            1     2      2      2
nothing          -        -          1            -     -      -      2
limit          124        -          -            -     -      -      -
cannot         126      126          -            -     -      -      -
notfound       127      127          -            -     -      -      -
program          7        7          -            -     -      -      -
killed         137      137          -            -     -      -      -
'

# call COLUMN ARG...
call() {
    column=$1
    shift
    case $column in
    memtop) "$memtop" -B -q "$@" ;;
    memusage) ./memusage "$@" ;;
    memtopstat) "$memtopstat" "$@" ;;
    memusagestat) ./memusagestat "$@" ;;
    munge) "$build/memtop-munge" "$@" ;;
    compat) "$build/memtop-munge" --compat "$@" ;;
    replay) "$build/memtop-replay" "$@" ;;
    esac
}

# input COLUMN FILE: lets the program read the file.
input() {
    case $1 in
    memtop) call "$1" -r "$2" ;;
    memtopstat | memusagestat) call "$1" "$2" picture.png ;;
    *) call "$1" "$2" ;;
    esac
}

# wrong ROW COLUMN: makes that error.
wrong() {
    case $1.$2 in
    fine.memtop | fine.memusage) call "$2" true ;;
    fine.*stat) input "$2" dat ;;
    fine.replay) input "$2" munged.good ;;
    fine.*) input "$2" clean ;;
    option.*) call "$2" --bogus ;;
    argument.memtop) call "$2" --max-heap=much true ;;
    argument.memusage) call "$2" -d ;;
    argument.memtopstat) call "$2" --pid=none dat ;;
    argument.memusagestat) call "$2" -o ;;
    argument.munge | argument.compat) call "$2" --compat=x ;;
    argument.replay) call "$2" --stats-every=x munged ;;
    nofile.*) call "$2" ;;
    manyfiles.*) call "$2" a b c ;;
    missing.*) input "$2" none ;;
    directory.*) input "$2" . ;;
    kind.*) input "$2" text ;;
    empty.*) input "$2" /dev/null ;;
    refused.replay) input "$2" munged ;;
    refused.*) input "$2" log ;;
    existing.memtop) call "$2" -d existing true ;;
    existing.memtopstat) call "$2" dat existing ;;
    unwritable.memtop | unwritable.memusage) call "$2" -d none/such true ;;
    unwritable.*) call "$2" dat none/such ;;
    full.memtop | full.memusage) call "$2" -d /dev/full true ;;
    full.memtopstat | full.memusagestat) call "$2" dat /dev/full ;;
    full.replay) call "$2" --help >/dev/full ;;
    full.*) input "$2" clean >/dev/full ;;
    nothing.memtopstat) call "$2" --pid=999 log picture.png ;;
    nothing.replay) call "$2" --pid=999 munged ;;
    limit.memtop) call "$2" --max-allocs=0 ls ;;
    cannot.*) call "$2" ./text ;;
    notfound.*) call "$2" ./none ;;
    program.*) call "$2" sh -c 'exit 7' ;;
    killed.*) call "$2" sh -c 'kill -KILL $$' ;;
    *) echo "nothing is wrong: $1 $2" >&2 && return 99 ;;
    esac
}

head -n 1 munged >munged.good
[ -w /dev/full ] || table=$(printf '%s\n' "$table" | grep -v '^full')
printf '%s\n' "$table" | grep . >cells
read -r _ columns <cells
sed 1d cells >rows
tried=0
while read -r row words; do
    # shellcheck disable=SC2086
    set -- $words
    for column in $columns; do
        if [ "$1" != - ]; then
            rm -f picture.png
            wrong "$row" "$column" >out 2>err </dev/null
            got=$?
            [ $got = "$1" ] ||
                fail "$row: $column ends with $got, not $1: $(head -n 3 err)"
            tried=$((tried + 1))
        fi
        shift
    done
done <rows
[ $tried -ge 70 ] || fail "only $tried cases"
[ "$(cat existing)" = precious ] || fail 'a file was overwritten'

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sessions saved and opened again: the same pages, at the end and in the past; of
# records of calls, what they contain; of other files, one line that says why not.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'EOT'
program ./prog --size 100
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 malloc.bytes=10M total=10M size.24=150 threads=1 band.requested=10M band.held=1M
300 heap=100M blocks=24537 malloc=1204871 malloc.bytes=200M total=200M size.300=40 usable=104M
1500 heap=60M blocks=20000 malloc=1204901 free=4537 rss=99M calloc=4 calloc.failed=1 size.70000=3
1800 say half of it is done
1900 process 24900 24817 heap=3M peak=5M rss=7M allocations=12 start=500 before=sh>env state=exited : worker --all
1901 process 24901 24900 start=600 state=killed : static
2500 exit=3
EOT

# The screen without state, message, and the name of the end of the time axis.
figures() {
    screen | sed '1d;23d'
}

stand_still() {
    figures >one
    sleep 0.1
    figures >two
    cmp -s one two
}

# keep NAME TEXT: keeps the screen once it shows TEXT and no longer changes.
keep() {
    shows "$2"
    await stand_still
    cp two "$1"
}

same() {
    figures >now
    cmp -s now "$1"
}

# as_kept NAME: waits until the screen equals the kept one.
as_kept() {
    await same "$1" || diff "$1" now
}

# pages CHECK: checks all pages, at the end and at two earlier moments.
pages() {
    for moment in end begin middle; do
        case $moment in
        begin) keys Home ;;
        middle) keys S-Right ;;
        esac
        case $1:$moment in
        keep:begin) shows 'heap 10.00 MiB' ;;
        keep:middle) hides 'heap 10.00 MiB' ;;
        esac
        # A text that the page before does not have.
        for page in 2:posix_memalign '3:─ Block ' '4:─ Threads ' '5:─ Processes ' \
            '6:─ Memory ' '8:─ Messages ' '1:─ Heap '; do
            keys "${page%%:*}"
            $1 "page-$moment-${page%%:*}" "${page#*:}"
        done
    done
    keys End
}

# --- a session, at the end of the run ---
start 80 24 "$memtop -i 0.1 --source=script:script"
shows 'EXITED 3'
pages keep
keys S
shows 'Saved memtop-24817-'
keys q
ends 3
set -- memtop-24817-??????.memtop
[ $# = 1 ] && [ -f "$1" ] || fail "saved: $*"
start 80 24 "$memtop -r $1"
shows SAVED
shows 'exited with status 3'
pages as_kept
keys 7
shows 'The output was not recorded.'

# --- keys that need a program ---
for key in Space + - d Z K i; do
    keys 1
    keys "$key"
    shows 'its program is not running'
    keys l l
    shows 'Linear scale'
done
keys C-c
ends 0

# --- in the middle of a run, with a mark; and saved again from there ---
start 80 24 "$memtop -i 0.1 --save=kept.memtop --source=script:script"
shows 'EXITED 3'
keys Home
shows 'History 00:00:00 of'
keys p
shows 'Mark set: heap 10.00 MiB'
keys End
shows 'Back at the end'
keep marked 'Since mark +50.00 MiB, +19800 blocks'
keys S
shows 'Saved memtop-24817-'
keys q
ends 3
rm -f "$1"
mv memtop-24817-*.memtop marked.memtop
start 80 24 "$memtop -r marked.memtop"
as_kept marked
keys S
shows 'Saved memtop-24817-'
keys q
ends 0
mv memtop-24817-*.memtop again.memtop
for file in again kept; do
    start 80 24 "$memtop -r $file.memtop"
    as_kept marked
    keys q
    ends 0
done
start 80 24 "$memtop --lines -r kept.memtop"
shows 'SAVED, 00:00:'
keys q
ends 0

# --- a program, its output and threads; --save; while it runs ---
: >running
cat >prog.sh <<'EOT'
for i in 1 2 3; do echo "line $i"; done
while [ -e running ]; do sleep 0.05; done
EOT
start 80 24 "$memtop --save=whole.memtop -- sh prog.sh"
runs
keys o
shows 'line 3'
keys S
shows 'Saved memtop-'
mv memtop-*.memtop running.memtop
rm running
shows 'EXITED 0'
keys q
ends 0
for file in running whole; do
    start 80 24 "$memtop -r $file.memtop"
    shows SAVED
    keys o
    shows 'line 3'
    keys 1
    shows '─ end'
    case $file in
    running) shows 'while the program ran' ;;
    whole) shows 'exited with status 0' ;;
    esac
    keys q
    ends 0
done

# --- records of calls ---
"$memtop" -B -q -d new.dat -- ls / >/dev/null 2>&1
start 80 24 "$memtop -r new.dat"
shows SAVED
shows 'heap and stack over time'
shows '┤'
shows ' not recorded'
keys 3
shows ' not recorded'
keys 4
shows 'not recorded'
keys 6
shows ' not recorded'
keys 1 Home
shows 'History 00:00:00 of'
keys p
shows 'No mark was set: calls were not recorded'
keys S
shows 'Saved memtop-0-'
keys q
ends 0
mv memtop-0-*.memtop new.memtop
start 80 24 "$memtop -r new.memtop"
shows 'heap and stack over time'
shows ' not recorded'
keys q
ends 0
# memusage's times are ticks: headers, then two calls.
{
    printf '\0%.0s' 1 2 3 4 5 6 7 8
    printf '\0\10\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
    printf '\0\4\0\0\0\0\0\0\0\4\0\0\0\0\0\0\11\1\0\0\0\0\0\0'
    printf '\0\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
    printf '\0\4\0\0\0\0\0\0\0\1\0\0\0\0\0\0\201\0\0\0\0\0\0\0'
} >old.dat
start 80 24 "$memtop -r old.dat"
shows '100%'
shows '1.000 KiB'
keys Left
shows 'History '
shows '% of 100%'
keys q
ends 0
stop

# --- without the display ---
run 0 -B -r whole.memtop
says err 'Memory usage summary: heap total:'
run 0 -B -r whole.memtop --format=json -o -
says out '"type":"exit"'
says out '"status":0'
run 0 -B -q -r whole.memtop --save=copy.memtop
[ -s copy.memtop ] || fail 'no copy'
run 125 -B -q -r whole.memtop --save=copy.memtop
says err 'cannot write copy.memtop: File exists'
run 0 -B -r new.dat
says err 'heap peak:'
says err 'calls and blocks by size were not recorded'
run 0 -B -r new.dat --format=json -o -
says out '"heap":'
grep -q '"calls"' out && fail 'calls of a record that has none'
run 0 -B -r old.dat
says err 'heap peak: 1024, stack peak: 1024'

# --- files that are not sessions ---
# refused TEXT: one line says so.
refused() {
    run 125 -B -r hostile
    says err "$1"
    [ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
}
run 125 -B -r none
says err 'cannot read none: No such file'
run 125 -B -r .
says err 'cannot read .: Is a directory'
mkfifo pipe
for kind in '-r' '--format=json -r'; do
    # Nobody writes to it.
    # shellcheck disable=SC2086
    run 125 -B $kind pipe
    says err 'pipe is a pipe or a device: copy it to a file first'
done
run 125 -r whole.memtop ls
says err 'can only be used without PROGRAM'
: >hostile
refused 'cannot read hostile: it is empty'
echo 'something else' >hostile
refused 'cannot read hostile: it is text, but not of a kind that memtop reads'
head -c 300 whole.memtop >hostile
refused 'is not a memtop session: it is damaged or cut short'
# Damage in the first block may hide what kind of file it is.
{ head -c 400 whole.memtop; echo garbage; tail -c +409 whole.memtop; } >hostile
refused 'hostile'
head -c 20 new.dat >hostile
refused 'is not a memtop session: too short for a data file'
echo '{"v":1,"type":"session"}' >head
for line in '{"type":"process","measured":true,"heap":-1}' \
    '{"type":"process","pid":"one"}' '{"type":"process","sizes":7}' \
    '{"type":"moment","t_ns":1e9}' '{"type":"history","samples":[[9,9]]}' \
    '{"type":"output","lines":{}}' '[[[[' '"' '{"type":"end"}'; do
    { cat head; printf '%s\n' "$line"; } >hostile
    refused 'hostile is not a memtop session: '
done
finish

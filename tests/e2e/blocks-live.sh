#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Reports by block size while a program runs and at its end, the page of the display,
# and reports that another memtop asks for.
. "$(dirname "$0")/tmux.sh"
LC_ALL=C.UTF-8
export LC_ALL

cat >steps.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static void *volatile blocks[20];
int main(int argc, char **argv)
{
    for (int i = 0; i < 12; i++)
        blocks[i] = malloc(7777);
    for (int i = 0; i < 5; i++)
        free(blocks[i]);
    blocks[0] = realloc(blocks[5], 8888);
    if (argc > 2 && fork() == 0) {
        blocks[12] = malloc(6666);
        free(blocks[6]);
        _exit(0);
    }
    if (argc > 2)
        wait(NULL);
    if (argc > 1) {
        write(1, "ready\n", 6);
        while (access(argv[1], F_OK) == 0)
            usleep(10000);
    }
    return 0;
}
EOF
compile steps -O0 || exit 99

# --- at the end ---
run 0 -B -q --report=overview,blocksize,loadpeak -o report ./steps
silent out err
like report '^  *7777  *12 '
like report '^  *8888  *1 '
sed -n '/Most blocks/,$p' report >peaks
like peaks '^ *7777 *12 *6 *12$'
like peaks '^ *8888 *1 *1 *1$'
# The usual report comes first, and both go to the same place.
run 0 -B --report=overview ./steps
says err 'Memory usage summary'
[ "$(grep -n 'Memory usage summary' err | cut -d: -f1)" -lt "$(grep -n '^Overview' err | cut -d: -f1)" ] ||
    fail "the order: $(cat err)"
run 0 -B -q --report=full --sizes=7777 --logfile-name=steps --group=no -o full ./steps
[ "$(head -n 1 steps.log | tr '\t' ' ')" = 'ms _7777' ] || fail "$(head -n 1 steps.log)"
[ "$(tail -n 1 steps.log | cut -f 2)" = 6 ] || fail "$(tail -n 1 steps.log)"
[ "$(cut -f 2 steps.log | sort -n | tail -n 1)" = 12 ] || fail "$(cat steps.log)"
run 0 -B -q --report=overview --compat --caption=Steps -o compat ./steps
[ "$(head -n 1 compat)" = Steps ] || fail "$(cat compat)"
says compat 'begin of memory usage statictic array  +++'

# The same from a trace.
run 0 -B -q --record=trace ./steps
tested=$memtopstat
run 0 --report=blocksize,loadpeak trace
like out '^ *7777 *12 *6 *12$'
run 0 --report=blocksize --report-format=csv trace
like out '^7777,12,93324,6,12'
tested=$memtop

# --- a pool and the memory it gets from malloc: at the end and from a trace ---
pool=$(dirname "$memtop")/examples/pool
both() {
    sed '/own pool:/,$d' "$1" >asked
    sed '1,/own pool:/d' "$1" >pooled
    like asked 'allocations  *8$'
    like asked 'live at the end  *8 blocks, 18432 B$'
    like asked '^ *4096 *2 *2 *2$'
    like pooled 'allocations  *2000$'
    like pooled 'live at the end  *0 blocks, 0 B$'
    like pooled '^ *64 *75 *0 *500$'
}
if grep -q __asan_init "$pool"; then
    echo "not tried: a pool of a program with a sanitizer"
else
    run 0 -B -q --report=overview,loadpeak --blocks=both --record=pooled.trace -o views "$pool"
    both views
    "$memtopstat" --report=overview,loadpeak --blocks=both pooled.trace >views ||
        fail "no views of a trace"
    both views
    # For programs, too: each line or table says which view it belongs to.
    run 0 -B -q --report=overview --blocks=both --report-format=json -o views.json "$pool"
    "$memtopstat" --report=overview --blocks=both --report-format=json pooled.trace \
        >read.json || fail "no JSON of a trace"
    for file in views.json read.json; do
        [ "$(grep -c '^{"v":1,"type":"blocks.*}$' $file)" = "$(wc -l <$file)" ] ||
            fail "no JSON: $(cat $file)"
        like $file '"type":"blocks".*"blocks":"malloc".*"allocations":8,'
        like $file '"type":"blocks".*"blocks":"pool".*"allocations":2000,'
    done
    run 0 -B -q --report=overview --blocks=both --report-format=csv -o views.csv "$pool"
    "$memtopstat" --report=overview --blocks=both --report-format=csv pooled.trace \
        >read.csv || fail "no CSV of a trace"
    for file in views.csv read.csv; do
        [ "$(grep -c '^size,allocations,' $file)" = 2 ] || fail "heads: $(cat $file)"
        [ "$(grep -c '^$' $file)" = 1 ] || fail "no empty line: $(cat $file)"
        ! grep -q '[^a-z0-9_,]' $file || fail "no CSV: $(cat $file)"
    done
fi

# --- at a time ---
run 0 -B -q --report=overview --at=0 -o never ./steps
says never 'No allocation is recorded'
run 0 -B -q --report=blocksize --at=1h -o whole ./steps
like whole '^ *7777 *12 '

# --- children ---
run 0 -B -q --report=blocksize -o one ./steps '' fork
! grep -q '^ *6666' one || fail "a child's block is the program's"
run 0 -B -q --report=overview,blocksize --process=all --record=family -o all ./steps '' fork
like all '^ *6666 *1 '
like all '^ *7777 *12 '
# Blocks inherited by fork() are known; they are gone with the child, in the record,
# too.
tested=$memtopstat
run 0 --report=overview --process=all family
tested=$memtop
for file in all out; do
    like $file '^ *live before the first call *[1-9][0-9]* B$'
    like $file '^ *frees of earlier blocks *1$'
    ! grep -q 'unknown' $file || fail "unknown: $(cat $file)"
    grep 'live at the end' $file >>ends
done
[ "$(uniq ends | wc -l)" = 1 ] || fail "the ends differ: $(cat ends)"

# --- options that do not fit together ---
run 125 -B --sort=size ./steps
says err '--sort can only be used with --report'
run 125 --report=full -r trace
says err '--report can only be used with PROGRAM or --attach'
run 125 -B --report=nothing ./steps
run 125 -B --report=full --params=nowhere ./steps
says err 'cannot read nowhere'
run 125 -B --report=full --logfile-dir=nowhere ./steps
says err 'cannot write nowhere'

# --- while it runs ---
: >flag
: >out # that of before
"$memtop" -B -q --report=overview -o late ./steps flag >out &
memtop_pid=$!
await grep -q ready out
await eval 'child=$(pgrep -P $memtop_pid -x steps)'
asked() {
    "$memtop" -a "$child" --report=blocksize,loadpeak >answer 2>answer.err &&
        grep -q '^ *8888 *1 *1 *1$' answer
}
await asked
like answer '^ *7777 *12 *6 *12$'
[ ! -s answer.err ] || fail "$(cat answer.err)"
"$memtop" -a "$child" --report=blocksize --report-format=csv -o answer.csv || fail "no CSV"
like answer.csv '^7777,12,93324,6,12'
"$memtop" -a "$child" --report=overview --compat >answer || fail "no compat"
says answer 'Full count: '
rm flag
wait $memtop_pid || fail "the program was disturbed: $?"
like late 'allocations  *1[3-9]$'
# A process that is recorded for other reasons can be asked, too; one that is recorded
# only in memusage's format, or not at all, cannot, which is reported.
for how in '' '-d data' '--record=running'; do
    : >flag
    : >out
    # shellcheck disable=SC2086
    "$memtop" -B -q $how ./steps flag >out &
    memtop_pid=$!
    await grep -q ready out
    await eval 'child=$(pgrep -P $memtop_pid -x steps)'
    case $how in
    --record*) await asked ;;
    *)
        run 125 -a "$child" --report=overview
        says err "no memtop records the calls of process $child"
        ;;
    esac
    rm flag
    wait $memtop_pid
done

# --- the display ---
: >flag
start 80 24 "$memtop --report=overview ./steps flag"
runs
keys 0
shows 'Exact block sizes'
shows '7777           12       6      12'
keys s s s
shows 'Sorted by: peak'
keys / 8000- Enter
shows 'sizes: 8000-'
hides '7777'
keys / big Enter
shows "'big' is neither a size"
keys b
shows 'Saved memtop-'
await sh -c 'grep -q "Most blocks live at once" memtop-*.blocks.txt'
rm flag
shows EXITED
keys q
printed 'live at the end'
ends 0

: >flag
start 80 24 "$memtop ./steps flag"
runs
keys 0
shows 'Not recorded: start memtop with --report=full'
keys b
shows 'Block sizes are unknown'
rm flag
stop

finish

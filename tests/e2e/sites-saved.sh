#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Allocation sites in saved sessions: the page shows the same as before, in each mode,
# now and in the past; and each process of the tree has its sites.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'END'
program ./shop --till 3
pid 4711
0 heap=1M blocks=5 malloc=5
0 sites every=64 unwinder=1
500 site size=4K made=50 live=40 peak=45 gone.3=10 born=100 : add@row.cc:12 < main@prog.cc:7
500 site size=64 made=9000 live=10 peak=20 born=120 : scratch@prog.cc:30 < main@prog.cc:9
1000 heap=3M
2000 site size=4K made=900 live=800 peak=850 gone.3=100 born=1900 : add@row.cc:12 < main@prog.cc:7
4000 site size=100 made=700 live=700 peak=700 born=3900 : keep@prog.cc:50 < main@prog.cc:8
5000 heap=1M exit=0
END

sees() {
    await matches_screen "$1" || show_screen
}

# The page without header, message and footer.
page() {
    screen | sed '1d;23,$d'
}

same() {
    page >now
    cmp -s now "$1"
}

# Waits until the page no longer changes.
stand_still() {
    page >one
    sleep 0.1
    page >two
    cmp -s one two
}
keep() {
    await stand_still
    cp two "$1"
}
as_kept() {
    await same "$1" || diff "$1" now
}

# modes CHECK: checks all figures, then old blocks, then the past.
modes() {
    keys 9
    for mode in now peak allocated mark; do
        case $mode in
        mark) shows 'Sites: since the mark' ;;
        peak) shows 'Sites: alive at the peak' ;;
        *) shows "$mode" ;;
        esac
        "$1" "mode-$mode"
        keys a
    done
    shows 'Sites: alive now'
    keys u
    shows 'for at least'
    keys -l 1500ms
    keys Enter
    shows 'older than 1.5s'
    "$1" survivors
    keys u
    keys Enter
    hides 'older than'
    keys Left Left
    shows 'as of '
    "$1" past
    keys Home Right Enter
    shows 'as of 00:00:01'
    shows 'Allocated         200.0 KiB in 50 blocks'
    shows 'Live now          160.0 KiB in 40 blocks'
    hides 'By time'
    "$1" past-site
    keys Escape
    hides 'in 50 blocks'
    keys End
    hides 'as of '
}

MEMTOP_TEST_CLOCK=0
export MEMTOP_TEST_CLOCK
start 120 24 "$memtop -i 1 --source=script:script"
shows './shop --till 3'
for second in 1 2; do
    tick "$(printf '00:00:%02d' $second)"
done
keys p
shows 'Mark set'
at_end() {
    kill -CHLD "$(child "${memtop##*/}")"
    on_screen EXITED
}
await at_end
modes keep
keys S
shows 'Saved memtop-4711-'
stop
unset MEMTOP_TEST_CLOCK
mv memtop-4711-*.memtop script.memtop
start 120 24 "$memtop -r script.memtop"
shows SAVED
modes as_kept
keys S
shows 'Saved memtop-4711-'
keys q
ends 0
mv memtop-4711-*.memtop again.memtop
start 120 24 "$memtop -r again.memtop"
shows SAVED
modes as_kept
stop

# --- a tree of processes ---
cat >taker.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void take_first(void) { kept = malloc(700000); kept = kept; }
__attribute__((noinline)) static void take_second(void) { kept = malloc(900000); kept = kept; }
int main(int argc, char **argv)
{
    (void)argv;
    argc > 1 ? take_second() : take_first();
    _exit(0);
}
END
compile taker -g || skip 'no compiler'
run 0 -Bq --sites=1 --save=tree.memtop sh -c './taker; ./taker 2 & wait'
tested=$memtopstat
run 1 --export=folded --pid=1 tree.memtop
says err 'tree.memtop has no allocation sites of process 1, only of '
says err '(sh -c ./taker'
# Those with most memory come first.
pids=$(grep -o '[0-9]* ([^)]*)' err | sed -n '2,$s/\([0-9]*\) (.*taker.*/\1/p')
[ "$(echo "$pids" | wc -w)" = 2 ] || fail "two takers: $(cat err)"
set -- $pids
run 0 --export=folded --pid="$1" tree.memtop
says out 'main;take_second 900000'
run 0 --export=folded --pid="$2" tree.memtop
says out 'main;take_first 700000'
run 0 --export=json --pid="$2" tree.memtop
says out "\"pid\":$2"
says out '/taker"'
# A file for each process: from the session, and at the end of a run.
tested=$memtop
run 0 -Bq -r tree.memtop --export=folded:read.%p.folded
silent err
says "read.$1.folded" 'main;take_second 900000'
says "read.$2.folded" 'main;take_first 700000'
run 125 -Bq -r tree.memtop --export=folded:read.%p.folded
like err 'cannot write read[.][0-9]*[.]folded: File exists'
tested=$memtopstat
run 0 --export=folded tree.memtop stat.%p
for file in stat.*; do
    cmp "$file" "read.${file#stat.}.folded" || fail "memtopstat's $file is another one"
done
[ "$(ls stat.* | wc -l)" = "$(ls read.* | wc -l)" ] || fail "not as many: $(ls)"
run 1 --export=folded tree.memtop stat.%p
run 1 --export=folded --sites-filter=nobody_is_called_so tree.memtop none.%p
says err 'There are no samples to show here.'
tested=$memtop
run 0 -Bq --sites=1 --export=folded:run.%p --export=pprof:run.%p.pb.gz \
    sh -c './taker; ./taker 2 & wait'
silent err
cat run.*[0-9] >takers
says takers 'main;take_second 900000'
says takers 'main;take_first 700000'
for file in run.*[0-9]; do
    gzip -t "$file.pb.gz" || fail "no $file.pb.gz"
done
run 0 -Bq --sites=1 --export=folded:freed.%p --sites-filter=nobody_is_called_so ./taker
says err 'There are no samples to show here.'
[ ! -e freed.* ] || fail "a file without a site"
# All processes together, in the report, in JSON and in a file.
run 0 -B --sites=1 --export=folded:all sh -c './taker; ./taker 2 & wait'
like err 'Allocation sites: 3 processes; one sample per 8 B; '
like err ' 878.9 KiB .*  take_second .* < main'
like err ' 683.6 KiB .*  take_first .* < main'
says all 'main;take_second 900000'
says all 'main;take_first 700000'
run 0 -B --sites=1 --export=folded:twice sh -c './taker 2; ./taker 2 & wait'
like err ' 1.717 MiB +0% +1.717 MiB +1.717 MiB +2  take_second .* < main'
says twice 'main;take_second 1800000'
run 0 -B --sites=1 --format=json sh -c './taker; ./taker 2 & wait'
cat out err | grep '"type":"sites"' | grep '"processes":3,' | grep -q take_first ||
    fail "JSON of all: $(cat out err)"
run 0 -B -r tree.memtop --sites-mode=live --export=folded:again
like err 'Allocation sites: 3 processes; '
says again 'main;take_first 700000'
run 0 -Bq --sites=1 --export=folded:single ./taker
silent err
start 120 24 "$memtop -r tree.memtop"
shows SAVED
keys 5
shows '└─'
sees "$1 .*taker"
keys s s
keys Home
sees "^> *$1 "
keys Enter
shows "Process $1 is shown"
keys 9
shows 'take_second < main'
hides 'take_first'
keys A
shows '3 processes; '
shows 'take_first < main'
shows 'take_second < main'
keys A
hides 'take_first'
keys 4
shows 'The threads were not recorded.'
keys 5 End
sees '^> '
keys S
shows 'Saved memtop-'
keys q
ends 0
tested=$memtopstat
run 0 --export=folded --pid="$2" memtop-"$1"-*.memtop
says out 'main;take_first 700000'
run 0 --export=folded memtop-"$1"-*.memtop
says out 'main;take_second 900000'

# --- a process that was not on the display, with growth and rates ---
cat >grower.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void grow(void) { kept = malloc(1000); kept = kept; }
int main(void)
{
    while (access("grown", F_OK) != 0) {
        grow();
        usleep(5000);
    }
    _exit(0);
}
END
compile grower -g
"$memtop" -Bq -i 0.5 -o lines --sites=1 --save=grower.memtop sh -c './grower & wait' &
watching=$!
# It is read once a second from its third second on, and at its end.
enough_lines() {
    [ "$(wc -l <lines)" -ge 14 ]
}
await enough_lines
touch grown
wait $watching || fail "of a grower: status $?"
start 120 24 "$memtop -r grower.memtop"
shows SAVED
keys 5 End Enter 9
shows 'grow < main'
keys Enter
shows 'Rate  '
sees 'Growth +[1-9].* more on average in the second half since 00:00:0'
stop

# --- a process without sites to save ---
cat >one <<'END'
program ./shop
pid 4711
0 heap=1M blocks=5 malloc=5
100 process 4712 4711 heap=3M peak=5M rss=7M allocations=12 start=500 state=exited : till
200 exit=0
END
tested=$memtop
run 0 -Bq --source=script:one --save=one.memtop
start 100 24 "$memtop -r one.memtop"
shows SAVED
keys 5
shows '4712'
keys End
sees '^> *4712'
keys Enter
shows 'Nothing more was recorded of process 4712'
keys q
ends 0
tested=$memtopstat
run 1 --export=folded --pid=4712 one.memtop
says err 'one.memtop has no allocation sites of process 4712'
finish

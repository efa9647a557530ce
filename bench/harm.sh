#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# harm.sh BUILDDIR [PART...]
#
# Repeats many times the tests that depend on chance.  Parts, all by default:
#
#   kills    sends SIGKILL at a random moment to a program with threads and children,
#            500 times: memtop's status is 137, its report is complete, and nothing is
#            left behind
#   viewers  sends SIGKILL to memtop itself, 100 times: the program goes on to its end,
#            and the next start of memtop removes its segment
#   exits    calls exit() while four threads allocate, 1000 times
#   forks    forks 10000 children while eight threads allocate
#
# Prints one line for each part; status 1 if anything went wrong.  TIMES=N divides the counts by N.

build=${1:?usage: harm.sh BUILDDIR [PART...]}
build=$(cd "$build" && pwd) || exit 1
shift
parts=${*:-kills viewers exits forks}
memtop=$build/memtop
programs=$build/tests/preload/programs
work=$(mktemp -d) || exit 1
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-harm-XXXXXX) || exit 1
export MEMTOP_DIR LC_ALL=C
unset LD_PRELOAD MEMTOP_OPTIONS
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
trap 'exit 1' INT TERM HUP
bad=0

count() {
    echo $(($1 / ${TIMES:-1}))
}

wrong() {
    bad=1
    printf '%s\n' "$*"
}

# A random number below $1, from the kernel.
random() {
    od -An -N4 -tu4 /dev/urandom | awk -v n="$1" '{ print $1 % n }'
}

left() {
    find "$MEMTOP_DIR" -type f | wc -l
}

# A child that outlives memtop leaves its segment when it ends; the next start
# removes it.
clear_away() {
    for segment in "$MEMTOP_DIR"/*; do
        [ -e "$segment" ] || continue
        owner=${segment##*/}
        await_end "${owner%.*}" || wrong "$1: a child hangs"
    done
    [ "$(left)" = 0 ] || "$memtop" -Bq true
    [ "$(left)" = 0 ] || { wrong "$1: left $(ls "$MEMTOP_DIR")"; rm -f "$MEMTOP_DIR"/*; }
}

await_end() {
    tries=0
    while kill -0 "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || return 1
        sleep 0.01
    done
}

# nap MICROSECONDS: sleeps on purpose, because the test is about the random moment at
# which it ends.
nap() {
    sleep "$(awk -v n="$1" 'BEGIN { printf "%.6f", n / 1000000 }')"
}

# The pid of memtop's child, once it has one.
child_of() {
    tries=0
    until child=$(cat "/proc/$1/task/$1/children" 2>/dev/null) && [ -n "$child" ]; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || return 1
    done
    echo "${child%% *}"
}

kills() {
    total=$(count 500) whole=0 unmeasured=0 orphans=0
    for i in $(seq "$total"); do
        "$memtop" -B -o "$work/report" -- "$programs/faults.run" until_killed \
            >/dev/null 2>"$work/err" &
        pid=$!
        if child=$(child_of $pid); then
            nap "$(random 30000)"
            kill -KILL "$child"
        fi
        wait $pid
        status=$?
        [ $status = 137 ] || wrong "kill $i: status $status: $(head -n 3 "$work/err")"
        if grep -q 'free|' "$work/report"; then
            whole=$((whole + 1))
            grep -q torn "$work/report" && wrong "kill $i: $(grep torn "$work/report")"
        elif grep -q 'not measured' "$work/report" "$work/err"; then
            unmeasured=$((unmeasured + 1)) # killed before the library was there
        else
            wrong "kill $i: no report: $(cat "$work/report" "$work/err")"
        fi
        rm -f "$work/report"
        [ "$(left)" = 0 ] || orphans=$((orphans + 1))
        clear_away "kill $i"
    done
    echo "kills: $total, $whole reports, $unmeasured killed before there was anything" \
        "to report; $orphans times a child outlived memtop"
}

viewers() {
    total=$(count 100)
    for i in $(seq "$total"); do
        "$memtop" -Bq -- "$programs/harm.run" for_a_while &
        pid=$!
        child=$(child_of $pid) || continue
        nap "$(random 300000)"
        kill -KILL $pid
        wait $pid
        await_end "$child" || wrong "viewer $i: the program hangs"
    done
    for i in $(seq $((total / 16 + 2))); do "$memtop" -Bq true; done
    [ "$(left)" = 0 ] || wrong "viewers: left $(left) segments"
    echo "viewers: $total"
}

exits() {
    total=$(count 1000)
    for i in $(seq "$total"); do
        LD_PRELOAD=$build/libmemtop.so timeout 30 "$programs/threads.run" main_returns ||
            wrong "exit $i: status $?"
    done
    [ "$(left)" = 0 ] || wrong "exits: left $(left) segments"
    echo "exits: $total"
}

forks() {
    total=$(count 33)
    for i in $(seq "$total"); do
        LD_PRELOAD=$build/libmemtop.so timeout 60 "$programs/forks.run" storm ||
            wrong "fork storm $i: status $?"
    done
    [ "$(left)" = 0 ] || wrong "forks: left $(left) segments"
    echo "forks: $((total * 300)) children"
}

for part in $parts; do
    $part
done
exit $bad

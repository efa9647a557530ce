#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# examples/profiler: without the library it says so; with it, its estimates by function
# are near the true sizes, and SIGUSR1 makes it print them while it runs.
profiler=$PWD/examples/profiler
work=$(mktemp -d /tmp/memtop-profiler-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/segments"
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

under() {
    MEMTOP_DIR=$work/segments LD_PRELOAD=$PWD/libmemtop.so "$@"
}

"$profiler" >"$work/out" 2>"$work/said" && fail "it profiles without the library"
grep -q 'not implemented' "$work/said" || fail "it says: $(cat "$work/said")"

# near FUNCTION BYTES DEVIATION: checks that the estimate is within five deviations.
near() {
    awk -v name="$1" -v bytes="$2" -v deviation="$3" '
        $1 ~ ";" name "(;|$)" { sum += $2 }
        END { off = sum - bytes; exit !(off * off <= 25 * deviation * deviation) }' \
        "$work/out" || fail "$1: $(grep -c ";$1" "$work/out") samples, not about $2 bytes"
}

# 1000 blocks of 1000 bytes with 126 words each; 20000 of 200 bytes with 26 words: the
# variance is blocks * bytes^2 / (rate * words).
under "$profiler" >"$work/out" || fail "status $?"
near fill_cache 1000000 89000
near forget 4000000 175000
grep -qv '^[^ ]*;main;[^ ]* [0-9][0-9]*$' "$work/out" &&
    fail "a line is not a stack: $(grep -v ';main;' "$work/out" | head -n 1)"

# await LINES: waits until the file has so many lines; gives up only if the program has
# ended.  The first lines come at once, then some hundreds at each signal.
await() {
    until [ "$(wc -l <"$work/out")" -ge "$1" ]; do
        kill -0 $pid 2>/dev/null || { fail "it has ended"; return 1; }
        sleep 0.1
    done
}

# It also prints while it runs, at each SIGUSR1.
: >"$work/out"
MEMTOP_DIR=$work/segments LD_PRELOAD=$PWD/libmemtop.so "$profiler" stay >"$work/out" &
pid=$!
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
await 100 || exit $failures
for _ in 1 2 3; do
    before=$(wc -l <"$work/out")
    kill -USR1 $pid
    await $((before + 100)) || break
done

[ $failures = 0 ] && echo "all passed"
exit $failures

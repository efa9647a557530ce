#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library does not change the heap: in every mode, each block has the same place and
# size as without it, and glibc says the same about mistakes.  The run to compare with has
# a library that does nothing and whose path is as long.
work=$(mktemp -d /tmp/memtop-bare-XXXXXX) || exit 99
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-bare-XXXXXX) || exit 99
export MEMTOP_DIR
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
program=tests/preload/programs/bare.run
mkdir "$work/ours" "$work/none"
ln -s "$PWD/libmemtop.so" "$work/ours/libmemtop.so"
ln -s "$PWD/tests/preload/programs/inert.plugin" "$work/none/libmemtop.so"
failures=0

# run SIDE OPTIONS CASE...
run() {
    side=$1 options=$2
    shift 2
    env -i PATH="$PATH" LC_ALL=C LIBC_FATAL_STDERR_=1 MEMTOP_DIR="$MEMTOP_DIR" \
        LD_PRELOAD="$work/$side/libmemtop.so" MEMTOP_OPTIONS="$options" \
        ${log:+MALLOC_LOG=/dev/null} "$program" "$@" >"$work/$side.out" 2>&1
    echo "status $?" >>"$work/$side.out"
}

# same MODE CASE [ARGUMENT]: with words for MEMTOP_OPTIONS, or "log".
same() {
    mode=$1 options=$1 log=
    shift
    [ "$mode" != log ] || { options= log=1; }
    run none "$options" "$@"
    run ours "$options" "$@"
    rm -f "$MEMTOP_DIR"/*
    lines=$(wc -l <"$work/none.out")
    if [ "$lines" -lt 100 ]; then
        echo "FAIL: $*: only $lines lines"
        failures=$((failures + 1))
    elif ! cmp -s "$work/none.out" "$work/ours.out"; then
        echo "FAIL: $*, mode '$mode': $(diff "$work/none.out" "$work/ours.out" | grep -c '^>') of $lines lines, at first:"
        diff "$work/none.out" "$work/ours.out" | head -n 6
        failures=$((failures + 1))
    fi
}

for mode in '' exact rings=4096,drop log dormant sites=1e-3 sites=1; do
    same "$mode" alone
    same "$mode" in_turn
    same "$mode" mistakes
done
# Mistakes before the library has learnt how the allocator answers.
for mode in '' log sites=1; do
    same "$mode" mistakes at_once
done
[ $failures = 0 ] && echo "all passed"
exit $failures

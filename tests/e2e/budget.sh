#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Budgets from outside: the status, the line, and whose failure counts.
. "$(dirname "$0")/common.sh"
always='-B -q'

# 10 blocks of 1 MiB, one of them kept; exits with its argument, or aborts.
cat >blocks.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
    static void *volatile blocks[10];
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(1 << 20);
    for (int i = 1; i < 10; i++)
        free(blocks[i]);
    if (argc < 2)
        abort();
    return atoi(argv[1]);
}
END
compile blocks || skip "no C compiler"

# --- within, and above by how much: a peak of a moment is seen ---
run 0 --max-heap=10M --max-live-at-exit=1M --max-allocs=10 --max-stack=1M ./blocks 0
silent err
run 124 --max-heap=8M ./blocks 0
like err '^memtop: --max-heap: 10\.00 MiB, 2\.000 MiB above the limit, which was passed [0-9.]+m?s after the start$'
run 124 --max-heap=10485759 ./blocks 0
like err '^memtop: --max-heap: 10\.00 MiB, 1 B above'
run 124 --max-live-at-exit=512K ./blocks 0
like err '^memtop: --max-live-at-exit: 1\.000 MiB, 512\.0 KiB above the limit$'
run 124 --max-allocs=9 ./blocks 0
like err '^memtop: --max-allocs: 10, 1 above the limit$'
run 124 --max-stack=16 ./blocks 0
like err '^memtop: --max-stack: '
run 124 --max-allocs=9 --max-heap=1M ./blocks 0
[ "$(wc -l <err)" = 2 ] || fail "not a line for each limit: $(cat err)"

# --- children are not judged, and that is said ---
run 0 --max-heap=8M sh -c './blocks 0; ./blocks 0; exit 0'
like err '^memtop: limits: 2 child processes are counted apart and not judged$'

# --- the program's own failure counts, and the line is printed ---
run 3 --max-heap=8M ./blocks 3
like err '^memtop: --max-heap: '
run 134 --max-heap=8M ./blocks
like err '^memtop: --max-heap: '
run 127 --max-heap=8M ./nothing
grep -q 'max-heap' err && fail "judged without a program: $(cat err)"

# --- the report and the line ---
"$memtop" -B --max-heap=8M -o report ./blocks 0 2>err
[ $? = 124 ] || fail "with -o: $(cat err)"
like err '^memtop: --max-heap: '
grep -q max-heap report && fail "the line is in the report"

# --- what is not measured is not judged ---
echo 'int main(void) { return 0; }' >static.c
if compile static -static; then
    run 125 --max-heap=8M ./static
    like err '^memtop: limits cannot be judged: \./static is statically linked$'
fi

# --- wrong limits ---
run 125 --max-heap=much ./blocks 0
says err "'much' is not a value of --max-heap: it takes a size"
run 125 --max-allocs=10KiB ./blocks 0
says err "'10KiB' is not a value of --max-allocs: it takes a number"
[ ! -s out ] || fail "the program ran"

finish

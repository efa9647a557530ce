#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Figures of a program are never shown as those of the program it has executed.
. "$(dirname "$0")/tmux.sh"

# Allocates 20 MiB; with an argument it lives as long as that file.
cat >big.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *block = malloc(20 << 20);
    memset(block, 1, 20 << 20);
    while (argc > 1 && access(argv[1], F_OK) == 0)
        usleep(10000);
    return 0;
}
END
compile big || skip "no C compiler"
removed='LD_PRELOAD was removed'

# is_not_measured BEFORE REASON PROGRAM...: also if it ends before memtop can look.
is_not_measured() {
    before=$1
    reason=$2
    shift 2
    run 0 -B "$@"
    like err "^memtop: not measured: $before executed .*, which did not load libmemtop \\($reason\\)$"
    like err "^memtop: [^ ]*$before, before it executed .*: heap total .*, heap peak .*, live "
    grep -q 'Memory usage summary' err && fail "figures of $before as those of the program"
    grep -q 'executed last' err && fail "said of the wrong one: $*"
    run 125 -B -q --max-heap=1M "$@"
    like err "^memtop: cannot check the limits: $before executed "
    run 0 -B --format=json -o - "$@"
    like out '"measured":false,"why":"[^"]* executed [^"]*","before":\{"program":"[^"]*","executed":"[^"]*","heap":[0-9]+,"peak":[0-9]+,"total":[0-9]+\}'
    grep -q '"live"' out && fail "JSON has counters of $before: $(cat out)"
}

is_not_measured env "$removed" env -i ./big
is_not_measured env "$removed" env -u LD_PRELOAD ./big
is_not_measured env "$removed" sh -c 'exec env -i ./big'
ln big.c static.c
if compile static -static; then
    is_not_measured env 'it is statically linked' env ./static
else
    echo 'skipped: no static C library'
fi

# --- a program that keeps the library is measured, by whichever name it runs ---
run 124 -B -q --max-heap=1M env ./big
like err '^memtop: --max-heap: big \(process [0-9]+\): 20\.00 MiB'
run 0 -B env sh -c 'exec ./big'
like err '^memtop: these figures are those of .*/big, which was executed last$'
run 0 -B sh -c '(exec ./nothing) 2>/dev/null; exec ./big'
like err 'heap peak: 2097'

# --- while it runs: lines, metrics, the display ---
: >go
"$memtop" -B -i 0.1 env -i ./big go >lines 2>&1 &
lines=$!
"$memtop" -B -q -i 0.1 --metrics=metrics.prom env -i ./big go &
metrics=$!
await grep -q 'not measured: env executed ./big' lines
await grep -q '^memtop_measured{.*} 0' metrics.prom
grep -q '^memtop_heap_bytes{' metrics.prom && fail "metrics have the heap of env"
rm go
wait $lines $metrics

: >go
start 160 40 "$memtop sh -c 'env -i ./big go & exec env -u LD_PRELOAD ./big go'"
shows 'not measured: env executed ./big'
shows 'NO DATA'
hides 'malloc '
keys 5
await matches_screen 'big go .*not measured: started without LD_PRELOAD' || show_screen
rm go
shows 'EXITED 0'
keys q
ends 0

finish

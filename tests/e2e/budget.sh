#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Limits from outside: the status, the message, the processes they apply to, and which
# failure counts.
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

# --- kept, and exceeded by how much: even a short peak counts ---
run 0 --max-heap=10M --max-live-at-exit=1M --max-allocs=10 --max-stack=1M ./blocks 0
silent err
run 124 --max-heap=8M ./blocks 0
like err '^memtop: --max-heap: blocks \(process [0-9]+\): 10\.00 MiB, 2\.000 MiB above the limit, which was exceeded [0-9.]+m?s after the start$'
run 124 --max-heap=10485759 ./blocks 0
like err '^memtop: --max-heap: blocks \(process [0-9]+\): 10\.00 MiB, 1 B above'
run 124 --max-live-at-exit=512K ./blocks 0
like err '^memtop: --max-live-at-exit: blocks \(process [0-9]+\): 1\.000 MiB, 512\.0 KiB above the limit$'
run 124 --max-allocs=9 ./blocks 0
like err '^memtop: --max-allocs: blocks \(process [0-9]+\): 10, 1 above the limit$'
run 124 --max-stack=16 ./blocks 0
like err '^memtop: --max-stack: '
run 124 --max-allocs=9 --max-heap=1M ./blocks 0
[ "$(wc -l <err)" = 2 ] || fail "not a line for each limit: $(cat err)"

# --- every process is checked, and named ---
run 0 --max-heap=11M sh -c './blocks 0; ./blocks 0; exit 0'
silent err
run 124 --max-heap=8M sh -c './blocks 0; exit 0'
like err '^memtop: --max-heap: blocks \(process [0-9]+\): 10\.00 MiB, 2\.000 MiB above the limit$'
run 124 -n blocks --max-heap=8M sh -c './blocks 0; true'
like err '^memtop: --max-heap: blocks '
run 124 --max-heap=8M sh -c 'sh -c "./blocks 0; true" & wait'
like err '^memtop: --max-heap: blocks '
# Also images before an exec, and processes whose segments are gone because so many came
# after.
run 124 --max-heap=8M sh -c './blocks 0; i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; exec true'
like err '^memtop: --max-heap: blocks '
run 0 --limits=root --max-heap=8M sh -c './blocks 0; exit 0'
silent err
run 124 --limits=root --max-heap=8M ./blocks 0
like err '^memtop: --max-heap: blocks '

# --- the sum: of processes that live at the same time ---
cat >hold.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *volatile block = malloc(10 << 20);
    for (int i = 1; i < argc; i++)
        if (i == 1)
            close(open(argv[i], 0101, 0600));
        else
            while (access(argv[i], F_OK) != 0)
                usleep(1000);
    usleep(100000);
    return block == 0;
}
END
sed -i '1i #include <fcntl.h>' hold.c
compile hold || fail "cannot compile hold.c: $(cat cc.log)"
together='./hold a b & ./hold b a & wait'
run 124 --limits=sum --max-heap=18M sh -c "$together"
like err '^memtop: --max-heap: all processes together: 20\.0[0-9] MiB, 2\.0[0-9]* MiB above the limit$'
rm -f a b
run 0 --limits=each --max-heap=18M sh -c "$together"
rm -f a b
run 124 --limits=sum --max-heap=18M --record=calls sh -c "$together"
rm -f a b calls
run 0 --limits=sum --max-heap=18M sh -c './hold; ./hold; ./hold'
run 0 --limits=each --max-allocs=10 -n blocks sh -c './blocks 0; ./blocks 0; true'
run 124 --limits=sum --max-allocs=10 -n blocks sh -c './blocks 0; ./blocks 0; true'
like err '^memtop: --max-allocs: all processes together: 20, 10 above the limit$'

# --- processes that are not measured cannot be judged, however short they ran ---
run 125 --max-heap=64M sh -c 'env -i ./blocks 0; true'
like err '^memtop: cannot check the limits: env executed \./blocks, which did not load libmemtop \(LD_PRELOAD was removed\)$'
run 125 --limits=sum --max-heap=64M sh -c 'env -i ./blocks 0; true'
run 0 --limits=root --max-heap=64M sh -c 'env -i ./blocks 0; true'
run 0 --max-heap=64M -n sh sh -c 'env -i ./blocks 0; true'
run 124 --max-heap=8M sh -c './blocks 0; env -i ./blocks 0; true'
like err '^memtop: --max-heap: blocks '
like err '^memtop: cannot check the limits: env executed'
run 125 -n nobody --max-heap=8M ./blocks 0
like err 'no program called nobody was run$'
# Processes that end by _exit() or a signal were measured.
run 0 --max-heap=64M sh -c 'sh -c "kill -9 \$\$"; (exec ./blocks 0); true'

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

# --- a program that is not measured cannot be judged ---
echo 'int main(void) { return 0; }' >static.c
if compile static -static; then
    run 125 --max-heap=8M ./static
    like err '^memtop: cannot check the limits: \./static is statically linked$'
    run 125 --max-heap=8M sh -c './static; ./static; true'
    like err 'sh executed \./static, which did not load libmemtop \(it is statically linked\); 1 more program was not measured$'
fi

# --- wrong limits ---
run 125 --max-heap=much ./blocks 0
says err "'much' is not a value of --max-heap: it takes a size"
run 125 --max-allocs=10KiB ./blocks 0
says err "'10KiB' is not a value of --max-allocs: it takes a number"
run 125 --max-heap=8M --limits=all ./blocks 0
says err "'all' is not a value of --limits"
run 125 --max-heap=8M --limits=sum --root-only ./blocks 0
says err 'cannot be checked with --root-only'
[ ! -s out ] || fail "the program ran"
run 0 --max-heap=11M --root-only sh -c './blocks 0; true'

finish

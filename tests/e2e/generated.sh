#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Allocations by code that a program generates: their names come from its map
# /tmp/perf-PID.map, as it is written.
. "$(dirname "$0")/tmux.sh"

case $(uname -m) in
x86_64) ;;
*) skip "the test's code is for x86-64" ;;
esac
cat >jit.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push rbp; mov rbp,rsp; mov rax,ADDRESS; mov edi,1000; call rax; pop rbp; ret */
static const unsigned char code[] = "\x55\x48\x89\xe5\x48\xb8--------\xbf\xe8\x03\0\0"
                                    "\xff\xd0\x5d\xc3";
void *kept;

__attribute__((noinline)) void *keep(size_t size)
{
    return kept = malloc(size);
}

static void *make_code(unsigned char *at)
{
    void *(*target)(size_t) = keep;

    memcpy(at, code, sizeof code);
    memcpy(at + 6, &target, 8);
    return at;
}

static void write_map(const char *mode, void *at, const char *name)
{
    char path[64];
    FILE *map;

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    map = fopen(path, mode);
    fprintf(map, "%lx 40 %s\n", (unsigned long)at, name);
    fclose(map);
}

int main(int argc, char **argv)
{
    unsigned char *space = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*make)(void) = make_code(space), (*build)(void) = make_code(space + 64);
    int given;

    if (argc < 2)
        write_map("w", space, "JS:*makeRow /shop.js:2:17");
    for (int i = 0; i < 2000; i++)
        make();
    for (int i = 0; i < 1000; i++)
        build();
    while (argc >= 2 && (given = getchar()) != EOF)
        if (given == 'm')
            write_map("w", space, "JS:*makeRow /shop.js:2:17");
        else if (given == 'b')
            write_map("a", space + 64, "build\033[31mIndex");
    _exit(0);
}
END
${CC:-cc} -O1 -o jit jit.c || exit 99

# --- at the end ---
run 0 -B --sites=1 ./jit
like err '1.907 MiB .*  JS:\*makeRow /shop.js:2:17'
like err '976.6 KiB .*  keep.* < \[jit 0x[0-9a-f]*\]'
grep -q ' 0x0' err && fail "an address that is none: $(cat err)"
run 0 -B --sites=1 --sites-wrappers ./jit
like err '1.907 MiB .*  keep.* < JS:\*makeRow /shop.js:2:17'

# tell LETTER: types it to the program, and returns to the page of sites.
tell() {
    keys o
    keys i
    shows 'Keys go to the program'
    keys "$1" Enter
    keys C-]
    hides 'Keys go to the program'
    keys 9
}

# --- while it goes on writing; the names are saved ---
start 110 30 "$memtop --on-quit=kill --sites=1 ./jit wait"
runs
keys 9
shows 'keep < [jit 0x'
tell m
shows '  JS:*makeRow /shop.js:2:17'
shows '  keep < [jit 0x'
tell b
shows '  build?[31mIndex'
keys S
shows 'Saved '
keys q
ends 143
name=$(ls ./*.memtop)
rm -f /tmp/perf-*.map
run 0 -B -r "$name" --sites-mode=live
like err '1.907 MiB .*  JS:\*makeRow /shop.js:2:17'
rm -f "$name"

# --- a runtime ---
node=$(command -v node)
if [ -n "$node" ]; then
    cat >rows.js <<'END'
const kept = [];
function makeRow() { return Buffer.allocUnsafeSlow(5000); }
for (let i = 0; i < 30000; i++)
    if (i % 10 == 0) kept.push(makeRow()); else makeRow();
END
    run 0 -B --sites=16K --unwind=fp "$node" --perf-basic-prof \
        --interpreted-frames-native-stack rows.js
    like err 'JS:.makeRow .*rows.js:2'
    rm -f /tmp/perf-*.map
else
    echo "skipped: no node"
fi
finish

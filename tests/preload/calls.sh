#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A process that samples makes the same system calls as one that does not, except those
# that create its tables at the start and those that let them grow (madvise in the segment,
# mmap beside it).
command -v strace >/dev/null || { echo "skipped: strace is not installed"; exit 77; }
work=$(mktemp -d /tmp/memtop-calls-XXXXXX) || exit 99
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-calls-XXXXXX) || exit 99
export MEMTOP_DIR
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
strace -f -o "$work/tried" true 2>/dev/null || { echo "skipped: strace may not trace"; exit 77; }
failures=0

# traced NAME WORDS: writes the names of the program's calls, all of them, and those
# between its marks.
traced() {
    strace -f -o "$work/$1.calls" -E LD_PRELOAD="$PWD/libmemtop.so" -E MEMTOP_OPTIONS="$2" \
        tests/preload/programs/cxx.run marked >/dev/null || { echo "FAIL: $1: $?"; exit 1; }
    sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$work/$1.calls" | sort >"$work/$1.all"
    sed -n '/"begin"/,/"end"/p' "$work/$1.calls" |
        sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' | sort >"$work/$1.between"
    [ "$(grep -c '^write$' "$work/$1.between")" = 2 ] || { echo "FAIL: $1: no marks"; exit 1; }
}

# same PART ALLOWED: compares "without" with each other NAME.
same() {
    for name in sites frames; do
        grep -vxE "$2" "$work/without.$1" >"$work/expected"
        grep -vxE "$2" "$work/$name.$1" >"$work/found"
        cmp -s "$work/expected" "$work/found" && continue
        echo "FAIL: with $name, $1: $(diff "$work/expected" "$work/found" | tr '\n' ' ')"
        failures=$((failures + 1))
    done
}

# A program that does not have libgcc: no file is opened for sampling.
opened() {
    strace -f -o "$work/opened" -E LD_PRELOAD="$PWD/libmemtop.so" -E MEMTOP_OPTIONS="$1" \
        tests/preload/programs/heap.run 2>&1 >/dev/null
    sed -n 's/^[0-9]* *open.*"\([^"]*\)".*/\1/p' "$work/opened" |
        grep -vxE '[0-9]+\.[0-9]+' >"$work/opened.$2"
}

traced without ''
traced sites sites=1
traced frames sites=1,unwind=fp
grep -q '^madvise$' "$work/sites.between" || { echo "FAIL: nothing was sampled"; exit 1; }
same between 'madvise|mmap'
same all 'madvise|mmap|fallocate'
opened '' without
opened sites=1 sites
grep -q libc.so "$work/opened.sites" || { echo "FAIL: no opened file seen"; exit 1; }
diff "$work/opened.without" "$work/opened.sites" || failures=$((failures + 1))
[ $failures = 0 ] && echo "all passed"
exit $failures

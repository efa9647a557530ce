#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ThreadSanitizer on counters, seqlock and reader, on rings and drain:
# tests/unit/account and tests/unit/rings once more.
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/memtop-tsan-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT

echo 'int main(void) { return 0; }' >"$work/probe.c"
if ! ${CC:-cc} -fsanitize=thread -o "$work/probe" "$work/probe.c" 2>/dev/null ||
    ! "$work/probe"; then
    echo "no ThreadSanitizer here"
    exit 77
fi
for name in account rings; do
    # shellcheck disable=SC2046
    ${CC:-cc} -std=gnu11 -g -O1 -fsanitize=thread -Wno-tsan -DSAME_MAPPING \
        -I. -I"$top/src" -o "$work/$name" "$top/tests/unit/$name.c" \
        "$top/src/preload/account.c" "$top/src/preload/recorder.c" \
        "$top/src/preload/ring.c" \
        "$top"/src/segment/*.c $(pkg-config --cflags --libs cmocka) \
        -Wl,--wrap=mmap,--wrap=munmap -pthread || exit 99
    TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$work/$name" || exit
done

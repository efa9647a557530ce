#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ThreadSanitizer on counters, seqlock and reader, on rings and drain, on
# profiles: tests/unit/account, rings and own-profile once more.
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/memtop-tsan-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT

echo 'int main(void) { return 0; }' >"$work/probe.c"
if ! ${CC:-cc} -fsanitize=thread -o "$work/probe" "$work/probe.c" 2>/dev/null ||
    ! "$work/probe"; then
    echo "no ThreadSanitizer here"
    exit 77
fi
# run NAME SOURCE...
run() {
    name=$1
    shift
    # shellcheck disable=SC2046
    ${CC:-cc} -std=gnu11 -g -O1 -fsanitize=thread -Wno-unknown-warning-option -Wno-tsan -DSAME_MAPPING \
        -I. -I"$top/src" -I"$top/include" -o "$work/$name" "$top/tests/unit/$name.c" "$@" \
        $(pkg-config --cflags --libs cmocka) -lm \
        -Wl,--wrap=mmap,--wrap=munmap -pthread || exit 99
    TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$work/$name" || exit
}

counters="$top/src/preload/account.c $top/src/preload/fold.c $top/src/preload/recorder.c
    $top/src/preload/ring/ring.c $top/src/preload/ticks.c"
tables="$top/src/preload/table.c $top/src/preload/draw.c"
# shellcheck disable=SC2086
{
    run account $counters "$top"/src/segment/*.c
    run rings $counters "$top"/src/segment/*.c
    run own-profile "$top/src/preload/memprof/profile.c" $tables "$top"/src/segment/*.c
}

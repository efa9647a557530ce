#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# modes.sh MODE [TEST]...: runs harm, faults and others, and the TESTs, again in another
# mode of the library: words of MEMTOP_OPTIONS, or "log".  Tests ask watch_mode() where
# counts differ.
mode=$1
shift
failed=
for test in harm faults life forks threads windows rows stack allocators foreign "$@"; do
    [ -x "tests/preload/$test" ] || exit 77
    echo "== $test, $mode"
    MEMTOP_TEST_MODE=$mode "tests/preload/$test" || failed="$failed $test"
done
[ -z "$failed" ] || echo "FAIL: in mode $mode:$failed"
[ -z "$failed" ]

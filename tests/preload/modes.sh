#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# modes.sh MODE [TEST]...: what can hurt a program, and further tests, tried again in another
# mode of the library; words of MEMTOP_OPTIONS, or "log".  With what the tests count then,
# watch_mode() tells.
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

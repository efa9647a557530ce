#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library's walk of Python's frames, in each interpreter that is installed: the same
# stacks as Python's own, and no harm at any allocation or instruction.
here=$(cd "$(dirname "$0")" && pwd)/python
plugin=$PWD/tests/preload/programs/python.plugin
work=$(mktemp -d /tmp/memtop-python-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
. "$here/interpreters.sh"
tried=0
failures=0

# walked WHAT SCRIPT [ARGUMENT...], with the variables that are set.
walked() {
    what=$1 script=$2
    shift 2
    if LD_PRELOAD="$plugin" "$python" -W ignore "$here/$script" "$plugin" "$@" \
        >"$work/out" 2>&1; then
        printf '%s, %s: %s\n' "$python" "$what" "$(tail -n 1 "$work/out")"
    else
        printf 'FAIL: %s, %s: status %s\n' "$python" "$what" $?
        cut -c 1-500 "$work/out" | tail -n 20
        failures=$((failures + 1))
    fi
}

for minor in 9 10 11 12 13 14; do
    found=0
    for python in $(interpreters "$minor"); do
        found=$((found + 1))
        # Often enough for code to be specialised.
        walked "compared" tree.py 10
        PYTHONMALLOC=malloc walked "compared, malloc only" tree.py 1
        MEMTOP_TEST_EVERY=1 PYTHONMALLOC=malloc walked "stress" stress.py
        MEMTOP_TEST_EVERY=3 walked "stress, few" stress.py
        walked "steps" steps.py
    done
    [ $found != 0 ] || echo "skipped: no interpreter of 3.$minor"
    tried=$((tried + found))
done
[ $tried != 0 ] || { echo "skipped: no interpreter that is known"; exit 77; }

# refused WHAT ANSWERS PROGRAM [ARGUMENT...]: ANSWERS is a pattern.
refused() {
    what=$1 answers=$2
    shift 2
    rm -f "$work/answers"
    LD_PRELOAD="$plugin" MEMTOP_TEST_EVERY=1 MEMTOP_TEST_ANSWERS="$work/answers" "$@" \
        >/dev/null && grep -qx "answers of 0: $answers" "$work/answers" || {
        echo "FAIL: $what: $(cat "$work/answers")"
        failures=$((failures + 1))
    }
}

# An older version, and a program that is no interpreter.
for python in $(interpreters 8); do
    refused "3.8" '0 0 0 0 0 [1-9][0-9]* 0 0 0' "$python" -c 'print([0] * 1000)'
done
refused "sort" '0 0 0 0 [1-9][0-9]* 0 0 0 0' sort "$here/tree.py"
[ $failures = 0 ] && echo "all passed"
exit $failures

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The offsets that the library has of each version of Python, compared with the headers
# of the interpreters that are installed.
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /tmp/memtop-layout-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
. "$top/tests/preload/python/interpreters.sh"
tried=0
failures=0

# compare HEADERS
compare() {
    tried=$((tried + 1))
    ${CC:-cc} -std=gnu11 -w -I"$PWD" -I"$top/src" -I"$1" -I"$1/internal" \
        -o "$work/layout" "$top/tests/preload/python/layout.c" \
        "$top/src/preload/sites/python-layout.c" 2>"$work/errors" && "$work/layout" && return
    echo "FAIL: $1: $(head -n 5 "$work/errors")"
    failures=$((failures + 1))
}

for minor in 9 10 11 12 13 14; do
    found=no
    for python in $(interpreters "$minor"); do
        headers=$("$python" -c 'import sysconfig
print(sysconfig.get_path("include"))')
        [ -d "$headers/internal" ] || continue
        found=yes
        compare "$headers"
    done
    [ $found = yes ] || echo "skipped: no headers of 3.$minor"
done
[ $tried != 0 ] || { echo "skipped: no headers"; exit 77; }
[ $failures = 0 ] && echo "all passed"
exit $failures

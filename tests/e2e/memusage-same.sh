#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop's report against the one of glibc's memusage: the same bytes but for
# the stack peak, which most versions of memusage get wrong.
command -v memusage >/dev/null || { echo "memusage is not installed"; exit 77; }
memtop=$PWD/memtop
cases=$PWD/tests/e2e/memusage-cases
work=$(mktemp -d /tmp/memtop-same-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
unset LD_PRELOAD MEMTOP_OPTIONS MEMTOP_DIR NO_COLOR MEMUSAGE_OUTPUT MEMUSAGE_PROG_NAME
LC_ALL=C
export LC_ALL
failures=0

mask() {
    sed 's/, stack peak: [0-9]*$/, stack peak: -/' "$1" >"$1.masked"
}

[ -x "$cases" ] || exit 99
for number in 0 1 2 3 4 5 6 7 8 9; do
    memusage "$cases" $number 2>theirs
    "$memtop" -B --color=always "$cases" $number 2>ours || failures=$((failures + 1))
    grep -q "heap total" theirs || { echo "FAIL: memusage is silent"; exit 99; }
    mask theirs
    mask ours
    if ! cmp -s theirs.masked ours.masked; then
        echo "FAIL: case $number (memusage's, then memtop's)"
        diff theirs.masked ours.masked
        failures=$((failures + 1))
    fi
done

# Without colour it is the same text without its escapes.
escape=$(printf '\033')
"$memtop" -B "$cases" 5 2>plain
"$memtop" -B --color=always "$cases" 5 2>coloured
grep -q "$escape" coloured || { echo "FAIL: no colour"; failures=$((failures + 1)); }
sed "s/$escape\\[[0-9;]*m//g" coloured | cmp - plain || failures=$((failures + 1))

echo "$failures failures"
[ $failures = 0 ]

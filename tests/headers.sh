#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every header can be included first and alone (after config.h).
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/memtop-headers-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
failures=0
count=0

for header in $(find "$top/src" -name '*.h'); do
    name=${header#"$top"/src/}
    [ "$name" != programs/argp-messages.h ] || continue # a list for xgettext
    printf '#include "config.h"\n#include "%s"\n#include "%s"\nint nothing;\n' \
        "$name" "$name" >"$work/alone.c"
    count=$((count + 1))
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror \
        -I. -I"$top/src" -I"$top/include" -fsyntax-only "$work/alone.c" 2>"$work/said" || {
        printf 'FAIL: %s: %s\n' "$name" "$(head -n 5 "$work/said")"
        failures=$((failures + 1))
    }
done
[ "$count" -gt 20 ] || failures=1
echo "$count headers, $failures failed"
[ $failures = 0 ]

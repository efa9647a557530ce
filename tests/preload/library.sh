#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What libmemtop.so is as a file: its symbols, what it needs, how it is linked.
library=$PWD/libmemtop.so
map=$(cd "$(dirname "$0")/../.." && pwd)/src/preload/libmemtop.map
command -v readelf >/dev/null || exit 77
work=$(mktemp -d /tmp/memtop-library-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# Defined and global are exactly the names of the map.
sed -n '/global:/,/local:/p' "$map" | grep -v ':' | tr -d '\t ' | tr ';' '\n' |
    grep . | sort >"$work/wanted"
readelf -W --dyn-syms "$library" |
    awk '$7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") { sub(/@.*/, "", $8); print $8 }' |
    sort >"$work/found"
[ "$(wc -l <"$work/wanted")" -gt 30 ] || fail "few names in $map"
cmp -s "$work/wanted" "$work/found" ||
    fail "exported symbols: $(diff "$work/wanted" "$work/found")"

# A symbol version that an older libc lacks keeps every program from starting.
readelf -W -V "$library" | grep -o 'GLIBC_[0-9.]*' | sort -u >"$work/versions"
grep -q . "$work/versions" || fail "no symbol versions seen"
newest=$(printf 'GLIBC_2.31\n' | sort -V - "$work/versions" | tail -n 1)
[ "$newest" = GLIBC_2.31 ] || fail "needs $newest"

readelf -W -d "$library" >"$work/dynamic"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | tr '\n' ' ')
case $needed in
"libc.so.6 " | "libc.so.6 libdl.so.2 " | "libc.so.6 ld-linux"*) ;;
*) fail "needs $needed" ;;
esac
grep -q 'TEXTREL' "$work/dynamic" && fail "has text relocations"
grep -q 'NOW' "$work/dynamic" || fail "is bound lazily"
grep -q '(FLAGS).*STATIC_TLS' "$work/dynamic" || fail "its TLS is not initial-exec"

# Static TLS is scarce; an executable stack would make the program's so.
readelf -W -l "$library" >"$work/segments"
tls=$(awk '$1 == "TLS" { print $6 }' "$work/segments")
[ -n "$tls" ] && [ "$((tls))" -le 64 ] || fail "static TLS: ${tls:-none}"
grep 'GNU_STACK' "$work/segments" | grep -q 'RWE' && fail "wants an executable stack"

# Nothing that allocates, prints, locks or waits.
readelf -W --dyn-syms "$library" |
    awk '$7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print $8 }' | sort >"$work/used"
for name in printf fprintf snprintf puts fopen open fwrite setlocale pthread_mutex_lock \
    pthread_getattr_np getenv signal sigaction setitimer nanosleep; do
    grep -qx "$name" "$work/used" && fail "calls $name"
done
# What a packager's flags would add: checks that print and abort.
grep -xE '__stack_chk_fail|__.*_chk' "$work/used" >"$work/checks" &&
    fail "calls $(tr '\n' ' ' <"$work/checks")"

[ $failures = 0 ] && echo "all passed"
exit $failures

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# libmemtop.so as a file: its symbols, what it needs, how it is linked.
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

# The defined global symbols are exactly the names in the map.
sed -n '/global:/,/local:/p' "$map" | grep -v ':' | tr -d '\t ' | tr ';' '\n' |
    grep . | sort >"$work/wanted"
readelf -W --dyn-syms "$library" |
    awk '$7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") { sub(/@.*/, "", $8); print $8 }' |
    sort >"$work/found"
[ "$(wc -l <"$work/wanted")" -gt 30 ] || fail "few names in $map"
cmp -s "$work/wanted" "$work/found" ||
    fail "exported symbols: $(diff "$work/wanted" "$work/found")"

# With a symbol version that an older libc does not have, no program could start there.
readelf -W -V "$library" | grep -o 'GLIBC_[0-9.]*' | sort -u >"$work/versions"
grep -q . "$work/versions" || fail "no symbol versions seen"
newest=$(printf 'GLIBC_2.31\n' | sort -V - "$work/versions" | tail -n 1)
[ "$newest" = GLIBC_2.31 ] || fail "needs $newest"

readelf -W -d "$library" >"$work/dynamic"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | tr '\n' ' ')
case $needed in
"libc.so.6 ") ;;
*) fail "needs $needed" ;;
esac
grep -q 'TEXTREL' "$work/dynamic" && fail "has text relocations"
grep -E 'RPATH|RUNPATH' "$work/dynamic" && fail "has a search path of its own for libraries"
grep -q 'NOW' "$work/dynamic" || fail "is bound lazily"
grep -q '(FLAGS).*STATIC_TLS' "$work/dynamic" || fail "its TLS is not initial-exec"

# Static TLS is scarce; a library that asks for an executable stack makes the program's
# stack executable.
readelf -W -l "$library" >"$work/segments"
tls=$(awk '$1 == "TLS" { print $6 }' "$work/segments")
[ -n "$tls" ] && [ "$((tls))" -le 64 ] || fail "static TLS: ${tls:-none}"
grep -q 'GNU_STACK' "$work/segments" || fail "has no entry for its stack"
grep 'RWE' "$work/segments" && fail "has memory that is both writable and executable"
grep -q 'GNU_RELRO' "$work/segments" || fail "leaves its table of functions writable"

# From libc, only functions known not to allocate, print, lock, wait or change
# dlerror().  Checks that a packager's flags would add (__memcpy_chk) print and abort.
known="__errno_location abort clock_gettime getauxval
    __getauxval getpagesize gnu_get_libc_version pthread_self syscall __register_atfork
    memcmp bcmp memcpy memmove memset strchr strcmp strcspn strlen strncmp strrchr
    _r_debug environ __environ __progname program_invocation_short_name __libc_stack_end
    __cxa_finalize __gmon_start__
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable"
readelf -W --dyn-syms "$library" |
    awk '$7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print $8 }' | sort >"$work/used"
grep -qx clock_gettime "$work/used" || fail "no used names seen"
unknown=$(printf '%s\n' "$known" | tr -s ' ' '\n' | grep . | grep -vxFf - "$work/used") &&
    fail "uses $unknown"

[ $failures = 0 ] && echo "all passed"
exit $failures

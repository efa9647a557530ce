#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library's walks beside libgcc's, at every malloc of a program: the same frames.
# With the objects that the loader knows, and with those noted at the start, as with a
# glibc that is older than 2.35.
programs=tests/preload/programs
work=$(mktemp -d /tmp/memtop-unwind-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
failures=0

[ "$(uname -m)" = x86_64 ] || { echo "skipped: stacks are walked on x86-64 only"; exit 77; }

# same LEAST COMMAND...: at least so many walks, and no difference.
same() {
    least=$1
    shift
    env LD_PRELOAD="$PWD/$programs/compare.plugin" ${how:+"$how"} "$@" >/dev/null 2>"$work/err"
    status=$?
    walks=$(sed -n 's/^walks \([0-9]*\), .* differences 0$/\1/p' "$work/err")
    [ $status = 0 ] && [ "${walks:-0}" -ge "$least" ] && return
    echo "FAIL: ${how:-by the loader}: $*: status $status: $(head -n 7 "$work/err" | cut -c 1-2000)"
    failures=$((failures + 1))
}

printf 'static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n%s\n' \
    'int main(void) { return f(20); }' >"$work/small.c"

for how in '' COMPARE_NOTED=1; do
    same 3000 $programs/chains.run kinds
    same 100 $programs/chains.run deep
    same 5000 $programs/chains.run throws
    same 1000 $programs/chains.run threads
    same 1000 $programs/chains.run alternate
    same 100 $programs/chains.run coroutines
    same 50 $programs/chains.run vdso
    same 300 $programs/chains.run anywhere
    clang=$(command -v clang) || continue
    same 3000 "$(readlink -f "$clang")" -cc1 -O2 -emit-obj "$work/small.c" -o "$work/small.o"
done
[ $failures = 0 ] && echo "all passed"
exit $failures

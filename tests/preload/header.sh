#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop/memprof.h and memtop.pc as users use them: in every standard of C from C99 and
# C++ from C++98 on, without warnings, in all kinds of executables, without linking a
# library.
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$PWD
work=$(mktemp -d /tmp/memtop-header-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/segments"
failures=0
tried=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# Starts a profile: exits with 0 if it could, with 3 if there is no library.
cat >"$work/program.c" <<'EOF'
#include <memtop/memprof.h>
#include <stdlib.h>
static int sampled;
static void *
made(const struct memprof_allocation *block, void *ctx)
{
    sampled += block->size == 1000 && ctx == &sampled;
    return NULL;
}
int
main(void)
{
    struct memprof_tracker tracker = memprof_null_tracker;
    memprof_t *profile;

    tracker.alloc = made;
    memprof_custom_free(memprof_custom_alloc(&tracker, sizeof tracker));
    profile = memprof_start(1, -1, &tracker, &sampled);
    if (profile == NULL)
        return errno == ENOSYS && memprof_stop() == -1 && errno == ENOSYS ? 3 : 4;
    free(malloc(1000));
    return sampled == 1 && memprof_stop() == 0 && memprof_discard(profile) == 0 ? 0 : 5;
}
EOF
cp "$work/program.c" "$work/program.cc"
libs=$(sed -n 's/^Libs: *//p' "$build/include/memtop.pc")

# Runs the program that was built, without the library and with it.
run() {
    "$work/program"
    [ $? = 3 ] || fail "$*: without the library"
    [ "$kind" = static ] && return
    MEMTOP_DIR=$work/segments LD_PRELOAD=$build/libmemtop.so "$work/program" ||
        fail "$*: with the library"
}

# try KIND COMPILER ARG...
try() {
    kind=$1
    shift
    # shellcheck disable=SC2086 # words
    if "$@" -fno-builtin -I"$top/include" -o "$work/program" $libs >"$work/said" 2>&1; then
        tried=$((tried + 1))
        run "$@"
    elif ! grep -qE 'unrecognized|invalid value|cannot find -lc' "$work/said"; then
        fail "$*: $(head -n 5 "$work/said")"
    fi
}

strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
# shellcheck disable=SC2086 # words
for compiler in "${CC:-cc}" clang; do
    command -v ${compiler%% *} >/dev/null || continue
    for standard in c99 c11 gnu17 c2x; do
        try dynamic $compiler -std=$standard $strict -O2 "$work/program.c"
    done
    # Here the linker has already decided that the symbols are missing.
    try dynamic $compiler -fno-pie -no-pie -O0 "$work/program.c"
    try dynamic $compiler -fPIE -pie -fvisibility=hidden -O2 "$work/program.c"
    try static $compiler -static "$work/program.c"
done
# shellcheck disable=SC2086
for compiler in "${CXX:-c++}" clang++; do
    command -v ${compiler%% *} >/dev/null || continue
    for standard in c++98 c++11 c++17 c++20; do
        try dynamic $compiler -std=$standard $strict -O2 "$work/program.cc"
    done
done
[ $tried -ge 8 ] || fail "only $tried programs were built"

if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$build/include pkg-config --cflags --libs memtop) ||
        fail "pkg-config knows no memtop"
    case $flags in
    *-I*/include* | "" | " ") ;; # pkg-config leaves out the system's directory
    *) fail "pkg-config says: $flags" ;;
    esac
fi

# Only declarations, for bindings in other languages.
printf '#define MEMPROF_NO_STUBS\n#include <memtop/memprof.h>\n' >"$work/bare.c"
# shellcheck disable=SC2086
${CC:-cc} -E -I"$top/include" "$work/bare.c" | grep -q dlsym && fail "stubs in spite of MEMPROF_NO_STUBS"

[ $failures = 0 ] && echo "all passed ($tried programs)"
exit $failures

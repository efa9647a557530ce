# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The beginning of all tests from outside: separate directories, running memtop,
# waiting, failing.  Sourced, with $PWD the build directory; the test then runs in $work.
#
#   run STATUS ARG...    runs $tested (memtop) with $always and ARGs; its output is in
#                        out and err
#   says FILE TEXT       FILE contains TEXT
#   like FILE REGEX      a line of FILE matches
#   silent FILE...       the files are empty
#   await COMMAND...     waits until COMMAND succeeds, or fails the test
#   gone PID             has that process ended?
#   built_with NAME      was memtop built with that (a name in config.h)?
#   compile NAME ARG...  makes a program from NAME.c; messages are in cc.log
#   fail TEXT            the test has failed, and goes on
#   skip TEXT            the test ends here and does not count
#   be_alone             skips the test if it sees other processes than its own, which
#                        would be in lists, or have the same names
#   finish               the end of every test
#
# Programs that must run until they are told run while a file exists in $work: so they
# end with the test, however it ends.

# A test that is started by hand runs as in "make check".
[ -n "${MEMTOP_TEST_ALONE-}" ] || exec "$(dirname "$0")/../alone" sh "$0"

# These are used by the tests that source this file.
# shellcheck disable=SC2034
memtop=$PWD/memtop
scripted=$PWD/memtop-scripted # plays made-up processes (--source), else the same
memtopstat=$PWD/memtopstat
cases=$PWD/tests/e2e/memusage-cases
tested=$memtop
always=

LC_ALL=C
SHELL=/bin/sh # terminals start it, whatever the user's is
export LC_ALL SHELL

work=$(mktemp -d "/tmp/memtop-$(basename "$0" .sh)-XXXXXX") || exit 99
# Programs that are left running leave their segments here.
segments=$(mktemp -d /dev/shm/memtop-test-XXXXXX 2>/dev/null) || {
    rmdir "$work"
    echo 'skipped: nothing can be written to /dev/shm'
    exit 77
}
MEMTOP_DIR=$segments
export MEMTOP_DIR
clean() {
    chmod -R u+w "$work"
    rm -rf "$work" "$segments"
}
trap clean EXIT
trap 'exit 99' HUP INT TERM
cd "$work" || exit 99

# A file, because a test may fail in a subshell.
fail() {
    printf 'FAIL: %s\n' "$*"
    : >"$work/failed"
}

skip() {
    echo "skipped: $*"
    exit 77
}

be_alone() {
    [ "$MEMTOP_TEST_ALONE" = yes ] ||
        skip 'no pid namespace can be made here: other observed processes would be in the way'
}

finish() {
    [ ! -e "$work/failed" ] || exit 1
    echo "all passed"
    exit 0
}

run() {
    expected=$1
    shift
    # shellcheck disable=SC2086
    "$tested" $always "$@" >out 2>err </dev/null
    status=$?
    [ $status = "$expected" ] ||
        fail "status $status, not $expected: ${tested##*/} $always $*: $(head -n 3 err)"
}

says() {
    grep -qF -e "$2" "$1" || fail "'$2' is not in $1: $(head -n 9 "$1")"
}

like() {
    grep -qE -e "$2" "$1" || fail "nothing like '$2' is in $1: $(head -n 9 "$1")"
}

silent() {
    for file; do
        [ ! -s "$file" ] || fail "$file is not empty: $(head -n 9 "$file")"
    done
}

# A minute, for a busy machine: a test that passes never waits that long.  Once the test
# has failed, later events may never happen.
await() {
    tries=3000
    [ ! -e "$work/failed" ] || tries=100
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || {
            fail "in vain: $*"
            return 1
        }
        sleep 0.02
    done
}

gone() {
    ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null
}

built_with() {
    grep -q "^#define $1 1" "${memtop%/*}/config.h"
}

compile() {
    name=$1
    shift
    ${CC:-cc} -O0 -w -o "$name" "$name.c" "$@" >cc.log 2>&1
}

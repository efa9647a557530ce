# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What all tests from outside begin with: directories of their own, running
# memtop, waiting, failing.  Sourced, with $PWD the build directory; the test
# then goes on in $work.
#
#   run STATUS ARG...    $tested (memtop) with $always and ARGs: its output lands
#                        in out and err
#   says FILE TEXT       TEXT is in FILE
#   like FILE REGEX      a line of FILE matches
#   silent FILE...       nothing is in FILE
#   await COMMAND...     waits until COMMAND succeeds, or fails the test
#   gone PID             whether that process has ended
#   built_with NAME      whether memtop was (a name in config.h)
#   compile NAME ARG...  a program from NAME.c; its words land in cc.log
#   fail TEXT            the test has failed, and goes on
#   skip TEXT            the test ends here and does not count
#   be_alone             skips the test where it sees other processes than its own:
#                        for what lists all that are observed, or takes them by name
#   finish               the end of every test
#
# Programs that are to run until they are told run while a file exists in $work:
# they end with the test, too, however it ends.

# Whoever starts a test by hand has it run as "make check" does.
[ -n "${MEMTOP_TEST_ALONE-}" ] || exec "$(dirname "$0")/../alone" sh "$0"

# Used by those who source this.
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
# Programs left running leave their segments.
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

# A file, because it may happen in a subshell.
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

# A minute, for a machine with more to do: if all goes well nobody waits for it.
# Once the test has failed what follows may never come.
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

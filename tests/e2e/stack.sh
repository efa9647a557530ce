#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A small stack: the programs start, and memtop measures.
. "$(dirname "$0")/common.sh"

# The environment lies on the stack, too.
on_little() {
    (ulimit -s 32 && exec env -i PATH="$PATH" MEMTOP_DIR="$segments" "$@")
}
on_little ls / >out 2>err || skip "ls itself does not run on a stack of 32 KiB"
! grep -q '^SANITIZE = .*-fsanitize=' "${memtop%/*}/Makefile" || skip 'a sanitizer needs more'

# Where a stack begins in its pages is random: what has hardly room fails now and then.
for program in memtop memtopstat memtop-munge memtop-replay; do
    for try in 1 2 3 4 5 6 7 8; do
        on_little "${memtop%/*}/$program" --version >out 2>err ||
            fail "$program --version, try $try: status $?: $(cat err)"
        says out 'memtop '
    done
done
for try in 1 2 3 4 5 6 7 8; do
    on_little "$memtop" -B true >out 2>err || fail "memtop -B true, try $try: status $?"
    says err 'heap total'
done
finish

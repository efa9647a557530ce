#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# With a small stack the programs start, and memtop measures.
. "$(dirname "$0")/common.sh"

# The environment is on the stack, too, so it is emptied.
on_little() {
    (ulimit -s 32 && exec env -i PATH="$PATH" MEMTOP_DIR="$segments" "$@")
}
on_little ls / >out 2>err || skip "ls itself does not run on a stack of 32 KiB"
! grep -q '^SANITIZE = .*-fsanitize=' "${memtop%/*}/Makefile" || skip 'a sanitizer needs more'

# The position of the stack in its pages is random, so a run with hardly enough room
# fails now and then.
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

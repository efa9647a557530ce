#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop-munge: a filter for logs of all kinds.
data=$(cd "$(dirname "$0")/../data/logalloc" && pwd) || exit 99
. "$(dirname "$0")/common.sh"
tested=${memtop%/*}/memtop-munge

same() {
    cmp "$1" "$2" || fail "$1 is not $2: $(diff "$1" "$2" | head -n 9)"
}

# --- the examples of the original ---
for name in readme old; do
    for option in '' --compat; do
        # shellcheck disable=SC2086
        run 0 $option "$data/$name.log"
        same out "$data/$name.munged"
        silent err
    done
done
"$tested" <"$data/readme.log" >out || fail "from the standard input: $?"
same out "$data/readme.munged"

# --- refused lines ---
printf '%s\n' '7 7 malloc(5)=0x10' 'no line' '' '7 7 mmap(5)=0x1' '7 7 free(0x99)' \
    '7 7 malloc(9)=0x0' '7 7 malloc(9)' "$(printf '7 \033[31m')" '7 7 free(0x10)' >log
printf '1 1 malloc(5)=#1\n1 1 free(#1)\n' >good
run 1 log
same out good
cat >expected <<END
memtop-munge: line 2: not a line of an allocation log: no line
memtop-munge: line 4: unknown function: 7 7 mmap(5)=0x1
memtop-munge: line 5: no allocation of this block was seen: 7 7 free(0x99)
memtop-munge: line 6: the allocation failed: 7 7 malloc(9)=0x0
memtop-munge: line 7: an allocation without a result: 7 7 malloc(9)
memtop-munge: line 8: not a line of an allocation log: 7 ?[31m
END
same err expected
run 0 -c log
printf '1 1 malloc(5)=#1\n1 1 malloc(9)\n1 1 free(#1)\n' >good
same out good
cat >expected <<END
Ignored "no line": Malformed input
Ignored "": Malformed input
Ignored "7 7 mmap(5)=0x1": Unknown function
Ignored "7 7 free(0x99)": Did not see an alloc for pointer
Ignored "7 7 malloc(9)=0x0": Result is NULL
Ignored "7 ?[31m": Malformed input
END
same err expected

# --- blocks that a forked child inherited ---
printf '%s\n' '7 7 free(0x40)' '7 7 malloc(5)=0x10' '8 8 free(0x10)' \
    '9 9 malloc(1)=0x10' '8 8 realloc(0x10,7)=0x20' '8 8 malloc(0)=0x0' '9 9 free(0x20)' >log
run 1 log
sed -n '/^memtop-munge: process/p' err >told
cat >expected <<END
memtop-munge: process 8: the blocks of 2 refused calls may be its parent's, allocated before the fork
memtop-munge: process 9: the block of 1 refused call may be its parent's, allocated before the fork
END
same told expected
run 0 -c log
! grep -q parent err || fail "said by the original: $(cat err)"

# --- any bytes, lines of any length, no last newline ---
printf '1 1 malloc(5)=0x10' >log
run 0 log
printf '1 1 malloc(5)=#1\n' >good
same out good
{ printf '1 1 malloc(5)=0x10\n'; head -c 3000000 /dev/zero | tr '\0' x
    printf '\n1 1 free(0x10)\r\n'; } >log
printf '1 1 malloc(5)=#1\n1 1 free(#1)\n' >good
run 1 log
same out good
[ "$(wc -l <err)" = 1 ] && [ "$(wc -c <err)" -lt 400 ] || fail "said: $(head -c 500 err)"
head -c 100000 /dev/urandom >log
run 2 log
silent out
says err 'cannot read log: it is binary, but not of a kind that memtop reads'
run 0 -c log
silent out
run 2 /dev/null
silent out
says err 'cannot read /dev/null: it is empty'
run 0 -c /dev/null
silent out err
"$tested" - <"$data/readme.log" >out || fail "-: $?"
same out "$data/readme.munged"
# Input that arrives slowly is munged as it arrives: one call decides the kind.
mkfifo slow
"$tested" slow >out 2>err &
exec 3>slow
printf 'a program that says something\n7 7 malloc(5)=0x10\n' >&3
await grep -q 'line 1: not a line of an allocation log' err
exec 3>&-
wait $!
[ $? = 1 ] || fail "from a pipe: status $?"
printf '1 1 malloc(5)=#1\n' >good
same out good

# --- errors ---
run 2 missing
says err 'cannot read missing: No such file'
run 2 .
says err 'cannot read .: Is a directory'
run 64 log log
says err 'more than one file'
run 64 --bogus
if [ -w /dev/full ]; then
    "$tested" "$data/readme.log" >/dev/full 2>err
    [ $? = 2 ] || fail "/dev/full was written to"
    says err 'cannot write the standard output: No space left'
fi
run 0 --help
says out --compat

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop --log: where the text log goes, and that it replays.
. "$(dirname "$0")/tmux.sh"
build=${memtop%/*}
munge=$build/memtop-munge
replay=$build/memtop-replay
always='-B -q'

cat >prog.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
    void *block = malloc(11), *other;
    block = realloc(block, 500000);
    if (chdir("/") == 0 && argc > 1 && fork() == 0)
        execl(argv[1], argv[1], (char *)NULL);
    wait(NULL);
    posix_memalign(&other, 64, 100);
    free(block);
    return 3;
}
END
compile prog || skip "no compiler"
cat >expected <<END
1 1 malloc(11)=#1
1 1 realloc(#1,500000)=#1
1 1 posix_memalign(64,100)=#2
1 1 free(#1)
END

# The munged lines of a log's first process.
munged() {
    "$munge" "$1" >all || fail "munge $1: $?"
    grep '^1 ' all >munged
    cmp -s munged expected || fail "not as expected: $(diff munged expected)"
}

# --- a file ---
run 3 --log=new ./prog
silent out err
munged new
run 125 --log=new ./prog
says err 'cannot write new: File exists'
munged new
run 125 --log=none/such ./prog
says err 'cannot write none/such: No such file'
run 125 --log=. ./prog
says err 'cannot write .: Is a directory'
run 126 --log=left /etc/passwd
[ ! -e left ] || fail "a log is left of a program that was not started"
run 3 --log=10000 ./prog
munged 10000
run 3 --log=tree ./prog "$work/prog"
munged tree
sed -n 's/^2/1/p' all >munged
cmp -s munged expected || fail "the child's: $(cat all)"
run 3 --root-only --log=alone ./prog "$work/prog"
munged alone
cmp -s all expected || fail "the child's, too: $(cat all)"

# --- a descriptor ---
"$memtop" -B -q --log=3 ./prog 3>three || [ $? = 3 ] || fail "descriptor 3: $?"
munged three
"$memtop" -B -q --log=0003 ./prog 3>>three || [ $? = 3 ] || fail "descriptor 3: $?"
"$munge" three >all && [ "$(wc -l <all)" = 8 ] || fail "not appended: $(cat all)"
run 3 --log=1 ./prog
munged out
mkfifo pipe
"$munge" pipe >all &
run 3 --log=pipe ./prog
wait $!
cmp -s all expected || fail "through a pipe: $(cat all)"
for wrong in 0 7 9999; do
    run 125 --log=$wrong ./prog
    says err "cannot write $wrong: Bad file descriptor"
done
"$memtop" -B -q --log=3 ./prog 3</dev/null 2>err
says err 'cannot write 3: Bad file descriptor'
run 125 --log=x -l
says err 'can only be used with PROGRAM'

# --- with other options ---
run 3 --log=beside -d data ./prog
munged beside
[ "$(($(wc -c <data) / 24))" -ge 4 ] || fail "no data beside the log"
run 3 --log=usable --accounting=usable ./prog
munged usable
start 80 24 "$memtop --log=shown ./prog"
shows 'EXITED 3'
keys q
printed 'status 3'
stop
munged shown

# --- eight threads in each of two processes ---
crowd=$build/tests/preload/programs/log.run
if [ -e "$crowd" ]; then
    run 0 --log=crowd "$crowd" crowd
    "$munge" crowd >all || fail "lines of many threads are refused: $?"
    [ "$(cut -d ' ' -f 1 all | sort -u | wc -l)" = 2 ] || fail "no two processes"
    [ "$(wc -l <all)" -gt 48000 ] || fail "few lines: $(wc -l <all)"
fi

# --- a log that is recorded while it is replayed is the same ---
awk 'BEGIN { for (i = 1; i <= 2000; i++) print i " 1 malloc(8)=0x" i "0" }' >raw
"$replay" /dev/null 2>err
if ! grep -q ' in glibc$' err; then
    echo "not tried: recording a program with a sanitizer"
    finish
fi
MALLOC_LOG=$work/real LD_PRELOAD=$build/libmemtop.so "$munge" raw >out ||
    fail "not recorded: $?"
for minimal in '' 1; do
    [ -z "$minimal" ] || export MALLOC_LOG_MINIMAL=1
    "$munge" real >once || fail "a real log is refused: $?"
    { echo '1 1 jemalloc_stats()'; cat once; echo '1 1 jemalloc_stats()'; } >replayed
    "$memtop" -B -q --log=again$minimal "$replay" -q replayed 2>/dev/null ||
        fail "not replayed: $?"
    sed -n '/jemalloc_stats/,$p' again$minimal | "$munge" |
        awk '/jemalloc_stats/ { if (seen++) exit } { print }' >twice
    { echo '1 1 jemalloc_stats()'; cat once; } >wanted
    [ -z "$minimal" ] || sed -i -E 's/(posix_memalign|aligned_alloc)/memalign/' wanted
    cmp -s twice wanted || fail "another log: $(diff twice wanted | head -n 5)"
done
[ "$(wc -l <once)" -gt 2000 ] || fail "hardly anything was recorded"
finish

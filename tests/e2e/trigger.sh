#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Snapshots on a condition, and the command: files, values, and nothing waits.
. "$(dirname "$0")/common.sh"

# Number of files with a suffix.
count() {
    find . -name "memtop-*.$1" | wc -l
}
# Allocates 8 MiB and frees them at once, creates a file, runs while another exists.
cat >spike.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *volatile block = malloc(8 << 20);
    free(block);
    fclose(fopen("started", "w"));
    while (access("running", F_OK) == 0)
        usleep(10000);
    return 0;
}
END
compile spike || skip "no C compiler"

# --- a spike between two polls; the values; once a crossing ---
cat >note <<'END'
echo "$MEMTOP_CONDITION peak $MEMTOP_PEAK heap $MEMTOP_HEAP pid $MEMTOP_PID"
echo "preload ${LD_PRELOAD-none} input $(cat)"
[ -s "$MEMTOP_TEXT" ] && [ -s "$MEMTOP_JSON" ] && echo files
END
: >running
"$memtop" -B -q -i 0.1 -N 1 --snapshot-when='heap>4M' --snapshot-when='heap>1G' \
    --exec='sh ./note >>noted' ./spike >out 2>err </dev/null &
memtop_pid=$!
await grep -q files noted
rm running
wait $memtop_pid || fail "status $?: $(cat err)"
like noted '^heap>4M peak 838[0-9]+ heap [0-9]{1,6} pid [0-9]+$'
like noted '^preload none input $'
like noted '^files$'
[ "$(wc -l <noted)" = 3 ] || fail "more than once: $(cat noted)"
like err '^memtop: heap>4M: Saved memtop-[0-9]+-[0-9]{6}\.txt memtop-[0-9]+-[0-9]{6}\.json'
[ "$(count txt) $(count json)" = '1 1' ] || fail "files: $(ls)"
grep -q '"type":"snapshot"' memtop-*.json || fail "no snapshot: $(cat memtop-*.json)"
grep -q 'heap peak  *8' memtop-*.txt || fail "no report: $(cat memtop-*.txt)"
silent out
rm -f memtop-* noted started

# --- on SIGUSR1, which the program does not get; and at the exit ---
: >running
"$memtop" -B -q --snapshot-when=signal --snapshot-when=exit ./spike >out 2>err </dev/null &
memtop_pid=$!
await test -e started
kill -USR1 $memtop_pid
await grep -q 'signal: Saved' err
kill -USR1 $memtop_pid
await sh -c '[ "$(grep -c "signal: Saved" err)" = 2 ]'
rm running
wait $memtop_pid || fail "SIGUSR1 reached the program: $?"
like err '^memtop: exit: Saved '
[ "$(count json)" = 3 ] || fail "files: $(ls)"
grep -q '"state":"exited".*"status":0' memtop-*.json || fail "no end: $(cat memtop-*.json)"
rm -f memtop-* started

# --- nobody waits for the command; its failure is reported ---
"$memtop" -B -q --snapshot-when=exit --exec='echo $$ >sleeper; exec sleep 1000' true \
    >out 2>err </dev/null || fail "status $?"
await test -s sleeper
kill "$(cat sleeper)" || fail "the command has ended"
: >running
"$memtop" -B -q -i 0.1 -N 1 --snapshot-when=peak --exec='exit 5' ./spike >out 2>err \
    </dev/null &
memtop_pid=$!
await grep -q 'memtop: --exec: the command failed (status 5)' err
rm running
wait $memtop_pid || fail "the command's status: $?"

finish

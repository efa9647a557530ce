#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop -B from outside: statuses, which output goes where, signals, files.
. "$(dirname "$0")/common.sh"

# --- the program's status ---
run 0 -Bq true
silent err
run 7 -Bq sh -c 'exit 7'
run 137 -Bq sh -c 'kill -KILL $$'
run 139 -Bq sh -c 'kill -SEGV $$'
run 127 -B ./nothing
says err './nothing: no such program'
mkdir directory
run 126 -B ./directory
says err 'is a directory'
echo text >plain
run 126 -B ./plain
says err 'permission denied'
run 125 -B --nonsense true
says err "unrecognized option '--nonsense'"
run 125 -B
says err 'no program given'

# --- the report, however the program ends ---
for death in 'exit 0' 'kill -KILL $$' 'kill -ABRT $$' 'exec 2>&-'; do
    "$memtop" -B sh -c "$death" >out 2>err
    says err 'Memory usage summary: heap total: '
    says err 'Histogram for block sizes:'
done
run 0 -B ls -R /usr/include
says err ' malloc|'
grep -q '^ malloc| *[1-9]' err || fail "ls allocated nothing"
[ "$(ls -R /usr/include | cksum)" = "$(cksum <out)" ] || fail "ls printed something else"

# --- segments where they normally are ---
if [ "$MEMTOP_TEST_ALONE" = yes ]; then
    (unset MEMTOP_DIR && run 0 -B true && says err 'heap total')
    # A directory that cannot be used is reported.
    (MEMTOP_DIR=/nonexistent/deep && export MEMTOP_DIR && run 0 -B true &&
        says err 'MEMTOP_DIR=/nonexistent/deep cannot be used: No such file' && says err 'heap total')
    (MEMTOP_DIR=relative && export MEMTOP_DIR && run 0 -B true &&
        says err 'MEMTOP_DIR=relative cannot be used: it is not an absolute path')
else # somebody else may own it
    echo 'skipped: the usual directory: no mount namespace can be made here'
fi

# --- arguments and input belong to the program ---
run 0 -Bq -- printf '%s|' -B ' two  words ' '' '*' '$(date)' "quote'"
[ "$(cat out)" = "-B| two  words ||*|\$(date)|quote'|" ] || fail "arguments: $(cat out)"
echo input | "$memtop" -Bq cat >out 2>err
says out input

# --- lines: the program runs until enough of them are there ---
cat >lines <<'END'
until [ "$(wc -l <err)" -ge $1 ]; do sleep 0.05; done
sleep 0.2
END
run 0 -B -q -i 0.1 sh lines 3
[ "$(grep -c '^00:0[0-9]:[0-9][0-9] heap ' err)" -ge 3 ] || fail "not lines: $(cat err)"
run 0 -B -q -i 0.1 -N 1 sh lines 1
[ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
run 0 -B -i 0.1 --format=json sh lines 1
says err '"type":"sample"'
[ "$(grep -c '"type":"exit"' err)" = 1 ] || fail "no exit object"
if command -v jq >/dev/null 2>&1; then
    jq -e . err >/dev/null || fail "not JSON: $(cat err)"
fi

# --- output files ---
run 0 -B -o report true
silent err
says report 'Memory usage summary'
run 125 -B -o report sh -c 'echo ran >ran'
says err 'cannot write report: File exists'
[ ! -e ran ] || fail "the program ran although -o failed"
run 127 -B -o vain ./nothing
[ ! -e vain ] || fail "an empty file was left"
run 0 -B -o - true
says out 'Memory usage summary'
if [ -w /dev/full ]; then
    run 3 -B -o /dev/full -i 0.1 sh -c 'sleep 0.3; exit 3'
    says err 'cannot write /dev/full: No space left on device'
fi
"$memtop" -B sh -c 'exit 4' 2>&-
[ $? = 4 ] || fail "closed standard error"

# --- what cannot be measured ---
(ulimit -f 10; exec "$memtop" -B sh -c 'exit 2') >out 2>err
[ $? = 2 ] || fail "ulimit -f: $(cat err)"
says err 'the file size limit (ulimit -f) is below'
grep -q 'heap total' err && fail "zeros under ulimit -f"
if [ -n "$CC" ] || CC=cc; then
    echo 'int main(void) { return 5; }' >static.c
    if $CC -static -o static static.c >cc.log 2>&1; then
        run 5 -B ./static
        says err './static is statically linked: it runs, but is not measured'
        says err 'not measured: ./static is statically linked'
        grep -q 'heap total' err && fail "zeros for a static program"
    fi
    echo 'void *malloc(unsigned long n) { return 0; } int main(void) { return 6; }' >own.c
    if $CC -w -o own own.c >cc.log 2>&1; then
        run 6 -B ./own
        says err 'defines its own malloc'
        grep -q 'heap total' err && fail "zeros for a program with its own malloc"
    fi
fi

# --- signals ---
# background COMMAND...: memtop in the background as $memtop_pid.  The program creates a
# file named started when it runs.
background() {
    rm -f started ended
    : >running
    "$memtop" "$@" >out 2>err </dev/null &
    memtop_pid=$!
    await test -s started
}
# Two signals within a fifth of a second count as one and its echo.
insist() {
    kill -TERM $memtop_pid
    gone $memtop_pid
}

background -B sh -c 'trap "echo >ended; exit 9" TERM; echo >started; while [ -e running ]; do sleep 0.05; done'
kill -TERM $memtop_pid
wait $memtop_pid
status=$?
[ $status = 9 ] || fail "SIGTERM once: status $status"
[ -e ended ] || fail "SIGTERM was not passed on"
says err 'Memory usage summary'

background -B sh -c 'trap "echo >ended" TERM; echo $$ >started; while [ -e running ]; do sleep 0.05; done'
program=$(cat started)
kill -TERM $memtop_pid
await test -e ended
await insist
wait $memtop_pid
status=$?
[ $status = 143 ] || fail "SIGTERM twice: status $status"
says err "left running as process $program"
kill -0 "$program" || fail "the second SIGTERM killed the program"
rm running
await gone "$program"

background -B sh -c 'echo $$ >started; while [ -e running ]; do sleep 0.05; done'
program=$(cat started)
kill -HUP $memtop_pid
wait $memtop_pid
kill -0 "$program" || fail "SIGHUP killed the program"
rm running
await gone "$program"

# --- no display ---
if command -v setsid >/dev/null 2>&1; then
    setsid -w "$memtop" -q sh -c 'exit 3' >out 2>err </dev/null
    status=$?
    [ $status = 3 ] || fail "without a terminal: status $status"
    says err 'reporting at the end'
    [ "$(wc -l <err)" = 1 ] || fail "more than one line: $(cat err)"
fi

# --- pictures ---
if "$memtop" -Bq -p picture true 2>err; then
    grep -q 'built without PNG' err ||
        [ "$(head -c 4 picture.png | tail -c 3)" = PNG ] || fail "no picture: $(cat err)"
fi

finish

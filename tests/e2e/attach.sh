#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Running processes: listed, chosen, shown, and not disturbed.
server_source=$(cd "$(dirname "$0")" && pwd)/server.c
. "$(dirname "$0")/tmux.sh"
be_alone
library=${memtop%/*}/libmemtop.so
cp "$server_source" .
compile server || skip "no compiler: $(head -n 3 cc.log)"

# serve FILE: a server that runs as long as FILE exists; its pid is in $server.
serve() {
    : >"$1"
    rm -f "$1.ready"
    LD_PRELOAD=$library ./server "$1" &
    server=$!
    await test -e "$1.ready"
}

lives() {
    kill -0 "$1" 2>/dev/null || fail "process $1 did not survive: $2"
}

# --- the list ---
run 0 -l
silent out
says err 'no process is running with libmemtop'
run 0 -l --format=json
silent out
serve one
first=$server
run 0 -l
like out "^ *$first +(RUNNING|IDLE) +9\.5[0-9]+ MiB .* server one\$"
run 0 -l --format=json
like out "\"pid\": ?$first,.*\"command\": ?\"server one\".*\"heap\": ?100[0-9]*,"

# --- what is refused ---
run 125 -B -a 999999999
says err 'there is no process 999999999'
run 125 -B -a nobody
says err 'no process with libmemtop is called nobody'
run 125
says err 'no program given'
run 125 -a "$first" true
says err '--attach can only be used without PROGRAM'
serve two
second=$server
run 125 -B -a server
says err 'several processes are called server:'
says err "$first  server one"
says err "$second  server two"
rm two
wait "$second"
[ $? = 3 ] || fail "a server that was listed ended otherwise"

# --- lines, several viewers, and leaving in every way ---
for signal in TERM HUP KILL; do
    rm -f lines
    "$memtop" -B -i 0.1 -o lines -a "$first" 2>err &
    viewer=$!
    await grep -q 'heap 9\.5' lines
    "$memtop" -B -i 0.1 -o more -a server 2>err &
    other=$!
    await grep -q 'heap 9\.5' more
    rm more
    kill -$signal $viewer $other
    wait $viewer
    status=$?
    wait $other
    [ $signal = KILL ] || [ $status = 0 ] || fail "left by SIG$signal: status $status"
    [ $signal = KILL ] || says lines 'heap total: 1'
    lives "$first" "SIG$signal to its viewers"
done

# --- a number of lines, then the end ---
run 0 -B -i 0.1 -N 2 -a "$first"
[ "$(grep -c 'heap 9\.5' err)" = 2 ] || fail "-N 2 is not two lines: $(cat err)"
says err 'heap total: 10'
lives "$first" '-N 2'

# --- the process ends: the report covers the whole run ---
rm -f lines
"$memtop" -B -i 0.1 -o lines -a "$first" 2>err &
viewer=$!
await grep -q 'heap 9\.5' lines
rm one
wait "$first"
[ $? = 3 ] || fail "a server that was looked at ended otherwise"
wait $viewer
[ $? = 0 ] || fail "the viewer of a process that ended failed: $(cat err)"
says lines 'heap total: 1'
[ -z "$(ls "$segments")" ] || fail "left behind: $(ls "$segments")"

# --- without the library ---
sh -c 'echo $$ >blind; while [ -e blind ]; do sleep 0.02; done' &
await test -s blind
rm -f lines
"$memtop" -B -i 0.1 -o lines -a "$(cat blind)" 2>err &
viewer=$!
await grep -q 'not measured: it runs without libmemtop; start it under' lines
kill $viewer
wait $viewer

# By its name, too: the shell's name is common, that of a link to sleep is unique.
# Processes with the library are preferred.
rm blind
cp "$(command -v sleep)" sleeper
./sleeper 60 &
sleeper=$!
await grep -qx sleeper "/proc/$sleeper/comm"
rm -f lines
"$memtop" -B -i 0.1 -o lines -a sleeper 2>err &
viewer=$!
await grep -q 'not measured: it runs without libmemtop; start it under' lines
./sleeper 60 &
other=$!
await grep -qx sleeper "/proc/$other/comm"
run 125 -B -a sleeper
says err 'several processes are called sleeper:'
says err "$sleeper  sleeper 60"
says err "$other  sleeper 60"
kill "$sleeper" "$other"
wait $viewer
[ $? = 0 ] || fail "the viewer of an unmeasured process failed: $(cat err)"

# --- after an upgrade: the running process has a segment of another version ---
serve old
printf '\143' | dd of="$(echo "$segments/$server".*)" bs=1 seek=8 conv=notrunc 2>/dev/null
run 125 -B -a "$server"
says err "process $server runs with another version of libmemtop; restart it"
run 0 -l
like out "^ *$server +NO DATA +- +- .* server old \\(.*another version: restart"
run 0 -l --format=json
like out "\"pid\": ?$server,.*\"why_not\": ?\".*another version: restart"
start 90 24 "$memtop"
shows 'server old'
keys Enter
shows 'another version of libmemtop; restart it'
ends 125
lives "$server" 'a viewer of another version'
rm old
wait "$server"

# --- dormant: it counts only while somebody watches ---
MEMTOP_OPTIONS=dormant
export MEMTOP_OPTIONS
serve three
unset MEMTOP_OPTIONS
run 0 -l
like out "^ *$server +[A-Z ]+ +- +- "
rm -f lines
"$memtop" -B -i 0.1 -o lines -a "$server" 2>err &
viewer=$!
await grep -q 'malloc/s [1-9]' lines
kill $viewer
wait $viewer
lives "$server" "a viewer that woke it"
rm three
wait "$server"

# --- the display ---
serve four
start 90 24 "$memtop -a server"
runs
shows 'server four'
shows '9.5'
keys q
ends 0
lives "$server" 'q'
start 90 24 "$memtop -a $server"
runs
keys C-c
ends 0
lives "$server" '^C'
start 90 24 "$memtop -a $server"
runs
kill "$(child memtop)"
ends 0
lives "$server" 'SIGTERM to its viewer'

# --- a choice ---
serve five
start 90 24 "$memtop"
shows '─ Processes with libmemtop ─'
shows 'server four'
shows 'server five'
keys End
await matches_screen '^>.*server five'
keys Home
await matches_screen '^>.*server four'
rm five
wait "$server"
keys Enter
runs
shows 'memtop  server four'
keys q
ends 0
start 90 24 "$memtop"
shows 'server four'
keys q
ends 0
# A process that ends before memtop updates the list.
serve six
start 90 24 "$memtop"
shows 'server six'
keys End
await matches_screen '^>.*server six'
picker=$(child memtop)
kill -STOP "$picker"
rm six
wait "$server"
keys Enter
kill -CONT "$picker"
await matches_screen 'EXITED .*server six'
shows '─ Processes with libmemtop ─'
keys q
ends 0
rm four
stop

finish

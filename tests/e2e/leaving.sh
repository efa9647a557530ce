#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All ways to leave the display, intended or not: the program, the terminal and the exit
# status are right.
. "$(dirname "$0")/tmux.sh"

# names_itself COLS ROWS COMMAND: starts a program that writes its pid to a file; sets
# $program.
names_itself() {
    rm -f pid
    start "$@"
    runs
    await test -s pid
    program=$(cat pid)
}

# --- the question ---
names_itself 80 24 "$memtop sh -c 'echo \$\$ >pid; echo before; sleep 100'"
keys q
shows 'k kill it, l leave it running, Esc stay'
keys Escape
hides 'k kill it'
runs
keys q
keys k
ends 143
printed 'before'
await gone "$program" || fail 'k did not kill the program'

: >running
names_itself 80 24 "$memtop sh -c 'echo \$\$ >pid; while [ -e running ]; do sleep 0.1; done; echo after'"
keys q
keys l
ends 0
kill -0 "$program" || fail 'l did not leave the program'
rm running
shows 'after'
await gone "$program" || fail 'the program does not end'

# A program that ignores SIGTERM is killed finally.
start 80 24 "$memtop sh -c 'trap \"\" TERM; while :; do sleep 0.1; done'"
runs
keys q
keys k
ends 137

start 80 24 "$memtop --on-quit=kill sleep 100"
runs
keys q
ends 143
start 80 24 "$memtop --on-quit=leave sleep 3"
runs
keys q
ends 0

# --- ^C ---
start 80 24 "$memtop sleep 100"
runs
keys C-c
shows '  SIGINT  '
keys C-c
ends 130
deaf="$memtop sh -c 'trap \"\" INT; sleep 100; true'"
start 80 24 "$deaf"
runs
keys C-c
shows 'Interrupt sent'
keys q k
ends 143
start 80 24 "$deaf"
runs
keys C-c C-c # the second counts for two seconds
shows 'k kill it'
keys k
ends 143

# --- the terminal is restored ---
modes='stty -a >before;'
start 80 24 "$modes $memtop true && stty -a >after"
shows 'EXITED 0'
keys q
ends 0
cmp -s before after || fail "terminal modes: $(diff before after)"

for signal in SEGV ABRT BUS; do
    start 80 24 "$modes $memtop sleep 20; status=\$?; stty -a >after; (exit \$status)"
    runs
    pid=$(child memtop)
    kill -$signal "$pid"
    shows 'memtop: internal error'
    await matches_screen '^status 1'
    not_on_screen 'RUNNING' || complain "SIG$signal leaves the picture"
    cmp -s before after || fail "terminal modes after SIG$signal: $(diff before after)"
done

# A crash of memtop affects neither the program's life nor its output.
start 80 24 "$memtop sh -c 'echo \$\$ >pid; echo first words; while [ ! -e stop ]; do sleep 0.1; done; echo last words'"
runs
keys o
shows 'first words'
kill -SEGV "$(child memtop)"
shows 'internal error; program'
shows 'first words'
rm -f stop
kill -0 "$(cat pid)" || fail 'the program died of a crash of memtop'
echo >stop
shows 'last words'
await gone "$(cat pid)" || fail 'the program does not end after a crash of memtop'
rm -f stop pid

# --- signals to memtop ---
start 80 24 "$memtop sh -c 'trap \"exit 9\" TERM; while :; do sleep 0.05; done'"
runs
kill -TERM "$(child memtop)"
ends 9

names_itself 80 24 "$memtop sh -c 'echo \$\$ >pid; sleep 100'"
kill -HUP "$(child memtop)"
shows 'status '
kill "$program" || fail 'SIGHUP to memtop killed the program'

# --- ^Z and back ---
start 80 24 "$modes PS1='prompt ' exec sh -i"
shows 'prompt'
keys "$memtop sleep 100" Enter
runs
pid=$(child memtop)
keys C-z
shows 'topped'
grep -q '^State:.T' "/proc/$pid/status" || fail '^Z does not stop memtop'
keys fg Enter
runs
keys q
keys k
printed 'Memory usage summary'

# --- the terminal goes away ---
# Whatever happens to the program, memtop does not wait for it.
for prefix in '' nohup; do
    names_itself 80 24 "$prefix $memtop sh -c 'echo \$\$ >pid; exec sleep 1000'"
    pid=$(child memtop)
    $terminal kill-server
    await gone "$pid" || kill -KILL "$pid"
    kill "$program" 2>/dev/null
done

# --- no display ---
start 80 24 "TERM=dumb $memtop true"
ends 0
printed "terminal 'dumb' cannot show the display"
printed 'Memory usage summary'
start 80 24 "TERM=nonsense $memtop true"
ends 0
printed "terminal 'nonsense' cannot show the display"
start 80 24 "PS1='prompt ' exec sh -i"
shows 'prompt'
keys "$memtop sh -c 'exit 4' & wait \$!; echo status \$?" Enter
ends 4
printed 'in the background'
setsid -w "$memtop" sh -c 'exit 5' >out 2>&1 </dev/null
[ $? = 5 ] || fail "without a terminal: $(cat out)"
grep -q 'Memory usage summary' out || fail "no report without a terminal: $(cat out)"

# --- a flood of output ---
start 80 24 "$memtop sh -c 'head -c 100000000 /dev/zero | tr \"\\\\0\" x | fold -w 99; echo flood ends'"
shows 'EXITED 0'
keys o
shows 'flood ends'
pid=$(child memtop)
rss=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
[ "$rss" -lt 60000 ] || grep -q libasan "/proc/$pid/maps" ||
    fail "100 MB of output make memtop grow to $rss kB"
keys q
ends 0

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The page of processes: shells, chains of programs, forks, a child that cannot be
# measured, and looking at one of them.
server_source=$(cd "$(dirname "$0")" && pwd)/server.c
. "$(dirname "$0")/tmux.sh"
cp "$server_source" .
compile server || skip "no compiler: $(head -n 3 cc.log)"

# sees REGEX: waits for a line of the screen that matches.
sees() {
    await matches_screen "$1" || show_screen
}

# --- a shell and what it runs; a chain of programs ---
: >a
: >b
cat >chain <<'END'
#!/bin/sh
exec env ./server b
END
chmod +x chain
start 160 24 "$memtop sh -c './server a & ./chain & wait; exit 7'"
await test -e a.ready
await test -e b.ready
runs
keys 5
shows '─ Processes ─'
sees '(RUNNING|IDLE).*├─server a'
sees '└─server b  \(was .*sh > env\)'
sees '3 running, 0 ended; heap together 19\.[0-9]+ MiB'
shows '>*'

# --- one of them is shown, and the program again ---
keys End
sees '^>.*server b'
keys Enter
shows 'sh: server b'
shows 'is shown'
shows '9.5'
# What is saved is what is shown.
keys J
shows 'Saved memtop-'
await grep -qs '"program":"[^"]*/server"' memtop-*.json || show_screen
keys 5
sees '^>\*.*server b'
keys Home
sees '^> .*sh -c'
keys Enter
hides 'sh: server'
shows 'memtop  sh -c'

# --- not from the history ---
keys 5 Left
shows HISTORY
keys Enter
shows 'Esc returns there'
keys Escape

# --- one has ended, then all ---
keys 5
rm a
sees 'EXITED.*└─server a'
sees '2 running, 1 ended'
rm b
shows 'EXITED 7'
sees '0 running, 3 ended'
keys q
ends 7

# --- a pre-forking server: what a child has of its parent's heap is its own ---
: >a
rm -f a.ready
start 160 24 "$memtop ./server a 3"
await test -e a.ready
runs
keys 5
sees '4 running, 0 ended; heap together 38\.[0-9]+ MiB'
keys Down Enter
shows 'server: server a 3'
shows 'RUNNING'
rm a
shows 'GONE'
keys q
ends 3

# --- workers that have become another user ---
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    : >a
    rm -f a.ready
    start 160 24 "$memtop ./server a 1 65534"
    await test -e a.ready
    worker() { pgrep -u 65534 -f '^./server a 1 65534$'; }
    await worker
    keys 5
    sees '2 running'
    keys Down Enter
    shows 'server: server a 1'
    shows 'of peak 9.5'
    "$memtop" -B -i 0.1 -N 1 -a "$(worker)" 2>err || fail "attached to a worker"
    like err 'heap 9\.5'
    keys 1
    rm a
    shows 'The program exited with status 3'
    keys q
    ends 3
fi

# --- the one that is shown executes another program, and ends ---
: >a
rm -f a.ready
mkfifo go
start 160 24 "$memtop sh -c '(read x <go; exec ./server a) & wait; wait'"
runs
keys 5
sees '2 running'
keys End
sees '^>.*sh -c'
# Keys that come together are acted on before the next picture.
keys Enter 2 Down '[' 1
shows 'sh: sh -c'
keys p
shows 'Mark set'
echo >go
shows 'sh: server a'
keys 8
sees 'process [0-9]+ executed .*/server; counters restarted'
rm a
shows 'The program exited'
keys q
ends 0

# --- the program ends before its child, which stays on the page ---
: >a
rm -f a.ready
start 160 24 "$memtop sh -c '(trap \"\" HUP; exec ./server a) & while ! [ -e a.ready ]; do sleep 0.02; done'"
shows 'EXITED 0'
keys 5
sees '(RUNNING|IDLE).*─server a'
keys Home Down Enter
shows 'sh: server a'
keys l l
keys 1
shows 'The program exited with status 0'
rm a
shows 'GONE'
shows 'The program exited with status 0'
keys 5
# Of those that have ended only the newest are listed.
sees '0 running'
keys q
ends 0

# --- one without the library ---
if compile server -static; then
    : >a
    rm -f a.ready
    start 160 24 "$memtop sh -c './server a; exit 4'"
    runs
    keys 5
    sees 'NO DATA +- +- +-.*server a  not measured: libmemtop was not'
    sees '1 not measured'
    keys End Enter
    shows 'sh: server a'
    shows 'it runs without libmemtop'
    rm a
    keys q
    keys k
    shows 'status'
fi
stop

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The page of processes: shells, chains of programs, forks, a child that cannot be
# measured, and showing one of them.
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

# --- one of them is shown, then the root again ---
keys End
sees '^>.*server b'
keys Enter
shows 'sh: server b'
shows 'is shown'
shows '9.5'
# The process shown is the one saved.
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

# --- children that lose the library, each with its reason ---
children='env -i ./server a &'
: >a
if ln server.c static.c && compile static -static; then
    children="$children ./static a &"
else
    echo 'skipped: no static C library'
fi
cat >gopher.go <<'END'
package main

import (
	"os"
	"time"
)

var kept = make([][]byte, 1000)

func main() {
	for i := range kept {
		kept[i] = make([]byte, 10000)
	}
	for {
		if _, err := os.Stat(os.Args[1]); err != nil {
			os.Exit(5)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
END
if GOCACHE=$work/cache HOME=$work GO111MODULE=off CGO_ENABLED=0 \
        go build -o gopher gopher.go >cc.log 2>&1; then
    children="$children ./gopher a &"
else
    echo "skipped: no Go: $(head -n 1 cc.log)"
fi
start 160 24 "$memtop sh -c '$children wait'"
runs
keys 5
sees 'NO DATA.*server a .*not measured: started without LD_PRELOAD'
[ ! -x static ] || sees 'NO DATA.*static a .*not measured: it is statically linked'
[ ! -x gopher ] || sees 'NO DATA.*gopher a .*not measured: it is statically linked'
rm a
shows 'EXITED 0'
keys q
ends 0
if [ -x gopher ]; then
    "$memtop" -B ./gopher a 2>err
    status=$?
    [ $status = 5 ] || fail "a Go program ended otherwise: $status"
    says err 'not measured: ./gopher is statically linked'
fi

# --- keys act on the selected process; sorted, and only some of them ---
: >a
: >b
rm -f a.ready b.ready
printf '%s\n' './server a &' './server b' 'exit 6' >both
start 100 24 "$memtop sh both"
await test -e a.ready
await test -e b.ready
runs
keys 5
sees '3 running'
keys s
shows 'Sorted by: heap'
sees '^ *[>*]* *[0-9]+ +[A-Z]+ +9\.5.* server'
keys R s s s s s
shows 'In the usual order'
keys / 'r b' Enter
sees '1 of 3'
sees '^>.*server b'
other=$(pgrep -f '^./server b$')
keys Z
shows "Process $other is stopped; Z continues it"
sees 'STOPPED.*server b'
keys Z
shows "Process $other continues"
keys K
shows "Signal to $other (Enter for TERM, Esc none)"
keys Enter
shows "SIGTERM sent to $other"
shows 'EXITED 6'
rm a b
keys / C-u Enter
keys q
ends 6

# --- a pre-forking server: blocks that a child got from its parent are its own ---
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
shows 'EXITED'
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

# --- the process shown executes another program, and ends ---
: >a
rm -f a.ready
mkfifo go
start 160 24 "$memtop sh -c '(read x <go; exec ./server a) & wait; wait'"
runs
keys 5
sees '2 running'
keys End
sees '^>.*sh -c'
# Keys that arrive together take effect before the next drawing.
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
shows 'EXITED'
shows 'The program exited with status 0'
keys 5
# Of ended processes only the newest are listed.
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
    sees 'NO DATA +- +- +-.*server a  not measured: it is statically linked'
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

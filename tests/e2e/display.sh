#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The display of a real program: it shows, and every key does what the help says.
. "$(dirname "$0")/tmux.sh"

# A program that allocates while a file exists, and prints something.
: >running
cat >program <<'EOF'
echo "a line it printed"
while [ -e running ]; do
    for i in 1 2 3 4 5 6 7 8; do block="$block$i-0123456789"; done
    [ ${#block} -lt 100000 ] || block=
    sleep 0.01
done
exit 3
EOF

start 80 24 "$memtop -i 0.2 sh program"
shows 'RUNNING'
shows 'Live '
shows 'Coverage'
shows '─ Heap ─'
shows ' malloc '
shows '─ Block sizes ─'
shows 'Sampling every 0.2 s'
shows '? Help'

keys Space
shows 'PAUSED'
shows 'collecting continues'
stands_still() {
    before=$(screen)
    sleep 0.5
    [ "$before" = "$(screen)" ]
}
await stands_still || complain 'a paused picture changes'
keys Space
hides 'PAUSED'

keys -
shows 'Interval 0.4 s'
keys +
keys +
keys +
shows 'Interval 0.1 s'
keys ']'
shows 'The graphs show'
keys l
shows 'Heap, logarithmic'
keys l
hides 'Heap, logarithmic'
keys g
shows 'Graphs in blocks'
keys g g
shows 'Graphs in braille'
keys e
shows 'Sizes in KiB'
keys e e e
shows 'Sizes in automatic units'

keys '?'
shows 'freeze the picture'
keys x
shows 'draw the screen again'
keys x
hides 'draw the screen again'
keys '?' Escape Y
shows 'Unknown key'

keys Tab
shows 'posix_memalign'
keys 3
shows 'live now'
keys 6
shows '─ Memory ─'
shows 'live blocks, as asked for'
keys o
shows 'a line it printed'
keys Space 4
shows '─ Threads ─'
shows ' sh  '
keys Space
keys 8
shows 'Accounting'
keys BTab
shows 'a line it printed'
keys 1
shows '─ Heap ─'

keys Z
shows 'STOPPED'
keys Z
hides 'STOPPED'

keys w
shows 'Saved memtop-'
grep -q malloc memtop-*.txt || fail "not a report: $(head memtop-*.txt)"
keys J
shows '.json'
[ "$(grep -c '"type":"snapshot".*"live_sizes":\[{' memtop-*.json)" = 1 ] ||
    fail "not a snapshot: $(cat memtop-*.json)"
keys P
await matches_screen 'Saved .*\.png|cannot draw pictures' || show_screen
on_screen 'cannot draw pictures' || [ "$(head -c 4 memtop-*.png | tail -c 3)" = PNG ] ||
    fail 'not a picture'

keys C-l
runs

rm running
shows 'exited with status 3'
shows 'EXITED 3'
keys q
ends 3
printed 'Memory usage summary'
printed 'a line it printed'

# A short program also leaves its screen and all its output, however soon after its end
# the display is left.
for try in 1 2 3 4; do
    start 80 24 "$memtop ls /"
    shows 'EXITED 0'
    [ $try != 1 ] || shows ' malloc '
    keys q
    ends 0
    printed 'usr'
done

# If a program cannot be measured, the display says so in words.
echo 'int main(void) { volatile int i = 0; while (i == 0); return 0; }' >spin.c
if ${CC:-cc} -static -o spin spin.c 2>/dev/null; then
    start 80 24 "$memtop ./spin"
    shows 'not measured: '
    shows 'Resident memory'
    screen | grep -q 'Live 0' && fail 'zeros for a static program'
    keys q
    keys k
    ends 143
fi

# Keys on a Russian keyboard.
start 80 24 "$memtop sleep 100"
runs
keys 'щ'
shows 'Output of the program'
keys 'й'
shows 'k kill it'
keys 'л'
ends 143

# The answer to a key also disappears by itself.
start 80 24 "unset MEMTOP_TEST_PATIENCE; $memtop sleep 100"
runs
keys Space
shows 'Space resumes'
keys q k
ends 143

# Scrolled back in the output, the lines stay while more are printed.
start 80 14 "$memtop sh -c 'i=0; while :; do i=\$((i + 1)); echo line \$i.; sleep 0.05; done'"
runs
keys o
await matches_screen 'line ([3-9].|...+)\.' || show_screen
keys PgUp
await matches_screen '([2-9].|...+) lines back' || show_screen
back=$(screen | sed -n 3p)
await matches_screen '([4-9].|...+) lines back' || show_screen
[ "$back" = "$(screen | sed -n 3p)" ] || complain "'$back' runs away"
keys End
hides 'lines back'
keys q k
ends 143

# Keys for the program.
start 80 24 "$memtop sh -c 'read word; echo got \$word; sleep 100'"
runs
keys o i
shows 'Keys go to the program'
keys h e l l o Enter
shows 'got hello'
keys C-]
hides 'Keys go to the program'
keys K
shows '(Enter for TERM, Esc none)'
keys U S R 1 Enter
shows '  SIGUSR1  '
keys q
ends 138

# A limit is also checked after the display.
start 80 24 "$memtop -q --max-heap=1 ls /"
shows 'EXITED 0'
keys q
ends 124
printed 'memtop: --max-heap: '

# Snapshots on a condition and on a signal; the command does not touch the screen.  Both
# messages stay on the page of messages.
rm -f memtop-*.json noted
start 80 24 "$memtop -i 0.2 --snapshot-when='heap>1K' --snapshot-when=signal \
    --exec='echo garbage; echo \$MEMTOP_CONDITION >>noted' sleep 100"
runs
keys 8
shows 'heap>1K: Saved memtop-'
await grep -qx 'heap>1K' noted || fail 'no command'
kill -USR1 "$(child memtop)"
shows 'signal: Saved memtop-'
await grep -qx signal noted || fail 'no command on a signal'
runs
not_on_screen garbage || complain 'the command printed on the display'
[ "$(cat memtop-*.json | grep -c '"live_sizes":\[{')" = 2 ] || fail 'no snapshots'
keys q k
ends 143

# Every call is recorded while the display runs; errors are shown there, too.
start 80 24 "$memtop -d calls $cases 10"
shows 'exited with status 0'
keys q
shows 'Histogram for'
ends 0
[ "$(wc -c <calls)" = $((24 * 4000002)) ] || fail "recorded: $(wc -c <calls) bytes"
not_on_screen 'not recorded' || complain 'calls were lost'
rm -f calls
start 80 24 "ulimit -S -f 100; $memtop -d calls sh -c 'ulimit -S -f unlimited; $cases 10; sleep 100'"
runs
keys 8
shows 'cannot write calls'
keys q k
ends 143
printed 'cannot write calls'
rm -f calls*

finish

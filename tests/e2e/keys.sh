#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Keys that search, sort, ask and reset, each with its answer.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

# --- typing an interval ---
cat >script <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 malloc=200 malloc.bytes=10M realloc=900 realloc.bytes=1M calloc=50 calloc.bytes=30M
1000 heap=100M
2000 heap=20M
1000000 exit=0
EOF
start 80 24 "MEMTOP_TEST_CLOCK=0 $memtop -i 1 --source=script:script"
shows '00:00:00'
tick '00:00:01'
tick '00:00:02'
tick '00:00:03'
shows '  1.0 s'
keys d
shows 'Interval in seconds: _'
keys 2 , x 5
shows 'Interval in seconds: 2,5_'
keys BSpace BSpace BSpace 0 . 2 Enter
shows '  0.2 s'
keys d . . Enter
shows "'..' is not a number of seconds"
keys d 9 9 Enter
shows 'Interval 60 s, the longest'
keys d 0 , 0 1 Enter
shows 'Interval 0.1 s, the shortest'
keys d 7 Escape
hides 'Interval in seconds'
shows '  0.1 s'

# --- resetting the peak ---
shows '20% of peak 100.0 MiB'
keys r
shows 'Peak reset'
tick '100% of peak 20.00 MiB'
keys r
shows '20% of peak 100.0 MiB'

# --- sorting a table ---
first_row() {
    screen | sed -n 4p | grep -q "^ $1 "
}
keys s
shows 'no table to sort on this page'
keys 2
await first_row malloc || complain 'malloc is not first'
keys s
shows '▼calls'
await first_row realloc || complain 'not sorted by calls'
keys s s
shows '▼total'
await first_row calloc || complain 'not sorted by bytes'
keys R
shows '▲total'
hides '▼'
first_row calloc && complain 'not in reverse order'
keys s s
hides ▲
await first_row malloc || complain 'not in the usual order'
keys q
ends 0

# --- searching the output ---
start 80 14 "$memtop sh -c 'i=0; while [ \$i -lt 200 ]; do i=\$((i + 1)); case \$i in
    30|90|170) echo \"line \$i, a Needle\" ;; *) echo \"line \$i.\" ;; esac; done; exec sleep 100'"
runs
keys /
shows 'Nothing to search here'
keys o
shows 'line 200.'
keys / n e e d l e Enter
shows '3 lines found'
shows '>line 170, a Needle'
keys n
shows '>line 90, a Needle'
keys n
shows '>line 30, a Needle'
keys n
shows 'No more matches above'
keys N
shows '>line 90, a Needle'
keys / n o w h e r e Enter
shows "'nowhere' is not in the output"
keys / Enter
shows 'The search is off'
hides '>line'
keys n
shows 'There is no search;'

# --- filtering threads by name ---
keys 4
shows ' sleep '
keys / x y z Enter
shows 'No thread has this name'
shows 'name: xyz ─'
keys / s l e Enter
shows ' sleep '
keys s
shows '▼calls'
keys / Enter
hides 'name: sle'
keys q k
ends 143

finish

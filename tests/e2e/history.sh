#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The mark, and the cursor in the history, in the display of a scripted process.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 malloc.bytes=10M total=10M size.24=150
1000 heap=100M blocks=24537 malloc=1204871 malloc.bytes=200M total=200M size.300=40 band.requested=95M band.program=4M
12000 heap=60M blocks=20000 malloc=1204901 malloc.bytes=201M free=4537 total=201M size.300=45 band.requested=57M band.held=38M
14000 heap=62M
17000 exit=0
EOF
start 80 24 "MEMTOP_TEST_CLOCK=0 $memtop -i 1 --source=script:script"
shows '00:00:00'
for second in 1 2; do
    tick "00:00:0$second"
done
shows '100.0 MiB'

# --- a mark, and what changes after it ---
keys p # reads the program once more
shows 'Mark set: heap 100.0 MiB'
shows '─ since the mark at 00:00:03'
shows 'Since mark 0 B, 0 blocks'
shows ' no changes'
for second in 04 05 06 07 08 09 10 11 12 13 14; do
    tick "00:00:$second"
done
shows ▲
shows 'Since mark -38.00 MiB, -4537 blocks'
shows '+30 '
shows '+1.000 MiB'
shows ' +4537'
shows ' 256-511     +5 100%'
keys 2
shows 'Live since the mark       -38.00 MiB'
shows 'Allocated since the mark  +1.000 MiB'
keys 3
shows ' +5 100%'
keys p
shows 'Mark cleared'
hides ' +5'
shows ' 45 '
keys 1
shows 'Live 20000 blocks'
hides ▲

# --- back in the run ---
keys Left
shows HISTORY
shows 'History 00:00:13 of 00:00:14'
shows 'Live 20000 blocks'
shows ┼
keys Home
shows 'History 00:00:00 of 00:00:14'
shows 'Heap   10.00 MiB'
shows ' malloc            200 '
shows 'Live 200 blocks'
hides ' 256-511 '
keys Left
shows 'Nothing was recorded before'
keys S-Right
shows 'History 00:00:10 of 00:00:14, heap 100.0 MiB'
shows ' 256-511 '
keys 3
shows '256-511         40'
keys 2
shows 'in blocks                 24537'
keys 6
shows 'read at 00:00:01'
shows ' requested   95.00 MiB   96%'
shows ' held                -'
keys Home
shows 'Not recorded at this moment.'
keys End
shows ' held        38.00 MiB   38%'
keys Left Home S-Right
shows 'History 00:00:10 of 00:00:14'
keys 1

# --- the change from a mark in the past to another moment ---
keys Home p
shows 'Mark set: heap 10.00 MiB'
keys '>'
shows 'Since mark +90.00 MiB, +24337 blocks'
shows '+1204671 '
keys p
shows 'Mark cleared'

# --- the present ---
keys Escape
shows 'live again'
hides HISTORY
keys Left
shows HISTORY
keys End
hides HISTORY

# --- while paused, nothing later than the pause ---
keys Home
shows HISTORY
keys Space
shows 'Paused at'
keys End
shows 'Back where the picture was paused'
shows PAUSED
keys Right
shows 'This is the latest'
keys Left
shows HISTORY
keys Right
shows PAUSED
keys Space q
ends 0

# --- after the end, and where nothing was recorded ---
printf '0 why %s\n3000 heap=1M rss=3M malloc=5\n6000 rss=4M\n9000 exit=0\n' 'not yet' >script
start 80 24 "MEMTOP_TEST_CLOCK=0 $memtop -i 1 --source=script:script"
shows '00:00:00'
for second in 1 2 3 4 5 6 7 8 9; do
    tick "00:00:0$second"
done
shows 'EXITED 0'
keys Left
shows HISTORY
shows 'RSS 4.000 MiB'
shows 'heap 1.000 MiB'
keys Home
shows 'not measured there'
hides 'RSS '
keys End
shows 'Back at the end'
shows 'EXITED 0'
keys q
ends 0
stop
finish

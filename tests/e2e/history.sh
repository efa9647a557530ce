#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The mark, in the display of a made-up process.
. "$(dirname "$0")/tmux.sh"

cat >script <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 malloc.bytes=10M total=10M size.24=150
500 heap=100M blocks=24537 malloc=1204871 malloc.bytes=200M total=200M size.300=40
4000 heap=60M blocks=20000 malloc=1204901 malloc.bytes=201M free=4537 total=201M size.300=45
4300 heap=62M
100000 exit=0
EOF
start 80 24 "$memtop -i 0.2 --source=script:script"
shows '100.0 MiB'

# --- a mark, and what changes after it ---
keys p
shows 'Mark set: heap 100.0 MiB'
shows '─ since the mark at 00:00:0'
shows 'Since mark 0 B, 0 blocks'
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
keys q
shows 'status 0'
stop
finish

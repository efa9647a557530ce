#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The display in lines, for users who cannot see it: changes are said once, on any
# terminal, and nothing is drawn.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 malloc=200 malloc.bytes=10M total=10M size.24=150
400 heap=20M
1000000 exit=0
EOF
lines="$memtop --lines -i 0.1 --source=script:script"

start 80 24 "stty -a >before; TERM=dumb $lines; stty -a >after"
shows 'memtop  ./prog'
shows 'heap 20.00 MiB, peak 20.00 MiB, blocks 200'
keys C-l
keys 2
shows 'calls  calls/s  total  failed'
shows 'malloc  200  0  10.00 MiB  0'
keys d
shows 'Interval in seconds: _'
keys 5 Enter
shows 'Interval 5 s'
keys '?'
printed 'freeze the picture'
keys Escape
shows 'Total allocated' # an Escape and what follows at once are one key
keys Space
shows 'Paused at'
keys z
shows 'Unknown key'
keys q
ends 0
cmp -s before after || fail "terminal modes: $(diff before after)"
# Plain text: no drawing characters, no bars, no cursor movements.
$terminal capture-pane -p -S - | LC_ALL=C grep -q '[^ -~]' &&
    complain 'not plain text'
$terminal capture-pane -p -S - | grep -qE '\|\||--- ' && complain 'something is drawn'
[ "$($terminal capture-pane -p -S - | grep -c 'Interval 5 s')" = 1 ] ||
    complain 'an answer is said twice'

# The program ends, and its output is there.
start 80 24 "$memtop -L sh -c 'echo some words; read line; exit 3'"
shows 'RUNNING'
keys o
shows 'some words'
keys i
shows 'Keys go to the program'
keys x Enter
shows 'exited with status 3'
keys q
ends 3
printed 'Memory usage summary'

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Terminals of several kinds, and programs that use theirs in several ways.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M malloc=200 size.24=150
100 heap=100M malloc=1204871 calloc.failed=2
200 heap=60M
1000000 exit=0
EOF

# --- kinds of terminals ---
for kind in linux vt100 vt220 xterm tmux-256color screen ansi; do
    infocmp "$kind" >/dev/null 2>&1 || continue
    start 80 24 "TERM=$kind $memtop --source=script:script"
    shows '─ Calls ─'
    shows 'Failed calls 2'
    # The console's font has blocks but no braille.
    if [ $kind = linux ]; then
        shows █
        screen | grep -q ⣿ && complain 'braille on the console'
    else
        shows ⣿
    fi
    keys 2
    shows 'posix_memalign'
    keys q
    ends 0
done

# --- a program that wants the whole terminal ---
start 80 24 "$memtop sh -c 'printf \"\\033[?1049hfull screen\"; exec sleep 100'"
shows 'wants the whole terminal'
keys o
shows 'full screen'
keys q k
ends 143

# --- redirected streams are not touched ---
start 80 24 "printf 'some\\nbytes' | $memtop sh -c 'cat; printf \"\\001\\377\\r\\n\"; exec sleep 100' >out"
printf 'some\nbytes\001\377\r\n' >expected
shows 'Live '
await cmp -s expected out
keys q k
ends 143
cmp -s expected out || fail "the redirected output: $(od -c out)"

finish

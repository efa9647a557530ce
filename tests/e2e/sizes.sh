#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The display in terminals of every size, in other character sets and without colours.
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

cat >script <<'EOF'
program ./prog --size 100000
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 size.24=150
1000 heap=100M blocks=24537 stack=12K malloc=1204871 calloc.failed=2 size.300=40
2000 heap=60M
1000000 exit=0
EOF
source="MEMTOP_TEST_CLOCK=0 $memtop -i 1 --source=script:script --dump-screen=dump"

dumped() {
    await grep -qF -e "$1" dump || {
        fail "'$1' is not on the screen"
        sed 's/^/    |/' dump
    }
}
has_size() {
    [ "$(wc -l <dump)" = "$1" ]
}
# The terminal shows exactly what was drawn.
matches() {
    screen >shown
    diff dump shown >difference
}

# --- tiers ---
for size in '20 3' '40 10' '80 24' '120 40' '200 60'; do
    rm -f dump
    # shellcheck disable=SC2086
    set -- $size
    start "$1" "$2" "$source"
    shows '10.00 MiB'
    tick '100.0 MiB'
    tick '60.00 MiB'
    case $1 in
    20) dumped 'peak  100.0 MiB' ;;
    40) dumped ' now' ;;
    80) dumped '─ Calls ─' ;;
    120) dumped '─ Stack ─' ;;
    200) dumped 'Calls per second' ;;
    esac
    await matches || fail "$size: the screen differs from the drawing: $(cat difference)"
    keys q
done

# --- sweep ---
start 80 24 "$source"
shows '10.00 MiB'
tick '100.0 MiB'
tick '60.00 MiB'
pid=$(child "${memtop##*/}")
for size in '1 1' '2 1' '1 2' '5 2' '19 3' '20 3' '39 9' '40 10' '69 19' '70 20' '109 33' \
    '110 34' '159 49' '160 50' '250 80' '250 1' '1 80' '80 24'; do
    # shellcheck disable=SC2086
    set -- $size
    resize "$1" "$2"
    await has_size "$2" || fail "the display does not follow to $size"
    kill -0 "$pid" || { fail "$size ends memtop"; break; }
done
dumped '─ Calls ─'
await matches || fail "residue of other sizes: $(cat difference)"
keys '?'
dumped 'freeze the picture'
for size in '20 3' '1 1' '80 24'; do
    # shellcheck disable=SC2086
    set -- $size
    resize "$1" "$2"
    await has_size "$2" || fail "the help does not follow to $size"
done
keys Escape
dumped '─ Calls ─'
keys q
ends 0

# --- the same clock and script give the same screen ---
cat >ending <<'EOF'
program ./prog
pid 24817
0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 size.24=150
2000 heap=1M
3000 exit=3
EOF
for round in 1 2; do
    rm -f dump
    start 80 24 "MEMTOP_TEST_CLOCK=0 $memtop -i 1 --source=script:ending --dump-screen=dump"
    shows '00:00:00'
    tick '00:00:01'
    tick '00:00:02'
    tick 'EXITED 3'
    dumped 'EXITED 3'
    keys q
    ends 3
    mv dump dump$round
done
cmp -s dump1 dump2 || fail "two runs differ: $(diff dump1 dump2)"

# --- garbage on the screen goes away ---
start 80 24 "$source"
shows '─ Calls ─'
printf '\033[5;5Hgarbage' >"$($terminal display-message -p '#{pane_tty}')"
shows 'garbage'
keys C-l
hides 'garbage'

# --- ASCII ---
locale=C
start 80 24 "$source"
shows '- Calls -'
screen | LC_ALL=C grep -q '[^ -~]' && complain 'not ASCII in the C locale'
keys q
locale=C.UTF-8
start 80 24 "$source --ascii"
shows '- Calls -'
screen | LC_ALL=C grep -q '[^ -~]' && complain 'not ASCII with --ascii'
keys q

# --- colours ---
coloured() {
    $terminal capture-pane -pe | grep -q "$(printf '\033\\[[0-9;]*3[0-7]m')"
}
start 80 24 "TERM=screen-256color $source"
shows '─ Calls ─'
await coloured || fail 'no colours'
start 80 24 "NO_COLOR=1 TERM=screen-256color $source"
shows '─ Calls ─'
coloured && fail 'colours in spite of NO_COLOR'
start 80 24 "TERM=screen-256color $source --color=never"
shows '─ Calls ─'
coloured && fail 'colours in spite of --color=never'
start 80 24 "TERM=vt100 $source"
shows '─ Calls ─'
coloured && fail 'colours on a vt100'
keys q

finish

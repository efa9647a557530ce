# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# For tests of the display, beside common.sh: a terminal of our own (tmux on a
# private socket, without configuration), keys, and waiting for what the screen
# shows.
#
#   start COLS ROWS COMMAND   runs a shell command in a new terminal
#   shows TEXT, hides TEXT    waits for it, or fails
#   printed TEXT              the same of all that was printed, also above
#   ends STATUS               waits until the command has ended so
#   keys KEY...               types (tmux's names of keys)
#   resize COLS ROWS
#   stop                      ends the terminal
#   runs                      waits for a living program on the display
#   tick TEXT                 the clock goes on by the interval; then TEXT is there
#   complain TEXT             fails, with the screen
#
# After COMMAND the terminal stays.
#
# Nothing may depend on how soon a test gets to look.  Answers to keys stay until
# the next key (MEMTOP_TEST_PATIENCE).  For a made-up process (--source) under
# MEMTOP_TEST_CLOCK=0 no time passes but by tick; for real ones a test looks only
# for what stays.

. "$(dirname "$0")/common.sh"
command -v tmux >/dev/null 2>&1 || skip "tmux is not installed"
terminals=0
terminal=false
trap '$terminal kill-server 2>/dev/null; clean' EXIT
LC_ALL=C.UTF-8
unset TMUX COLUMNS LINES
# The leak checker stops memtop by ptrace; the SIGCONT that comes with a hang-up
# would set it going again and the checker would wait for ever.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
MEMTOP_TEST_PATIENCE=1
export MEMTOP_TEST_PATIENCE
locale=C.UTF-8

stop() {
    $terminal kill-server 2>/dev/null
}

start() {
    stop
    # A socket of its own: the server before may take its time to go.
    terminals=$((terminals + 1))
    terminal="tmux -S $work/terminal-$terminals -f /dev/null -u"
    cat >command <<EOF
LC_ALL=$locale; export LC_ALL
$3
echo "status \$?"
exec sleep 1000
EOF
    $terminal start-server \; set-option -g history-limit 20000 \; \
        new-session -d -x "$1" -y "$2" "exec sh $work/command"
}

screen() {
    $terminal capture-pane -p
}

on_screen() {
    screen | grep -qF -e "$1"
}

not_on_screen() {
    ! on_screen "$1"
}

matches_screen() {
    screen | grep -qE -e "$1"
}

show_screen() {
    screen | sed 's/^/    |/'
}

complain() {
    fail "$*"
    show_screen
}

shows() {
    await on_screen "$1" || show_screen
}

printed() {
    await was_printed "$1" || show_screen
}

was_printed() {
    $terminal capture-pane -p -S - | grep -qF -e "$1"
}

# The display may say "exited with status" before.
ends() {
    await matches_screen "^status $1 *\$" || show_screen
}

hides() {
    await not_on_screen "$1" || show_screen
}

# A program that has nothing to allocate is idle after some seconds.
runs() {
    await matches_screen 'RUNNING|IDLE' || show_screen
}

tick() {
    kill -CHLD "$(child "${memtop##*/}")"
    shows "$1"
}

keys() {
    $terminal send-keys "$@"
}

resize() {
    $terminal resize-window -x "$1" -y "$2"
}

# The process that runs in the terminal, or a child of it by that name.
child() {
    pgrep -P "$($terminal display-message -p '#{pane_pid}')" -x "$1"
}

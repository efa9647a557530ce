# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# For tests of the display, in addition to common.sh: a terminal (tmux on a private
# socket, without configuration), keys, and waiting for what the screen shows.
#
#   start COLS ROWS COMMAND   runs a shell command in a new terminal
#   shows TEXT, hides TEXT    waits until the screen does, or fails
#   printed TEXT              the same for all printed text, also what scrolled away
#   ends STATUS               waits until the command has ended with STATUS
#   keys KEY...               types (tmux's names of keys)
#   resize COLS ROWS
#   stop                      ends the terminal
#   runs                      waits until the display shows a living program
#   tick TEXT                 advances the clock by the interval; then waits for TEXT
#   complain TEXT             fails, and shows the screen
#
# The terminal remains after COMMAND.
#
# Nothing may depend on how soon a test reads the screen.  Answers to keys stay until the
# next key (MEMTOP_TEST_PATIENCE).  For a scripted process (--source) with
# MEMTOP_TEST_CLOCK=0 time passes only by tick; for real ones a test waits only for what
# stays.

. "$(dirname "$0")/common.sh"
command -v tmux >/dev/null 2>&1 || skip "tmux is not installed"
terminals=0
terminal=false
trap '$terminal kill-server 2>/dev/null; clean' EXIT
LC_ALL=C.UTF-8
unset TMUX COLUMNS LINES
# The leak checker stops memtop by ptrace; the SIGCONT of a hang-up would continue it,
# and the checker would wait for ever.
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
    # Each terminal has its own socket, because the last server may take a while to end.
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

# The display itself may say "exited with status".
ends() {
    await matches_screen "^status $1 *\$" || show_screen
}

hides() {
    await not_on_screen "$1" || show_screen
}

# A program that does not allocate is idle after some seconds.
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

# The process that runs in the terminal, or a child of it with that name.
child() {
    pgrep -P "$($terminal display-message -p '#{pane_pid}')" -x "$1"
}

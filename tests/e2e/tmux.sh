# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# For tests of the display: a terminal of our own (tmux on a private socket,
# without configuration), keys, and waiting for what the screen shows.  Sourced;
# needs $PWD to be the build directory.
#
#   start COLS ROWS COMMAND   runs a shell command in a new terminal
#   shows TEXT, hides TEXT    waits for it, five seconds at most; or fails
#   printed TEXT              the same of all that was printed, also above
#   keys KEY...               types (tmux's names of keys)
#   resize COLS ROWS
#   stop                      ends the terminal
#   finish                    ends the test
#
# After COMMAND the terminal prints "status N" and stays.

# Used by those who source this.
# shellcheck disable=SC2034
memtop=$PWD/memtop
command -v tmux >/dev/null 2>&1 || {
    echo "skipped: tmux is not installed"
    exit 77
}
work=$(mktemp -d /tmp/memtop-display-XXXXXX) || exit 99
terminals=0
terminal=false
trap '$terminal kill-server 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
cd "$work" || exit 99
unset LD_PRELOAD MEMTOP_OPTIONS MEMTOP_DIR NO_COLOR LANGUAGE TMUX COLUMNS LINES
# The leak checker stops memtop by ptrace; the SIGCONT that comes with a hang-up
# would set it going again and the checker would wait for ever.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
locale=C.UTF-8
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# Waits until a command succeeds.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 250 ] || return 1
        sleep 0.02
    done
}

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

complain() {
    fail "$*"
    screen | sed 's/^/    |/'
}

shows() {
    await on_screen "$1" || complain "'$1' does not appear"
}

printed() {
    await was_printed "$1" || complain "'$1' was not printed"
}

was_printed() {
    $terminal capture-pane -p -S - | grep -qF -e "$1"
}

hides() {
    await not_on_screen "$1" || complain "'$1' does not go away"
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

# Whether a process has ended.
gone() {
    ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null
}

finish() {
    [ $failures = 0 ] && echo "all passed"
    exit $failures
}

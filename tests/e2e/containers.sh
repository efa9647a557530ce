#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop in containers, as far as name spaces made here allow: other pids, a small, full
# or missing /dev/shm, a root that cannot be written, no rights at all.
programs=$PWD/tests/preload/programs
. "$(dirname "$0")/common.sh"
chmod 755 "$work"
unset MEMTOP_DIR XDG_RUNTIME_DIR
export memtop programs segments
ran=0

# inside COMMAND: in new user, pid and mount name spaces; output in out and err.
inside() {
    unshare -Urpmf --mount-proc sh -c "$1" >out 2>err </dev/null
    status=$?
}

ends() {
    [ $status = "$1" ] || fail "status $status, not $1: $(head -n 3 err)"
}

# begin NAME PREPARATION: can this environment be made here?
begin() {
    echo "$1:"
    inside "$2"
    if [ $status != 0 ]; then
        printf 'skipped: %s\n' "$(head -n 1 err)"
        return 1
    fi
    ran=$((ran + 1))
}

# --- its own pids: 1 is the shell ---
if begin 'other pids' true; then
    # shellcheck disable=SC2016
    MEMTOP_DIR=$segments inside '"$memtop" -B "$programs/forks.run" simple; echo $?'
    says out 0
    says err 'malloc|'
    says err '1 child'
    [ -z "$(ls "$segments")" ] || fail "left in the shared directory: $(ls "$segments")"

    # The name space's first process: when it ends, all others end.
    # shellcheck disable=SC2016
    MEMTOP_DIR=$segments inside 'exec "$memtop" -B sh -c "exit 7"'
    ends 7
    says err 'malloc|'
fi

# --- a child in its own pid name space, started under memtop outside ---
if begin 'a child with other pids' true; then
    mkfifo hold held
    exec 9<>hold
    MEMTOP_DIR=$segments "$memtop" -Bq -i 0.1 --metrics figures \
        unshare -Urpmf --mount-proc "$programs/harm.run" held <hold >held 9>&- &
    viewer=$!
    read -r line <held || fail "held says $line"
    inner() { pgrep -P "$(pgrep -P $viewer)"; }
    await inner
    await grep -q "^memtop_heap_bytes{pid=\"$(inner)\",program=\"harm.run\"} 12[0-9]*\$" figures
    echo end >&9
    exec 9>&-
    wait $viewer || fail "memtop's status $?"
    rm hold held figures
fi

# --- /dev/shm ---
shm='mount -t tmpfs -o size=64m none /dev/shm'
if begin '64 MiB of /dev/shm' "$shm"; then
    # shellcheck disable=SC2016
    inside "$shm"' && exec "$memtop" -B "$programs/threads.run" crowd'
    ends 0
    says err '22000' # calls, none of them lost
fi
shm='mount -t tmpfs -o size=64k none /dev/shm'
if begin '64 KiB of /dev/shm' "$shm"; then
    # shellcheck disable=SC2016
    inside "$shm"' && exec "$memtop" -B sh -c "exit 5"'
    ends 5
    says err 'malloc|'
fi
shm='mount -t tmpfs -o size=8k none /dev/shm'
if begin 'a full /dev/shm' "$shm"; then
    # shellcheck disable=SC2016
    inside "$shm"' && exec "$memtop" -B sh -c "exit 5"'
    ends 5
    says err 'the memory file system is full'
fi
# The other places are on a disk, or cannot be written.
shm='mkdir empty && mount -o bind empty /dev/shm'
if begin 'no /dev/shm' "$shm"; then
    rmdir empty
    # shellcheck disable=SC2016
    inside "$shm"' && exec "$memtop" -B sh -c "exit 5"'
    ends 5
    if [ "$(stat -f -c %T /tmp)" != tmpfs ]; then
        says err 'no private directory on a memory file system'
    fi
    [ -z "$(ls empty)" ] || fail "left on the disk: $(ls empty)"
fi

# --- nothing can be written except the segments' directory ---
read_only='mount -t tmpfs none /dev/shm && mount -o remount,bind,ro /'
if begin 'a read-only root' "$read_only"; then
    # shellcheck disable=SC2016
    inside "$read_only"' && ! touch /x 2>/dev/null && exec "$memtop" -B sh -c "exit 3"'
    ends 3
    says err 'malloc|'
fi

# --- a user without a name, and one without rights ---
echo 'no mapped user:'
if unshare -U true 2>/dev/null; then
    ran=$((ran + 1))
    MEMTOP_DIR=$segments unshare -U "$memtop" -B sh -c 'exit 4' >out 2>err </dev/null
    status=$?
    ends 4
fi
echo 'nobody:'
if [ "$MEMTOP_TEST_ALONE-$(id -u)" = yes-0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups \
        test -x "$memtop" 2>/dev/null; then
    ran=$((ran + 1))
    setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
        --bounding-set=-all --inh-caps=-all "$memtop" -B sh -c 'exit 6' >out 2>err </dev/null
    status=$?
    ends 6
    says err 'malloc|'

    # Root's list has the processes of all users.
    mkfifo hold held
    exec 9<>hold
    LD_PRELOAD=${memtop%/*}/libmemtop.so setpriv --reuid=65534 --regid=65534 \
        --clear-groups "$programs/harm.run" held <hold >held 9>&- &
    nobody=$!
    read -r line <held || fail "nobody says $line"
    "$memtop" -l >list
    grep -q "^ *$nobody .*harm.run held\$" list || fail "not listed: $(cat list)"
    echo end >&9
    exec 9>&-
    wait $nobody
fi

# --- another user has made nobody's directory ---
echo "another user's directory:"
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@" >out 2>err </dev/null
    status=$?
}
if [ "$MEMTOP_TEST_ALONE-$(id -u)" != yes-0 ]; then
    echo 'skipped: only root can be two users, and only with a /dev/shm of its own'
elif [ "$(stat -f -c %T /tmp)" = tmpfs ]; then
    echo 'skipped: /tmp/memtop-65534 would be used'
elif as_nobody test -x "$memtop" && [ $status = 0 ]; then
    ran=$((ran + 1))
    theirs=/dev/shm/memtop-65534
    rm -rf "$theirs"
    mkdir -m 700 "$theirs"
    as_nobody "$memtop" -B sh -c 'exit 8'
    ends 8
    says err "not measured: $theirs belongs to the user root: have it removed, or set MEMTOP_DIR"
    rmdir "$theirs"
    ln -s / "$theirs"
    as_nobody "$memtop" -B sh -c 'exit 8'
    says err "$theirs belongs to the user root"
    # The next directory is used.
    mkdir -m 700 /dev/shm/runtime
    chown 65534 /dev/shm/runtime
    as_nobody env XDG_RUNTIME_DIR=/dev/shm/runtime "$memtop" -B sh -c 'exit 8'
    ends 8
    says err 'malloc|'
    [ -d /dev/shm/runtime/memtop ] || fail 'the next directory was not taken'
    # The user's own directory, but not private.
    rm "$theirs"
    mkdir "$theirs"
    chown 65534 "$theirs"
    chmod 755 "$theirs"
    as_nobody "$memtop" -B sh -c 'exit 8'
    ends 8
    says err "not measured: $theirs is open to other users: chmod 700 it"
fi

[ $ran != 0 ] || skip 'no name spaces can be made here'
echo "$ran of 10 surroundings"
finish

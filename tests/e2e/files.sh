#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every file that memtop is asked for is complete, or one line names it and says why it
# is not, and the status is not 0.  Files that can be refused before the program starts
# are.
alone=yes
. "$(dirname "$0")/common.sh"
build=${memtop%/*}
munge=$build/memtop-munge
replay=$build/memtop-replay

# Creates a file to show that it ran, allocates, holds a block, and ends with a given
# status.
cat >prog.c <<'END_OF_PROGRAM'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
char *volatile held;
int main(int argc, char **argv)
{
    long calls = argc > 2 ? atol(argv[2]) : 10;
    unsigned random = 1;
    held = malloc(123456);
    close(open("ran", O_CREAT | O_WRONLY, 0600));
    for (long i = 0; i < calls; i++) {
        random = random * 1103515245 + 12345;
        free(malloc(1 + random / 65536 % 5000));
    }
    return argc > 1 ? atoi(argv[1]) : 0;
}
END_OF_PROGRAM
compile prog || skip "no compiler"
program=$PWD/prog

# Lines of memtop's own in a file.
own_lines() {
    grep -c '^memtop[a-z-]*: ' "$1"
}

# one_line FILE TEXT: this is the only message of memtop there.
one_line() {
    [ "$(own_lines "$1")" = 1 ] || fail "not one line: $(head -n 5 "$1")"
    says "$1" "$2"
}

# --- refused before the program starts ---
echo mine >existing
echo mine >existing.png
ln -s nowhere dangling
ln -s nowhere dangling.png
mkdir directory directory.png
echo mine >NAME.log
echo mine >NAME_123456.log

# refused NAME REASON ARG...: one line says both, and nothing else has happened.
refused() {
    name=$1
    reason=$2
    shift 2
    ls -A >"$work.before"
    run 125 -B "$@" "$program"
    one_line err "cannot write $name: $reason"
    [ ! -e ran ] || fail "the program was run: $*"
    rm -f ran
    ls -A >"$work.after"
    cmp -s "$work.before" "$work.after" ||
        fail "left behind by $*: $(diff "$work.before" "$work.after")"
    rm -f "$work.before" "$work.after"
    [ "$(cat existing existing.png NAME*.log)" = "$(printf 'mine\nmine\nmine\nmine')" ] ||
        fail "written over by $*"
}

: >out
: >err
for option in -o --save= --record= -d --export=folded: --export=json: --log= \
    --params-out=; do
    for place in existing dangling directory missing/file; do
        case $place in
        existing) why='File exists' ;;
        directory) why='Is a directory' ;;
        missing/file) why='No such file or directory' ;;
        dangling) why= ;; # File exists, or what it leads to does not
        esac
        case $option in
        --params-out=) refused $place "$why" --report=overview $option$place ;;
        *) refused $place "$why" $option$place ;;
        esac
    done
done
refused directory 'Is a directory' --metrics=directory
refused missing/file 'No such file or directory' --metrics=missing/file
refused ./NAME.log 'File exists' --report=logfile --logfile-name=NAME
refused ./NAME_123456.log 'File exists' --report=full --logfile-name=NAME --logfile-each
refused missing 'No such file or directory' --report=logfile --logfile-dir=missing
if built_with HAVE_GD; then
    for place in existing dangling directory missing/file; do
        refused $place.png '' -p $place
    done
fi
# Files created before another one was refused are removed.
refused existing 'File exists' -o new -d data --record=trace --log=log --report=overview \
    --params-out=params --log=existing
refused existing 'File exists' --params-out=params --report=overview --record=existing
refused existing 'File exists' -o new --save=existing

# --- other requests that cannot be met ---
run 125 -B --report=logfile -a $$
one_line err '--report=logfile can only be used with PROGRAM'

# --- the standard output ---
"$memtop" -B -q --record=trace --log=log ./prog || fail "nothing recorded: $?"
"$munge" log >munged || fail "not munged: $?"

# full STATUS COMMAND...: writes to a full disk.
full() {
    expected=$1
    shift
    "$@" >/dev/full 2>err </dev/null
    status=$?
    [ $status = "$expected" ] || fail "status $status, not $expected: $* >/dev/full"
    one_line err 'cannot write the standard output: No space left on device'
}
if [ -w /dev/full ]; then
    for word in --help --usage --version; do
        full 125 "$memtop" $word
        full 1 "$memtopstat" $word
        full 2 "$munge" $word
        full 2 "$replay" $word
    done
    LD_PRELOAD=$build/libmemtop.so sleep 100 &
    sleeper=$!
    await sh -c '"$1" -l 2>&1 | grep -q " sleep 100"' sh "$memtop"
    full 125 "$memtop" -l
    full 125 "$memtop" -l --format=json
    kill $sleeper
    full 125 "$memtop" -B -o - ./prog
    says err 'Memory usage summary'
    full 3 "$memtop" -B -o - ./prog 3
    full 125 "$memtop" -B -q --sites=1 --export=folded:- ./prog
    full 125 "$memtop" -B -o - -r trace
    full 1 "$memtopstat" --report=overview trace
    for form in logalloc dat csv json; do
        full 1 "$memtopstat" --export=$form trace
    done
    full 2 "$munge" log
    # A sanitizer's runtime takes the place of every allocator.
    if "$replay" munged 2>&1 | grep -q ' in glibc$'; then
        full 2 "$replay" --compare -i munged glibc
    fi
else
    echo "not tried: /dev/full, which is not here"
fi

# The reader has gone: the program makes sure of that before the report is written.
cat >late <<'END_OF_PROGRAM'
until [ -e gone ]; do sleep 0.02; done
END_OF_PROGRAM
{
    (
        trap '' PIPE
        "$memtop" -B -o - sh late 2>err
        echo $? >status
        "$munge" log 2>munge.err
        echo $? >munge.status
        "$memtop" --help 2>help.err
        echo $? >help.status
    )
} | sh -c 'exec <&-; : >gone'
[ "$(cat status)" = 125 ] || fail "a closed pipe: $(cat status)"
one_line err 'cannot write the standard output: Broken pipe'
says err 'Memory usage summary'
[ "$(cat munge.status)" = 2 ] || fail "memtop-munge, a closed pipe: $(cat munge.status)"
one_line munge.err 'cannot write the standard output: Broken pipe'
[ "$(cat help.status)" = 125 ] || fail "--help, a closed pipe: $(cat help.status)"
one_line help.err 'cannot write the standard output: Broken pipe'

# --- calls that memtop does not record in time ---
# stopped STATUS ARG...: memtop is stopped while they come.
stopped() {
    expected=$1
    shift
    rm -f begun go done
    "$memtop" -B -q -d late.data "$@" sh -c \
        ': >begun; until [ -e go ]; do sleep 0.02; done; ./prog 0 100000; : >done' 2>err &
    watcher=$!
    await [ -e begun ]
    kill -STOP $watcher
    : >go
    await [ -e done ]
    kill -CONT $watcher
    wait $watcher
    status=$?
    [ $status = "$expected" ] || fail "status $status, not $expected: calls were lost"
    one_line err 'not recorded'
    rm -f late.data*
}
stopped 125
stopped 0 --drop

# --- a quota ---
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
    # A tracer prevents the leak checker from working.
    export ASAN_OPTIONS=detect_leaks=0
    # quota WHEN ARG...: from that write on the file has no more room.
    quota() {
        when=$1
        shift
        rm -f quota
        strace -qq -o /dev/null -P "$work/quota" -e trace=write \
            -e inject=write:error=EDQUOT:when="$when"+ "$memtop" -B "$@" 2>err
        status=$?
        [ $status = 125 ] || fail "status $status with a quota: $*"
        one_line err "cannot write $work/quota: Disk quota exceeded"
    }
    quota 1 -o "$work/quota" ./prog
    says err 'Memory usage summary'
    quota 2 -q --record="$work/quota" ./prog 0 100000
    quota 2 -q -d "$work/quota" ./prog 0 100000
    rm -f quota
    strace -qq -f -o /dev/null -P "$work/quota" -e trace=write \
        -e inject=write:error=EDQUOT:when=5+ "$memtop" -B -q --log="$work/quota" ./prog 2>err
    [ $? = 125 ] || fail "no 125 with a quota for the log"
    one_line err "cannot write $work/quota: Disk quota exceeded"
    [ "$(wc -l <quota)" = 4 ] || fail "not four lines: $(cat quota)"
    unset ASAN_OPTIONS
else
    echo "not tried: quotas, which strace plays"
fi

# --- a small disk, and a read-only one ---
mkdir small constant
if [ $$ != 1 ] || ! mount -t tmpfs -o size=64k none small 2>/dev/null ||
    ! mount -t tmpfs -o ro none constant 2>/dev/null; then
    echo "not tried: full and constant disks, for want of a mount namespace"
    finish
fi
fill() {
    rm -rf small/*
    cat /dev/zero >small/fill 2>/dev/null
}

# cut STATUS NAME ARG...  PROGRAM...: that file is missing or incomplete.
cut() {
    expected=$1
    name=$2
    shift 2
    run "$expected" -B "$@"
    one_line err "cannot write $name: No space left on device"
}
for option in --record= -d --log=; do
    rm -rf small/*
    cut 125 small/file -q ${option}small/file ./prog 0 100000
    [ -s small/file ] || fail "$option: nothing of it is there"
    rm -rf small/*
    cut 3 small/file -q ${option}small/file ./prog 3 100000
    rm -rf small/*
    case $option in
    -d) ;; # a file for each process
    *) cut 125 small/file -q ${option}small/file sh -c './prog 0 100000; true' ;;
    esac
done
rm -rf small/*
run 125 -B -q -d small/file sh -c './prog 0 100000; true'
like err 'cannot write small/file.*: No space left on device'
for option in --save= --metrics= '--sites=1 --export=folded:' '--sites=1 --export=json:' \
    '--sites=1 --export=pprof:'; do
    fill
    # shellcheck disable=SC2086
    cut 125 small/file -q ${option}small/file ./prog
    # shellcheck disable=SC2086
    cut 3 small/file -q ${option}small/file ./prog 3
    [ ! -e small/file ] || fail "$option: a part is there"
done
if built_with HAVE_GD; then
    cut 125 small/file.png -q -p small/file ./prog
    cut 3 small/file.png -q -p small/file ./prog 3
    [ ! -e small/file.png ] || fail "a part of a picture is there"
fi
# The report is not lost.
fill
cut 125 small/file -o small/file ./prog
says err 'Memory usage summary'
rm small/file
cut 3 small/file -o small/file --format=json ./prog 3
like err '^\{.*"type":"exit"'
rm small/file
cut 125 small/file -q --report=overview -o small/file ./prog
says err 123456
rm small/file
cut 125 small/params --report=overview --params-out=small/params ./prog
[ ! -e small/params ] || fail "left behind: --params-out"
fill
cut 125 small/NAME.log -q --report=full -o - --logfile-dir=small --logfile-name=NAME ./prog
fill
(
    cd small || exit
    "$memtop" -B -q --snapshot-when=exit ../prog 2>../err
    [ $? = 125 ] || fail "snapshots on a full disk: no 125"
)
like err '^memtop: exit: cannot write memtop-.*\.txt: No space left on device'
like err '^memtop: exit: cannot write memtop-.*\.json: No space left on device'
fill
tested=$memtopstat
run 1 --export=csv trace small/file
one_line err 'cannot write small/file: No space left on device'
run 1 --report=overview -o small/report trace
one_line err 'cannot write small/report: No space left on device'
tested=$memtop

rm -f ran
for option in -o --save= --record= -d --export=folded: --log= --metrics=; do
    refused constant/file 'Read-only file system' ${option}constant/file
done
! built_with HAVE_GD || refused constant/file.png 'Read-only file system' -p constant/file
refused constant 'Read-only file system' --report=logfile --logfile-dir=constant
(
    cd constant || exit
    "$memtop" -B --snapshot-when=exit "$program" 2>../err
    [ $? = 125 ] || fail "snapshots on a constant disk: no 125"
)
one_line err 'Read-only file system'
umount small constant
finish

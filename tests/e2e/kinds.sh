#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# All kinds of files, given to all commands that read files.
. "$(dirname "$0")/common.sh"
build=${memtop%/*}

# --- a file of each kind ---
"$memtop" -B -q --sites=1 --save=session --record=trace -d dat "$cases" 4 2>err ||
    fail "no files: $(cat err)"
"$memtopstat" --export=csv trace csv && "$memtopstat" --export=logalloc trace log &&
    "$build/memtop-munge" log >munged || fail 'no exports'
printf 'root:x:0:0:root:/root:/bin/sh\n' >text
cp "$cases" binary
: >empty
mkdir directory
head -c 48 dat >short  # whatever comes after: nothing was allocated
{ printf '\0%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; head -c 24 dat | tail -c 8
    printf '\0%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; head -c 24 dat | tail -c 8
    tail -c +49 dat; } >killed
printf '\177mtrace\n\143%099d' 0 | tr 0 '\0' >later

# A sanitizer's runtime takes the place of every allocator.
sanitized=
"$build/memtop-replay" munged 2>&1 | grep -q ' in glibc$' || {
    sanitized=yes
    echo 'not tried: comparing allocators, there is but the sanitizer'
}

# --- expected answers ---
# The columns are the commands, as in command(); the words:
#   ok     it is used, and there is the output
#   calls  it has no calls          sites  it has no allocation sites
#   addr   it has no addresses      log    it is no log, but can be replayed
#   none   of no kind that is read, or empty, or a directory
#   pipe   cannot be read from a pipe
#   once   a pipe or device is not taken
table='
kind      show  savesites draw  csv   dat   json  folded report picture munge replay compare
session   ok    ok        calls calls calls ok    ok     calls  calls   calls calls  calls
trace     ok    sites     ok    ok    ok    ok    sites  ok     ok      log   ok     ok
csv       ok    sites     ok    ok    ok    ok    sites  ok     ok      log   ok     ok
log       ok    sites     ok    ok    ok    ok    sites  ok     ok      ok    ok     ok
munged    ok    sites     ok    ok    ok    ok    sites  ok     ok      log   ok     ok
dat       ok    sites     ok    addr  addr  addr  sites  addr   addr    addr  addr   addr
killed    ok    sites     ok    addr  addr  addr  sites  addr   addr    addr  addr   addr
short     ok    sites     ok    addr  addr  addr  sites  addr   addr    addr  addr   addr
text      none  none      none  none  none  none  none   none   none    none  none   none
binary    none  none      none  none  none  none  none   none   none    none  none   none
empty     none  none      none  none  none  none  none   none   none    none  none   none
directory none  none      none  none  none  none  none   none   none    none  none   none
later     later sites     later later later later sites  later  later   log   later  later
missing   none  none      none  none  none  none  none   none   none    none  none   none
'
# The same on the standard input, given as "-" where a file must be named.
piped='
kind      show  savesites draw  csv   dat   json  folded report picture munge replay compare
session   once  once      calls calls calls calls once   calls  calls   calls calls  once
trace     once  once      ok    ok    ok    ok    once   ok     ok      log   ok     once
csv       once  once      ok    ok    ok    ok    once   ok     ok      log   ok     once
log       once  once      ok    ok    ok    ok    once   ok     ok      ok    ok     once
munged    once  once      ok    ok    ok    ok    once   ok     ok      log   ok     once
dat       once  once      pipe  addr  addr  addr  once   addr   addr    addr  addr   once
text      once  once      none  none  none  none  once   none   none    none  none   once
binary    once  once      none  none  none  none  once   none   none    none  none   once
empty     once  once      none  none  none  none  once   none   none    none  none   once
later     once  once      later later later later once   later  later   log   later  once
'

# command COMMAND FILE: what is made from FILE goes to the file `made`, or to the
# standard output.
command() {
    case $1 in
    show) "$memtop" -B -o made -r "$2" ;;
    savesites) "$memtop" -B -q -r "$2" --sites-mode=allocated --export=folded:made ;;
    draw) "$memtopstat" "$2" made ;;
    csv | dat | json) "$memtopstat" --export="$1" "$2" made ;;
    folded) "$memtopstat" --export=folded --sites-mode=allocated "$2" made ;;
    report) "$memtopstat" --report=overview --params-out=effective -o made "$2" ;;
    picture) "$memtopstat" --png=made "$2" ;;
    munge) "$build/memtop-munge" "$2" ;;
    replay) "$build/memtop-replay" "$2" ;;
    compare) "$build/memtop-replay" --compare -i "$2" glibc ;;
    esac
}

# The status of each command for a file that it cannot use.
unreadable() {
    case $1 in
    show | savesites) echo 125 ;;
    *) echo 2 ;;
    esac
}

# name KIND FILE: the name of the kind in messages.
name() {
    case $1 in
    session) echo 'is a session' ;;
    trace | later) echo 'is a trace' ;;
    csv) echo 'is a table of events' ;;
    log) echo 'is an allocation log' ;;
    munged) echo 'is a munged log' ;;
    text) echo 'it is text, but not of a kind that memtop reads' ;;
    binary) echo 'it is binary, but not of a kind that memtop reads' ;;
    empty) echo 'it is empty' ;;
    directory) echo 'Is a directory' ;;
    missing) echo 'No such file or directory' ;;
    *) echo 'is a data file' ;;
    esac
}

# The rest of the message after the name.
sentence() {
    case $1 in
    calls) echo ', which has no calls: memtop -r shows it, memtopstat --export exports its sites' ;;
    sites) echo ', which has no allocation sites: memtop -r shows it, memtopstat draws it' ;;
    addr) echo ', which has no addresses: memtop -r shows it, memtopstat draws it' ;;
    log) echo ', not an allocation log: memtop-replay takes it as it is' ;;
    pipe) echo ', which cannot be read from a pipe: copy it to a file first' ;;
    esac
}

# refused COMMAND FILE TEXT: the status of an unreadable file, one line that names the
# file and says TEXT, and no output.
refused() {
    [ "$status" = "$(unreadable "$1")" ] ||
        fail "$1 $2: status $status, not $(unreadable "$1"): $(head -n 3 err)"
    [ "$(wc -l <err)" = 1 ] || fail "$1 $2: not one line: $(cat err)"
    case $2 in
    -) says err 'the standard input' ;;
    *) says err "$2" ;;
    esac
    says err "$3"
    silent out
    for file in made effective "$2.png"; do
        [ ! -e "$file" ] || fail "$1 $2: wrote $file"
    done
}

# used COMMAND KIND: the file was used.  Without libgd nothing is drawn; data files of
# killed programs are reported as such.
used() {
    case $1 in
    draw | picture) built_with HAVE_GD || return ;;
    compare) [ -z "$sanitized" ] || return 0 ;; # taken, but there is nothing to compare
    esac
    [ "$status" = 0 ] || fail "$1 $2: status $status: $(head -n 3 err)"
    case $1 in
    munge | compare) [ -s out ] || fail "$1 $2: nothing was written" ;;
    replay) like err '^[0-9]* calls in ' ;;
    # A data file without a record has no calls to report; its export may be empty.
    *) [ -s made ] || fail "$1 $2: nothing was written" ;;
    esac
}

# answer COMMAND KIND FILE WORD: was this the answer?
answer() {
    case $4 in
    ok) used "$1" "$2" ;;
    none) refused "$1" "$3" "$(name "$2")" ;;
    later) refused "$1" "$3" 'it was written by a later version of memtop' ;;
    once) case $1 in
        compare) refused "$1" "$3" 'can be read only once: give the log as a file' ;;
        *) refused "$1" "$3" 'is a pipe or a device: copy it to a file first' ;;
        esac ;;
    *) refused "$1" "$3" "$(name "$2")$(sentence "$4")" ;;
    esac
}

try() { # COMMAND KIND FILE WORD
    rm -f made effective
    if [ "$3" = - ]; then
        # shellcheck disable=SC2002
        cat "$2" | command "$1" - >out 2>err
    else
        command "$1" "$3" >out 2>err </dev/null
    fi
    status=$?
    answer "$@"
    echo "$1" >>tried
}

# each TABLE [-]: tries all cells, with files or the standard input.
each() {
    input=${2-}
    printf '%s\n' "$1" | grep . >cells
    read -r _ columns <cells
    sed 1d cells >rows
    while read -r kind words; do
        # shellcheck disable=SC2086
        set -- $words
        for column in $columns; do
            try "$column" "$kind" "${input:-$kind}" "${1:?}"
            shift
        done
    done <rows
}

each "$table"
[ "$(wc -l <tried)" = $((14 * 12)) ] || fail "$(wc -l <tried) cells were tried"
each "$piped" -
[ "$(wc -l <tried)" = $((14 * 12 + 10 * 12)) ] || fail "$(wc -l <tried) cells were tried"

# --- devices, and files that do not exist ---
tested=$memtopstat
run 2 /dev/null made
says err 'cannot read /dev/null: it is empty'
tested=$build/memtop-munge
run 2
says err 'cannot read the standard input: it is empty'
tested=$build/memtop-replay
run 2
says err 'cannot read the standard input: it is empty'

# --- replaying a record without calls ---
# replays STATUS TEXT FILE ARG...: says TEXT, without a table or figures.
replays() {
    expected=$1
    text=$2
    shift 2
    run "$expected" "$@"
    says err "$text"
    silent out
    ! grep -q 'calls in ' err || fail "figures of nothing: $(cat err)"
}
printf 't_ms,op,addr,size\n' >head.csv
replays 2 'head.csv has no calls' head.csv
[ -n "$sanitized" ] || replays 2 'head.csv has no calls' --compare -i head.csv glibc
replays 2 'munged has no calls of process 9' --pid=9 munged
[ -n "$sanitized" ] ||
    replays 2 'munged has no calls of process 9' --pid=9 --compare -i munged glibc
printf '1 1 malloc(7)\n' >resultless
replays 2 'resultless has no calls' resultless

# --- lines that are not calls, in a log that is munged for its replay ---
{ cat log; echo rubbish; } >rubbish
run 1 rubbish
says err 'rubbish: 1 line is not a call: line 4'
like err '^3 calls in '
[ -n "$sanitized" ] || {
    run 1 --compare -i rubbish glibc
    says err 'rubbish: 1 line is not a call: line 4'
}

finish

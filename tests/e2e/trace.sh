#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop --record: one trace of the program and its children, readable whatever happens
# to either of them; and what memtopstat makes from it.
. "$(dirname "$0")/common.sh"
always='-B -q'
munge=${memtop%memtop}memtop-munge

# stat STATUS ARG...: memtopstat.
stat() {
    expected=$1
    shift
    "$memtopstat" "$@" >out 2>err
    got=$?
    [ $got = "$expected" ] || fail "memtopstat $*: status $got, not $expected: $(cat err)"
}

# calls FILE: how many calls the trace has.
calls() {
    "$memtopstat" --export=json "$1" 2>/dev/null |
        sed -n 's/.*"type":"end".*"calls":\([0-9]*\).*/\1/p'
}

# Without libgd there is a message instead of a picture.
pictured=0
built_with HAVE_GD || pictured=1

[ -x "$cases" ] || exit 99

# --- what is recorded ---
run 0 --record=one -d one.dat "$cases" 4 # free(NULL) twice, malloc 1000, realloc 10, free
silent err
stat 0 --export=logalloc one
silent err
sed 's/^[0-9]* [0-9]* //; s/0x[0-9a-f]*/P/g' out | tr '\n' ' ' >got
[ "$(cat got)" = 'malloc(1000)=P realloc(P,10)=P free(P) ' ] || fail "log: $(cat got)"
stat 0 --export=csv one
[ "$(cut -d, -f2,4 out | tr '\n' ' ')" = 'op,size alloc,1000 free,1000 alloc,10 free,10 ' ] ||
    fail "csv: $(cat out)"
head -n 1 out | grep -qx 't_ms,op,addr,size' || fail "csv: $(head -n 1 out)"
stat 0 --export=dat one other.dat
# The records are the same, but headers and times are from slightly different clocks.
od -An -v -t u8 -w24 one.dat | awk 'NR > 2 { print $1, $2 }' >want
od -An -v -t u8 -w24 other.dat | awk 'NR > 2 { print $1, $2 }' >got
cmp -s want got || fail "dat: $(cat got)"
stat 0 --export=json one
like out '^{"v":1,"type":"trace","began_ns":[0-9]*}$'
like out '"type":"process".*"program":".*/memusage-cases","args":\[".*/memusage-cases","4"\]}$'
like out '"call":"malloc","address":"0x[0-9a-f]*","size":1000,"stack":[0-9]*}$'
like out '"type":"end",.*"complete":true'
stat $pictured one one.png
[ $pictured = 1 ] || [ "$(head -c 4 one.png | tail -c 3)" = PNG ] || fail "no picture"
stat $pictured -t - two.png <one
# from_pipe STATUS FILE ARG...: memtopstat reads FILE from a pipe.
mkfifo pipe
from_pipe() {
    wanted=$1
    cat "$2" >pipe &
    shift 2
    stat "$wanted" "$@"
    kill $! 2>/dev/null
    wait $! 2>/dev/null
}
from_pipe 0 one --export=csv pipe
[ "$(wc -l <out)" = 5 ] || fail "from a pipe: $(cat out)"
from_pipe 2 one.dat pipe none.png
says err 'pipe is a data file, which cannot be read from a pipe: copy it to a file first'
stat 2 --export=folded pipe # no writer, and none is waited for
says err 'pipe is a pipe or a device: copy it to a file first'
# A record without stacks has none in pictures either.
stat 0 --export=logalloc one
cp out one.log
run 0 -r one.log
run 0 -B --format=json -r one.log
! grep -q '"stack' out err || fail "a stack from nowhere: $(cat out err)"
always=-B
run 0 -r one.log
says err 'heap peak: 1000, stack peak: -'
always='-B -q'

# --- processes ---
run 0 --record=tree sh -c 'ls >/dev/null; (ls /usr >/dev/null); exec ls -R /usr/include'
stat 0 --export=json tree
[ "$(grep -c '"type":"process"' out)" -ge 3 ] || fail "processes: $(grep process out)"
[ "$(grep -c '"type":"process"' out)" = "$(grep -c '"type":"ended"' out)" ] ||
    fail "not all have ended"
like out '"generation":1,.*/ls"'
child=$(sed -n 's/.*"type":"process".*"pid":\([0-9]*\),.*/\1/p' out | sort -u | tail -n 1)
stat $pictured --pid="$child" tree child.png
stat 1 --pid=999999999 tree none.png
says err 'tree has no process 999999999'

# --- eight threads in each of two processes: exactly their calls are recorded ---
crowd=${memtop%memtop}tests/preload/programs/log.run
if [ -e "$crowd" ]; then
    run 0 --record=crowd "$crowd" census
    sort out >want
    stat 0 --export=json crowd
    silent err
    sed -n 's/.*"process":\([01]\),"tid":\([0-9]*\),"call":"\([a-z_-]*\)".*"size":\(1[0-4][0-9]\{3\}\)[,}].*/\1 \2 \3 \4/p' out |
        awk '$3 != "realloc-from" { times[$2 " " $3]++; bytes[$2 " " $3] += $4; of[$2 " " $1] }
            END {
                for (key in times)
                    print key, times[key], bytes[key]
                for (key in of)
                    processes[substr(key, index(key, " ") + 1)]++
                print processes[0], processes[1] >"threads-of"
            }' | sort >got
    cmp -s want got || fail "what two processes did: $(diff want got)"
    [ "$(cat threads-of)" = '8 8' ] || fail "threads of two processes: $(cat threads-of)"
    [ "$(wc -l <want)" = 80 ] || fail "the program says: $(cat want)"
fi

# --- files ---
echo precious >existing
run 125 --record=existing sh -c 'echo >ran'
says err 'cannot write existing: File exists'
run 125 -d vain --record=existing sh -c 'echo >ran'
[ ! -e vain ] || fail "-d left a file"
run 125 --record=missing/file sh -c 'echo >ran'
says err 'cannot write missing/file: No such file'
if [ -w /dev/full ]; then
    run 125 --record=/dev/full sh -c 'echo >ran'
    says err 'cannot write /dev/full: No space left'
    stat 1 --export=csv one /dev/full
    says err 'cannot write /dev/full: No space left'
    stat 1 --export=json one /dev/full
    says err 'cannot write /dev/full: No space left'
fi
[ ! -e ran ] || fail "the program ran without its file"
stat 1 --export=csv one existing
says err 'cannot write existing: File exists'
[ "$(cat existing)" = precious ] || fail "a file was overwritten"
run 127 --record=vain ./no-program
[ ! -e vain ] || fail "an empty file was left"
stat 2 existing none.png
stat 2 --export=csv existing
says err 'cannot read existing: it is text, but not of a kind that memtop reads'
: >empty
stat 2 --export=csv empty
says err 'cannot read empty: it is empty'
stat 64 --export=xml one
# A file size limit: reported once, the file can be read, the program is unharmed.
(ulimit -S -f 20 && run 5 --record=limited sh -c 'ulimit -S -f unlimited
    for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share; done; exit 5' && cat err >limited.err)
[ "$(grep -c 'cannot write limited: File too large' limited.err)" = 1 ] ||
    fail "limit: $(cat limited.err)"
stat $pictured limited limited.png
says err 'limited was not completed: the record ends early'
[ ! -e none.png ] || fail "a picture of nothing"

# --- deaths ---
run 137 --record=killed sh -c 'x=$(printf %09999d 0); kill -KILL $$'
stat 0 --export=csv killed
silent err
[ "$(wc -l <out)" -gt 20 ] || fail "killed: $(wc -l <out) lines"
# memtop is killed while the program runs: calls older than a second are in the file.
cat >busy.sh <<'END'
while [ -e busy ]; do x=$x$x.; x=; done
END
touch busy
"$memtop" -B -q --record=orphan sh busy.sh 2>/dev/null &
await test -s orphan
await eval '[ "$(calls orphan)" -gt 100 ]'
kill -KILL $!
wait $! 2>/dev/null
rm busy
stat 0 --export=logalloc orphan
says err 'orphan was not completed: the record ends early'
[ "$(wc -l <out)" -gt 100 ] || fail "orphan: $(wc -l <out) lines"
# Cut and damaged.
head -c "$(($(wc -c <tree) / 2))" tree >cut
stat $pictured cut cut.png
says err 'cut was not completed: the record ends early'
cp tree damaged
printf 'xxxx' | dd of=damaged bs=1 seek=2000 conv=notrunc 2>/dev/null
stat $pictured damaged damaged.png
says err 'bytes are damaged'

# --- lost calls ---
run 0 --drop --record=dropped "$cases" 10
lost=$(sed -n 's/^memtop: \([0-9]*\) call.*recorded.*/\1/p' err)
stat 0 --export=csv dropped
[ -z "$lost" ] || says err "dropped: $lost call"
[ $(($(wc -l <out) - 1 + ${lost:-0})) = 4000000 ] ||
    fail "of 4000000 calls $(wc -l <out) are there, '$lost' lost"

# --- as a session ---
# The report from the record equals that of the run, except for failed calls, which are
# not recorded.
"$memtop" -B --record=whole "$cases" 1 2>run || fail "record: $?"
sed -E '/^ *(malloc|realloc|calloc)\|/s/ 0( *(\(.*)?)$/ -\1/' run >want
"$memtop" -B -r whole 2>got || fail "-r: status $?"
cmp -s want got || fail "report: $(diff want got)"
"$memtop" -B -r whole --format=json -o - >out || fail "-r json: status $?"
like out '"threads":1'
grep -q '"failed":' out && fail "failed calls were made up: $(cat out)"
"$memtop" -B -q -r whole --save=whole.memtop && "$memtop" -B -r whole.memtop 2>got
cmp -s want got || fail "saved: $(diff want got)"
"$memtop" -B -q -r cut || fail "-r of a cut one: status $?"
"$memtopstat" --export=logalloc whole >whole.log
"$memtop" -B -r whole.log 2>got || fail "-r of a log: status $?"
[ "$(grep 'malloc|' want)" = "$(grep 'malloc|' got)" ] || fail "log: $(diff want got)"
# A failed realloc() leaves its block at its address.
printf '1 1 %s\n' 'malloc(10)=0x100' 'realloc(0x100,99)=0x0' 'free(0x100)' >failing.log
"$memtop" -B -r failing.log 2>err || fail "-r of a failed realloc: status $?"
like err '^realloc\|  *1  *0  *1 '
like err '^   free\|  *1  *10$'
! grep 'did not see allocated' err || fail "its block is forgotten"
run 125 -r existing
says err 'cannot read existing: it is text, but not of a kind that memtop reads'

# --- export and import ---
run 0 --record=threads "$cases" 8
stat 0 --export=logalloc threads
cp out log
"$munge" log >munged 2>err || fail "munge: $(cat err)"
silent err
[ "$(wc -l <munged)" = "$(wc -l <log)" ] || fail "munge: $(wc -l <munged) of $(wc -l <log)"

# The calls are replayed, directly and through a log.
replay=${memtop%memtop}memtop-replay
# Blocks that are live at the end of a record are no leaks of the replaying program.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
"$replay" threads 2>err || fail "replay: status $? $(cat err)"
like err "^$(wc -l <munged) calls in "
"$replay" munged 2>err2 || fail "replay of the log: status $?"
[ "$(sed -n 2p err | sed 's/;.*//')" = "$(sed -n 2p err2 | sed 's/;.*//')" ] ||
    fail "peaks differ: $(cat err err2)"
if grep -q ' in glibc$' err; then
    "$replay" --compare glibc -i threads >out 2>err || fail "compare: status $? $(cat err)"
    like out '^glibc '
else # a sanitizer's runtime
    echo "not tried: other allocators: $(sed -n 's/.* each in //p' err)"
fi
cat threads | "$replay" 2>err || fail "a trace from a pipe: status $? $(cat err)"
like err "^$(wc -l <munged) calls in "
cat threads | "$replay" --compare glibc 2>err
[ $? = 2 ] || fail "a trace from a pipe was replayed twice"
says err 'can be read only once: give the log as a file'
head -c $(($(wc -c <threads) - 40)) threads >shorter
"$replay" shorter 2>err || fail "a cut trace: status $?"
says err 'shorter was not completed: the record ends early'
like err '^[0-9]* calls in '
head -c 300 threads >short
"$replay" short 2>err
[ $? = 2 ] || fail "a trace that is cut before its first call: status $?"
says err 'short has no calls'
"$munge" threads >out 2>err
[ $? = 2 ] || fail "a trace was munged"
says err 'threads is a trace, not an allocation log: memtop-replay takes it as it is'

finish

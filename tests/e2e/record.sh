#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop -d: every call in memusage's format, whatever happens to the program and the
# file; memusagestat accepts all of these files.
. "$(dirname "$0")/common.sh"
always='-B -q'

# The records as lines "HEAP STACK TIME", the two headers first.
records() {
    od -An -v -t u8 -w24 "$1" | awk '{ print $1, $2, $3 }'
}

# good FILE RECORDS: complete records, of that number (or "any"), true headers, times in
# order; memusagestat draws it, unless that takes too long.
good() {
    size=$(wc -c <"$1")
    [ $((size % 24)) = 0 ] || fail "$1: $size bytes"
    [ "$2" = any ] || [ $((size / 24 - 2)) = "$2" ] ||
        fail "$1: $((size / 24 - 2)) records, not $2"
    # Times have more digits than awk's numbers, so they are compared as text; all have
    # the same length.
    records "$1" | awk '
        NR == 1 { if ($1 != 0) print "header"; sum = $2; start = last = $3; next }
        NR == 2 { heap = $1; stack = $2; end = $3; if (end "" <= start "") print "end"; next }
        { if ($3 "" < last "") print "time", NR; last = $3
          if ($1 > h) h = $1; if ($2 > s) s = $2; if ($1 + $2 > t) t = $1 + $2
          if ($2 == 0) print "stack", NR }
        END { if (h != heap || s != stack || t != sum || last "" > end "")
                  print "peaks", heap, h, stack, s, sum, t }' >wrong
    [ ! -s wrong ] || fail "$1: $(head -n 3 wrong)"
    [ "$size" -lt 10000000 ] && command -v memusagestat >/dev/null || return 0
    memusagestat "$1" picture.png >stat 2>&1 || fail "memusagestat $1: $? $(cat stat)"
    memusagestat -t -T "$1" picture.png >stat 2>&1 || fail "memusagestat -t $1: $?"
}

[ -x "$cases" ] || exit 99

# --- what is recorded ---
run 0 -d one "$cases" 4 # free(NULL) twice, malloc 1000, realloc 10, free
silent err
good one 3
[ "$(records one | awk 'NR > 2 { print $1 }' | tr '\n' ' ')" = '1000 10 0 ' ] ||
    fail "heap: $(records one)"
run 0 -d failing "$cases" 5 # of five calls only malloc(50) and free succeed
good failing 2
run 0 -d nothing "$cases" 0
good nothing 0
run 0 -d threads "$cases" 8
good threads any
run 0 -d large ls -R /usr/include
good large any
[ "$(wc -c <large)" -gt 100000 ] || fail "ls -R: $(wc -c <large) bytes"

# --- buffers ---
for option in -u '-b 1' '-b 3' '-b 5' '-b 0' '-b 99999999' --no-timer; do
    rm -f buffer
    # shellcheck disable=SC2086
    run 0 $option -d buffer "$cases" 1
    good buffer 136 # never twice the last half
done

# --- deaths ---
for death in 'exit 3' 'kill -KILL $$' 'kill -ABRT $$' 'kill -SEGV $$' 'kill -TERM $$' \
    'exec 2>&-'; do
    rm -f death
    "$memtop" -B -q -d death sh -c "x=\$(printf %09999d 0); $death" 2>err >out
    good death any
    [ "$(wc -c <death)" -gt 480 ] || fail "$death: only $(wc -c <death) bytes"
done

# --- processes ---
mkdir tree
run 0 -d tree/f sh -c 'ls >/dev/null; (ls /usr >/dev/null); exec ls -R /usr/include'
[ "$(echo tree/f.*)" != 'tree/f.*' ] || fail "no file of a child"
for file in tree/*; do
    good "$file" any
done
# The image after exec continues the file: the heap began again at zero.
records tree/f | awk 'NR > 2 { if ($1 < last / 4) fell++; last = $1 } END { exit !fell }' ||
    fail "the exec left no trace"
[ "$(wc -c <tree/f)" -gt 10000 ] || fail "the image after the exec is not recorded"
run 0 --root-only -d alone sh -c 'ls >/dev/null; ls >/dev/null'
[ "$(echo alone*)" = alone ] || fail "files of children: $(echo alone*)"
# Any number of children, however short they live.
mkdir many
run 0 -d many/f sh -c 'i=0; while [ $i -lt 150 ]; do ls >/dev/null & ls >/dev/null
    i=$((i + 1)); done; wait'
[ "$(ls many | wc -l)" = 301 ] || fail "of 301 processes only $(ls many | wc -l) are recorded"
# A child that outlives its parent: the file is complete, too.
: >running
run 0 -d parent sh -c '(while [ -e running ]; do x=$(printf %0999d 0); sleep 0.02; done) & exit 0'
for file in parent*; do
    good "$file" any
done
rm running
# The first process that is counted writes to FILE itself.
run 0 -n ls -d named sh -c 'ls -R /usr/share/doc >/dev/null; true'
[ "$(echo named*)" = named ] || fail "-n: $(echo named*)"
good named any
[ "$(wc -c <named)" -gt 480 ] || fail "-n: nothing recorded"
"$memtop" -B -n ls sh -c 'ls -R /usr/share/doc >/dev/null; true' 2>err
[ "$(grep -c 'heap total: [1-9]' err)" = 1 ] && [ -z "$(head -n 1 err)" ] ||
    fail "-n: not ls's report alone: $(cat err)"
"$memtop" -B -n ls sh -c 'ls >/dev/null; ls /usr >/dev/null; true' 2>err
[ "$(grep -c 'heap total: [1-9]' err)" = 2 ] || fail "-n: not two reports: $(cat err)"
says err '/ls, process '
run 0 -n nobody -d nobody true
says err 'no program called nobody was run'
run 0 -n /usr/bin/nobody sh -c 'true; ls >/dev/null'
says err 'no program called nobody was run'
run 0 -n "$(command -v ls)" sh -c 'ls >/dev/null; true'
silent err

# --- files ---
echo precious >existing
run 125 -d existing sh -c 'echo >ran'
says err 'cannot write existing: File exists'
run 125 -d missing/file sh -c 'echo >ran'
says err 'cannot write missing/file: No such file'
run 125 -d . sh -c 'echo >ran'
says err 'cannot write .: '
if [ -w /dev/full ]; then
    run 125 -d /dev/full sh -c 'echo >ran'
    says err 'cannot write /dev/full: No space left'
fi
[ ! -e ran ] || fail "the program ran without its file"
[ "$(cat existing)" = precious ] || fail "-d overwrote a file"
run 127 -d vain ./no-program
[ ! -e vain ] || fail "an empty file was left"
run 0 -d /dev/null "$cases" 1
silent err
run 0 -d 'a b=$(echo >ran)' true
good 'a b=$(echo >ran)' 0
# A file size limit: reported once, complete records, the program unharmed.
(ulimit -S -f 20 && run 5 -d limited sh -c 'ulimit -S -f unlimited; ls -R /usr/share; exit 5' && cat err >limited.err)
[ "$(grep -c 'cannot write limited[.0-9]*: File too large' limited.err)" = 1 ] ||
    fail "limit: $(cat limited.err)"
size=$(wc -c <limited)
[ $((size % 24)) = 0 ] || fail "limit: $size bytes"

# --- children are counted alike, whatever empties the rings ---
many='i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done'
for option in -q -dkids --record=kids --report=full --log=kids; do
    run 0 -B --format=json -o counted "$option" sh -c "$many"
    like counted '"type":"exit".*"children_seen":300,'
    rm -f counted kids*
done

# --- under memusage's name ---
ln -s "$memtop" memusage
echo old >existing
./memusage -d existing "$cases" 1 2>err || fail "memusage: status $?"
grep -q 'heap total' err || fail "memusage: no report"
good existing 136

# --- lost calls ---
run 0 --drop -d dropped "$cases" 10
good dropped any
lost=$(sed -n 's/^memtop: \([0-9]*\) call.*recorded.*/\1/p' err)
[ $(($(wc -c <dropped) / 24 - 2 + ${lost:-0})) = 4000000 ] ||
    fail "of 4000000 calls $(($(wc -c <dropped) / 24 - 2)) are there, '$lost' lost"
run 0 -d kept "$cases" 10
silent err
good kept 4000000

finish

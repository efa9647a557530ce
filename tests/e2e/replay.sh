#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop-replay: makes the calls of the log and no others, with any allocator.
data=$(cd "$(dirname "$0")/../data/logalloc" && pwd) || exit 99
golden=$(cd "$(dirname "$0")/../golden" && pwd) || exit 99
. "$(dirname "$0")/tmux.sh"
LC_ALL=C
build=${memtop%/*}
tested=$build/memtop-replay
munge=$build/memtop-munge
library=$build/libmemtop.so

same() {
    cmp -s "$1" "$2" || fail "$1 is not $2: $(diff "$1" "$2" | head -n 9)"
}

# Times and resident memory vary.
normal() {
    sed -e 's/[0-9.]* s\>/T s/g; s/, [0-9.]* ns/, N ns/' \
        -e 's/RSS [0-9.]* [KMG]*i*B/RSS R/g; s/fragmentation [-0-9.%]*/fragmentation F/' \
        -e 's/^\(rss\|arena\|hblkhd\|uordblks\|fordblks\|usable\): *[0-9]*$/\1: B/' \
        -e 's/[0-9.]* [KMG]*i*B usable/U usable/' "$1"
}

# --- the log of the original ---
run 0 -c "$data/replay.munged"
silent out
like err '^17 calls in .* each in '
if ! grep -q ' in glibc$' err; then
    # A sanitizer's runtime takes the place of every allocator.
    sanitized=yes
    echo "not tried: other allocators, memtop, recording: $(sed -n 's/.* each in //p' err)"
else
    sanitized=
    normal err >normal
    same normal "$golden/replay/sample"
fi
"$tested" -q <"$data/replay.munged" 2>err || fail "from the standard input: $?"
[ "$(grep -c '^Ops:' err)" = 2 ] || fail "no two records: $(cat err)"
like err '^requested:             4180$'
run 0 -q -s "$data/replay.munged"
like err '^Live sloppy objects: [0-5]/5 '
run 0 -q --stats-every=2 --pid=2 "$data/replay.munged"
silent err
run 0 --stats-every=2 "$data/replay.munged"
[ "$(grep -c '^Ops:' err)" = 9 ] || fail "no nine records: $(cat err)"
run 0 -p 2 "$data/replay.munged"
says err '1 call in '
says err '17 lines of other processes were skipped'

# --- any bytes ---
printf '\n\n1 1 malloc(7)=#1\r\n\n1 1 stats()\n1 1 free(#1)' >log
run 0 log
says err '3 calls in '
run 2 /dev/null
says err 'cannot read /dev/null: it is empty'
{ printf '1 1 malloc(7)=#1\nfoo\n1 1 brk(1)\n1 1 malloc(7)\n1 1 free(#999999999)\n'
    head -c 2000000 /dev/zero | tr '\0' x
    printf '\n1 1 malloc(7)=0x1\n1 1 free(#1)\n'; } >log
run 1 -q log
cat >expected <<END
memtop-replay: line 2: not a line of a munged log
memtop-replay: line 3: unknown function
memtop-replay: line 4: an allocation without a result
memtop-replay: line 5: the slot number is too large
memtop-replay: line 6: not a line of a munged log
memtop-replay: 6 lines in all were refused
END
same err expected
head -c 100000 /dev/urandom >log
run 2 log
run 2 missing
says err 'cannot read missing: No such file'
run 2 .
says err 'cannot read .: Is a directory'
run 64 log log
run 64 --stats-every=x log
says err "'x' is not a number"
mkfifo pipe
(: >pipe) &
run 2 --compare -i pipe glibc
says err 'pipe can be read only once'
run 0 --help
says out --compare

# 1000 blocks of 64 KiB, all live at once, then none.
awk 'BEGIN { for (i = 1; i <= 1000; i++) print "1 1 malloc(65536)=#" i
    for (i = 1; i <= 1000; i++) print "1 1 free(#" i ")" }' >blocks
run 0 -c blocks
like err '^at the peak: 62.50 MiB requested in 1000 blocks; RSS [5-7][0-9]\.'
like err '^at the end: 0 B requested in 0 blocks'
[ -z "$sanitized" ] || finish

# --- a log recorded during a replay equals the log replayed ---
grep '^1 ' "$data/replay.munged" >expected
for target in 1 file; do
    for locale_name in C C.UTF-8; do
        rm -f file
        LC_ALL=$locale_name MALLOC_LOG=$target LD_PRELOAD=$library \
            "$tested" -q <"$data/replay.munged" >out 2>err || fail "recorded: $?"
        [ $target = 1 ] || cp file out
        sed -n '/jemalloc_stats/,$p' out | "$munge" >munged || fail "munged: $?"
        same munged expected
    done
done
MALLOC_LOG=1 MALLOC_LOG_MINIMAL=1 LD_PRELOAD=$library \
    "$tested" -q <"$data/replay.munged" 2>err |
    sed -n '/jemalloc_stats/,$p' | "$munge" >munged || fail "minimal: $?"
[ "$(getconf PAGESIZE)" != 4096 ] || same munged "$data/minimal.munged"

# A real program: memtop's report and the log have the same number of calls.
awk 'BEGIN { for (i = 1; i <= 3000; i++) print i " 1 malloc(8)=0x" i "0" }' >raw
MALLOC_LOG=$work/real.log LD_PRELOAD=$library "$munge" raw >out ||
    fail "the program did not stand recording: $?"
"$munge" real.log >real.munged || fail "a real log: $?"
printf '1 1 jemalloc_stats()\n2 2 malloc(1)=#1\n' >nothing
"$memtop" -B "$tested" -q nothing 2>none || fail "memtop: $?"
"$memtop" -B "$tested" -q real.munged 2>all || fail "memtop: $?"
for function in malloc calloc realloc free; do
    calls() { sed -n "s/^ *$function| *\([0-9]*\) .*/\1/p" "$1"; }
    logged=$(grep -c " $function(" real.munged)
    [ $(($(calls all) - $(calls none))) = "$logged" ] ||
        fail "$function: $logged in the log, $(calls none) and $(calls all)"
done
[ "$(grep -c . real.munged)" -gt 3000 ] || fail "hardly anything was recorded"

# --- other allocators ---
present=glibc
for name in jemalloc tcmalloc mimalloc; do
    library=$(/sbin/ldconfig -p 2>/dev/null |
        sed -nE "s/^[[:space:]]*(lib$name(_minimal)?\\.so\\.[0-9]) .*/\\1/p" | head -n 1)
    if [ -z "$library" ]; then
        echo "not tried: $name, which is not installed"
        continue
    fi
    present="$present $name"
    LD_PRELOAD=$library "$tested" -cs "$data/replay.munged" 2>err || fail "$name: $?"
    says err " each in $name"
    case $name in
    jemalloc) like err '^allocated: *[1-9]' ;;
    tcmalloc) like err '^current_allocated_bytes: *[1-9]' ;;
    mimalloc) like err '^current_commit: *[1-9]' ;;
    esac
    LD_PRELOAD=$library "$memtop" -B -q "$tested" blocks 2>err || fail "memtop, $name: $?"
    says err " each in $name"
done

# --- --compare ---
run 0 --compare -c -i blocks
for name in $present; do
    like out "^$name  *[0-9.]+ s .* [5-7][0-9]\.[0-9]* MiB "
done
like out '^2000 calls, at the peak 62.50 MiB requested in 1000 blocks$'
silent err
run 2 --compare -i blocks glibc nonesuch libnonesuch.so.1 /no/where.so 'a b' glibc
[ "$(grep -c '^glibc ' out)" = 2 ] || fail "no two lines: $(cat out)"
says err 'cannot find allocator nonesuch'
says err 'cannot find allocator libnonesuch.so.1'
says err 'cannot find allocator /no/where.so'
says err "'a b' cannot be preloaded"
"$tested" --compare -p 2 glibc <"$data/replay.munged" >out || fail "standard input: $?"
says out '1 call, at the peak 42 B requested in 1 block'
says out 'The blocks were not written to'
printf 'foo\n1 1 malloc(1)=#1\n' >log
run 1 --compare -i log glibc
says err 'line 1: not a line of a munged log'

# --- under memtop, live ---
mkfifo live
LC_ALL=C.UTF-8
start 80 24 "$memtop -i 0.1 $tested live"
exec 3>live
awk 'BEGIN { for (i = 1; i <= 8192; i++) print "1 1 malloc(10000)=#" i }' >&3
runs
shows 'Heap   78.1'
exec 3>&-
shows 'EXITED 0'
keys q
printed '8192 calls in '
printed 'status 0'
stop
finish

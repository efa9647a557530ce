#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Allocation sites of programs whose figures are known: the report and the page.
source=$(cd "$(dirname "$0")" && pwd)/sites-subject.cc
. "$(dirname "$0")/tmux.sh"
memtop=$scripted
tested=$scripted

# row FUNCTION: the line of the report whose call stack begins with it.
row() {
    grep -F "  $1" err | head -n 1
}

# about VALUE EXPECTED PERCENT: is VALUE within PERCENT of EXPECTED?
about() {
    awk -v v="$1" -v e="$2" -v p="$3" 'BEGIN { exit !(v > e * (1 - p / 100) && v < e * (1 + p / 100)) }'
}

# --- a script: the same report on every machine ---
cat >script <<'END'
program ./shop --till 3
pid 4711
0 heap=1M blocks=5 malloc=5
0 sites every=8 unwinder=2
500 site size=4K made=50 live=40 peak=45 gone.3=10 born=100 : row<int>::add(int)@row.cc:12 < main@prog.cc:7
500 site size=64 made=9000 live=10 peak=20 born=120 : scratch@prog.cc:30 < main@prog.cc:9
600 heap=3M
700 heap=1M exit=0
END
tested=$memtop
run 0 -B --source=script:script --sites-top=1
says err 'Allocation sites: one sample per 8 B; 9050 blocks sampled, stacks by backtrace()'
says err '180.0 KiB      0%   160.0 KiB   200.0 KiB       50  row<int>::add(int) (row.cc:12) < main'
grep -q scratch err && fail "more than one site: $(cat err)"
run 0 -B --source=script:script
grep -q 'Allocation sites' err && fail "nobody asked for sites: $(cat err)"
run 0 -B --source=script:script --sites-filter=-row --sites-mode=allocated
says err '   allocated   error       alive   allocated  samples  call stack'
says err '562.5 KiB      0%       640 B   562.5 KiB     9000  scratch (prog.cc:30) < main'
grep -q row err && fail "a site that does not pass: $(cat err)"
run 0 -B --source=script:script --sites-older=10ms --sites-sort=objects
like err '^   alive now +error +alive'
like err '160.0 KiB .* row<int>::add.int. .row.cc:12. < main'
run 0 -B --source=script:script --sites-filter='life=1h..'
says err 'There are no samples to show here.'
run 0 -B --source=script:script --sites-filter='life=1h..' --sites-mode=peak
says err 'Lifetimes are recorded neither for the peak nor for the past.'
run 0 -B --source=script:script --export=folded:- --sites-filter='~main'
says out 'row<int>::add(int) 163840'
run 125 -B --sites --sites-filter='row size=1' true
says err "'size=1' is not a value of --sites-filter: it takes NAME"
run 125 -B --sites=off --sites-filter=row true
says err '--sites-filter has no effect here: nothing is sampled'
run 0 -B --format=json --source=script:script --sites-mode=live --sites-filter=scratch
cat out err | grep '"type":"sites"' >live.json
like live.json '"mode":"live","list":\[\{"bytes":640,'
run 0 -B --format=json --source=script:script --sites-top=10
[ "$(grep -c '"type":"sites"' out err | awk -F: '{ sum += $2 } END { print sum }')" = 1 ] ||
    fail "json: $(cat out err)"
run 125 -B --sites-top=x true
says err "'x' is not a value of --sites-top"

MEMTOP_TEST_CLOCK=0
export MEMTOP_TEST_CLOCK
start 100 24 "$memtop --source=script:script"
shows './shop --till 3'
tick 'EXITED'
keys 9
shows 'Sites: alive now'
shows '160.0 KiB'
shows 'row<int>::add(int) < main'
keys a
shows 'Sites: alive at the peak'
shows '180.0 KiB'
keys a
shows 'Sites: allocated'
shows '562.5 KiB'
keys t
shows '+ scratch'
keys c
shows '└  main'
keys t
shows 'functions and what'
keys /
shows 'Filter: _'
keys -l -- '-scratch'
keys Enter
shows 'filter -scratch'
hides '562.5 KiB'
keys /
shows 'Filter: -scratch_'
keys C-u Enter
shows '562.5 KiB'
keys t Enter
shows 'prog.cc:30'
shows 'By size, in bytes'
keys Escape
hides 'By size'
keys /
keys -l 'size=1'
keys Enter
shows "Not understood: 'size=1'"
keys a
shows 'No mark is set'
stop
unset MEMTOP_TEST_CLOCK

# --- wrappers: those that memtop knows, and the user's own ---
cat >wrapped <<'END'
program ./wrapped
pid 4711
0 heap=1M blocks=5 malloc=5
0 sites every=8 unwinder=2
500 site size=4K made=50 live=40 peak=45 born=100 : xmalloc@x.c:1 < my_list_add@list.c:9 < load@prog.c:7 < main@prog.c:3
700 heap=1M exit=0
END
run 0 -B --source=script:wrapped --sites-mode=peak
says err '  my_list_add (list.c:9) < load < main'
run 0 -B --source=script:wrapped --sites-mode=peak --sites-wrappers
says err '  xmalloc (x.c:1) < my_list_add < load < main'
mkdir -p config/memtop
cat >config/memtop/wrappers <<'END'
# mine
my_list_*
*
END
XDG_CONFIG_HOME=$PWD/config
export XDG_CONFIG_HOME
run 0 -B --source=script:wrapped --sites-mode=peak
says err '  load (prog.c:7) < main'
says err "config/memtop/wrappers, line 3: '*' is not a pattern"
echo '!xmalloc' >config/memtop/wrappers
run 0 -B --source=script:wrapped --sites-mode=peak
says err '  xmalloc (x.c:1) < my_list_add < load < main'
unset XDG_CONFIG_HOME
rm -r config/memtop/wrappers
HOME=$PWD/home
export HOME
mkdir -p home/.config/memtop
mkdir home/.config/memtop/wrappers
run 0 -B --source=script:wrapped --sites-mode=peak
says err 'cannot read '
rmdir home/.config/memtop/wrappers
MEMTOP_TEST_CLOCK=0
export MEMTOP_TEST_CLOCK
start 100 24 "$memtop --source=script:wrapped"
shows './wrapped'
tick 'EXITED'
keys 9
shows ' my_list_add < load < main'
hides 'xmalloc'
keys W
shows ' xmalloc < my_list_add < load < main'
keys W
hides 'xmalloc <'
keys t
shows 'xmalloc'
stop
unset MEMTOP_TEST_CLOCK

# --- sizes of ten digits ---
cat >large <<'END'
program ./large
pid 4711
0 heap=3G blocks=1 malloc=1
0 sites every=8 unwinder=2
100 site size=3072M made=1 live=1 peak=1 born=50 : take@prog.cc:9 < main@prog.cc:7
200 heap=3G
END
start 100 30 "$memtop --source=script:large"
shows './large'
tick '3.000 GiB'
keys 9
shows 'take < main'
keys Enter
shows '3 GiB-3.5 GiB '
stop

# --- options that choose what the page shows at first ---
start 100 24 "$memtop --sites-filter='-row' --sites-mode=allocated --sites-sort=age --source=script:script"
shows './shop --till 3'
keys 9
shows 'Sites: allocated'
shows 'filter -row'
shows 'scratch < main'
hides 'row<int>'
keys /
shows 'Filter: -row_'
stop

# --- a program with templates and inlined functions ---
if ! ${CXX:-c++} -O2 -g -o subject "$source" 2>/dev/null; then
    echo "no C++ compiler: no real program"
    finish
fi
run 0 -B --sites=16K --format=json ./subject
cat out err | grep '"type":"sites"' >sites.json || fail "no sites: $(cat out err)"
run 0 -B --sites=1 --sites-top=3 ./subject
says err 'one sample per 8 B'
row 'Table<Row>::add' | grep -q '38.15 MiB      0%   38.15 MiB   38.15 MiB  *100000 ' ||
    fail "not all of 40 MB: $(cat err)"
row 'Table<Row>::add' | grep -q 'add[^<]* < main' || fail "the template: $(cat err)"
if built_with HAVE_LIBDW; then
    row make_node | grep -q 'make_node (sites-subject.cc:22) < build_index < main' || fail "the inlined one: $(cat err)"
    row make_node | grep -q '9.537 MiB      0%   9.537 MiB' || fail "not 10 MB: $(cat err)"
fi
# Lists, JSON and exports of one run: the same first function, and the whole stack.
run 0 -B --sites=1 --sites-top=1 --sites-wrappers ./subject
row 'operator new' | grep -q 'operator new < Table<Row>::add' || fail "whole: $(cat err)"
run 0 -B --sites=1 --sites-top=1 --format=json --export=folded:whole.folded \
    --sites-mode=allocated --sites-filter=add ./subject
cat out err | grep '"type":"sites"' >first.json
like first.json '"samples":[0-9]*,"function":"Table<Row>::add",'
like first.json '"stack":\[\{"function":"operator new"'
like whole.folded 'main;Table<Row>::add;operator new 40000000$'
if command -v jq >/dev/null 2>&1; then
    live=$(jq '[.list[] | select(.stack[1].function == "Table<Row>::add") | .live] | add' sites.json)
    about "$live" 40000000 10 || fail "estimated $live of 40000000: $(cat sites.json)"
    made=$(jq '[.list[] | select(.stack[0].function == "scratch") | .allocated] | add' sites.json)
    about "$made" 200000000 10 || fail "estimated $made of 200000000: $(cat sites.json)"
fi

# --- a stripped program that is a link to another one ---
cat >plain.c <<'END'
#include <stdlib.h>
#include <unistd.h>
void *kept;
int main(void)
{
    for (int i = 0; i < 1000; i++)
        kept = malloc(1000);
    _exit(0);
}
END
${CC:-cc} -s -O1 -o other-name plain.c && ln -s other-name my-name || exit 99
for name in ./my-name "$PWD/my-name"; do
    run 0 -B --sites=1 --sites-top=1 $name
    like err '976.6 KiB .*  \[my-name\+0x[0-9a-f]*\] <'
    grep -q 'other-name' err && fail "not as it was started: $(cat err)"
    grep -q 'have no names' err && fail "who has them? $(cat err)"
done
run 0 -B --sites=1 --sites-top=1 --export=pprof:my.pb.gz ./my-name
gzip -dc my.pb.gz | grep -qa "$PWD/my-name" || fail "no mapping of the program"
DEBUGINFOD_URLS=http://localhost:1
export DEBUGINFOD_URLS
if built_with HAVE_LIBDW; then
    run 0 -B --sites=1 --sites-top=1 ./my-name
    says err 'Functions of my-name have no names; servers may have them (--debuginfod).'
fi
unset DEBUGINFOD_URLS
git=$(command -v git)
if [ -n "$git" ] && dpkg -S "$git" >/dev/null 2>&1; then
    run 0 -B --sites=1 --sites-top=3 "$git" --version
    ! grep -qF '  [git+0x' err ||
        says err 'Functions of git have no names; a package git-dbgsym may have them.'
fi

# --- the page of a running program ---
start 120 30 "$memtop --on-quit=kill --sites=4K ./subject wait"
shows 'RUNNING'
keys 9
shows 'Table<Row>::add <'
shows 'one sample per 4 KiB'
keys e e
shows 'Sizes in MiB'
shows 'one sample per 4 KiB'
keys e e
keys Enter
! built_with HAVE_LIBDW || shows 'sites-subject.cc:16'
keys q
ends 143
finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Reports by block size from recorded calls: the worked example of the article, byte for
# byte, every parameter, and errors.
data=$(cd "$(dirname "$0")/../data/asclib" && pwd)
. "$(dirname "$0")/common.sh"
tested=$memtopstat
LC_ALL=C.UTF-8
events=$data/events.csv

# same FILE FILE
same() {
    cmp "$1" "$2" >cmp.out 2>&1 || fail "$1 is not $2: $(cat cmp.out; diff "$1" "$2" | head -n 6)"
}

# --- the article ---
caption='E:\MyProjects\Tests\TestDll001\Debug\TestDll001'
run 0 --compat --params="$data/params.dat" --caption="$caption" \
    --logfile-name=TestDll001 --params-out=effective "$events"
same out "$data/expected-report.txt"
expand -t 4 out >expanded
expand -t 4 "$data/expected-report.txt" >expected
same expanded expected
same TestDll001.log "$data/expected-TestDll001.log"
silent err
# The parameters written have the same effect when read.
rm TestDll001.log
run 0 --compat --params=effective --caption="$caption" --logfile-name=TestDll001 "$events"
same out "$data/expected-report.txt"
same TestDll001.log "$data/expected-TestDll001.log"
# An existing log file is not replaced, which is reported.
run 1 --compat --params=effective --caption="$caption" --logfile-name=TestDll001 "$events"
says out 'TestDll001.log  FAILED'
same TestDll001.log "$data/expected-TestDll001.log"

# Without the article's inconsistency: one array for both.
run 0 --params=effective --report=timeinterval "$events"
like out '^ *1000 *1 *150\.000 *38\.5%$'
like out '^ *2-3 *20\.000 *5\.1%$'
run 0 --report=overview,loadpeak "$events"
like out 'allocated  *13324 B$'
like out 'peak  *10510 B, at 130\.000 ms$'
like out '^ *1000 *10 *0 *12$'
like out '^ *10 *5 *0 *11$'
! grep -q 'Allocations by' out || fail "a report that was not asked for"

# --- at a moment, from a pipe, in order ---
run 0 --report=overview,blocksize --at=200ms "$events"
like out 'live now  *5 blocks, 50 B$'
like out '^ *1000 *10 *55\.6% *10000 *0$'
"$memtopstat" --report=overview --at=0.2 - <"$events" >out 2>err || fail "$(cat err)"
like out 'live now  *5 blocks, 50 B$'
run 0 --report=blocksize --sort=count "$events"
sed -n 's/^ *\([0-9][0-9]*\)  .*%.*/\1/p' out | tr '\n' ' ' >order
[ "$(cat order)" = '1000 10 100 257 500 ' ] || fail "by count: $(cat order)"
run 0 --report=blocksize --sort=unsorted "$events"
sed -n 's/^ *\([0-9][0-9]*\)  .*%.*/\1/p' out | tr '\n' ' ' >order
[ "$(cat order)" = '1000 10 500 257 100 ' ] || fail "as they came: $(cat order)"

# A name must not act on the terminal.
evil=$(printf 'e\033[31mvil')
cp "$events" "$evil"
run 0 --report=overview --compat "$evil"
[ "$(head -n 1 out)" = 'e?[31mvil' ] || fail "the caption: $(head -n 1 out | od -c)"

# --- intervals ---
run 0 --report=timeinterval --counts=linear:4 "$events"
like out '^ *1000 *1-4 *180\.000'
like out '^ *5-8 *50\.000'
like out '^ *9-12 *20\.000'
run 0 --report=timeinterval --counts=power:1:3 "$events"
like out '^ *1000 *1 *150\.000'
like out '^ *2-3 *20\.000'
like out '^ *4-9 *70\.000'
like out '^ *10-27 *10\.000'
run 0 --report=timeinterval --counts=2,20 --lower-bound=1 "$events"
like out '^ *1000 *2 *10\.000'
! grep -q '^ *100 ' out || fail "one block is in no interval"
run 0 --report=timeinterval --group=no "$events"
like out '^ *4 *10\.000'
like out '^ *5 *10\.000'

# --- log files ---
run 0 --report=logfile --logfile-each --logfile-dir=. --logfile-name=each \
    --logfile-extension=csv --logfile-delimiter=';' --group=no "$events"
for size in 10 100 257 500 1000; do
    [ "$(head -n 1 each_$size.csv)" = "ms;_$size" ] || fail "each_$size.csv"
done
[ "$(tail -n 1 each_500.csv)" = '140;0' ] || fail "$(cat each_500.csv)"
[ "$(wc -l <each_1000.csv)" = 49 ] || fail "$(wc -l each_1000.csv) lines"
run 0 --report=logfile --sizes=257,500 --logfile-name=two "$events"
[ "$(head -n 1 two.log | tr '\t' ' ')" = 'ms _257 ms _500' ] || fail "$(head -n 1 two.log)"
run 0 --report=logfile --top=1 --logfile-name=one "$events"
[ "$(head -n 1 one.log | tr '\t' ' ')" = 'ms _1000' ] || fail "$(head -n 1 one.log)"
run 1 --report=logfile --logfile-dir=nowhere --logfile-name=two "$events"
says err 'cannot write nowhere/two.log: No such file or directory'
# The reports are written even if the log file fails; neither is if there is nothing to
# report.
run 1 --report=full -o alone.txt --logfile-dir=nowhere "$events"
says err 'cannot write nowhere/'
run 0 --report=overview,blocksize "$events"
says alone.txt "$(grep -m 1 ' 1000 ' out)"
run 2 --report=full -o none.txt missing
[ ! -e none.txt ] || fail "a report of nothing: $(cat none.txt)"
if command -v gnuplot >/dev/null 2>&1; then
    cat >plot.gp <<'EOF'
set terminal dumb 70 25
set datafile separator "\t"
plot for [i=1:5] 'TestDll001.log' using 2*i-1:2*i with lines title columnheader(2*i)
EOF
    gnuplot plot.gp >plot.out 2>&1 || fail "gnuplot: $(cat plot.out)"
    says plot.out '_1000'
    grep -qi 'warning' plot.out && fail "gnuplot: $(cat plot.out)"
fi

# --- the chart ---
if built_with HAVE_GD; then
    run 0 --png=figure.png -s 'Blocks' -x 640 -y 400 "$events"
    [ "$(od -An -c -j 1 -N 3 figure.png | tr -d ' ')" = PNG ] || fail "no picture"
    [ "$(od -An -t u1 -j 18 -N 2 figure.png | tr -s ' ')" = ' 2 128' ] || fail "not 640 wide"
    run 1 --png=figure.png "$events"
    says err 'cannot create figure.png: File exists'
fi

# --- for programs ---
run 0 --report=full --report-format=csv "$events"
[ "$(sed -n 6p out)" = '1000,12,12000,0,10,150000000,10000000,10000000,20000000,30000000,30000000' ] ||
    fail "$(cat out)"
run 0 --report=full --report-format=json "$events"
says out '"type":"blocks","caption"'
says out '"size":500,"allocations":1,"bytes":500,"live":0,"peak":1,"intervals":[{"above":0,"to":1,"ns":110000000}]'
run 0 --report=overview -o report.txt "$events"
silent out
says report.txt 'allocations'
run 1 --report=overview -o report.txt "$events"
says err 'cannot write report.txt: File exists'

# --- logs: no times ---
printf '7 7 malloc(10)=0x10\n7 7 malloc(10)=0x20\n8 8 malloc(9)=0x10\n7 7 free(0x10)\n' >log
run 0 --report=full --logfile-name=events log
says err 'log holds other processes too: --process=all reports them together'
like out 'peak  *20 B, at event 1$'
like out 'live at the end  *1 block, 10 B$'
like out '^ *10 *1 *1 *33\.3%$'
like out '^ *2 *2 *66\.7%$'
[ "$(head -n 1 events.log | tr '\t' ' ')" = 'event _10' ] || fail "$(cat events.log)"
run 0 --report=overview --process=8 log
like out 'allocated  *9 B$'
run 0 --report=overview --process=all log
like out 'allocated  *29 B$'
run 0 --report=overview --at=1 log
like out 'live now  *2 blocks, 20 B$'
run 64 --report=overview --at=1ms log
says err '--at takes the number of an event'
printf 'rubbish\n' >>log
run 1 --report=overview log
says err 'log: 1 line is not a call: line 5'

# --- an empty record ---
printf 't_ms,op,addr,size\n' >empty.csv
run 0 --report=full empty.csv
says out 'No allocation is recorded.'
run 0 --report=full --compat empty.csv
[ "$(tail -n 1 out)" = 'INFO: memory usage statictic array is empty' ] || fail "$(cat out)"
! built_with HAVE_GD || run 0 --png=empty.png empty.csv

# --- errors ---
run 2 --report=full nowhere
says err 'cannot read nowhere: No such file or directory'
run 2 --report=full "$data/params.dat"
says err 'params.dat: it is text, but not of a kind that memtop reads'
run 2 --report=overview --params=nowhere "$events"
says err 'cannot read nowhere: No such file or directory'
for wrong in --report=all --report= --sort=up --group=maybe --counts=3,2 --counts=linear:0 \
    --at=soon --blocks=none --sizes=1,,2 --top=0 --report-format=xml --logfile-name=a/b \
    --logfile-delimiter='\q' --process=me --lower-bound=x; do
    run 64 --report=full "$wrong" "$events"
    says err "'${wrong#*=}'"
done
run 64 --top=3 "$events"
says err '--top can only be used with --report'

# --- every key of the parameter file ---
mkdir 'a b'
# params LINE OPTION...: a file with that line and the option give the same report.
params() {
    printf '%s\n' "$1" >line.dat
    shift
    run 0 --report=full --params=line.dat --logfile-name=x "$events"
    silent err
    mv out from-file
    cat x* 'a b'/x* >from-file-log 2>/dev/null
    rm -f x* 'a b'/x*
    run 0 --report=full --logfile-name=x "$@" "$events"
    mv out from-option
    cat x* 'a b'/x* >from-option-log 2>/dev/null
    rm -f x* 'a b'/x*
    same from-file from-option
    same from-file-log from-option-log
}
params '[Report_Sort] amsrstSortByCount' --sort=count
params '[Report_Sort] 0' --sort=unsorted
params '[Report_GroupByInterval] False' --group=no
params '[Report_IntervalType] aitLinear' --counts=linear:2
params '[Report_IntervalType] 2 { power }' --counts=power:2:2
params '[Report_IntervalType] 1
[Report_IntervalFactor]	3' --counts=linear:3
params '[Report_IntervalType] aitPower
[Report_IntervalBase] 4' --counts=power:2:4
params '[Report_IntervalArray_0] 2
[Report_IntervalArray_1] 4
{ a comment
over lines } [Report_IntervalArray_2] 100' --counts=2,4,100
params '[Report_IntervalArrayLowerBound] 1
[Report_IntervalArray_0] 2
[Report_IntervalArray_1] 9' --counts=2,9 --lower-bound=1
params '[LogFile_Extension] txt' --logfile-extension=txt
params '[LogFile_DataDelimiter] \x3b \t' --logfile-delimiter='; \t'
params '[LogFile_OnceFile] False' --logfile-each
params '[LogFile_DirName] a b' --logfile-dir='a b'
cat >reports.dat <<'EOF'
[Report_Overview_Enabled] False
[Report_BlockSize_Enabled] False
[Report_LoadPeak_Enabled] True
[Report_TimeInterval_Enabled] False
[Report_LogFile_Enabled] False
EOF
run 0 --params=reports.dat "$events"
says out 'Most blocks live at once'
[ "$(grep -c '^[A-Z]' out)" = 1 ] || fail "more than one report: $(cat out)"

# --- and errors in it ---
cat >wrong.dat <<'EOF'
[Report_Sort] amsrstSortByWhim
[Report_GroupByInterval] perhaps

[Report_IntervalFactor] 0
[Report_IntervalType] 4
[Report_IntervalArray_0] 5
[Report_IntervalArray_1] 5
[LogFile_Extension] a/b
[LogFile_DataDelimiter] \q
[LogFile_OnceFile]
[Report_Unknown] 1
rubbish
[Report_IntervalArrayLowerBound] -1
EOF
run 0 --report=timeinterval --params=wrong.dat "$events"
mv out wrong.out
sed 's/^[^:]*: //' err >wrong.err
cat >expected.err <<'EOF'
wrong.dat:1: [Report_Sort] has an unknown value; the default is used
wrong.dat:2: [Report_GroupByInterval] is neither True nor False; the default is used
wrong.dat:4: [Report_IntervalFactor] is not a number from 1 to 4294967295; the default is used
wrong.dat:5: [Report_IntervalType] has an unknown value; the default is used
wrong.dat:7: [Report_IntervalArray_1] is out of order: elements count from 0, and their values must increase; the default is used
wrong.dat:8: [LogFile_Extension] cannot be part of a file's name; the default is used
wrong.dat:9: [LogFile_DataDelimiter] is not a delimiter; the default is used
wrong.dat:10: [LogFile_OnceFile] has no value; the default is used
wrong.dat:11: [Report_Unknown] is not a parameter; the default is used
wrong.dat:12: this line is neither a parameter nor a comment
wrong.dat:13: [Report_IntervalArrayLowerBound] is not a number from 1 to 4294967295; the default is used
EOF
same wrong.err expected.err
run 0 --report=timeinterval "$events"
same wrong.out out
printf '[Report_Sort] 1 { no end' >open.dat
run 0 --report=blocksize --params=open.dat "$events"
says err 'open.dat:1: a comment has no end'

finish

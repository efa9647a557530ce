#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop -B --metrics: a file that is complete at any moment, replaced at each interval,
# and that promtool does not complain about.
rules=$(cd "$(dirname "$0")/../.." && pwd)/doc/prometheus-rules.yml
. "$(dirname "$0")/common.sh"

# Holds a known block and runs until "stop" appears.
cat >keeper.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char *volatile block = malloc(1000000);
    block[0] = 1;
    while (access("run", F_OK) == 0)
        usleep(10000);
    return 4;
}
END
compile keeper || skip 'no compiler'

value() {
    sed -n "s/^$1{.*} //p" figures.prom
}
reports() {
    grep -q "^$1{.*} $2\$" figures.prom
}

: >run
"$memtop" -B -q -i 0.1 --metrics figures.prom ./keeper >out 2>err &
memtop_pid=$!
await reports memtop_heap_bytes 1000000
await reports memtop_up 1
says figures.prom 'program="keeper"'
says figures.prom 'memtop_calls_total{'
[ "$(tail -n 1 figures.prom)" = '# EOF' ] || fail 'no end'
[ "$(stat -c %a figures.prom)" = 644 ] || fail "mode $(stat -c %a figures.prom)"

# The file changes, and is always complete.
before=$(value memtop_run_seconds)
changed() {
    [ "$(tail -n 1 figures.prom)" = '# EOF' ] || fail 'half a file'
    [ "$(value memtop_run_seconds)" != "$before" ]
}
await changed
rm run
wait $memtop_pid
status=$?
[ $status = 4 ] || fail "status $status"
reports memtop_up 0 || fail 'still up'
silent out err # -i prints no lines here
[ "$(echo figures.prom*)" = figures.prom ] || fail "left: $(echo figures.prom*)"

if command -v promtool >/dev/null; then
    promtool check metrics <figures.prom >tool 2>&1 || fail "promtool: $(cat tool)"
    silent tool
    promtool check rules "$rules" >tool 2>&1 || fail "promtool: $(cat tool)"
else
    echo 'skipped: promtool is not here'
fi

# The reference implementation of OpenMetrics, in which a counter without a type has an
# unknown one.
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
    /usr/bin/python3 -c 'if True:
        import sys
        from prometheus_client.openmetrics import parser
        text = sys.stdin.read()
        families = list(parser.text_string_to_metric_families(text))
        assert sum(len(f.samples) for f in families) > 20' <figures.prom >tool 2>&1 ||
        fail "OpenMetrics: $(tail -n 1 tool)"
else
    echo 'skipped: python3-prometheus-client is not here'
fi

# Not measured: unknown figures are left out.
cp keeper.c static.c
if compile static -static; then
    run 4 -Bq --metrics figures.prom ./static
    reports memtop_measured 0 || fail "measured: $(cat figures.prom)"
    grep -q '^memtop_heap_bytes{' figures.prom && fail 'a heap that was not measured'
fi

# Arguments are left out, too, because they may be secret.
: >run
cp keeper unseen
./unseen --password=hunter2/key &
unseen=$!
await grep -q hunter2 /proc/$unseen/cmdline
run 0 -B -q -i 0.1 -N 1 -a $unseen --metrics figures.prom
says figures.prom "{pid=\"$unseen\",program=\"unseen\"}"
grep -q hunter2 figures.prom && fail "arguments: $(grep hunter2 figures.prom | head -n 1)"
grep -q key figures.prom && fail "arguments: $(grep key figures.prom | head -n 1)"
rm run
wait $unseen

# Children, while they are alive.
: >run
"$memtop" -Bq -i 0.1 --metrics figures.prom sh -c './keeper & wait' &
memtop_pid=$!
await grep -q '^memtop_heap_bytes{pid="[0-9]*",program="keeper"} 1000000$' figures.prom
# They have the same families as the root, except for children.
families() {
    sed -n "s/{.*program=\"$1\".*//p" figures.prom | sort -u
}
families sh | grep -v children_seen >root
families keeper >child
cmp -s root child || fail "a child has other figures: $(diff root child)"
[ "$(wc -l <child)" -ge 15 ] || fail "few figures: $(cat child)"
grep -q '^memtop_calls_total{pid="[0-9]*",program="sh"' figures.prom || fail 'no root'
rm run
wait $memtop_pid
grep -q keeper figures.prom && fail 'a child that has ended'

# All processes with the library, whoever started them, until a signal.
if [ "$MEMTOP_TEST_ALONE" = yes ]; then
    : >run
    "$memtop" -B -i 0.1 --metrics figures.prom >out 2>err &
    memtop_pid=$!
    await grep -q '^# EOF' figures.prom
    LD_PRELOAD=${memtop%/*}/libmemtop.so ./keeper &
    one=$!
    LD_PRELOAD=${memtop%/*}/libmemtop.so ./keeper &
    two=$!
    await grep -q "^memtop_heap_bytes{pid=\"$one\",program=\"keeper\"} 1000000\$" figures.prom
    await grep -q "^memtop_heap_bytes{pid=\"$two\",program=\"keeper\"} 1000000\$" figures.prom
    rm run
    wait $one $two
    await sh -c '! grep -q keeper figures.prom'
    kill $memtop_pid
    wait $memtop_pid
    status=$?
    [ $status = 0 ] || fail "status $status of a service"
    silent out err
    run 0 -B -i 0.1 -N 2 --metrics figures.prom
else
    echo 'skipped: all observed processes: no pid namespace can be made here'
fi
run 125 -B --metrics nothere/figures.prom
says err 'cannot write nothere/figures.prom'

# A file that cannot be written is reported before the program starts.
run 125 -B --metrics nothere/figures.prom touch started
says err 'cannot write nothere/figures.prom'
mkdir directory
run 125 -B --metrics directory touch started
run 125 -B --metrics /dev/null touch started
[ ! -e started ] || fail 'the program was started'
run 125 --metrics figures.prom true
says err 'can only be used with --batch'

# A directory that is removed meanwhile is reported once, and does no harm.
mkdir place
: >run
"$memtop" -B -q -i 0.1 --metrics place/figures.prom ./keeper >out 2>err &
memtop_pid=$!
await test -e place/figures.prom
mv place elsewhere
await grep -q 'cannot write place/figures.prom' err
rm run
wait $memtop_pid
status=$?
[ $status = 4 ] || fail "status $status without a place"
[ "$(grep -c 'cannot write' err)" = 1 ] || fail "said more than once: $(cat err)"
finish

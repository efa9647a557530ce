#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# scale.sh BUILDDIR
#
# Runs programs with 1000 threads, 100,000 short-lived threads, 500 processes, and 10
# million live blocks.  Measures how long it takes to read them and what they cost memtop,
# and checks that the sums are exact.  Records, munges and replays 10 million calls, and checks
# that none is lost.  Status 1 if a sum is wrong or a limit is exceeded.  (The unit test
# tests/unit/recorder runs the flight recorder for 24 hours of a clock of its own.)

build=${1:?usage: scale.sh BUILDDIR}
work=$(mktemp -d) || exit 1
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-scale-XXXXXX) || exit 1
export MEMTOP_DIR
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
trap 'exit 1' INT TERM HUP
bad=0

ms_since() {
    echo $((($(date +%s%N) - $1) / 1000000))
}

# Starts crowd, under a command if one is given, and waits until it is ready.  The function
# "end" ends it.
begin() {
    rm -f "$work/input" "$work/output"
    mkfifo "$work/input"
    began=$(date +%s%N)
    "$@" <"$work/input" >"$work/output" 2>"$work/errors" &
    pid=$!
    exec 9>"$work/input"
    until grep -q ready "$work/output"; do
        if ! kill -0 $pid 2>/dev/null || [ "$(ms_since "$began")" -gt 120000 ]; then
            echo "FAIL: $* is not ready" >&2
            bad=1
            return 1
        fi
        sleep 0.05
    done
    ready_ms=$(ms_since "$began")
}

end() {
    exec 9>&-
    wait $pid
}

# expect WHAT KEY VALUE: checks a value in what look has printed.
expect() {
    got=$(awk -v key="$2" '$1 == key { print $2 }' "$work/look")
    [ "$got" = "$3" ] || {
        echo "FAIL: $1: $2 is $got, not $3"
        bad=1
    }
}

# at_most WHAT FIGURE LIMIT
at_most() {
    awk -v figure="$2" -v limit="$3" 'BEGIN { exit !(figure + 0 <= limit) }' || {
        echo "FAIL: $1: $2, more than $3"
        bad=1
    }
}

# Prints how long it takes to read the segment, and how much memory its file takes.
look() {
    "$build/bench/look" "$MEMTOP_DIR/$pid.0" >"$work/look"
    awk -v what="$1" -v ready="$ready_ms" '
        $1 == "snapshot" || $1 == "threads" || $1 == "histogram" {
            times = times sprintf(", %s %s ms", $1, $3)
        }
        END { printf "%s: ready after %s ms%s", what, ready, times }' "$work/look"
    echo ", segment of $(du -k "$MEMTOP_DIR/$pid.0" | cut -f1) KiB"
}

# Separate functions, because a program in the background must be the process itself.
crowd() {
    begin env "LD_PRELOAD=$build/libmemtop.so" "$build/bench/crowd" "$@"
}

if crowd threads 1000; then
    look "1000 threads"
    expect "1000 threads" thread_count 1001
    expect "1000 threads" threads_merged 0
    expect "1000 threads" unmatched 0
    for what in snapshot threads histogram; do
        at_most "1000 threads: $what (ms)" \
            "$(awk -v key=$what '$1 == key { print $3 }' "$work/look")" 5
    done
    end
fi

if crowd lives 100000; then
    look "100,000 short-lived threads"
    expect "100,000 threads" threads_started 100001
    expect "100,000 threads" calls 300000
    expect "100,000 threads" thread_count 1
    expect "100,000 threads" threads_merged 0
    end
fi

if crowd blocks 10000000; then
    look "10 million live blocks"
    expect "10 million blocks" calls 10000000
    expect "10 million blocks" live_blocks 10000000
    expect "10 million blocks" live_bytes 475000000
    end
fi

if begin "$build/memtop" -B -q -i 0.5 --format=json -o "$work/json" -- \
    "$build/bench/crowd" processes 500; then
    sleep 2 # of a running tree
    share=$(awk -v from="$began" -v now="$(date +%s%N)" '{ print $1 / (now - from) * 100 }' \
        "/proc/$pid/schedstat")
    rss=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$pid/status")
    memory=$(du -sk "$MEMTOP_DIR" | cut -f1)
    end
    children=$(sed -n '$s/.*"children_seen":\([0-9]*\).*/\1/p' "$work/json")
    echo "500 processes: ready after $ready_ms ms, segments of $memory KiB;" \
        "memtop: $share % of a core, $rss KiB"
    [ "$children" = 500 ] || {
        echo "FAIL: $children children seen, not 500"
        bad=1
    }
fi

if "$build/bench/blocks" "$work/trace" 100000000 10000 100000; then
    # Only processor time counts, because other programs may run at the same time.
    seconds=$(bash -c "TIMEFORMAT='%U %S'; time '$build/memtopstat' \
        --report=overview,timeinterval '$work/trace' >/dev/null" 2>&1 |
        awk '{ print $1 + $2 }')
    echo "report of 100 million calls with 10,000 sizes: $seconds s"
    at_most "report of 100 million calls (s)" "$seconds" 10
    rm "$work/trace"
fi

# Replays the trace, and the log that is made from it.
if "$build/memtop" -B -q --record="$work/trace" "$build/bench/crowd" calls 10000000 \
    >"$work/most"; then
    # 123 bytes were requested in 4 blocks: the report rounds sizes, but not blocks.
    blocks=$(cut -d ' ' -f 2 "$work/most")
    "$build/memtopstat" --export=logalloc "$work/trace" 2>"$work/errors" >"$work/log"
    "$build/memtop-munge" "$work/log" >"$work/munged" 2>>"$work/errors"
    echo "10 million calls: trace of $(($(wc -c <"$work/trace") / 1024)) KiB," \
        "log of $(($(wc -c <"$work/log") / 1024)) KiB"
    for lines in log munged; do
        if [ "$(wc -l <"$work/$lines")" != 10000000 ] || [ -s "$work/errors" ]; then
            echo "FAIL: of 10 million calls $(wc -l <"$work/$lines") in the $lines" \
                "$(head -n 2 "$work/errors")"
            bad=1
        fi
    done
    for replayed in trace munged; do
        "$build/memtop-replay" "$work/$replayed" 2>"$work/replay"
        if ! grep -q '^10000000 calls ' "$work/replay" ||
            ! grep -q "^at the peak: .* in $blocks blocks;" "$work/replay"; then
            echo "FAIL: $replayed replayed: $(head -n 2 "$work/replay"), $blocks blocks"
            bad=1
        fi
    done
    rm "$work/trace" "$work/log" "$work/munged"
fi

for interval in 0.1 1; do
    # shellcheck disable=SC2046 # four words
    set -- $("$build/bench/display" 60 200 4 "$build/memtop" -i $interval \
        "$build/bench/crowd" threads 64 2>/dev/null)
    echo "display of 64 threads every $interval s: $2 % of a core, $3 KiB"
    [ $interval = 1 ] && limit=0.5 || limit=0.8
    at_most "display every $interval s (% of a core)" "$2" $limit
done
exit $bad

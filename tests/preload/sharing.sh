#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# How often threads that allocate write cache lines that other threads use: valgrind lists
# every access of the library's code, and which thread runs.  A line is shared if one
# thread writes it and another reads or writes it, however far apart that is.
#
# The flight recorder is not among them: valgrind hides the clock.  A thread feeds it a
# few hundred times a second.
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
work=$(mktemp -d /tmp/memtop-sharing-XXXXXX) || exit 99
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-sharing-XXXXXX) || exit 99
export MEMTOP_DIR
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
failures=0

# Reads the places that the program has printed and a trace: "I ADDRESS,SIZE" for an
# instruction, then " L", " S" or " M ADDRESS,SIZE" for what it loads, stores or modifies.
# Numbers are compared as texts of 16 digits.
cat >"$work/count.awk" <<'EOF'
function padded(digits) {
    return substr("0000000000000000", length(digits) + 1) digits
}

FNR == 1 { file++ }
file == 1 && /-/ { split($1, range, "-"); from = padded(range[1]); to = padded(range[2]) }
file == 1 && !/-/ { mark = padded($1) }
file == 1 { next }

/acquired lock/ { sub(/.*SCHED\[/, ""); thread = $0 + 0; next }
/SCHED|^==|^--/ { next }
$1 == "I" {
    if (marks == 1)
        ours = (at = padded(substr($2, 1, index($2, ",") - 1))) >= from && at < to
    next
}
$1 == "L" || $1 == "S" || $1 == "M" {
    at = padded(substr($2, 1, index($2, ",") - 1))
    if (at == mark && $1 != "L") {
        marks++
        next
    }
    if (marks != 1 || !ours)
        next
    line = substr(at, 1, 14) int(index("0123456789abcdef", substr(at, 15, 1)) / 4 + 0.75)
    if (!(thread in runs)) {
        runs[thread] = 1
        running++
    }
    if (!((line, thread) in seen)) {
        seen[line, thread] = 1
        users[line]++
    }
    if ($1 != "S")
        loads[line]++
    if ($1 != "L")
        stores[line]++
    accesses++
}

END {
    for (line in stores)
        if (users[line] > 1) {
            shared_stores += stores[line]
            shared_loads += loads[line]
        }
    if (marks != 2 || running != threads || accesses < calls) {
        print marks " marks, " running " threads, " accesses " accesses" >"/dev/stderr"
        exit 1
    }
    printf "%.1f %.1f\n", 1000 * shared_stores / calls, 1000 * shared_loads / calls
}
EOF

# Without samples: these share lines, too, but a budget of time limits them, and here time
# passes far more slowly than in a run without valgrind.
# sharing PHASE CALLS_A_STEP THREADS STEPS KEPT: prints the stores to shared lines and the
# loads of them, in 1000 calls.
sharing() {
    mkfifo "$work/trace" || exit 99
    MEMTOP_OPTIONS=sites=off LD_PRELOAD="$PWD/libmemtop.so $PWD/tests/preload/programs/remapper.plugin" valgrind --tool=lackey --trace-mem=yes --trace-sched=yes \
        --log-file="$work/trace" tests/preload/programs/sharing.run "$1" "$3" "$4" "$5" \
        >"$work/places" 2>"$work/said" &
    cat "$work/trace" >"$work/copy"
    wait $! || { echo "FAIL: $*: $(cat "$work/said")" >&2; exit 1; }
    rm "$work/trace"
    awk -v calls=$(($3 * $4 * $2)) -v threads="$3" -f "$work/count.awk" "$work/places" "$work/copy" ||
        { echo "FAIL: $*: no trace" >&2; exit 1; }
}

# at_most STORES PHASE CALLS_A_STEP THREADS STEPS KEPT
at_most() {
    most=$1
    shift
    result=$(sharing "$@") || exit 1
    echo "$1, $3 threads, $5 bytes kept: stores and loads of shared lines in 1000 calls:" \
        "$result (stores at most $most)"
    awk -v found="${result% *}" -v most="$most" 'BEGIN { exit !(found <= most) }' ||
        failures=$((failures + 1))
}

# A pair changes the live bytes by nothing, so no thread tells the others of it.  A thread
# that grows does so once a quantum, by at most three stores (doc/PROTOCOL); a
# block is 256 bytes on average.
most_growth=$((3 * 1000 * 256 / 4096))
most_growth_of_much=$((3 * 1000 * 256 / 65536 + 1))
for threads in 1 4 16; do
    at_most 0 pairs 2 $threads 400 100
done
at_most 0 growth 1 1 800 100
at_most $most_growth growth 1 4 800 100
at_most $most_growth growth 1 16 800 100
at_most $most_growth_of_much growth 1 16 800 400000000
[ $failures = 0 ] && echo "all passed"
exit $failures

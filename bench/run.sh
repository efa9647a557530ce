#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh BUILDDIR [--json] [--rounds=N]
#
# Measures what watching costs, with memtop and other tools, in one run.  The contenders
# take turns, round after round, so that other work on the machine disturbs all of them
# alike.  Each has two figures: the best batch of all rounds (what the code costs)
# and the median of the rounds' medians (what you see on this machine now).
# valgrind counts the instructions a step.  Each table is printed as soon as it is known.
# What is not installed is named as missing.

build=${1:?usage: run.sh BUILDDIR [--json] [--rounds=N]}
shift
json=no
rounds=9
for option; do
    case $option in
    --json) json=yes ;;
    --rounds=*) rounds=${option#*=} ;;
    *) echo "run.sh: unknown option $option" >&2; exit 2 ;;
    esac
done

load=$build/bench/load
spawn=$build/bench/spawn
memtop=$build/libmemtop.so
batch_ms=40
work=$(mktemp -d) || exit 1
MEMTOP_DIR=$(mktemp -d /dev/shm/memtop-bench-XXXXXX) || exit 1
export MEMTOP_DIR
trap 'rm -rf "$work" "$MEMTOP_DIR"' EXIT
trap 'exit 1' INT TERM HUP

# --- Contenders ---

# The library a contender preloads, or nothing if it is not installed.
library_of() {
    case $1 in
    empty) echo "$build/bench/empty.so" ;;
    memtop | memtop-*) echo "$memtop" ;;
    memusage) ls /usr/lib*/"$(uname -m)"-linux-gnu/libmemusage.so \
        /usr/lib64/libmemusage.so /lib/libmemusage.so ;;
    heaptrack) ls /usr/lib*/heaptrack/libheaptrack_preload.so ;;
    esac 2>/dev/null | head -n 1
}

# Runs a program under a contender.  heaptrack writes its events to nowhere:
# neither its compressor nor a disk is measured.
under() {
    contender=$1
    shift
    case $contender in
    none) "$@" ;;
    memtop-usable) LD_PRELOAD=$memtop MEMTOP_OPTIONS=accounting=usable "$@" ;;
    memtop-dormant) LD_PRELOAD=$memtop MEMTOP_OPTIONS=dormant "$@" ;;
    memtop-sites) LD_PRELOAD=$memtop MEMTOP_OPTIONS=sites "$@" ;;
    memtop-sites-*) LD_PRELOAD=$memtop MEMTOP_OPTIONS=sites=${contender#memtop-sites-} "$@" ;;
    memtop-events) LD_PRELOAD=$memtop MEMTOP_OPTIONS=drop,rings=16384 \
        LOAD_EMPTIES_RINGS=1 "$@" ;;
    heaptrack) DUMP_HEAPTRACK_OUTPUT=/dev/null LD_PRELOAD=$(library_of heaptrack) "$@" ;;
    *) LD_PRELOAD=$(library_of "$contender") "$@" ;;
    esac
}

contenders=none
missing=
table=
disturbed=0
for contender in empty memtop memtop-usable memtop-dormant memtop-sites memtop-sites-1e-4 \
    memtop-sites-1e-3 memtop-events memusage heaptrack; do
    if [ -n "$(library_of $contender)" ]; then
        contenders="$contenders $contender"
    else
        missing="$missing $contender"
    fi
done

# --- Figures ---

# Prints the smallest of the first column and the median of the second.
best_and_median() {
    sort -n "$1" | awk '{ print $1; exit }'
    awk '{ print $2 }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# cell NAME TEXT: right-aligned in the column of that name.
cell() { printf ' %*s' $((${#1} > 9 ? ${#1} : 9)) "$2"; }

# emit GROUP CONTENDER FIELD=VALUE...: one result, as a row of the group's table or as
# JSON.
emit() {
    if [ $json = yes ]; then
        printf '{"group":"%s","contender":"%s"' "$1" "$2"
        shift 2
        for field; do
            printf ',"%s":%s' "${field%%=*}" "${field#*=}"
        done
        printf '}\n'
        return
    fi
    if [ "$1" != "$table" ]; then
        table=$1
        printf '\n%-22s' "$table"
        for field in "$@"; do
            [ "$field" = "${field#*=}" ] || cell "${field%%=*}" "${field%%=*}"
        done
        echo
    fi
    printf '  %-20s' "$2"
    shift 2
    for field; do
        cell "${field%%=*}" "${field#*=}"
    done
    echo
}

# Runs a command up to three times until nothing disturbed it (load.c); prints the last
# output.
try() {
    figures=
    for _ in 1 2 3; do
        if figures=$(under "$contender" "$@" 2>/dev/null); then
            printf '%s\n' "$figures"
            return 0
        fi
    done
    printf '%s\n' "$figures"
    return 1
}

# measure GROUP CONTENDERS COMMAND...: the contenders take turns with COMMAND, which
# prints "BEST MEDIAN".
measure() {
    group=$1
    those=$2
    shift 2
    round=0
    while [ $round -lt "$rounds" ]; do
        for contender in $those; do
            figures=$(try "$@") || disturbed=$((disturbed + 1))
            printf '%s\n' "$figures" >>"$work/$group.$contender"
        done
        round=$((round + 1))
    done
    for contender in $those; do
        # shellcheck disable=SC2046 # two words
        set -- $(best_and_median "$work/$group.$contender")
        if [ "$contender" = none ]; then
            none_best=$1
            none_median=$2
        fi
        echo "$1 $2" >"$work/$group.$contender.result"
        # shellcheck disable=SC2046
        emit "$group" "$contender" $(awk -v b="$1" -v m="$2" -v nb="$none_best" \
            -v nm="$none_median" 'BEGIN {
                printf "best=%.2f added=%.2f median=%.2f median_added=%.2f ratio=%.2f",
                    b, b - nb, m, m - nm, (nb ? b / nb : 0) }')
    done
}

# Prints how many instructions a run with that many steps takes in all.
count_run() {
    under "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$load" "$2" 1 ops "$3" 2>&1 | sed -n 's/.*Collected : //p'
}

# Instructions a step: the difference between runs of two lengths, so that start and end
# cancel out.  heaptrack is left out, because under valgrind it is loaded into valgrind's
# own process instead of the program; dormant is left out, because valgrind hides the
# vDSO, and without that no process sleeps.
count_instructions() {
    workload=$1
    for contender in $contenders; do
        case $contender in
        heaptrack | memtop-dormant)
            missing="$missing $workload-instructions:$contender"
            continue ;;
        esac
        few=$(count_run "$contender" "$workload" 20000)
        many=$(count_run "$contender" "$workload" 220000)
        if [ -z "$few" ] || [ -z "$many" ]; then
            missing="$missing $workload-instructions:$contender"
            continue
        fi
        a_step=$(awk "BEGIN { printf \"%.1f\", ($many - $few) / 200000 }")
        [ "$contender" != none ] || none_step=$a_step
        echo "$a_step" >"$work/$workload.$contender.steps"
        emit "$workload-instructions" "$contender" "a_step=$a_step" \
            "added=$(awk "BEGIN { printf \"%.1f\", $a_step - $none_step }")"
    done
}

# How much more writing events costs than counting, while there is room: at most 40 ns
# and 60 instructions a pair.
events_over_counting() {
    for threads in 1 2; do
        group=pairs-ns-$threads-thread
        # shellcheck disable=SC2046 # words
        emit events-over-counting "$threads-thread" $(cat "$work/$group.memtop.result" \
            "$work/$group.memtop-events.result" "$work/pairs.memtop.steps" \
            "$work/pairs.memtop-events.steps" 2>/dev/null | awk '
                { best[NR] = $1; median[NR] = $2 }
                END { printf "ns=%.1f median_ns=%.1f", best[2] - best[1], median[2] - median[1]
                    if (NR == 4)
                        printf " instructions=%.0f", best[4] - best[3] }')
    done
}

# memtop's side: how many million events a second it takes out of rings, puts in
# order and, with a file, turns into records.
measure_drainer() {
    for threads in 1 2; do
        for file in "" /dev/null; do
            # shellcheck disable=SC2046,SC2086 # two words; none
            set -- $("$build/bench/drain" $threads $file)
            if [ $# != 2 ]; then
                missing="$missing drainer"
                return
            fi
            emit drainer "$threads-thread${file:+-records}" "best=$1" "median=$2"
        done
    done
}

# Both sides at once: the mean, including the time of waiting.
sustained() {
    for threads in 1 2; do
        for contender in memtop memtop-log memusage; do
            if ! command -v memusage >/dev/null 2>&1 && [ $contender = memusage ]; then
                missing="$missing sustained:memusage"
                continue
            fi
            for round in 1 2 3; do
                case $contender in
                memtop) "$build/memtop" -B -q -d "$MEMTOP_DIR/dat" -- \
                    "$load" pairs $threads ms 300 2>/dev/null ;;
                memtop-log) MALLOC_LOG=$MEMTOP_DIR/dat LD_PRELOAD=$memtop \
                    "$load" pairs $threads ms 300 ;;
                memusage) memusage -d "$MEMTOP_DIR/dat" \
                    "$load" pairs $threads ms 300 2>/dev/null ;;
                esac | awk '{ print $3 }'
                rm -f "$MEMTOP_DIR"/dat*
            done | sort -n >"$work/sustained"
            [ -s "$work/sustained" ] || { missing="$missing sustained:$contender"; continue; }
            # shellcheck disable=SC2046 # words
            emit "sustained-ns-$threads-thread" "$contender" $(awk '
                { mean[NR] = $1 } END { printf "best=%.0f median=%.0f", mean[1],
                    mean[int((NR + 1) / 2)] }' "$work/sustained")
        done
    done
}

# --- memtop itself ---

# Its display on a terminal of 60 rows and 200 columns, ten pictures a second.
measure_display() {
    # shellcheck disable=SC2046 # five words
    set -- $("$build/bench/display" 60 200 4 "$build/memtop" -i 0.1 \
        "$build/examples/tour" 2>/dev/null)
    if [ $# != 5 ]; then
        missing="$missing display"
        return
    fi
    emit display memtop "first_picture_ms=$1" "cpu_percent=$2" "rss_kib=$3" \
        "bytes_a_second=$4" "key_to_screen_ms=$5"
}

# --- The run ---

for workload in pairs churn; do
    for threads in 1 2; do
        measure "$workload-ns-$threads-thread" "$contenders" \
            "$load" "$workload" "$threads" ms $batch_ms
    done
done
if command -v valgrind >/dev/null 2>&1; then
    count_instructions pairs
    count_instructions churn
else
    missing="$missing instructions:valgrind"
fi
events_over_counting
measure_drainer
sustained
rounds=3
measure exec-us "none empty memtop" "$spawn" exec 200
measure fork-us "none empty memtop" "$spawn" fork 200
measure fork-us-16-MiB "none empty memtop" "$spawn" fork 200 16
measure_display
if [ $json = yes ]; then
    printf '{"group":"run","missing":"%s","disturbed":%d}\n' "${missing# }" $disturbed
else
    [ -z "$missing" ] || printf '\nnot measured:%s\n' "$missing"
    [ $disturbed = 0 ] ||
        printf '\n%d runs of two threads were disturbed: other programs took their processors\n' \
            $disturbed
fi

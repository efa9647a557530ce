#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh BUILDDIR [--json] [--rounds=N] [--phases=LIST]
#
# Measures what watching costs in each phase of a program, for memtop and its peers, in one
# run: the contenders take turns, round after round, so that other work on the machine
# disturbs all of them alike.  There are two figures: the best batch of all rounds (the cost
# of the code) and the median of the rounds' medians (the cost on this machine now).  ratio
# is the cost that a contender adds, as a part of the cost that memusage adds:
# (contender - none) / (memusage - none).  valgrind counts the instructions a step.  Each
# table is printed when it is complete.  Contenders that are not installed are listed.
#
# LIST has names of phases (the table below) and of other measurements, separated by
# commas.

build=${1:?usage: run.sh BUILDDIR [--json] [--rounds=N] [--phases=LIST]}
shift
json=no
rounds=9
chosen=all
for option; do
    case $option in
    --json) json=yes ;;
    --rounds=*) rounds=${option#*=} ;;
    --phases=*) chosen=${option#*=} ;;
    *) echo "run.sh: unknown option $option" >&2; exit 2 ;;
    esac
done

# --- What is measured ---

every="empty memtop memtop-usable memtop-dormant memtop-off memtop-sites-1e-4
    memtop-sites-1e-3 memtop-events memusage heaptrack"
usual="empty memtop memtop-off memtop-usable memusage heaptrack"
following="empty memtop memtop-off memtop-usable memusage" # heaptrack does not follow exec

# One line for each phase: its name; the unit of its steps; the contenders measured beside
# none; the number of rounds (all: as asked for); the ratio that memtop must not exceed; the
# command, a function below.
phases='
pairs               ns     every     all 0.4 load pairs 1
pairs-2-threads     ns     every     all 0.1 load pairs 2
mixed               ns     usual     all 0.4 load mixed 1
calloc              ns     usual     all 0.8 load calloc 1
realloc             ns     usual     all 0.8 load realloc 1
cxx                 ns     usual     all 0.8 load_cxx cxx 1
churn1024           ns     every     all 0.5 load churn1024 1
churn1024-2-threads ns     every     all 0.1 load churn1024 2
churn100k           ns     usual     all 0.5 load churn100k 1
churn2m             ns     usual     all 0.5 load churn2m 1
growth              ns     usual     all 0.4 load growth 1
growth-cold         ns     usual     all 0.8 load growth-cold 1
grow-free           ns     usual     all 0.8 load grow-free 1
handover            ns     usual     all 0.8 load handover 1
exec                us     following 3   0.8 spawn exec 100
fork                us     usual     3   0.8 spawn fork 100
fork-16-MiB         us     usual     3   0.8 spawn fork 100 16
configure           cpu-ms following 3   0.8 configure
'
names=$(printf '%s' "$phases" | awk 'NF { print $1 }')
# shellcheck disable=SC2086,SC2116 # on one line
names=$(echo $names instructions drainer sustained display traces)

is_chosen() {
    case ,$chosen, in *,all,* | *",$1,"*) true ;; *) false ;; esac
}

for name in $(echo "$chosen" | tr , ' '); do
    case " all $names " in
    *" $name "*) ;;
    *) echo "run.sh: no phase '$name'; there are $names" >&2; exit 2 ;;
    esac
done

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

# Runs a program under a contender.  heaptrack writes its events to /dev/null, so that
# neither its compressor nor a disk is measured.
under() {
    contender=$1
    shift
    case $contender in
    none) "$@" ;;
    memtop-usable) LD_PRELOAD=$memtop MEMTOP_OPTIONS=accounting=usable "$@" ;;
    memtop-dormant) LD_PRELOAD=$memtop MEMTOP_OPTIONS=dormant "$@" ;;
    memtop-off) LD_PRELOAD=$memtop MEMTOP_OPTIONS=sites=off "$@" ;;
    memtop-sites-*) LD_PRELOAD=$memtop MEMTOP_OPTIONS=sites=${contender#memtop-sites-} "$@" ;;
    memtop-events) LD_PRELOAD=$memtop MEMTOP_OPTIONS=drop,rings=16384 \
        LOAD_EMPTIES_RINGS=1 "$@" ;;
    heaptrack) DUMP_HEAPTRACK_OUTPUT=/dev/null LD_PRELOAD=$(library_of heaptrack) "$@" ;;
    *) LD_PRELOAD=$(library_of "$contender") "$@" ;;
    esac
}

# The contenders that are installed, none first.
contenders_of() {
    echo none
    for contender; do
        [ -z "$(library_of "$contender")" ] || echo "$contender"
    done
}

missing=
table=
disturbed=0
for contender in $every; do
    [ -n "$(library_of "$contender")" ] || missing="$missing $contender"
done

# --- Commands: each prints "BEST MEDIAN" of a contender ---

load() { under "$contender" "$build/bench/load" "$@" ms $batch_ms; }
load_cxx() { under "$contender" "$build/bench/load-cxx" "$@" ms $batch_ms; }
spawn() { under "$contender" "$build/bench/spawn" "$@"; }

# A configure script of autoconf that looks for a C compiler, 12 headers and 16 functions:
# hundreds of short processes, the compiler among them.  Prints the milliseconds of
# processor time of all of them.  Its findings must be the same as without a contender.
configure() {
    write_configure || return
    rm -rf "$work/configured"
    mkdir "$work/configured"
    # shellcheck disable=SC2016 # for that shell
    under "$contender" sh -c 'cd "$1" && ../configure >found && times' sh \
        "$work/configured" >"$work/spent" || return
    [ "$contender" != none ] || cp "$work/configured/found" "$work/found"
    cmp -s "$work/configured/found" "$work/found" || return
    tail -n 1 "$work/spent" | tr ms '  ' | awk '
        { ms = ($1 * 60 + $2 + $3 * 60 + $4) * 1000; print ms, ms }'
}

write_configure() {
    [ ! -x "$work/configure" ] || return 0
    cat >"$work/configure.ac" <<'END'
AC_INIT([example], [1])
AC_PROG_CC
AC_CHECK_HEADERS([dirent.h fcntl.h locale.h netdb.h poll.h pthread.h sys/mman.h sys/socket.h
    sys/time.h termios.h unistd.h wchar.h])
AC_CHECK_FUNCS([alarm dup2 fork getcwd gethostname gettimeofday memmove mmap munmap regcomp
    select setlocale socket strchr strdup strtol])
AC_OUTPUT
END
    (cd "$work" && autoconf) >/dev/null 2>&1
}

# --- Figures ---

# Prints the smallest of the first column and the median of the second.
best_and_median() {
    sort -n "$1" | awk '{ printf "%s ", $1; exit }'
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
            value=${field#*=}
            [ "$value" != - ] || value=null
            printf ',"%s":%s' "${field%%=*}" "$value"
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

# measure PHASE UNIT ROUNDS CONTENDERS COMMAND...: the contenders take turns.
measure() {
    phase=$1
    unit=$2
    until=$3
    those=$4
    shift 4
    round=0
    while [ "$round" -lt "$until" ]; do
        for contender in $those; do
            figures=$(try "$@")
            status=$?
            [ -n "$figures" ] || continue
            [ $status = 0 ] || disturbed=$((disturbed + 1))
            printf '%s\n' "$figures" >>"$work/$phase.$contender"
        done
        round=$((round + 1))
    done
    for contender in $those; do
        if [ -s "$work/$phase.$contender" ]; then
            best_and_median "$work/$phase.$contender" >"$work/$phase.$contender.result"
        else
            missing="$missing $phase:$contender"
        fi
    done
    for contender in $those; do
        # shellcheck disable=SC2046 # words
        [ ! -s "$work/$phase.$contender.result" ] ||
            emit "$phase-$unit" "$contender" $(compare "$phase" "$contender")
    done
}

# compare PHASE CONTENDER: its figures as fields, beside those of none and memusage.  The
# ratio is - if memusage adds less than a fiftieth, because disturbances are as large.
compare() {
    for name in none memusage "$2"; do
        cat "$work/$1.$name.result" 2>/dev/null || echo
    done | awk '
        function ratio(of) {
            if (of[2] == "" || of[2] - of[1] < of[1] / 50)
                return "-"
            return sprintf("%.2f", (of[3] - of[1]) / (of[2] - of[1]))
        }
        { best[NR] = $1; median[NR] = $2 }
        END {
            printf "best=%.2f added=%.2f ratio=%s median=%.2f median_added=%.2f median_ratio=%s",
                best[3], best[3] - best[1], ratio(best),
                median[3], median[3] - median[1], ratio(median)
        }'
}

measure_phases() {
    while read -r name unit who until _ command; do
        is_chosen "$name" || continue
        [ "$until" != all ] || until=$rounds
        case $who in
        every) who=$every ;;
        usual) who=$usual ;;
        following) who=$following ;;
        esac
        # shellcheck disable=SC2046,SC2086 # words
        measure "$name" "$unit" "$until" "$(contenders_of $who)" $command </dev/null
    done <"$work/phases"
}

# field_of FIELD PHASE CONTENDER
field_of() {
    compare "$2" "$3" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# memtop's ratios by the best figures, and by the medians, which matter where threads
# contend; and their upper limits.
show_ratios() {
    while read -r name _ _ _ most _; do
        [ -s "$work/$name.none.result" ] || continue
        set -- "at_most=$most"
        for contender in memtop memtop-off memtop-usable; do
            set -- "$@" "$contender=$(field_of ratio "$name" $contender)"
        done
        emit ratios "$name" "$@" "memtop_median=$(field_of median_ratio "$name" memtop)"
    done <"$work/phases"
}

# count_run CONTENDER PHASE STEPS: prints the number of instructions of the whole run.
count_run() {
    under "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$build/bench/load" "$2" 1 ops "$3" 2>&1 | sed -n 's/.*Collected : //p'
}

# count_instructions PHASE CONTENDER...: instructions a step, as the difference of two runs
# of different lengths, so that start and end drop out.  heaptrack is left out, because in
# valgrind it is loaded into valgrind's process and not into the program's; dormant is left
# out, because valgrind hides the vDSO, without which no program sleeps.  Without samples:
# a budget of time allows them, of which much more passes a call under valgrind.
count_instructions() {
    phase=$1
    shift
    for contender in $(contenders_of "$@"); do
        few=$(count_run "$contender" "$phase" 10000)
        many=$(count_run "$contender" "$phase" 110000)
        if [ -z "$few" ] || [ -z "$many" ]; then
            missing="$missing $phase-instructions:$contender"
            continue
        fi
        a_step=$(awk "BEGIN { printf \"%.1f\", ($many - $few) / 100000 }")
        [ "$contender" != none ] || none_step=$a_step
        echo "$a_step" >"$work/$phase.$contender.steps"
        emit "$phase-instructions" "$contender" "a_step=$a_step" \
            "added=$(awk "BEGIN { printf \"%.1f\", $a_step - $none_step }")"
    done
}

measure_instructions() {
    if ! command -v valgrind >/dev/null 2>&1; then
        missing="$missing instructions:valgrind"
        return
    fi
    count_instructions pairs empty memtop-off memtop-usable memtop-events memusage
    count_instructions growth empty memtop-off memtop-usable memusage
    count_instructions churn1024 empty memtop-off memtop-usable memusage
}

# The cost of writing events in addition to counting, while the rings have room: at most
# 40 ns and 60 instructions a pair.
events_over_counting() {
    for phase in pairs pairs-2-threads; do
        [ -s "$work/$phase.memtop-events.result" ] || continue
        # shellcheck disable=SC2046 # words
        emit events-over-counting "$phase" $(cat "$work/$phase.memtop.result" \
            "$work/$phase.memtop-events.result" "$work/pairs.memtop-off.steps" \
            "$work/pairs.memtop-events.steps" 2>/dev/null | awk '
                { best[NR] = $1; median[NR] = $2 }
                END { printf "ns=%.1f median_ns=%.1f", best[2] - best[1], median[2] - median[1]
                    if (NR == 4)
                        printf " instructions=%.0f", best[4] - best[3] }')
    done
}

# memtop's side: the number of million events a second that it takes out of rings, puts in
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

# Both sides at the same time: the mean, including the time of waiting.
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
                    "$build/bench/load" pairs $threads ms 300 2>/dev/null ;;
                memtop-log) MALLOC_LOG=$MEMTOP_DIR/dat LD_PRELOAD=$memtop \
                    "$build/bench/load" pairs $threads ms 300 ;;
                memusage) memusage -d "$MEMTOP_DIR/dat" \
                    "$build/bench/load" pairs $threads ms 300 2>/dev/null ;;
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

# Its display on a terminal of 60 rows and 200 columns, with ten pictures a second.
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

load_average() { cut -d' ' -f1-3 /proc/loadavg; }

[ $json = yes ] || echo "$rounds rounds, load average $(load_average)"
printf '%s' "$phases" | awk NF >"$work/phases"
measure_phases
! is_chosen instructions || measure_instructions
events_over_counting
! is_chosen drainer || measure_drainer
! is_chosen sustained || sustained
! is_chosen display || measure_display
show_ratios
if [ $json = yes ]; then
    printf '{"group":"run","missing":"%s","disturbed":%d,"load_average":"%s"}\n' \
        "${missing# }" $disturbed "$(load_average)"
else
    [ -z "$missing" ] || printf '\nnot measured:%s\n' "$missing"
    [ $disturbed = 0 ] ||
        printf '\n%d runs of two threads were disturbed: other programs took their processors\n' \
            $disturbed
    printf '\nload average %s\n' "$(load_average)"
fi
if is_chosen traces; then
    if [ $json = yes ]; then set -- --json; else set --; fi
    "$(dirname "$0")/trace.sh" "$build" "$@"
fi

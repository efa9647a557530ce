#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# trace.sh BUILDDIR [--json]
#
# Measures traces of real programs: bytes an event, how fast they are read and written, and
# the wall and processor time while every call is recorded, including the recorder's time.
# The recorders are memtop --record, memtop -d, memusage -d and heaptrack.  The best of three
# runs counts.  Programs that are not installed are left out.

build=${1:?usage: trace.sh BUILDDIR [--json]}
json=no
case " $* " in *" --json "*) json=yes ;; esac
work=$(mktemp -d /dev/shm/memtop-bench-XXXXXX) || exit 1
export MEMTOP_DIR="$work/segments"
mkdir -m 700 "$MEMTOP_DIR"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cd "$work" || exit 1

cat >work.py <<'END'
import json, re, collections
data = {i: {'a': list(range(i % 7)), 's': str(i) * 3} for i in range(100000)}
text = json.dumps(data)
json.loads(text)
collections.Counter(re.findall(r'\w+', text))
END
cat >work.sql <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x < 100000)
insert into t select x, hex(randomblob(20)) from c;
create index i on t(b);
select count(*) from t a join t b on a.b = b.b;
update t set b = b || 'x' where a % 3 = 0;
delete from t where a % 2;
END
for i in $(seq 400); do
    echo "struct s$i { int a[$i]; struct s$i *next; }; static inline int f$i(struct s$i *s)" \
        "{ int sum = 0; for (int i = 0; i < $i; i++) sum += s->a[i] * $i; return sum; }" \
        "int g$i(struct s$i *s) { return s->next ? f$i(s->next) + f$i(s) : f$i(s); }"
done >work.c

# python3 may be a script that starts the real one.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)

# run PROGRAM WRAPPER...: runs one of the programs.
run() {
    program=$1
    shift
    case $program in
    python3) "$@" "$python" work.py ;;
    python3-malloc) PYTHONMALLOC=malloc "$@" "$python" work.py ;;
    git) "$@" git -C "$repository" log --stat -100 ;;
    sqlite3) "$@" sqlite3 :memory: '.read work.sql' ;;
    clang) "$@" clang -cc1 -O2 -emit-obj -o /dev/null work.c ;;
    esac >out 2>&1
}

# best PROGRAM WRAPPER...: seconds of wall and processor time, the best of three.
best() {
    for _ in 1 2 3; do
        rm -f record record.* heaptrack.*
        begin=$(date +%s%N)
        (run "$@" && times) >spent || return
        tail -n 1 spent | tr 'ms' '  ' |
            awk -v ns=$(($(date +%s%N) - begin)) '{ print ns, $1 * 60 + $2 + $3 * 60 + $4 }'
    done | awk 'NR == 1 || $1 < wall { wall = $1 } NR == 1 || $2 < cpu { cpu = $2 }
        END { if (NR > 0) printf "%.2f %.2f", wall / 1e9, cpu }'
}

size() {
    cat "$@" 2>/dev/null | wc -c
}

# emit PROGRAM RECORDER "SECONDS CPU" BYTES EVENTS [READ WRITTEN]
emit() {
    [ -n "$3" ] || return
    wall=${3% *}
    cpu=${3#* }
    each=$(awk "BEGIN { if ($5 > 0) printf \"%.2f\", $4 / $5 }")
    if [ $json = yes ]; then
        printf '{"group":"trace","program":"%s","recorder":"%s","seconds":%s,"cpu":%s' "$1" "$2" "$wall" "$cpu"
        [ -z "$each" ] || printf ',"events":%s,"bytes_an_event":%s' "$5" "$each"
        [ $# -lt 7 ] || printf ',"read":%s,"written":%s' "$6" "$7"
        printf '}\n'
    else
        printf '  %-15s %-14s %8s %8s %10s %8s %8s %8s\n' "$1" "$2" "$wall" "$cpu" \
            "${5#0}" "$each" "${6-}" "${7-}"
    fi
}

[ $json = yes ] || printf '\ntraces (best of three; read and written in million events a second)\n  %-15s %-14s %8s %8s %10s %8s %8s %8s\n' \
    program recorder seconds cpu events bytes/ev read written
repository=$(dirname "$0")/..
repository=$(cd "$OLDPWD" && cd "$repository" && pwd)
for program in python3 python3-malloc git sqlite3 clang; do
    seconds=$(best $program env)
    [ -n "$seconds" ] || continue
    emit $program none "$seconds" 0 0
    seconds=$(best $program "$build/memtop" -B -q --record=record)
    # shellcheck disable=SC2046 # three words
    set -- $("$build/bench/trace" record)
    [ $# = 3 ] || continue
    emit $program memtop--record "$seconds" "$(size record)" "$1" "$2" "$3"
    seconds=$(best $program "$build/memtop" -B -q -d record)
    emit $program memtop-d "$seconds" "$(size record*)" $(($(size record*) / 24))
    if command -v memusage >/dev/null 2>&1; then
        seconds=$(best $program memusage -d record)
        emit $program memusage-d "$seconds" "$(size record)" $(($(size record) / 24))
    fi
    if command -v heaptrack >/dev/null 2>&1; then
        seconds=$(best $program heaptrack --raw)
        emit $program heaptrack "$seconds" "$(size heaptrack.*)" "$1"
    fi
done

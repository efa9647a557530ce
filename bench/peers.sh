#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# peers.sh BUILDDIR [PROGRAM [ARG]...]          (make peers)
#
# Runs a real program under memtop, memusage, heaptrack and massif, and prints the seconds
# of CPU time of all processes that take part, since other work on the machine changes CPU
# time least.  The least of three runs counts.  Tools that are not installed are left out.
# Without PROGRAM, Python parses and prints JSON, with every object from malloc.  PROGRAM
# must be the program that allocates, not a script: massif and heaptrack do not follow
# children.
build=$(realpath "${1:?usage: peers.sh BUILDDIR [PROGRAM [ARG]...]}")
shift
export PYTHONMALLOC=malloc
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if [ $# = 0 ]; then # heaptrack splits arguments, so the program is in a file
    mkdir "$work/program"
    cat >"$work/program/example.py" <<'END'
import json
text = json.dumps([{"n": i, "of": [str(i + j) for j in range(8)]} for i in range(10000)])
for _ in range(3):
    json.dumps(json.loads(text))
END
    set -- "$(python3 -c 'import sys; print(sys.executable)')" "$work/program/example.py"
fi
cd "$work" || exit 1
export LC_ALL=C TIMEFORMAT='%U %S'

# under TOOL COMMAND...
under() {
    tool=$1
    shift
    case $tool in
    none) "$@" ;;
    memtop) "$build/memtop" -Bq "$@" ;;
    memtop-d) "$build/memtop" -Bq -d "$work/memtop.dat" "$@" ;;
    memusage) memusage "$@" ;;
    heaptrack) heaptrack -o "$work/heaptrack" "$@" ;;
    massif) valgrind -q --tool=massif --massif-out-file="$work/massif" "$@" ;;
    esac
}

for tool in none memtop memtop-d memusage heaptrack massif; do
    case $tool in
    memusage | heaptrack) command -v $tool >/dev/null || continue ;;
    massif) command -v valgrind >/dev/null || continue ;;
    esac
    least=$(for _ in 1 2 3; do
        rm -f "$work"/* 2>/dev/null
        { time under "$tool" "$@" >/dev/null 2>&1 </dev/null; } 2>&1
    done | awk '{ print $1 + $2 }' | sort -n | head -n 1)
    : "${alone:=$least}"
    awk -v tool=$tool -v least="$least" -v alone="$alone" 'BEGIN {
        printf "%-10s %7.2f s of CPU, x%.2f\n", tool, least, least / alone }'
done

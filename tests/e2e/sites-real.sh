#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Allocation sites of real programs: the first one is the function known to hold most
# memory, with about the right size.
. "$(dirname "$0")/common.sh"

# top FILE: the first row after the report's heading; its size in MiB is first.
top() {
    sed -n '/at peak .* call stack$/{n;p;q;}' "$1"
}

# about MIB PERCENT: is the row's size about that?
about() {
    awk -v e="$1" -v p="$2" '{
        exit !($2 == "MiB" && $1 > e * (1 - p / 100) && $1 < e * (1 + p / 100)) }' row
}

# has SYMBOL PROGRAM [LIBRARY]: does the program, or its library of that name, have the
# symbol?
has() {
    {
        echo "$2"
        ldd "$2" | sed -n "s/.*=> \(.*${3:-none of these}[^ ]*\) .*/\1/p"
    } | xargs grep -qs "$1"
}
tried=false

# --- python3, which keeps 20,000 blocks of 1,001 bytes and frees others ---
# The name in the PATH may be a script that starts the real one.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -n "$python" ] && has _PyEval_EvalFrameDefault "$python" libpython; then
    tried=true
    cat >keep.py <<'END'
kept = []
for i in range(20000):
    kept.append(bytearray(1000))
    bytes(2000)
END
    PYTHONMALLOC=malloc
    export PYTHONMALLOC
    # At 16K about one of 1,200 blocks is sampled: a standard error of 3 percent.
    for case in 1/5 16K/25; do
        run 0 -B --sites="${case%/*}" --sites-top=2 "$python" keep.py
        top err >row
        grep -q '  <module> (keep.py:3)' row || fail "python3, ${case%/*}: $(cat err)"
        about 19.1 "${case#*/}" || fail "python3, ${case%/*}: not 19.1 MiB: $(cat err)"
    done
    unset PYTHONMALLOC
else
    echo "skipped: no python3 with symbols"
fi

# --- redis-server with a list of 60,000 times 100 bytes ---
redis() {
    redis-cli -s "$work/redis.sock" "$@" 2>/dev/null
}

answers() {
    [ "$(redis ping)" = PONG ]
}
server=$(command -v redis-server)
if [ -n "$server" ] && command -v redis-cli >/dev/null && has pushGenericCommand "$server"; then
    tried=true
    # A standard error of 3 percent.  A block counts with its requested or its usable
    # size: 5.2 or 5.9 MiB together.
    "$memtop" -B --sites=4K --sites-top=2 redis-server --port 0 --save '' \
        --unixsocket "$work/redis.sock" >report 2>&1 &
    observed=$!
    await answers
    redis eval "for i = 1, 60000 do redis.call('rpush', 'list', string.rep('x', 100)) end" 0
    [ "$(redis llen list)" = 60000 ] || fail "no list of 60000"
    redis shutdown nosave || kill "$observed"
    wait "$observed"
    top report >row
    grep -q 'pushGenericCommand .*<' row || fail "redis: $(cat report)"
    about 5.6 30 || fail "redis: not about 5.6 MiB: $(cat report)"
else
    echo "skipped: no redis-server with symbols"
fi

$tried || skip "neither python3 nor redis-server has symbols"
finish

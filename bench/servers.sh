#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# servers.sh BUILDDIR [SERVER...]
#
# Real servers under real load, on the loopback: throughput without and with memtop
# in turn, ROUNDS pairs (default 5) of SECONDS (default 2) each, and the median of
# the pairs' ratios, so that other work on the machine does little harm.  Then, from
# the last run, what memtop saw beside what the system and the server itself say.
#
#   server    what is loaded
#   plain, watched   requests (transactions) a second, medians
#   ratio     median of watched/plain of each pair, (least, greatest)
#   cpu       processor time of server and memtop for a request, watched/plain: the
#             figure to believe on a machine that is busy with other things
#   heap rss own     bytes under load: memtop's heap, resident memory, and the
#             server's own account of its heap, of the process that memtop started
#   children  seen by memtop
#   unmatched frees of blocks that memtop did not see being made
#   end       the server's exit status, "same" with and without memtop
#
# What is not installed is skipped, visibly.  Status 1 if an end differed or a free
# was unmatched.

build=${1:?usage: servers.sh BUILDDIR [SERVER...]}
build=$(cd "$build" && pwd) || exit 1
shift
servers=${*:-redis nginx postgres memcached python node}
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-2}
memtop=$build/memtop
work=$(mktemp -d) || exit 1
chmod 1777 "$work" # postgres does not run as root
segments=$(mktemp -d /dev/shm/memtop-servers-XXXXXX) || exit 1
MEMTOP_DIR=$segments/root
mkdir -m 700 "$MEMTOP_DIR"
export MEMTOP_DIR LC_ALL=C
port=$((20000 + $$ % 9000)) # below those that the kernel gives to clients
pid=
bad=0

cleanup() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null
    rm -rf "$work" "$segments"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

needs() {
    for command; do
        if ! command -v "$command" >/dev/null 2>&1 && [ ! -x "$command" ]; then
            printf '%-10s skipped: %s is not here\n' "$server" "$command"
            return 1
        fi
    done
}

# Waits until a command succeeds, ten seconds at most.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || { echo "in vain: $*" >&2; return 1; }
        sleep 0.02
    done
}

# A connection to the port is accepted.
listens() {
    perl -MIO::Socket::INET -e \
        'exit(IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) ? 0 : 1)' $port
}

wrk_rate() {
    wrk -t1 -c16 -d"$seconds"s "http://127.0.0.1:$port$1" |
        awk '/Requests\/sec/ { print $2 }'
}

# timed COMMAND...: runs it; SIGTERM is passed on; processor time lands in the file
# that $cpu names.
timed() {
    "$@" &
    timed_pid=$!
    trap 'kill -TERM $timed_pid' TERM
    wait $timed_pid
    timed_status=$?
    while kill -0 $timed_pid 2>/dev/null; do
        wait $timed_pid
        timed_status=$?
    done
    # The second line is that of the children: user and system, 0m1.23s.
    times >"$cpu.times"
    sed -n 's/[ms]/ /g; 2p' "$cpu.times" | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }' >"$cpu"
    exit $timed_status
}

# --- One server each: SERVER_start (sets pid; $M is memtop or nothing), _load (prints
# --- a rate), _own (prints bytes or -), _stop

redis_start() {
    timed $M redis-server --port $port --bind 127.0.0.1 --save "" --appendonly no \
        --dir "$work" --logfile "$work/redis.log" >/dev/null &
    pid=$!
    await redis-cli -p $port ping
}
redis_load() {
    redis-benchmark -p $port -n $((seconds * 40000)) -c 16 -r 20000 -d 200 -q --csv -t set,get |
        awk -F'"' '$4 + 0 > 0 { sum += 1 / $4; n++ } END { print n / sum }'
}
redis_own() { redis-cli -p $port info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p'; }
redis_stop() { redis-cli -p $port shutdown nosave >/dev/null 2>&1; }

nginx_start() {
    mkdir -p "$work/www" "$work/logs"
    seq 2000 >"$work/www/numbers"
    cat >"$work/nginx.conf" <<END
daemon off; worker_processes 2; pid $work/nginx.pid; error_log $work/logs/e;
events { worker_connections 64; }
http { access_log off; client_body_temp_path $work/c; proxy_temp_path $work/p;
    fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
    gzip on; gzip_types *; server { listen 127.0.0.1:$port; root $work/www; } }
END
    timed $M nginx -p "$work/" -c "$work/nginx.conf" -e "$work/logs/e" &
    pid=$!
    await listens
}
nginx_load() { wrk_rate /numbers; }
nginx_own() { echo -; }
nginx_stop() { kill -QUIT "$(cat "$work/nginx.pid")"; }

# Not as root; so with a directory for segments of that user's.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u postgres -- env MEMTOP_DIR="$segments/postgres" "$@"
    else
        "$@"
    fi
}
postgres_prepare() {
    data=$work/postgres/data
    mkdir -p "$work/postgres" "$segments/postgres"
    chmod 711 "$segments"
    chmod 700 "$segments/postgres"
    [ "$(id -u)" != 0 ] || chown postgres "$work/postgres" "$segments/postgres"
    (cd / && as_postgres "$pg/initdb" -D "$data" -A trust -U postgres >/dev/null &&
        as_postgres sh -c "printf '%s\n' \"listen_addresses = '127.0.0.1'\" \
            \"unix_socket_directories = ''\" 'fsync = off' >>$data/postgresql.conf") || return 1
}
postgres_start() {
    [ -d "$work/postgres" ] || postgres_prepare || return 1
    # shellcheck disable=SC2086
    timed as_postgres $M "$pg/postgres" -D "$data" -p $port >"$work/postgres.log" 2>&1 &
    pid=$!
    await pg_isready -h 127.0.0.1 -p $port || return 1
    [ -e "$work/postgres/filled" ] ||
        pgbench -h 127.0.0.1 -p $port -U postgres -i -s 2 -q postgres >/dev/null 2>&1
    : >"$work/postgres/filled"
}
postgres_load() {
    # New connections all the time: a process each.
    pgbench -h 127.0.0.1 -p $port -U postgres -n -S -c 4 -T "$seconds" postgres 2>/dev/null |
        awk '/^tps/ { print $3 }'
}
postgres_own() { echo -; }
postgres_stop() { kill -INT "$(head -n 1 "$data/postmaster.pid")"; }

memcached_start() {
    timed $M memcached -l 127.0.0.1 -p $port -U 0 -u "$(id -un)" -t 4 &
    pid=$!
    await listens
}
memcached_load() {
    memcaslap -s 127.0.0.1:$port -T 1 -c 16 -t "$seconds"s 2>/dev/null |
        sed -n 's/.*TPS: \([0-9]*\).*/\1/p' | tail -n 1
}
memcached_own() { echo -; }
memcached_stop() { kill -TERM "$pid"; }

python_start() {
    mkdir -p "$work/www"
    seq 2000 >"$work/www/numbers"
    timed env PYTHONMALLOC=malloc $M python3 -m http.server --bind 127.0.0.1 --directory "$work/www" \
        $port >/dev/null 2>&1 &
    pid=$!
    await listens
}
python_load() { wrk_rate /numbers; }
python_own() { echo -; }
python_stop() { kill -TERM "$pid"; }

node_start() {
    timed $M node -e '
        const http = require("http");
        const server = http.createServer((request, response) =>
            response.end(JSON.stringify({url: request.url, list: Array(50).fill("x")})));
        server.listen(+process.argv[1], "127.0.0.1");
        process.on("SIGTERM", () => process.exit(3));' $port &
    pid=$!
    await listens
}
node_load() { wrk_rate /; }
node_own() { echo -; }
node_stop() { kill -TERM "$pid"; }

# --- Runs ---

# run SERVER NAME: its rate lands in NAME.rates, its end in NAME.status.
run() {
    cpu=$work/cpu
    "$1_start" || { bad=1; return 1; }
    "$1_load" >"$work/rate"
    cat "$work/rate" >>"$work/$2.rates"
    own=$("$1_own")
    "$1_stop"
    wait $pid
    echo $? >"$work/$2.status"
    pid=
    paste "$cpu" "$work/rate" | awk '{ print $1 / $2 }' >>"$work/$2.costs"
    port=$((port + 1)) # the old one may linger
}

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' "$2" | tail -n 1; }

measure() {
    rm -rf "$work"/*.rates "$work"/*.costs "$work"/*.status
    for round in $(seq "$rounds"); do
        for name in $([ $((round % 2)) = 0 ] && echo "plain watched" || echo "watched plain"); do
            M=
            [ "$name" = plain ] || M="$memtop -B -i 0.2 --format=json -o $work/json.$round --"
            run "$server" "$name" || return
            [ "$name" = plain ] || own_watched=$own
        done
    done
    show
}

show() {
    paste "$work/plain.costs" "$work/watched.costs" | awk '{ print $2 / $1 }' >"$work/costs"
    paste "$work/plain.rates" "$work/watched.rates" | awk '{ print $2 / $1 }' >"$work/ratios"
    json=$work/json.$rounds
    grep '"type":"sample"' "$json" >"$work/samples"
    unmatched=$(field unmatched "$json")
    end=same:$(cat "$work/watched.status")
    cmp -s "$work/plain.status" "$work/watched.status" || end=DIFFERS
    { [ "$end" != DIFFERS ] && [ "$unmatched" = 0 ]; } || bad=1
    printf '%-10s %9.0f %9.0f  %.2f (%.2f, %.2f) %5.2f %9s %9s %9s %8s %9s  %s\n' "$server" \
        "$(median "$work/plain.rates")" "$(median "$work/watched.rates")" \
        "$(median "$work/ratios")" "$(sort -g "$work/ratios" | head -n 1)" \
        "$(sort -g "$work/ratios" | tail -n 1)" "$(median "$work/costs")" \
        "$(field heap "$work/samples")" "$(field rss "$work/samples")" "$own_watched" \
        "$(field children_seen "$json")" "$unmatched" "$end"
    rm -f "$work"/json.*
}

printf '%s pairs of %s s, load average %s\n' "$rounds" "$seconds" "$(cut -d' ' -f1-3 /proc/loadavg)"
printf '%-10s %9s %9s  %-18s %5s %9s %9s %9s %8s %9s  %s\n' server plain watched 'ratio (least, most)' \
    cpu heap rss own children unmatched end
for server in $servers; do
    case $server in
    redis) needs redis-server redis-cli redis-benchmark || continue ;;
    nginx) needs nginx wrk perl || continue ;;
    postgres)
        pg=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)")
        needs "$pg/postgres" pgbench pg_isready runuser || continue ;;
    memcached) needs memcached memcaslap perl || continue ;;
    python) needs python3 wrk perl || continue ;;
    node) needs node wrk perl || continue ;;
    *) echo "no such server: $server" >&2; exit 2 ;;
    esac
    measure
done
printf 'load average %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
exit $bad

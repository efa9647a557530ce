#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# servers.sh BUILDDIR [SERVER...]
#
# Runs real servers under real load, on the loopback.  A round runs a server without
# memtop, with memtop, and without it again, for SECONDS_EACH (default 2) each; there are
# ROUNDS rounds (default 11).  Because the runs take turns, other work on the machine
# disturbs both alike, and the difference of the two runs without memtop is the noise.
#
#   server    the server under load
#   rate      requests (transactions) a second without memtop, median
#   watched   with memtop: median of the rounds' ratios [the interval in which the true
#             median lies with at least 95 %]
#   again     the same ratio of the second run without memtop: its distance from 1 is noise
#   cpu       processor time of server and memtop for a request under load, as a ratio like
#             those above; this is the most reliable one on a busy machine
#   calls     of malloc, free and the like for a request, as memtop counts them; without
#             those of processes that end with the load (postgres)
#   children  alive under load: how many memtop lists of those that pgrep lists
#   unmatched frees of blocks whose allocation memtop did not see
#   end       the server's exit status, "same" with and without memtop
#
# Then it prints what memtop says when the load is over, beside what others say about the
# same process at the same time, all in bytes:
#
#   heap      requested (redis: usable), live
#   occupied  usable sizes and the 8 bytes before each block
#   malloc_info  what is in use according to glibc's own malloc_info(), read with gdb; it
#             includes what threads keep for themselves (tcache).  "-" if it could not be
#             read (a line says so), or if nothing is in use because malloc is not glibc's
#             (redis: jemalloc)
#   own       the server's own account
#
# A line says so if a server is not installed and therefore skipped.  Status 1 if an end
# differed, a free was unmatched, or a child was not seen.

build=${1:?usage: servers.sh BUILDDIR [SERVER...]}
build=$(cd "$build" && pwd) || exit 1
shift
servers=${*:-redis nginx postgres memcached python node}
rounds=${ROUNDS:-11}
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
        [ $tries -lt 500 ] || { echo "gave up waiting: $*" >&2; return 1; }
        sleep 0.02
    done
}

# Succeeds if a connection to the port is accepted.
listens() {
    perl -MIO::Socket::INET -e \
        'exit(IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) ? 0 : 1)' $port
}

wrk_rate() {
    wrk -t1 -c16 -d"$seconds"s "http://127.0.0.1:$port$1" |
        awk '/requests in/ { all = $1 } /Requests\/sec/ { print $2, all }'
}

# Processor time that $pid and all below it have used, in ticks.
ticks() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v root="$pid" '
        {
            pid = $1
            sub(/^.*\) /, "") # a name may hold blanks
            parent[pid] = $2
            used[pid] = $12 + $13 + $14 + $15
        }
        END {
            for (pid in used) {
                at = pid
                for (steps = 0; at != root && at > 1 && steps < 64; steps++)
                    at = parent[at]
                if (at == root)
                    sum += used[pid]
            }
            print sum + 0
        }'
}

# --- What memtop says: the file of --metrics

# figure NAME PID
figure() { sed -n "s/^memtop_$1{pid=\"$2\",.*} //p" "$work/figures" | head -n 1; }

# Pids, the program's own first.
processes() { sed -n 's/^memtop_up{pid="\([0-9]*\)".*/\1/p' "$work/figures"; }

root() { processes | head -n 1; }

# Waits until the file has been written twice: then everything in it is newer than now.
settle() {
    for _ in 1 2; do
        before=$(stat -c %Y%y "$work/figures")
        changed() { [ "$(stat -c %Y%y "$work/figures")" != "$before" ]; }
        await changed
    done
}

# Prints the bytes in use by glibc's own account: those from the system less the free ones.
malloc_info() {
    rm -f "$work/info"
    cat >"$work/commands" <<END
set \$out = ((void *(*)(const char *, const char *))fopen)("$work/info", "w")
if \$out == 0
    echo fopen(3) failed\n
else
    call ((int (*)(int, void *))malloc_info)(0, \$out)
    call ((int (*)(void *))fclose)(\$out)
end
END
    # The server is idle, so no thread holds a lock of malloc; if one does, this waits.
    timeout 30 gdb -nx -batch -p "$1" -x "$work/commands" >"$work/gdb" 2>&1
    if [ ! -s "$work/info" ]; then
        { echo "no malloc_info of $server ($1):"; sed 's/^/    /' "$work/gdb"; } >&2
        echo -
        return
    fi
    # The totals of all heaps come last.
    tr '>' '\n' <"$work/info" | awk -F'"' '
        /^ *<heap|^ *<.heap/ { inside = /<heap/ }
        inside { next }
        /total type="(fast|rest)"/ { free += $6 }
        /total type="mmap"/ { mapped = $6 }
        /system type="current"/ { system_bytes = $4 }
        END { all = system_bytes + mapped; print (all ? all - free : "-") }'
}

# --- One server each: SERVER_start (sets pid; $M is memtop or nothing), _load (prints
# --- a rate and how many requests there were), _own (prints a pid, bytes or -, and what they are), _stop

redis_start() {
    $M redis-server --port $port --bind 127.0.0.1 --save "" --appendonly no \
        --dir "$work" --logfile "$work/redis.log" >/dev/null &
    pid=$!
    await redis-cli -p $port ping
}
redis_load() {
    redis-benchmark -p $port -n $((seconds * 40000)) -c 16 -r 20000 -d 200 -q --csv -t set,get |
        awk -F'"' '$4 + 0 > 0 { sum += 1 / $4; n++ }
            END { print n / sum, n * '$((seconds * 40000))' }'
}
redis_own() {
    redis-cli -p $port info memory |
        sed -n 's/^used_memory:\([0-9]*\).*/'"$(root)"' \1 INFO used_memory/p'
}
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
    $M nginx -p "$work/" -c "$work/nginx.conf" -e "$work/logs/e" &
    pid=$!
    await listens
}
nginx_load() { wrk_rate /numbers; }
nginx_own() { echo "$(processes | sed -n 2p) - (a worker)"; }
nginx_stop() { kill -QUIT "$(cat "$work/nginx.pid")"; }

# It does not run as root, so its user gets a directory for segments.
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
    as_postgres $M "$pg/postgres" -D "$data" -p $port >"$work/postgres.log" 2>&1 &
    pid=$!
    await pg_isready -h 127.0.0.1 -p $port || return 1
    [ -e "$work/postgres/filled" ] ||
        pgbench -h 127.0.0.1 -p $port -U postgres -i -s 2 -q postgres >/dev/null 2>&1
    : >"$work/postgres/filled"
}
postgres_load() {
    # The load makes new connections all the time; each has a process.
    pgbench -h 127.0.0.1 -p $port -U postgres -n -S -c 4 -T "$seconds" postgres 2>/dev/null |
        awk '/actually processed/ { all = $NF } /^tps/ { print $3, all }'
}
# Reads the figures of a connection of its own, which it keeps open meanwhile.
postgres_own() {
    rm -f "$work/asked"
    mkfifo "$work/asked"
    { echo 'select pg_backend_pid(), sum(total_bytes) from pg_backend_memory_contexts;'
      cat "$work/asked"; } |
        psql -h 127.0.0.1 -p $port -U postgres -Atq -F' ' postgres >"$work/answer" 2>&1 &
    exec 8>"$work/asked"
    await test -s "$work/answer"
    echo "$(cat "$work/answer") pg_backend_memory_contexts"
}
postgres_stop() { kill -INT "$(head -n 1 "$data/postmaster.pid")"; }

memcached_start() {
    $M memcached -l 127.0.0.1 -p $port -U 0 -u "$(id -un)" -t 4 &
    pid=$!
    await listens
}
memcached_load() {
    memcaslap -s 127.0.0.1:$port -T 1 -c 16 -t "$seconds"s 2>/dev/null |
        sed -n 's/.*Ops: \([0-9]*\).*TPS: \([0-9]*\).*/\2 \1/p' | tail -n 1
}
memcached_own() {
    perl -MIO::Socket::INET -e '
        my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]);
        my ($hash, $slabs) = (0, 0);
        print $s "stats\r\n";
        while (<$s>) { $hash = $1 if /hash_bytes (\d+)/; last if /^END/ }
        print $s "stats slabs\r\n";
        while (<$s>) { $slabs = $1 if /total_malloced (\d+)/; last if /^END/ }
        printf "%d %d stats: hash_bytes + total_malloced\n", $ARGV[1], $hash + $slabs' \
        $port "$(root)"
}
memcached_stop() { kill -TERM "$pid"; }

python_start() {
    mkdir -p "$work/www"
    seq 2000 >"$work/www/numbers"
    cat >"$work/server.py" <<'END'
import ctypes, http.server, os, sys
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost").split()]
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/memory":
            return super().do_GET()
        mallinfo2 = ctypes.CDLL(None).mallinfo2
        mallinfo2.restype = Info
        info = mallinfo2()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"%d %d mallinfo2()\n" % (os.getpid(), info.uordblks + info.hblkhd))
os.chdir(sys.argv[1])
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
END
    env PYTHONMALLOC=malloc $M "$python" "$work/server.py" "$work/www" $port >/dev/null 2>&1 &
    pid=$!
    await listens
}
python_load() { wrk_rate /numbers; }
python_own() { curl -s "http://127.0.0.1:$port/memory"; }
python_stop() { kill -TERM "$pid"; }

node_start() {
    $M node -e '
        const http = require("http");
        const own = () => {
            const memory = process.memoryUsage();
            return `${process.pid} ${memory.external} memoryUsage() external, ` +
                `beside heapTotal ${memory.heapTotal}\n`;
        };
        const server = http.createServer((request, response) =>
            response.end(request.url === "/memory" ? own()
                : JSON.stringify({url: request.url, list: Array(50).fill("x")})));
        server.listen(+process.argv[1], "127.0.0.1");
        process.on("SIGTERM", () => process.exit(3));' $port &
    pid=$!
    await listens
    wrk_rate / >/dev/null # otherwise its compiler would be measured
}
node_load() { wrk_rate /; }
node_own() { curl -s "http://127.0.0.1:$port/memory"; }
node_stop() { kill -TERM "$pid"; }

# --- Runs ---

# Waits for a moment under load at which memtop lists all processes of the program that
# pgrep finds; one look is not enough, because they come and go.  Prints "LISTED/FOUND".
compare_children() {
    for _ in $(seq 20); do
        sleep 0.1
        processes | sed 1d | sort >"$work/listed"
        pgrep -P "$(root)" | sort >"$work/found"
        cmp -s "$work/listed" "$work/found" && break
    done
    echo "$(comm -12 "$work/listed" "$work/found" | wc -l)/$(wc -l <"$work/found")"
}

# Calls for each request, of all living processes together.
count_calls() {
    awk '/^memtop_calls_total/ { sum += $NF } END { printf "%.0f\n", sum }' "$work/figures"
}

# After the load: prints the line of the second table for one process.
compare_memory() {
    "$server"_own >"$work/own"
    read -r process bytes what <"$work/own"
    settle
    occupied=$(($(figure heap_usable_bytes "$process") + 8 * $(figure heap_blocks "$process")))
    printf '%-10s %10s %10s %11s %10s %10s  %s\n' "$server" \
        "$(figure heap_bytes "$process")" "$occupied" "$(malloc_info "$process")" \
        "$(figure resident_bytes "$process")" "$bytes" "$what" >>"$work/memory"
    exec 8>&-
}

# run NAME: appends the rate to NAME.rates and writes the exit status to NAME.status.
run() {
    "${server}_start" || { bad=1; return 1; }
    if [ "$1" = watched ]; then
        await test -s "$work/figures"
        settle
        calls=$(count_calls)
        compare_children >"$work/children" &
        comparing=$!
    fi
    before=$(ticks)
    "${server}_load" >"$work/rate"
    read -r rate requests <"$work/rate"
    echo "$rate" >>"$work/$1.rates"
    echo "$(ticks) $before $requests" | awk '{ print ($1 - $2) / $3 }' >>"$work/$1.costs"
    if [ "$1" = watched ]; then
        wait $comparing
        settle
        echo "$(count_calls) $calls $requests" |
            awk '{ print ($1 - $2) / $3 }' >>"$work/calls"
        [ "$round" != "$rounds" ] || compare_memory
    fi
    "${server}_stop"
    wait $pid
    echo $? >"$work/$1.status"
    pid=
    port=$((port + 1)) # the old port may still be in use
}

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ratio KIND OVER UNDER: the median of OVER/UNDER, and the order statistics between which
# the true median lies with at least 95 %, by the binomial distribution.
ratio() {
    paste "$work/$3.$1" "$work/$2.$1" | awk '{ print $2 / $1 }' | sort -g | awk '
        { v[NR] = $1 }
        END {
            term = 2 ^ -NR
            for (k = 0; k < NR / 2; k++) {
                tail += term
                if (tail > 0.025)
                    break
                term *= (NR - k) / (k + 1)
            }
            if (k == 0) k = 1
            printf "%.3f [%.2f, %.2f]", v[int((NR + 1) / 2)], v[k], v[NR + 1 - k]
        }'
}

field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' "$2" | tail -n 1; }

measure() {
    rm -f "$work"/*.rates "$work"/*.costs "$work"/*.status "$work/calls"
    for round in $(seq "$rounds"); do
        names='plain watched again'
        [ $((round % 2)) = 1 ] || names='again watched plain'
        for name in $names; do
            M=
            rm -f "$work/figures"
            [ "$name" != watched ] || rm -f "$work/json"
            [ "$name" != watched ] ||
                M="$memtop -B -i 0.2 --metrics=$work/figures --format=json -o $work/json --"
            run "$name" || return
        done
    done
    show
}

show() {
    unmatched=$(field unmatched "$work/json")
    end=same:$(cat "$work/watched.status")
    cmp -s "$work/plain.status" "$work/watched.status" || end=DIFFERS
    children=$(cat "$work/children")
    { [ "$end" != DIFFERS ] && [ "$unmatched" = 0 ] && [ "${children%/*}" = "${children#*/}" ]; } ||
        bad=1
    printf '%-10s %8.0f  %s  %s  %s %6.1f %8s %9s  %s\n' "$server" \
        "$(median "$work/plain.rates")" "$(ratio rates watched plain)" \
        "$(ratio rates again plain)" "$(ratio costs watched plain)" \
        "$(median "$work/calls")" "$children" "$unmatched" "$end"
}

printf '%s rounds of %s s, load average %s\n' "$rounds" "$seconds" "$(cut -d' ' -f1-3 /proc/loadavg)"
printf '%-10s %8s  %-18s  %-18s  %-18s %6s %8s %9s  %s\n' server rate watched again cpu calls \
    children unmatched end
for server in $servers; do
    case $server in
    redis) needs redis-server redis-cli redis-benchmark || continue ;;
    nginx) needs nginx wrk perl || continue ;;
    postgres)
        pg=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)")
        needs "$pg/postgres" pgbench pg_isready psql runuser || continue ;;
    memcached) needs memcached memcaslap perl || continue ;;
    python)
        needs python3 wrk perl curl || continue
        python=$(python3 -c 'import sys; print(sys.executable)') ;;
    node) needs node wrk perl curl || continue ;;
    *) echo "no such server: $server" >&2; exit 2 ;;
    esac
    measure
done
printf 'load average %s\n\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
printf '%-10s %10s %10s %11s %10s %10s\n' server heap occupied malloc_info resident own
cat "$work/memory"
exit $bad

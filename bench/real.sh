#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# real.sh BUILDDIR [NAME...]
#
# Runs real programs with and without memtop -B and compares exit status and
# output, byte for byte; then prints what memtop saw of them.  One line for each program:
#
#   program  status output  heap-peak calls unmatched coverage children accounting
#
# status and output are "same", or say what differs; unmatched counts frees of blocks
# whose allocation memtop did not see; coverage is the heap in per cent of anonymous
# memory.  A line says so if a program is not installed and therefore skipped.  With NAMEs
# only these run.  Status 1 if anything differed or a free was unmatched.

build=${1:?usage: real.sh BUILDDIR [NAME...]}
shift
only=$*
memtop=$build/memtop
export harm=$build/bench/harm cxx=$build/bench/cxx
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
bad=0
export LC_ALL=C TZ=UTC

# --- Running twice ---

# A field of the last JSON line: a number or a word.
field() {
    sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' "$2" | tail -n 1
}

# The sum of the calls of all functions.
calls() {
    tail -n 1 "$1" | sed -n 's/.*"calls":{\([^}]*\)}.*/\1/p' | tr ',' '\n' |
        awk -F: '{ sum += $2 } END { print sum + 0 }'
}

# run WHERE MEMTOP SCRIPT: in an empty directory; MEMTOP may be empty.
run() {
    mkdir -p "$work/$1"
    (cd "$work/$1" && M=$2 timeout --foreground 120 sh -c "$3") \
        >"$work/$1.out" 2>"$work/$1.err" </dev/null
    echo $? >"$work/$1.status"
    rm -rf "${work:?}/$1"
}

same() {
    if [ -n "$3" ]; then
        sed -i "$3" "$work/plain.$1" "$work/watched.$1"
    fi
    cmp -s "$work/plain.$1" "$work/watched.$1"
}

selected() {
    [ -n "$only" ] || return 0
    case " $only " in *" $1 "*) return 0 ;; esac
    return 1
}

# program NAME SCRIPT [FILTER]: SCRIPT has $M before the program, which becomes memtop or
# nothing.  FILTER is a sed script that removes what may differ (pids, times).
program() {
    selected "$1" || return 0
    rm -f "$work"/json "$work"/watched.* "$work"/plain.*
    run plain "" "$2"
    run watched "$memtop -B -i 0.1 --format=json -o $work/json $options --" "$2"
    status=$(cat "$work/watched.status")
    expected=$(cat "$work/plain.status")
    if [ "$status" = "$expected" ]; then
        status=same:$status
    else
        status=$expected/$status
        bad=1
    fi
    output=same
    same out "" "$3" || output=stdout-DIFFERS
    same err "" "$3" || output=$output,stderr-DIFFERS
    if [ "$output" != same ]; then
        bad=1
        keep_difference "$1"
    fi
    show "$1" "$status" "$output"
}

keep_difference() {
    {
        printf '\n--- %s\n' "$1"
        diff "$work/plain.out" "$work/watched.out" | head -n 10
        diff "$work/plain.err" "$work/watched.err" | head -n 10
    } >>"$work/differences"
}

row() {
    printf '%-24s %-9s %-8s %11s %10s %9s %8s %8s %s\n' "$@"
}

show() {
    if [ ! -s "$work/json" ]; then
        row "$1" "$2" "$3" - - - - - "no report"
        return
    fi
    if [ "$(field measured "$work/json")" != true ]; then
        row "$1" "$2" "$3" - - - - "$(field children_seen "$work/json")" \
            "not measured: $(field why "$work/json")"
        return
    fi
    unmatched=$(field unmatched "$work/json")
    [ "$unmatched" = 0 ] || bad=1
    coverage=$(field coverage "$work/json")
    row "$1" "$2" "$3" "$(field peak "$work/json")" "$(calls "$work/json")" \
        "$unmatched" "${coverage:--}" "$(field children_seen "$work/json")" \
        "$(field accounting "$work/json")"
}

# needs NAME COMMAND...: false, and prints a line, if a command is missing.
needs() {
    selected "$1" || return 1
    name=$1
    shift
    for command; do
        if ! command -v "$command" >/dev/null 2>&1 && [ ! -e "$command" ]; then
            row "$name" "skipped: $command is not here" "" "" "" "" "" "" ""
            return 1
        fi
    done
}

# --- Everyday programs ---

everyday() {
    program ls '$M ls -lR /usr/share'
    program sort '
        seq 200000 | awk "{ print (\$1 * 7919) % 200003 }" >numbers
        $M sort -n numbers | cksum'
    program grep '$M grep -rn "include" /usr/include/c++ | cksum'
    program find '$M find /usr/share /usr/include -name "*a*" -size +1k'
    needs bash bash && program bash '$M bash -c "
        for ((i = 0; i < 3000; i++)); do a[i]=\$((i * i)); s+=\${a[i]}; done
        echo \${#s}; for i in 1 2 3 4 5; do /bin/echo \$i | cat; done; exit 5"'
    needs dash dash && program dash '$M dash -c "
        i=0; while [ \$i -lt 2000 ]; do i=\$((i + 1)); s=\$s\$i; done
        echo \${#s}; echo \$(echo deep \$(echo deeper)); kill -9 \$\$"' /Killed/d
    needs git git && program git '
        export HOME=$PWD
        export GIT_AUTHOR_DATE="1000000000 +0000" GIT_COMMITTER_DATE="1000000000 +0000"
        git init -q . && seq 20000 >a && git add a
        git -c user.name=n -c user.email=e commit -qm one && seq 5 20003 >a
        $M git -c user.name=n -c user.email=e commit -qam two || exit
        git log --stat --no-color; git rev-parse HEAD; git fsck'
    needs git-gc git && program git-gc '
        export HOME=$PWD; git init -q .; seq 50000 >a; git add a; seq 9 50000 >a; git add a
        $M git gc -q --prune=now; git count-objects -v; git fsck'
    needs perl perl && program perl '$M perl -e "
        for (1..200000) { \$h{\$_ % 9973} .= chr(65 + \$_ % 26) }
        print join(\",\", map { length } @h{1..50}), \"\n\"; die \"dead\n\""'
    needs openssl openssl && program openssl '
        seq 100000 >f; $M openssl enc -aes-128-cbc -pbkdf2 -pass pass:word -nosalt -in f | cksum'
    # It puts its helper processes into sandboxes, whose filters kill.
    needs man man groff && program man 'MANWIDTH=80 $M man man | cat'
    needs xz xz && program xz-T2 'seq 700000 >f; $M xz -T2 --block-size=1MiB -c f | xz -dc | cksum'
}

# --- Languages ---

languages() {
    script='import json,sys,threading,subprocess
d = {str(i): [i] * (i % 50) for i in range(20000)}
s = json.dumps(d); print(len(s), json.loads(s) == d)
t = [threading.Thread(target=lambda: sorted(d)) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(subprocess.run(["echo", "child"], capture_output=True).stdout)
sys.exit(3)'
    export script
    if needs python3 python3; then
        program python3 '$M python3 -c "$script"'
        program python3-malloc 'PYTHONMALLOC=malloc $M python3 -c "$script"'
    fi
    if needs node node; then
        program node '$M node -e "
            const a = []; for (let i = 0; i < 200000; i++) a.push({i, s: String(i)});
            const b = Buffer.alloc(1 << 24, 7);
            console.log(a.length, require(\"zlib\").gzipSync(b).length);
            require(\"fs\").readFile(\"/etc/passwd\", (e, d) => process.exit(d.length % 100));"'
    fi
    cat >"$work/long.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define F(n) int f##n(int x) { char b[64]; snprintf(b, 64, "%d", x + n); return (int)strlen(b); }
#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define H(n) G(n##0) G(n##1) G(n##2) G(n##3) G(n##4) G(n##5) G(n##6) G(n##7)
H(1) H(2) H(3) H(4)
int main(void) { printf("%d\n", f100(5)); return 0; }
END
    export work
    for compiler in gcc clang; do
        needs $compiler $compiler &&
            program $compiler '$M '$compiler' -O2 -Wall -o long "$work/long.c" && cksum <long && ./long'
    done
    needs sqlite3 sqlite3 && program sqlite3 '$M sqlite3 db "
        create table t(a integer primary key, b text);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 50000)
            insert into t select x, hex(x * x) from c;
        create index i on t(b); select count(*), max(b) from t;
        select a from t order by b limit 5;"; cksum <db'
    if needs gdb gdb gcc; then
        cat >"$work/debugged.c" <<'END'
#include <stdlib.h>
int main(void)
{
    char *p = malloc(100);
    p[0] = 1;
    int first = p[0];
    free(p);
    return 3 + first;
}
END
        gcc -g -O0 -o "$work/debugged" "$work/debugged.c"
        program gdb '$M gdb --batch -nx -ex "break 6" -ex run -ex bt -ex next -ex "info locals" \
            -ex continue "$work/debugged"' 's/process [0-9]*/process N/; s/0x[0-9a-f]*/ADDRESS/g'
    fi
}

# --- Servers, on the loopback, each ended by its pid ---

servers() {
    port=$((20000 + $$ % 20000))
    export port
    if needs redis redis-server redis-cli redis-benchmark; then
        program redis '
            $M redis-server --port $port --bind 127.0.0.1 --save "" --appendonly no \
                --logfile log --dir . & pid=$!
            i=0; until redis-cli -p $port ping >/dev/null 2>&1 || [ $i = 100 ]; do
                i=$((i + 1)); sleep 0.05; done
            redis-benchmark -p $port -n 5000 -q -t set,get,lpush,hset,mset >/dev/null
            redis-cli -p $port eval "
                for i = 1, 20000 do redis.call(\"set\", \"k\" .. i, string.rep(\"v\", i % 500)) end
                return redis.call(\"dbsize\")" 0
            redis-cli -p $port --no-raw get k499
            redis-cli -p $port bgsave
            sleep 0.5
            redis-cli -p $port info memory >"$work/redis-memory"
            redis-cli -p $port shutdown nosave
            wait $pid'
    fi
    if needs nginx nginx curl; then
        program nginx '
            mkdir logs www; seq 100000 >www/numbers
            printf "%s" "daemon off; worker_processes 2; pid nginx.pid; error_log logs/e;
                events { worker_connections 64; }
                http { access_log off; client_body_temp_path c; proxy_temp_path p;
                    fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; gzip on;
                    gzip_types *; server { listen 127.0.0.1:$port; root www; } }" >nginx.conf
            chmod -R a+rX . ; chmod a+x "$work"
            $M nginx -p "$PWD/" -c nginx.conf -e logs/e & pid=$!
            i=0; until curl -sf http://127.0.0.1:$port/numbers -o /dev/null || [ $i = 100 ]; do
                i=$((i + 1)); sleep 0.05; done
            for i in 1 2 3 4 5 6 7 8; do
                curl -s --compressed http://127.0.0.1:$port/numbers | cksum; done
            curl -s -o /dev/null -w "%{http_code}\n" http://127.0.0.1:$port/none
            kill -QUIT $(cat nginx.pid); wait $pid'
    fi
}

# --- Other allocators ---

# with_allocator NAME FILE...: runs the C++ program under the first FILE that exists.
with_allocator() {
    name=$1
    # mimalloc's operator new aborts when there is no memory.
    [ "$name" = mimalloc ] && arguments=plenty || arguments=
    shift
    for library; do
        for path in /usr/lib/*/"$library" /usr/lib64/"$library"; do
            if [ -e "$path" ]; then
                export path
                program "c++-$name" 'LD_PRELOAD=$path $M "$cxx" '$arguments
                program "threads-$name" 'LD_PRELOAD=$path $M "$harm" destructors'
                return
            fi
        done
    done
    ! selected "c++-$name" || row "c++-$name" "skipped: $1 is not here" "" "" "" "" "" "" ""
}

allocators() {
    program c++-glibc '$M "$cxx"'
    with_allocator jemalloc libjemalloc.so.2
    with_allocator tcmalloc libtcmalloc_minimal.so.4
    with_allocator mimalloc libmimalloc.so.3 libmimalloc.so.2 libmimalloc.so.2.0
}

# --- Programs that are difficult for the library ---

harmful() {
    program destructors '$M "$harm" destructors'
    program handlers '$M "$harm" handlers'
    program forks '$M "$harm" forks'
    program threads-fork '$M "$harm" threads-fork'
    program main-returns-200x '
        i=0; while [ $i -lt 200 ]; do
            rm -f "$work/json"; $M "$harm" main-returns || exit; i=$((i + 1)); done'
}

limits() {
    program ulimit-f-outside 'ulimit -f 10; $M ls /usr'
    program ulimit-f-inside '$M sh -c "ulimit -f 10; exec ls /usr"'
    # With fewer than ten descriptors even sh cannot keep its script open; with three neither a program nor
    # memtop itself can load a library.
    program ulimit-n-outside 'ulimit -n 10; $M ls /usr'
    program ulimit-n-inside '$M dash -c "ulimit -n 3; echo hello; (echo child; exit 4)"'
    program ulimit-v 'ulimit -v 60000; $M ls /usr'
    if ! unshare -m true 2>/dev/null; then
        ! selected shm-full || row shm-full "skipped: no mount namespaces" "" "" "" "" "" "" ""
        return
    fi
    program shm-full 'unshare -m sh -c "mount -t tmpfs -o size=4k none /dev/shm &&
        head -c 4096 /dev/zero >/dev/shm/full && \$M ls -R /usr/share/doc/bash"'
    program shm-filling 'unshare -m sh -c "mount -t tmpfs -o size=700k none /dev/shm &&
        \$M \$harm destructors"'
    program shm-missing 'unshare -m sh -c "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
        \$M ls /usr"'
    program shm-read-only 'unshare -m sh -c "mount -t tmpfs -o ro none /dev/shm && \$M ls /usr"'
}

options=
row program status output heap-peak calls unmatched coverage children accounting
everyday
languages
servers
allocators
harmful
limits
[ ! -s "$work/differences" ] || cat "$work/differences"
exit $bad

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Allocation sites in a session file, and what other programs read from the exports.
programs=$PWD/tests/preload/programs
. "$(dirname "$0")/common.sh"
memtop=$scripted
tested=$scripted
LC_ALL=C.UTF-8
home=$HOME

cat >script <<'END'
program ./shop --till 3
pid 4711
0 heap=1M rss=2M
0 sites every=8 unwinder=1
500 site size=4K made=50 live=40 peak=45 gone.3=10 born=100 : row<int>::add(int)@row.cc:12 < main@prog.cc:7
500 site size=64 made=9000 live=10 peak=20 born=120 : scratch@prog.cc:30 < main@prog.cc:9
600 heap=3M
700 heap=1M exit=0
END
tested=$memtop
run 0 -B -q --source=script:script --save=shop.memtop --export=folded:shop.folded \
    --export=json:- --sites-mode=allocated
printf '%s\n' 'main;row<int>::add(int) 204800' 'main;scratch 576000' >expected
diff expected shop.folded || fail "folded: $(cat shop.folded)"
[ "$(grep -c '"type":"site"' out)" = 2 ] || fail "json: $(cat out)"
run 0 -B -q -r shop.memtop --export=folded:again.folded --sites-mode=allocated
diff shop.folded again.folded || fail "of the file other sites are exported"

# If nothing is live, that is reported, and where to find more.
cat >freed <<'END'
program ./shop --till 3
pid 4711
0 sites every=8 unwinder=1
500 site size=64 made=9 live=0 peak=2 born=120 : scratch@prog.cc:30 < main@prog.cc:9
700 exit=0
END
run 0 -B -q --source=script:freed --export=folded:freed.folded
[ ! -s freed.folded ] || fail "freed blocks are exported: $(cat freed.folded)"
says err 'no sampled block is alive, so nothing is exported'
run 0 -B -q --source=script:freed --export=folded:freed.peak --sites-mode=peak
says freed.peak 'main;scratch 128'
[ ! -s err ] || fail "said without need: $(cat err)"

# Nothing is overwritten, which is reported before anything is done.
run 125 -B -q --export=folded:shop.folded touch done
says err 'cannot write shop.folded: File exists'
[ ! -e done ] || fail "the program was run"
run 125 -B --export=yaml:x true
says err "'yaml:x' is not a value of --export"
run 125 -B --export=folded: true
run 125 -B --sites-mode=dead true

tested=$memtopstat
run 0 --export=folded shop.memtop
printf '%s\n' 'main;row<int>::add(int) 163840' 'main;scratch 640' >expected
diff expected out || fail "live: $(cat out)"
run 0 --export=folded --sites-mode=peak shop.memtop peak.folded
printf '%s\n' 'main;row<int>::add(int) 184320' 'main;scratch 1280' >expected
diff expected peak.folded || fail "at the peak: $(cat peak.folded)"
run 1 --export=folded --sites-mode=peak shop.memtop peak.folded
says err 'cannot write peak.folded: File exists'
run 1 --export=folded --sites-mode=since-mark shop.memtop
says err 'nothing to export: there is no mark'
run 64 --sites-mode=peak shop.memtop
says err '--sites-mode can only be used with --export'
run 2 --export=folded script
says err 'cannot read script: it is text, but not of a kind that memtop reads'
echo '7 7 malloc(10)=0x10' >calls.log
run 2 --export=folded calls.log
says err 'calls.log is an allocation log, which has no allocation sites: memtop -r shows it'
run 64 --export=yaml shop.memtop
"$memtop" -B -q --sites=off --save=plain.memtop true
run 1 --export=json plain.memtop
says err 'nothing to export'

# A call belongs to its function, even if it is the function's last instruction.
if [ "$(uname -m)" = x86_64 ]; then
    "$memtop" -B -q --sites=1 --export=folded:last.folded "$programs/sites.run" \
        at_end_of_function >out 2>err || fail "no sites: $(cat err)"
    like last.folded ';at_end_of_function;last_call [0-9]*$'
fi

# --- the programs that read exports ---
# Folded stacks: blanks only within names and before the number.
grep -vE '^[^;]+(;[^;]+)* [0-9]+$' shop.folded && fail "no folded stack"
if command -v flamegraph.pl >/dev/null 2>&1; then
    flamegraph.pl shop.folded >shop.svg 2>err || fail "flamegraph.pl: $(cat err)"
    grep -q 'row&lt;int&gt;::add' shop.svg || fail "flamegraph.pl draws no row"
fi
run 0 --export=massif shop.memtop shop.massif
if command -v ms_print >/dev/null 2>&1; then
    ms_print shop.massif >massif || fail "ms_print: $(cat massif)"
    says massif '3.000^'
    says massif '(184,320B) 0x10: row<int>::add(int) (row.cc:12)'
    says massif '(163,840B) 0x10: row<int>::add(int) (row.cc:12)'
    says massif '0x20: main (prog.cc:7)'
fi
run 0 --export=pprof shop.memtop shop.pb.gz
gzip -t shop.pb.gz || fail "pprof's file is not compressed"
# Without a home pprof has no place for its files.
if command -v go >/dev/null 2>&1; then
    export HOME="$PWD" GOTOOLCHAIN=local GOFLAGS=-mod=mod
    # top INDEX EXPECTED: flat bytes of the first function.
    top() {
        go tool pprof -top -unit=B -sample_index="$1" shop.pb.gz >top 2>err ||
            fail "pprof: $(cat err)"
        first=$(sed -n '/flat%/{n;s/^ *\([0-9]*\)B* .*% *\([^ ]*\)$/\1 \2/p;q}' top)
        [ "$first" = "$2" ] || fail "pprof -sample_index=$1: '$first', not '$2'"
    }
    top inuse_space '163840 row::add'
    top alloc_space '576000 scratch'
    top alloc_objects '9000 scratch'
    top inuse_objects '40 row::add'
    go tool pprof -traces shop.pb.gz >traces 2>err || fail "pprof: $(cat err)"
    says traces 'bytes:  4kB'
fi
run 0 --export=json shop.memtop
if command -v jq >/dev/null 2>&1; then
    [ "$(jq -s 'map(select(.type == "site").live.bytes) | add' out)" = 164480 ] ||
        fail "json: not all bytes"
    [ "$(jq -r 'select(.type == "site") | .stack[0] | "\(.function) \(.file):\(.line)"' out |
        head -n 1)" = 'row<int>::add(int) row.cc:12' ] || fail "json: no stack"
fi
# --- real programs ---
# Everything is sampled, so the exact figures are known.
cat >shelf.cc <<'END'
#include <string>
#include <vector>
template <typename Item> struct Shelf {
    std::vector<Item *> items;
    __attribute__((noinline)) void put(int n) { items.push_back(new Item[n]); }
};
static inline __attribute__((always_inline)) void fill(Shelf<long> &shelf)
{
    for (int i = 0; i < 100; i++)
        shelf.put(1000);
}
int main()
{
    static Shelf<long> shelf;
    fill(shelf);
    return shelf.items.size() != 100;
}
END
${CXX:-c++} -std=c++17 -g -O2 shelf.cc -o shelf || exit 99
tested=$memtop
run 0 -B -q --sites=1 --save=shelf.memtop ./shelf
tested=$memtopstat
run 0 --export=folded shelf.memtop shelf.folded
# The file suffices: neither the program nor its source is read.
rm shelf shelf.cc
run 0 --export=folded shelf.memtop
diff shelf.folded out || fail "without the program the names are others"
grep -E '(^|;)main;(fill;)?Shelf<long>::put;[^;]* 800000$' out >found ||
    fail "nothing of Shelf<long>::put: $(cat out)"
run 0 --export=json shelf.memtop
if built_with HAVE_LIBDW; then
    like out '"function":"fill","file":"[^"]*shelf.cc","line":10,[^}]*"inlined":true'
fi

if command -v python3 >/dev/null 2>&1; then
    cat >keep.py <<'END'
kept = [bytes(20000) for i in range(500)]
import os
os.kill(os.getpid(), 9)
END
    tested=$memtop
    PYTHONMALLOC=malloc
    export PYTHONMALLOC
    run 137 -B -q --sites=1 --export=pprof:python.pb.gz --export=json:python.json \
        python3 keep.py
    gzip -t python.pb.gz || fail "of python there is no profile"
    grep -q '"live":{"bytes":10016500,"objects":500' python.json ||
        fail "of 500 blocks of 20033 bytes not all are live: $(head -n 1 python.json)"
    if command -v go >/dev/null 2>&1; then
        go tool pprof -top -unit=B python.pb.gz >top 2>err || fail "pprof: $(cat err)"
        first=$(sed -n '/flat%/{n;s/^ *\([0-9]*\)B .*/\1/p;q}' top)
        [ "$first" -ge 10016500 ] || fail "pprof's first of python is $first"
    fi
fi
# --- a program's file that was replaced while it ran ---
cat >hold.c <<'END'
#include <stdlib.h>
void *hold(void) { return malloc(100000); }
END
cat >holder.c <<'END'
#include <unistd.h>
void *hold(void);
void *kept;
int main(void)
{
    kept = hold();
    if (write(1, "ready", 5) == 5)
        pause();
    return 0;
}
END
${CC:-cc} -shared -fPIC -Wl,--build-id hold.c -o libhold.so &&
    ${CC:-cc} holder.c ./libhold.so -o holder || exit 99
MEMTOP_OPTIONS=sites=1 LD_PRELOAD=$(dirname "$memtop")/libmemtop.so ./holder >said &
holder=$!
await grep -q ready said
${CC:-cc} -shared -fPIC -O2 -Wl,--build-id hold.c -o new.so && mv new.so libhold.so
tested=$memtop
run 0 -B -q -a $holder -N 1 -i 0.1 --save=holder.memtop --export=folded:holder.folded
if head -c 1 "$(ls -d /proc/$holder/map_files/* | head -n 1)" >/dev/null 2>&1; then
    # Who may read what is mapped has the old file.
    like holder.folded ';main;hold 100000$'
else
    like holder.folded ';main;\[libhold.so\+0x[0-9a-f]*\] 100000$'
    zstd -dcq holder.memtop >holder.json 2>/dev/null
    [ ! -s holder.json ] ||
        says holder.json 'is no longer the file that the program has mapped'
fi
kill $holder

# --- a program whose file only it can see ---
cat >inside.c <<'END'
#include <stdlib.h>
#include <unistd.h>
void *kept;
void hold(void) { kept = malloc(100000); }
int main(void)
{
    hold();
    if (write(1, "ready", 5) == 5)
        pause();
    return 0;
}
END
${CC:-cc} -g -Wl,--build-id inside.c -o inside || exit 99
mkdir hidden
if unshare -m mount -t tmpfs none hidden 2>err; then
    # shellcheck disable=SC2016
    MEMTOP_OPTIONS=sites=1 LD_PRELOAD=$(dirname "$memtop")/libmemtop.so unshare -m sh -c '
        mount -t tmpfs none hidden && cp inside hidden && exec hidden/inside' >inside.out &
    inside=$!
    await grep -q ready inside.out
    [ ! -e hidden/inside ] || fail "the file can be seen from here"
    rm inside
    run 0 -B -q -a $inside -N 1 -i 0.1 --export=folded:inside.folded
    kill $inside
    like inside.folded ';main;hold 100000$'
else
    echo "not tested: a program in another mount namespace: $(cat err)"
fi

# --- Rust ---
cat >shelf.rs <<'END'
mod shelf {
    pub struct Shelf<T> { pub items: Vec<Box<T>> }
    impl<T: Clone> Shelf<T> {
        #[inline(never)]
        pub fn put(&mut self, item: &T) { self.items.push(Box::new(item.clone())); }
    }
}
fn main() {
    let mut shelf = shelf::Shelf { items: Vec::new() };
    for _ in 0..100 { shelf.put(&[7u64; 1000]); }
    std::process::exit((shelf.items.len() != 100) as i32);
}
END
if HOME=$home rustc -g -O shelf.rs -o shelf-rs >err 2>&1; then
    run 0 -B -q --sites=1 --export=folded:rust.folded ./shelf-rs
    like rust.folded ';shelf::main;shelf::shelf::Shelf<[^;]*>::put(;.*)? 800000$'
else
    echo "not tested: a program in Rust: $(head -n 1 err)"
fi
finish

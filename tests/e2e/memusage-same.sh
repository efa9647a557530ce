#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# memtop compared with glibc's memusage: the report byte for byte, and the heap after
# each recorded call.  The permitted differences are in differences(), each with its
# reason.  Without memusage, recorded reports of it are compared.
environment=$PWD/tests/e2e/environment.plugin
operators=$PWD/tests/preload/programs/dlerror.run
recorded=$(cd "$(dirname "$0")/../golden/memusage" && pwd) || exit 99
. "$(dirname "$0")/common.sh"

# Removes from a report the permitted differences that a comparison names.
differences() {
    script='s/, stack peak: [0-9]*$/, stack peak: -/' # wrong in glibc 2.35 to 2.38
    for name; do
        case $name in
        # Whether realloc moves a block depends on how much larger blocks are: 16 bytes
        # under memusage, 8 under memtop.
        nomove) script="$script; s/(nomove:[0-9]*,/(nomove:-,/" ;;
        # memusage subtracts from the heap what it never added (mmap), so its heap ends
        # below zero; memtop counts mappings separately: no peak, no total.
        mappings) script="$script; s/heap total: [0-9]*, heap peak: [0-9]*/heap: -/" ;;
        # memusage's histogram and percentages include mappings.
        histogram) script="$script; /Histogram/,\$d" ;;
        # With threads memtop's peak is exact only with --exact.
        threads) ;;
        esac
    done
    sed "$script"
}

# The heap after each call. memusage's file has the same records, except headers, stack
# and time.
heap() {
    od -An -v -t u8 -w24 "$1" | awk 'NR > 2 { print $1 }'
}

# same NAMES LABEL COMMAND...: NAMES of differences, separated by blanks, with "-m" for
# mappings.
same() {
    names=$1 label=$2
    shift 2
    options=--no-timer
    mode=
    case $names in *mappings*) options="$options -m" ;; esac
    case $names in *threads*) mode=--exact ;; esac
    rm -f ours.dat
    # shellcheck disable=SC2086
    memusage $options -d theirs.dat "$@" >theirs.out 2>theirs
    # shellcheck disable=SC2086
    "$memtop" -B --color=always $mode $options -d ours.dat "$@" >ours.out 2>ours ||
        fail "$label: status $?"
    compare "$names" "$label"
}

compare() {
    # shellcheck disable=SC2086
    differences $1 <theirs >theirs.masked
    # shellcheck disable=SC2086
    differences $1 <ours >ours.masked
    # If a program closes its standard error, memusage prints no report.
    if ! grep -q 'heap total' theirs; then
        grep -q 'heap total' ours || fail "$2: no report"
    elif ! cmp -s theirs.masked ours.masked; then
        fail "$2: the report (memusage's, then memtop's)"
        diff theirs.masked ours.masked
    fi
    case $1 in *mappings*) return ;; esac # memusage records mappings too
    heap theirs.dat >theirs.heap
    heap ours.dat >ours.heap
    cmp theirs.heap ours.heap || fail "$2: the data file"
}

# memusage's recorded reports for cases that do not depend on the C library.
[ -x "$cases" ] || exit 99
for file in "$recorded"/case-*; do
    number=${file##*-}
    "$memtop" -B --color=always "$cases" "$number" 2>ours || fail "case $number: status $?"
    differences nomove <ours >ours.masked
    differences nomove <"$file" | cmp -s - ours.masked ||
        { fail "case $number as recorded"; differences nomove <"$file" | diff - ours.masked; }
done

if command -v memusage >/dev/null; then
    for number in 0 1 2 3 4 5 6 7 9; do
        same '' "case $number" "$cases" $number
    done
    same threads 'case 8' "$cases" 8
    for number in 11 12 13 14 15; do
        same nomove "case $number" "$cases" $number
    done
    same 'mappings histogram' 'case 16' "$cases" 16
    # Calls that memtop's own lookups make are not counted: with operators of C++, with
    # a pending dlerror() of the program.
    [ ! -x "$operators" ] || same nomove operators "$operators" some
    command -v awk >/dev/null &&
        same nomove awk awk 'BEGIN { for (i = 0; i < 5000; i++) a[i % 700] = i "x" a[i / 2]
                                     for (k in a) n += length(a[k]); print n }'
    command -v sqlite3 >/dev/null &&
        same nomove sqlite3 sqlite3 :memory: 'create table t(a, b);
            with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
            insert into t select x, x || "text" from c; create index i on t(b);
            select count(*), max(b) from t where b > "5"; drop table t;'
    # perl copies its environment, in which a variable makes its hashing repeatable.
    if command -v perl >/dev/null; then
        theirs_library=$(sed -n "s/^memusageso='\(.*\)'/\1/p" "$(command -v memusage)")
        cat >program.pl <<'END'
my %h; $h{$_ % 97} .= $_ x 3 for 1 .. 5000;
my @sorted = sort { $a <=> $b } map { length } values %h;
print "@sorted[0 .. 3]\n";
END
        [ -e "$theirs_library" ] || theirs_library=libmemusage.so
        rm -f ours.dat
        # With AddressSanitizer memtop's runtime must be loaded first.
        export ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
        MEMUSAGE_NO_TIMER=1 MEMUSAGE_OUTPUT=theirs.dat \
            LD_PRELOAD="$theirs_library $environment" perl program.pl >theirs.out 2>theirs
        LD_PRELOAD="$environment" \
            "$memtop" -B --color=always -d ours.dat perl program.pl >ours.out 2>ours
        cmp theirs.out ours.out || fail "perl: output"
        compare nomove perl
    fi
else
    echo "memusage is not installed: only what it printed elsewhere is compared"
fi

# The example of memusage's manual page, in figures.
"$memtop" -B "$cases" 11 2>plain
grep -q 'heap total: 45200, heap peak: 6440, ' plain || fail "example: $(head -n 2 plain)"
grep -q 'realloc|         40          44800              0  (nomove:[0-9]*, dec:19, free:0)' \
    plain || fail "example: $(cat plain)"

# Without colour the text is the same without escapes.
escape=$(printf '\033')
"$memtop" -B "$cases" 5 2>plain
"$memtop" -B --color=always "$cases" 5 2>coloured
grep -q "$escape" coloured || fail "no colour"
sed "s/$escape\\[[0-9;]*m//g" coloured | cmp - plain || fail "colour"

finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Text that is quoted from the command line, the environment, files and other processes
# does not affect the terminal, whichever program quotes it.
. "$(dirname "$0")/common.sh"
build=${memtop%/*}

# The beginning of an escape sequence, BEL, DEL, the same beginning as a byte and in
# UTF-8, and a line that looks like one of memtop's.
poison=$(printf 'x\033[31m\007\177\233\302\233y\nmemtop: all is well')

cat >prog.c <<'END_OF_PROGRAM'
#include <stdlib.h>
int main(void) { free(malloc(100)); return 0; }
END_OF_PROGRAM
compile prog || skip "no compiler"
"$memtop" -B -q --record=trace --save=session ./prog || fail "nothing recorded: $?"

# Does a file hold only text in this locale's encoding?
is_text() {
    [ "$LC_ALL" = C.UTF-8 ] || set -- "$1" '\200-\377'
    [ "$(tr -cd "\\000-\\011\\013-\\037\\177${2-}" <"$1" | wc -c)" = 0 ] &&
        iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 &&
        ! LC_ALL=C grep -qa "$(printf '\302[\200-\237]')" "$1"
}

# A program of that name, running and recorded.
cp prog "./$poison"
"$memtop" -B -q --sites=1 --record=named.trace --save=named.session "./$poison" ||
    fail "nothing recorded of that name: $?"
mkdir running
ln -s "$(command -v sleep)" "running/$poison"
LD_PRELOAD=$build/libmemtop.so "running/$poison" 100 &
one=$!
LD_PRELOAD=$build/libmemtop.so "running/$poison" 100 &
other=$!
trap 'kill $one $other; clean' EXIT
await sh -c '[ "$("$1" -l 2>&1 | grep -c " 100")" = 2 ]' sh "$memtop"

# The command in the arguments prints only lines of text.
tries=0
harmless() {
    tries=$((tries + 1))
    timeout 60 "$@" >out 2>err </dev/null
    [ $? != 124 ] || fail "it does not end: $*"
    for stream in out err; do
        is_text $stream ||
            fail "in $LC_ALL: $(printf '%s ' "$@" | cat -v): $(cat -v $stream)"
        ! grep -qx 'memtop: all is well' $stream ||
            fail "a line of its own: $(printf '%s ' "$@" | cat -v)"
    done
}

# options PROGRAM: all options that take a value, including hidden ones.
options() {
    "$1" --help | sed -n 's/^ .*--\([a-z-]*\)\[*=.*/\1/p'
    case $1 in
    */memtop) printf '%s\n' source dump-screen library ;;
    */memtop-replay) printf '%s\n' expect result ;;
    esac
}

# Each run is in an empty directory, because some options create a file of that name.
try() {
    rm -rf place
    mkdir place
    cd place || exit 99
    harmless "$@"
    cd ..
}
LC_ALL=C.UTF-8
for option in $(options "$memtop"); do
    value=--$option=$poison
    try "$memtop" -B "$value" ../prog
    try "$memtop" -B -N 1 "$value"
    try "$memtop" "$value"
    try "$memtop" -B --report=full "$value" ../prog
    try "$memtop" -B --sites=1 "$value" ../prog
    try "$memtop" -B "$value" -r ../session
done
for option in $(options "$memtopstat"); do
    value=--$option=$poison
    try "$memtopstat" "$value" ../trace
    try "$memtopstat" --report=full "$value" ../trace
    try "$memtopstat" --export=csv "$value" ../trace
    try "$memtopstat" --export=folded "$value" ../session
done
for option in $(options "$build/memtop-replay"); do
    try "$build/memtop-replay" "--$option=$poison" ../trace
done
for option in $(options "$build/memtop-munge"); do
    try "$build/memtop-munge" "--$option=$poison" ../trace
done
for LC_ALL in C C.UTF-8; do
    for each in "$memtop" "$memtopstat" "$build/memtop-munge" "$build/memtop-replay"; do
        try "$each" "--$poison"
        try "$each" "--$poison=1"
        try "$each" "--p$poison"
        try "$each" "$(printf -- '-\033')"
        try "$each" "$poison"
        try "$each" "$poison" "$poison" "$poison"
        try sh -c 'ln -s "$1" "./$2" && "./$2" --nonsense' sh "$each" "$poison"
        try sh -c 'ln -s "$1" "./$2" && "./$2" --help' sh "$each" "$poison"
    done
    try "$memtop" -B "$poison"
    try "$memtop" -B "./$poison/$poison"
    try sh -c 'cp ../prog "./$1" && "$2" -B -i 0.1 "./$1"' sh "$poison" "$memtop"
    try "$build/memtop-replay" --compare -i ../trace "$poison"
    try "$memtop" -l
    try "$memtop" -l --format=json
    try "$memtop" -B -a "$poison"
    try "$memtop" -B -i 0.1 -N 1 -a $one
    try "$memtop" -B -i 0.1 -N 1 --format=json -a $one
    for form in logalloc csv json; do
        try "$memtopstat" --export=$form ../named.trace
    done
    for form in folded json massif; do
        try "$memtopstat" --export=$form --sites-mode=allocated ../named.session
    done
    for form in text json csv; do
        try "$memtopstat" --report=full --report-format=$form ../named.trace
    done
    try "$memtop" -B -r ../named.session
    try "$memtop" -B -r ../named.trace
    try "$memtop" -B -o - -r ../named.session
    printf '%s' "$poison" >garbage
    try "$memtop" -B -r ../garbage
    { zstd -dc session 2>/dev/null || cat session; } | sed "s/1/$(printf '1\033')/" >damaged
    try "$memtop" -B -r ../damaged
    for variable in TERM MEMTOP_DIR MEMTOP_OPTIONS MEMTOP_LIBRARY LANGUAGE \
        XDG_RUNTIME_DIR MALLOC_LOG ARGP_HELP_FMT; do
        try env "$variable=$poison" "$memtop" -B ../prog
        try env "$variable=$poison" "$memtop" --nonsense
    done
    printf '[%s] %s\n' "$poison" "$poison" >params
    try "$memtopstat" --report=overview --params=../params ../trace
    printf '1 1 %s(3)=#1\n' "$poison" >log
    try "$build/memtop-munge" ../log
    try "$build/memtop-munge" --compat ../log
    try "$build/memtop-replay" ../log
    try "$memtopstat" ../log out.png
    try "$memtop" -B -r ../log
done
[ $tries -gt 500 ] || fail "$tries tries: are these all options?"
finish

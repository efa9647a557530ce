#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ./run and ./check where packages are missing that they cannot install: they end at once,
# and say in one line what is missing and how to get it.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
LC_ALL=C
export LC_ALL
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

work=$(mktemp -d /tmp/memtop-setup-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/bin"
cp "$top/run" "$top/check" "$work/tree"
cp -r "$top/scripts" "$work/tree"

# No apt-get, no sudo, no autoreconf; and no package.
for name in sh dirname id sed tr cat grep; do
    ln -s "$(command -v $name)" "$work/bin/$name"
done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
chmod -R a+rX,a+x "$work"

as_anyone=
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups \
        test -x "$work/bin/sh" 2>/dev/null; then
    as_anyone="$(command -v setpriv) --reuid=65534 --regid=65534 --clear-groups"
else
    echo 'not tried: as another user than root, or as root'
fi

# ends STATUS SCRIPT PACKAGE
ends() {
    # shellcheck disable=SC2086 # words
    PATH=$work/bin $as_anyone sh "$work/tree/$2" >"$work/out" 2>&1 </dev/null
    status=$?
    [ $status = "$1" ] || fail "$2: status $status, not $1"
    [ "$(wc -l <"$work/out")" = 1 ] || fail "$2 says: $(cat "$work/out")"
    grep -q "as root: apt-get install autoconf automake .*$3" "$work/out" ||
        fail "$2 does not say how to install $3: $(cat "$work/out")"
    [ ! -e "$work/tree/build" ] || fail "$2 has begun to build"
}
ends 125 run libncurses-dev
ends 1 check libcmocka-dev
as_anyone=
ends 125 run libncurses-dev # whoever it is: without apt-get

[ $failures = 0 ] && echo "all passed"
exit $failures

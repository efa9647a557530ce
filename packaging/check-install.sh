#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# packaging/check-install.sh TARBALL [SUITE]     (make check-install)
# Builds the Debian packages from the tarball that make dist has made, in a system
# that has only the packages that they declare, and checks them with lintian if it is
# installed.  Installs them in another, bare system, tries the programs there, and removes
# them: nothing may be left.  Needs root, mmdebstrap and a mirror of Debian.
#
#   SUITE               bookworm by default
#   MEMTOP_BOOTSTRAP    a directory to keep the two bare systems in, for the next time
#   DEB_BUILD_OPTIONS   nocheck: do not run the tests
#
# Everything happens in namespaces of its own, so mounts and processes end with it.
set -eu

if [ "${1-}" != --inside ]; then
    [ "$(id -u)" = 0 ] || { echo "$0: needs root" >&2; exit 77; }
    command -v mmdebstrap >/dev/null || { echo "$0: needs mmdebstrap" >&2; exit 77; }
    tarball=$(realpath "$1")
    suite=${2-bookworm}
    work=$(mktemp -d /var/tmp/memtop-install-XXXXXX)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 99' HUP INT TERM
    unshare --mount --pid --fork --kill-child --ipc \
        sh "$0" --inside "$tarball" "$suite" "$work"
    exit
fi
shift
tarball=$1
suite=$2
work=$3
tree=$(basename "$tarball" | sed 's/\.tar.*//')

step() {
    printf '%s\n' "== $*"
}

die() {
    printf '%s\n' "FAIL: $*"
    exit 1
}

# bootstrap VARIANT DIRECTORY
bootstrap() {
    kept=${MEMTOP_BOOTSTRAP-$work}/$suite-$1.tar
    if [ ! -e "$kept" ]; then
        step "bootstrapping $suite ($1)"
        mmdebstrap --quiet --format=tar --variant="$1" "$suite" "$kept.part"
        mv "$kept.part" "$kept"
    fi
    mkdir "$2"
    tar -C "$2" --numeric-owner --exclude='./dev/*' -xf "$kept"
    cp -L /etc/resolv.conf "$2/etc/resolv.conf"
    mount -t proc proc "$2/proc"
    mount -t tmpfs -o mode=755 none "$2/dev"
    for device in null zero full random urandom tty; do
        : >"$2/dev/$device"
        mount --bind /dev/$device "$2/dev/$device"
    done
    mkdir "$2/dev/pts" "$2/dev/shm"
    ln -s /proc/self/fd "$2/dev/fd"
    ln -s pts/ptmx "$2/dev/ptmx"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$2/dev/pts"
    mount -t tmpfs -o mode=1777 none "$2/dev/shm"
    chroot "$2" apt-get -q -q update
}

# inside DIRECTORY COMMAND...
inside() {
    directory=$1
    shift
    chroot "$directory" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        TERM=xterm DEBIAN_FRONTEND=noninteractive \
        DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-}" "$@"
}

# apt DIRECTORY ARG...
apt() {
    directory=$1
    shift
    inside "$directory" apt-get -q -y "$@" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log"; die "apt-get $*"; }
}

# Lists what a package could leave behind: files, and what dpkg knows.  (fontconfig never
# removes its directory in /usr/local.)
inventory() {
    (cd "$1" && find . -xdev \( -path ./var/cache -o -path ./var/lib/apt -o \
        -path ./var/lib/dpkg -o -path ./var/log -o -path ./tmp -o -path ./proc -o \
        -path ./usr/local/share/fonts \) \
        -prune -o -print | sort)
    # shellcheck disable=SC2016 # dpkg-query's fields
    inside "$1" dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n'
    # Segments of killed programs are not counted: they are in memory only.
    find "$1/dev/shm" -mindepth 1 ! -regex '.*/memtop-0\(/[0-9]+\.[0-9]+\)?'
}

# --- build ---
step "building $tree in $suite"
build=$work/build
bootstrap buildd "$build"
inside "$build" useradd -m builder
tar -C "$build/home/builder" -xf "$tarball"
inside "$build" chown -R builder: /home/builder
apt "$build" --no-install-recommends build-dep "/home/builder/$tree"
inside "$build" setpriv --reuid=builder --regid=builder --init-groups env \
    HOME=/nonexistent sh -c "cd '/home/builder/$tree' && dpkg-buildpackage -b -us -uc" \
    >"$work/build.log" 2>&1 || {
        cat "$build/home/builder/$tree/test-suite.log" 2>/dev/null || tail -n 60 "$work/build.log"
        die "dpkg-buildpackage"
    }
grep -E '^# (TOTAL|PASS|SKIP|FAIL)' "$work/build.log" || :
cp "$build"/home/builder/*_* "$work"
if command -v lintian >/dev/null; then
    step "lintian"
    (cd "$work" && lintian --fail-on error,warning --allow-root ./*.changes) ||
        die "lintian"
fi

# --- install ---
step "installing in a bare $suite"
bare=$work/bare
bootstrap minbase "$bare"
apt "$bare" --no-install-recommends install tmux procps
inventory "$bare" >"$work/before"
rm -f "$work"/*-dbgsym*
cp "$work"/*.deb "$bare/tmp"
# shellcheck disable=SC2046 # one word a package
apt "$bare" install $(cd "$bare/tmp" && printf '/tmp/%s ' *.deb)
packages=$(for deb in "$work"/*.deb; do dpkg-deb -f "$deb" Package; done | xargs)
for name in $packages; do
    # shellcheck disable=SC2016 # dpkg-query's field
    inside "$bare" dpkg-query -W -f '${Status}' "$name" | grep -q 'ok installed' ||
        die "$name was not installed"
done
# A library of another architecture beside ours must not be used.
mkdir -p "$bare/usr/lib/aarch64-linux-gnu"
echo foreign >"$bare/usr/lib/aarch64-linux-gnu/libmemtop.so"
cp "$build/home/builder/$tree/debian/tests/smoke" "$bare/tmp/smoke"
inside "$bare" sh /tmp/smoke || die "the programs do not work where they are installed"
rm -r "$bare/usr/lib/aarch64-linux-gnu"

# --- remove ---
step "removing"
inside "$bare" env LD_PRELOAD=libmemtop.so sleep 1000 &
sleeper=$!
inside "$bare" sh -c 'until memtop -l 2>/dev/null | grep -q sleep; do :; done'
# shellcheck disable=SC2086 # one word a package
apt "$bare" purge --autoremove $packages libmemtop-dev
kill -0 $sleeper || die "a program did not survive the removal of its library"
kill $sleeper
wait $sleeper 2>/dev/null || :
inventory "$bare" >"$work/after"
diff "$work/before" "$work/after" || die "something is left behind"

echo "all passed"

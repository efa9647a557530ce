#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is said in several places of packages: the version, what is needed to build.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
LC_ALL=C
export LC_ALL
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

# --- the version ---
version=$(sed -n 's/^AC_INIT(\[memtop\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
[ -n "$version" ] || fail "no version in configure.ac"

# version_in FILE REGEX: what is found in its first \(\).
version_in() {
    found=$(sed -n "s/$2/\\1/p" "$top/$1" | head -n 1)
    [ "$found" = "$version" ] || fail "$1 is of version '$found', not $version"
}
version_in NEWS '^memtop \([0-9.]*\)$'
version_in debian/changelog '^memtop (\(.*\)) .*'
version_in packaging/memtop.spec '^Version: *\(.*\)'
for page in "$top"/doc/*.[1-8]; do
    grep -q '^\.so ' "$page" && continue # it is another one
    version_in "doc/$(basename "$page")" '^\.TH [^"]* "memtop \([0-9.]*\)".*'
done

# --- what is needed: Debian's names are those of scripts/packages, but for what every
# build on Debian has ---
present=" autoconf automake g++ gcc make "
grep -E '^(build|test) ' "$top/scripts/packages" | while read -r _ _ names; do
    for name in $names; do
        case $present in
        *" $name "*) continue ;;
        esac
        sed -n '/^Build-Depends:/,/^[A-Z]/p' "$top/debian/control" | tr -d ' ,' |
            sed 's/<.*//' | grep -qx "$name" || printf '%s ' "$name"
    done
done | grep . && fail "not in debian/control's Build-Depends"

# RPM's are those of pkg-config.
sed -n 's/.*PKG_CHECK_MODULES(\[[A-Z]*\], \[\([a-z]*\)[] ].*/\1/p' "$top/configure.ac" |
    while read -r module; do
        grep -qx "BuildRequires: *pkgconfig($module)" "$top/packaging/memtop.spec" ||
            printf '%s ' "$module"
    done | grep . && fail "not in memtop.spec's BuildRequires"

# --- what git has of debian/ is in the tarball, too ---
if [ -e "$top/.git" ] && command -v git >/dev/null 2>&1; then
    for file in $(git -C "$top" ls-files debian); do
        grep -qE "$file( |\$)" "$top/packaging/local.mk" || fail "$file is not distributed"
    done
fi

# --- "make install" as root tells the loader of the library, one into a package does not ---
work=$(mktemp -d /tmp/memtop-packages-XXXXXX) || exit 99
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\necho told\n' >"$work/ldconfig"
chmod +x "$work/ldconfig"
hook() {
    # Not as a part of the make that runs the tests.
    MAKEFLAGS= MFLAGS= PATH=$work:$PATH make -s --no-print-directory tell-loader "$@" 2>&1
}
if [ "$(id -u)" = 0 ]; then
    said=$(hook DESTDIR=)
    [ "$said" = told ] || fail "make install does not call ldconfig: $said"
fi
said=$(hook DESTDIR=/nowhere)
[ -z "$said" ] || fail "make install DESTDIR=... says: $said"

[ $failures = 0 ] && echo "all passed"
exit $failures

# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What ./run and ./check have in common.  They source it, with $top the source tree.
#
#   install_packages GROUP...      installs what is missing, without questions; if it cannot,
#                                  it says what is missing and how to get it, and is false
#   build_tree DIRECTORY [ARG...]  bootstraps, configures and makes, each if it is needed

: "${top:?}"

note() {
    printf '%s\n' "$*" >&2
}

# --- Packages (scripts/packages) ---

package_is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The names in the groups for this release, with all alternatives.
package_names() {
    release=$(. /etc/os-release 2>/dev/null && printf '%s' "${VERSION_ID:-}")
    for group; do
        while read -r its_group its_release names; do
            if [ "$its_group" = "$group" ]; then
                case $its_release in
                '*' | "$release") printf '%s\n' "$names" ;;
                esac
            fi
        done <"$top/scripts/packages"
    done
}

missing_packages() {
    for entry in $(package_names "$@"); do
        found=no
        for name in $(printf '%s' "$entry" | tr '|' ' '); do
            if package_is_installed "$name"; then
                found=yes
            fi
        done
        [ $found = yes ] || printf '%s\n' "$entry"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

apt_get() {
    (umask 022
     as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
         -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null)
}

# The first alternative of each entry.
first_names() {
    for entry; do
        printf '%s\n' "${entry%%|*}"
    done | tr '\n' ' ' | sed 's/ $//'
}

# The first alternative of each entry that apt knows; optional packages that it does not
# know are left out.
available_packages() {
    for entry; do
        for name in $(printf '%s' "$entry" | tr '|' ' '); do
            if apt-cache show "$name" >/dev/null 2>&1; then
                printf '%s\n' "$name"
                break
            fi
        done
    done
}

can_install() {
    command -v apt-get >/dev/null 2>&1 &&
        { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

install_packages() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        note "This is not Debian: if configure misses something, install what corresponds to" \
            "$(package_names "$@" | tr '\n' ' ')"
        return 0
    fi
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0

    # shellcheck disable=SC2086 # one word a name
    set -- $missing
    if ! can_install; then
        note "Packages are missing that only root can install; please run, as root:" \
            "apt-get install $(first_names "$@")"
        return 1
    fi
    note "Installing: $*"
    apt_get update >/dev/null 2>&1 || note "apt-get update failed; continuing with the known packages"
    # shellcheck disable=SC2046
    set -- $(available_packages "$@")
    if [ $# != 0 ] && ! apt_get install --no-install-recommends "$@" >"$top/.setup.log" 2>&1; then
        tail -n 20 "$top/.setup.log" >&2
        note "apt-get could not install all of: $*"
    fi
    rm -f "$top/.setup.log"
}

# --- Building ---

# Runs a step with its output in a log, which is shown if it fails.
logged() {
    log=$1
    shift
    if "$@" >>"$log" 2>&1; then
        return 0
    fi
    tail -n 40 "$log" >&2
    note "failed: $* (full output: $(realpath "$log"))"
    return 1
}

# Without arguments any existing configuration is kept.
configure_tree() {
    if [ -f Makefile ] && { [ $# = 0 ] || [ "$(cat configured 2>/dev/null)" = "$*" ]; }; then
        return 0
    fi
    note "Configuring in $PWD ..."
    logged make.log ../configure "$@" && printf '%s' "$*" >configured
}

jobs_number() {
    nproc 2>/dev/null || echo 1
}

# Two builds at the same time would disturb each other, so one waits for the other.
build_tree() (
    directory=$1
    shift
    cd "$top" && mkdir -p "$directory" || exit 1
    exec 9>"$directory/lock"
    if command -v flock >/dev/null 2>&1; then
        flock 9
    fi
    : >"$directory/make.log"
    if [ ! -f configure ] || [ ! -f Makefile.in ]; then # autoreconf was interrupted
        note "Generating configure ..."
        logged "$directory/make.log" autoreconf -fi || exit 1
    fi
    cd "$directory" || exit 1
    configure_tree "$@" || exit 1
    [ -x memtop ] || note "Building in $PWD ..."
    logged make.log make -j"$(jobs_number)" 9>&-
)

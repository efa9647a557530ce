#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# In the user's language: catalogues are found in the build tree and in a moved one,
# with LANGUAGE even if no locale was generated; without native language support
# everything is in English.
po=$(cd "$(dirname "$0")/../../po" && pwd)
. "$(dirname "$0")/common.sh"
build=${memtop%/memtop}

# speaks LANGUAGE COMMAND...: checks the beginning of the usage message; the language is
# one of po/LINGUAS, or en.
speaks() {
    wanted=$1
    shift
    env "$@" --help >out 2>err || fail "$* --help: $(cat err)"
    case $(head -n 1 out) in
    "$(usage "$wanted") memtop"*) ;;
    *) fail "$*: $(head -n 1 out)" ;;
    esac
}

# usage LANGUAGE: "Usage:" in that language; in English without native language support.
usage() {
    if [ "$1" != en ] && [ -d "$build/catalogues" ]; then
        awk '$0 == "msgid \"Usage:\"" { getline; print; exit }' "$po/$1.po" |
            sed 's/^msgstr "\(.*\)"$/\1/'
    else
        echo Usage:
    fi
}

languages=$(grep -v '^#' "$po/LINGUAS")
for language in $languages; do
    [ ! -d "$build/catalogues" ] || [ "$(usage "$language")" != Usage: ] ||
        fail "no usage message in $language"
done
for program in memtop memtopstat memtop-munge memtop-replay; do
    speaks en LC_ALL=C.UTF-8 "$build/$program"
    speaks en LC_ALL=C.UTF-8 LANGUAGE=xx "$build/$program"
    for language in $languages; do
        speaks en LC_ALL=C LANGUAGE="$language" "$build/$program"
        speaks "$language" LC_ALL=C.UTF-8 LANGUAGE="$language" "$build/$program"
        speaks "$language" LC_ALL=C.UTF-8 LANGUAGE="xx:$language" "$build/$program"
    done
done
# LANGUAGE may name a country if the catalogue is for all countries.
speaks ru LC_ALL=C.UTF-8 LANGUAGE=ru_RU "$memtop"

# --- the locale does not exist: its character set is still used ---
speaks ru LC_ALL=xx_XX.UTF-8 LANGUAGE=ru "$memtop"
speaks ru LC_ALL= LC_CTYPE= LANG=xx_XX.utf8 LANGUAGE=ru "$memtop"
speaks en LC_ALL=xx_XX.UTF-8 "$memtop"
speaks en LC_ALL=xx_XX LANGUAGE=ru "$memtop"

# --- messages of the C library are in the same language ---
env LC_ALL=C.UTF-8 LANGUAGE=ru "$memtop" -B -r /no/such/file 2>err
[ -d "$build/catalogues" ] || says err 'No such file or directory'

# --- the program gets memtop's environment unchanged ---
env LC_ALL=xx_XX.UTF-8 LANGUAGE=ru "$memtop" -Bq env >out 2>err
says out 'LC_ALL=xx_XX.UTF-8'
says out 'LANGUAGE=ru'

# --- a moved tree ---
mkdir -p tree/bin tree/lib tree/share
cp "$memtop" tree/bin
cp "$build/libmemtop.so" tree/lib
[ ! -d "$build/catalogues" ] || cp -RL "$build/catalogues" tree/share/locale
for language in $languages; do
    speaks "$language" LC_ALL=C.UTF-8 LANGUAGE="$language" tree/bin/memtop
done
tree/bin/memtop -B true 2>err || fail "a moved memtop does not work: $(cat err)"
like err 'heap total'
finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# In the user's language: catalogues are found in the build tree and in a moved one, by
# LANGUAGE also where no locale was generated; without native language support there is
# English, whatever the environment says.
. "$(dirname "$0")/common.sh"
build=${memtop%/memtop}

# speaks LANGUAGE COMMAND...: what the usage message begins with.
speaks() {
    wanted=$1
    shift
    env "$@" --help >out 2>err || fail "$* --help: $(cat err)"
    case $wanted in
    Russian) like out '^Использование: memtop' ;;
    Chinese) like out '^用法: memtop' ;;
    English) like out '^Usage: memtop' ;;
    esac
}

if [ -d "$build/catalogues" ]; then
    translated=Russian
    chinese=Chinese
else
    translated=English
    chinese=English
fi
for program in memtop memtopstat memtop-munge memtop-replay; do
    speaks English LC_ALL=C LANGUAGE=ru "$build/$program"
    speaks English LC_ALL=C.UTF-8 "$build/$program"
    speaks English LC_ALL=C.UTF-8 LANGUAGE=xx "$build/$program"
    speaks $translated LC_ALL=C.UTF-8 LANGUAGE=ru "$build/$program"
    speaks $translated LC_ALL=C.UTF-8 LANGUAGE=xx:ru "$build/$program"
    speaks $chinese LC_ALL=C.UTF-8 LANGUAGE=zh_TW "$build/$program"
done

# --- no such locale: still its character set ---
speaks $translated LC_ALL=xx_XX.UTF-8 LANGUAGE=ru "$memtop"
speaks $translated LC_ALL= LC_CTYPE= LANG=xx_XX.utf8 LANGUAGE=ru "$memtop"
speaks English LC_ALL=xx_XX.UTF-8 "$memtop"
speaks English LC_ALL=xx_XX LANGUAGE=ru "$memtop"

# --- messages of the C library do not speak another language ---
env LC_ALL=C.UTF-8 LANGUAGE=ru "$memtop" -B -r /no/such/file 2>err
[ $translated = Russian ] || says err 'No such file or directory'

# --- what the program gets is what memtop got ---
env LC_ALL=xx_XX.UTF-8 LANGUAGE=ru "$memtop" -Bq env >out 2>err
says out 'LC_ALL=xx_XX.UTF-8'
says out 'LANGUAGE=ru'

# --- a moved tree ---
mkdir -p tree/bin tree/lib tree/share
cp "$memtop" tree/bin
cp "$build/libmemtop.so" tree/lib
[ ! -d "$build/catalogues" ] || cp -RL "$build/catalogues" tree/share/locale
speaks $translated LC_ALL=C.UTF-8 LANGUAGE=ru tree/bin/memtop
tree/bin/memtop -B true 2>err || fail "a moved memtop does not work: $(cat err)"
like err 'heap total'
finish

#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Names from files that are not where the program found them any more.
. "$(dirname "$0")/common.sh"

cat >row.c <<'END'
#include <stdlib.h>
void *kept;
void *make_row(void)
{
    return kept = malloc(1000);
}
END
cat >user.c <<'END'
#include <stdio.h>
#include <unistd.h>
void *make_row(void);
int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++)
        make_row();
    if (argc > 1) {
        puts("ready");
        fflush(stdout);
        getchar();
    }
    _exit(0);
}
END
mkdir here
${CC:-cc} -shared -fPIC -Wl,--build-id row.c -o here/librow.so &&
    ${CC:-cc} user.c -Lhere -lrow -o here/user || exit 99
LD_LIBRARY_PATH=.
export LD_LIBRARY_PATH

# --- a relative path: in memtop's directory, and in another one ---
cd here || exit 99
run 0 -B --sites=1 ./user
like err '976.6 KiB .*  make_row < main'
cd .. || exit 99
run 0 -B --sites=1 sh -c 'cd here && exec ./user'
like err '976.6 KiB .*  make_row < main'

# held DIRECTORY: the program in the copy of that directory runs until its report; the copy
# is removed when memtop has looked at the program, and before names are asked for.
held() {
    cp -r here "$1" || exit 99
    mkfifo go said
    (cd "$1" && exec "$memtop" -B -i 0.1 --lines --sites=1 ./user wait <"$work/go" \
        >"$work/said" 2>"$work/err") &
    observed=$!
    exec 3>go
    grep -q ready said
    await lines_in err 4
    rm -r "$1"
    exec 3>&-
    wait "$observed"
    rm go said
}

lines_in() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# --- a directory of files that do not stay ---
gone=$(mktemp -d /tmp/memtop-gone-XXXXXX) && rmdir "$gone" || exit 99
held "$gone"
like err '976.6 KiB .*  make_row < main'
finish

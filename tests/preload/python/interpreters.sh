# SPDX-License-Identifier: LGPL-2.1-or-later
# interpreters MINOR: prints the paths of the interpreters of that version, each once: those
# on PATH, and pyenv's.
interpreters() {
    (
        IFS=:
        for directory in $PATH; do
            printf '%s\n' "$directory/python3.$1"
        done
        printf '%s\n' "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$1".*/bin/python3
    ) | while read -r path; do
        # What a shim or a link leads to.
        [ ! -x "$path" ] || "$path" -c 'import os, sys
if sys.version_info[:2] == (3, int(sys.argv[1])): print(os.path.realpath(sys.executable))
' "$1" 2>/dev/null
    done | sort -u
}

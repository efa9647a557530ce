# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Completion for memtop, memtopstat, memtop-munge and memtop-replay, with
# bash-completion.  The program's own --help says which options there are, and which take
# a value or a file; only the words that a value can be are written here.

# _memtop_options PROGRAM: "OPTION VALUE" a line; a value in [] may be left out.
_memtop_options() {
    LC_ALL=C "$1" --help 2>/dev/null | awk '
        /^  (    )?-/ {
            long = $1 ~ /,$/ ? $2 : $1
            name = value = long
            sub(/\[?=.*/, "", name)
            sub(/^[^[=]*=?/, "", value)
            if (long != $1)
                print substr($1, 1, 2), value
            print name, value
        }'
}

# _memtop_takes OPTION: must it have a value?
_memtop_takes() {
    [[ $'\n'$options == *$'\n'"$1 "[A-Z]* ]]
}

# Goes through the words before the cursor.  $option becomes the option whose value is
# to be completed, if there is one, $operand the index in COMP_WORDS of the first word
# that is neither option nor value, if there is one.
_memtop_parse() {
    local i word letters

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        option=
        case $word in
        --)
            operand=$((i + 1))
            return
            ;;
        --*)
            if [[ ${COMP_WORDS[i + 1]} == "=" ]]; then
                ((i += 2))
                option=$word
            elif _memtop_takes "$word"; then
                ((i++))
                option=$word
            fi
            ;;
        -?*)
            # The first of joined letters that takes a value takes the rest of the word.
            letters=${word#-}
            while [[ $letters ]] && ! _memtop_takes "-${letters:0:1}"; do
                letters=${letters:1}
            done
            if [[ ${#letters} == 1 ]]; then
                ((i++))
                option=-$letters
            fi
            ;;
        *)
            operand=$i
            return
            ;;
        esac
        ((i >= COMP_CWORD)) || option=
    done
}

# Adds the words that begin with $cur to COMPREPLY, quoted for the shell.
_memtop_words() {
    local word

    for word; do
        [[ $word != "$cur"* ]] || COMPREPLY+=("$(printf %q "$word")")
    done
    [[ ${COMPREPLY-} != *[=\>:] ]] || compopt -o nospace
}

# Completes the value of $option.
_memtop_value() {
    local kind

    kind=$(awk -v option="$option" '$1 == option { print $2 }' <<<"$options")
    # shellcheck disable=SC2046 # one word a process
    case $option in
    --limits) _memtop_words each sum root ;;
    --accounting) _memtop_words auto requested usable ;;
    --unwind) _memtop_words auto dwarf fp none ;;
    --blocks) _memtop_words malloc pool both ;;
    --counts) _memtop_words linear power array ;;
    --group) _memtop_words yes no ;;
    --logfile-dir) _filedir -d ;;
    --report) _memtop_words full overview blocksize loadpeak timeinterval logfile ;;
    --report-format) _memtop_words text json csv ;;
    --sort) _memtop_words size count unsorted ;;
    --color) _memtop_words auto always never ;;
    --export)
        if [[ ${1##*/} == memtopstat ]]; then
            _memtop_words folded pprof massif json
        else
            _memtop_words folded: pprof: massif: json:
        fi
        ;;
    --format) _memtop_words text json ;;
    -g | --graph) _memtop_words auto braille block ascii ;;
    --on-quit) _memtop_words ask kill leave ;;
    --sites-mode) _memtop_words live peak allocated since-mark ;;
    --sites-sort) _memtop_words bytes objects allocated rate age samples error growth ;;
    --snapshot-when) _memtop_words 'heap>' 'stack>' 'growth>' peak exit signal ;;
    -a | --attach) _memtop_words $("$1" --list 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }') ;;
    -n | --progname) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
    *) [[ $kind != *FILE* ]] || _filedir ;;
    esac
}

_memtop() {
    # shellcheck disable=SC2034 # bash-completion's
    local cur prev words cword split options option= operand=

    _init_completion -s || return
    options=$(_memtop_options "$1")
    _memtop_parse
    if [[ $option ]]; then
        _memtop_value "$1"
    elif [[ $cur == -* && ! $operand ]]; then
        # shellcheck disable=SC2046 # one word an option
        _memtop_words $(awk '/^--/ { print $1 ($2 ~ /^[A-Z]/ ? "=" : "") }' <<<"$options")
    elif [[ ${1##*/} == memtop ]]; then
        _command_offset "${operand:-$COMP_CWORD}"
    else
        [[ " ${words[*]} " != *" --compare "* ]] ||
            _memtop_words glibc jemalloc tcmalloc mimalloc
        _filedir
    fi
}

complete -F _memtop memtop memtopstat memtop-munge memtop-replay

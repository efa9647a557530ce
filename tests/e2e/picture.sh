#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Texts in pictures are in the user's language if a font has its letters; otherwise in
# English, with a message.
. "$(dirname "$0")/common.sh"
build=${memtop%/memtop}
LC_ALL=C.UTF-8
tested=$memtopstat
[ -d "$build/catalogues" ] || skip 'no translations'
built_with HAVE_FONTCONFIG || skip 'without fontconfig'
dejavu=$(fc-match -f '%{file}' 'DejaVu Sans' 2>/dev/null)
chinese=$(fc-list -f '%{file}\n' ':lang=zh-tw' 2>/dev/null | head -n 1)
case $dejavu in
*/DejaVuSans.ttf) ;;
*) skip 'no DejaVu Sans here' ;;
esac

english='the picture is in English: no installed font'
# draws LANGUAGE PICTURE ARG...: draws data with only the fonts in $fonts.
draws() {
    printf '<?xml version="1.0"?><fontconfig><dir>%s</dir><cachedir>%s</cachedir></fontconfig>' \
        "$work/$fonts" "$work/cache" >fonts.conf
    LANGUAGE=$1
    FONTCONFIG_FILE=$work/fonts.conf
    export LANGUAGE FONTCONFIG_FILE
    shift
    run 0 "$@"
    unset LANGUAGE FONTCONFIG_FILE
}
# in_english LANGUAGE TEXT: pictures are in English, and err says so in that language.
in_english() {
    draws "$1" data "$fonts-$1.png"
    says err "$2"
    cmp "$fonts-$1.png" "$fonts.png" || fail "$1 with $fonts: not as in English"
    draws "$1" --report=overview --png="$fonts-$1-steps.png" data
    says err "$2"
    cmp "$fonts-$1-steps.png" "$fonts-steps.png" || fail "steps in $1 with $fonts: not English"
}
# translated LANGUAGE: pictures are not in English, and there is no message.
translated() {
    draws "$1" data "$fonts-$1.png"
    silent err
    cmp -s "$fonts-$1.png" "$fonts.png" && fail "$1 with $fonts: in English"
    draws "$1" --report=overview --png="$fonts-$1-steps.png" data
    silent err
    cmp -s "$fonts-$1-steps.png" "$fonts-steps.png" && fail "steps in $1 with $fonts: English"
}

mkdir none latin east
cp "$dejavu" latin
cp "$dejavu" east
"$memtop" -B -q --record=data "$cases" 1 || exit 99
for fonts in none latin east; do
    draws '' data $fonts.png
    [ -s $fonts.png ] || skip "no pictures: $(cat err)"
    silent err
    draws '' --report=overview --png=$fonts-steps.png data
    silent err
done
fonts=none
in_english ru 'рисунок на английском'
in_english zh_TW '圖片以英文呈現'
fonts=latin
translated ru
translated fr
in_english zh_TW '圖片以英文呈現'
# A title is not translated: a message says in the user's language that letters are
# missing.
draws zh_TW -s '標題' data title.png
says err '圖片缺字'

# --- the picture of a run ---
tested=$memtop
draws zh_TW -B -q -p run "$cases" 1
says err '圖片以英文呈現'
draws zh_TW -B -q --snapshot-when=exit "$cases" 1
says err '圖片以英文呈現'
tested=$memtopstat

# --- with a suitable font ---
if [ -n "$chinese" ]; then
    cp "$chinese" east
    fonts=east
    translated zh_TW
elif [ ! -e failed ]; then
    skip 'no font here has Chinese letters; the rest has passed'
fi
finish

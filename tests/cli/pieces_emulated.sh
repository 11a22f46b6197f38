#!/bin/sh
# SPDX-License-Identifier: MIT
# Compressed files in small pieces that several workers decode: drawn ones, right and damaged, counted in many ways.
# By hand: PIECES_SEED=2 SCALE=full tests/cli/pieces_emulated.sh
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/emulated.sh" # for GPUHISTO_PIECES; no GPU is asked for

watch_over 600

command -v python3 >/dev/null || skip "no python3, which makes the files"
printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    skip "built without ISA-L"
fi
case $ASKED in
    small) count=25 ;;
    full) count=2000 ;;
    *) count=200 ;;
esac
python3 "$srcdir/tests/helpers/pieces.py" "$GPUHISTO" $count "${PIECES_SEED:-1}" >log 2>&1
echo "$count cases, 0 wrong" >log.due
same "drawn files" log.due log
summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands of doc/recipes.md on data that were not made for them: a few samples are thousands of
# times the median, requests are malformed, fields are missing, headers are those of other writers.
# tests/cli/docs.sh runs them as they stand.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

command -v python3 >/dev/null || skip "no python3"
can_share || skip "$why_not"
mkdir bin
ln -s "$GPUHISTO" bin/gpuhisto
PATH=$work/bin:$PATH COLUMNS=80 LC_ALL=C.UTF-8
export PATH COLUMNS LC_ALL
python3 "$srcdir/tests/helpers/recipes.py" "$srcdir/doc/recipes.md" >results 2>errors
ended=$?
check "the commands were run: $(tail -n 1 errors)" [ $ended = 0 ]
while read -r result command; do
    case $result in
    ok) passed ;;
    left) skip_part "${command#out }" ;;
    *) failed "$command" ;;
    esac
done <results
check "there are 45 commands or more" [ "$(wc -l <results)" -ge 45 ]

summary

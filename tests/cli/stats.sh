#!/bin/sh
# SPDX-License-Identifier: MIT
# --stats of numbers that are drawn, or hard to add up, against fractions; exact ranks, and sums in any order.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900

if find_python && $python -c 'from math import nextafter' 2>/dev/null; then
    # shellcheck disable=SC2086 # ENGINE is a list of options
    $python "$srcdir/tests/helpers/oracle_stats.py" "$SCALE" "$(kernels_here)" "$GPUHISTO" $ENGINE >drawn ||
        broken "oracle_stats.py failed"
    while IFS= read -r line; do
        case $line in
        ok) passed ;;
        *) failed "${line#FAILED }" ;;
        esac
    done <drawn
    check "many cases, not $cases" [ "$cases" -ge 280 ]
else
    skip_part "numbers that are drawn: no python3 of 3.9 or later"
fi

# A quantile is the sample of the exact rank: 0.07 times 100 is 7, not a little more.
percent=$(seq 64 | awk '{ printf "%s0.%02d", (NR > 1 ? "," : ""), $1 }')
seq 64 | awk '{ print "p" $1 "\t" $1 - 1 }' >wanted
seq 0 99 >hundred
awk 'BEGIN { for (i = 0; i < 100; i++) printf "\\%03o", i }' >escapes
# shellcheck disable=SC2059 # the escapes are what is to be printed
printf "$(cat escapes)" >hundred.u8
for input in "-n --bins=100 --min=0 --max=100 hundred" "--values=u8 hundred.u8"; do
    run $input --quantiles=$percent
    grep ^p out | cut -f 1-2 >quantiles
    same "exact ranks, $input" wanted quantiles
    run $input --quantiles=$percent -F json
    sed 's/.*"quantiles"//; s/,"stats".*//' out | tr '}' '\n' |
        sed -n 's/.*"q":\(0\.[0-9]*\),.*"lower":\([0-9]*\),.*/\1 \2/p' |
        awk '{ printf "p%.0f\t%s\n", 100 * $1, $2 }' >quantiles
    same "exact ranks, json, $input" wanted quantiles
    if can_share; then
        mv out table.json
        run_as "$GPUHISTO" --merge --quantiles=$percent table.json
        grep ^p out | cut -f 1-2 >quantiles
        same "exact ranks, --merge, $input" wanted quantiles
    fi
done

# The order of the numbers does not matter.
awk 'BEGIN { for (i = 0; i < 40000; i++) print (i % 7) * 10 ^ (i % 30 - 15) }' >long
run -ns long
mv out in_order
for threads in 1 2 5; do
    sort -r long | run -ns --threads=$threads
    counts "another order, $threads threads" in_order
done

summary

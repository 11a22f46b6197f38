#!/bin/sh
# SPDX-License-Identifier: MIT
# --stats: quantiles of drawn numbers, exact ranks, and sums in any order.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# Intervals hold the sample, and begin and end with edges as the table shows them.
printf '0.001\n0.002\n0.003\n-5\n0\n7e300\ninf\n' >few
[ "$SCALE" = small ] && size=100K || size=1M
data numbers $size 9 >large
echo -12.34567 >single
for list in 0 1 0.5 .5,.25,0.75,1 0,0.001,0.01,0.1,0.123456789,0.9,0.99,0.999,0.9999,1; do
    for file in few large single; do
        for bins in --digits=3 --digits=1 --log=2:32 "--bins=50 --min=-10 --max=1000"; do
            run -n -q $bins --quantiles=$list $file
            check "quantiles $list of $file, $bins" "$HELPERS/oracle_numbers" -q $list out $file
        done
    done
done

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

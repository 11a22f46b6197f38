#!/bin/sh
# SPDX-License-Identifier: MIT
# --diff: the bins of two tables, and each side's counts as if it had been counted in these.
. "${srcdir:-.}/tests/helpers/lib.sh"

diffs()
{
    run_as "$GPUHISTO" --diff "$@"
}

# table NAME OPTION...: counts standard input into a table.
table()
{
    table_=$1
    shift
    run "$@" -F json
    cp out "$table_"
}

awk 'BEGIN { for (i = 1; i < 500; i++) print i * 0.7 }' >one
awk 'BEGIN { for (i = 1; i < 900; i++) print 300 - i }' >two
table 1.json -n <one
table 2.json -n <two
for bins in 1 2 5 13 40; do
    diffs -B $bins 1.json 2.json
    cp out compared
    run -n -B $bins one two
    cut -f 1,2,3 out >sum
    awk -F '\t' '{ print $1 "\t" $2 + $3 "\t" $4 }' compared | sed 's/^invalid.*/invalid\t0/' >added
    same "-B $bins: the sum" sum added
    edges=$(awk -F '\t' '$1 != "-inf" && $1 != "invalid" { printf "%s%s", comma, $1; comma = "," }' compared)
    for side in one:2 two:3; do
        run -n --edges="$edges" ${side%:*}
        cut -f 2 out >expected
        cut -f ${side#*:} compared >column
        same "-B $bins: ${side%:*}" expected column
    done
done

summary

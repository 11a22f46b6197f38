#!/bin/sh
# SPDX-License-Identifier: MIT
# --stats of numbers from 20 distributions of numpy: each interval holds the quantile, and the least,
# the greatest, the sum and the mean are exact.
. "${srcdir:-.}/tests/helpers/lib.sh"

find_numpy || skip "$why_not"
watch_over 600

# shellcheck disable=SC2086 # ENGINE is a list of options
"$python" "$srcdir/tests/helpers/statistics_by_numpy.py" "$SCALE" "$GPUHISTO" $ENGINE >cases ||
    broken "statistics_by_numpy.py failed"
while IFS= read -r line; do
    case $line in
    ok) passed ;;
    *) failed "${line#FAILED }" ;;
    esac
done <cases
check "20 distributions, not $cases cases" [ "$cases" -ge 250 ]
summary

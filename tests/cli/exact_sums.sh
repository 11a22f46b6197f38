#!/bin/sh
# SPDX-License-Identifier: MIT
# --stats of doubles that are hard to add up, by each counter of this processor, against fractions of Python:
# the least, the greatest, the sum, the mean and the standard deviation are exact, or rounded once.
. "${srcdir:-.}/tests/helpers/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
watch_over 300

python3 "$srcdir/tests/helpers/statistics_by_fractions.py" "$GPUHISTO" $(kernels_here) >cases ||
    broken "statistics_by_fractions.py failed"
while IFS= read -r line; do
    case $line in
    ok) passed ;;
    *) failed "${line#FAILED }" ;;
    esac
done <cases
found=$(wc -l <cases)
check "at least one counter, not $found cases" [ "$found" -ge 130 ]
summary

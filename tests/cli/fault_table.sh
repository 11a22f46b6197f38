#!/bin/sh
# SPDX-License-Identifier: MIT
# A sample of what `make fault-table` runs: commands that cover the program, under faults drawn at
# random. The seed is fixed, so that a failure comes back.
. "${srcdir:-.}/tests/helpers/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"

case $SCALE in
small) seconds=6 ;;
full) seconds=120 ;;
*) seconds=300 ;;
esac
watch_over $((seconds + 200))

chmod 711 . # another user runs the program here, too
env TMPDIR="$PWD" GPUHISTO="$GPUHISTO" HELPERS="$HELPERS" EMULATED="$EMULATED" srcdir="$srcdir" \
    SANITIZED="$SANITIZED" python3 "$srcdir/tests/cli/fault_table" --seconds=$seconds --seed=1 >table 2>&1
status=$?
grep -E 'left out: |^VIOLATION|^fault_table: ' table
check "no violations" [ $status -eq 0 ]
[ $status -eq 0 ] || cat table
tried=$(sed -n 's/^fault_table: \([0-9]*\) schedules, .*/\1/p' table)
check "something was tried" [ "${tried:-0}" -gt 0 ]

summary

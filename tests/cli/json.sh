#!/bin/sh
# SPDX-License-Identifier: MIT
# JSON is read as RFC 8259 has it: what documents consist of, in memory and piece by piece, and whether they are valid,
# as lines and in tables, against Python's json. By hand and at random, many of them damaged.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
command -v python3 >/dev/null || skip "python3 is not installed"

if [ "$SCALE" = small ]; then count=1500; else count=100000; fi
python3 "$srcdir/tests/helpers/json_events.py" $count 1 || broken "json_events.py failed"

for utf8 in 0 1; do
    for piece in 0 1 3 61 100000; do
        "$HELPERS/json_events" $piece $utf8 <documents >found
        same "documents in pieces of $piece bytes, UTF-8: $utf8" events.$utf8 found
    done
done

# invalid_of COUNTER FILE: how many lines of the file are not JSON.
invalid_of()
{
    GPUHISTO_CPU=$1 "$GPUHISTO" --device=cpu -q --by=. --max-keys=1000000 -F json "$2" | sed 's/.*"invalid":\([0-9]*\),.*/\1/'
}
for cpu in $(kernels_here); do
    check "valid lines, $cpu" [ "$(invalid_of "$cpu" lines.valid)" = 0 ]
    check "invalid lines, $cpu" [ "$(invalid_of "$cpu" lines.invalid)" = "$(wc -l <lines.invalid)" ]
done

printf 'a-z\t%d\n' "$(wc -l <table.valid)" >whole
grep -c '"schema"' table.valid >tables
printf 'a-z\t%d\n' "$(cat tables)" >whole
run_as "$GPUHISTO" --merge table.valid
counts "documents in tables" whole
accepted=
for table in table.invalid.*; do
    "$GPUHISTO" --merge "$table" >out 2>err && accepted="$accepted $table"
    one_line || accepted="$accepted $table"
done
check "invalid:$accepted" [ -z "$accepted" ]

summary

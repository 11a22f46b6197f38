#!/bin/sh
# SPDX-License-Identifier: MIT
# Text on the emulated GPU with so many buffers that several chunks wait for one snapshot: the table,
# and the line of the first token that is not a number, wherever it is. Characters, whose snapshots
# have more and more pages.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

# Lines of one token to seven, so that no two chunks have as many.
awk 'BEGIN { for (i = 1; i <= 12000; i++) printf "%d%s", i * 7919 % 100003, i * i % 7 ? " " : "\n" }' >plain
lines=$(wc -l <plain)

some=$(few 3 2 8 16 21)

# agree CASE OPTION... FILE...: as the CPU has it, table and message.
agree()
{
    what=$1
    shift
    "$GPUHISTO" --device=cpu "$@" >expected 2>told
    status=$?
    for buffers in $some; do
        run --buffers=$buffers "$@"
        read -r got <status
        check "$what, $buffers buffers: status" [ "$got" -eq "$status" ]
        same "$what, $buffers buffers" expected out
        same "$what, $buffers buffers: message" told err
    done
}

for chunk in $(few 2 1K 4K 16K); do
    ENGINE="--device=gpu --chunk-size=$chunk"
    agree "numbers, $chunk" -n plain
    for line in $(few 4 1 2 $((lines / 3)) $((lines - 1)) "$lines"); do
        sed "${line}s/\$/ odd/" plain >odd
        agree "line $line, $chunk" -n odd
        agree "line $line of the second FILE, $chunk" -n plain odd
        sed "$((lines - line + 1))s/^/early /" odd >both
        agree "two tokens, $chunk" -n both
        agree "fields, $chunk" -nk-1 both
    done
    agree "a result for each FILE, $chunk" -n --each plain odd plain
    agree "few bins, $chunk" -n --edges=10,20,30 odd
done

# Characters of ever more pages.
awk 'BEGIN {
    for (i = 0; i < 12000; i++) {
        c = 3072 + i * 4 # from U+0C00 on, up to U+C77F
        printf "%c%c%c%s", 224 + int(c / 4096), 128 + int(c / 64) % 64, 128 + c % 64, i % 9 ? "" : " "
    }
}' >points
ENGINE="--device=gpu --chunk-size=4K"
agree "characters" -c points plain points
agree "blocks" --blocks points plain points
"$GPUHISTO" --device=cpu -c points plain >expected
lost=0
for at in $(few 3 $(seq 5 9 100)); do
    run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=error:$at "$GPUHISTO" --device=gpu:0,1 --chunk-size=2K -c points plain
    same "characters, lost at call $at" expected out
    if grep -q "emulated failure" err; then lost=$((lost + 1)); fi
done
check "GPUs that counted characters were lost" [ "$lost" -ge 1 ]

# Of two GPUs one is lost, and the chunks that had no snapshot of their own are counted again.
ENGINE="--device=gpu:0,1 --chunk-size=4K"
"$GPUHISTO" --device=cpu -n both >expected 2>told
lost=0
for at in $(few 4 $(seq 8 4 120)); do
    GPUHISTO_DEVICES=2 GPUHISTO_FAULT=error:$at
    export GPUHISTO_DEVICES GPUHISTO_FAULT
    run --buffers=16 -n both
    unset GPUHISTO_DEVICES GPUHISTO_FAULT
    same "lost at call $at" expected out
    check "lost at call $at: message" grep -qFx "$(cat told)" err
    if grep -q "emulated failure" err; then lost=$((lost + 1)); fi
done
check "GPUs were lost" [ "$lost" -ge 1 ]

summary

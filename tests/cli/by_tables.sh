#!/bin/sh
# SPDX-License-Identifier: MIT
# What --by prints: keys in every format, in their order, the first ones (--top), and heat maps.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# --- pictures ---

# Numbers and times: in their order, all of them or those of --top.
awk 'BEGIN { for (i = 99; i >= 1; i--) for (n = 0; n < i % 7 + 1; n++)
    printf "%d %02d:%02d 10.0.0.%d %d\n", i, i / 60, i % 60, i, n }' >sequence
for field in 1 2; do
    [ $field = 1 ] && order=-n || order=-d
    cut -d ' ' -f $field sequence | sort $order -u >expected
    run --by=$field -k4 -p sequence
    sed 1d out | cut -d ' ' -f 1 >rows
    same "a heat map by field $field: all in order" expected rows
    cut -d ' ' -f $field sequence | sort | uniq -c | awk '$1 == 7 { print $2 }' | sort $order >expected
    echo "(other)" >>expected
    run --by=$field -k4 -p --top="$(grep -vc other expected)" sequence
    sed 1d out | cut -d ' ' -f 1 >rows
    same "a heat map by field $field: --top in order" expected rows
    run --by=$field -k4 -p --top=3 sequence
    sed '1d; $d' out | cut -d ' ' -f 1 >rows
    check "a heat map by field $field: --top=3 in order" sort -c $order rows
done
run --by=3 -k4 -p sequence
check "addresses are cut" [ "$(wc -l <out)" = 42 ]
# --all has all keys, and no columns but those between the least and the greatest sample.
for option in --all --top=5; do
    run --by=3 -k4 -p --header $option sequence
    check "$option: columns" grep -q '^key  *0  *1  *2  *3  *4  *5  *6  *count$' out
done

# No heat map is wider than the terminal, in characters that one may be as wide as two of.
printf '%s\n' 'a_key_that_is_rather_long 1' 'a_key_that_is_also_rather_long 20' 'é 3' \
    '日本語日本語日本語 1' '日本語本日本語日本 7' 'b 100' 'b 100' >wide
for columns in 20 21 30 45 60 80 200; do
    for locale in C C.UTF-8; do
        for header in "" --header; do
            LC_ALL=$locale COLUMNS=$columns run --by=1 -k2 -p $header wide
            LC_ALL=C.UTF-8 python3 -c '
import sys, unicodedata
lines = [sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) for line in sys.stdin.read().splitlines()]
sys.exit(max(lines) > int(sys.argv[1]) or len(set(lines[1:])) != 1)' $columns <out
            check "$columns columns, $locale, $header" [ $? = 0 ]
            check "$columns columns, $locale, $header: names" [ "$(cut -d ' ' -f 1 out | sort | uniq -d)" = "" ]
        done
    done
    LC_ALL=C COLUMNS=$columns run --by=1 -k2 -p wide
    LC_ALL=C refute "$columns columns: ASCII" grep -q '[^ -~]' out
    LC_ALL=C COLUMNS=$columns run --by=1 -p wide
    LC_ALL=C refute "$columns columns: bars in ASCII" grep -q '[^ -~]' out
done

# --- many keys, which several threads show ---

awk 'BEGIN { for (i = 0; i < 30000; i++) printf "k\"%d %d.%d\n", i * 7919 % 9001, i % 997, i % 10 }' >many
for options in "-s" "-s -F csv --top=6000" "-F csv --percent" "-s -F json"; do
    # shellcheck disable=SC2086 # several words
    "$GPUHISTO" -n -k2 --by=1 $options --threads=1 many >expected
    for threads in 2 3 8; do
        # shellcheck disable=SC2086
        run -n -k2 --by=1 $options --threads=$threads many
        counts "many keys, $options, $threads threads" expected
    done
done
if [ -c /dev/full ]; then
    "$GPUHISTO" -n -k2 --by=1 -s --threads=3 many >/dev/full 2>err
    status=$?
    check "many keys: no space" [ "$status" -eq 1 ]
    check "many keys: no space, the message" grep -q "No space left on device" err
fi

summary

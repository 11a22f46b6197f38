#!/bin/sh
# SPDX-License-Identifier: MIT
# What --by prints: keys in every format, in their order, the first ones (--top), and heat maps.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

utf8=
if [ "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ]; then utf8=C.UTF-8; fi

# --- lines ---

printf 'b 1\na 2\nb 3\nc 4\nb 5\nc 6\n' >few
printf 'a\t1\nb\t3\nc\t2\n' >expected
run --by=1 few
counts "by name" expected
printf '1\t1\n2\t1\n3\t1\n4\t1\n5\t1\n6\t1\n' >expected
run --by=2 few
counts "another field" expected
printf 'key\tcount\tshare\trunning\nb\t3\t50.0000\t50.0000\nc\t2\t33.3333\t83.3333\n(other)\t1\t16.6667\t100.0000\n' >expected
run --by=1 --top=2 --header --percent few
counts "the first two" expected
printf 'b\t3\nc\t2\na\t1\n' >expected
for top in 3 4 1000; do
    run --by=1 --top=$top few
    counts "--top=$top of 3" expected
done
printf 'b,3\n(other),3\n' >expected
run --by=1 --top=1 -F csv few
counts "--top=1" expected
run --by=1 --top=0 few
refuses "--top=0" 2 "--top=0: "
run --top=1 few
refuses "--top without --by" 2 "--top"
# What is left out does not make a key come first.
printf 'a 1\na x\na x\nb 1\nb 2\nc x\nc x\nc x\n' >words
for top in 1 2; do
    "$GPUHISTO" -nk2 -s --by=1 --top=$top --invalid=skip words >found
    cut -f1,2 found >firsts
    if [ $top = 1 ]; then printf 'key\tcount\nb\t2\n(other)\t1\n'; else printf 'key\tcount\nb\t2\na\t1\n(other)\t0\n'; fi >expected
    same "--top=$top of numbers" firsts expected
done
printf 'x 1\n\n \ny\n' >lacks
printf '1\t1\n(invalid)\t1\n' >expected
run -q --by=2 lacks
counts "a line without the field" expected
printf '1\t1\n' >expected
run --by=2 --invalid=skip lacks
counts "it is left out" expected
: >empty
run -q --by=1 empty
counts "no lines" empty
run --by=1 empty
message "no lines" "warning: the input is empty, so nothing was counted"

run --by=1 --top=1 --interval=0.1 few
tail -n 2 out >rows
printf 'b\t3\n(other)\t3\n' >expected
same "the last table of --interval" expected rows

# --- names ---

printf 'a,b\n"c ""d""",1\n\000,2\n\377\303\251,3\n"x\ty\nz",4\n,5\n' >ugly
cat >expected <<'EOF_'
,1
\x00,1
a,1
"c ""d""",1
x\x09y\x0az,1
\xffé,1
EOF_
run --by=1 --csv -F csv ugly
counts "csv" expected
tr , '\t' <expected | sed 's/^"c ""d"""/c \\x22d\\x22/' >expected.tsv
run --by=1 --csv ugly
counts "tsv" expected.tsv
run --by=1 --csv -F json ugly
cat >expected <<'EOF_'
{"key":"","count":1}
{"key":"\u0000","key_bytes":"00","count":1}
{"key":"a","count":1}
{"key":"c \"d\"","count":1}
{"key":"x\u0009y\u000az","count":1}
{"key":"�é","key_bytes":"ffc3a9","count":1}
EOF_
sed 's/.*"bins":\[//; s/\]}$//; s/},{/}\n{/g' <out >rows
same "json" expected rows
run --by=1 --top=2 -F json few
check "json: totals" grep -q '"mode":"lines",.*"total":6,"counted":5,"other":1,"invalid":0,"bins":\[{"key":"b","count":3},{"key":"c","count":2}\]}$' out

# --- numbers ---

cat >expected <<'EOF_'
b	1	1	1.01
b	3	1	3.01
b	5	1	5.01
(other)	2	1	2.01
(other)	4	1	4.01
(other)	6	1	6.01
EOF_
run --by=1 -k2 --top=1 --nonzero few
counts "numbers" expected
printf 'key\tcount\tinvalid\tmin\tmax\tsum\tmean\na\t1\t0\t2\t2\t2\t2\nb\t3\t0\t1\t5\t9\t3\nc\t2\t0\t4\t6\t10\t5\n' >expected
run --by=1 -k2 -s few
cut -f 1-7 out >rows
same "statistics" expected rows
run --by=1 -k2 -s -F json --top=1 few
check "statistics, json" [ "$(grep -c '"key":"b".*"sum":9,' out)-$(grep -c '"keys":2.*"sum":12,' out)" = 1-1 ]
run --by=1 -k2 -s -p few
refuses "a heat map with statistics" 2 "--plot --by: a heat map has no statistics"
printf 'lines\t6\ninvalid\t0\nkeys\t3\nentropy\t1.459148\n' >expected
run --by=1 -s few
counts "statistics of keys" expected

# --- pictures ---

cat >expected <<'EOF_'
b  3  50.00  ###################
c  2  33.33  #############
a  1  16.67  ######
EOF_
LC_ALL=C COLUMNS=32 run --by=1 -p --top=3 few
counts "plot" expected
seq 1 50 | awk '{ for (i = 0; i < $1; i++) print "k" $1 }' >many
COLUMNS=60 run --by=1 -p many
check "a plot of 40 keys" [ "$(wc -l <out) $(head -n 1 out | cut -d ' ' -f 1) $(tail -n 1 out | cut -d ' ' -f 1)" = "41 k50 (other)" ]
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
for options in "-k2 -p" "-k2 -F pgm" -p; do
    run -q --by=1 $options empty
    counts "no rows: $options" empty
done

COLUMNS=60 run --by=1 -p --all many
check "a plot of all" [ "$(wc -l <out)" -eq 50 ]

# A day of latencies: at 9 some requests are ten times as slow, at 3 a server hangs.
awk 'BEGIN {
    for (hour = 0; hour < 24; hour += 3) for (i = 1; i <= 60 + hour * 20; i++) {
        u = (i * 7919 % 997 + 1) / 998
        ms = exp(3 + 0.8 * log(u / (1 - u)))
        if (hour == 9 && i % 4 == 0) ms *= 10
        if (hour == 3 && i % 3 == 0) ms = 2000 + i
        printf "%02d %.3f\n", hour, ms / 1000
    }
}' >day
cat >expected <<'EOF_'
key  0.001     0.01      0.1       1  2   5  10   count
00   =  == =#=#########=====  =           =          60
03   -  -- ---======-==----- ::       #:  :         120
06   =  == =#=#########===== ==     ----  -         180
09   =  == =#=###########=#======-=----=  -    -    240
12   =  == =#=#########=#=== =-   ------  -         300
15   =  == =#=#########===== =-  -------  -         360
18   =  == =#=#########===== =-  ---::::  :         420
21   =  == =#=##########====:=-  ---::::  :         480
EOF_
LC_ALL=C COLUMNS=80 run --by=1 -k2 -p --header day
counts "a heat map of 80 columns" expected
cat >expected <<'EOF_'
key  0.001       0.004   0.01  0.02    0.05  0.1   0.2     0.5   1     2       5     10  16  count
00   ==    ====  ==##==##################==========    ==                      ==               60
03   --    ----  ------============--====----------  ::::              ##::    ::              120
06   ==    ====  ==##==##################==========  ====          --------    --              180
09   ==    ====  ==##==######################==##============--==--------==    --        --    240
12   ==    ====  ==##==##################==##======  ==--      ------------    --              300
15   ==    ====  ==##==##################==========  ==--    --------------    --              360
18   ==    ====  ==##==##################==========  ==--    ------::::::::    ::              420
21   ==    ====  ==##==####################========::==--    ------::::::::    ::              480
EOF_
LC_ALL=C COLUMNS=132 run --by=1 -k2 -p --header day
counts "a heat map of 132 columns" expected
cat >expected <<'EOF_'
    0.001     0.01      0.1       1  2   5  10
00  ▓  ▓▓ ▓█▓█████████▓▓▓▓▓  ▓           ▓        60
03  ▒  ▒▒ ▒▒▒▓▓▓▓▓▓▒▓▓▒▒▒▒▒ ░░       █░  ░       120
06  ▓  ▓▓ ▓█▓█████████▓▓▓▓▓ ▓▓     ▒▒▒▒  ▒       180
09  ▓  ▓▓ ▓█▓███████████▓█▓▓▓▓▓▓▒▓▒▒▒▒▓  ▒    ▒  240
12  ▓  ▓▓ ▓█▓█████████▓█▓▓▓ ▓▒   ▒▒▒▒▒▒  ▒       300
15  ▓  ▓▓ ▓█▓█████████▓▓▓▓▓ ▓▒  ▒▒▒▒▒▒▒  ▒       360
18  ▓  ▓▓ ▓█▓█████████▓▓▓▓▓ ▓▒  ▒▒▒░░░░  ░       420
21  ▓  ▓▓ ▓█▓██████████▓▓▓▓░▓▒  ▒▒▒░░░░  ░       480
EOF_
if [ -n "$utf8" ]; then
    LC_ALL=$utf8 COLUMNS=80 run --by=1 -k2 -p day
    counts "a heat map in UTF-8" expected
else
    skip_part "a heat map in UTF-8: there is no such locale"
fi
run --by=1 -k2 -F pgm -o image.pgm day
check "pgm: no more bytes than cells" [ "$(tail -c +"$(($(grep -a -b -m 1 '^65535$' image.pgm | cut -d : -f 1) + 7))" image.pgm | wc -c)" -eq \
    $((2 * $(grep -a -m 1 '^[0-9]* 8$' image.pgm | tr ' ' '*'))) ]
check "pgm: its lines" [ "$(grep -a -c '^# line [0-9]*: ' image.pgm)" -eq 8 ]

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

#!/bin/sh
# SPDX-License-Identifier: MIT
# --stats: statistics instead of bins.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# Makes `expected` of lines on standard input, with tabs between their words.
expect()
{
    tr ' ' "$tab" >expected
}

# --- numbers ---

printf '1\n2\n3\n4.5\nx\n-7\n0\n' >numbers
bins=--edges=-10,0,1,1.5,10
expect <<'EOF'
count 6
invalid 1
min -7
max 4.5
sum 3.5
mean 0.5833333333333334
stddev 3.6789566757740193
p0 -7
p50 1 1.5
p90 4.5
p100 4.5
EOF
for option in -s --stats ''; do
    run -qn $option $bins --quantiles=0,0.5,0.9,1 numbers
    counts "numbers, --quantiles $option" expected
done
run -qns $bins --quantiles=0,0.5,0.9,1 --threads=3 numbers
counts "numbers, three threads" expected
awk -F "$tab" -v OFS=, '{ print $1, $2, $3 }' expected >expected.csv
run -qns $bins -F csv --quantiles=0,0.5,0.9,1 numbers
counts "numbers, csv" expected.csv
{ echo name,value,upper && cat expected.csv; } >headed
run -qns $bins -F csv --header --quantiles=0,0.5,0.9,1 numbers
counts "numbers, csv with header" headed
{ printf 'name\tvalue\tupper\n' && cat expected; } >headed
run -qns $bins --header --quantiles=0,0.5,0.9,1 numbers
counts "numbers, tsv with header" headed
sed "s/^invalid.*/invalid${tab}0/" expected >skipped
run -ns $bins --invalid=skip --quantiles=0,0.5,0.9,1 numbers
counts "numbers, --invalid=skip" skipped

# One that is asked for twice is there once.
run -qn --quantiles=0.5,1,0.50 numbers
check "a quantile twice" [ "$(grep -c '^p' out)" = 2 ]

# JSON keeps the bins, and has the statistics beside them.
cat >expected.json <<'EOF'
{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--edges=0,2,4"],"total":3,"counted":2,"other":1,"below":1,"above":0,"invalid":0,"bins":[{"lo":0,"hi":2,"count":1},{"lo":2,"hi":4,"count":1}],"quantiles":[{"q":0.5,"value":0,"error":1,"lower":0,"upper":2},{"q":0.9,"value":3,"error":0,"lower":3,"upper":3},{"q":0.99,"value":3,"error":0,"lower":3,"upper":3},{"q":0.999,"value":3,"error":0,"lower":3,"upper":3}],"stats":{"count":3,"invalid":0,"min":-1,"max":3,"sum":3,"mean":1,"stddev":1.632993161855452,"ddof":0,"p50":[0,2],"p90":3,"p99":3,"p99.9":3},"moments":{"least":-1,"greatest":3,"lowest":0,"highest":0,"sum":"3p0","squares":"bp0","check":"82e43b5da23e8263"}}
EOF
for option in -s --quantiles "--quantiles=0.1 --quantiles"; do
    printf '1 -1 3\n' | run -n $option -F json --edges=0,2,4
    counts "numbers, json, $option" expected.json
done
cat >expected.json <<'EOF'
{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--digits=3"],"total":4,"counted":3,"other":1,"below":0,"above":0,"invalid":1,"bins":[{"lo":1,"hi":1.01,"count":2},{"lo":2,"hi":2.01,"count":1}],"quantiles":[{"q":0.5,"value":1.005,"error":0.005,"lower":1,"upper":1.01}],"stats":{"count":3,"invalid":1,"min":1,"max":2,"sum":4.0009,"mean":1.3336333333333332,"stddev":0.47119253201024125,"ddof":0,"p50":[1,1.01]},"moments":{"least":1,"greatest":2,"lowest":0,"highest":0,"sum":"4003afb7e90ff9p-52","squares":"6007604940e6a42b57212412031p-104","check":"97728419fb5d0100"}}
EOF
printf '1 2 1.0009 x' | run -nq -F json --quantiles=0.5
counts "numbers, json, one quantile" expected.json
cat >expected.json <<'EOF'
{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--digits=3"],"total":2,"counted":0,"other":2,"below":0,"above":2,"invalid":0,"bins":[],"quantiles":[{"q":0.5,"value":1e+300,"error":0,"lower":1e+300,"upper":1e+300},{"q":1,"value":"inf","error":0,"lower":"inf","upper":"inf"}],"stats":{"count":2,"invalid":0,"min":1e+300,"max":"inf","sum":"inf","mean":"inf","stddev":"nan","ddof":0,"p50":1e+300,"p100":"inf"},"moments":{"least":1e+300,"greatest":"inf","lowest":0,"highest":1,"sum":"17e43c8800759cp944","squares":"23ace5c50a5fbfd7e15f607f71p1892","check":"1559368eba15176d"}}
EOF
echo inf 1e300 | run -n -F json --quantiles=0.5,1
counts "numbers, json, beyond the bins" expected.json

# An interval does not go beyond the least and the greatest number, even outside of the bins.
expect <<'EOF'
p0 -5
p25 -5 0
p50 0 10
p75 10 70
p100 70
EOF
printf '%s\n' -5 -3 2 3 4 20 70 | run -ns --edges=0,10 --quantiles=0,0.25,0.5,0.75,1
tail -n 5 out >quantiles
same "quantiles outside of the bins" expected quantiles

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
expect <<'EOF'
p0 1.2345678901234567
p40 1.2345678901234567 1.24
p60 1.23 1.24
p80 2 2.01
p100 12345.678
EOF
sed "s/^p60${tab}1.23/p60${tab}1.2345678901234567/" expected >narrowed
printf '%s\n' 1.2345678901234567 1.2349 1.2385 2 12345.678 | run -n --quantiles=0,0.4,0.6,0.8,1
tail -n 5 out >quantiles
same "least, bins, greatest" narrowed quantiles
# 0.25, 0.3, 0.3, 0.303 and 1
printf '\000\000\200\076\232\231\231\076\232\231\231\076\315\312\232\076\000\000\200\077' |
    run --values=f32 --quantiles=0.5
tail -n 1 out >quantiles
printf 'p50\t0.3\t0.301\n' >expected
same "f32: edges as in the table" expected quantiles
# The float nearest to 0.7 is below it, and a sample.
printf '\000\000\000\000\063\063\063\077\063\063\063\077\063\063\063\077\000\000\200\077' |
    run --values=f32 --quantiles=0.5
tail -n 1 out >quantiles
printf 'p50\t0.699999988079071\t0.701\n' >expected
same "f32: an edge that is below its decimal" expected quantiles
# Names of quantiles that lie close together differ, and are no longer than it takes.
expect <<'EOF'
p0.0001 1
p29 3 3.01
p50 5 5.01
p50.00000000000001 6 6.01
p99.9 10
p99.99999999999999 10
p100 10
EOF
close=0.000001,0.29,0.5,0.5000000000000001,0.999,0.9999999999999999,1
seq 10 | run -n --quantiles=$close
tail -n 7 out >quantiles
same "quantiles close together" expected quantiles
seq 10 | run -n --quantiles=$close -F json -o close.json
tr , '\n' <close.json | sed -n 's/.*"\(p[0-9.e-]*\)":.*/\1/p' >names
cut -f 1 expected >wanted
same "quantiles close together, json" wanted names
seq 10 | run -n --quantiles=$close -F csv
tail -n 7 out | cut -d , -f 1 >names
same "quantiles close together, csv" wanted names
seq 10 | run -np --quantiles=$close
tail -n 7 out | awk '{ print $1 }' >names
same "quantiles close together, plot" wanted names
sed -i '1,/^$/d' out
check "quantiles close together, plot: columns are aligned" \
    [ "$(awk '{ print index($0, " " $2) }' out | sort -u | wc -l)" -eq 1 ]
seq 10 >ten
run -n --each --quantiles=$close ten
sed -n '1s/\t/\n/gp' out | grep '^p[0-9.]*$' >names
same "quantiles close together, --each" wanted names
if can_share; then
    run_as "$GPUHISTO" --merge --quantiles=$close close.json
    tail -n 7 out >quantiles
    same "quantiles close together, --merge" expected quantiles
    run_as "$GPUHISTO" --merge --quantiles=$close -F json close.json
    same "quantiles close together, --merge to json" close.json out
else
    skip_part "quantiles of --merge: $why_not"
fi
# A quantile is the sample of the exact rank: 0.07 times 100 is 7, not a little more. Digits that no double
# holds are told apart, and none of them makes it the greatest.
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
expect <<'EOF'
p0 0
p99 98
p99.0000000000000000000001 99
p99.99999999999999999999 99
p100 99
EOF
long=0,0.99,0.990000000000000000000001,0.9999999999999999999999,1.000
run --values=u8 --quantiles=$long hundred.u8
tail -n 5 out >quantiles
same "more digits than a double holds" expected quantiles
run --values=u8 --quantiles=$long -F json hundred.u8
check "more digits, json" grep -qF '{"q":0.990000000000000000000001,"value":99,' out

expect <<'EOF'
p0 -inf
p50 0
p100 inf
EOF
printf 'inf 0 -inf' | run -n --log=2:32 --quantiles=-0,0.5,1
tail -n 3 out >quantiles
same "infinity and zero" expected quantiles
printf '%s\n' 1 2 3 | run -np --quantiles=0.123456789,0.5
sed -i '1,/^$/d' out
check "plot: columns are aligned" [ "$(awk '{ print index($0, " " $2) }' out | sort -u)" = 13 ]

# A sum is exact, whatever would be rounded on the way, and the order of the numbers does not matter.
expect <<'EOF'
sum 3
mean 0.5
EOF
echo 1e308 1e308 -1e308 -1e308 1e-300 3 | run -ns
grep -e ^sum -e ^mean out >statistics
same "a sum that overflows on the way" expected statistics
awk 'BEGIN { for (i = 0; i < 40000; i++) print (i % 7) * 10 ^ (i % 30 - 15) }' >long
run -ns long
mv out in_order
for threads in 1 2 5; do
    sort -r long | run -ns --threads=$threads
    counts "another order, $threads threads" in_order
done

expect <<'EOF'
count 0
invalid 0
min nan
max nan
sum 0
mean nan
stddev nan
p50 nan
p90 nan
p99 nan
p99.9 nan
EOF
run -qns </dev/null
counts "no numbers" expected
expect <<'EOF'
count 3
invalid 0
min -inf
max 2
sum -inf
mean -inf
stddev nan
p50 1 1.5
EOF
printf '%s\n' 1 -inf 2 | run -ns --edges=1,1.5,2 --quantiles=0.5
counts "an infinite number" expected

# Whole numbers of up to 64 bits are exact, whatever doubles can hold; a sum of more bits is rounded.
expect <<'EOF'
min -9007199254740993
max 18446744073709551615
sum 1.8446744073709552e+19
p0 -9007199254740993
p100 18446744073709551615
EOF
printf '%s\n' 9007199254740993 -9007199254740993 >ids
printf '%s\n' 18446744073709551615 2 >more.ids
run -n --quantiles=0,1 ids more.ids
grep -e '^m[ia]' -e '^sum' -e '^p' out >statistics
same "64 bits in text" expected statistics
printf '1\n9007199254740992\n' | run -ns
check "a sum that no double holds" grep -qx "sum${tab}9007199254740993" out
run -n --each --quantiles=0,1 ids more.ids
check "64 bits in text, --each" [ "$(cut -f 4-6 out | tail -n 2 | tr '\t\n' '  ')" = \
    "-9007199254740993 9007199254740993 0 2 18446744073709551615 1.8446744073709552e+19 " ]
if can_share; then
    for file in ids more.ids; do run -ns -F json -o $file.json $file; done
    run -ns -F json ids more.ids
    mv out expected
    run_as "$GPUHISTO" --merge -s -F json ids.json more.ids.json
    counts "64 bits in text, --merge" expected
fi

# --- values ---

expect <<'EOF'
count 4
invalid 0
min -1
max 32767
sum 32769
mean 8192.25
stddev 14188.238568881621
p50 1
p90 32767
EOF
printf '\001\000\002\000\377\377\377\177' |
    run -s --values=i16 --bins=8 --min=-4 --max=4 --quantiles=0.5,0.9
counts "i16" expected
expect <<'EOF'
min 0
max 18446744073709551615
sum 18446744073709551615
mean 9.223372036854776e+18
EOF
printf '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\000' |
    run -s --values=u64 --bins=1 --min=0 --max=9
sed -n '3,6p' out >statistics
same "u64" expected statistics

# No type needs bins for its statistics. Quantiles of the larger ones have three digits, as f32's have.
types="u24 3 i24 3 u32 4 i32 4 u64 8 i64 8 u16be 2 i24be 3"
# shellcheck disable=SC2086 # pairs of words
set -- $types
while [ $# -gt 0 ]; do
    # 1 and 2000 where that is the byte order, and others where it is not
    printf '\001\000\000\000\000\000\000\000\320\007\000\000\000\000\000\000' | head -c $((2 * $2)) >few.values
    run -s --values=$1 few.values
    check "$1: statistics without bins" [ "$(cat status) $(cut -f 1 out | tr '\n' ' ')" = \
        "0 count invalid min max sum mean stddev p50 p90 p99 p99.9 " ]
    shift 2
done
# -7, -1009, 0, 999, 1000, 12345678, 12999999
printf '\371\377\377\377\017\374\377\377\000\000\000\000\347\003\000\000\350\003\000\000\116\141\274\000\077\135\306\000' >wholes
expect <<'EOF'
count 7
invalid 0
min -1009
max 12999999
sum 25346660
mean 3620951.4285714286
stddev 5727586.347285786
p0 -1009
p20 -7
p40 0
p50 999
p60 1000 1009
p80 12300000 12399999
p100 12999999
EOF
run -s --values=i32 --quantiles=0,0.2,0.4,0.5,0.6,0.8,1 wholes
counts "i32 without bins" expected
expect <<'EOF'
-1010 1 -1000
-7 1 -6
0 1 1
999 1 1000
1000 1 1010
12300000 1 12400000
12900000 1 13000000
invalid 0
EOF
run --values=i32 --digits=3 wholes
counts "i32, --digits=3" expected
if can_share; then
    run -s -F json --values=i32 -o wholes.json wholes
    check "i32, json: the bins are named" grep -qF '"options":["--values=i32","--digits=3"]' wholes.json
    run_as "$GPUHISTO" --merge -s -F json wholes.json
    same "i32 without bins, --merge" wholes.json out
fi

# Whole numbers that doubles do not hold: the value in JSON may be off, and says so.
printf '\001\000\000\000\000\000\000\200\003\000\000\000\000\000\000\200' |
    run -F json --values=u64 --edges=0,18446744073709551615 --quantiles=0
check "u64, json: the interval" grep -q '"lower":9223372036854775809,"upper":9223372036854775809}' out
check "u64, json: the error" grep -q '"value":9.223372036854776e+18,"error":2.220446049250313e-16,' out

# --- bytes and letters ---

expect <<'EOF'
bytes 12
distinct 9
entropy 3.022055
chi-square 414.67
probability 0.000000
mean 93.83333333333333
printable 1.000000
coincidence 0.060606
EOF
echo 'hello world' | run -s
counts "bytes" expected
expect <<'EOF'
bytes 256
distinct 256
entropy 8.000000
chi-square 0.00
probability 1.000000
mean 127.5
printable 0.390625
coincidence 0.000000
EOF
awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\%03o", i }' >escapes
# shellcheck disable=SC2059 # the escapes are what is to be printed
printf "$(cat escapes)" | run -bs
counts "each byte once" expected
expect <<'EOF'
bytes 12
letters 10
share 0.833333
entropy 2.446439
EOF
echo 'hello world' | run -l -s
counts "letters" expected
expect <<'EOF'
bytes 0
distinct 0
entropy nan
chi-square nan
probability nan
mean nan
printable nan
coincidence nan
EOF
run -s </dev/null
counts "no bytes" expected

# --- what does not go together ---

run -ns --device=gpu numbers
refuses "sums on a GPU" 2 "--device=gpu: the GPU cannot sum numbers for --stats and --quantiles; leave out --device"
run -n --quantiles --device=gpu numbers
refuses "quantiles on a GPU" 2 "--device=gpu: the GPU cannot sum numbers for --stats and --quantiles; leave out --device"
run_as "$GPUHISTO" -ns --kernel=numbers numbers
refuses "sums by a kernel" 2 "--kernel=numbers" "-s" "cannot be combined"
run --quantiles numbers
refuses "quantiles of bytes" 2 "--quantiles needs --numbers, --values, --merge or --diff"
for option in --percent --nonzero --all; do
    for stats in -s -ns "-n --quantiles"; do
        run $stats $option numbers
        refuses "$stats $option" 2 "$option cannot be combined; --format=json and --plot have both"
    done
    run -nqs $option -F json numbers
    check "json, $option" [ "$(cat status)" -eq 0 ]
done
# Bins that are not printed need not be built.
echo 7.001 7.002 | run -ns -B 10
check "-B without a range" grep -q "^p99.9${tab}7.002\$" out

summary

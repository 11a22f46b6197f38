#!/bin/sh
# SPDX-License-Identifier: MIT
# --numbers: decimal text, however it comes and wherever it is cut, in every kind of bins; what is no
# number.
. "${srcdir:-.}/tests/helpers/lib.sh"
counters=$(kernels_here)

watch_over 600

# expect BINS FILE...: the table and the message that are expected.
expect()
{
    "$HELPERS/oracle_numbers" "$@" >expected 2>told
}

# shows CASE: the last run gave both.
shows()
{
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    same "$1" expected out
    same "$1: message" told err
}

# --- tokens ---

# as TABLE-ROWS TEXT [OPTION...]: what one token becomes; rows separated by blanks, columns by
# colons.
as()
{
    rows=$1 text=$2
    shift 2
    printf '%s' "$rows" | tr ' :' '\n\t' >expected
    echo >>expected
    printf -- "$text" | run -n -q "$@"
    counts "'$text' $*" expected
}
as '0:1:0 invalid:0' '0'
as '0:2:0 invalid:0' '-0 0.000'
as '5e-324:3:1e-38 invalid:0' '5e-324 1e-300 9.999e-39'
as '-1e-38:3:0 invalid:0' '-5e-324 -1e-300 -1e-38'
as '1e-38:1:1.01e-38 invalid:0' '1e-38'
as '-1.01e-38:1:-1e-38 invalid:0' '-1.00000001e-38'
as '1:2:1.01 invalid:0' '1 1.00999999999999'
as '1.01:1:1.02 invalid:0' '1.01'
as '-1.01:2:-1 invalid:0' '-1.01 -1.00001'
as '-1:1:-0.999 invalid:0' '-1'
as '-12:1:-11.9 invalid:0' '-12'
as '499:1:500 500:1:501 502:1:503 503:2:504 invalid:0' '499 500 502 503 503.9'
as '0.012:1:0.0121 invalid:0' '0.012'
as '0.3:1:0.301 invalid:0' '0.30000000000000004'
as '0.299:1:0.3 0.3:1:0.301 invalid:0' '0.29999999999999993 0.3'
as '1e+21:1:1.01e+21 invalid:0' '1e21'
as '9.99e+38:1:1e+39 invalid:0' '9.999e38'
as '1e+39:3:inf invalid:0' '1e39 1e300 1.7976931348623157e308'
as '-1e+39:1:-9.99e+38 invalid:0' '-1e39'
as '-inf:2:-1e+39 invalid:0' '-1.0000000001e39 -1e300'
as '1e+39:4:inf invalid:0' 'inf +INFINITY 1e309 1e99999999999'
as '-inf:2:-1e+39 invalid:0' '-inf\n-1e400'
as '-12:1:-11 12:2:13 invalid:0' '-12 12 12.99' --digits=2
as '9:1:10 10:2:20 invalid:0' '9.99 10 19.9' --digits=1
as '-9.9999:1:-9.9998 1234.5:1:1234.6 invalid:0' '1234.56 -9.9999' --digits=5
as '0:2:0 1:2:1.03125 invalid:0' '-0 0 1 1.031249999999999' --log=2:32
as '5e-324:1:6.953355807835e-310 invalid:0' '5e-324' --log=2:32
as '-6.953355807835e-310:1:0 invalid:0' '-5e-324' --log=2:32
as '1:2:1.03125 invalid:0' '1 1.031249999999999' --log=2:32
as '1.03125:1:1.0625 invalid:0' '1.03125' --log=2:32
as '-1.03125:2:-1 invalid:0' '-1.03125 -1.00001' --log=2:32
as '-1:1:-0.984375 invalid:0' '-1' --log=2:32
as '1.7696041796300922e+308:1:inf invalid:0' '1.7976931348623157e308' --log=2:32
as '-inf:1:-1.7696041796300922e+308 invalid:0' '-1.7976931348623157e308' --log=2:32
as 'inf:4:inf invalid:0' 'inf +INFINITY 1e309 1e99999999999' --log=2:32
as '-inf:2:-inf invalid:0' '-inf\n-1e400' --log=2:32
as 'invalid:8' 'nan 12abc 0x10 --1 . e5 1e +\n'
as 'invalid:3' '1,5 1_000 \033[0m'
as 'invalid:0' ''
as 'invalid:0' ' \n\r\n\t\v\f'
as '97:3:97.1 invalid:0' '97\r\n97\r\n97'

# --- every kind of bins ---

[ "$SCALE" = small ] && size=30000 || size=100000
data numbers $size 3 >in
"$HELPERS/make_zstd" -f 777 <in >in.zst
for bins in digits:1 digits:2 digits:3 digits:4 digits:5 log-linear 0:1000:37 -1e5:1e5:100 0:1e6:5000; do
    min=${bins%%:*} count=${bins##*:} max=${bins#*:} max=${max%:*}
    options="-n --bins=$count --min=$min --max=$max"
    case $bins in
    log-linear) options="-n --log=2:32" ;;
    digits:3) options=-n ;;
    digits:*) options="-n --digits=${bins#*:}" ;;
    esac
    expect $bins in
    run $options in
    shows "$bins"
    for cpu in $counters; do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options in
        shows "$bins, $cpu"
    done
    expect $bins "standard input" <in
    run $options <in
    shows "$bins, standard input"
    cat in | run $options --chunk-size=1000
    shows "$bins, pipe"
    cat in.zst | run $options --threads=3
    shows "$bins, zstd"
done
printf -- '-inf\t1\t0\n0\t2\t1\n1\t0\t2.5\n2.5\t1\tinf\ninvalid\t0\n' >expected
printf '0.5 -1\n0 2.5' | run -n --edges=0,1,2.5
counts "edges" expected
printf -- '-inf\t1\t1\n1\t1\t10\n10\t2\t100\n100\t1\tinf\ninvalid\t0\n' >expected
printf '0 1 10 99.999999 100' | run -n --log --min=1 --max=50
counts "powers" expected
printf '1e+39\t1\tinf\ninvalid\t0\n' >expected
echo 1e300 | run -n
counts "a number beyond the decades" expected

# --- at most so many round bins over what was seen ---

# round BINS TEXT ROWS: the table of -B BINS, without the row of what is invalid; columns are
# separated by colons, rows by blanks.
round()
{
    printf '%s invalid:0\n' "$3" | tr ' :' '\n\t' >expected
    printf -- "$2" | run -n -B "$1"
    counts "-B $1 of '$2'" expected
}
round 4 '1 2 3 4' '-inf:0:1 1:1:2 2:1:3 3:1:4 4:1:5 5:0:inf'
round 3 '1 2 3 4' '-inf:0:0 0:1:2 2:2:4 4:1:6 6:0:inf'
round 5 '499 500 502 503' '-inf:0:499 499:1:500 500:1:501 501:0:502 502:1:503 503:1:504 504:0:inf'
round 10 '-0.3 0 0.25' '-inf:0:-0.3 -0.3:1:-0.2 -0.2:0:-0.1 -0.1:0:0 0:1:0.1 0.1:0:0.2 0.2:1:0.3 0.3:0:inf'
round 1 '-1 1' '-inf:0:-2 -2:1:0 0:1:2 2:0:inf'
round 1 '1 998' '-inf:0:0 0:2:1000 1000:0:inf'
round 2 '0 0 0' '-inf:0:0 0:3:1 1:0:inf'
round 3 '-1e300 0.5 0.6 1e39 inf' '-inf:1:0.5 0.5:1:0.55 0.55:0:0.6 0.6:1:0.65 0.65:2:inf'
round 1 '1e-300' '-inf:0:0 0:1:1e-38 1e-38:0:inf'
round 7 '1e-30 1e20' '-inf:0:0 0:1:2e+19 2e+19:0:4e+19 4e+19:0:6e+19 6e+19:0:8e+19 8e+19:0:1e+20 1e+20:1:1.2e+20 1.2e+20:0:inf'
round 3 '-2 -1 0' '-inf:0:-2 -2:1:-1 -1:1:0 0:1:1 1:0:inf'
# Several bins that all begin at whole numbers are not cut, whether what is in them is whole or not; one is.
round 20 '1 2 3 4 5 6' '-inf:0:1 1:1:2 2:1:3 3:1:4 4:1:5 5:1:6 6:1:7 7:0:inf'
round 20 '-3 0 1e0' '-inf:0:-3 -3:1:-2 -2:0:-1 -1:0:0 0:1:1 1:1:2 2:0:inf'
round 6 '1 2 3.5' '-inf:0:1 1:1:1.5 1.5:0:2 2:1:2.5 2.5:0:3 3:0:3.5 3.5:1:4 4:0:inf'
round 20 '5.001 7.001' '-inf:0:5 5:1:6 6:0:7 7:1:8 8:0:inf'
round 5 '0 0' '-inf:0:0 0:2:1 1:0:inf'
printf 'invalid\t1\n' >expected
echo x | run -n -q -B 5
counts "-B of nothing" expected

# hinted BINS TEXT ROWS RANGE: the same, and the range that narrower bins need, as options. With these the
# last bin has a sample, too.
hinted()
{
    printf '%s invalid:0\n' "$3" | tr ' :' '\n\t' >expected
    printf -- "$2" | run -n -B $1
    same "-B $1 of '$2': rows" expected out
    message "-B $1 of '$2'" "gpuhisto: --bins=${1%% *}: for narrower bins, use $4"
    printf -- "$2" | run -n -B "${1%% *}" ${4%% instead*}
    check "-B $1 of '$2': narrower bins" awk -F '\t' '
        NR == 1 || $3 == "inf" || $1 == "invalid" { bad += $2; next } { last = $2 }
        END { exit bad || !last }' out
}
case $ENGINE in
*gpu*) # does not know the least and the greatest number, but the edges of their bins
    printf '7 7' | GPU_EVERY=1 run -n -B 10
    message "-B of one number" "for narrower bins, use --min=7 --max=7.01"
    ;;
*)
    round 10 '7 7.0 +7 70e-1 7' '-inf:0:7 7:5:7.01 7.01:0:inf'
    round 2 '-123.456 -123.456' '-inf:0:-124 -124:2:-123 -123:0:inf'
    round 5 '7.5 7.50 +75e-1' '-inf:0:7.5 7.5:3:7.51 7.51:0:inf'
    hinted 40 '5.0001\n5.0002\n5.0003\n' '-inf:0:5 5:3:5.01 5.01:0:inf' '--min=5.0001 --max=5.0003004'
    hinted 24 "$(seq -s ' ' 1700000000 60 1700086400)" '-inf:0:1700000000 1700000000:1441:1710000000 1710000000:0:inf' \
        '--min=1700000000 --max=1700086640'
    echo 1e20 100000000000000016384 | run -n -B 10
    message "-B of neighbours" "use --min=1e+20 --max=1.000000000000001e+20"
    hinted 24 '1000 1002 1023' '-inf:0:1000 1000:2:1010 1010:0:1020 1020:1:1030 1030:0:inf' '--min=1000 --max=1024'
    hinted '5 --digits=5' '-1000.02 -1000.01' '-inf:0:-1000.1 -1000.1:2:-1000 -1000:0:inf' \
        '--min=-1000.02 --max=-1000.00995 instead of --digits'
    hinted 2 '3.25e-20 3.251e-20' '-inf:0:3.25e-20 3.25e-20:2:3.26e-20 3.26e-20:0:inf' '--min=3.25e-20 --max=3.251002e-20'
    printf '%s\n' 4.3023858225225939e-312 1.8424666170775799e-313 2.9468900592148517e-312 -1.5296826592632458e-312 -1.2872880442067150e-312 \
        -2.7195049815590108e-312 -4.8508493004684217e-312 7.3834029090624890e-313 4.2794556296113850e-312 2.2701706895147676e-313 |
        run_as timeout 60 "$GPUHISTO" $ENGINE -n --stats --format=json
    message "subnormal numbers" "gpuhisto: for narrower bins, use --bins=20 --min=-4.851e-312 --max=4.309e-312"
    # In fields, after a header, and where several readers count.
    printf 'a,7,7\n\nb,7,7.001\nb,"7.0",7\n' >lines
    for field in "-t , -k 3" "--csv --header-line -k3" "--after=7,"; do
        run -nq $field -B 10 lines
        refute "-B in a field, $field" [ -s err ]
        run -n $field -B 10 --invalid=skip lines
        check "-B in a field, $field" grep -q "use --min=7 --max=7.00[0-9]*1$" err
    done
    awk 'BEGIN { for (i = 0; i < 200000; i++) print i % 3 ? "7.005" : "7.0050" }' >same
    echo 7.006 | cat same - | run -n -B 10 --chunk-size=5003
    message "-B of one number and another one, a pipe" "use --min=7.005 --max=7.00601"
    run -n -B 10 --chunk-size=5003 same
    refute "-B of one number" [ -s err ]
    ;;
esac

# The rows do not depend on what else is known of the numbers.
rows()
{
    sed 's/.*"bins":\[\([^]]*\).*/\1/' out
}
for words in 7 '5.001 7.001' '5 5.001' '-5.001' '-3 -0 2' '0.5 5' '1e300 -1e300 7.001'; do
    echo "$words $words" >nearly
    run -nq -B 10 -F json nearly && rows >expected
    "$GPUHISTO" -nq -F json nearly >one.json && "$GPUHISTO" -nqs -F json nearly >stats.json
    for options in "-nqs nearly" "-nq --threads=2 --chunk-size=10 nearly" "--merge -q one.json" "--merge -qs stats.json" "--merge -q stats.json"; do
        run_as "$GPUHISTO" $options -B 10 -F json && rows >nearly.rows
        same "-B of '$words', $options" expected nearly.rows
    done
done

# --log without a range: 1, 2 and 5 times powers of ten, from the first to the last that was seen on either
# side of zero, which has a row of its own.
logged()
{
    printf '%s invalid:0\n' "$3" | tr ' :' '\n\t' >expected
    printf -- "$2" | run -n "$1"
    counts "$1 of '$2'" expected
}
logged --log '1 2 3 4 5 6' '1:1:2 2:3:5 5:2:10'
logged --log '0 40 300 -2 -0.2' '-2:1:-1 -1:0:-0.5 -0.5:0:-0.2 -0.2:1:-0.1 0:1:0 20:1:50 50:0:100 100:0:200 200:1:500'
logged --log '1e40 999 -inf 9e-39 -4e-39' '-inf:1:-1e+39 -1e-38:1:0 5e-324:1:1e-38 500:1:1000 1e+39:1:inf'
logged --log=10 '0.099999 0.1 12 -1e3 -999' '-1000:2:-100 0.01:1:0.1 0.1:1:1 1:0:10 10:1:100'
printf 'invalid\t1\n' >expected
echo x | run -n -q --log
counts "--log of nothing" expected
seq 1 999 | run -n --log --nonzero
mv out expected
seq 1 999 | run -n -q --edges=1,2,5,10,20,50,100,200,500,1000 --nonzero
counts "--log, by edges" expected
seq 0 3 | run -n --log --all
check "--log --all: 3 rows of a decade" [ "$(wc -l <out)" -eq $((2 * 77 * 3 + 6)) ]
for base in '' =10; do
    seq 5 | run -n --log$base -F json && cat out
done >both && mv both out
check "--log, json" [ "$(tr '\n' ' ' <out)" = '{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--log"],"total":5,"counted":5,"other":0,"below":0,"above":0,"invalid":0,"bins":[{"lo":1,"hi":2,"count":1},{"lo":2,"hi":5,"count":3},{"lo":5,"hi":10,"count":1}]} {"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--log=10"],"total":5,"counted":5,"other":0,"below":0,"above":0,"invalid":0,"bins":[{"lo":1,"hi":10,"count":5}]} ' ]

# The same as counting by those edges.
for values in "$(seq -f %.0f 3 7 3000)" "$(seq -50 0.37 90)" "$(seq -9 -2)" "$(seq 0.001 0.0004 0.7)" \
    "$(seq 1e-9 3e-8 1e-5; seq -900 13 -100; echo inf -1e40 0 -0 x 4e-39 -4e-39)"; do
    for bins in 2 3 7 10 40 99; do
        printf '%s\n' "$values" | run -n -q -B $bins
        sed '/^invalid/d; 1d' out | cut -f 1 >edges
        check "-B $bins: how many" [ "$(wc -l <edges)" -le $((bins + 1)) ]
        awk 'NR == 1 { first = $1 } NR == 2 { w = $1 - first; while (w < 0.99) w *= 10
             while (w > 9.99) w /= 10; r = sprintf("%.6f", w) + 0; exit r != 1 && r != 2 && r != 5 }' edges
        check "-B $bins: a round width" [ $? -eq 0 ]
        mv out expected
        printf '%s\n' "$values" | run -n -q --edges="$(paste -s -d , edges)"
        counts "-B $bins, by edges" expected
    done
done

# --- a text large enough for several readers; invalid tokens are many, the first one counts ---

[ "$SCALE" = small ] && size=1500000 || size=12000000
data numbers $size 9 >large
expect digits:3 large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
for threads in 1 2 3 4 8; do
    run -n --threads=$threads large
    shows "large, $threads threads"
    run -n --threads=$threads --chunk-size=5003 large
    shows "large, $threads threads, small chunks"
done
sed 's/: large:/: standard input:/' told >told-stdin && mv told-stdin told
expect digits:3 "standard input" <large
for threads in 1 2 4; do
    cat large | run -n --threads=$threads
    shows "large, pipe, $threads threads"
    cat large.zst | run -n --threads=$threads
    shows "large, zstd, $threads threads"
done

# --- byte by byte, and several FILEs ---

head -c 1024 in >part
expect digits:3 "standard input" <part
"$HELPERS/dribble" -n 1 <part | run -n
shows "byte by byte"
"$HELPERS/make_zstd" -f 100 <part >part.zst
"$HELPERS/dribble" -n 1 <part.zst | run -n
shows "zstd byte by byte"
head -c 333 in >one
tail -c +334 in | head -c 5000 >two
printf '' >empty
printf '12' >three
printf '34 x\n' >four
expect digits:3 one empty two three four
run -n one empty two three four
shows "several FILEs"
"$HELPERS/make_zstd" -f 99 <two >two.zst
sed 's/: two:/: two.zst:/' told >told2 && mv told2 told
run -n one empty two.zst three four
shows "several FILEs, one of them zstd"
# Standard input that stands in the middle of a token.
expect digits:3 "standard input" <two
{
    dd bs=333 count=1 of=/dev/null 2>/dev/null
    run -n
} <in
tail -c +334 in >rest
expect digits:3 "standard input" <rest
shows "standard input from an offset"

# A token that a file is cut in when it grows is one token.
printf '1\n23' >grows
mkfifo gate
(
    exec 3>gate
    printf '45\n7' >>grows
    exec 3>&-
) &
run -n gate grows
wait $!
awk -F '\t' '$1 != "invalid" { n += $2 } END { print n }' out >total
check "a file that grew" [ "$(cat total)" -eq 3 ]

# --- long tokens ---

long() # BYTES
{
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "7" }'
}
for bytes in 4095 4096 4097 10000 300000; do
    { printf '1\n2 '; long $bytes; printf ' 3\n'; } >longer
    expect 0:10:3 longer
    for size in 1 100 4096 8M; do
        [ $size = 1 ] && [ $bytes = 300000 ] && continue
        run -n --bins=3 --min=0 --max=10 --chunk-size=$size longer
        shows "$bytes digits, $size"
        sed 's/: longer:/: standard input:/' told >kept
        mv told told-file && mv kept told
        cat longer | run -n --bins=3 --min=0 --max=10 --chunk-size=$size
        shows "$bytes digits, pipe, $size"
        mv told-file told
    done
done

# --- what is not a number ---

printf '1\n2 x\ty\n3\n' >some
printf '1\t1\t1.01\n2\t1\t2.01\n3\t1\t3.01\ninvalid\t2\n' >expected
echo "gpuhisto: some: line 2: 'x' is not a number" >told
run -n some
shows "count"
run -n --invalid=count some
shows "--invalid=count"
run -n -q some
counts "--quiet" expected
sed 's/^invalid.*/invalid\t0/' expected >skipped
run -n --invalid=skip some
counts "--invalid=skip" skipped
run -n --invalid=skip -F json some
check "--invalid=skip: total" grep -q '"total":3,"counted":3,"other":0,"below":0,"above":0,"invalid":0' out
run -n --invalid=error some
refuses "--invalid=error" 1 "gpuhisto: some: line 2: 'x' is not a number"
run -n --invalid=error -q some
refuses "--invalid=error --quiet" 1 "gpuhisto: some: line 2: 'x' is not a number"
printf '1 2\n3' | run -n --invalid=error
printf '1\t1\t1.01\n2\t1\t2.01\n3\t1\t3.01\ninvalid\t0\n' >expected
counts "--invalid=error, none" expected
printf '1\n\n a\033\\\303\244b\n' | run -n --invalid=error
refuses "escapes" 1 "standard input: line 3: 'a\\x1b\\$(printf '\303\244')b' is not a number"
printf '%060d,\n' 7 | run -n --invalid=error
refuses "cut" 1 "line 1: '0000000000000000000000000000000000000000...' is not a number"
printf '%038dx\303\244\303\244,\n' 7 | run -n --invalid=error
refuses "cut before a character" 1 "line 1: '00000000000000000000000000000000000007x...' is not a number"
printf 'a\0b 5' | run -n --invalid=error
refuses "NUL" 1 "line 1: 'a\\x00b' is not a number"
# An endless pipe ends, and so does one of which the end never comes.
for threads in 1 2; do
    yes '5 x' | run -n --invalid=error --threads=$threads
    refuses "endless, $threads threads" 1 "line 1: 'x' is not a number"
done
mkfifo stays
(printf '1\n2x\n'; sleep 10) >stays &
sleeper=$!
run -n --invalid=error stays
refuses "no end" 1 "stays: line 2: '2x' is not a number"
kill $sleeper
for threads in 1 2 4; do
    run -n --invalid=error --threads=$threads --chunk-size=10K large
    [ -s out ] && failed "error, large: a table"
    head -n 1 err >told
    expect digits:3 large
    same "error, large, $threads threads" told err
done

# --- the GPU's list of tokens that are put off ---

# Of long tokens it is as long as a chunk makes it, also after a small compressed FILE that it decompressed.
if [ "$ENGINE" = --device=gpu ]; then
    yes 0.1230000000000000000000000000000000 | head -c 140000000 >long
    echo 1 >>long
    seq 1 1000 | "$HELPERS/make_zstd" >small.zst
    "$GPUHISTO" --device=cpu -n small.zst long >expected
    run -n --chunk-size=128M --threads=1 small.zst long
    counts "long tokens after a small compressed FILE" expected
    rm long
fi

# --- formats ---

printf '1 2\n1 x' >in
printf 'lo,count,hi\n1,2,1.01\n2,1,2.01\ninvalid,1,\n' >expected
run -n -q -F csv --header in
counts "csv" expected
printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--digits=3"],"total":4,"counted":3,"other":1,"below":0,"above":0,"invalid":1,"bins":[{"lo":1,"hi":1.01,"count":2},{"lo":2,"hi":2.01,"count":1}]}' >expected
run -n -q -F json in
counts "json" expected
printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--log=2:32"],"total":1,"counted":0,"other":1,"below":0,"above":1,"invalid":0,"bins":[]}' >expected
echo inf | run -n -F json --log=2:32
counts "json, infinity" expected
run -n --timing -q in
check "timing: bytes" grep -q '^gpuhisto: 7 bytes in' err

# What is said of tables does not depend on who counted, and some of these options are the CPU's.
case $ENGINE in --device=gpu*) summary ;; esac

# --- what bins of three digits do not tell ---

# hints TEXT ARGUMENT...: that hint alone with the numbers of standard input; none with -q, with
# statistics alone or with other bins.
hints()
{
    text=$1
    shift
    cat >numbers
    run "$@" numbers
    message "hint: $text" "gpuhisto: $text"
    for more in -q -s --digits=5 --log "-B 5 --min=0 --max=10000"; do
        run "$@" $more numbers
        check "no hint with $more" [ ! -s err ]
    done
}

printf '%s\n' 443 8080 8081 8080 8081 | hints "to tell whole numbers apart, use --digits=4" -n
printf '%s\n' -8080 -8081 -8080 | hints "to tell whole numbers apart, use --digits=4" -n
printf '%s\n' 1001 10001 10002 | hints "to tell whole numbers apart, use --digits=5" -n
printf '1.51%s\n' 1 2 3 4 5 6 7 8 9 91 | hints "for narrower bins, use --bins=20 --min=1.51 --max=1.52" -n
for quiet in "1 2 3 2" "200 200 200" "8080 443" "1.5 2.5" "1000001 1000001" "1001 1001 1001.5 2.25"; do
    printf '%s\n' $quiet >numbers
    run -n numbers
    check "no hint: $quiet" [ ! -s err ]
done
seq 1001 9999 | run -n
check "no hint where rows are many" [ ! -s err ]

# --- nothing to count ---

# says TEXT ARGUMENT...: that warning alone, exit status 0; nothing with -q.
says()
{
    text=$1
    shift
    run "$@"
    check "$*: status" [ "$(cat status)" = 0 ]
    message "$*" "gpuhisto: warning: $text, so nothing was counted"
    run -q "$@"
    check "-q $*" [ ! -s err ]
}

: >empty
printf ' \n\n\t\n' >white
printf 'key,ms\n' >header
printf 'a 1\nb 2\n' >two
for more in "" -s -p "-F json"; do
    says "the input is empty" -n $more empty
    says "the input is empty" --by=1 ${more#-p} empty
    says "the input has only white space" -n $more white
    says "--lines-with left every line out" -n $more --lines-with=zz two
    says "--lines-with left every line out" --by=1 -k2 $more --lines-with=zz two
    says "--lines-without left every line out" -n $more --lines-without=a --lines-without=b two
done
says "the input is empty" -n --each empty empty
says "the input has only white space" -n --each empty white
says "the input has only a header line" --csv -k ms --header-line header
says "the input has only a header line" --csv --by=key --header-line header
says "--lines-with and --lines-without left every line out" --by=1 --lines-with=a --lines-without=1 two
run --by=3 two
check "no keys at all" grep -qx 'gpuhisto: warning: all 2 lines are invalid, so nothing was counted' err
for run in "-k1" "--by=2 -k1" "--by=2 -k1 -s" "--by=2 -k1 --top=1" "-k1 --each" "-k1 --invalid=skip"; do
    run $run two
    check "$run: all are invalid" grep -qx 'gpuhisto: warning: all 2 lines are invalid, so no number was counted' err
    printf 'a 1\nb 2\n3 3\n' | run $run
    refute "$run: one is not" grep -q warning err
done
run -b empty
check "bytes of nothing are no matter" [ ! -s err ]

summary

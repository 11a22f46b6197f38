#!/bin/sh
# --numbers: decimal text, however it comes and wherever it is cut, in every kind of bins; what is no
# number; quantiles.
. "${srcdir:-.}/tests/helpers/lib.sh"

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

# as TABLE-ROWS TEXT: what one token becomes; rows separated by blanks, columns by colons.
as()
{
    printf '%s' "$1" | tr ' :' '\n\t' >expected
    echo >>expected
    printf -- "$2" | run -n -q
    counts "'$2'" expected
}
as '0:1:5e-324 invalid:0' '0'
as '0:2:5e-324 invalid:0' '-0 0.000'
as '5e-324:1:6.953355807835e-310 invalid:0' '5e-324'
as '-6.953355807835e-310:1:0 invalid:0' '-5e-324'
as '1:2:1.03125 invalid:0' '1 1.031249999999999'
as '1.03125:1:1.0625 invalid:0' '1.03125'
as '-1.03125:2:-1 invalid:0' '-1.03125 -1.00001'
as '-1:1:-0.984375 invalid:0' '-1'
as '1.7696041796300922e+308:1:inf invalid:0' '1.7976931348623157e308'
as '-inf:1:-1.7696041796300922e+308 invalid:0' '-1.7976931348623157e308'
as 'inf:4:inf invalid:0' 'inf +INFINITY 1e309 1e99999999999'
as '-inf:2:-inf invalid:0' '-inf\n-1e400'
as 'invalid:8' 'nan 12abc 0x10 --1 . e5 1e +\n'
as 'invalid:3' '1,5 1_000 \033[0m'
as 'invalid:0' ''
as 'invalid:0' ' \n\r\n\t\v\f'
as '96:3:98 invalid:0' '97\r\n97\r\n97'

# --- every kind of bins ---

[ "$SCALE" = small ] && size=30000 || size=100000
data numbers $size 3 >in
"$HELPERS/make_zstd" -f 777 <in >in.zst
for bins in log-linear 0:1000:37 -1e5:1e5:100 0:1e6:5000; do
    min=${bins%%:*} count=${bins##*:} max=${bins#*:} max=${max%:*}
    options="-n --bins=$count --min=$min --max=$max"
    [ $bins = log-linear ] && options=-n
    expect $bins in
    run $options in
    shows "$bins"
    for cpu in avx512 avx2 neon portable; do
        run_as env GPUHISTO_CPU=$cpu "$GPUHISTO" $ENGINE $options in
        [ "$(cat status)" -eq 2 ] || shows "$bins, $cpu"
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

# --- a text large enough for several readers; invalid tokens are many, the first one counts ---

[ "$SCALE" = small ] && size=1500000 || size=12000000
data numbers $size 9 >large
expect log-linear large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
for threads in 1 2 3 4 8; do
    run -n --threads=$threads large
    shows "large, $threads threads"
    run -n --threads=$threads --chunk-size=5003 large
    shows "large, $threads threads, small chunks"
done
sed 's/: large:/: standard input:/' told >told-stdin && mv told-stdin told
expect log-linear "standard input" <large
for threads in 1 2 4; do
    cat large | run -n --threads=$threads
    shows "large, pipe, $threads threads"
    cat large.zst | run -n --threads=$threads
    shows "large, zstd, $threads threads"
done

# --- byte by byte, and several FILEs ---

head -c 1024 in >part
expect log-linear "standard input" <part
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
expect log-linear one empty two three four
run -n one empty two three four
shows "several FILEs"
"$HELPERS/make_zstd" -f 99 <two >two.zst
sed 's/: two:/: two.zst:/' told >told2 && mv told2 told
run -n one empty two.zst three four
shows "several FILEs, one of them zstd"
# Standard input that stands in the middle of a token.
expect log-linear "standard input" <two
{
    dd bs=333 count=1 of=/dev/null 2>/dev/null
    run -n
} <in
tail -c +334 in >rest
expect log-linear "standard input" <rest
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
printf '1\t1\t1.03125\n2\t1\t2.0625\n3\t1\t3.0625\ninvalid\t2\n' >expected
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
printf '1\t1\t1.03125\n2\t1\t2.0625\n3\t1\t3.0625\ninvalid\t0\n' >expected
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
    expect log-linear large
    same "error, large, $threads threads" told err
done

# --- quantiles ---

printf '0.001\n0.002\n0.003\n-5\n0\n7e300\ninf\n' >few
for list in 0 1 0.5 .5,.25,0.75,1 0,0.001,0.01,0.1,0.123456789,0.9,0.99,0.999,0.9999,1; do
    for file in few large one; do
        run -n -q --quantiles=$list $file
        check "quantiles $list of $file" "$HELPERS/oracle_numbers" -q out $file 2>/dev/null
        run -n -q --bins=50 --min=-10 --max=1000 --quantiles=$list $file
        check "quantiles $list of $file, equal bins" \
            "$HELPERS/oracle_numbers" -q out $file 2>/dev/null
    done
done
run -n -q --quantiles few
tail -n 4 out | cut -f 1 | tr '\n' ' ' >last
check "the usual ones" [ "$(cat last)" = "q0.5 q0.9 q0.99 q0.999 " ]
printf 'invalid\t0\n\nq0.5\tnan\tnan\n' >expected
run -n --quantiles=0.5 </dev/null
counts "of nothing" expected
run -n --quantiles=-0 </dev/null
check "no negative zero" grep -q "^q0${tab}" out
printf -- '-inf\t1\t-inf\n0\t1\t5e-324\ninf\t1\tinf\ninvalid\t0\n\nq0\t-inf\t0\nq0.5\t0\t0\nq1\tinf\t0\n' >expected
printf 'inf 0 -inf' | run -n --quantiles=0,0.5,1
counts "infinity" expected
printf -- '-inf\t1\t1\n1\t1\t2\n2\t1\tinf\ninvalid\t0\n\nq0\t-inf\tinf\nq0.5\t1.3333333333333333\t0.33333333333333365\nq1\tinf\tinf\n' >expected
printf '0 1 3' | run -n -B1 --min=1 --max=2 --quantiles=0,0.5,1
counts "beyond the bins" expected

# --- formats ---

printf '1 2\n1 x' >in
printf 'lo,count,hi\n1,2,1.03125\n2,1,2.0625\ninvalid,1,\n\nquantile,value,error\nq0.5,1.0153846153846153,0.015384615384615451\n' >expected
run -n -q -F csv --header --quantiles=0.5 in
counts "csv" expected
printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","total":4,"counted":3,"other":1,"below":0,"above":0,"invalid":1,"bins":[{"lo":1,"hi":1.03125,"count":2},{"lo":2,"hi":2.0625,"count":1}],"quantiles":[{"q":0.5,"value":1.0153846153846153,"error":0.015384615384615451}]}' >expected
run -n -q -F json --quantiles=0.5 in
counts "json" expected
printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","total":1,"counted":0,"other":1,"below":0,"above":1,"invalid":0,"bins":[],"quantiles":[{"q":1,"value":"inf","error":0}]}' >expected
echo inf | run -n -F json --quantiles=1
counts "json, infinity" expected
run -n --timing -q in
check "timing: bytes" grep -q '^gpuhisto: 7 bytes in' err

summary

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

# --- at most so many round bins over what was seen ---

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

# --- what is not a number: a pipe of which the end never comes ends at it ---

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

summary

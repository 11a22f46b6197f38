#!/bin/sh
# SPDX-License-Identifier: MIT
# --values: every type, however the bytes come and wherever chunks and frames cut them.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# rows CASE: the counts of the last run's table are those in the file expected.
rows()
{
    cut -f 2 out >counted
    mv counted out
    counts "$1" expected
}
# expect TYPE MIN MAX BINS <data
expect()
{
    "$HELPERS/oracle_values" "$@" >expected
}

# no_kernel TYPE: whether GPUs do not count it, and one is asked for.
no_kernel()
{
    case $1/$ENGINE in
    *24*/*gpu*) return 0 ;;
    *) return 1 ;;
    esac
}

# --- every type and range ---

data uniform 24000 5 >in
data all 24000 >small
for type in u8 u16 u24 u32 u64 i8 i16 i24 i32 i64 u16be u24be u32be u64be i16be i24be i32be i64be; do
    no_kernel $type && continue
    case $type in
    *8*) ranges="0:256:256 -3:100:7 0:1:1 10:250:40" ;;
    *16*) ranges="0:65536:256 -30000:30000:11 5:1000:5" ;;
    *24*) ranges="0:16777216:300 -8388608:8388608:64 -5:1000:12 0:70000:70000 0:8589934592:9" ;;
    *32*) ranges="0:4294967296:300 -2147483648:2147483648:64 0:4294967295:7 -5:7:12" ;;
    *) ranges="0:18446744073709551616:50 -9223372036854775808:9223372036854775808:33 0:1000:10" ;;
    esac
    for range in $ranges; do
        bins=${range##*:} min=${range%%:*} max=${range#*:} max=${max%:*}
        for file in in small; do
            expect $type "$min" "$max" "$bins" <$file
            run --values=$type --bins="$bins" --min="$min" --max="$max" $file
            rows "$type, $range, $file"
        done
    done
done
for type in f32 f64 f32be f64be; do
    for range in 0:1:10 -1e10:1e10:100 -1e300:1e300:3 1e-5:2e-5:7; do
        bins=${range##*:} min=${range%%:*} max=${range#*:} max=${max%:*}
        expect $type "$min" "$max" "$bins" <in
        run --values=$type --bins="$bins" --min="$min" --max="$max" in
        rows "$type, $range"
    done
done

# Signed types begin with their least value.
for type in i8 i16 i16be; do
    [ $type = i8 ] && least=-128 above=128 || { least=-32768 && above=32768; }
    head -c 2000 in >some
    expect $type $least $above $((above - least)) <some
    run --values=$type some
    cp out table
    rows "all of $type"
    check "all of $type: first" [ "$(sed -n 2p table | cut -f 1,3)" = "$least$tab$((least + 1))" ]
    check "all of $type: last" \
        [ "$(tail -n 3 table | head -n 1 | cut -f 1,3)" = "$((above - 1))$tab$above" ]
done

# --- wherever they are cut ---

data uniform 199992 7 >in # whole values of every size
head -c 1992 in >part
for type in u16 i24be u32be f64; do
    no_kernel $type && continue
    for size in 1 3 4K 5000 64K; do
        options="--values=$type -B 37 --min=0 --max=60000 --chunk-size=$size"
        file=in
        [ ${#size} = 1 ] && file=part # a thousand chunks are enough
        expect $type 0 60000 37 <$file
        run $options $file
        rows "$type, file, $size"
        run $options <$file
        rows "$type, standard input, $size"
        "$HELPERS/dribble" -n 1001 <$file | run $options
        rows "$type, odd pieces, $size"
    done
    expect $type 0 60000 37 <in
    for threads in 1 2 3 8; do
        cat in | run --threads=$threads --values=$type -B 37 --min=0 --max=60000
        rows "$type, pipe, $threads threads"
    done
    for frame in 1000 1001 7777 70000; do
        "$HELPERS/make_zstd" -f $frame <in >in.zst
        run --values=$type -B 37 --min=0 --max=60000 --threads=3 in.zst
        rows "$type, frames of $frame"
        cat in.zst | run --values=$type -B 37 --min=0 --max=60000 --threads=3
        rows "$type, frames of $frame, pipe"
        "$HELPERS/make_zstd" -n -f $frame <in >in.zst
        run --values=$type -B 37 --min=0 --max=60000 --threads=3 in.zst
        rows "$type, frames of $frame that do not tell"
    done
done
head -c 3000 in >part
expect u32 0 60000 37 <part
"$HELPERS/dribble" -n 1 <part | run --values=u32 -B 37 --min=0 --max=60000
rows "byte by byte"
head -c 4000 in >one
tail -c +4001 in >two
"$HELPERS/make_zstd" -f 999 <two >two.zst
expect u32 0 60000 37 <in
run --values=u32 -B 37 --min=0 --max=60000 one two.zst
rows "several FILEs"
run --values=u32 -B 37 --min=0 --max=60000 /dev/null one /dev/null two
rows "empty FILEs between"

# --- a value that is not whole ---

head -c 4001 in >cut
"$HELPERS/make_zstd" -f 1000 <cut >cut.zst
for file in cut cut.zst; do
    run --values=u32 -B 3 $file
    refuses "$file" 1 "gpuhisto: $file: ends inside a value, after 1 of its 4 bytes"
    run --values=u32 -B 3 <$file
    refuses "$file, standard input" 1 "standard input: ends inside a value"
    cat $file | run --values=u32 -B 3
    refuses "$file, pipe" 1 "standard input: ends inside a value"
    run --values=u32 -B 3 one $file one
    refuses "$file among others" 1 "$file: ends inside a value"
done
printf 'abc' | run --values=u64 -B 3
refuses "less than one" 1 "3 of its 8 bytes"
printf '' | run --values=u64 -B 1
check "nothing: status" [ "$(cat status)" -eq 0 ]

# --- more rows than each thread can have a table for: their counts are in pages ---

case $ENGINE in
*gpu*) ;;
*)
    # With --each counts are not in pages.
    data uniform 800000 7 >in
    data text 200000 >>in
    for digits in 4 5; do
        run --each --values=f64 --digits=$digits in
        cut -f 2- out >expected
        for threads in 1 7; do
            run --values=f64 --digits=$digits --threads=$threads in in in
            awk -F '\t' -v OFS='\t' '{ $2 *= 3; print }' expected >thrice
            counts "--digits=$digits, $threads threads" thrice
        done
    done
    ;;
esac

summary

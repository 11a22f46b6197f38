#!/bin/sh
# SPDX-License-Identifier: MIT
# --each=SIZE: the result of each block of content is that of oracle_blocks.py, however long blocks are, wherever the
# content is cut, and however it comes; and there is none at all if it cannot be read, or if there is too much.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

oracle="$python $srcdir/tests/helpers/oracle_blocks.py"

# expect WHAT SIZE [OPTION]... FILE[=NAME]...: makes the table that is expected; sets `options`, which print it, and
# `columns`, those of it that are compared, also with a name before them.
expect()
{
    what=$1 size=$2
    $oracle "$@" >expected || broken "oracle_blocks.py $*"
    case $what in
    bytes) options="--bytes --nonzero" columns=1-3 named=1-4 ;;
    letters) options=-l13 columns=1-3 named=1-4 ;;
    entropy) options="--bytes -s" columns=1-4 named=1-5 ;;
    u64) options="--values=$what --digits=1 -s" columns=1,2,4,5 named=1,2,3,5,6 ;;
    *) options="--values=$what --digits=1 -s" columns=1,2,4-6 named=1,2,3,5-7 ;;
    esac
    options="$options --each=$size -q"
}

# shows CASE [COLUMNS]: the last run printed that.
shows()
{
    read -r status <status
    check "$what, $size, $1: status" [ "$status" -eq 0 ]
    cut -f"${2:-$columns}" out >rows
    case $options in
    *' -s '*) sed -i 1d rows ;;
    esac
    same "$what, $size, $1" expected rows
}

# --- blocks of every size, in pieces of every size ---

data uniform 24000 1 >image
data text 3000 2 >text
printf 'x' >one
: >none
for size in 1 2 7 63 64 65 1000 4095 4096 4097 23999 24000 24001 1000000; do
    expect bytes $size image
    for chunk in $(few 2 1 64 4096 8M); do
        run $options --chunk-size=$chunk image
        shows "chunks of $chunk"
    done
    for threads in $(few 3 1 2 3 4 5 6 7 8); do
        run $options --chunk-size=64 --threads=$threads image
        shows "$threads threads"
    done
    run $options <image
    shows "standard input"
done
for what in bytes letters entropy u8 u16 u24be i32 u64; do
    for size in 24 240 6000; do
        expect $what $size image
        run $options image
        shows "a file"
        run $options --chunk-size=48 --threads=4 image
        shows "a file in pieces"
        "$HELPERS/dribble" -n 997 -u 300 <image | run $options
        shows "a pipe"
        expect $what $size --skip=480 --length=9600 image
        run $options --skip=480 --length=9600 image
        shows "a part of it"
        run $options --skip=480 --length=9600 <image
        shows "a part of standard input"
        cat image | run $options --skip=480 --length=9600
        shows "a part of a pipe"
    done
done
expect bytes 5 text
head -c 300 text >few
expect letters 7 few
"$HELPERS/dribble" <few | run $options
shows "a pipe, byte by byte"
expect bytes 10 one
run $options one
shows "a byte"

# --- every cut, plain and compressed ---

if [ "$SCALE" = full ] && [ "$SANITIZED" = no ]; then step=1; else step=37; fi
head -c 330 image >short
cut=1
expect u24 30 short
while [ $cut -le 330 ]; do
    run $options --chunk-size=$cut short
    shows "chunks of $cut"
    "$HELPERS/make_zstd" -f $cut <short >short.zst
    run $options --threads=3 short.zst
    shows "frames of $cut"
    "$HELPERS/make_zstd" -n -f $cut <short | run $options
    shows "frames of $cut through a pipe"
    cut=$((cut + step))
done

# --- compressed files, decoded by several threads ---

data text $([ "$SCALE" = small ] && echo 1100000 || echo 3000000) 3 >log
data uniform 700000 4 >noise
"$HELPERS/make_zstd" -f 10000 <log >frames.zst
"$HELPERS/make_zstd" <log >frame.zst
"$HELPERS/make_zstd" -n -f 100001 <noise >unsized.zst
gzip -c log >log.gz
"$HELPERS/make_gzip" -B -m 50000 <noise >members.gz
for size in 1000 65536 1000000; do
    for what in letters entropy u16; do
        expect $what $size log
        for threads in $(few 2 1 2 4 8); do
            for file in frames.zst frame.zst log.gz; do
                run $options --threads=$threads $file
                shows "$file, $threads threads"
                cat $file | run $options --threads=$threads
                shows "$file through a pipe, $threads threads"
            done
        done
        expect $what $size noise
        for threads in $(few 2 1 2 4 8); do
            for file in unsized.zst members.gz; do
                run $options --threads=$threads $file
                shows "$file, $threads threads"
            done
        done
        expect $what $size --skip=100000 --length=300000 noise
        for threads in $(few 2 1 2 4 8); do
            for file in unsized.zst members.gz; do
                run $options --threads=$threads --skip=100000 --length=300000 $file
                shows "a part of $file, $threads threads"
            done
        done
    done
done

# --- several files: offsets of each from 0 on ---

for what in bytes entropy; do
    expect $what 6000 image one none log=frames.zst text noise=members.gz image
    for threads in $(few 2 1 2 8); do
        run $options --threads=$threads image one none frames.zst text members.gz image
        shows "files, $threads threads" "$named"
    done
done
expect letters 1000 text=- image
run $options - image <text
shows "standard input and a file" "$named"

# --- headers: blocks begin where the values do ---

if python3 -c 'import numpy' 2>/dev/null; then
    python3 -c "
import numpy
numpy.save('values.npy', numpy.frombuffer(open('image', 'rb').read(), dtype='<u2'))"
    header=$(($(wc -c <values.npy) - 24000))
    expect u16 600 --skip=$header values.npy
    run $options values.npy
    shows "after a header"
else
    skip_part "a header: NumPy is not installed"
fi

# --- output, and what fails ---

run --each=5 -s image -o table
refute "--output: nothing on standard output" [ -s out ]
check "--output" [ "$(wc -l <table)" -eq 4801 ]

ENGINE='' run_as "$GPUHISTO" --each=24000 -s image
check "auto counts on the CPU" [ "$(wc -l <out)" -eq 2 ]
head -c 1000 frame.zst >bad.zst
run --each=1000 bad.zst
refuses "a file that is truncated" 1 "bad.zst: "

# --- too many blocks: memory is bounded ---

if [ "$SANITIZED" = no ] && [ "$SCALE" = full ]; then
    truncate -s 1G zeros
    run --each=1 -s zeros
    refuses "a thousand million blocks" 1 "the counts of all blocks take more than 1024 MiB; use larger blocks, such as --each=4,"
    run --each=1M -s zeros
    check "a thousand blocks" [ "$(sort -u -k2 out | wc -l)" -eq 2 ]
    check "a thousand blocks: all of them" [ "$(wc -l <out)" -eq 1025 ]
else
    skip_part "a file of 1 GiB"
fi

summary

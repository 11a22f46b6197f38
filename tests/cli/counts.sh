#!/bin/sh
# SPDX-License-Identifier: MIT
# Counts are exact, whatever the length, the data, the chunks, and the way the bytes come in.
. "${srcdir:-.}/tests/helpers/lib.sh"

# every_table CASE FILE OPTION...: bytes and letters of FILE, against the oracle.
every_table()
{
    what=$1
    file=$2
    shift 2
    oracle bytes <"$file"
    run "$@" <"$file"
    counts "$what, bytes" expected
    oracle letters 4 0 <"$file"
    run --letters "$@" <"$file"
    counts "$what, letters" expected
}

# Around the widths of vector loads, with an odd tail each.
lengths='0 1 15 16 17 4097'
[ "$SCALE" = small ] ||
    lengths="$lengths 2 3 31 32 33 63 64 65 255 256 257 1023 1025 4095 4096 100003"
for length in $lengths; do
    data text $length $length >in
    every_table "text of $length" in
done

# Around the chunk's size: none, one less, whole ones, one more, several.
if [ "$SCALE" = full ]; then
    sizes='1 2 3 7 16 17 64 4096 65536'
else
    sizes='7 16 17'
fi
for size in $sizes; do
    lengths="$((size - 1)) $size $((size + 1)) $((5 * size - 1))"
    [ "$SCALE" = small ] || lengths="$lengths $((2 * size)) $((6 * size + 1))"
    for length in $lengths; do
        data zipf $length $size >in
        every_table "zipf of $length in chunks of $size" in --chunk-size=$size
    done
done

# Every mix of buffers and threads, with more chunks than either.
data text 5001 >in
oracle letters 4 0 <in
size=499
some='1 2 3 8'
if [ "$SCALE" = small ]; then
    size=1499
    some='1 3'
fi
for buffers in 1 2 3 4; do
    for threads in $some; do
        run -l --chunk-size=$size --buffers=$buffers --threads=$threads <in
        counts "$buffers buffers, $threads threads, file" expected
        cat in | run -l --chunk-size=$size --buffers=$buffers --threads=$threads
        counts "$buffers buffers, $threads threads, pipe" expected
    done
done

# Threads that do start: more than the 4 MiB that one counts alone.
if [ "$SCALE" = full ]; then
    data runs 9000001 >in
    oracle bytes <in
    for threads in 1 2 3 8; do
        for size in 1000 65536 8M; do
            run --chunk-size=$size --threads=$threads <in
            counts "9 MB, $threads threads, chunks of $size" expected
        done
        cat in | run --threads=$threads
        counts "9 MB, $threads threads, pipe" expected
    done
fi

# Data that are hard on counters: one value only, every value, long runs.
[ "$SCALE" = small ] && size=40K || size=16K
for kind in uniform text same all zipf runs; do
    data $kind 70001 97 >in
    every_table "$kind" in --chunk-size=$size
done
[ "$SCALE" = small ] && some='0 255' || some='0 1 64 65 90 91 96 97 122 123 127 128 255'
for value in $some; do
    data same 4099 $value >in
    every_table "nothing but $value" in --chunk-size=3K
done

# Every value is counted as itself: value v comes v + 1 times.
value=0
while [ $value -lt 256 ]; do
    data same $((value + 1)) $value
    value=$((value + 1))
done >in
every_table "v + 1 times v" in --chunk-size=10K
run --chunk-size=10K <in
check "row v says v + 1" awk -F "$tab" '$2 != NR { bad = 1 } END { exit bad || NR != 256 }' out

# Letters: every width, folded and not, on every byte value and on text.
for kind in all text; do
    data $kind 30011 >in.$kind
done
width=1
step=1
size=10007
if [ "$SCALE" = small ]; then
    step=5
    size=20007
fi
while [ $width -le 26 ]; do
    for fold in 0 1; do
        options=--letters=$width
        [ $fold = 0 ] || options="$options --fold-case"
        for kind in all text; do
            oracle letters $width $fold <in.$kind
            run $options --chunk-size=$size <in.$kind
            counts "$options, $kind" expected
        done
    done
    width=$((width + step))
done

# Every way in.
data text 3001 1 >one
data uniform 5003 2 >two
data all 517 3 >three
: >empty
cat one two three >all
cp all whole
oracle letters 3 1 <all
[ "$SCALE" = small ] && size=4000 || size=1000
set -- -l3 -f --chunk-size=$size
run "$@" <all
counts "standard input is a file" expected
run "$@" all
counts "one FILE" expected
run "$@" one two three
counts "three FILEs" expected
run "$@" one - three <two
counts "standard input among FILEs" expected
run "$@" - <all
counts "- alone" expected
run "$@" empty one empty two empty empty three empty
counts "empty FILEs between" expected
run "$@" -- one two three
counts "FILEs after --" expected
run one two three "$@"
counts "FILEs before options" expected

# through CASE COMMAND...: what the command makes of `all`, on a pipe.
through()
{
    what=$1
    shift
    "$@" <all | run -l3 -f --chunk-size=$size
    counts "$what" expected
}
through "pipe" cat
through "pipe, 7 bytes at a time" "$HELPERS/dribble" -n 7
through "pipe, 1000 bytes at a time, slowly" "$HELPERS/dribble" -n 1000 -u 2000
cat one | run -l3 -f --chunk-size=$size - two three
counts "pipe, then FILEs" expected

# Byte by byte: every read, and so on the CPU every chunk, is one byte.
data text 100 >all
oracle letters 3 1 <all
through "pipe, byte by byte" "$HELPERS/dribble"

# As text, and compressed, at once.
"$HELPERS/make_zstd" -c -f 1000 <two >two.zst
oracle bytes <whole
run --chunk-size=$size one two.zst three
counts "plain and zstd FILEs" expected

# Every counter of the CPU that runs here (tests/unit/test_count names the others).
data uniform 300000 >all
for counter in $(kernels_here); do
    oracle bytes <all
    run_as env GPUHISTO_CPU="$counter" "$GPUHISTO" --device=cpu all
    counts "$counter, bytes" expected
    for width in 1 3 4; do
        oracle letters $width 1 <all
        run_as env GPUHISTO_CPU="$counter" "$GPUHISTO" --device=cpu -f --letters=$width all
        counts "$counter, width $width" expected
    done
done

summary

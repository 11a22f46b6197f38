#!/bin/sh
# SPDX-License-Identifier: MIT
# --device=auto, where compressed FILEs are given to the emulated GPU as they are opened, and begun anew by the CPU
# if the GPU cannot decompress them to their ends.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=auto --chunk-size=16K"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

# given OPTION...: runs with options; a GPU that takes no time is given all that it can take.
given()
{
    run_as env GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE "$@"
}

# by_gpu CASE: the last run, with --timing, counted what is in table, and the GPU decompressed all of it.
by_gpu()
{
    same "$1" table out
    check "$1: by the GPU" grep -q 'gpu: decompressing takes' err
    check "$1: not by the CPU" grep -qE '^gpuhisto: cpu: 0 bytes' err
}

# by_cpu CASE: the same, and the CPU counted all of it.
by_cpu()
{
    same "$1" table out
    check "$1: by the CPU" grep -qE '^gpuhisto: cpu: [1-9]' err
    refute "$1: not by the GPU" grep -qE 'decompressing takes|^gpuhisto: gpu: [1-9]' err
}

data text 300000 >in
zstd -c <in >one.zst
zstd -f 3000 -c <in >many.zst
cat in in | "$GPUHISTO" --device=cpu -b >table
given -b --timing one.zst many.zst
by_gpu "two FILEs"
"$GPUHISTO" --device=cpu -b in >table
for file in one.zst many.zst; do
    given -b --threads=1 --timing $file
    by_gpu "$file"
done
given -b --timing <one.zst
by_gpu "standard input that is a file"
{ printf 'not zstd data' && cat one.zst; } >shifted
{ head -c 13 >dropped && given -b --timing; } <shifted
by_gpu "standard input in the middle of a file"
"$GPUHISTO" --device=cpu -b --each one.zst many.zst >table
given -b --each one.zst many.zst
counts "--each" table

# What stays on the cores: a pipe, a range; and by the tuning that was measured, a small FILE.
"$GPUHISTO" --device=cpu -b in >table
cat one.zst | given -b --timing
same "a pipe" table out
refute "a pipe: the GPU decompresses nothing" grep -q 'decompressing takes' err
run_as "$GPUHISTO" $ENGINE -b --timing one.zst
by_cpu "a small FILE"
"$GPUHISTO" --device=cpu -b --skip=1000 --length=200000 one.zst >table
given -b --skip=1000 --length=200000 --timing one.zst
same "a range" table out
refute "a range: the GPU decompresses nothing" grep -q 'decompressing takes' err

# FILEs that wait for a GPU that is still starting, or that then cannot be used.
cat in in in | "$GPUHISTO" --device=cpu -b >table
for threads in 1 2 4; do
    run_as env GPUHISTO_OFFLOAD=1+ "$GPUHISTO" $ENGINE -b --threads=$threads --timing one.zst many.zst one.zst
    by_gpu "$threads threads wait for a GPU"
    run_as env GPUHISTO_OFFLOAD=1+ GPUHISTO_FAULT=error:1 "$GPUHISTO" $ENGINE -b --threads=$threads --timing one.zst many.zst one.zst
    by_cpu "$threads threads wait for a GPU that cannot be used"
done

# Characters, in frames that cut them.
{ printf '\377'; data text 3000; i=0
  while [ $i -lt 3000 ]; do printf '\320\266\344\270\255\360\237\230\200\303'; i=$((i + 1)); done; } >in.utf8
zstd -c <in.utf8 >utf8.zst
zstd -f 3001 -c <in.utf8 >frames.zst
for mode in -c --categories; do
    "$GPUHISTO" --device=cpu $mode in.utf8 >table
    for file in utf8.zst frames.zst; do
        given $mode --timing $file
        same "$mode, $file" table out
        check "$mode, $file: by the GPU" grep -q 'gpu: decompressing takes' err
    done
    cat in.utf8 in.utf8 | "$GPUHISTO" --device=cpu $mode >table
    for call in $(few 4 10 14 18 22 26 30 40 50 60); do
        run_as env GPUHISTO_FAULT=error:$call GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE $mode -q --threads=1 utf8.zst frames.zst
        counts "$mode, failing from call $call on" table
    done
done

# --- text: the line of the first token that is not a number ---

seq 1 40000 >numbers
sed '35000s/.*/many/' numbers >tokens
for frame in "-n" "-f 3000"; do
    zstd $frame -c <tokens >tokens.zst
    "$GPUHISTO" --device=cpu -n tokens >table 2>/dev/null
    for fault in none:1 $(few 3 error:20 error:40 error:60 error:80 error:100 wrong:2 wrong:4); do
        run_as env GPUHISTO_FAULT=$fault GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE -n --threads=1 tokens.zst
        same "numbers, zstd $frame, $fault" table out
        check "numbers, zstd $frame, $fault: the line" \
            grep -q "tokens.zst: line 35000: 'many' is not a number" err
    done
    given -n --threads=1 --invalid=error tokens.zst
    refuses "numbers, zstd $frame, --invalid=error" 1 "line 35000: 'many' is not a number"
done

# A FILE that the GPU takes back after it has counted the token: the one before is still the first.
zstd -n <tokens >first.zst
{ head -c $(($(wc -c <tokens.zst) - 1)) tokens.zst && printf '\001'; } >damaged.zst
zstd -f 300 -c <tokens >tokens.zst
given -n --threads=1 --invalid=error tokens.zst damaged.zst
refuses "the first token, before damage" 1 "tokens.zst: line 35000: 'many' is not a number"

# The GPU is lost when all is counted but the end of the last record.
seq 1 50000 | head -c 279998 >cut
zstd -n <cut >cut.zst
"$GPUHISTO" --device=cpu -n cut >table
run_as env GPUHISTO_FAULT=readerror:1 GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE -n --threads=1 cut.zst
same "the GPU is lost at the end" table out
check "the GPU is lost at the end: one warning" [ "$(grep -c 'GPU was lost' err)" = 1 ]

# A token that is longer than the frames that it is in, again and again.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%0200d\n", i }' >long
zstd -f 20 <long >long.zst
"$GPUHISTO" --device=cpu -n long >table
given -n --threads=1 long.zst
counts "records over many frames" table

# --- values ---

for values in "--values=u16 -B 16 --min=0 --max=65536" "--values=u24 -B 16 --min=0 --max=16777216"; do
    "$GPUHISTO" --device=cpu $values in >table
    for file in one.zst many.zst; do
        given $values --threads=1 $file
        counts "$values, $file" table
    done
done

# --- shares, limits ---

for part in 1/3 2/3 3/3; do
    for file in one.zst many.zst tokens.zst; do
        mode=-b && [ $file = tokens.zst ] && mode=-n
        "$GPUHISTO" --device=cpu $mode --part=$part $file >table 2>/dev/null
        given $mode --part=$part --threads=1 $file
        same "--part=$part $file" table out
    done
done
zstd -w 20 -n <in >window.zst
"$GPUHISTO" --device=cpu -b in >table
given -b --memlimit=1M --threads=1 --timing window.zst
by_gpu "a window as large as may be"

# --- what the GPU refuses after it has counted much: the counts go back, and the CPU begins anew ---

zstd -w 27 -n <in >window.zst
data text 1500000 >long
{ zstd -n <long && cat window.zst; } >late.zst
for each in "" --each; do
    "$GPUHISTO" --device=cpu -b $each one.zst late.zst one.zst >table
    given -b $each --threads=1 --timing one.zst late.zst one.zst
    same "a window that the device does not take, late${each:+, $each}" table out
    check "the same: by the GPU" grep -qE '^gpuhisto: gpu: [1-9]' err
    check "the same: by the CPU" grep -qE '^gpuhisto: cpu: [1-9]' err
done
cat long in | "$GPUHISTO" --device=cpu -B 16 --min=0 --max=4294967296 --values=u32 >table
given -B 16 --min=0 --max=4294967296 --values=u32 late.zst
counts "the same, values" table
cat long in | "$GPUHISTO" --device=cpu -B 1000000 --min=0 --max=4294967296 --values=u32 >table
given -B 1000000 --min=0 --max=4294967296 --values=u32 late.zst
counts "the same, counts without snapshots" table
run_as "$GPUHISTO" --device=gpu --chunk-size=64K -b late.zst
cat long in | "$GPUHISTO" --device=cpu -b >table
counts "the same, --device=gpu" table

# --- several GPUs, and fewer workers while these are fed ---

data text 2000000 >in
zstd -f 30000 -c <in >many.zst
files="many.zst many.zst many.zst many.zst many.zst many.zst many.zst many.zst"
cat in in in in in in in in | "$GPUHISTO" --device=cpu -b >table

# several VARIABLE=VALUE... ARGUMENT...: runs with the FILEs.
several()
{
    run_as env CUDA_VISIBLE_DEVICES=0,1,2 GPUHISTO_DEVICES=3 GPUHISTO_OFFLOAD=1 "$@" -b $files
}

# shellcheck disable=SC2086
several "$GPUHISTO" $ENGINE --threads=8 --timing
same "three GPUs" table out
for gpu in 0 1 2; do
    check "three GPUs: $gpu" grep -q "gpu:$gpu: decompressing takes" err
done
for call in $(few 2 40 100 200); do
    # shellcheck disable=SC2086
    several GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE --threads=8
    same "three GPUs, call $call fails" table out
done
cat in in | "$GPUHISTO" --device=cpu -b >table
files="many.zst many.zst"
# shellcheck disable=SC2086
several "$GPUHISTO" $ENGINE --timing
same "two FILEs" table out

# --- what is wrong with the data is found by the CPU ---

size=$(wc -c <one.zst)
for cut in $(few 2 1 4 5 1000); do
    head -c -$cut one.zst >bad.zst
    given -b --threads=1 bad.zst
    refuses "$cut bytes are missing" 1 "bad.zst: truncated zstd data, at byte $((size - cut))"
done
for place in $((size / 2)) $((size - 1)); do
    { head -c $((place - 1)) one.zst && printf '\252' && tail -c +$((place + 1)) one.zst; } >bad.zst
    given -b --threads=1 bad.zst
    refuses "damage at byte $place" 1 "bad.zst: corrupt zstd data" ", at byte 0"
done
{ cat one.zst && printf garbage; } >bad.zst
given -b --threads=1 bad.zst
refuses "garbage after it" 1 "bad.zst: not zstd data" ", at byte $size"

# --- a device that is lost ---

data text 1000000 >in
zstd -c <in >one.zst
zstd -f 3000 -c <in >many.zst
cat in in in | "$GPUHISTO" --device=cpu -b >table
lost=0
for fault in $(few 5 error:1 error:3 error:8 error:20 error:40 error:60 error:80 error:120 error:160 wrong:2 wrong:5); do
    run_as env GPUHISTO_OFFLOAD=1 GPUHISTO_FAULT=$fault "$GPUHISTO" $ENGINE -b --threads=1 one.zst many.zst one.zst
    same "$fault" table out
    check "$fault: one warning" [ "$(wc -l <err)" -le 1 ]
    lost=$((lost + $(grep -c 'GPU was lost' err)))
done
check "devices that were lost ($lost)" [ $lost -gt 0 ]

# Several workers, of which one feeds the GPU.
data text 20000000 >shared
zstd -w 18 -n -c <shared >shared.zst
cat shared in | "$GPUHISTO" --device=cpu -b >table
for fault in none:1 error:90 error:600; do
    run_as env GPUHISTO_FAULT=$fault GPUHISTO_OFFLOAD=1 "$GPUHISTO" --device=auto --chunk-size=256K \
        --threads=3 -b -q one.zst shared.zst
    same "several workers, $fault" table out
done

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# --device=auto, where the emulated GPU takes compressed FILEs over that libzstd has begun.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=auto --chunk-size=16K"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

# taken BYTES OPTION...: runs with options, one thread if none is said; the GPU comes after so many bytes.
taken()
{
    after=$1
    shift
    run_as env GPUHISTO_OFFLOAD="$after" "$GPUHISTO" $ENGINE "$@"
}

# by_both CASE: the last run, with --timing, counted what is in table, and the GPU decompressed some of it.
by_both()
{
    same "$1" table out
    check "$1: by the GPU" grep -q 'gpu: decompressing takes' err
    check "$1: by the CPU, too" grep -qE "^gpuhisto: cpu: [1-9]" err
}

data text 300000 >in
zstd -c <in >one.zst
zstd -f 3000 -c <in >many.zst
"$GPUHISTO" --device=cpu -b in >table
for file in one.zst many.zst; do
    for after in $(few 2 1 20000 100000 200000); do
        taken $after -b --threads=1 --timing $file
        by_both "$file, after $after bytes"
    done
done
"$GPUHISTO" --device=cpu -b in in >table
taken 20000 -b --threads=1 --timing one.zst many.zst
by_both "several FILEs"
taken 20000 -b one.zst many.zst
counts "several FILEs, side by side" table
"$GPUHISTO" --device=cpu -b --each one.zst many.zst >table
taken 20000 -b --each one.zst many.zst
counts "--each" table

# Characters, in frames that cut them.
{ printf '\377'; data text 3000; i=0
  while [ $i -lt 3000 ]; do printf '\320\266\344\270\255\360\237\230\200\303'; i=$((i + 1)); done; } >in.utf8
zstd -c <in.utf8 >utf8.zst
zstd -f 3001 -c <in.utf8 >frames.zst
for mode in -c --categories; do
    "$GPUHISTO" --device=cpu $mode in.utf8 >table
    for after in $(few 2 1 5000 20000); do
        taken $after $mode --threads=1 --timing utf8.zst
        by_both "$mode, after $after bytes"
        taken $after $mode --threads=2 --timing frames.zst
        same "$mode, frames, after $after bytes" table out
        cat utf8.zst | taken $after $mode --threads=1 --timing
        by_both "$mode, a pipe, after $after bytes"
    done
    for call in $(few 3 5 10 14 18 22 26 30 40); do
        run_as env GPUHISTO_FAULT=error:$call GPUHISTO_OFFLOAD=5000 "$GPUHISTO" $ENGINE $mode -q --threads=1 utf8.zst
        counts "$mode, failing from call $call on" table
    done
done

# Pipes: the frame that is being decoded is begun anew, from the bytes that were kept.
# One byte at a time; where few cases are asked for, until the GPU has begun.
trickled()
{
    if [ "${ASKED:-$SCALE}" = small ]; then
        head -c 30000 "$1" | dd bs=1 2>/dev/null
        tail -c +30001 "$1"
    else
        dd bs=1 if="$1" 2>/dev/null
    fi
}
zstd -n -c <in >unsized.zst
printf '\120\052\115\030\005\000\000\000hello' >skippable
cat skippable one.zst >skipping.zst
"$GPUHISTO" --device=cpu -b in >table
for file in one.zst unsized.zst skipping.zst; do
    for after in $(few 2 1 20000 100000 200000); do
        cat $file | taken $after -b --threads=1 --timing
        by_both "a pipe, $file, after $after bytes"
    done
done
trickled one.zst | taken 20000 -b --threads=1 --timing
by_both "a pipe, one byte at a time"
cat one.zst | taken 20000 -b
counts "a pipe, several workers" table
cat unsized.zst skippable unsized.zst skipping.zst skippable >several.zst
cat in in in | "$GPUHISTO" --device=cpu -b >table
for after in $(few 2 1 200000 500000 800000); do
    cat several.zst | taken $after -b --threads=1 --timing
    by_both "a pipe of several frames, after $after bytes"
done

# The device fails at a call, and at all later ones: while it is opened, or after it has begun the frame.
"$GPUHISTO" --device=cpu -b in >table
losses=0
for call in $(few 8 1 2 3 5 8 10 12 14 16 18 20 22 24 26 28 30 33 36 40 45 50 60 80); do
    cat unsized.zst | run_as env GPUHISTO_FAULT=error:$call GPUHISTO_OFFLOAD=20000 "$GPUHISTO" $ENGINE -b --threads=1
    same "a pipe, failing from call $call on" table out
    check "a pipe, failing from call $call on: status" [ "$(cat status)" -eq 0 ]
    losses=$((losses + $(grep -c 'GPU was lost' err)))
done
check "pipes: devices lost after they had begun ($losses)" [ "$losses" -ge 1 ]

# A frame that ends where a buffer does, 128 KiB, and the GPU is lost when all of the pipe was read.
data uniform 60000 >rough
data text 80000 >smooth
zstd -n <rough >rough.zst
{ cat rough.zst && zstd -K $((131072 - $(wc -c <rough.zst) - 8)) && zstd <smooth; } >aligned.zst
check "a skippable frame up to a buffer's end" [ "$(($(wc -c <aligned.zst) - $(zstd <smooth | wc -c)))" -eq 131072 ]
cat rough smooth | "$GPUHISTO" --device=cpu -b >table
for call in $(few 9 4 6 8 9 10 11 12 15 17 20 21 22 25 28 32 33 35 38 39 45); do
    cat aligned.zst | run_as env GPUHISTO_FAULT=error:$call GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE -b -q --threads=1
    counts "a frame up to a buffer's end, failing from call $call on" table
done

# A frame has given all its content, but its checksum comes later; then the GPU is lost.
zstd -c <rough >summed.zst
data uniform 400000 >more
zstd <more >more.zst
cat rough more | "$GPUHISTO" --device=cpu -b >table
for call in $(few 10 20 25 30 35 36 37 38 39 40 41 42 43 44 45 46 47 48 50 52 54 56 60); do
    {
        head -c $(($(wc -c <summed.zst) - 2)) summed.zst && sleep 0.1
        tail -c 2 summed.zst && cat more.zst
    } | run_as env GPUHISTO_FAULT=error:$call GPUHISTO_OFFLOAD=60000 "$GPUHISTO" $ENGINE -b -q --threads=1
    counts "a frame cut in its checksum, failing from call $call on" table
done

# What is wrong with the data is found by whoever has them.
head -c 100000 unsized.zst >short.zst
cat short.zst | taken 20000 -b --threads=1
refuses "a pipe that is cut short" 1 "standard input: truncated zstd data"
{ head -c $(($(wc -c <unsized.zst) - 1)) unsized.zst && printf '\001'; } >wrong.zst
cat wrong.zst | taken 20000 -b --threads=1
refuses "a pipe with a wrong checksum" 1 "standard input: "

# Standard input that is a file, and stands in the middle of it.
"$GPUHISTO" --device=cpu -b in >table
{ printf 'not zstd data' && cat one.zst; } >shifted
{ head -c 13 >dropped && taken 20000 -b --threads=1 --timing; } <shifted
by_both "standard input"

# A pipe goes to the GPU at its second frame, and the GPU is lost after it has counted some of that.
data text 248010 >first
data text 930529 >second
{ zstd <first && zstd <second; } >two.zst
cat first second | "$GPUHISTO" --device=cpu -b >table
for fault in $(few 2 wrong:13 wrong:16 wrong:17 wrong:20 error:90 error:120); do
    cat two.zst | run_as env GPUHISTO_FAULT=$fault GPUHISTO_OFFLOAD=20000 "$GPUHISTO" $ENGINE -b -q --threads=1
    counts "a pipe of two frames, $fault" table
done

# The GPU is lost when all is counted but the end of the last record, which is decoded again.
seq 1 50000 | head -c 279998 >cut
zstd -n <cut >cut.zst
"$GPUHISTO" --device=cpu -n cut >table
for after in $(few 2 1 40000 200000); do
    run_as env GPUHISTO_FAULT=readerror:1 GPUHISTO_OFFLOAD=$after "$GPUHISTO" $ENGINE -n --threads=1 cut.zst
    same "the GPU is lost at the end, after $after bytes" table out
    check "the GPU is lost at the end, after $after bytes: one warning" [ "$(grep -c 'GPU was lost' err)" = 1 ]
done

# --- text: the line of the first token that is not a number ---

seq 1 40000 >numbers
sed '35000s/.*/many/' numbers >tokens
for frame in "-n" "-f 3000"; do
    zstd $frame -c <tokens >tokens.zst
    "$GPUHISTO" --device=cpu -n tokens >table 2>/dev/null
    for after in $(few 2 1 50000 150000); do
        taken $after -n --threads=1 tokens.zst
        same "numbers, zstd $frame, after $after bytes" table out
        check "numbers, zstd $frame, after $after bytes: the line" \
            grep -q "tokens.zst: line 35000: 'many' is not a number" err
        cat tokens.zst | taken $after -n --threads=1
        same "numbers, a pipe of zstd $frame, after $after bytes" table out
        check "numbers, a pipe of zstd $frame, after $after bytes: the line" \
            grep -q "standard input: line 35000: 'many' is not a number" err
        taken $after -n --threads=1 --invalid=error tokens.zst
        refuses "numbers, zstd $frame, after $after bytes, --invalid=error" 1 "line 35000: 'many' is not a number"
    done
done

# A token that is longer than the frames that it is in, again and again: there is no place to begin.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%0200d\n", i }' >long
zstd -f 20 <long >long.zst
"$GPUHISTO" --device=cpu -n long >table
taken 1 -n --threads=1 long.zst
counts "records over many frames" table
seq 100000 100499 | tr '\n' ' ' | tr -d ' ' >unbroken
{ cat unbroken && echo && cat numbers; } >late
zstd -n -c <late >late.zst
"$GPUHISTO" --device=cpu -n late >table 2>/dev/null
taken 1 -n --threads=1 late.zst
same "no record ends in the first chunks" table out

# Numbers that are one and the same are looked for by the CPU alone.
yes 7 | head -n 50000 >equal
zstd -n <equal >equal.zst
"$GPUHISTO" --device=cpu -n -B 10 equal >table
taken 1 -n -B 10 equal.zst
counts "one number, again and again" table

# --- values ---

for values in "--values=u16 -B 16 --min=0 --max=65536" "--values=u24 -B 16 --min=0 --max=16777216"; do
    "$GPUHISTO" --device=cpu $values in >table
    for file in one.zst many.zst; do
        taken 20000 $values --threads=1 $file
        counts "$values, $file" table
    done
done

# --- shares, ranges, limits ---

for part in 1/3 2/3 3/3; do
    for file in one.zst many.zst tokens.zst; do
        mode=-b && [ $file = tokens.zst ] && mode=-n
        "$GPUHISTO" --device=cpu $mode --part=$part $file >table 2>/dev/null
        taken 5000 $mode --part=$part --threads=1 $file
        same "--part=$part $file" table out
    done
done
"$GPUHISTO" --device=cpu -b --skip=1000 --length=200000 one.zst >table
taken 1 -b --skip=1000 --length=200000 --timing one.zst
same "a range" table out
refute "a range: not by the GPU" grep -q 'gpu: decompressing takes' err
zstd -w 20 -n <in >window.zst
"$GPUHISTO" --device=cpu -b in >table
taken 20000 -b --memlimit=1M --threads=1 --timing window.zst
by_both "a window as large as may be"
zstd -w 27 -n <in >window.zst
taken 20000 -b --threads=1 window.zst
counts "a window that the device does not take" table

# --- several GPUs: as many as there are FILEs for, and fewer workers while these are fed ---

# The FIFO that is the second FILE is empty until they are there, so that FILEs are left for them.
data text 2000000 >in
zstd -f 30000 -c <in >many.zst
mkfifo fifo
others="many.zst many.zst many.zst many.zst many.zst many.zst many.zst"
cat in in in in in in in in | "$GPUHISTO" --device=cpu -b >table

# later ARGUMENT...: runs with the FILE, the FIFO and the others.
later()
{
    { sleep 1; } >fifo &
    run_as env CUDA_VISIBLE_DEVICES=0,1,2 GPUHISTO_DEVICES=3 GPUHISTO_OFFLOAD=20000 "$@" -b many.zst fifo $others
    wait $!
}

# shellcheck disable=SC2086
later "$GPUHISTO" $ENGINE --threads=8 --timing
same "three GPUs" table out
for gpu in 0 1 2; do
    check "three GPUs: $gpu" grep -q "gpu:$gpu: decompressing takes" err
done
check "three GPUs: of eight workers those that feed them are left, and one" grep -q 'workers: [234]$' err
for call in $(few 2 40 100 200); do
    # shellcheck disable=SC2086
    later env GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE --threads=8
    same "three GPUs, call $call fails" table out
done
cat in in | "$GPUHISTO" --device=cpu -b >table
run_as env CUDA_VISIBLE_DEVICES=0,1,2 GPUHISTO_DEVICES=3 GPUHISTO_OFFLOAD=20000 "$GPUHISTO" $ENGINE -b \
    --timing many.zst many.zst
same "two FILEs" table out
refute "two FILEs: no third GPU" grep -q "gpu:2: " err

# --- what is wrong with the data is found ---

size=$(wc -c <one.zst)
for cut in $(few 2 1 4 5 1000); do
    head -c -$cut one.zst >bad.zst
    taken 20000 -b --threads=1 bad.zst
    refuses "$cut bytes are missing" 1 "bad.zst: truncated zstd data, at byte $((size - cut))"
done
for place in $((size / 2)) $((size - 1)); do
    { head -c $((place - 1)) one.zst && printf '\252' && tail -c +$((place + 1)) one.zst; } >bad.zst
    taken 20000 -b --threads=1 bad.zst
    refuses "damage at byte $place" 1 "bad.zst: corrupt zstd data" ", at byte 0"
done
{ cat one.zst && printf garbage; } >bad.zst
taken 20000 -b --threads=1 bad.zst
refuses "garbage after it" 1 "bad.zst: not zstd data" ", at byte $size"

# --- a device that is lost ---

data text 300000 >in
zstd -c <in >one.zst
zstd -f 3000 -c <in >many.zst
"$GPUHISTO" --device=cpu -b in >table
for call in $(few 2 1 3 5 8 12 20); do
    for file in one.zst many.zst; do
        run_as env GPUHISTO_OFFLOAD=50000 GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE -b --threads=1 $file
        same "$file, call $call fails" table out
        check "$file, call $call fails: one warning" [ "$(wc -l <err)" -le 1 ]
    done
done

# After batches that were counted: the rest of the frame is decoded again, by libzstd.
data text 1000000 >in
zstd -c <in >one.zst
"$GPUHISTO" --device=cpu -b in >table
lost=0
for call in $(few 3 10 20 30 40 50 60 70 80); do
    run_as env GPUHISTO_OFFLOAD=50000 GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE -b --threads=1 one.zst
    same "many batches, call $call fails" table out
    lost=$((lost + $(grep -c 'warning' err)))
done
check "many batches: the device was lost" [ $lost -gt 0 ]
run_as env GPUHISTO_OFFLOAD=50000 GPUHISTO_FAULT=wrong:2 "$GPUHISTO" $ENGINE -b --threads=1 one.zst
same "many batches, a snapshot that is wrong" table out
check "many batches, a snapshot that is wrong: one warning" [ "$(grep -c 'warning' err)" -eq 1 ]

# A frame that several workers decode until the GPU comes, which may be lost.
data text 20000000 >shared
zstd -w 18 -n -c <shared >shared.zst
"$GPUHISTO" --device=cpu -b shared >table
for fault in error:90 error:600; do
    run_as env GPUHISTO_FAULT=$fault GPUHISTO_OFFLOAD=3000000 "$GPUHISTO" --device=auto --chunk-size=256K \
        --threads=3 -b -q shared.zst
    same "several workers, $fault" table out
done
run_as env GPUHISTO_OFFLOAD=3000000 "$GPUHISTO" --device=auto --chunk-size=256K --threads=3 -b --timing shared.zst
by_both "several workers"

# A read of a stream that fails once, as of a socket whose peer has gone, is not forgotten when a GPU is offered
# the stream. Other reads are of what the system says of its memory.
if can_interpose; then
    data text 3000 | zstd -c >small.zst
    cat small.zst small.zst >twice.zst
    "$GPUHISTO" --device=cpu -b twice.zst >table
    failed=0
    for n in $(few 3 $(seq 1 40)); do
        { cat small.zst && sleep 0.1 && cat small.zst; } 2>/dev/null |
            run_as env FAULT_CALL=read FAULT_AT="$n" FAULT_ERRNO=104 LD_PRELOAD="$HELPERS/interpose.so" \
                GPUHISTO_OFFLOAD=1 "$GPUHISTO" $ENGINE -b --threads=1
        if [ "$(cat status)" = 0 ]; then
            same "read $n fails, and is not of the stream" table out
        else
            refuses "read $n fails" 1 "standard input: Connection reset by peer, at byte "
            failed=$((failed + 1))
        fi
    done
    check "reads of the stream that failed: $failed" [ "$failed" -ge 1 ]
else
    skip_part "reads that fail: $why_not"
fi

summary

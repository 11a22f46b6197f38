#!/bin/sh
# SPDX-License-Identifier: MIT
# Several GPUs, emulated: every mode counts on them what the CPU counts; what is asked for must be
# there; one that is lost is replaced; --timing, --verbose and warnings tell them apart.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE=
. "${srcdir:-.}/tests/helpers/lib.sh"

GPUHISTO_DEVICES=3
export GPUHISTO_DEVICES

data text 60000 >text
seq 1 3 30000 >numbers
"$HELPERS/make_zstd" -f 4000 <numbers >numbers.zst

# says CASE TEXT: the last run's messages have the text in a line.
says()
{
    check "$1" grep -qF "$2" err
}

# tells CASE: the last run printed the table in the file expected, whatever its messages.
tells()
{
    check "$1: status" [ "$(cat status)" -eq 0 ]
    same "$1" expected out
}

# alike WHAT ARGUMENT...: two GPUs, all three, and GPUs in another order print what the CPU does.
alike()
{
    what=$1
    shift
    "$GPUHISTO" --device=cpu "$@" >expected
    for gpus in $(few 2 gpu:0,1 gpu:2,0,1 gpu:1); do
        run_as "$GPUHISTO" --device=$gpus --chunk-size=4K "$@"
        counts "$what, $gpus" expected
    done
}

alike letters -l text
alike bytes -b text text
alike numbers -n numbers
alike "numbers of a field" -n -k1 numbers numbers
seq 5 2 9000 >others
alike "each FILE" -n --each numbers others numbers
alike values --values=u16 --bins=100 --min=0 --max=65536 text
alike pairs --pairs text text
alike "aligned pairs" --pairs=aligned text
alike zstd -n numbers.zst numbers.zst
alike "pairs, zstd" --pairs numbers.zst numbers.zst
cat text | "$GPUHISTO" --device=gpu:0,2 --chunk-size=1K -l >out
"$GPUHISTO" --device=cpu -l text >expected
same "a pipe" expected out

# FILEs that GPUs decompress: each GPU has a worker, if so many are allowed.
"$GPUHISTO" --device=cpu -n numbers.zst numbers.zst numbers.zst numbers.zst >expected
for allowed in $(few 2 1 2 3 4); do
    run_as "$GPUHISTO" --device=gpu:0,1,2 --threads=$allowed --timing -n numbers.zst numbers.zst numbers.zst numbers.zst
    tells "FILEs decompressed by three GPUs, $allowed threads"
    [ $allowed -lt 3 ] && workers=$allowed || workers=3
    says "FILEs decompressed by three GPUs, $allowed threads: workers" "cpu: 0 bytes, workers: $workers"
done

"$GPUHISTO" --device=cpu -n numbers.zst >expected
run_as "$GPUHISTO" --device=gpu:0,1,2 --threads=4 --timing -n numbers.zst
tells "one FILE for three GPUs"
says "one FILE for three GPUs: workers" "cpu: 0 bytes, workers: 1"
cat numbers.zst | run_as "$GPUHISTO" --device=gpu:0,1,2 --threads=4 --timing -n
tells "a pipe for three GPUs"
says "a pipe for three GPUs: workers" "cpu: 0 bytes, workers: 1"

# Several workers, each with a compressed FILE: a GPU has one at a time.
data text 5000000 >plain
data text 200000 | "$HELPERS/make_zstd" -f 50000 >a.zst
data text 150000 | "$HELPERS/make_zstd" >b.zst
"$GPUHISTO" --device=cpu -l plain a.zst b.zst a.zst b.zst b.zst a.zst >expected
for round in $(few 3 1 2 3); do
    for gpus in gpu:0,1 gpu:0,1,2; do
        run_as "$GPUHISTO" --device=$gpus --kernel=vectorized --threads=4 -l plain a.zst b.zst a.zst b.zst b.zst a.zst
        counts "compressed FILEs side by side, $gpus, $round" expected
    done
done

# A token that is not a number in a batch whose snapshot is wrong: it is not counted twice.
{ seq 1 60000; echo bad; seq 1 60000; echo worse; } >invalid
"$HELPERS/make_zstd" <invalid >invalid.zst
"$GPUHISTO" --device=cpu -n invalid.zst >expected 2>err.cpu
for gpus in gpu:0,1 gpu:1,0; do
    for n in 1 2; do
        run_as env GPUHISTO_FAULT=wrong:$n "$GPUHISTO" --device=$gpus --threads=1 -n invalid.zst
        tells "a wrong snapshot $n and invalid tokens, $gpus"
        says "a wrong snapshot $n and invalid tokens, $gpus" "$(sed 's/^gpuhisto: //' err.cpu)"
    done
done

# A device that is lost while it counts a batch, after which comes one in which no record ends: the token that
# is refused keeps its line, and the end of the run its status.
{ seq 1 20000; echo bad; } >before
head -c 4000 /dev/zero | tr '\\0' 7 >within
{ "$HELPERS/make_zstd" <before; "$HELPERS/make_zstd" -n <within; } >held.zst
for n in $(few 7 $(seq 1 59)); do
    {
        "$HELPERS/make_zstd" <before
        sleep 0.05
        "$HELPERS/make_zstd" -n <within
    } | run_as env GPUHISTO_FAULT=error:$n "$GPUHISTO" --device=gpu:0,1 -q --threads=1 -n --invalid=error
    grep -q 'cannot use the GPU' err || refuses "call $n fails, the last batch is empty, a pipe" 1 \
        "standard input: line 20001: 'bad' is not a number"
    run_as env GPUHISTO_FAULT=error:$n "$GPUHISTO" --device=gpu:0,1 -q --no-check --threads=1 -n --invalid=error held.zst
    grep -q 'cannot use the GPU' err || refuses "call $n fails, the last batch is empty" 1 \
        "held.zst: line 20001: 'bad' is not a number"
done

# More bins than there are snapshots for: counts are lost with a GPU, and nothing more need be read.
rm -f ended
{
    head -c 400000 plain
    sleep 1
    cat plain plain && echo >ended # far more than the GPUs' buffers take
} 2>/dev/null | run_as env GPUHISTO_FAULT=error:9 "$GPUHISTO" --device=gpu:0,1 --kernel=naive --chunk-size=64K \
    --threads=2 --values=u32 --bins=100000 --min=0 --max=4294967296
refuses "counts are lost for good" 1 "GPU lost: emulated failure"
refute "counts are lost for good: the input is read to its end" [ -e ended ]

"$GPUHISTO" --device=cpu -l text >expected
# --device=all begins on the CPU, as auto does.
run_as "$GPUHISTO" --device=all -v -l text
tells "all, a short input"
says "all, a short input" "gpu: not used: not requested, or not worth starting"
# With a kernel, GPUs are asked for at once: all of them.
run_as "$GPUHISTO" --device=all --kernel=vectorized --chunk-size=1K -v -l text
tells "all, with a kernel"
for gpu in 0 1 2; do
    says "all, with a kernel" "gpu:$gpu: emulated device, vectorized"
done

# What is not there.
run_as env CUDA_VISIBLE_DEVICES=4,5,6 "$GPUHISTO" --device=gpu:0,3 -l text
refuses "one that the user's list lacks" 1 "cannot use the GPU: GPU 3: there is no such device"
# CUDA is shown only those that are asked for, so that two are numbers 0 and 1 there.
run_as env GPUHISTO_DEVICES=2 "$GPUHISTO" --device=gpu:7,5 -l text
counts "two GPUs of many" expected
run_as env GPUHISTO_DEVICES=1 "$GPUHISTO" --device=gpu:7,5 -l text
refuses "the second is not there" 1 "cannot use the GPU: GPU 5: there is no such device"

# As GPUs that take their time to start: those that would save none are not opened, and a run begins with the first
# one. The CPU replaces a lost one of those that were named.
run_as env GPUHISTO_FIRST=1 "$GPUHISTO" --device=gpu:0,1 -v -l text
tells "a second one would save no time"
says "a second one would save no time: the first" "gpu: emulated device"
for n in $(few 3 5 9 11 14); do
    run_as env GPUHISTO_FIRST=1 GPUHISTO_FAULT=error:$n "$GPUHISTO" --device=gpu:0,1 --chunk-size=4K -l text
    tells "one of two that were named is lost, call $n"
    says "one of two that were named is lost, call $n: a warning" "the CPU counted the rest"
done
run_as env GPUHISTO_FIRST=1 "$GPUHISTO" --device=gpu:0,1,2 --kernel=vectorized --chunk-size=1K -l text
counts "with the first of three" expected
run_as env GPUHISTO_FIRST=1 GPUHISTO_DEVICES=1 "$GPUHISTO" --device=gpu:7,5 --kernel=vectorized -l text
refuses "the second is not there, which is known at once" 1 "cannot use the GPU: GPU 5: there is no such device"
yes | run_as env GPUHISTO_FIRST=1 GPUHISTO_FAULT=error:1 "$GPUHISTO" --device=gpu:0,1 --kernel=vectorized -l
refuses "an endless pipe, one cannot be opened" 1 "cannot use the GPU: GPU 0: emulated failure"

# Each has its line.
run_as "$GPUHISTO" --device=gpu:2,1 --timing --chunk-size=1K --threads=4 -l text
for gpu in 1 2; do
    says "--timing" "gpu:$gpu: "
done
check "--timing: the bytes of all GPUs are those of the input" \
    [ "$(sed -n 's/^gpuhisto: gpu:[0-9]*: \([0-9]*\) bytes.*/\1/p' err | awk '{ s += $1 } END { print s }')" = 60000 ]

# One is lost, at any call: the others and the CPU count the rest, with one warning.
lost=0
for n in $(few 4 $(seq 1 7 400)); do
    run_as env GPUHISTO_FAULT=error:$n "$GPUHISTO" --device=gpu:0,1 --kernel=vectorized \
        --chunk-size=1K -l text
    if grep -q '^gpuhisto: cannot use the GPU: GPU 0: ' err; then
        refuses "call $n fails: a GPU cannot be opened" 1
    else
        tells "call $n fails"
    fi
    lost=$((lost + $(grep -c 'warning: GPU 0 was lost (emulated failure); the others and the CPU counted the rest' err)))
done
check "GPUs that were lost: $lost" [ $lost -ge 1 ]

summary

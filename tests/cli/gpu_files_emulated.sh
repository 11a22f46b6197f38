#!/bin/sh
# SPDX-License-Identifier: MIT
# zstd data that the emulated GPU decompresses by itself: from FILEs and pipes, however bytes arrive,
# and when it is lost in the middle of a frame.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

data text 300000 >in
zstd -c <in >one.zst
oracle bytes <in
mv expected table

# --- what it takes ---

run -b --timing one.zst
same "a FILE" table out
check "--timing says what memory that took" \
    grep -qE '^gpuhisto: gpu: decompressing takes [1-9][0-9.]* MiB of its memory and [0-9.]+ MiB of the host.s, for [0-9.]+ MiB of content at a time$' err
check "--timing says where the time went" \
    grep -qE '^gpuhisto: gpu: its memory was allocated after [0-9.]+ s; reading [0-9.]+ s, waiting for the device [0-9.]+ s and for checksums [0-9.]+ s, hashing [0-9.]+ s$' err
run -b --timing in
refute "--timing says nothing of it if nothing was decompressed" grep -q decompressing err

zstd -w 20 -n <in >window.zst
run -b --memlimit=1M window.zst
counts "a window as large as may be" table
run -b --memlimit=1M --timing window.zst
check "a window as large as may be: by the GPU" grep -q 'gpu: decompressing takes' err
run -b --memlimit=1048575 window.zst
refuses "a larger window" 1 "window.zst: the zstd window exceeds the limit"

# --- pipes ---

# decompressed CASE: the last run, with --timing, counted what is in table, and the GPU decompressed it.
decompressed()
{
    same "$1" table out
    check "$1: by the GPU" grep -q 'gpu: decompressing takes' err
}

cat one.zst | run -b --timing
decompressed "a pipe"
cat one.zst | run -b --timing -d zstd
decompressed "a pipe, zstd is demanded"
"$HELPERS/dribble" -n 3001 <one.zst | run -b --timing
decompressed "a pipe that gives little at a time"
zstd -f 30000 -k 100000 -c <in >many.zst
head -c 3 many.zst >head
tail -c +4 many.zst >rest
{ cat head && sleep 0.1 && cat rest; } | run -b --timing -d zstd
decompressed "frames, skippable ones too, of which three bytes come first"
for cut in 1 2 3 4 100 50000; do
    head -c -$cut one.zst | run -b
    refuses "a pipe, $cut bytes are missing" 1 "standard input: truncated zstd data, at byte $(($(wc -c <one.zst) - cut))"
done
{ cat one.zst && printf garbage; } | run -b
refuses "a pipe, garbage after it" 1 "standard input: not zstd data" ", at byte $(wc -c <one.zst)"

# A skippable frame that is cut short, after content that was counted.
{ cat one.zst && printf '\120\052\115\030\240\206\001\000%50s' ''; } >skippable.zst
fault="truncated zstd data, at byte $(wc -c <skippable.zst)"
run -b skippable.zst
refuses "a skippable frame that is cut short" 1 "skippable.zst: $fault"
cat skippable.zst | run -b
refuses "a pipe, a skippable frame that is cut short" 1 "standard input: $fault"
{
    head -c 200 skippable.zst
    sleep 0.1
    tail -c +201 skippable.zst
} | run -b
refuses "a pipe in two pieces, a skippable frame that is cut short" 1 "standard input: $fault"

# A share of a FILE: what is left of it, by a frame that the device refuses or by its loss, is decoded from
# within the share.
for letter in a b c d e f g h; do
    data text 3000 | tr '[:lower:]' "[$letter*]" | zstd
done >shares.zst
for part in 1/2 2/2 2/3; do
    "$GPUHISTO" --device=cpu -b --part=$part shares.zst >expected
    run -b --part=$part shares.zst
    counts "share $part" expected
    for call in 5 9 13 17 21 25; do
        run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=error:$call "$GPUHISTO" --device=gpu:0,1 -b -q --part=$part shares.zst
        grep -q 'cannot use the GPU' err || counts "share $part, call $call fails" expected
    done
done
{
    head -c 2000 in | zstd -n
    head -c 3000 in | zstd -n
    head -c 300000 in | zstd -w 27 -n
    head -c 1000 in | zstd -n
} >large.zst
for part in 1/3 2/3 3/3; do
    "$GPUHISTO" --device=cpu -b --part=$part large.zst >expected
    run -b --part=$part large.zst
    counts "share $part, a large window" expected
done

# What has arrived is counted while the pipe stays open: whole blocks, without the rest of a frame.
mkfifo open
run -b --interval=0.1 open &
pid=$!
exec 3>open
head -c 100000 one.zst >&3
check "an open pipe: a block is counted" eventually grep -q '^0x20.[1-9]' out
exec 3>&-
wait $pid
refuses_nothing=$(tail -n 1 err)
check "an open pipe: it was cut short" [ "$refuses_nothing" != "${refuses_nothing#*truncated}" ]

# A device that is lost: nothing replaces it with --device=gpu.
for call in 3 12 25; do
    cat one.zst | run_as env GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE -b
    refuses "a pipe, call $call fails" 1 "GPU"
done

# ... or while content is copied back to be hashed.
for call in 1 2 5; do
    run_as env GPUHISTO_FAULT=readerror:$call "$GPUHISTO" $ENGINE -b one.zst
    refuses "a FILE, call $call for its content fails" 1 "GPU"
    run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=readerror:$call "$GPUHISTO" --device=gpu:0,1 -b -q one.zst
    counts "a FILE, two GPUs, call $call for its content fails" table
done

# ... or while the host waits for nothing else: for the end of the last number, or for the content that a
# number is in that is refused.
printf '%s %s' "$(yes 12 | head -n 30000)" 34 >numbers
zstd <numbers >numbers.zst
tr 1 x <numbers | zstd >invalid.zst
"$GPUHISTO" -n numbers >expected
be_patient -n numbers.zst
for fault in error hang stuck; do
    for file in numbers invalid; do
        run_as env GPUHISTO_FAULT=read$fault:1 timeout 60 "$GPUHISTO" $ANY_MODE -n $file.zst
        refuses "$file, reading the content: $fault" 1 "GPU"
    done
    run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=read$fault:1 \
        timeout 60 "$GPUHISTO" --device=gpu:0,1 -qn numbers.zst
    counts "numbers, two GPUs, reading the content: $fault" expected
    run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=read$fault:1 \
        timeout 60 "$GPUHISTO" --device=gpu:0,1 -qn --invalid=error invalid.zst
    refuses "invalid, two GPUs, reading the content: $fault" 1 "invalid.zst: line 1: 'x2' is not a number"
done
unset GPUHISTO_DEADLINE

# Content that the device has wrong, as far as its checksum tells: it is decoded again by the CPU, or the
# run ends if some of it was counted.
run_as env GPUHISTO_FAULT=content:1 "$GPUHISTO" $ENGINE -b one.zst
case $(cat status) in
0) same "content that is wrong" table out ;;
*) check "content that is wrong: no table" [ ! -s out ] ;;
esac

# A read that fails: the byte's offset, as without a GPU.
if can_interpose; then
    data random 1300000 | zstd -c >random.zst
    for n in 2 3; do
        run_as env FAULT_CALL=pread FAULT_AT=$n FAULT_FOR_GOOD=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $ENGINE -b random.zst
        refuses "pread $n of a compressed FILE" 1 "random.zst: Input/output error, at byte "
    done
fi

# --- FILEs that grow, or become shorter, while the GPU has what they had ---

data text 90000 >content
zstd -c -f 30000 <content >frames.zst
"$HELPERS/make_zstd" -K 500 >skippable
zstd -c <in >last.zst
cat frames.zst skippable last.zst >all.zst
before=$(wc -c <frames.zst)
after=$((before + $(wc -c <skippable)))
size=$(wc -c <all.zst)
cat content in | "$GPUHISTO" --device=cpu -b >all.table
"$GPUHISTO" --device=cpu -b content >content.table

# changes CASE BEFORE NOW [TEXT]: a FILE has so many bytes when it is read, and others before its end is looked for: the process stops as
# it begins to read what the GPU gets. It is counted as all.zst, or as TABLE; or refused with TEXT.
changes()
{
    head -c $2 all.zst >grows.zst
    FAULT_CALL=pread FAULT_AT=3 FAULT_SIGNAL=19 LD_PRELOAD="$HELPERS/interpose.so" GPUHISTO_DEADLINE=60000 \
        "$GPUHISTO" $ENGINE -b grows.zst >out 2>err &
    pid=$!
    until grep -q '^State:.T' /proc/$pid/status 2>/dev/null || ! kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    if [ $3 -lt $2 ]; then
        head -c $3 all.zst >grows.zst
    else
        head -c $3 all.zst | tail -c +$(($2 + 1)) >>grows.zst
    fi
    kill -CONT $pid
    wait $pid
    echo $? >status
    if [ $# -eq 3 ]; then
        counts "$1" "${table_after:-all.table}"
    else
        refuses "$1" 1 "grows.zst: $4"
    fi
}
if can_interpose && [ -r /proc/self/status ]; then
    within=$((before + 250))
    changes "a FILE as it was" $size $size
    changes "within a skippable frame, all" $within $size
    changes "within its header, all" $((before + 5)) $size
    changes "before it, all" $before $size
    changes "after it, all" $after $size
    changes "within a frame, all" $((size - 500)) $size
    table_after=content.table
    changes "within a skippable frame, its rest" $within $after
    table_after=
    changes "within a skippable frame, a little more" $within $((after - 1)) "truncated zstd data, at byte $((after - 1))"
    changes "within a skippable frame, not all" $within $((size - 1)) "truncated zstd data, at byte $((size - 1))"
    changes "within a frame, not all" $((size - 500)) $((size - 1)) "truncated zstd data, at byte $((size - 1))"
    changes "within a skippable frame, less" $within $((within - 1)) "was truncated while it was read"
else
    skip_part "FILEs that grow: there is no /proc, or calls cannot be interposed"
fi

# --- what is left to libzstd: ranges, and what may begin with a header ---

for options in "--skip=1000" "--length=150000" "--skip=131071 --length=2"; do
    "$GPUHISTO" --device=cpu -b $options one.zst >expected
    run -b $options --timing one.zst
    same "$options" expected out
    refute "$options: not by the GPU" grep -q 'gpu: decompressing takes' err
    cat one.zst | run -b $options
    counts "$options, pipe" expected
done
{ printf '\223NUMPY\001\000\166\000' && printf '%-117s\n' "{'descr': '<u2', 'fortran_order': False, 'shape': (9, 1000), }" &&
    head -c 18000 in; } >numbers.npy
zstd <numbers.npy >numbers.npy.zst
values="--values=u16 --min=0 --max=65536 --bins=16"
"$GPUHISTO" --device=cpu $values numbers.npy >expected
check "a .npy file" [ -s expected ]
run_as "$GPUHISTO" $ANY_MODE $values numbers.npy.zst
counts ".npy.zst" expected
cat numbers.npy.zst | run_as "$GPUHISTO" $ANY_MODE $values
counts ".npy.zst, pipe" expected

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# One zstd frame that several workers decode: the same counts, messages and status as from one worker.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/many_cores.sh"

watch_over 600

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

# Others help with frames of 20 MB and more. `small` is decoded beside other frames, `large` in order.
seq 2700000 >numbers
{ head -c 9000000 numbers && "$HELPERS/make_data" uniform 8000000 && head -c 9000000 numbers; } >mixed
"$HELPERS/make_data" same 21000000 88 >equal
zstd -l 1 -c <numbers >small.zst
zstd -l 1 -c -n -w 24 <mixed >large.zst
zstd -l 1 -w 10 <numbers >window.zst
zstd -l 19 -c <equal >equal.zst
cat mixed numbers | zstd -l 2 -f 21000000 -k 1000 >frames.zst
zstd -l 1 -c -n -w 24 -f 21000000 <mixed >in_order.zst
cat small.zst in_order.zst large.zst >chain.zst

# --- right ones ---

for file in $(few 2 small window large equal chain frames); do
    alike "$file" -b $file.zst
done
# The last block is empty, in a run of its own, and a chunk is full where the content ends.
head -c 25165824 mixed >whole
zstd -S 25165824 -l 1 <whole >empty.zst
alike "an empty last block" -b empty.zst
alike "no checksum" -b --no-check large.zst
alike "numbers" -n --min=0 --max=2000000 --bins=37 small.zst
alike "the last field" -nk-1 -s small.zst
alike "characters" -c small.zst
alike "several files" -b --each small.zst large.zst window.zst in_order.zst
# What is counted in order goes on in pieces after a frame that is too small for them.
{ head -c 20000 numbers | zstd -l 1 && cat small.zst; } | cat small.zst - >table.zst
alike "CSV" --csv -nk1 -s table.zst
in_pipe "CSV" table.zst --csv -nk1 -s
for file in $(few 2 frames large chain); do
    in_pipe "$file" $file.zst -b
done
in_pipe "characters" large.zst -c
in_pipe "the last field" chain.zst -nk-1 -s
in_stalls "a frame" large.zst 10000000 60000 -b
alter large.zst 13000000 '\125\125\125'
in_stalls "an altered frame" altered 10000000 60000 -b
[ "$SCALE" = small ] && more= || more='1: 20000000:'
for range in 21000001:3000000 0:20999999 $more; do
    range="--skip=${range%:*} --length=${range#*:}"
    range=${range% --length=}
    # shellcheck disable=SC2086 # several options
    alike "a range: $range" -b $range chain.zst
    # shellcheck disable=SC2086
    in_pipe "a range: $range" chain.zst -b $range
done
# What is counted ends in the last whole block of what has come of a pipe that stays open: it is not waited for.
length=$(($(wc -c <mixed) / 131072 * 131072 - 300))
for threads in 1 $workers; do
    mkfifo open$threads
    { head -c -1000 large.zst && exec sleep 120; } >open$threads &
    timeout 100 "$GPUHISTO" --device=cpu --threads=$threads -b --length=$length <open$threads >open.out 2>&1
    echo "status $?" >>open.out
    kill $! 2>kill.err
    [ "$threads" != 1 ] || mv open.out open.due
    [ "$threads" = 1 ] || same "a range of a pipe that stays open, $threads workers" open.due open.out
done
for loops in $(kernels_here); do
    GPUHISTO_CPU=$loops alike "$loops" -b small.zst large.zst
done
otherwise_read large.zst mixed

# A frame that follows a small one is begun anew from a pipe.
{ printf x | zstd -l 1 && cat large.zst; } >second.zst
alter second.zst $(($(wc -c <second.zst) - 1)) '\377'
only=16
in_pipe "a small frame and one with another end" altered -b
# The last sequence repeats an offset of 1, less one: versions of libzstd differ in what they make of it.
{
    printf '\050\265\057\375\000\120D\000\000\010x\001T\001\002\000\004'
    for block in $(seq 200); do # stored
        printf '\000\000\020'
        head -c 131072 mixed
    done
    printf ']\000\000 yyyy\001T\000\001\000\003'
} >zero.zst
alike "an offset of 0" -b zero.zst
only=

# Frames of tiny blocks, some of which are empty, or repeat tables.
for kind in repeated $(few 9 '' raw compressed predefined); do
    "$HELPERS/make_hostile" zstd-$kind 9000000 >hostile
    alike "$kind" -b hostile
    in_pipe "$kind" hostile -b
done

# --- wrong ones ---

for file in $(few 3 small in_order large chain); do
    wrong_places $file.zst $few_places
    # The checksum; what follows the frame; and a frame that states another size.
    size=$(wc -c <$file.zst)
    alter $file.zst $((size - 1)) '\377'
    alike "$file, another end" -b altered
    in_pipe "$file, another end" altered -b
    alike "$file, another end that is not checked" -b --no-check altered
    { cat $file.zst && echo rubbish; } >followed
    alike "$file, followed by rubbish" -b followed
    in_pipe "$file, followed by rubbish" followed -b
    head -c $((size - 2)) $file.zst >cut
    alike "$file, cut before its end" -b cut
    in_pipe "$file, cut before its end" cut -b
done
# The checksum of a frame of which all bytes are there at once.
head -c 21000000 mixed | zstd -l 1 -c -w 20 >last.zst
alter last.zst $(($(wc -c <last.zst) - 1)) '\377'
alike "another end, all at once" -b altered
alike "another end, and a range that ends there" -b --length=21000000 altered
zstd -S 25165824 -l 1 -c <whole >last.zst
alter last.zst $(($(wc -c <last.zst) - 1)) '\377'
alike "another end after an empty block, and such a range" -b --length=25165824 altered
zstd -S 9999999 -l 1 <numbers >stated.zst
alike "a frame that states another size" -b stated.zst
# A byte is wrong, and the file ends early: what comes first counts.
alter large.zst 3000000 '\125\125\125'
head -c 9000000 altered >both
alike "wrong and cut" -b both
in_pipe "wrong and cut" both -b
alike "a window that is too large" -b --memlimit=1M large.zst
# libzstd takes windows up to a power of two.
head -c 21000000 mixed | zstd -l 1 -w 25 >single.zst
alike "a window of a whole frame" -b --memlimit=24M single.zst
alike "a window of a whole frame that is not too large" -b --memlimit=32M single.zst

# --- longer than what is kept of a pipe: 32 MiB ---

# What is wrong at its end is not decompressed again, and what is wrong before that is.
{ cat numbers && "$HELPERS/make_data" uniform 40000000 && cat mixed; } | zstd -l 1 -c -n -w 24 >long.zst
cat long.zst small.zst >longer.zst
in_pipe "a long frame, and another" longer.zst -b
# Pieces have far more content than their compressed bytes let expect, and a window that is wide.
{ "$HELPERS/make_data" uniform 36000000 && "$HELPERS/make_data" same 80000000 0; } | zstd -l 1 -c -n -w 25 >wide.zst
only=3
in_pipe "a wide window" wide.zst -b
only=
size=$(wc -c <long.zst)
alter longer.zst $((size + 1000000)) '\125\125\125'
in_pipe "a frame after a long one" altered -b
head -c $((size - 100000)) long.zst >cut
in_pipe "a long frame that is cut" cut -b
alter long.zst 3000000 '\125\125\125'
in_pipe "the beginning of a long frame" altered -b
alter long.zst $((size - 1000000)) '\125\125\125'
gone_in_pipe "the end of a long frame" altered -b

summary

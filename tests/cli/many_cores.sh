#!/bin/sh
# SPDX-License-Identifier: MIT
# One zstd frame that several workers decode: the same counts, messages and status as from one worker,
# who leaves it all to libzstd.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

workers='2 3 8'
[ "$SANITIZED" = no ] || workers=3 # each run takes several times as long

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

# alike CASE ARGUMENT...: with several workers all is as with one.
alike()
{
    case_=$1
    shift
    run_as "$GPUHISTO" --device=cpu --threads=1 "$@"
    mv out out.due
    mv err err.due
    mv status status.due
    for threads in $workers; do
        run_as "$GPUHISTO" --device=cpu --threads=$threads "$@"
        same "$case_, $threads workers" out.due out
        same "$case_, $threads workers: messages" err.due err
        same "$case_, $threads workers: status" status.due status
    done
}

# Others help with frames of 20 MB and more. `small` is decoded beside other frames, `large` in order.
seq 2700000 >numbers
{ cat numbers && "$HELPERS/make_data" uniform 9000000 && cat numbers; } >mixed
"$HELPERS/make_data" same 21000000 88 >equal
zstd -l 1 -c <numbers >small.zst
zstd -l 1 -c -n -w 24 <mixed >large.zst
zstd -l 1 -w 10 <numbers >window.zst
zstd -l 19 -c <equal >equal.zst
zstd -l 2 -f 21000000 -k 1000 <mixed >frames.zst
zstd -l 1 -c -n -w 24 -f 21000000 <mixed >in_order.zst
cat small.zst frames.zst large.zst in_order.zst >chain.zst

# --- right ones ---

for file in small large window equal frames in_order chain; do
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
for range in '--skip=1' '--skip=21000001 --length=3000000' '--length=20999999' '--skip=20000000'; do
    # shellcheck disable=SC2086 # several options
    alike "a range: $range" -b $range large.zst chain.zst
done
for loops in $(counters_here); do
    GPUHISTO_CPU=$loops alike "$loops" -b small.zst large.zst
done
for threads in $workers; do
    run_as "$GPUHISTO" --device=cpu --threads=1 -b mixed
    mv out expected
    mkfifo pipe.$threads
    cat large.zst >pipe.$threads &
    run --threads=$threads -b pipe.$threads
    counts "a pipe, $threads workers" expected
    (ulimit -v 150000 && run --threads=$threads -b large.zst)
    [ "$SANITIZED" = yes ] || counts "little memory, $threads workers" expected
done

# --- wrong ones ---

# alter FILE BYTE TO: a byte of a copy, `altered`, is another one.
alter()
{
    cp "$1" altered
    # shellcheck disable=SC2059 # it is a format
    printf "$3" | dd of=altered bs=1 seek="$2" conv=notrunc 2>/dev/null
}

few_places=3
[ "$SCALE" = small ] || few_places=40
for file in $(few 2 small in_order large chain); do
    size=$(wc -c <$file.zst)
    place=0
    while [ $place -lt $few_places ]; do
        at=$((size * place / few_places + place * 7919 % 5000 + 30))
        [ $at -lt "$size" ] || at=$((size - 1))
        alter $file.zst $at '\125'
        alike "$file, another byte $at" -b altered
        head -c $at $file.zst >cut
        alike "$file, cut at $at" -b cut
        place=$((place + 1))
    done
    # The checksum; what follows the frame; and a frame that states another size.
    alter $file.zst $((size - 1)) '\377'
    alike "$file, another end" -b altered
    alike "$file, another end that is not checked" -b --no-check altered
    { cat $file.zst && echo rubbish; } >followed
    alike "$file, followed by rubbish" -b followed
    head -c $((size - 2)) $file.zst >cut
    alike "$file, cut before its end" -b cut
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
alike "a window that is too large" -b --memlimit=1M large.zst
# libzstd takes windows up to a power of two.
head -c 21000000 mixed | zstd -l 1 -w 25 >single.zst
alike "a window of a whole frame" -b --memlimit=24M single.zst
alike "a window of a whole frame that is not too large" -b --memlimit=32M single.zst

summary

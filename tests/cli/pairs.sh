#!/bin/sh
# SPDX-License-Identifier: MIT
# --pairs: the pairs of bytes of each FILE, wherever it is cut: into chunks, pieces, frames, shares and
# reads of a pipe.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900

# Where each chunk takes milliseconds, as in the emulation of a GPU, there are fewer.
lengths="0 1 2 3 15 16 17 4095 4096 4097 65537 262143 262144 262145 1000000"
pieces=4K
large=3000000
numbers="1 2 3 7 9 64"
[ "$SCALE" = small ] && numbers="2 9" || numbers="1 2 3 4 5 6 7 8 9 64 1000"
sizes=$(seq 1 1026)
[ "$SCALE" != small ] || sizes="1 2 3 5 7 16 63 64 65 511 512 513 1023 1024 1025"
if [ -n "${FEW_CHUNKS:-}" ]; then
    lengths="0 1 2 3 17 4097 262145"
    pieces=30K
    large=300000
    numbers="3"
    sizes="7 513"
fi

skips="0 1 2 511 1023 1024 1025"
some_lengths="0 1 2 3 512 1024"
if [ -n "${SLOW_START:-}" ]; then # a real GPU, which takes a third of a second
    lengths="0 1 3 4097 262145 1000000"
    numbers=3
    sizes="7 513"
    skips="0 511 1024"
    some_lengths="0 1 512"
fi

# expects STEP [all]: writes what is expected of standard input to the file expected. STEP: 1, or 2 for
# --pairs=aligned.
expects()
{
    "$HELPERS/oracle_pairs" "$@" >expected
}

# --- sizes, and contents that are hard to count ---

kinds="uniform text same" # with few cases, each size has the next one of them
for size in $lengths; do
    kinds="${kinds#* } ${kinds%% *}"
    some=$kinds
    [ "$SCALE" != small ] || some=${kinds%% *}
    for kind in $some; do
        data $kind $size 7 >file
        expects 1 <file
        run --pairs file
        counts "$size bytes, $kind" expected
        run --pairs --chunk-size=$pieces --threads=3 <file
        counts "$size bytes, $kind, pieces of $pieces" expected
        cat file | run --pairs
        counts "$size bytes, $kind, a pipe" expected
        [ $((size % 2)) -eq 0 ] || continue
        expects 2 <file
        run --pairs=aligned --threads=3 --chunk-size=$pieces file
        counts "$size bytes, $kind, aligned" expected
        cat file | run --pairs=aligned
        counts "$size bytes, $kind, aligned, a pipe" expected
    done
done

# So many workers that they share one table of counts, and have pages beside it.
data uniform 5000000 8 >file
for aligned in "" =aligned; do
    expects $((1 + ${#aligned} / 8)) <file
    run --pairs$aligned --threads=64 --chunk-size=64K file
    counts "64 workers,$aligned" expected
done

for pair in ab 'a\0' '\0\377' 'aab'; do
    i=0
    while [ $i -lt 16 ]; do
        printf "$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair$pair"
        i=$((i + 1))
    done >some
    for _ in 1 2 3 4 5 6 7 8 9 10 11; do
        cat some some >file
        mv file some
    done
    mv some file
    expects 1 <file
    run --pairs file
    counts "'$pair' again and again" expected
    expects 2 <file
    run --pairs=aligned file
    counts "'$pair' again and again, aligned" expected
done

# --- every chunk size and every read of a text of 1 KiB ---

data text 1024 3 >text
expects 1 <text
for size in $sizes; do
    run --pairs --chunk-size="$size" --threads=2 text
    counts "chunks of $size" expected
    "$HELPERS/dribble" -n "$size" <text | run --pairs
    counts "reads of $size" expected
    "$HELPERS/make_zstd" -f "$size" <text | run --pairs
    counts "frames of $size" expected
done
short=200
[ -z "${FEW_CHUNKS:-}" ] || short=40
head -c $short text >short
expects 1 <short
for size in 1 2 3; do
    "$HELPERS/dribble" <short | run --pairs --chunk-size=$size
    counts "reads of 1 byte, chunks of $size" expected
    "$HELPERS/dribble" <short | run --pairs --chunk-size=$size --threads=4
    counts "reads of 1 byte, chunks of $size, four workers" expected
done
expects 1 <text

# --- two frames, cut at every byte; frames of 0, 1 and 2 bytes ---

: >empty
for cut in $sizes; do
    [ "$cut" -le 1024 ] || continue
    head -c "$cut" text >head
    tail -c +$((cut + 1)) text >tail
    for sized in "" -n; do
        {
            "$HELPERS/make_zstd" $sized <head
            "$HELPERS/make_zstd" $sized <tail
        } >cut.zst
        run --pairs --threads=3 cut.zst
        counts "two frames, cut at $cut $sized" expected
    done
done
for sized in "" -n; do
    for size in 1 2 3; do
        "$HELPERS/make_zstd" $sized -f $size -k 2 <text >frames.zst
        run --pairs --threads=3 frames.zst
        counts "frames of $size bytes $sized" expected
        run --pairs --threads=3 --chunk-size=1 frames.zst
        counts "frames of $size bytes, chunks of 1 $sized" expected
    done
    {
        "$HELPERS/make_zstd" $sized <empty
        head -c 1 text | "$HELPERS/make_zstd" $sized
        "$HELPERS/make_zstd" $sized <empty
        "$HELPERS/make_zstd" $sized <empty
        tail -c +2 text | head -c 2 | "$HELPERS/make_zstd" $sized
        tail -c +4 text | head -c 500 | "$HELPERS/make_zstd" $sized
        "$HELPERS/make_zstd" $sized <empty
        tail -c +504 text | "$HELPERS/make_zstd" $sized -f 1
        "$HELPERS/make_zstd" $sized <empty
    } >mixed.zst
    for threads in 1 3; do
        run --pairs --threads=$threads mixed.zst
        counts "frames of 0, 1, 2 and more bytes, $threads workers $sized" expected
    done
    cat mixed.zst | run --pairs
    counts "the same from a pipe $sized" expected
done
expects 2 <text
for size in 1 2 3 400; do
    "$HELPERS/make_zstd" -f $size <text >frames.zst
    run --pairs=aligned --threads=3 frames.zst
    counts "frames of $size bytes, aligned" expected
done
data text $large 4 >large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
"$HELPERS/make_zstd" <large >whole.zst
expects 1 <large
for file in large large.zst whole.zst; do
    run --pairs --threads=4 $file
    counts "$file" expected
done
printf '\037\213\010' | run
if [ "$(cat status)" -ne 0 ]; then # it finds that its magic alone is truncated
    "$HELPERS/make_gzip" -m 700 <large >large.gz
    run --pairs large.gz
    counts "gzip" expected
else
    skip_part "gzip: built without ISA-L"
fi

# --- several FILEs: no pair goes from one to the next ---

printf ab >one
printf c >two
printf de >three
printf '0x6162\t1\tab\n0x6465\t1\tde\n' >expected
run --pairs one two empty three empty
counts "several FILEs" expected
for file in one two three; do
    "$HELPERS/make_zstd" -f 1 <$file >$file.zst
done
run --pairs one.zst two.zst three.zst
counts "several FILEs of frames of a byte" expected
printf 'one\t0x6162\t1\tab\nthree.zst\t0x6465\t1\tde\n' >expected
run --pairs --each one two three.zst
counts "--each" expected
for file in text large empty one two; do
    expects 1 <$file
    sed "s/^/$file$tab/" expected
done >each
run --pairs --each --threads=3 text large empty one two
counts "--each, several workers" each

# --- ranges and shares ---

for skip in $skips; do
    for length in $some_lengths; do
        tail -c +$((skip + 1)) text | head -c $length >range
        expects 1 <range
        for file in text frames.zst; do
            run --pairs --skip=$skip --length=$length $file
            counts "$file, --skip=$skip --length=$length" expected
        done
        run --pairs --skip=$skip --length=$length <text
        counts "standard input, --skip=$skip --length=$length" expected
    done
done
if can_share; then
    "$HELPERS/make_zstd" -f 3 <text >threes.zst
    "$HELPERS/make_zstd" -n -f 1 <text >ones.zst
    for file in text threes.zst ones.zst mixed.zst one two empty large.zst; do
        run --pairs $file
        mv out whole
        for n in $numbers; do
            for k in $(seq 1 "$n"); do
                "$GPUHISTO" $ENGINE --pairs --part="$k/$n" -F json $file
            done >shares
            "$GPUHISTO" --merge shares >sum 2>&1
            same "$file, $n shares" whole sum
        done
    done
    for file in text threes.zst ones.zst; do
        for n in $numbers; do
            for k in $(seq 1 "$n"); do
                "$GPUHISTO" $ENGINE --pairs=aligned --part="$k/$n" -F json $file
            done >shares
            "$GPUHISTO" --merge shares >sum 2>&1
            expects 2 <text
            same "$file, $n shares, aligned" expected sum
        done
    done
else
    skip_part "--part, --merge, --diff: $why_not"
fi

# --- on every processor ---

case ${FEW_CHUNKS:-} in
'')
    for kind in uniform text; do
        data $kind 3000001 5 >file
        expects 1 <file
        cp expected overlapping
        head -c 3000000 file >even
        expects 2 <even
        for cpu in $(kernels_here); do
            export GPUHISTO_CPU=$cpu
            run --pairs file
            counts "$kind, $cpu" overlapping
            run --pairs=aligned even
            counts "$kind, aligned, $cpu" expected
            unset GPUHISTO_CPU
        done
    done
    ;;
*) ;; # the CPU's counters are tested without a GPU
esac

# --- how it is shown ---

printf 'a" \\\n\000\377' >odd

# --- the picture ---

# pictures STEP FILE...: writes what is expected with --each.
pictures()
{
    step=$1
    shift
    for file; do
        python3 "$srcdir/tests/helpers/pgm_of_pairs.py" "$step" $file <$file
    done
}

if command -v python3 >found; then
    for file in odd empty text large; do
        python3 "$srcdir/tests/helpers/pgm_of_pairs.py" 1 <$file >expected
        run --pairs -F pgm $file
        counts "$file, PGM" expected
    done
    python3 "$srcdir/tests/helpers/pgm_of_pairs.py" 2 <large >expected
    run --pairs=aligned --format=pgm -o picture large
    mv picture out
    counts "aligned, PGM" expected
    pictures 1 text empty odd >expected
    run --pairs -F pgm --each text empty odd
    counts "--each, PGM: one image after the other" expected
    python3 "$srcdir/tests/helpers/pgm_of_pairs.py" 1 <text >expected
    "$GPUHISTO" $ENGINE --pairs -F json text >text.json
    if can_share; then
        "$GPUHISTO" --merge -F pgm text.json >out 2>err
        same "--merge, PGM" expected out
    fi
else
    skip_part "PGM: there is no python3"
fi

summary

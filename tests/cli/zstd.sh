#!/bin/sh
# SPDX-License-Identifier: MIT
# zstd data: every shape of it is read through, and whatever is wrong with it gives no table.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

codec=zstd
zstd()
{
    "$HELPERS/make_zstd" "$@"
}
made()
{
    zstd -c
}
. "${srcdir:-.}/tests/helpers/compressed.sh"

# --- shapes ---

zstd <in >one
every_way "one frame" one
shapes="-n:-f 7001 -k 100 -c"
[ "$SCALE" = small ] ||
    shapes="$shapes:-c:-n -c:-l 1:-l 19:-l -5:-w 20:-f 1000:-f 1000 -n -c:-f 7001 -k 0:-k 70000"
IFS=:
for options in $shapes; do
    IFS=' '
    zstd $options <in >shaped
    every_way "make_zstd $options" shaped
done
unset IFS
{ zstd -f 5000 <in && zstd -K 0 && zstd -K 9 && zstd </dev/null && zstd -n -c </dev/null; } >shaped
every_way "frames of nothing after" shaped
{ zstd </dev/null && zstd -K 5 && zstd -l 1 <in && zstd -K 200000; } >shaped
every_way "frames of nothing before" shaped
{ head -c 10000 in | zstd -l 19 && tail -c +10001 in | zstd -n -l 1; } >shaped
every_way "two files joined" shaped
some='120 132'
[ "$SCALE" = small ] || some="$some 121 122 123 124 125 126 127 130 131 133 134 135 136 137"
for first in $some; do
    { printf "\\$first\\052\\115\\030\\003\\000\\000\\000abc" && cat one; } >shaped
    run $big <shaped
    counts "skippable magic \\$first" table
done
zstd -K 20 >skippable
for options in "" "-d zstd"; do
    run $options <skippable
    counts "only a skippable frame $options" zeros
    zstd </dev/null | run $options
    counts "a frame of nothing $options" zeros
done
cat skippable skippable | run
counts "only skippable frames" zeros
run </dev/null
counts "nothing, recognised as plain bytes" zeros
empty="not zstd data (it is empty)"
: >nothing
run -d zstd </dev/null
refuses "nothing, but zstd is demanded" 1 "standard input: $empty"
run --decompress=zstd one nothing
refuses "an empty FILE, but zstd is demanded" 1 "nothing: $empty"
: | run -d zstd
refuses "an empty pipe, but zstd is demanded" 1 "standard input: $empty"
{ cat >seen && run -d zstd; } <one
refuses "a file at its end, but zstd is demanded" 1 "standard input: $empty"

# Small chunks, large ones, many bytes out of few.
zstd -n <in >shaped
some='10000 65536'
[ "$SCALE" = small ] || some="$some 7 64 1000 4096 1M"
for size in $some; do
    run --chunk-size=$size <shaped
    counts "chunks of $size" table
done
data same 300 65 >same
zstd <same >same.zst
oracle bytes <same
[ "$SCALE" = small ] && some='299 300 301' || some='1 299 300 301'
for size in $some; do
    run --chunk-size=$size <same.zst
    counts "300 times A, chunks of $size" expected
done
if [ "$SCALE" = full ]; then
    data same 30000000 90 >same
    oracle bytes <same
    for options in "" "-f 1000000 -c" "-w 17 -n"; do
        zstd $options <same | run
        counts "30 MB of Z, make_zstd $options" expected
    done
    data uniform 3000001 >noise
    oracle letters 1 1 <noise
    zstd -c <noise >noise.zst
    run -l1 -f noise.zst
    counts "noise, FILE" expected
    "$HELPERS/dribble" -n 4099 <noise.zst | run -l1 -f
    counts "noise, pipe" expected
    rm same noise noise.zst
fi

# --- recognised, or not ---

every_source few.zst
{ zstd -K 3 && cat few.zst; } | "$HELPERS/dribble" | run $big
counts "a skippable frame, byte by byte" few.table
head -c 300000 /dev/zero >nothing
{ printf 'P*M\030\340\223\004\000' && cat nothing && zstd <few && printf 'P*M\030\340\223\004\000' && cat nothing; } >around
run around
counts "a frame between large skippable ones" few.table
{ printf 'P*M\030\000\000\000\100' && cat nothing; } >beyond
run beyond
refuses "a skippable frame that goes on after the end" 1 "beyond: truncated zstd data, at byte 300008"
heads='\050 \050\265\057 \050\265\057\374more \132\052\115\031'
[ "$SCALE" = small ] ||
    heads="$heads"' \050\265 \050\265\057\374 \050\265\057more \050\265more \050more
        \051\265\057\375 \120 \132\052 \132\052\115 \132\052more \140\052\115\030more
        \110\052\115\030more \375\057\265\050 \000\050\265\057\375 \047\265\057\375'
for head in $heads; do
    printf "$head" >begin
    plain "begins with $head" begin
done
plain "after other bytes" after
oracle bytes <few.zst
run $big -d none few.zst
counts "none: bytes as they are, FILE" expected
cat few.zst | run $big -d none
counts "none: bytes as they are, pipe" expected

# Each FILE for itself.
cat in few in few | oracle bytes
run $big in few.zst one few
counts "plain and zstd FILEs" expected
cat one | run $big in few.zst - few
counts "plain and zstd FILEs, zstd on standard input" expected
run $big -d zstd one few
refuses "one that is not, by order" 1 "few: not zstd data"
cat in few.zst | oracle bytes
cat in few.zst >joined
run $big joined
counts "zstd after plain bytes of one FILE is not" expected

# --- wrong ---

head -c 20 few.zst >a
tail -c +21 few.zst >b
run $big a b
refuses "a frame over two FILEs" 1 "a: truncated zstd data, at byte 20"
run $big in a in
refuses "a truncated FILE among others" 1 "a: truncated"

several='xyz and_more_of_it \050\265\057\375'
[ "$SCALE" = small ] ||
    several="$several"' x xy xyzw \000 \000\000\000\000 \050 \050\265 \050\265\057 \132\052\115\030
        \132\052\115\030\001\000\000\000'
for garbage in $several; do
    { cat few.zst && printf "$garbage"; } >shaped
    run $big <shaped
    refuses "followed by $garbage" 1 "standard input: " "zstd data" ", at byte "
    cat shaped | run $big
    refuses "followed by $garbage, pipe" 1 "standard input: "
    { zstd <in && printf "$garbage"; } >shaped
    run $big -l shaped
    refuses "more, followed by $garbage" 1 "shaped: "
done
size=$(wc -c <few.zst)
{ cat few.zst && printf 'and more of it'; } | run $big
refuses "garbage after it: where it is" 1 "standard input: not zstd data" ", at byte $size"

# Frames of before zstd 1.0, which some builds of libzstd decode, do not tell their window.
{ printf '\120\052\115\030\000\000\000\000\047\265\057\375' && cat few; } | run $big -l
refuses "a frame of before 1.0" 1 "not zstd data (no frame begins here), at byte 8"
{ head -c $((size - 1)) few.zst && printf '\000'; } >shaped
cmp -s shaped few.zst && { head -c $((size - 1)) few.zst && printf '\001'; } >shaped
run $big <shaped
refuses "a bad checksum" 1 "standard input: corrupt zstd data" checksum
{ zstd <in && cat shaped; } | run $big
refuses "a bad checksum in the second frame" 1 "standard input: corrupt zstd data" checksum
# --no-check leaves the checksum out, and nothing else.
oracle bytes <few
run $big --no-check shaped
counts "--no-check: a bad checksum" expected
cat shaped few.zst shaped | run $big --no-check
cat few few few | oracle bytes
counts "--no-check: bad checksums in a pipe" expected
cat few in | oracle bytes
zstd <in | cat shaped - | run $big --no-check -d zstd
counts "--no-check: with and without a checksum" expected
head -c $((size - 1)) few.zst | run $big --no-check
refuses "--no-check: a checksum cut short" 1 "truncated zstd data, at byte $((size - 1))"
head -c $((size - 6)) few.zst | run $big --no-check
refuses "--no-check: truncated" 1 "truncated zstd data, at byte $((size - 6))"
{ cat few.zst && printf garbage; } | run $big --no-check
refuses "--no-check: garbage after it" 1 "not zstd data" ", at byte $size"

# Cut anywhere, it is refused; at a frame's end it is whole. (By order, as one to three bytes of
# magic alone are plain bytes.)
data text 40 7 >plain.1
data uniform 30 7 >plain.3
data same 90 66 >plain.4
zstd -c <plain.1 >part.1
zstd -K 6 >part.2
zstd -n <plain.3 >part.3
zstd <plain.4 >part.4
: >plain.2
: >whole
: >plain
for part in 1 2 3 4; do
    cat part.$part >>whole
    cat plain.$part >>plain
    oracle bytes <plain
    size=$(wc -c <whole)
    mv expected whole.$size
done
[ "$SCALE" = full ] && step=1 || step=17
cut_everywhere 4 $step
for cut in 1 2 3; do
    head -c $cut whole >cut
    oracle bytes <cut
    cat cut | run $big
    counts "the magic's first $cut bytes" expected
done
# Large frames, cut where blocks end and in their midst.
zstd -c -l 1 <in >one
size=$(wc -c <one)
for cut in $((size - 1)) $((size - 4)) $((size - 5)) $((size / 2)) 4 5 6 12; do
    head -c $cut one | run $big -l
    refuses "a larger frame, cut after $cut bytes" 1 "truncated zstd data, at byte $cut"
done

# any_flip FILE TABLE MASK...: with bits of any byte of FILE inverted, it is refused, or nothing has
# changed. By the shell alone: with head and tail it takes thrice the time.
any_flip()
{
    octals=$(od -An -v -to1 "$1")
    table=$2
    shift 2
    after=
    for octal in $octals; do
        after="$after\\0$octal"
    done
    before=
    at=0
    for octal in $octals; do
        after=${after#?????}
        for mask; do
            value=$((0$octal ^ mask))
            printf %b "$before\\0$((value >> 6))$((value >> 3 & 7))$((value & 7))$after" >flip
            run $big --decompress=zstd flip
            read -r status <status
            if [ "$status" -eq 0 ]; then
                counts "bits $mask of byte $at" "$table"
            else
                refuses "bits $mask of byte $at" 1 "flip: " "zstd"
            fi
        done
        before="$before\\0$octal"
        at=$((at + 1))
    done
}
# Nothing flipped: the table, so that what follows is about flips.
[ "$SCALE" = small ] || any_flip part.1 whole.$(wc -c <part.1) 0
# Of a raw block; of sequences and literals; of a window descriptor and no content size.
zstd -c <plain.1 >flip.1
data same 200 66 | zstd -c -n >flip.2
some='1 128'
[ "$SCALE" = small ] && some=255
[ "$SCALE" = small ] || [ "$SANITIZED" = yes ] || some='1 2 4 8 16 32 64 128'
[ "$SCALE" = small ] || any_flip flip.1 whole.$(wc -c <part.1) $some
data same 200 66 | oracle bytes
cp expected flip.table
any_flip flip.2 flip.table $some
if [ "$SCALE" = full ]; then
    data text 70 >few
    cat few few few | oracle bytes
    cp expected flip.table
    cat few few few | zstd -c -l 19 >flip.3
    any_flip flip.3 flip.table 1 255
fi

# invert FILE BYTE
invert()
{
    value=$(od -An -v -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    printf "\\$(printf %o $((255 - value)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>dd.err
}

# Numbers and values, too: with whatever kernel counts them.
engine=$ENGINE
ENGINE=$ANY_MODE

# --- the offset of an error: that of its frame, however the bytes come ---

# same_fault CASE FILE: it is refused with the same message as a file, and through a pipe that gives
# most of it at once, and then a byte at a time.
same_fault()
{
    run $big -n <"$2"
    refuses "$1, file" 1 "standard input: " "zstd data"
    cp err fault
    { head -c 131072 "$2" && tail -c +131073 "$2" | "$HELPERS/dribble" -u 200; } | run $big -n
    same "$1, byte by byte" fault err
}

# The frames come after one that fills the first buffer.
zstd -K 131064 >before
printf '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n' | zstd -c >numbers
for garbage in xyz wxyz '\050\265\057\376more' '\050\265x' '\132\052\115\031\000\000\000\000'; do
    { cat before numbers && printf "$garbage"; } >shaped
    same_fault "followed by $garbage" shaped
    message "followed by $garbage: where" ", at byte $(cat before numbers | wc -c)"
done
size=$(wc -c <numbers)
step=1
[ "$SCALE" = full ] || step=23
at=1
while [ $at -lt "$size" ]; do
    { cat before numbers && head -c $at numbers; } >shaped
    same_fault "cut in the last frame, after $at bytes" shaped
    message "cut in the last frame: where" "truncated" ", at byte $((131072 + size + at))"
    at=$((at + step))
done
for at in 4 5 6 10 30 $((size - 4)) $((size - 1)); do
    { cat before numbers numbers; } >shaped
    invert shaped $((131072 + size + at))
    same_fault "byte $at inverted" shaped
    message "byte $at inverted: where" ", at byte $((131072 + size))"
done

# --- blocks that RFC 8878 forbids, and libzstd takes or not, depending on how it gets them ---

# forbidden CASE TEXT: `shaped` is refused with TEXT, however it comes.
forbidden()
{
    for options_ in --threads=1 --threads=2 --threads=8 --chunk-size=8 --part=1/2; do
        [ -z "$no_part" ] || [ $options_ != --part=1/2 ] || continue
        run -b $options_ shaped
        refuses "$1, $options_" 1 "shaped: $2, at byte 0"
    done
    cat shaped | run -b
    refuses "$1, pipe" 1 "standard input: $2, at byte 0"
    "$HELPERS/dribble" -u 100 <shaped | run -b
    refuses "$1, byte by byte" 1 "standard input: $2, at byte 0"
}
no_part=
can_share || no_part=$why_not
large="corrupt zstd data (a block is larger than its frame allows)"
# Four bytes, compressed, in a window of two, which is the content "xy".
printf '\050\265\057\375\040\002\045\000\000\020xy\000' >shaped
forbidden "a block larger than the window" "$large"
# "x" 1025 times in a window of 1 KiB: as one byte, and as a block of literals.
printf '\050\265\057\375\000\000\013\040\000x' >shaped
forbidden "a block of one byte that is larger than the window" "$large"
printf '\050\265\057\375\100\000\001\003\045\000\000\025\100x\000' >shaped
forbidden "a block that has more than the window" "corrupt zstd data"
printf '\050\265\057\375\040\000\005\000\000' >shaped
forbidden "a compressed block of no bytes" "corrupt zstd data"

# --- frames that do not hold what their header states ---

# wrong_size CASE FILE OFFSET ARGUMENT...: it is refused, on every way, with the frame's offset.
wrong_size()
{
    what=$1
    file=$2
    offset=$3
    shift 3
    for size_ in 8 4K 256K; do
        run --chunk-size=$size_ --threads=2 "$@" "$file"
        refuses "$what, chunks of $size_" 1 "$file: corrupt zstd data" ", at byte $offset"
        cat "$file" | run --chunk-size=$size_ "$@"
        refuses "$what, chunks of $size_, pipe" 1 "standard input: corrupt zstd data" \
            ", at byte $offset"
    done
}
values="--values=u32 --min=0 --max=4294967296 --bins=4"
{ head -c 10001 in | zstd -S 30000 && head -c 9999 in | zstd -S 30000; } >shaped
wrong_size "two frames too short, values" shaped 0 $values
wrong_size "two frames too short, bytes" shaped 0 -b
wrong_size "two frames too short, text" shaped 0 -n
{ printf abcde | zstd -S 8 && printf fghi | zstd -S 8; } >shaped
wrong_size "nine bytes in two frames" shaped 0 $values
{ zstd <few && zstd -c -S 71 <few && zstd <few; } >shaped
wrong_size "the second of three" shaped "$(zstd <few | wc -c)" -b
{ zstd -n <few && zstd -S 0 <few; } >shaped
wrong_size "said to be empty" shaped "$(zstd -n <few | wc -c)" -b
zstd -w 24 -S 29999 <in >shaped
wrong_size "too large to be held whole" shaped 0 -b
zstd -S $(wc -c <in) <in >shaped
every_way "a last block that is empty" shaped
zstd -c -S $(wc -c <in) -w 24 <in >shaped
every_way "a last block that is empty, large window" shaped

# --- values in frames of every length ---

head -c 29992 in >whole_values
run $values whole_values
cp out values.table
options="-f 4000:-f 4001:-n:-n -f 4001:-n -f 3:-f 1:-n -w 24 -f 4001"
[ "$SCALE" = small ] && options="-n -f 4001"
IFS=:
for shape in $options; do
    IFS=' '
    zstd $shape <whole_values >shaped
    for size in 8 4K 256K; do
        run --chunk-size=$size --threads=3 $values shaped
        counts "values, make_zstd $shape, chunks of $size" values.table
    done
    cat shaped | run $big $values
    counts "values, make_zstd $shape, pipe" values.table
done
unset IFS
{
    head -c 8001 whole_values | zstd -f 1000 &&
        head -c 16000 whole_values | tail -c +8002 | zstd -n -f 7 &&
        tail -c +16001 whole_values | zstd -f 400
} >shaped
run --threads=3 $values shaped
counts "values, frames of all kinds" values.table

# --- dictionaries ---

# A frame of nothing that names dictionary 42, by hand.
printf '\050\265\057\375\001\000\052\001\000\000' >shaped
run $big shaped
refuses "a dictionary" 1 "shaped: needs a dictionary, which is not supported" "zstd" "-D"

ENGINE=$engine

# --- a pipe that stays open ---

# stays_open CASE FILE: what FILE holds is counted, and what is wrong in it found, while the writer
# still has the pipe open.
stays_open()
{
    run -n --invalid=error open &
    pid=$!
    exec 3>open
    cat "$2" >&3
    check "$1: it ends" eventually test -s status
    exec 3>&-
    wait $pid
    refuses "$1" 1 "open: line 31: 'abc'"
}
case $ENGINE in
*--device=cpu*)
    mkfifo open
    { seq 30 && echo abc && echo 31; } >wrong
    zstd <wrong >shaped
    rm -f status
    stays_open "an open pipe, a frame" shaped
    { cat wrong && seq 300000; } | zstd | head -c 100000 >shaped
    rm -f status
    stays_open "an open pipe, a part of a frame" shaped
    ;;
*) skip_part "a pipe that stays open: a GPU's chunks are filled first" ;;
esac

# --- memory is short ---

# tell_of_memory CASE: the last run gave the table in expected, or said that memory is short.
tell_of_memory()
{
    if [ "$(cat status)" = 0 ]; then
        counts "$1" expected
    else
        refuses "$1" 1
        check "$1: it says so" grep -qE 'out of memory|thread' err
    fi
}

# in_a_heap MB THREADS FILE [COMMAND...]: each thread beside the first has 500 KB more for its chunk.
# What one thread alone can do, many can: readers that find no memory help the others.
in_a_heap()
{
    heap=$((1000000 * $1 + 500000 * ($2 - 1))) threads=$2 file=$3 what="$3, a heap of $1 MB, $2 threads"
    shift 3
    run_as "$@" env FAULT_HEAP=$heap LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE --threads="$threads" "$file"
    tell_of_memory "$what"
    read -r status <status
    [ "$threads" != 1 ] || alone=$status
    [ "$alone" != 0 ] || check "$what: as by one" [ "$status" = 0 ]
}

memory_is_short()
{
    data uniform 30000000 >noise
    oracle bytes <noise
    zstd -f 5000000 -n -w 23 -l 1 <noise >many.zst
    { zstd -f 50000 <few && zstd -n -w 25 -l 1 <noise; } >one.zst
    { cat few noise; } >all
    # In a bounded address space, where threads and their stacks find no room either.
    for limit in 24 32 40 48 56 64 80 100 150 300; do
        for threads in 1 4; do
            (ulimit -v $((1000 * limit)) && run --threads=$threads many.zst)
            tell_of_memory "$limit MB of addresses, $threads threads"
        done
    done
    # With a bounded heap. On one processor threads stop in places where they seldom do on two.
    for file in many.zst one.zst; do
        [ $file = many.zst ] || oracle bytes <all
        for limit in 8 16 24 26 28 30 32 34 36 38 40 44 48 64 96 128 256; do
            for threads in 1 2 8; do
                in_a_heap $limit $threads $file
            done
            for try in 1 2 3 4; do
                in_a_heap $limit 2 $file taskset -c 0
            done
        done
        check "$file, in the end there is enough" [ "$alone" = 0 ]
    done
    rm noise all many.zst one.zst
}
if [ "$SCALE" = full ] && can_interpose; then
    memory_is_short
else
    skip_part "memory that is short: ${why_not-SCALE=full does it}"
fi

# --- many frames, decompressed side by side ---

# side_by_side CASE FILE TABLE: by any number of readers, from a file and a pipe.
side_by_side()
{
    for threads in 1 2 3 8; do
        run --threads=$threads "$2"
        counts "$1, $threads threads, FILE" "$3"
        cat "$2" | run --threads=$threads
        counts "$1, $threads threads, pipe" "$3"
    done
}

# wrong_side_by_side CASE FILE TEXT...: it is refused whoever meets the fault first.
wrong_side_by_side()
{
    what=$1
    file=$2
    shift 2
    for threads in 1 2 3 8; do
        run --threads=$threads "$file"
        refuses "$what, $threads threads, FILE" 1 "$file: " "zstd data" ", at byte " "$@"
    done
    cat "$file" | run --threads=4
    refuses "$what, pipe" 1 "standard input: " "zstd data" ", at byte " "$@"
}

if [ "$SCALE" = full ]; then
    data text 12000000 >large
    oracle bytes <large
    cp expected large.table
    shapes="-n:-n -c:-f 7000:-f 100000 -c -k 9:-f 1000000 -n:-f 2500000 -n -c -w 22"
    IFS=:
    for options in $shapes; do
        IFS=' '
        zstd -l 1 $options <large >shaped
        side_by_side "make_zstd $options" shaped large.table
    done
    unset IFS
    # A seekable file ends with its table, in a skippable frame.
    { zstd -l 1 -f 65536 <large && zstd -K 1481; } >shaped
    side_by_side "a seek table" shaped large.table
    head -c 500000 large >little
    oracle bytes <little
    zstd -f 9 <little >shaped
    side_by_side "tiny frames" shaped expected

    # Frames too large to be held whole, by their size or their window, between small ones.
    data uniform 9000000 >noise
    {
        zstd -f 50000 -c <large && zstd -c <noise && zstd -f 50000 -c <little &&
            zstd -w 24 -n -c <large && zstd -f 50000 <little && zstd -n <noise
    } >shaped
    cat large noise little large little noise | oracle bytes
    side_by_side "frames of all sizes" shaped expected
    # Threads are started for what they can decompress or count: all for many frames, few for one
    # that is too large to be held whole.
    zstd -f 100000 <large >many
    zstd <noise >one
    run --device=cpu --letters --threads=8 --timing many
    check "many frames keep eight threads busy" grep -q 'cpu: .* workers: 8$' err
    run --device=cpu --letters --threads=8 --timing one
    check "one frame does not" grep -q 'cpu: .* workers: [1-7]$' err
    rm many one

    run --memlimit=8M --threads=3 shaped
    refuses "one window too large among many" 1 "shaped: the zstd window exceeds the limit"

    zstd -l 1 -f 100000 -c <large >parts
    cat large noise large large | oracle bytes
    run --threads=3 parts noise parts - <parts
    counts "many frames, plain bytes, many frames" expected

    # In any frame, while others are decompressed, whatever is wrong stops it.
    size=$(wc -c <parts)
    for percent in 0 1 10 33 50 77 98 99; do
        byte=$((size / 100 * percent + 1000))
        cp parts bad
        invert bad $byte
        wrong_side_by_side "byte $byte inverted" bad
        head -c $byte parts >bad
        wrong_side_by_side "cut at $byte" bad "truncated zstd data, at byte $byte"
        zstd <few >>bad
        wrong_side_by_side "cut at $byte, and something after" bad
    done
    for byte in $((size - 1)) $((size - 2)) $((size - 4)) $((size - 5)) $((size - 100)); do
        head -c $byte parts >bad
        wrong_side_by_side "cut at $byte of $size" bad "truncated zstd data, at byte $byte"
    done
    cp parts bad
    invert bad $((size - 1))
    wrong_side_by_side "the last frame's checksum" bad checksum
    { cat parts && printf garbage; } >bad
    wrong_side_by_side "garbage after" bad "not zstd data (no frame begins here), at byte $size"
    { cat parts && printf xy; } >bad
    wrong_side_by_side "less than a magic after" bad
    cp parts bad
    invert bad $((size / 2))
    run --threads=3 parts bad parts
    refuses "many FILEs, one of them wrong" 1 "bad: "
    rm large noise little shaped parts bad
fi

# --- windows ---

# A frame of nothing with a window of 2^LOG, by hand: magic, no size, window, one empty last block.
window()
{
    printf "\\050\\265\\057\\375\\000\\$(printf %o $((($1 - 10) * 8)))\\001\\000\\000"
}
hint="the zstd window exceeds the limit (raise it with --memlimit=SIZE)"
for log in 10 17 20 27; do
    window $log | run
    counts "a window of 2^$log" zeros
done
for log in 28 29 30 31 40 41; do
    window $log | run
    refuses "a window of 2^$log" 1 "standard input: $hint"
done
window 28 | run --memlimit=256M
counts "a window of 2^28, with leave" zeros
window 20 | run --memlimit=1M
counts "a window of 2^20, just allowed" zeros
window 20 | run --memlimit=1048575
refuses "a window of 2^20, just not" 1 "$hint"
window 11 | run --memlimit=1K
refuses "a window of 2^11, smallest limit" 1 "$hint"
window 10 | run --memlimit=1K
counts "a window of 2^10, smallest limit" zeros
# Of a frame that tells its size, and so has a window of just that.
head -c 3000 in >part
oracle bytes <part
zstd <part | run --memlimit=2K --chunk-size=64K
refuses "a window of 3000, just not" 1 "$hint"
zstd <part | run --memlimit=4K --chunk-size=64K
counts "a window of 3000, just allowed" expected
zstd -w 22 -n <in >wide
run $big --memlimit=2M wide
refuses "a real window of 2^22" 1 "wide: $hint"
run $big --memlimit=4M wide
counts "a real window of 2^22, with leave" table
run $big --memlimit=2M in few.zst wide
refuses "a window among FILEs" 1 "wide: $hint"

# What the command itself makes, if it is there.
if command -v zstd >/dev/null && command zstd -q -c <few >made 2>/dev/null; then
    oracle bytes <few
    run made
    counts "zstd's own" expected
    command zstd -q -c -T2 --long=27 --ultra -22 <in >made
    run made
    counts "zstd's own, --long=27" table
fi

summary

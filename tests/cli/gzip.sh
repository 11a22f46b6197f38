#!/bin/sh
# SPDX-License-Identifier: MIT
# gzip data: every shape of it is read through as gzip does, and whatever is wrong with it gives no
# table.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    skip "built without ISA-L; unsupported_format.sh has what is said of gzip data then"
fi

if command -v gzip >/dev/null; then
    has_gzip=yes
else
    has_gzip=no
    skip_part "what gzip makes, and what it makes of wrong data: it is not installed"
fi

codec=gzip
gzipped()
{
    "$HELPERS/make_gzip" "$@"
}
made()
{
    gzipped -f -n name -c comment -h -x 20
}
. "${srcdir:-.}/tests/helpers/compressed.sh"

# --- the library ---

mkdir broken
: >broken/libisal.so.2
run_as env LD_LIBRARY_PATH="$work/broken" "$GPUHISTO" $ENGINE magic
if [ "$(cat status)" = 1 ] && grep -q 'cannot load' err; then
    refuses "a library that cannot be loaded" 1 "gpuhisto: magic: cannot load " "libisal.so.2"
else
    skip_part "a library that cannot be loaded: it is found elsewhere"
fi

# --- shapes ---

shapes=":-f:-f -b 100 -m 7001 -n name -c comment -h -x 9:-B -m 1001 -f"
[ "$SCALE" = small ] ||
    shapes="$shapes:-b 1:-b 1000 -m 12345:-f -m 100:-m 1000 -x 0 -h:-n a -h:-c b -h:-m 9 -n c
:-B -m 5000 -z 1000:-B -m 50 -x 20 -n name -h:-x 65535 -h -f:-x 65535 -n name -c comment -m 10000:-F 1 -f:-z 1:-z 1000 -m 3000"
IFS=:
for options in $shapes; do
    IFS=' '
    gzipped $options <in >shaped
    every_way "make_gzip $options" shaped
done
unset IFS
{ gzipped </dev/null && gzipped -f </dev/null && gzipped -f <in && gzipped -n x </dev/null && gzipped </dev/null; } \
    >shaped
every_way "empty members around" shaped
{ head -c 10000 in | gzipped -f && tail -c +10001 in | gzipped -h -x 20; } >shaped
every_way "two files joined" shaped
{ head -c 10000 in | gzipped -B -m 999 && tail -c +10001 in | head -c 9000 | gzipped -m 900 &&
    tail -c +19001 in | gzipped -B -m 3000 && gzipped -B </dev/null; } >shaped
every_way "members that state their size, and others" shaped
{ gzipped -B </dev/null && gzipped -B -m 2500 <in && gzipped -B </dev/null; } >shaped
every_way "members that state their size, empty ones around" shaped
if [ $has_gzip = yes ]; then
    for level in 1 6 9; do
        gzip -$level <in >shaped
        every_way "gzip -$level" shaped
        { head -c 7777 in | gzip -$level && tail -c +7778 in | gzipped -f && gzip -$level </dev/null; } \
            >shaped
        every_way "gzip -$level and another member" shaped
    done
    cp in named && gzip -N named
    every_way "gzip's name" named.gz
fi
for options in "" "-d gzip"; do
    gzipped </dev/null | run $options
    counts "a member of nothing $options" zeros
done
empty="not gzip data (it is empty)"
run -d gzip </dev/null
refuses "nothing, but gzip is demanded" 1 "standard input: $empty"
: | run -d gzip
refuses "an empty pipe, but gzip is demanded" 1 "standard input: $empty"

# Small chunks, large ones, many bytes out of few.
gzipped -f <in >shaped
some='7 10000 65536'
[ "$SCALE" = small ] || some="$some 64 1000 4096 1M"
for size in $some; do
    run --chunk-size=$size <shaped
    counts "chunks of $size" table
done
data same 30000 65 >same
gzipped -f <same >same.gz
oracle bytes <same
for size in 1000 29999 30000 30001; do
    run --chunk-size=$size <same.gz
    counts "30000 times A, chunks of $size" expected
done
if [ "$SCALE" = full ] && [ $has_gzip = yes ]; then
    data same 30000000 90 >same
    oracle bytes <same
    gzip <same | run
    counts "30 MB of Z" expected
    data uniform 3000001 >noise
    data text 3000000 >text
    cat noise text noise | oracle letters 1 1
    { gzip -1 <noise && gzip -9 <text && gzip <noise; } >mixed.gz
    for threads in 1 2 8; do
        run -l1 -f --threads=$threads mixed.gz
        counts "noise and text, FILE, $threads threads" expected
        "$HELPERS/dribble" -n 4099 <mixed.gz | run -l1 -f --threads=$threads
        counts "noise and text, pipe, $threads threads" expected
    done
    rm noise text mixed.gz
fi
rm same

# --- recognised, or not; a byte at a time ---

every_source few.gz
size=$(wc -c <few.gz)
gzipped -f -m 100 -n name -h <in | "$HELPERS/dribble" -n 3 | run $big
counts "many members, three bytes at a time" table
if [ $has_gzip = yes ]; then
    { gzip -9 <few && gzip -1 <in; } | "$HELPERS/dribble" | run $big
    cat few in | oracle bytes
    counts "gzip's own, byte by byte" expected
fi

for head in '\037' '\037\213' '\037\213\007more' '\037more' '\213\037' '\000\037\213\010' '\037\235'; do
    printf "$head" >begin
    plain "begins with $head" begin
done
plain "after other bytes" after
oracle bytes <few.gz
run $big -d none few.gz
counts "none: bytes as they are" expected
run $big -d zstd few.gz
refuses "zstd, by order" 1 "few.gz: not zstd data"

# Each FILE for itself.
"$HELPERS/make_zstd" -f 5000 <in >in.zst
cat in few in in few | oracle bytes
run $big in few.gz in.zst shaped few
counts "plain, gzip and zstd FILEs" expected
cat few.gz | run $big in - in.zst shaped few
counts "plain, gzip and zstd FILEs, gzip on standard input" expected
run $big -d gzip shaped few
refuses "one that is not, by order" 1 "few: not gzip data (no member begins here), at byte 0"
run $big -d gzip shaped in.zst
refuses "zstd, but gzip is demanded" 1 "in.zst: not gzip data"

# --- what follows the last member ---

for zeros in 1 2 511 512 100000; do
    { cat few.gz && head -c $zeros /dev/zero; } >shaped
    run $big <shaped
    counts "$zeros zero bytes after it" few.table
    cat shaped | run $big
    counts "$zeros zero bytes after it, pipe" few.table
done
{ cat few.gz && printf '\000\000\000'; } | "$HELPERS/dribble" | run $big
counts "zero bytes after it, byte by byte" few.table

{ gzipped -B <few && sleep 0.2 && printf '\000\000\000'; } | run $big
counts "zero bytes that come late" few.table

# A decoder that was used before begins anew.
head -c 10 /dev/zero >ten
run --threads=1 shaped few.gz
cat few few | oracle bytes
counts "another FILE after zero bytes" expected
run --threads=1 -d gzip few.gz ten
refuses "zero bytes after another FILE" 1 "ten: not gzip data"

# refused_after OFFSET TEXT: `shaped` is refused there, however it comes.
refused_after()
{
    run $big shaped
    refuses "$2: FILE" 1 "shaped: $2, at byte $1"
    cat shaped | run $big
    refuses "$2: pipe" 1 "standard input: $2, at byte $1"
    "$HELPERS/dribble" <shaped | run $big
    refuses "$2: byte by byte" 1 "standard input: $2, at byte $1"
}
for garbage in x xyz '\001\000\000' '\050\265\057\375' '\037\213\011' '\037x'; do
    { cat few.gz && printf "$garbage"; } >shaped
    refused_after "$size" "not gzip data (no member begins here)"
    { gzipped <in && printf "$garbage"; } >shaped
    run $big -l shaped
    refuses "more, followed by $garbage" 1 "shaped: not gzip data"
done
# gzip ignores all that follows zero bytes, with a warning and exit status 2.
{ cat few.gz && printf '\000\000x'; } >shaped
refused_after $((size + 2)) "not gzip data (after zero bytes, which end it)"
{ cat few.gz && printf '\000' && cat few.gz; } >shaped
refused_after $((size + 1)) "not gzip data (after zero bytes, which end it)"
{ printf '\000' && cat few.gz; } >shaped
run $big -d gzip shaped
refuses "zero bytes before it" 1 "not gzip data (no member begins here), at byte 0"

# --- wrong: the offset is that of the member ---

{ cat few.gz && gzipped -C <in; } >shaped
refused_after "$size" "corrupt gzip data (wrong checksum or length)"
{ cat few.gz && gzipped -f -L <few && cat few.gz; } >shaped
refused_after "$size" "corrupt gzip data (wrong checksum or length)"
{ cat few.gz && gzipped -H -n name <few; } >shaped
refused_after "$size" "corrupt gzip data (wrong checksum of a header)"
for flags in 0x20 0x40 0x80; do
    { cat few.gz && gzipped -F $flags <few; } >shaped
    refused_after "$size" "corrupt gzip data (unknown flags in a header)"
done
{ cat few.gz && gzipped </dev/null | head -c 10 && printf '\007'; } >shaped
refused_after "$size" "corrupt gzip data (invalid block)"
{ cat few.gz && gzipped </dev/null | head -c 10 && printf '\001\001\000\000\000x'; } >shaped
refused_after "$size" "corrupt gzip data (invalid block)"
# By hand, in the fixed code: a match at distance 1 before any byte.
{ cat few.gz && gzipped </dev/null | head -c 10 && printf '\003\002\000\000\000\000\000\000\000\000\000'; } \
    >shaped
refused_after "$size" "corrupt gzip data (a distance goes back too far)"
run --no-check shaped
refuses "--no-check finds it, too" 1 "shaped: corrupt gzip data"
gzipped -C <few >shaped
run --no-check shaped
refuses "--no-check verifies gzip's checksum" 1 "wrong checksum"

# --- members that state their size, perhaps wrongly ---

gzipped -B -m 1000 <in >stated
gzipped -B <few >last
head -c 3000 in | gzipped -B -m 1000 >part
at=$(wc -c <part)
size=$(wc -c <last)
for wrong in "-C:wrong checksum or length" "-L:wrong checksum or length" "-F 0x20:unknown flags in a header"; do
    { cat part && gzipped -B ${wrong%%:*} <few && cat stated; } >shaped
    refused_after "$at" "corrupt gzip data (${wrong#*:})"
done
# Its only block is not the last one, so that it goes on in the members after it, which others may have.
misstated="corrupt gzip data (it does not end where its header says)"
{ cat part && head -c 18 last && printf '\000' && tail -c +20 last && cat last; } >shaped
refused_after "$at" "$misstated"

# Where no member begins, the size is of no use, and does no harm.
cat in few in | oracle bytes
for over in 1 -1 7 -9 500 -20; do
    { gzipped -B -m 7000 <in && gzipped -O $over <few && cat stated; } >shaped
    for threads in 1 3; do
        run $big --threads=$threads shaped
        counts "a size that is wrong by $over, $threads threads" expected
    done
    cat shaped | run $big
    counts "a size that is wrong by $over, pipe" expected
done
gzipped -O 1 -m 5000 <in >shaped
every_way "sizes that are wrong by one" shaped

# Where one does, or seems to, others would begin there. A GPU decodes members in order, as gzip does.
head -c 3000 in >before
misstated_at()
{
    run $big shaped
    refuses "$2: FILE" 1 "shaped: $misstated, at byte $1"
    cat shaped | run $big
    refuses "$2: pipe" 1 "standard input: $misstated, at byte $1"
}
in_order()
{
    run $big shaped
    counts "$1: FILE" expected
    cat shaped | run $big
    counts "$1: pipe" expected
}
{ cat part && gzipped -O "$size" <few && cat last stated; } >two
{ cat part && gzipped -O 3 <few && printf '\000\000\000' && cat stated; } >zeros.gz
cat few last >hiding
{ cat part && gzipped -O -$((size + 8)) <hiding && cat stated; } >hidden
mv zeros.gz shaped
misstated_at "$at" "zero bytes after a member"
case "$ENGINE $("$GPUHISTO" --version)" in
*--device=cpu* | *"decompression by GPUs"*)
    mv two shaped
    misstated_at "$at" "the size of two members"
    { cat part && gzipped -O "$size" <few && cat last last; } >shaped
    k=1
    while run $big --part=$k/30 shaped && [ "$(cat status)" -eq 0 ]; do
        k=$((k + 1))
    done
    refuses "the size of two members, share $k of 30" 1 "shaped: $misstated, at byte $at"
    mv hidden shaped
    misstated_at "$at" "content that looks like a member"
    ;;
*)
    every=${GPU_EVERY:-1} GPU_EVERY=1 # what the CPU makes of these is another matter
    cat before few few in | oracle bytes
    mv two shaped
    in_order "the size of two members"
    cat before hiding in | oracle bytes
    mv hidden shaped
    in_order "content that looks like a member"
    GPU_EVERY=$every
    ;;
esac

head -c 20 few.gz >a
tail -c +21 few.gz >b
run $big a b
refuses "a member over two FILEs" 1 "a: truncated gzip data, at byte 20"
run $big in a in
refuses "a truncated FILE among others" 1 "a: truncated"

# Cut anywhere, it is refused; at a member's end it is whole. (By order, as one or two bytes of magic
# alone are plain bytes.)
data text 40 7 >plain.1
: >plain.2
data uniform 30 7 >plain.3
data same 90 66 >plain.4
gzipped -f -B -x 5 -n name -c text -h <plain.1 >part.1
gzipped -B <plain.2 >part.2
gzipped -b 7 -x 0 -c text <plain.3 >part.3
gzipped -f -n name -h <plain.4 >part.4
parts='1 2 3 4'
if [ $has_gzip = yes ]; then
    data text 2000 >plain.5
    gzip -9 <plain.5 >part.5
    parts="$parts 5"
fi
: >whole
: >plain
for part in $parts; do
    cat part.$part >>whole
    cat plain.$part >>plain
    oracle bytes <plain
    size=$(wc -c <whole)
    mv expected whole.$size
done
[ "$SCALE" = full ] && step=1 || step=29
cut_everywhere 3 $step
# Given in two parts, wherever that is.
cut=1
while [ $cut -lt "$size" ]; do
    { head -c $cut whole && sleep 0.01 && tail -c +$((cut + 1)) whole; } | run $big -d gzip
    counts "in two parts, $cut bytes and the rest" whole."$size"
    cut=$((cut + 5 * step))
done
# Stored in blocks of seven bytes by one byte after the other, and all into chunks of a byte.
"$HELPERS/dribble" <whole | run --chunk-size=1
counts "byte by byte, into chunks of a byte" whole."$size"

# as_gzip CASE FILE: it is counted, or refused, as by gzip. What gzip only warns of is refused.
as_gzip()
{
    gzip -dc <"$2" >plain 2>gzip.err
    status_=$?
    run $big --decompress=gzip "$2"
    if [ $status_ -eq 0 ]; then
        oracle bytes <plain
        counts "$1" expected
    else
        refuses "$1" 1 "$2: " "gzip data"
    fi
}

# any_flip FILE MASK...: with bits of any byte of FILE inverted it is as by gzip. By the shell alone:
# with head and tail it takes thrice the time.
any_flip()
{
    octals=$(od -An -v -to1 "$1")
    shift
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
            as_gzip "bits $mask of byte $at" flip
        done
        before="$before\\0$octal"
        at=$((at + 1))
    done
}
if [ $has_gzip = yes ]; then
    some=255
    [ "$SCALE" = small ] || some='1 128 255'
    [ "$SCALE" = small ] || [ "$SANITIZED" = yes ] || some='1 2 4 8 16 32 64 128 255'
    any_flip part.4 $some
    if [ "$SCALE" = full ]; then
        any_flip part.1 $some
        any_flip part.3 $some
        data text 300 | gzip -9 >dynamic
        any_flip dynamic 1 16 255
        { cat part.4 part.2 part.1; } >several
        any_flip several 255
        { gzipped -B -f <plain.1 && gzipped -B <plain.3 && gzipped -B </dev/null; } >several
        any_flip several 1 255
    fi
fi

# --- numbers and values, with whatever kernel counts them ---

engine=$ENGINE
ENGINE=$ANY_MODE
seq 1 3000 >numbers
run -n numbers
cp out numbers.table
gzipped -f -m 777 -n name <numbers >numbers.gz
for size_ in 8 4K 256K; do
    run -n --chunk-size=$size_ --threads=3 numbers.gz
    counts "numbers over members, chunks of $size_" numbers.table
done
gzipped -B -f -m 777 <numbers >shaped
for threads in 1 2 3; do
    run -n --chunk-size=1000 --threads=$threads shaped
    counts "numbers over members that state their size, $threads threads" numbers.table
done
cat numbers.gz | run -n
counts "numbers over members, pipe" numbers.table
"$HELPERS/dribble" -n 5 <numbers.gz | run -n
counts "numbers over members, five bytes at a time" numbers.table
values="--values=u32 --min=0 --max=4294967296 --bins=4"
head -c 29992 in >whole_values
run $values whole_values
cp out values.table
gzipped -f -m 4001 <whole_values >values.gz
for size_ in 8 4K 256K; do
    run --chunk-size=$size_ --threads=3 $values values.gz
    counts "values over members, chunks of $size_" values.table
done
gzipped -B -m 4001 -z 700000 <whole_values >shaped
run --threads=3 $values shaped
counts "values over members that state their size, and zero bytes" values.table
cat values.gz | run $values
counts "values over members, pipe" values.table
head -c 29991 in | gzipped -m 4001 | run $values
refuses "values, one byte short" 1 "ends inside a value, after 3 of its 4 bytes"
ENGINE=$engine

# --- a pipe that stays open ---

# stays_open CASE FILE: what FILE holds is counted, and what is wrong in it found, while the writer
# still has the pipe open.
stays_open()
{
    rm -f status
    run $big -n --invalid=error open &
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
    gzipped -f <wrong >shaped
    stays_open "an open pipe, a member" shaped
    { cat wrong && seq 30000; } | gzipped | head -c 100000 >shaped
    stays_open "an open pipe, a part of a member" shaped
    # Stored blocks give what they have: chunks are full, nearly full, or have one byte more.
    wrong=$(wc -c <wrong)
    { cat wrong && seq 31 99; } | gzipped >shaped
    for size in $((wrong - 1)) $wrong $((wrong + 1)); do
        head -c $((10 + 5 + wrong)) shaped >part
        big=--chunk-size=$size
        stays_open "an open pipe, chunks of $size bytes" part
    done
    ;;
*) skip_part "a pipe that stays open: a GPU's chunks are filled first" ;;
esac

summary

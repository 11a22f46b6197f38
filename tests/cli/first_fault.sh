#!/bin/sh
# SPDX-License-Identifier: MIT
# Of several faults the first one in the input is named, as by one thread, with any number of threads.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/many_cores.sh"

watch_over 600

# Luck decides which thread comes to its fault first, so each case is tried some times.
tries=2
[ "$SCALE" = small ] || tries=20
[ "$SANITIZED" = no ] || tries=1 # each run takes several times as long
workers='2 3 8'

# first_fault CASE TEXT ARGUMENT...: it is refused with TEXT, and with several threads each time with
# the message of one.
first_fault()
{
    case_=$1
    text_=$2
    shift 2
    with_threads 1 "$@"
    refuses "$case_" 1 "$text_"
    mv err err.due
    try=0
    while [ $try -lt $tries ]; do
        for threads in $workers; do
            with_threads $threads "$@"
            same "$case_, $threads threads" err.due err
        done
        try=$((try + 1))
    done
}

# first_in_pipe CASE TEXT FILE ARGUMENT...: the same of a pipe.
first_in_pipe()
{
    pipe="cat $3"
    what=$1
    text=$2
    shift 3
    first_fault "$what, in a pipe" "standard input: $text" "$@"
    pipe=
}

# flip FILE BYTE...: inverts bytes.
flip()
{
    file_=$1
    shift
    for byte_; do
        value_=$(od -An -v -tu1 -j "$byte_" -N 1 "$file_" | tr -d ' ')
        # shellcheck disable=SC2059 # it is a format
        printf "\\$(printf %o $((255 - value_)))" | dd of="$file_" bs=1 seek="$byte_" conv=notrunc 2>/dev/null
    done
}

# Frames of 20000 bytes, which do not compress: headers of 7 and 3 bytes, a raw block and a checksum. Others
# begin to help once 4 MiB were read.
data uniform 12000000 >content
"$HELPERS/make_zstd" -c -f 20000 <content >frames.zst
size=20014
[ "$(wc -c <frames.zst)" -eq $((600 * size)) ] || broken "frames of another size"

# --- zstd ---

# Two faults: the first one at the end of what a worker takes.
cp frames.zst bad
flip bad $((300 * size + 15000)) $((301 * size + 100)) $((330 * size + 10))
first_fault "two checksums" "bad: corrupt zstd data (wrong checksum), at byte $((300 * size))" -b bad
first_in_pipe "two checksums" "corrupt zstd data (wrong checksum), at byte $((300 * size))" bad -b
for gap in 10 50 100 200; do
    cp frames.zst bad
    flip bad $((290 * size + 19000)) $(((290 + gap) * size + 1)) $(((292 + gap) * size + 10000))
    first_fault "a checksum, and another magic $gap frames later" "bad: corrupt zstd data" -b bad
done
# The last block is not the last one any more, and one that is not becomes it.
cp frames.zst bad
alter bad $((400 * size + 7)) '\000'
first_fault "a flag of the last block" "altered: corrupt zstd data" -b altered
first_in_pipe "a flag of the last block" "corrupt zstd data" altered -b
"$HELPERS/make_zstd" -c <content >frame.zst
{ head -c $((300 * size)) frames.zst && cat frame.zst frames.zst; } >bad
at=$((300 * size))
flag=$(od -An -v -tu1 -j $((at + 10 + 3 * 131075)) -N 1 bad)
alter bad $((at + 10 + 3 * 131075)) "\\$(printf %o $((flag | 1)))"
first_fault "a block that becomes the last one" "altered: corrupt zstd data" -b altered
# Bytes that are missing, and that are too many.
for cut in 1 1000 20014 30000; do
    { head -c $((299 * size + 700)) frames.zst && tail -c +$((299 * size + 701 + cut)) frames.zst; } >bad
    first_fault "$cut bytes are missing" "bad: corrupt zstd data" -b bad
done
{ head -c $((299 * size + 700)) frames.zst && echo more && tail -c +$((299 * size + 701)) frames.zst; } >bad
first_fault "bytes too many" "bad: corrupt zstd data" -b bad
first_in_pipe "bytes too many" "corrupt zstd data" bad -b
head -c $((500 * size + 77)) bad >cut
flip cut $((400 * size + 2000))
first_fault "bytes too many, and the end is missing" "cut: corrupt zstd data" -b cut

# A pipe that stays open: nobody waits for what comes after the fault.
cp frames.zst bad
flip bad $((500 * size + 3000))
mkfifo open
for threads in 1 $workers; do
    rm -f status
    run --threads=$threads -b open &
    pid=$!
    exec 3>open
    cat bad >&3 2>cat.err
    check "a pipe that stays open, $threads threads: it ends" eventually test -s status
    exec 3>&-
    wait $pid
    refuses "a pipe that stays open, $threads threads" 1 \
        "open: corrupt zstd data (wrong checksum), at byte $((500 * size))"
done

# --- values and numbers ---

# A file that ends inside a value, but is wrong before that.
{ cat frames.zst && printf x | "$HELPERS/make_zstd"; } >bad
first_fault "a value that is cut" "bad: ends inside a value" --values=u32 --min=0 --max=9 --bins=3 bad
flip bad $((500 * size + 3000))
first_fault "a value that is cut after a wrong checksum" "bad: corrupt zstd data" \
    --values=u32 --min=0 --max=9 --bins=3 bad
# Tokens that are not numbers, before, in and after a frame that is wrong. Each frame has 10000 lines.
seq 1000000 1999999 >numbers
for line in 690001 700000 700001 900001; do
    sed "${line}s/.*/abcdefg/" numbers >text
    "$HELPERS/make_zstd" -c -f 80000 <text >bad
    at=$(head -c 5600000 text | "$HELPERS/make_zstd" -c -f 80000 | wc -c) # line 700001
    flip bad $((at + 1000))
    [ $line -gt 700000 ] && text="bad: corrupt zstd data" || text="bad: line $line: 'abcdefg'"
    first_fault "a token in line $line" "$text" -n --invalid=error bad
done

# --- several files: in the order in which one thread reads them, the longest first ---

cp frames.zst long
head -c $((400 * size)) frames.zst >short
flip long $((590 * size + 100))
flip short 100
first_fault "the longest file" "long: corrupt zstd data" -b short long short
head -c 9000001 content >odd
first_fault "a file that ends inside a value" "odd: ends inside a value" --values=u16 --min=0 --max=9 --bins=3 short odd
first_fault "a file that is not there" "missing: No such file" -b frames.zst missing also-missing
first_fault "a directory" ".: Is a directory" -b frames.zst . missing

# --- gzip ---

printf '\037\213\010' >magic
"$GPUHISTO" --device=cpu magic >/dev/null 2>no-gzip
grep -q 'truncated gzip data' no-gzip || summary
"$HELPERS/make_gzip" -B -m 20000 <content >members.gz
size=$(($(od -An -v -tu2 -j 16 -N 2 members.gz) + 1))
cp members.gz bad
flip bad $((300 * size + 15000)) $((301 * size + 100)) $((330 * size + 30))
first_fault "two members" "bad: corrupt gzip data" -b bad
first_in_pipe "two members" "corrupt gzip data" bad -b
for cut in 1 1000 30000; do
    { head -c $((299 * size + 700)) members.gz && tail -c +$((299 * size + 701 + cut)) members.gz; } >bad
    first_fault "$cut bytes of members are missing" "bad: corrupt gzip data" -b bad
    first_in_pipe "$cut bytes of members are missing" "corrupt gzip data" bad -b
done
# The only block of a member is not its last one, so that it goes on with what follows.
cp members.gz bad
alter bad $((400 * size + 18)) '\000'
first_fault "a flag of a last block" "altered: corrupt gzip data" -b altered
first_in_pipe "a flag of a last block" "corrupt gzip data" altered -b

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# A gzip file that several workers decode: the same counts, messages and status as from one worker.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/many_cores.sh"

watch_over 600

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    skip "built without ISA-L; unsupported_format.sh has what is said of gzip data then"
fi
command -v gzip >/dev/null || skip "no gzip, which makes the files"

# Others help with files of 20 MB of content and more, as far as their size tells: three times that.
size=13500000
"$HELPERS/make_data" numbers $size >content
gzip -1 <content >fast.gz
gzip -9 <content >best.gz
split -b 900000 content member. && gzip -1 member.* && cat member.*.gz >members.gz
"$HELPERS/make_data" uniform 9000000 >random
gzip -1 <random >random.gz
cat best.gz random.gz fast.gz >chain.gz

# --- right ones ---

for file in $(few 2 fast members chain random); do
    alike "$file" -b $file.gz
done
{ cat fast.gz && head -c 1000000 /dev/zero; } >padded
alike "followed by zeros" -b padded
alike "numbers" -n --min=0 --max=2000000 --bins=37 best.gz
alike "the last field" -nk-1 -s fast.gz
alike "characters" -c fast.gz
alike "values, which may lie anywhere in memory" --values=u24 -s fast.gz
alike "pairs" --pairs members.gz
alike "several files" -b --each fast.gz members.gz best.gz
GPUHISTO_CPU=portable alike "plain C" -b best.gz
otherwise_read members.gz content

for file in $(few 2 members fast random chain); do
    in_pipe "$file" $file.gz -b
done
in_pipe "followed by zeros" padded -b
only=40 # more pieces at hand than a pipe is kept for
in_pipe "followed by zeros, many workers" padded -b
only=
# More than is kept of a pipe: zeros behind a member, and behind the beginning of one.
{ cat fast.gz && head -c 34000000 /dev/zero; } >followed
in_pipe "followed by more zeros than are kept" followed -b
if [ "$SCALE" != small ]; then
    { cat random random random random content && head -c 300000000 /dev/zero && cat content; } | gzip -1 >zeros.gz
    in_pipe "with many zeros in it" zeros.gz -b
    rm zeros.gz
fi
in_pipe "the last field" best.gz -nk-1 -s
in_stalls "a member" fast.gz 7000000 20000 -b
in_stalls "several members" chain.gz 18000000 60000 -b
alter chain.gz 20000000 '\125\125\125'
in_stalls "altered members" altered 18000000 60000 -b

# A block begins 10 bytes before the end of a piece, after a long name of its member, and the file ends in its header.
pad=$(((524288 - 21 - $(wc -c <fast.gz) % 262144) % 262144))
{
    cat fast.gz && printf '\037\213\010\010\000\000\000\000\000\003'
    head -c $pad /dev/zero | tr '\000' n && printf '\000'
    tail -c +11 fast.gz
} >named
for more in 1 9 $(few 2 10 11 12 20 25 40); do
    head -c $(($(wc -c <fast.gz) + pad + 11 + more)) named >cut
    alike "cut $more bytes behind the beginning of a block" -b cut
    in_pipe "cut $more bytes behind the beginning of a block" cut -b
done
alike "a long name" -b named

# Files that are full of work: thousands of wrong beginnings of blocks, and members without content.
for kind in literals nested $(few 9 '' matches headers members); do
    "$HELPERS/make_hostile" gzip-$kind 8000000 >hostile
    alike "$kind" -b hostile
    in_pipe "$kind" hostile -b
done

# --- ranges ---

# What is counted ends where a pipe stays open: it is not waited for.
cat content content | gzip -1 >twice.gz
length=$(head -c -1000 twice.gz | gzip -dc 2>gzip.err | wc -c)
for threads in 1 $workers; do
    mkfifo open$threads
    { head -c -1000 twice.gz && exec sleep 120; } >open$threads &
    timeout 100 "$GPUHISTO" --device=cpu --threads=$threads -b --length=$((length - 300)) <open$threads >open.out 2>&1
    echo "status $?" >>open.out
    kill $! 2>kill.err
    [ "$threads" != 1 ] || mv open.out open.due
    [ "$threads" = 1 ] || same "a range of a pipe that stays open, $threads workers" open.due open.out
done

# ranges FILE: those that end with the first member, and beside its end.
ranges()
{
    for length in $size $((size - 1)) $((size + 1)); do
        alike "$1, a range of $length" -b --length=$length "$1"
        in_pipe "$1, a range of $length" "$1" -b --length=$length
    done
}

ranges chain.gz
alter chain.gz $(($(wc -c <best.gz) - 5)) '\252' # of the checksum of the first member
ranges altered
alike "a range that begins in the first member" -b --skip=4000001 chain.gz

# --- wrong ones ---

wrong_places chain.gz $few_places
end=$(wc -c <members.gz)
for byte in $(few 2 1 5 9); do # of the length, the checksum and the last block
    alter members.gz $((end - byte)) '\252'
    alike "another byte $byte before the end" -b altered
    in_pipe "another byte $byte before the end" altered -b
    head -c $((end - byte)) members.gz >cut
    alike "cut $byte bytes before the end" -b cut
    in_pipe "cut $byte bytes before the end" cut -b
done
{ cat members.gz && echo rubbish; } >followed
alike "followed by rubbish" -b followed
{ cat padded && echo rubbish; } >followed
alike "followed by zeros and rubbish" -b followed
in_pipe "followed by zeros and rubbish" followed -b
{ cat padded && cat best.gz; } >followed
alike "followed by zeros and a member" -b followed
in_pipe "followed by zeros and a member" followed -b
# A byte is wrong, and the file ends early: what comes first counts.
alter fast.gz 2000000 '\125\125\125'
head -c 7100000 altered >both
alike "wrong and cut" -b both
in_pipe "wrong and cut" both -b
# Standard input, and not from its beginning.
{ printf 0123456789 && cat altered; } >after
for threads in 1 $workers; do
    { dd bs=10 count=1 of=/dev/null 2>dd.err && run --threads=$threads -b; } <after
    refuses "from the offset of standard input on, $threads workers" 1 ", at byte 0"
done
# Nobody can help with the first member, as there are other files, but with what seems to be the second.
{ head -c 60000000 /dev/zero | gzip -1 && head -c 1000 /dev/zero && cat best.gz; } >followed
echo 1 | gzip >little.gz
alike "zeros, and what seems to be a member" -b followed little.gz little.gz

# --- longer than what is kept of a pipe: 32 MiB ---

# What is wrong at the end of a member is not decompressed again, and what is wrong before that is.
command -v python3 >/dev/null || summary
python3 - content >long.gz <<'END'
import sys, zlib
content = open(sys.argv[1], 'rb').read()
deflate = zlib.compressobj(1, wbits=-15)
part = deflate.compress(content) + deflate.flush(zlib.Z_FULL_FLUSH)
print(10 + len(part), file=open('second', 'w'))  # where a block begins
crc, parts = 0, 40000000 // len(part) + 1
out = sys.stdout.buffer
out.write(b'\x1f\x8b\x08\0\0\0\0\0\0\3')
for _ in range(parts):
    crc = zlib.crc32(content, crc)
    out.write(part)
out.write(deflate.flush() + crc.to_bytes(4, 'little') + (parts * len(content)).to_bytes(4, 'little'))
END
size=$(wc -c <long.gz)
cat long.gz best.gz >longer.gz
in_pipe "a long member, and another" longer.gz -b
alter longer.gz $((size + 1000000)) '\125\125\125'
in_pipe "a member after a long one" altered -b
{ cat long.gz && echo rubbish; } >followed
in_pipe "rubbish after a long member" followed -b
head -c $((size - 100000)) long.gz >cut
in_pipe "a long member that is cut" cut -b
head -c $((size - 3)) long.gz >cut
in_pipe "a long member whose end is cut" cut -b
alter long.gz "$(cat second)" '\377'
in_pipe "the beginning of a long member" altered -b
# A block near the end.
part=$(($(cat second) - 10))
alter long.gz $((10 + 40000000 / part * part)) '\377'
gone_in_pipe "the end of a long member" altered -b

summary

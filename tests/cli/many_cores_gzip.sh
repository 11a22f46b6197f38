#!/bin/sh
# SPDX-License-Identifier: MIT
# A gzip file that several workers decode: the same counts, messages and status as from one worker.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/many_cores.sh"

watch_over 600

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    skip "built without ISA-L; foreign.sh has what is said of gzip data then"
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

for file in fast members random chain; do
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

# --- ranges ---

# ranges FILE: those that end with the first member, and beside its end.
ranges()
{
    for length in $size $((size - 1)) $((size + 1)); do
        alike "$1, a range of $length" -b --length=$length "$1"
    done
}

ranges chain.gz
alter chain.gz $(($(wc -c <best.gz) - 5)) '\252' # of the checksum of the first member
ranges altered
alike "a range that begins in the first member" -b --skip=4000001 chain.gz

# --- wrong ones ---

wrong_places chain.gz $few_places
end=$(wc -c <members.gz)
for byte in 1 5 9; do # of the length, the checksum and the last block
    alter members.gz $((end - byte)) '\252'
    alike "another byte $byte before the end" -b altered
    head -c $((end - byte)) members.gz >cut
    alike "cut $byte bytes before the end" -b cut
done
{ cat members.gz && echo rubbish; } >followed
alike "followed by rubbish" -b followed
{ cat padded && echo rubbish; } >followed
alike "followed by zeros and rubbish" -b followed
{ cat padded && cat best.gz; } >followed
alike "followed by zeros and a member" -b followed
# A byte is wrong, and the file ends early: what comes first counts.
alter fast.gz 2000000 '\125\125\125'
head -c 7100000 altered >both
alike "wrong and cut" -b both
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

summary

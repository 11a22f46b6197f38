#!/bin/sh
# SPDX-License-Identifier: MIT
# Characters of UTF-8, against Python's decoder: however the bytes come, and wherever they are cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

find_python || skip "python3 is not installed"

# expect FILE...: what the characters of these add up to, each decoded by itself, in `expected`.
expect()
{
    $python "$srcdir/tests/helpers/characters.py" "$@" | sort >expected
}

# characters CASE OPTION...: the table of standard input, or of FILEs.
characters()
{
    case_=$1
    shift
    # shellcheck disable=SC2086 # options
    if ! "$GPUHISTO" $ANY_MODE --characters "$@" >table 2>err; then
        failed "$case_: $(cat err)"
    elif cut -f1,2 table | sort | cmp -s - expected; then
        passed
    else
        failed "$case_: $(cut -f1,2 table | sort | diff - expected | head -n 5)"
    fi
}

# make KIND LENGTH SEED: random characters of one to four bytes, and, in KIND bytes, bytes that are hard
# for a decoder. make_each KIND:LENGTH:SEED...: files of these names, and what expect gives of each in
# NAME.table, which is not sorted.
cat >make.py <<'END'
import random, sys
def make(kind, length, seed):
    random.seed(seed)
    if kind == "bytes":
        return bytes(random.choices(
            b"A\x80\xbf\x90\xa0\x9f\x8f\xc0\xc2\xdf\xe0\xe1\xed\xee\xf0\xf1\xf4\xf5\xff", k=length))
    # As many as surely give so many bytes: they have two and a half on average.
    ranges = random.choices([(0x20, 0x7f), (0xa0, 0x800), (0x4e00, 0xa000), (0x1f300, 0x1f700)],
                            k=length // 2 + 64)
    text = "".join(chr(lo + int(random.random() * (hi - lo))) for lo, hi in ranges).encode()[:length]
    if kind == "broken":
        text = bytearray(text)
        for _ in range(len(text) // 50):
            text[int(random.random() * len(text))] = random.randrange(256)
    return text
for name in sys.argv[2:]:
    kind, length, seed = name.split(":")
    with open(name if sys.argv[1] == "each" else "/dev/stdout", "wb") as file:
        file.write(make(kind, int(length), int(seed)))
END
make()
{
    $python make.py one "$1:$2:$3"
}
make_each()
{
    $python make.py each "$@"
    $python "$srcdir/tests/helpers/characters.py" --each "$@"
}

# What is counted in very small chunks is shorter on an emulated device, which takes milliseconds for
# each; and of what differs in the way in alone, there is less.
short=999
framed=200
sizes="1 2 3 4 5 63 64"
threads_of_frames="1 2 4"
long=3000000
cuts=1024
[ "$SCALE" = full ] || cuts=12 long=300000 framed=24 sizes="1 3 64" threads_of_frames="1 4"
lengths='0 1 3 64 4097 262145'
[ "$SCALE" = small ] ||
    lengths="$lengths 2 4 5 63 65 66 127 128 129 4095 4096 262143 262144 1000003"
case $GPUHISTO in
*emulated)
    short=60 framed=60 sizes="1 3 64" threads_of_frames=2 cuts=9 long=270000
    lengths="0 1 3 64 4097 65537"
    ;;
esac

# --- every way in ---

# shellcheck disable=SC2046 # names
make_each $(for kind in characters broken bytes; do
    for length in $lengths; do echo "$kind:$length:$length"; done
    echo "$kind:$short:7"
done)
for kind in characters broken bytes; do
    for length in $lengths; do
        mv "$kind:$length:$length" in
        sort "$kind:$length:$length.table" >expected
        characters "$kind, $length, file" in
        characters "$kind, $length, pipe" <in
        characters "$kind, $length, pieces of 4096" --threads=3 --chunk-size=4096 in
    done
done
for kind in characters broken bytes; do
    mv "$kind:$short:7" in
    sort "$kind:$short:7.table" >expected
    for size in $sizes; do
        characters "$kind, pieces of $size" --threads=2 --chunk-size=$size in
        characters "$kind, a pipe in chunks of $size" --chunk-size=$size <in
    done
    dd if=in bs=1 2>/dev/null | characters "$kind, byte by byte"
done

# --- every cut ---

make broken $cuts 3 >in
cut=0
while [ $cut -le $cuts ]; do
    head -c $cut in >before.$cut
    tail -c +$((cut + 1)) in >after.$cut
    cut=$((cut + 1))
done
$python "$srcdir/tests/helpers/characters.py" --each before.* after.*
for cut in $(seq 0 $cuts); do
    sort before.$cut.table >expected
    characters "--length=$cut" --length=$cut in
    sort after.$cut.table >expected
    characters "--skip=$cut" --skip=$cut in
    awk -F '\t' '{ n[$1] += $2 } END { for (c in n) print c "\t" n[c] }' before.$cut.table after.$cut.table |
        sort >expected
    characters "two FILEs, cut at $cut" before.$cut after.$cut
    rm before.$cut before.$cut.table after.$cut after.$cut.table
done

# --- compressed ---

if command -v zstd >/dev/null; then
    # Frames of 0, 1, 2 and 3 bytes.
    for kind in characters broken bytes; do
        make $kind $framed 5 >in
        expect in
        at=1
        frame=0
        : >frames.zst
        while [ $at -le $framed ]; do
            size=$((frame % 4))
            tail -c +$at in | head -c $size | zstd -qc >>frames.zst
            at=$((at + size))
            frame=$((frame + 1))
        done
        [ "$(zstd -dc frames.zst | cmp - in)" = '' ] || broken "the frames are not the text"
        for threads in $threads_of_frames; do
            characters "$kind, frames of 0 to 3 bytes, $threads threads" --threads=$threads frames.zst
            characters "$kind, the same as a pipe, $threads threads" --threads=$threads <frames.zst
        done
        for size in 1 2 3 64; do
            characters "$kind, frames in chunks of $size" --threads=2 --chunk-size=$size frames.zst
        done
        make $kind $long 6 >in
        expect in
        split -b $((long / 4 - 1)) in frame-
        for part in frame-*; do zstd -qc "$part"; done >frames.zst
        rm -f frame-*
        characters "$kind, frames side by side" --threads=4 frames.zst
    done
    # Bytes that continue nothing, in more frames than a chunk has room for.
    head -c 100 /dev/zero | tr '\0' '\200' >in
    expect in
    i=0
    : >frames.zst
    printf '\200' | zstd -qc >one.zst
    while [ $i -lt 100 ]; do
        cat one.zst >>frames.zst
        i=$((i + 1))
    done
    i=0
    while [ $i -lt 100 ]; do
        cat one.zst
        [ $((i % 10)) -ne 0 ] || sleep 0.06
        i=$((i + 1))
    done | characters "bytes that continue nothing, in frames" --threads=4 --chunk-size=1
    characters "the same as a FILE" --threads=4 --chunk-size=1 frames.zst
else
    skip_part "zstd is not installed"
fi
make broken $long 6 >in
expect in
printf '\037\213\010' | run
if [ "$(cat status)" -ne 0 ]; then # it finds that its magic alone is truncated
    gzip -c in >in.gz
    characters "gzip" in.gz
else
    skip_part "gzip: built without ISA-L"
fi

# --- each, tables, statistics ---

make broken 5000 1 >one
make characters 7000 2 >two
expect one
cp expected expected.one
expect two
"$GPUHISTO" -c --each one two >each
awk -F '\t' '$1 == "one" { print $2 "\t" $3 }' each | sort >got
check "--each, one" cmp got expected.one
awk -F '\t' '$1 == "two" { print $2 "\t" $3 }' each | sort >got
check "--each, two" cmp got expected

# --- shares ---

make broken 10007 9 >in
for of in 1 2 3 7; do
    : >shares
    k=1
    while [ $k -le $of ]; do
        # shellcheck disable=SC2086 # options
        "$GPUHISTO" $ANY_MODE -c --part=$k/$of in >>shares || failed "--part=$k/$of"
        k=$((k + 1))
    done
    expect in
    awk -F '\t' '{ n[$1] += $2 } END { for (c in n) print c "\t" n[c] }' shares | sort >got
    check "$of shares add up" cmp got expected
done

zstd -qc in >in.zst 2>/dev/null && for k in 1 2; do "$GPUHISTO" -c --part=$k/2 in.zst; done |
    awk -F '\t' '{ n[$1] += $2 } END { for (c in n) print c "\t" n[c] }' | sort >got
[ ! -s in.zst ] || check "shares of a compressed FILE add up" cmp got expected

# --- groups ---

# Every counter groups as the one that is chosen.
make broken 50001 9 >in
for cpu in $(kernels_here); do
    for mode in --categories --blocks; do
        GPUHISTO_CPU=$cpu "$GPUHISTO" $mode in >got
        "$GPUHISTO" $mode in >expected
        check "$mode by $cpu" cmp got expected
    done
done

# The counts of characters, added up by what Python's database says, and those of --categories.
for kind in characters broken; do
    make $kind 100003 4 >in
    # shellcheck disable=SC2086 # options
    "$GPUHISTO" $ANY_MODE --categories in | cut -f1,2 >got
    "$GPUHISTO" -c in | cut -f1,2 | python3 "$srcdir/tests/helpers/categories.py" >expected
    if [ "$(cat expected)" = "another version" ]; then
        skip_part "categories of $kind: Python's Unicode is another one than the program's"
    else
        check "categories of $kind" cmp got expected
    fi
done
# The tables are what their generator makes of a database of the same version.
made=$srcdir/src/tally/unicode_groups.c
if ! perl -MUnicode::UCD "$srcdir/src/tally/make_unicode_groups" >got 2>/dev/null; then
    skip_part "unicode_groups.c: perl, or its Unicode::UCD, is not installed"
elif [ "$(sed -n 2p got)" != "$(sed -n 2p "$made")" ]; then
    skip_part "unicode_groups.c: perl's Unicode is of another version"
else
    check "unicode_groups.c is what make_unicode_groups makes" cmp got "$made"
fi

# Each block has what its range says.
"$GPUHISTO" -c in >one
# shellcheck disable=SC2086 # options
"$GPUHISTO" $ANY_MODE --blocks in >got
awk -F '\t' '
    function number(name, i, n) {
        for (i = 3; i <= length(name); i++)
            n = 16 * n + index("0123456789ABCDEF", substr(name, i, 1)) - 1
        return n
    }
    NR == FNR {
        if (/^U/)
            count[number($1)] = $2
        next
    }
    $3 != "" {
        ends = index($3, "-")
        to = number(substr($3, ends + 1))
        n = 0
        for (point = number(substr($3, 1, ends - 1)); point <= to; point++)
            if (point in count)
                n += count[point]
        print $1 "\t" n "\t" $3
    }' one got >added
awk -F '\t' '$3 != ""' got >blocks
check "there are blocks" [ -s blocks ]
same "what each block has" blocks added
check "blocks add up" [ "$(awk -F '\t' '{ n += $2 } END { print n }' got)" = "$(awk -F '\t' '{ n += $2 } END { print n }' one)" ]

# Names are whole, however long they are.
for mode in categories blocks; do
    "$GPUHISTO" --$mode --all /dev/null | cut -f1 >got
    sed -n "/${mode}_names\[\]/,/};/p" "$made" | grep -o '"[^"]*"' | tr -d '"' >expected
    echo invalid >>expected
    check "names of $mode" cmp got expected
done

# --- tables are added up ---

printf 'caf\303\251 \344\270\255\360\237\230\200 \377x\355\240\200\n%.0s' $(seq 999) >first
printf '\320\226\302' >second
"$HELPERS/make_zstd" -f 777 <first >third.zst
for mode in --characters --categories --blocks; do
    for format in tsv csv json; do
        run_as "$GPUHISTO" $mode -F $format first second third.zst
        cp out whole.$format
    done
    for file in first second third.zst; do
        "$GPUHISTO" $mode -F json $file >$file.json
    done
    for format in tsv csv json; do
        run_as "$GPUHISTO" --merge -F $format first.json second.json third.zst.json
        counts "$mode, merged, $format" whole.$format
    done
    "$GPUHISTO" --merge -F json third.zst.json first.json >some.json
    run_as "$GPUHISTO" --merge some.json second.json
    counts "$mode, merged in two steps" whole.tsv
    for shares in 1 2 7; do
        for k in $(seq $shares); do
            "$GPUHISTO" $mode --part=$k/$shares -F json first second third.zst
        done >shares.json
        run_as "$GPUHISTO" --merge shares.json
        counts "$mode, $shares shares" whole.tsv
    done
    run_as "$GPUHISTO" --diff whole.json whole.json
    cut -f 1-3 out | grep -v '^invalid' >rows
    grep -v '^invalid' whole.tsv | awk -F '\t' -v OFS='\t' '{ print $1, $2, $2 }' >expected
    same "$mode, --diff" expected rows
done

summary

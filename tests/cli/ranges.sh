#!/bin/sh
# SPDX-License-Identifier: MIT
# --skip and --length: the same counts as of `tail -c +N | head -c M`, wherever the bytes come from.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

awk 'BEGIN {
    for (i = 0; i < 9000; i++)
        printf "%s%s", i * i % 7919 / (i % 5 + 1), i % 3 ? " " : i % 4 ? "\n" : "\n\n"
}' | head -c 40000 >numbers
cp numbers in
[ "$SCALE" = small ] && chunk=8192 || chunk=4096
values="--values=u32 --min=0 --max=4294967295 --bins=5"
with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | run 2>/dev/null && [ "$(cat status)" -eq 0 ]; then with_gzip=no; fi
[ $with_gzip = yes ] || skip_part "gzip: built without ISA-L"

# between SKIP LENGTH <FILE >RANGE: what is to be counted; a LENGTH of - is none.
between()
{
    if [ "$2" = - ]; then
        tail -c +$(($1 + 1))
    else
        tail -c +$(($1 + 1)) | head -c "$2"
    fi
}

# range SKIP LENGTH: the options.
range()
{
    if [ "$2" = - ]; then
        printf -- '--skip=%s' "$1"
    else
        printf -- '--skip=%s --length=%s' "$1" "$2"
    fi
}

without_name='s/^gpuhisto: [^:]*: /gpuhisto: NAME: /'

# as_of RANGE ARGUMENT...: runs with the range as standard input, and has out, err and status wait
# to be compared with.
as_of()
{
    file=$1
    shift
    run "$@" <"$file"
    mv out expected
    sed "$without_name" err >expected.err
    mv status expected.status
}

# same_as_of CASE: the last run gave the same.
same_as_of()
{
    read -r status <status
    read -r meant <expected.status
    check "$1: status" [ "$status" = "$meant" ]
    same "$1" expected out
    if [ -s err ] || [ -s expected.err ]; then
        sed "$without_name" err >named
        same "$1: messages" expected.err named
    else
        passed
    fi
}

# --- every range of a small file ---

printf '12 345 -6.5e1 x 7\n88\t-\n9.125 77' >small
size=$(wc -c <small)
"$HELPERS/make_zstd" -f 5 <small >small.frames
"$HELPERS/make_zstd" -n -f 7 <small >small.unsized
"$HELPERS/make_zstd" <small >small.zst
"$HELPERS/make_gzip" -m 9 <small >small.gz
packed="small.frames small.unsized small.zst"
[ $with_gzip = no ] || packed="$packed small.gz"
[ "$SCALE" = small ] && step=5 || step=1
case $SCALE$SANITIZED$ENGINE in smallyes* | small*--device=gpu*) step=8 ;; esac
skip=0
while [ $skip -le $((size + 1)) ]; do
    length=0
    while [ $length -le $((size + 1 - skip)) ]; do
        what="skip $skip, length $length"
        options=$(range $skip $length)
        between $skip $length <small >part
        oracle bytes <part
        run $options small
        counts "$what" expected
        "$HELPERS/dribble" -n 2 <small | run $options
        counts "$what, pipe" expected
        for file in $packed; do
            run $options $file
            counts "$what, $file" expected
        done
        as_of part -n
        run -n --chunk-size=3 $options small
        same_as_of "$what, numbers"
        for file in $packed; do
            run -n --threads=3 $options $file
            same_as_of "$what, numbers, $file"
        done
        length=$((length + step))
    done
    skip=$((skip + step))
done

# --- where chunks, frames and the file end ---

# Frames of 4000 bytes of content, which state it, or not; one frame; frames too large to go side by
# side; members.
"$HELPERS/make_zstd" -c -f 4000 <in >frames.zst
"$HELPERS/make_zstd" -n -f 4000 <in >unsized.zst
"$HELPERS/make_zstd" -k 100 <in >one.zst
"$HELPERS/make_zstd" -w 24 -f 15000 <in >large.zst
{ head -c 9000 in | "$HELPERS/make_zstd" -f 3000 && tail -c +9001 in | "$HELPERS/make_zstd" -n; } >mixed.zst
"$HELPERS/make_gzip" -m 4000 <in >members.gz
packed="frames.zst unsized.zst one.zst large.zst mixed.zst"
"$HELPERS/make_gzip" -B -m 4000 <in >stated.gz
[ $with_gzip = no ] || packed="$packed members.gz stated.gz"

# A pipe of which less has come than is left out.
between 8193 - <in >part
as_of part -n
{
    head -c 8000 in
    sleep 0.2
    tail -c +8001 in
} | run -n --skip=8193
same_as_of "skip 8193, numbers, slow pipe"

# everywhere CASE SKIP LENGTH ARGUMENT...: in all ways to read `in`.
everywhere()
{
    what=$1
    options=$(range "$2" "$3")
    between "$2" "$3" <in >part
    shift 3
    as_of part "$@"
    run "$@" $options in
    same_as_of "$what"
    run "$@" $options --threads=3 --chunk-size=$chunk <in
    same_as_of "$what, standard input"
    "$HELPERS/dribble" -n 9000 <in | run "$@" $options --chunk-size=$chunk
    same_as_of "$what, pipe"
    for file in $packed; do
        run "$@" $options --threads=3 --chunk-size=$chunk $file
        same_as_of "$what, $file"
        cat $file | run "$@" $options --threads=2
        same_as_of "$what, $file, pipe"
    done
}

[ "$SCALE" = small ] && skips="0 $((chunk + 1)) 39999 50000" ||
    skips="0 1 3999 4000 4001 $((chunk - 1)) $chunk $((chunk + 1)) 39999 40000 50000"
for skip in $skips; do
    for length in - 0 1 $((chunk - 1)) $chunk $((chunk + 1)) 50000; do
        everywhere "skip $skip, length $length, bytes" $skip $length -b
    done
    everywhere "skip $skip, numbers" $skip 12001 -n
    everywhere "skip $skip, numbers to the end" $skip - -n
    for length in 12000 12001 8; do
        everywhere "skip $skip, length $length, values" $skip $length $values
    done
    everywhere "skip $skip, values to the end" $skip - $values
done
run --length=12K in
head -c 12288 in | oracle bytes
counts "a size in K" expected

# --- several FILEs ---

for length in 0 1 5000; do
    for file in in small frames.zst; do
        case $file in
        *.zst) file=in ;;
        esac
        between 7 $length <$file
    done | oracle bytes
    run $(range 7 $length) in small frames.zst
    counts "FILEs, length $length" expected
done
{ head -c 10000 in && cat small; } | oracle bytes
for file in frames.zst one.zst unsized.zst large.zst mixed.zst; do
    run --length=10000 --threads=1 $file small.zst
    counts "a whole frame after a part of $file" expected
done
{ between 3 10 <in && between 13 10 <in; } >part
tail -c +14 in | between 3 10 >>part
{ between 3 10 <in && tail -c +14 in | between 3 10; } | oracle bytes
run $(range 3 10) - - <in
counts "standard input twice" expected

# --- nothing else is read ---

truncate -s 1T sparse
printf 0123456789 >>sparse
printf 3456789 | oracle bytes
run --skip=$(((1 << 40) + 3)) sparse
counts "the end of a long file" expected
run --skip=$(((1 << 40) + 3)) --threads=1 <sparse
counts "the end of a long file, standard input" expected
head -c 10 /dev/zero | oracle bytes
run --length=10 sparse
counts "the beginning of a long file" expected

head -c 1000 in | oracle bytes
mkfifo fifo
set --
while [ $# -lt 100 ]; do
    set -- "$@" in
done
cat "$@" >fifo &
run --length=1000 fifo
wait $!
counts "the beginning of a fifo" expected
{
    yes "$(head -c 500 in)" 2>/dev/null
    echo $? >producer
} | run --length=100K
check "an endless pipe: status" [ "$(cat status)" -eq 0 ]
check "an endless pipe: its producer gets SIGPIPE" [ "$(cat producer)" -gt 128 ]
check "an endless pipe: no message" [ ! -s err ]
check "an endless pipe: bytes" [ "$(awk '{ sum += $2 } END { print sum }' out)" -eq 102400 ]
"$HELPERS/make_zstd" -n <in >part.zst
head -c 1000 in | oracle bytes
{
    while cat part.zst; do :; done 2>/dev/null
    echo $? >producer
} | run --length=1000
counts "an endless compressed pipe" expected

# --- what is left of standard input ---

for options in "--skip=10 --length=30" "--length=40" "--skip=40 --length=0" "--skip=40 --length=0 -d none"; do
    tail -c +41 in >expected
    { run $options && cat >left; } <in
    same "left of a file, $options" expected left
    case $options in *" --length=0"*) continue ;; esac
    cat in | { run $options && cat >left; }
    same "left of a pipe, $options" expected left
done
{ run --skip=50000 && printf more >>in && cat >left; } <in
check "skipped to the end of a file" [ "$(cat left)" = more ]
cp numbers in

# --- values that are cut ---

for file in in frames.zst unsized.zst; do
    run $values --skip=1 --length=6 $file
    refuses "a value cut in $file" 1 "$file: ends inside a value, after 2 of its 4 bytes"
    cat $file | run $values --skip=4001 --length=4001
    refuses "a value cut in $file, pipe" 1 "standard input: ends inside a value, after 1 of its 4 bytes"
done

# --- what is not decompressed is not verified ---

head -c 1000 in | oracle bytes
head -c 40 one.zst >cut
run --length=1 cut
refuses "a frame cut off before its first block" 1 "cut: truncated zstd data"
head -c $(($(wc -c <frames.zst) - 30)) frames.zst >cut
run --length=1000 --threads=1 cut
counts "cut off after the range" expected
run --skip=38000 cut
refuses "cut off in the range" 1 "cut: truncated zstd data"
data uniform 1000000 7 >many
"$HELPERS/make_zstd" -c -f 4000 <many >many.zst
{ head -c 100 many.zst && printf xxxx && tail -c +105 many.zst; } >wrong
run --skip=3999 wrong
refuses "a wrong frame in the range" 1 "wrong: " "at byte 0"
tail -c +900001 many | oracle bytes
run --skip=900000 wrong
counts "a wrong frame long before the range" expected

# --- all else ---

if [ -r /proc/version ] && [ "$(wc -c </proc/version)" -gt 20 ]; then
    between 3 12 </proc/version | oracle bytes
    run --skip=3 --length=12 /proc/version
    counts "a file that claims to be empty" expected
    run --skip=3 --length=12 </proc/version
    counts "a file that claims to be empty, standard input" expected
fi
run --length=10 --timing in
check "--timing counts the range" grep -q '^gpuhisto: 10 bytes in' err
oracle bytes </dev/null
run --length=0 -d zstd in
counts "nothing of what is not zstd data" expected
run --skip=1 -d zstd in
refuses "the rest of what is not zstd data" 1 "in: not zstd data"
run --skip=9223372036854775807 --length=9223372036854775807 in
counts "as far as it goes" expected
run --skip=9223372036854775807 --length=9223372036854775807 frames.zst
counts "as far as it goes, zstd" expected
{ dd bs=100 count=1 of=/dev/null 2>dd.err && run --skip=9223372036854775807; } <in
counts "as far as it goes, from an offset" expected

summary

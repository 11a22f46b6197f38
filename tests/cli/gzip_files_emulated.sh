#!/bin/sh
# SPDX-License-Identifier: MIT
# gzip data that the emulated GPU decompresses: the tables, messages and statuses are those of the CPU, whatever is
# wrong with the data or the device.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    skip "built without ISA-L"
fi
command -v gzip >/dev/null || skip "gzip is not installed, and nothing else makes blocks with codes of their own"

gzipped()
{
    "$HELPERS/make_gzip" "$@"
}

# as_on_cpu CASE FILE OPTION...: a FILE and a pipe give what the CPU gives.
as_on_cpu()
{
    case_here=$1
    file=$2
    shift 2
    "$GPUHISTO" --device=cpu --threads=1 "$@" "$file" >due.out 2>due.err
    due=$?
    run "$@" "$file"
    as_due "$case_here: FILE"
    "$GPUHISTO" --device=cpu --threads=1 "$@" <"$file" >due.out 2>due.err
    # shellcheck disable=SC2002
    cat "$file" | run "$@"
    as_due "$case_here: pipe"
}

as_due()
{
    same "$1: table" due.out out
    same "$1: message" due.err err
    check "$1: status" [ "$(cat status)" = $due ]
}

# given OPTION...: runs with --device=auto and options; a GPU that takes no time is given all that it can take.
given()
{
    run_as env GPUHISTO_OFFLOAD=1 "$GPUHISTO" --device=auto --chunk-size=16K "$@"
}

# by_gpu CASE: the last run, with --timing, counted what is in table, and the GPU decompressed all of it.
by_gpu()
{
    same "$1" table out
    check "$1: by the GPU" grep -q 'gpu: decompressing takes' err
    check "$1: not by the CPU" grep -q '^gpuhisto: cpu: 0 bytes' err
}

# in_few_chunks CASE: the same with --device=gpu and chunks of a KiB, of which what the CPU decompresses gives many.
in_few_chunks()
{
    same "$1" table out
    check "$1: in few chunks" [ "$(sed -n 's/^gpuhisto: gpu: .* bytes in \([0-9]*\) chunks.*/\1/p' err)" -lt 80 ]
}

# --- what it takes ---

data text 300000 >in
data uniform 100000 >noise
data same 150000 0 >zeros
gzip -6 <in >one.gz
for level in 1 6 9; do
    gzip -$level <in >level.$level
done
gzip <noise >stored
{ gzip <noise && gzip -1 <in && gzip </dev/null && head -c 5000 in | gzip && gzip -9 <zeros; } >several
gzipped -f <in >fixed
gzipped -f -b 100 <in >small
gzipped -B -m 20000 <in >bgzf
gzipped -m 300 -n name -c comment -h -x 50 <noise >many
{ cat several && head -c 70000 zeros; } >padded
cp one.gz level.name
gzip -N -c level.name >named
# Zeros between other content, so that a piece of the file may have no room for what it gives.
{ cat in zeros && head -c 9000 in && cat zeros && head -c 9000 in && cat zeros noise; } | gzip >mixed
# The same where a pipe has ended, and more than one chunk of it comes again.
{ data uniform 480000 && cat zeros && head -c 9000 in && cat zeros && head -c 9000 in && cat zeros &&
    data uniform 530000; } | gzip >late
for file in $(few 3 mixed level.1 level.9 several named fixed padded stored level.6 bgzf late); do
    "$GPUHISTO" --device=cpu -b $file >table
    given -b --threads=1 --timing $file
    by_gpu "$file, FILE"
    cat $file | run -b --chunk-size=1K --timing
    in_few_chunks "$file, pipe"
    run -b $file
    counts "$file" table
done
"$GPUHISTO" --device=cpu -b in >table
"$HELPERS/dribble" -n 3001 <one.gz | run -b
counts "a pipe that gives little at a time" table
{ head -c 10 one.gz && sleep 0.1 && tail -c +11 one.gz; } | run -b
counts "a pipe of which ten bytes come first" table

# What such a small device leaves: many members or blocks, and content that is a thousand times as large.
data same 700000 0 | gzip -9 >dense
for file in small many dense; do
    as_on_cpu "$file" $file -b
done

# A pipe ends with zeros for which a batch has no room, while characters of those before are still counted.
data same 250000 0 >more_zeros
ends_in_zeros()
{
    seq 90000 && cat more_zeros && seq 3000 && cat more_zeros
}
ends_in_zeros | gzip >numbers.gz
ends_in_zeros | "$GPUHISTO" --device=cpu -c >table
# shellcheck disable=SC2002
cat numbers.gz | run_as "$GPUHISTO" $ANY_MODE --chunk-size=1K -c --timing
in_few_chunks "zeros at the end of a pipe"

vectorized=$ENGINE
ENGINE=$ANY_MODE
for mode in -c -l1 -p "--values=u16 -B 16 --min=0 --max=65536"; do
    as_on_cpu "$mode" one.gz $mode
done
seq 1 60000 >numbers
gzip <numbers >numbers.gz
as_on_cpu "numbers" numbers.gz -n
sed '50000s/.*/many/' numbers | gzip >tokens.gz
as_on_cpu "a token that is no number" tokens.gz -n
as_on_cpu "a token that is no number, --invalid=error" tokens.gz -n --invalid=error
{ cat numbers && printf '1\r2'; } | gzip >returns.gz
as_on_cpu "a last line with a carriage return" returns.gz -nk1
for options in --each "--each -l1"; do
    "$GPUHISTO" --device=cpu $options one.gz several bgzf >table
    run $options one.gz several bgzf
    counts "$options" table
done
ENGINE=$vectorized
for part in 1/3 2/3 3/3; do
    "$GPUHISTO" --device=cpu -b --part=$part bgzf >table
    run -b --part=$part bgzf
    counts "--part=$part" table
done
as_on_cpu "a range" one.gz -b --skip=1000 --length=200000
as_on_cpu "--no-check" one.gz -b --no-check

# What has arrived is counted while the pipe stays open.
mkfifo open
run -b --interval=0.1 open &
pid=$!
exec 3>open
head -c 60000 one.gz >&3
check "an open pipe: some is counted" eventually grep -q '^0x20.[1-9]' out
exec 3>&-
wait $pid

# The same where that is decoded again, as there was no room for it.
{ cat zeros && head -c 9000 in && cat zeros && head -c 9000 in && cat zeros && head -c 9000 in && cat noise; } |
    gzip >early
run -b --interval=0.1 open &
pid=$!
exec 3>open
head -c 22000 early >&3
check "an open pipe, zeros: some are counted" eventually grep -q '^0x00.[1-9]' out
exec 3>&-
wait $pid

# --- what is wrong with the data ---

size=$(wc -c <one.gz)
for cut in $(few 6 1 4 8 9 100 4096 5000 20480 50000 $((size - 12)) $((size - 3))); do
    head -c -$cut one.gz >bad
    as_on_cpu "$cut bytes are missing" bad -b
done
several=$(wc -c <several)
for cut in $(few 5 1 9 2000 3000 9000 30000 60000 100000); do
    head -c $((several - cut)) several >bad
    as_on_cpu "$cut bytes of several are missing" bad -b
done
for what in $(few 2 garbage '\037\213\010' '\037\213\010\040aaaaaaaaaaaaaaaaaaaaaaaa' '\000\000\001' '\000\000\037\213'); do
    # shellcheck disable=SC2059
    { cat several && printf "$what"; } >bad
    as_on_cpu "'$what' after it" bad -b
    # shellcheck disable=SC2059
    { printf "$what" && cat one.gz; } >bad
    as_on_cpu "'$what' before it" bad -b -d gzip
done
gzipped -C -f <in >bad
as_on_cpu "a wrong checksum" bad -b
as_on_cpu "a wrong checksum, --no-check" bad -b --no-check
gzipped -L -f <in >bad
as_on_cpu "a wrong length" bad -b
{ gzipped -f <in && gzipped -H -f <in; } >bad
as_on_cpu "a wrong checksum of a header" bad -b
# One byte after another.
[ "$ASKED" = small ] && changes=3 || changes=12
changed=0
step=$((size / changes))
while [ $changed -lt "$size" ]; do
    { head -c $changed one.gz && printf '\252' && tail -c +$((changed + 2)) one.gz; } >bad
    as_on_cpu "byte $changed is another" bad -b
    changed=$((changed + step))
done
step=$((several / changes))
changed=7
while [ $changed -lt "$several" ]; do
    { head -c $changed several && printf '\143' && tail -c +$((changed + 2)) several; } >bad
    as_on_cpu "byte $changed of several is another" bad -b
    changed=$((changed + step))
done

# --- a device that is lost: nothing replaces it with --device=gpu, but a second one does ---

"$GPUHISTO" --device=cpu -b in >table
for call in $(few 5 3 8 12 16 20 25 30 40); do
    "$HELPERS/dribble" -n 30001 <one.gz | run_as env GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE -b
    refuses "a pipe, call $call fails" 1 "GPU"
    run_as env GPUHISTO_DEVICES=2 GPUHISTO_FAULT=error:$call "$GPUHISTO" --device=gpu:0,1 -b -q one.gz
    counts "a FILE, two GPUs, call $call fails" table
done
run_as env GPUHISTO_FAULT=wrong:2 "$GPUHISTO" $ENGINE -b one.gz
refuses "a snapshot that is wrong" 1 "GPU"

# --- --device=auto: the CPU begins a FILE anew that the GPU cannot decompress to its end ---

ENGINE="--device=auto --chunk-size=16K"
cat in in in in | gzip >long.gz
{ gzip <in && gzip <noise && gzip -1 <in; } >members.gz
"$GPUHISTO" --device=cpu -b long.gz bgzf members.gz >table
given -b --timing long.gz bgzf members.gz
by_gpu "several FILEs"
cat long.gz many >late.gz
"$GPUHISTO" --device=cpu -b late.gz >table
given -b --timing late.gz
same "many members after a long one" table out
check "many members after a long one: by the CPU" grep -qE '^gpuhisto: cpu: [1-9]' err
refute "many members after a long one: not by the GPU" grep -qE '^gpuhisto: gpu: [1-9]' err
run_as "$GPUHISTO" --device=gpu --chunk-size=64K -b late.gz
counts "many members after a long one, --device=gpu" table
"$GPUHISTO" --device=cpu -n tokens.gz >table 2>/dev/null
given -n --threads=1 tokens.gz
same "numbers" table out
check "numbers: the line" grep -q "tokens.gz: line 50000: 'many' is not a number" err

# Several workers, of which one feeds the GPU, which may be lost.
data text 20000000 >shared
{ gzip -1 <in && gzip -1 <shared; } >shared.gz
"$GPUHISTO" --device=cpu -b long.gz shared.gz >table
for fault in $(few 2 error:90 none:1 error:600); do
    run_as env GPUHISTO_FAULT=$fault GPUHISTO_OFFLOAD=1 "$GPUHISTO" --device=auto --chunk-size=256K \
        --threads=3 -b -q long.gz shared.gz
    same "several workers, $fault" table out
done

"$GPUHISTO" --device=cpu -b long.gz >table
lost=0
for call in $(few 5 3 8 12 16 20 25 30 40 50 70); do
    run_as env GPUHISTO_OFFLOAD=1 GPUHISTO_FAULT=error:$call "$GPUHISTO" $ENGINE -b --threads=1 long.gz
    same "call $call fails" table out
    check "call $call fails: one warning" [ "$(wc -l <err)" -le 1 ]
    lost=$((lost + $(grep -c 'GPU was lost' err)))
done
check "the device was lost ($lost)" [ $lost -gt 0 ]
for cut in 1 5 9000; do
    head -c -$cut long.gz >bad
    given -b --threads=1 bad
    refuses "$cut bytes are missing" 1 "bad: truncated gzip data, at byte $(wc -c <bad)"
done
{ cat long.gz && printf '\000\000garbage'; } >bad
given -b --threads=1 bad
refuses "zeros and garbage after it" 1 "bad: not gzip data (after zero bytes, which end it), at byte $(($(wc -c <long.gz) + 2))"
{ cat long.gz && head -c 70000 zeros; } >bad
given -b --threads=1 bad
counts "zeros after it" table

# A pipe of which more was read than is kept is not begun anew.
data uniform 40000000 | gzip -1 >wide.gz
gzipped -C -f <in >bad
cat wide.gz bad | run_as "$GPUHISTO" --device=gpu --chunk-size=64K -b
refuses "a long pipe that ends with a wrong checksum" 1 "standard input: the GPU cannot decompress it" "use --device=cpu"

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of numpy's .npy format with --values: the header is skipped, and its type and size compared.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | run 2>/dev/null && [ "$(cat status)" -eq 0 ]; then with_gzip=no; fi
[ $with_gzip = yes ] || skip_part "gzip: built without ISA-L"

byte()
{
    printf '%b' "\\0$(printf %o "$1")"
}

# header VERSION TEXT: what a .npy file begins with.
header()
{
    printf '\223NUMPY'
    byte "$1"
    byte 0
    byte $((${#2} % 256))
    byte $((${#2} / 256))
    [ "$1" -eq 1 ] || printf '\0\0'
    printf %s "$2"
}

# dictionary DESCR SHAPE [ORDER]: as numpy writes it.
dictionary()
{
    printf "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }%20s\n" "$1" "${3:-False}" "$2" ''
}

# npy DESCR SHAPE [ORDER]
npy()
{
    header 1 "$(dictionary "$@")"
}

bins="--min=0 --max=60000 --bins=37"

# expect OPTION...: leaves the table that `values` give by these options in `expected`.
expect()
{
    run "$@" --skip=0 values
    mv out expected
}

# --- every type, version and shape ---

data uniform 2400 5 >values
for pair in 'u8:|u1' 'u8:<u1' 'u8:>u1' 'i8:|i1' 'u16:<u2' 'u16be:>u2' 'i16:<i2' 'i16be:>i2' 'u32:<u4' \
    'u32be:>u4' 'i32:<i4' 'i32be:>i4' 'u64:<u8' 'u64be:>u8' 'i64:<i8' 'i64be:>i8' 'f32:<f4' \
    'f32be:>f4' 'f64:<f8' 'f64be:>f8'; do
    type=${pair%%:*}
    size=${type#?}
    count=$((2400 * 8 / ${size%be}))
    expect --values="$type" $bins
    for version in 1 2 3; do
        { header $version "$(dictionary "${pair#*:}" "($count,)")" && cat values; } >a.npy
        run --values="$type" $bins a.npy
        counts "$pair, version $version" expected
        "$HELPERS/dribble" -n 100 <a.npy | run --values="$type" $bins
        counts "$pair, version $version, pipe" expected
    done
done
expect --values=f32 $bins
for shape in '(600,)' '(20, 30)' '(2,3,100)' '(1, 1, 1, 600)' '(600L,)' '( 20 , 30 , )' '(300, 2, 1)'; do
    for order in True False; do
        { npy '<f4' "$shape" $order && cat values; } >a.npy
        run --values=f32 $bins a.npy
        counts "shape $shape, $order" expected
    done
done
# Keys in another order, other quotes, no comma at the end, no blanks, nothing after it.
for text in "{'shape': (600,), 'fortran_order': False, 'descr': '<f4'}" \
    '{"descr":"<f4","fortran_order":False,"shape":(600,)}' \
    "  { 'descr' : '<f4' , 'shape' : (600,) , 'fortran_order' : True , }  "; do
    { header 1 "$text" && cat values; } >a.npy
    run --values=f32 $bins a.npy
    counts "header $text" expected
done
for shape in '(0,)' '(0, 5)' '(18446744073709551615, 0, 18446744073709551615)'; do
    npy '<f4' "$shape" >a.npy
    run --values=f32 $bins a.npy /dev/null
    cut -f 2 out | sort -u >kinds
    check "shape $shape: nothing to count" [ "$(cat status) $(cat kinds)" = "0 0" ]
done
head -c 4 values >one
mv values all
mv one values
expect --values=f32 $bins
{ npy '<f4' '()' && cat values; } >a.npy
run --values=f32 $bins a.npy
counts "a scalar" expected
mv all values

# --- wherever it is cut, and however it is packed ---

expect --values=u32 $bins
{ npy '<u4' '(600,)' && cat values; } >a.npy
begin=$(($(wc -c <a.npy) - 2400))
run --values=u32 $bins <a.npy
counts "standard input" expected
"$HELPERS/dribble" <a.npy | run --values=u32 $bins
counts "byte by byte" expected
run --values=u32 $bins --chunk-size=1 --threads=3 a.npy
counts "small chunks" expected
{ printf 1234567 && cat a.npy; } >after
{ dd bs=7 count=1 of=/dev/null 2>dd.err && run --values=u32 $bins; } <after
counts "after an offset of standard input" expected

# packed CASE: a.zst, and the same from a pipe.
packed()
{
    run --values=u32 $bins --threads=3 a.zst
    counts "$1" expected
    cat a.zst | run --values=u32 $bins --threads=2 --chunk-size=64
    counts "$1, pipe" expected
}

[ "$SCALE" = small ] && cuts="1 2 5 6 7 8 9 10 11 64 $((begin - 1)) $begin $((begin + 1)) 999 3000" ||
    cuts="$(seq 1 $((begin + 9))) 999 3000"
for cut in $cuts; do
    "$HELPERS/make_zstd" -f "$cut" <a.npy >a.zst
    packed "frames of $cut"
    "$HELPERS/make_zstd" -n -k 10 -f "$cut" <a.npy >a.zst
    packed "unsized frames of $cut, and skippable ones"
    "$HELPERS/make_zstd" -w 24 -f "$cut" <a.npy >a.zst
    packed "large frames of $cut"
    [ $with_gzip = yes ] || continue
    "$HELPERS/make_gzip" -m "$cut" <a.npy >a.zst
    packed "members of $cut"
done
"$HELPERS/make_zstd" -f 500 <a.npy >a.zst
"$HELPERS/dribble" -u 100 <a.zst | run --values=u32 $bins
counts "frames, byte by byte" expected
# A batch that ends within the header, as the rest is yet to come: --length is of values, not of it.
head -c 50 a.npy | "$HELPERS/make_zstd" >begin.zst
tail -c +51 a.npy | "$HELPERS/make_zstd" >rest.zst
cat begin.zst rest.zst >a.zst
run --values=u32 $bins --length=8 a.zst
check "--length and frames: two values" [ "$(awk '{ n += $2 } END { print n }' out)" = 2 ]
cp out two
{ cat begin.zst && sleep 0.3 && cat rest.zst; } | run --values=u32 $bins --length=8
counts "--length and a pause within the header" two
"$HELPERS/make_zstd" -f 70 <values >values.zst
for files in "a.npy values" "values a.npy" "a.zst values.zst" "values.zst a.npy"; do
    run --values=u32 $bins --threads=1 $files
    awk -F "\t" -v OFS="\t" '{ $2 *= 2 } 1' expected >twice
    counts "$files" twice
done

# --- what begins like a header ---

for len in 1 2 3 4 5; do
    printf '\223NUMPY' | head -c $len >values
    expect --values=u8
    run --values=u8 values
    counts "$len bytes of the magic" expected
    cat values | run --values=u8
    counts "$len bytes of the magic, pipe" expected
    for frame in 1 2 6; do
        "$HELPERS/make_zstd" -f $frame <values >a.zst
        run --values=u8 --chunk-size=1 a.zst
        counts "$len bytes of the magic, frames of $frame" expected
        cat a.zst | run --values=u8
        counts "$len bytes of the magic, frames of $frame, pipe" expected
    done
    [ $with_gzip = yes ] || continue
    "$HELPERS/make_gzip" <values >a.gz
    run --values=u8 a.gz
    counts "$len bytes of the magic, gzip" expected
done
for type in u8 u16 u24 u32; do
    case $type/$ENGINE in
    *24/*gpu*) continue ;;
    esac
    for len in 0 1 4 5; do
        { printf '\223NUMPY' | head -c $len && head -c $((60 - len)) a.npy | tail -c +7; } >values
        truncate -s 48 values
        expect --values=$type $bins
        run --values=$type $bins values
        counts "$len bytes of the magic and others, $type" expected
        for frame in 1 3 4 7 50; do
            "$HELPERS/make_zstd" -f $frame <values >a.zst
            run --values=$type $bins --chunk-size=1 a.zst
            counts "$len bytes of the magic and others, $type, frames of $frame" expected
        done
        for length in 0 3 6 12; do
            [ $((length % ${type#?})) = 0 ] || [ $type = u8 ] || continue
            head -c $length values | run --values=$type $bins
            [ "$(cat status)" -eq 0 ] || continue
            mv out expected
            run --values=$type $bins --length=$length a.zst
            counts "the first $length bytes of $len of the magic, $type" expected
        done
    done
done

# --- a range ---

data uniform 2400 5 >values
{ npy '<u4' '(600,)' && cat values; } >a.npy
"$HELPERS/make_zstd" -f 500 <a.npy >a.zst
for length in 0 4 400 2396 2400 2404; do
    run --values=u32 $bins --skip=0 --length=$length values
    mv out expected
    for file in a.npy a.zst; do
        run --values=u32 $bins --length=$length $file
        counts "--length=$length, $file" expected
        cat $file | run --values=u32 $bins --length=$length
        counts "--length=$length, $file, pipe" expected
    done
done
expect --values=u32 $bins
run --values=u32 $bins --skip=$begin a.npy
counts "--skip, by hand" expected
run --values=u16 $bins --skip=$begin a.npy
check "--skip takes any type" [ "$(cat status)" -eq 0 ]
run --values=u8 --skip=0 a.npy
mv out expected
run --values=u8 -d none a.npy
counts "-d none takes the header as values" expected

# --- a header that does not fit ---

# wrong TEXT ARGUMENT...: a.npy is refused however it comes.
wrong()
{
    text=$1
    shift
    "$HELPERS/make_zstd" -f 7 <a.npy >a.zst
    run "$@" a.npy
    refuses "$text" 1 "gpuhisto: a.npy: $text"
    cat a.npy | run "$@"
    refuses "$text, pipe" 1 "gpuhisto: standard input: $text"
    run "$@" --threads=2 a.zst
    refuses "$text, frames" 1 "gpuhisto: a.zst: $text"
    "$HELPERS/make_zstd" -n <a.npy | run "$@"
    refuses "$text, one frame" 1 "gpuhisto: standard input: $text"
    [ $with_gzip = yes ] || return
    "$HELPERS/make_gzip" -m 50 <a.npy | run "$@"
    refuses "$text, gzip" 1 "gpuhisto: standard input: $text"
}

{ npy '<f4' '(600,)' && cat values; } >a.npy
wrong "holds <f4; use --values=f32" --values=u32 $bins
wrong "holds <f4; use --values=f32" --values=f32be $bins
wrong "holds <f4; use --values=f32" --values=u8
{ npy '>i2' '(1200,)' && cat values; } >a.npy
wrong "holds >i2; use --values=i16be" --values=i16 $bins

expect --values=f32 $bins --channels=3
{ npy '<f4' '(200, 3)' && cat values; } >a.npy
run --values=f32 $bins --channels=3 a.npy
counts "channels" expected
{ npy '<f4' '(600,)' True && cat values; } >a.npy
run --values=f32 $bins --channels=3 a.npy
counts "channels, one dimension" expected
{ npy '<f4' '(200, 3)' True && cat values; } >a.npy
wrong "is in Fortran order, so its channels are not interleaved" --values=f32 $bins --channels=3
{ npy '<f4' '(601,)' && cat values; } >a.npy
wrong "the .npy header states 2404 bytes of values, but fewer follow" --values=f32 $bins
wrong "the .npy header states 2401 bytes of values, but fewer follow" --values=f32 $bins --length=2401
for length in 2400 4; do
    run --values=f32 $bins --length=$length a.npy
    check "the beginning of too few, $length" [ "$(cat status)" -eq 0 ]
done
{ npy '<f4' '(599,)' && cat values; } >a.npy
wrong "the .npy header states 2396 bytes of values, but more follow" --values=f32 $bins
{ npy '<f4' '(0,)' && printf x; } >a.npy
wrong "the .npy header states 0 bytes of values, but more follow" --values=f32 $bins
npy '<f8' '(1,)' >a.npy
wrong "the .npy header states 8 bytes of values, but fewer follow" --values=f64 $bins

# --- a header that is none ---

npy '<f4' '(600,)' >whole
size=$(wc -c <whole)
[ "$SCALE" = small ] && step=7 || step=1
cut=6
while [ $cut -lt "$size" ]; do
    head -c $cut whole >a.npy
    wrong "ends inside its .npy header" --values=f32 $bins
    cut=$((cut + step))
done

header 1 "$(dictionary '<f4' "($(printf '1,%.0s' $(seq 700)))")" >a.npy
head -c 4 values >>a.npy
run --values=f32 $bins a.npy
check "700 dimensions" [ "$(cat status)" -eq 0 ]
text=$(dictionary '<f4' '(600,)')
{ printf '\223NUMPY\2\0\364\377\0\0%s%*s' "$text" $((65524 - ${#text})) '' && cat values; } >a.npy
expect --values=f32 $bins
run --values=f32 $bins a.npy
counts "the longest header" expected
"$HELPERS/make_zstd" <a.npy | run --values=f32 $bins
counts "the longest header, zstd" expected

# --- reads of the header that do less than was asked for, or fail ---

# faulty FAULT=...: counts a.npy by the library that fails as told.
faulty()
{
    rm -f mark
    run_as env "$@" FAULT_MARK="$work/mark" LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE --values=f32 $bins a.npy
}

if can_interpose; then
    { npy '<f4' '(600,)' && cat values; } >a.npy
    for most in 1 7 100; do
        faulty FAULT_SHORT=$most FAULT_EINTR=1
        counts "short reads of 1 to $most" expected
    done
    n=1
    while [ $n -lt 20 ]; do
        faulty FAULT_CALL=pread FAULT_AT=$n
        [ -s mark ] || break
        refuses "pread $n" 1 "a.npy: Input/output error, at byte "
        n=$((n + 1))
    done
    counts "no pread left to fail" expected
    check "some preads failed, of the header too" [ $n -gt 4 ]
else
    skip_part "reads that are short or fail: $why_not"
fi

# --- only with --values ---

"$HELPERS/oracle" bytes <a.npy >expected
run a.npy
counts "bytes" expected

# --- numpy's own ---

if find_numpy; then
    expect --values=f64 $bins
    "$python" -c 'import numpy
numpy.save("a.npy", numpy.fromfile("values", "<f8").reshape(30, 10))'
    run --values=f64 $bins a.npy
    counts "numpy's own" expected
else
    skip_part "what numpy writes: $why_not"
fi

summary

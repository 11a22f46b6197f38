#!/bin/sh
# SPDX-License-Identifier: MIT
# WAV and PNM files with --values: the samples are found, and their type, channels and number compared.
# tests/unit/test_header has all that a header may say; here they come as files, pipes and compressed.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | run 2>/dev/null && [ "$(cat status)" -eq 0 ]; then with_gzip=no; fi
[ $with_gzip = yes ] || skip_part "gzip: built without ISA-L"

# le BYTES NUMBER...: each in so many bytes, little-endian.
le()
{
    bytes_=$1
    shift
    for number_ in "$@"; do
        left_=$bytes_
        while [ "$left_" -gt 0 ]; do
            printf "\\$(printf %03o $((number_ & 255)))"
            number_=$((number_ >> 8))
            left_=$((left_ - 1))
        done
    done
}

# fmt CODING CHANNELS BITS
fmt()
{
    printf 'fmt ' && le 4 16 && le 2 "$1" "$2" && le 4 48000 $((48000 * $2 * $3 / 8))
    le 2 $(($2 * $3 / 8)) "$3"
}

# extensible CODING CHANNELS BITS: the same, as sox writes samples of 24 bits.
extensible()
{
    printf 'fmt ' && le 4 40 && le 2 65534 "$2" && le 4 48000 $((48000 * $2 * $3 / 8))
    le 2 $(($2 * $3 / 8)) "$3" 22 "$3" && le 4 3 "$1"
    printf '\000\000\020\000\200\000\000\252\000\070\233\161'
}

# riff FMT-FILE DATA-FILE [SIZE]: a WAV file, with chunks before, between and after, two of them odd.
riff()
{
    data_=${3:-$(wc -c <"$2")}
    printf 'RIFF' && le 4 $((data_ == 0 ? 36 : data_ + 200)) && printf 'WAVEJUNK\034\000\000\000'
    printf '%028d' 0 && cat "$1" && printf 'LIST\003\000\000\000abc\000data' && le 4 "$data_" && cat "$2"
    [ $(($(wc -c <"$2") % 2)) = 0 ] || printf '\000'
    [ $# = 3 ] || printf 'LIST\005\000\000\000\377\376\375\374\373\000'
}

# everywhere CASE FILE OPTION...: the table in `expected` comes of the file however it is read.
everywhere()
{
    case_name=$1
    file=$2
    shift 2
    run "$@" "$file"
    counts "$case_name" expected
    "$HELPERS/dribble" -n 100 <"$file" | run "$@"
    counts "$case_name, pipe" expected
    "$HELPERS/make_zstd" -f 23 <"$file" >packed
    run "$@" --threads=2 packed
    counts "$case_name, zstd" expected
    "$HELPERS/make_zstd" -n <"$file" | run "$@"
    counts "$case_name, zstd from a pipe" expected
    [ $with_gzip = yes ] || return
    "$HELPERS/make_gzip" -m 100 <"$file" >packed
    run "$@" packed
    counts "$case_name, gzip" expected
}

# wrong CASE TEXT OPTION...: a.wav is refused with this text, however it is read.
wrong()
{
    case_name=$1
    text=$2
    shift 2
    run "$@" a.wav
    refuses "$case_name" 1 "gpuhisto: a.wav: $text"
    "$HELPERS/make_zstd" -f 23 <a.wav | run "$@"
    refuses "$case_name, zstd from a pipe" 1 "gpuhisto: standard input: $text"
}

data uniform 2400 7 >values
bins="--min=-30000 --max=70000 --bins=41"

# --- every type ---

for row in 'u8 1 8 fmt' 'i16 1 16 fmt' 'i24 1 24 extensible' 'i32 1 32 extensible' 'f32 3 32 fmt' 'f64 3 64 extensible'; do
    # shellcheck disable=SC2086 # words
    set -- $row
    $4 "$2" 2 "$3" >head
    riff head values >a.wav
    run --values="$1" --skip=0 $bins values
    mv out expected
    everywhere "$row" a.wav --values="$1" $bins
    run --values="$1" --skip=0 $bins --channels=2 values
    mv out expected
    run --values="$1" $bins --channels=2 a.wav
    counts "$row, two channels" expected
done
head -c 401 values >odd
fmt 1 1 8 >head
riff head odd >a.wav
run --values=u8 odd
mv out expected
everywhere "an odd number of bytes" a.wav --values=u8

# --- sizes that are not known, and ranges ---

fmt 1 2 16 >head
run --values=i16 $bins values
mv out expected
for size in 0 4294967295 2147479552 2147483648; do
    riff head values $size >a.wav
    everywhere "a stream of size $size" a.wav --values=i16 $bins
done
riff head values >a.wav
run --values=i16 $bins --length=400 values
mv out expected
everywhere "--length" a.wav --values=i16 $bins --length=400
begin=$((12 + 36 + 24 + 12 + 8))
run --values=i16 $bins --skip=$((begin + 400)) --length=400 a.wav
mv out skipped
run --values=i16 $bins --skip=400 --length=400 values
counts "--skip, by hand" skipped
run --values=u8 --skip=0 a.wav
mv out expected
run --values=u8 -d none a.wav
counts "-d none takes the header as values" expected

# --- several files, and shares of one ---

run --values=i16 $bins values
mv out expected
awk -F "\t" -v OFS="\t" '{ $2 *= 2 } 1' expected >twice
run --values=i16 $bins a.wav values
counts "a WAV file and bare values" twice
run --values=i16 $bins --each a.wav values
check "--each" [ "$(awk '{ n[$1] += $3 } END { print n["a.wav"], n["values"] }' out)" = "1200 1200" ]
if can_share; then
    "$HELPERS/make_zstd" -f 100 <a.wav >a.zst
    for file in a.wav a.zst; do
        for k in 1 2 3; do
            run --values=i16 $bins --part=$k/3 -F json -o part.$k $file
        done
        run_as "$GPUHISTO" --merge part.1 part.2 part.3
        counts "--part, $file" expected
    done
else
    skip_part "--part: $why_not"
fi

# --- what does not fit ---

wrong "another type" "holds 16-bit samples; use --values=i16" --values=u8
wrong "another type" "holds 16-bit samples; use --values=i16" --values=f32 $bins
wrong "other channels" "has 2 channels; use --channels=2" --values=i16 $bins --channels=3
wrong "--length is of whole values" "ends inside" --values=i16 $bins --length=5
extensible 6 2 16 >head
riff head values >a.wav
wrong "A-law" "holds A-law samples, which --values cannot count" --values=i16 $bins
fmt 1 1 24 >head
riff head values >a.wav
wrong "24 bits" "holds 24-bit samples; use --values=i24" --values=i32 $bins
wrong "one channel" "has one channel; leave out --channels" --values=i24 $bins --channels=2
head -c 1000 a.wav >cut && mv cut a.wav
wrong "a file that was cut" "the WAV header states 2400 bytes of values, but fewer follow" --values=i24 $bins
head -c 60 a.wav >cut && mv cut a.wav
wrong "a header that was cut" "ends inside its WAV header" --values=i24 $bins
printf 'RIFF\377\377\377\377WAVEdata\377\377\377\377' >a.wav
wrong "data before their format" "invalid WAV header (its data come before its format)" --values=i16 $bins
fmt 1 2 16 >head
riff head odd >a.wav
wrong "an odd number of bytes for 16 bits" "ends inside a value, after 1 of its 2 bytes" --values=i16 $bins
riff head values 0 >a.wav
printf x >>a.wav
wrong "a stream that ends within a sample" "ends inside a value, after 1 of its 2 bytes" --values=i16 $bins
printf 'RIFF\020\000\000\000AVI LIST\001\002' >a.wav
run --values=u8 a.wav
check "AVI is taken as it is" [ "$(awk '{ n += $2 } END { print n }' out)" = 18 ]

# --- images ---

head -c 600 values >pixels
for row in 'P5 u8 255 1' 'P6 u8 255 3' 'P5 u16be 65535 1' 'P6 u16be 4095 3'; do
    # shellcheck disable=SC2086 # words
    set -- $row
    side=$((600 / $4 / ($3 > 255 ? 2 : 1) / 10))
    { printf '%s\n# made by hand\n%d 10 # wide and high\n%d\n' "$1" $side "$3" && cat pixels; } >a.pnm
    run --values="$2" $bins pixels
    mv out expected
    everywhere "$row" a.pnm --values="$2" $bins
    [ "$4" = 3 ] || continue
    run --values="$2" $bins --channels=3 pixels
    mv out expected
    run --values="$2" $bins --channels=3 a.pnm
    counts "$row, three channels" expected
done
mv a.pnm a.wav
wrong "another depth" "holds 16-bit samples; use --values=u16be" --values=u8
wrong "other channels" "has 3 channels; use --channels=3" --values=u16be --channels=4
printf x >>a.wav
wrong "more than an image" "the PNM header states 600 bytes of values, but more follow" --values=u16be
head -c 100 a.wav >cut && mv cut a.wav
wrong "less than an image" "the PNM header states 600 bytes of values, but fewer follow" --values=u16be
head -c 10 a.wav >cut && mv cut a.wav
wrong "less than a header" "ends inside its PNM header" --values=u16be
printf 'P5\n0 3\n255\nabc' >a.wav
wrong "a width of 0" "invalid PNM header (its width)" --values=u8

# --- without a type, which the first file's header says ---

fmt 1 2 16 >head
riff head values >a.wav
run --values=i16 $bins values
mv out expected
everywhere "no type" a.wav --values $bins
"$HELPERS/dribble" <packed | run --values $bins
counts "no type, compressed, byte by byte" expected
mkfifo fifo
cat a.wav >fifo &
run --values $bins fifo
wait $!
counts "no type, a named pipe" expected
head -c 400 values >begin
run --values=i16 $bins begin
mv out expected
for file in a.wav packed; do
    run --values $bins --length=400 $file
    counts "no type, --length, $file" expected
    "$HELPERS/dribble" -n 100 <$file | run --values $bins --length=400
    counts "no type, --length, $file, pipe" expected
done
cp a.wav b.wav
run --values=i16 --each $bins a.wav b.wav packed
mv out expected
run --values --each $bins a.wav b.wav packed
counts "no type, three files" expected
run --values=i16 $bins --also --values=i16 a.wav
mv out expected
run --values $bins --also --values a.wav
counts "no type, --also" expected
run --values -F json a.wav
check "JSON has the type" grep -q '"type":"i16","options":\["--values=i16"\]' out
head -c 200 packed >cut
run --values cut
refuses "no type, cut within a compressed header" 1 "cut: truncated "
summary

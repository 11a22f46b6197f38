#!/bin/sh
# SPDX-License-Identifier: MIT
# --values: every type, however the bytes come and wherever chunks and frames cut them.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# rows CASE: the counts of the last run's table are those in the file expected.
rows()
{
    cut -f 2 out >counted
    mv counted out
    counts "$1" expected
}
# expect TYPE MIN MAX BINS <data
expect()
{
    "$HELPERS/oracle_values" "$@" >expected
}

# no_kernel TYPE: whether GPUs do not count it, and one is asked for.
no_kernel()
{
    case $1/$ENGINE in
    *24*/*gpu*) return 0 ;;
    *) return 1 ;;
    esac
}

# --- every type and range ---

data uniform 24000 5 >in
data all 24000 >small
for type in u8 u16 u24 u32 u64 i8 i16 i24 i32 i64 u16be u24be u32be u64be i16be i24be i32be i64be; do
    no_kernel $type && continue
    case $type in
    *8*) ranges="0:256:256 -3:100:7 0:1:1 10:250:40" ;;
    *16*) ranges="0:65536:256 -30000:30000:11 5:1000:5" ;;
    *24*) ranges="0:16777216:300 -8388608:8388608:64 -5:1000:12 0:70000:70000 0:8589934592:9" ;;
    *32*) ranges="0:4294967296:300 -2147483648:2147483648:64 0:4294967295:7 -5:7:12" ;;
    *) ranges="0:18446744073709551616:50 -9223372036854775808:9223372036854775808:33 0:1000:10" ;;
    esac
    for range in $ranges; do
        bins=${range##*:} min=${range%%:*} max=${range#*:} max=${max%:*}
        for file in in small; do
            expect $type "$min" "$max" "$bins" <$file
            run --values=$type --bins="$bins" --min="$min" --max="$max" $file
            rows "$type, $range, $file"
        done
    done
done
for type in f32 f64 f32be f64be; do
    for range in 0:1:10 -1e10:1e10:100 -1e300:1e300:3 1e-5:2e-5:7; do
        bins=${range##*:} min=${range%%:*} max=${range#*:} max=${max%:*}
        expect $type "$min" "$max" "$bins" <in
        run --values=$type --bins="$bins" --min="$min" --max="$max" in
        rows "$type, $range"
    done
done
# Not a number, both infinities, both zeros, 0.5, 1.
printf '\0\0\300\177\0\0\200\177\0\0\200\377\0\0\0\200\0\0\0\0\0\0\0\077\0\0\200\077' >odd
printf -- '-inf\t1\t0\n0\t2\t0.5\n0.5\t1\t1\n1\t2\tinf\ninvalid\t1\n' >expected
run --values=f32 -B 2 --min=0 --max=1 odd
counts "odd floats" expected
printf -- '-inf\t1\t-1e+39\n0\t2\t0\n0.5\t1\t0.501\n1\t1\t1.01\n1e+39\t1\tinf\ninvalid\t1\n' >expected
run --values=f32 odd
counts "odd floats, digits" expected
printf -- '-inf\t1\t-inf\n0\t2\t0\n0.5\t1\t0.515625\n1\t1\t1.03125\ninf\t1\tinf\ninvalid\t1\n' >expected
run --values=f32 --log=2:32 odd
counts "odd floats, --log=2:32" expected
# 0.7 as a float is below the double 0.7, and begins its bin all the same; the float before it does not.
printf '\63\63\63\77\62\63\63\77\63\63\63\277' >some
printf -- '-0.7\t1\t-0.69\n0.69\t1\t0.7\n0.7\t1\t0.71\ninvalid\t0\n' >expected
run --values=f32 --digits=2 some
counts "0.7 of f32" expected
printf '\146\146\146\146\146\146\346\77\145\146\146\146\146\146\346\77' >some
printf -- '0.699\t1\t0.7\n0.7\t1\t0.701\ninvalid\t0\n' >expected
run --values=f64 some
counts "0.7 of f64" expected
printf -- '-inf\t0\t0.6\n0.6\t2\t0.8\n0.8\t0\tinf\ninvalid\t0\n' >expected
run --values=f64 -B 1 some
counts "-B of f64" expected

# --- other bins ---

printf '\0\1\2\3\2\377' >bytes
printf -- '-inf\t0\t0\n0\t1\t1\n1\t1\t2\n2\t2\t3\n3\t2\tinf\ninvalid\t0\n' >expected
run --values=u8 --bins=3 bytes
counts "values that are their own bin" expected
run --values=u8 --edges=0,1,2,3 bytes
counts "edges" expected
run --values=u8 bytes
check "all of u8: rows" [ "$(wc -l <out)" -eq 259 ]
run --values=u16 bytes
check "all of u16: rows" [ "$(wc -l <out)" -eq 65539 ]
# Signed types begin with their least value.
for type in i8 i16 i16be; do
    [ $type = i8 ] && least=-128 above=128 || { least=-32768 && above=32768; }
    head -c 2000 in >some
    expect $type $least $above $((above - least)) <some
    run --values=$type some
    cp out table
    rows "all of $type"
    check "all of $type: first" [ "$(sed -n 2p table | cut -f 1,3)" = "$least$tab$((least + 1))" ]
    check "all of $type: last" \
        [ "$(tail -n 3 table | head -n 1 | cut -f 1,3)" = "$((above - 1))$tab$above" ]
done
run --values=i8 --bins=3 bytes
check "i8 with --bins begins with 0" [ "$(sed -n 2p out)" = "0${tab}1${tab}1" ]
printf -- '-inf\t1\t1\n1\t3\t2\n2\t0\t4\n4\t1\tinf\ninvalid\t0\n' >expected
printf '\0\1\1\1\310' | run --values=u8 --log=2 --min=1 --max=3
counts "powers" expected
# As many as there may be, and a few: the last bin, and one that many share.
head -c 4000 /dev/zero >most
printf '\377\377\377\0' >>most
run --values=u32 --bins=16777216 most
check "2^24 bins: status" [ "$(cat status)" -eq 0 ]
printf '0\t1000\t1\n16777215\t1\t16777216\n' >expected
grep -v -e "${tab}0${tab}" -e "${tab}0$" out >nonzero
same "2^24 bins" expected nonzero

# --- formats ---

printf 'lo,count,hi\n-inf,0,0\n0,4,2.5\n2.5,1,5\n5,0,inf\ninvalid,0,\n' >expected
printf '\0\0\0\0\0\0\200\077\0\0\0\100\0\0\200\077\0\0\100\100' >floats
run --values=f32 -B 2 --min=0 --max=5 -F csv --header floats
counts "csv" expected
printf '%s\n' '{"schema":"gpuhisto/1","mode":"values","type":"f32","options":["--values=f32","--bins=2","--min=0","--max=5"],"total":5,"counted":5,"other":0,"below":0,"above":0,"invalid":0,"bins":[{"lo":0,"hi":2.5,"count":4},{"lo":2.5,"hi":5,"count":1}]}' >expected
run --values=f32 -B 2 --min=0 --max=5 -F json floats
counts "json" expected

# --- wherever they are cut ---

data uniform 199992 7 >in # whole values of every size
head -c 1992 in >part
for type in u16 i24be u32be f64; do
    no_kernel $type && continue
    for size in 1 3 4K 5000 64K; do
        options="--values=$type -B 37 --min=0 --max=60000 --chunk-size=$size"
        file=in
        [ ${#size} = 1 ] && file=part # a thousand chunks are enough
        expect $type 0 60000 37 <$file
        run $options $file
        rows "$type, file, $size"
        run $options <$file
        rows "$type, standard input, $size"
        "$HELPERS/dribble" -n 1001 <$file | run $options
        rows "$type, odd pieces, $size"
    done
    expect $type 0 60000 37 <in
    for threads in 1 2 3 8; do
        cat in | run --threads=$threads --values=$type -B 37 --min=0 --max=60000
        rows "$type, pipe, $threads threads"
    done
    for frame in 1000 1001 7777 70000; do
        "$HELPERS/make_zstd" -f $frame <in >in.zst
        run --values=$type -B 37 --min=0 --max=60000 --threads=3 in.zst
        rows "$type, frames of $frame"
        cat in.zst | run --values=$type -B 37 --min=0 --max=60000 --threads=3
        rows "$type, frames of $frame, pipe"
        "$HELPERS/make_zstd" -n -f $frame <in >in.zst
        run --values=$type -B 37 --min=0 --max=60000 --threads=3 in.zst
        rows "$type, frames of $frame that do not tell"
    done
done
head -c 3000 in >part
expect u32 0 60000 37 <part
"$HELPERS/dribble" -n 1 <part | run --values=u32 -B 37 --min=0 --max=60000
rows "byte by byte"
head -c 4000 in >one
tail -c +4001 in >two
"$HELPERS/make_zstd" -f 999 <two >two.zst
expect u32 0 60000 37 <in
run --values=u32 -B 37 --min=0 --max=60000 one two.zst
rows "several FILEs"
run --values=u32 -B 37 --min=0 --max=60000 /dev/null one /dev/null two
rows "empty FILEs between"

# --- a value that is not whole ---

head -c 4001 in >cut
"$HELPERS/make_zstd" -f 1000 <cut >cut.zst
for file in cut cut.zst; do
    run --values=u32 -B 3 $file
    refuses "$file" 1 "gpuhisto: $file: ends inside a value, after 1 of its 4 bytes"
    run --values=u32 -B 3 <$file
    refuses "$file, standard input" 1 "standard input: ends inside a value"
    cat $file | run --values=u32 -B 3
    refuses "$file, pipe" 1 "standard input: ends inside a value"
    run --values=u32 -B 3 one $file one
    refuses "$file among others" 1 "$file: ends inside a value"
done
printf 'abc' | run --values=u64 -B 3
refuses "less than one" 1 "3 of its 8 bytes"
printf '' | run --values=u64 -B 1
check "nothing: status" [ "$(cat status)" -eq 0 ]

# --- edges above 2^64, up to BASE times that ---

for base in 1000:1000000000000000000000 1000000:1000000000000000000000000 7:27368747340080916343; do
    printf '\377\377\377\377\377\377\377\377' |
        run --values=u64 --log=${base%%:*} --min=1 --max=18446744073709551615
    check "--log=$base: the last edge" grep -q "^${base#*:}${tab}" out
done

# --- usage ---

# --- more rows than each thread can have a table for: their counts are in pages ---

case $ENGINE in
*gpu*) ;;
*)
    # With --each counts are not in pages.
    data uniform 800000 7 >in
    data text 200000 >>in
    for digits in 4 5; do
        run --each --values=f64 --digits=$digits in
        cut -f 2- out >expected
        for threads in 1 7; do
            run --values=f64 --digits=$digits --threads=$threads in in in
            awk -F '\t' -v OFS='\t' '{ $2 *= 3; print }' expected >thrice
            counts "--digits=$digits, $threads threads" thrice
        done
    done
    ;;
esac

usage()
{
    text_=$1
    shift
    run "$@" in
    refuses "usage: $*" 2 "$text_"
}
usage "--values=u7: must be u8, u16" --values=u7
usage "cannot be combined" --values=u8 --bytes
usage "cannot be combined" --values=u8 --letters
usage "--bins needs --numbers, --values" --bins=3
usage "--values=u32 needs --bins, --digits, --edges or --log" --values=u32
usage "--values=i24 needs --bins, --digits, --edges or --log" --values=i24 -sp
usage "--bins=0: must be a whole number from 1 to 16777216" --values=u32 --bins=0
usage "--bins=16777217: must be" --values=u32 --bins=16777217
usage "--edges=2,1: must be in ascending order" --values=u32 --edges=2,1
usage "--log=2 needs --min and --max; without these, use --log for edges at 1, 2 and 5 times powers of ten" --values=u32 --log=2
usage "--max=5: must be greater than --min=5" --values=f32 --bins=3 --min=5 --max=5
ENGINE= usage "--device=gpu: the GPU cannot count integers with --digits" --values=u32 --digits=3 --device=gpu
ENGINE= usage "--device=gpu: the GPU cannot count values of u24" --values=u24 -B 3 --device=gpu
ENGINE= usage "--kernel=lanes: cannot count" --values=i24be -B 3 --kernel=lanes
ENGINE= usage "--kernel=bitsliced: cannot count in this mode" --values=u32 -B 3 --kernel=bitsliced
ENGINE= usage "--kernel=matched: cannot count in this mode" --bytes --kernel=matched

# --- whole values below --bins, which most are not ---

data text 2000 >samples
for type in 'u8:--min=0 --max=256' 'i8:--min=-128 --max=128' 'u16be:--min=0 --max=65536' \
    'i16:--min=-32768 --max=32768'; do
    run --values="${type%%:*}" -B 8 samples
    message "${type%%:*} above --bins" "gpuhisto: warning: --bins=8: " " values are not from 0 to 7; to cover all of them, use ${type##*:}"
    run --values="${type%%:*}" -B 8 ${type##*:} samples
    check "${type%%:*} above --bins: what to use" awk -F '\t' 'NR == 1 || $3 == "inf" { n += $2 } END { exit n > 0 }' out
done
run --values=u32 -B 8 samples
message "u32 above --bins" "values are not from 0 to 7; use --min and --max (--stats prints the range)"
for bins in '-B 116' '-B 8 --min=0 --max=8'; do
    run --values=u8 $bins samples
    refute "u8, $bins" [ -s err ]
done

# --- decades over what was seen ---

printf '\377\377\001\000\000\000\200\000\000\200' >samples
decades()
{
    run -q "$@" samples
    cut -f 1,2 out | tr '\t\n' ': '
}
check "--log: u16" [ "$(decades --values=u16 --log)" = \
    "0:1 1:1 2:0 5:0 10:0 20:0 50:0 100:1 200:0 500:0 1000:0 2000:0 5000:0 10000:0 20000:1 50000:1 invalid:0 " ]
check "--log=10: i16" [ "$(decades --values=i16 --log=10)" = \
    "-100000:1 -10000:0 -1000:0 -100:0 -10:0 -1:1 0:1 1:1 10:0 100:1 invalid:0 " ]
check "--log: i8" [ "$(decades --values=i8 --log --nonzero)" = "-200:2 -1:2 0:5 1:1 " ]
check "--log=10: u64" [ "$(decades --values=u64be --log=10 --length=8)" = "10000000000000000000:1 invalid:0 " ]
case $ENGINE in
*--device=gpu*) ;; # no kernel tells channels apart
*) check "--log: channels" [ "$(decades --values=u8 --log=10 --channels=5 --nonzero)" = "0:1 1:0 100:1 " ] ;;
esac
check "--log: f32" [ "$(decades --values=f32 --log --length=8)" = "5e-324:1 1e-38:1 invalid:0 " ]

# --- one value over and over, in bins over what was seen ---

printf '%s\t%s\t%s\n' -inf 0 7 7 3 7.01 7.01 0 inf >expected
echo "invalid${tab}0" >>expected
printf '\000\000\340\100\000\000\340\100\000\000\340\100' >single
run -q --values=f32 -B 10 single
counts "-B of one f32" expected
printf '\100\340\000\000\100\340\000\000\100\340\000\000' | run -q --values=f32be -B 10
counts "-B of one f32be" expected
printf '\000\000\000\000\000\000\034\100%.0s' 1 2 3 | run -q --values=f64 -B 10
counts "-B of one f64" expected
sed 's/invalid.*/invalid\t1/' expected >invalid
{ cat single && printf '\000\000\300\177'; } | run -q --values=f32 -B 10
counts "-B of one f32 and NaN" invalid
{ cat single && printf '\000\004\340\100'; } | run --values=f32 -B 10
message "-B of two f32 in a bin" "gpuhisto: --bins=10: for narrower bins, use --min=7 --max=7.01"

summary

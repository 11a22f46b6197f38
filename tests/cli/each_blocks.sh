#!/bin/sh
# SPDX-License-Identifier: MIT
# --each=SIZE: the result of each block of content is that of oracle_blocks.py, however long blocks are, wherever the
# content is cut, and however it comes; and there is none at all if it cannot be read, or if there is too much.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

oracle="$python $srcdir/tests/helpers/oracle_blocks.py"

# expect WHAT SIZE [OPTION]... FILE[=NAME]...: makes the table that is expected; sets `options`, which print it, and
# `columns`, those of it that are compared, also with a name before them.
expect()
{
    what=$1 size=$2
    $oracle "$@" >expected || broken "oracle_blocks.py $*"
    case $what in
    bytes) options="--bytes --nonzero" columns=1-3 named=1-4 ;;
    letters) options=-l13 columns=1-3 named=1-4 ;;
    entropy) options="--bytes -s" columns=1-4 named=1-5 ;;
    u64) options="--values=$what --digits=1 -s" columns=1,2,4,5 named=1,2,3,5,6 ;;
    *) options="--values=$what --digits=1 -s" columns=1,2,4-6 named=1,2,3,5-7 ;;
    esac
    options="$options --each=$size -q"
}

# shows CASE [COLUMNS]: the last run printed that.
shows()
{
    read -r status <status
    check "$what, $size, $1: status" [ "$status" -eq 0 ]
    cut -f"${2:-$columns}" out >rows
    case $options in
    *' -s '*) sed -i 1d rows ;;
    esac
    same "$what, $size, $1" expected rows
}

# --- blocks of every size, in pieces of every size ---

data uniform 24000 1 >image
data text 3000 2 >text
printf 'x' >one
: >none
for size in 1 2 7 63 64 65 1000 4095 4096 4097 23999 24000 24001 1000000; do
    expect bytes $size image
    for chunk in $(few 2 1 64 4096 8M); do
        run $options --chunk-size=$chunk image
        shows "chunks of $chunk"
    done
    for threads in $(few 3 1 2 3 4 5 6 7 8); do
        run $options --chunk-size=64 --threads=$threads image
        shows "$threads threads"
    done
    run $options <image
    shows "standard input"
done
for what in bytes letters entropy u8 u16 u24be i32 u64; do
    for size in 24 240 6000; do
        expect $what $size image
        run $options image
        shows "a file"
        run $options --chunk-size=48 --threads=4 image
        shows "a file in pieces"
        "$HELPERS/dribble" -n 997 -u 300 <image | run $options
        shows "a pipe"
        expect $what $size --skip=480 --length=9600 image
        run $options --skip=480 --length=9600 image
        shows "a part of it"
        run $options --skip=480 --length=9600 <image
        shows "a part of standard input"
        cat image | run $options --skip=480 --length=9600
        shows "a part of a pipe"
    done
done
expect bytes 5 text
head -c 300 text >few
expect letters 7 few
"$HELPERS/dribble" <few | run $options
shows "a pipe, byte by byte"
expect bytes 10 one
run $options one
shows "a byte"
run --each=10 none
: >expected
counts "an empty file" expected
run --each=10 -s none
counts "statistics of an empty file" expected
run --each=10 --header -l26 none
printf 'offset\tbin\tcount\n' >expected
counts "an empty file: header" expected
run --each=10 -p none
: >expected
counts "plot of an empty file" expected

# --- every cut, plain and compressed ---

if [ "$SCALE" = full ] && [ "$SANITIZED" = no ]; then step=1; else step=37; fi
head -c 330 image >short
cut=1
expect u24 30 short
while [ $cut -le 330 ]; do
    run $options --chunk-size=$cut short
    shows "chunks of $cut"
    "$HELPERS/make_zstd" -f $cut <short >short.zst
    run $options --threads=3 short.zst
    shows "frames of $cut"
    "$HELPERS/make_zstd" -n -f $cut <short | run $options
    shows "frames of $cut through a pipe"
    cut=$((cut + step))
done

# --- compressed files, decoded by several threads ---

data text $([ "$SCALE" = small ] && echo 1100000 || echo 3000000) 3 >log
data uniform 700000 4 >noise
"$HELPERS/make_zstd" -f 10000 <log >frames.zst
"$HELPERS/make_zstd" <log >frame.zst
"$HELPERS/make_zstd" -n -f 100001 <noise >unsized.zst
gzip -c log >log.gz
"$HELPERS/make_gzip" -B -m 50000 <noise >members.gz
for size in 1000 65536 1000000; do
    for what in letters entropy u16; do
        expect $what $size log
        for threads in $(few 2 1 2 4 8); do
            for file in frames.zst frame.zst log.gz; do
                run $options --threads=$threads $file
                shows "$file, $threads threads"
                cat $file | run $options --threads=$threads
                shows "$file through a pipe, $threads threads"
            done
        done
        expect $what $size noise
        for threads in $(few 2 1 2 4 8); do
            for file in unsized.zst members.gz; do
                run $options --threads=$threads $file
                shows "$file, $threads threads"
            done
        done
        expect $what $size --skip=100000 --length=300000 noise
        for threads in $(few 2 1 2 4 8); do
            for file in unsized.zst members.gz; do
                run $options --threads=$threads --skip=100000 --length=300000 $file
                shows "a part of $file, $threads threads"
            done
        done
    done
done

# --- several files: offsets of each from 0 on ---

for what in bytes entropy; do
    expect $what 6000 image one none log=frames.zst text noise=members.gz image
    for threads in $(few 2 1 2 8); do
        run $options --threads=$threads image one none frames.zst text members.gz image
        shows "files, $threads threads" "$named"
    done
done
expect letters 1000 text=- image
run $options - image <text
shows "standard input and a file" "$named"

# --- headers: blocks begin where the values do ---

if python3 -c 'import numpy' 2>/dev/null; then
    python3 -c "
import numpy
numpy.save('values.npy', numpy.frombuffer(open('image', 'rb').read(), dtype='<u2'))"
    header=$(($(wc -c <values.npy) - 24000))
    expect u16 600 --skip=$header values.npy
    run $options values.npy
    shows "after a header"
else
    skip_part "a header: NumPy is not installed"
fi

# --- pairs, and two histograms at once ---

run --pairs=aligned --each=4 -q one
refuses "half a pair" 1 "one: ends inside a pair"
printf 'abcdab' >pairs
printf '0\t0x6162\t1\n0\t0x6364\t1\n4\t0x6162\t1\n' >expected
run --pairs=aligned --each=4 pairs
cut -f1-3 out >rows
same "pairs" expected rows
printf '0\ta-z\t2\n4\ta-z\t1\n\n0\t0x61\t2\n2\t0x41\t2\n4\t0x61\t1\n' >expected
printf 'aaAAa' >letters
run -l26 --each=2 --also -b --nonzero letters
cut -f1-3 out >rows
same "two histograms" expected rows

# --- formats ---

printf 'abcxyz??' >a
cat >expected <<'END'
file,offset,bin,count,share,running
a,0,a-m,3,60.0000,60.0000
a,0,n-z,2,40.0000,100.0000
a,5,a-m,0,0.0000,0.0000
a,5,n-z,1,33.3333,33.3333
"b ""c",0,a-m,3,60.0000,60.0000
"b ""c",0,n-z,2,40.0000,100.0000
"b ""c",5,a-m,0,0.0000,0.0000
"b ""c",5,n-z,1,33.3333,33.3333
END
cp a 'b "c'
run -l13 --each=5 -F csv --header --percent a 'b "c'
counts "csv" expected
cat >expected <<'END'
{"schema":"gpuhisto/1","offset":0,"mode":"letters","options":["--letters=26"],"total":5,"counted":5,"other":0,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":5}]}
{"schema":"gpuhisto/1","offset":5,"mode":"letters","options":["--letters=26"],"total":3,"counted":1,"other":2,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":1}]}
END
run -l26 --each=5 -F json a
counts "json" expected
run -l26 --each=5 -F json a a
check "json, files" [ "$(grep -c '^{"schema":"gpuhisto/1","file":"a","offset":[05],"mode"' out)" -eq 4 ]
cat >expected <<'END'
==> a, offset 0 <==
a-m  3  60.00  #########################
n-z  2  40.00  #################

==> a, offset 5 <==
a-m  0   0.00
n-z  1  33.33  #########################

==> one, offset 0 <==
a-m  0    0.00
n-z  1  100.00  ########################
END
COLUMNS=40 run -l13 --each=5 -p a one
counts "plot, files" expected
run -l13 --each=5 -p a
check "plot, a file" [ "$(head -n 1 out)" = "==> offset 0 <==" ]
run --values=u8 --channels=2 --each=4 -s a
cut -f1-5 out >rows
cat >expected <<'END'
offset	channel	count	invalid	min
0	1	2	0	97
0	2	2	0	98
4	1	2	0	63
4	2	2	0	63
END
same "channels" expected rows
run --values=u8 --edges=0,100,256 --right --each=5 -F prometheus a
check "prometheus" grep -q '^gpuhisto_values_bucket{offset="5",le="100.0"} 2$' out
run --values=u8 --edges=0,100,256 --right --each=5 -F prometheus a one
check "prometheus, files" grep -q '^gpuhisto_values_bucket{file="a",offset="5",le="100.0"} 2$' out
check "prometheus, files: count" grep -q '^gpuhisto_values_count{file="a",offset="0"} 5$' out
run -l13 --each=5 -F json a a
cp out table.json
ENGINE='' run --merge table.json
printf 'a-m\t6\nn-z\t6\n' >expected
counts "--merge adds blocks up" expected
run --each=5 -s image -o table
refute "--output: nothing on standard output" [ -s out ]
check "--output" [ "$(wc -l <table)" -eq 4801 ]

# --- what is refused ---

refused()
{
    text=$1
    shift
    ENGINE='' run "$@" image
    refuses "$*" 2 "$text"
}
refused "--each=5 needs --bytes, --letters or --values, as blocks cut lines" -n --each=5
refused "as blocks cut characters" -c --each=5
refused "as blocks cut characters" --bytes --each=5 --also --categories
refused "needs --pairs=aligned" --pairs --each=6
refused "--each=6: blocks must hold whole values of 4 bytes; use --each=8" --values=u32 --digits=2 --each=6
refused "use --each=12" --values=u16 --digits=2 --channels=3 --each=8
refused "the GPU cannot count blocks separately; use --device=cpu" --each=5 --device=gpu
refused "--each=0: must be a size" --each=0
refused "--each=x: must be a size" --each=x
refused "--by and --each cannot be combined" --by=1 --each=5
refused "--interval and --each cannot be combined" --interval=1 --each=5
ENGINE='' run_as "$GPUHISTO" --each=24000 -s image
check "auto counts on the CPU" [ "$(wc -l <out)" -eq 2 ]
run --each=10 -l a missing
refuses "a file that is missing" 1 "missing: No such file"
head -c 1000 frame.zst >bad.zst
run --each=1000 bad.zst
refuses "a file that is truncated" 1 "bad.zst: "

# --- too many blocks: memory is bounded ---

if [ "$SANITIZED" = no ] && [ "$SCALE" = full ]; then
    truncate -s 1G zeros
    run --each=1 -s zeros
    refuses "a thousand million blocks" 1 "the counts of all blocks take more than 1024 MiB; use larger blocks, such as --each=4,"
    run --each=1M -s zeros
    check "a thousand blocks" [ "$(sort -u -k2 out | wc -l)" -eq 2 ]
    check "a thousand blocks: all of them" [ "$(wc -l <out)" -eq 1025 ]
else
    skip_part "a file of 1 GiB"
fi

summary

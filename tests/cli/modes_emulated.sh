#!/bin/sh
# SPDX-License-Identifier: MIT
# Every mode on the emulated GPU, in chunks that cut samples: as the CPU counts it, from a file, a pipe, zstd frames,
# gzip, several files, a range and shares. What the CPU counts, the scripts of the modes compare with oracles; what
# kernels count, tests/device does.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --chunk-size=16K"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

data text 60000 2 >text
data uniform 40000 1 >bytes
awk 'BEGIN {
    for (i = 1; i <= 4000; i++)
        printf "%d.%d %s\t%d%s", i * 7919 % 100003, i % 97, i % 50 ? "rt=" i % 613 : "none", i * i % 1009, i % 7 ? "\n" : "\n\n"
}' >lines
tr '\t ' '\n\n' <lines | grep -v = | head -n 9000 >numbers
printf 'a\303\251\342\202\254\360\237\230\200' >few
cat text bytes few few few >characters
for file in text bytes lines numbers characters; do
    "$HELPERS/make_zstd" -f 17001 <$file >$file.zst
    "$HELPERS/make_gzip" -m 23001 <$file >$file.gz
done
with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | run 2>/dev/null && [ "$(cat status)" -eq 0 ]; then with_gzip=no; fi
[ $with_gzip = yes ] || skip_part "gzip: built without ISA-L"
share=no
if can_share; then share=yes; else skip_part "shares: $why_not"; fi

# on_cpu ARGUMENT...: leaves what the CPU prints, its messages and its status in expected, told and meant.
on_cpu()
{
    "$GPUHISTO" --device=cpu "$@" >expected 2>told
    meant=$?
}

# alike CASE: the last run ended as on_cpu did.
alike()
{
    read -r status <status
    if [ "$status" -eq "$meant" ] && cmp -s expected out && cmp -s told err; then
        passed
    else
        failed "$1: status $status, expected $meant; table and message expected (-), actual (+)"
        cat told err | sed 's/^/  /'
        diff -u expected out | sed -n '1,12p'
    fi
}

# mode FILE OPTION...: all ways in, for one mode.
mode()
{
    file=$1
    shift
    on_cpu "$@" $file
    run "$@" $file
    alike "$* $file"
    run "$@" $file.zst
    sed "s/$file\.zst/$file/" err >named && mv named err
    alike "$* $file.zst"
    on_cpu "$@" <$file
    cat $file | run "$@"
    alike "$*, a pipe"
    if [ $with_gzip = yes ]; then
        run "$@" <$file.gz
        alike "$*, gzip"
    fi
    each=--each
    [ "$1" != --characters ] || each= # too many rows for a result for each file
    on_cpu "$@" $each --skip=4 --length=20004 $file $file.zst $file
    run "$@" $each --skip=4 --length=20004 $file $file.zst $file
    alike "$*, a range of each file"
    [ $share = yes ] || return
    on_cpu "$@" $file.zst $file
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -q "$@" --part=$k/3 -F json $file.zst $file >share.$k
    done
    "$GPUHISTO" --merge share.1 share.2 share.3 >out 2>err
    echo $? >status
    : >told # warnings are of each share
    alike "$*, three shares"
}

mode text --bytes
mode text --letters=4 --fold-case
mode bytes --values=u8 --bins=10
mode bytes --values=i16 --bins=100 --min=-30000 --max=30000
mode bytes --values=u32be --log=2 --min=1 --max=4294967295
mode bytes --values=f32
mode bytes --values=f64 --edges=-1e9,0,1e-9,1
mode numbers --numbers
mode numbers -n --bins=7 --min=0 --max=100000
mode lines --numbers --invalid=skip
mode lines -n --field=-1
mode lines -n --after=rt= --digits=2
mode characters --characters
mode characters --categories
mode characters --blocks
mode text --pairs
mode bytes --pairs=aligned

# Round bins are those of the CPU, which sees the numbers and not only their bins.
for words in 5 '5.001 7.001' '5 5.001' '-5.001' '4.999 5' '-3 -0 2' '-0 0' '0.5 5' '1000 1002' 'nan 7' '1e300 -1e300 7.001'; do
    for digits in 1 3 5; do
        on_cpu -nq -B 10 --digits=$digits <<end
$words $words $words
end
        run -nq -B 10 --digits=$digits <<end
$words $words $words
end
        alike "-B of $words, $digits digits"
    done
done
summary

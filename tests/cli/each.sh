#!/bin/sh
# SPDX-License-Identifier: MIT
# --each: the result of each FILE is that of a run of its own, however FILEs come, in their order and
# with the name first; and there is none at all if one of them cannot be read.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

# one_by_one ARGUMENT... -- FILE...: what --each must print as TSV, made by a run for each FILE.
one_by_one()
{
    given_=
    while [ "$1" != -- ]; do
        given_="$given_ $1"
        shift
    done
    shift
    for file_ in "$@"; do
        "$GPUHISTO" --device=cpu -q $given_ "$file_" | sed "s|^|$file_$tab|"
    done >expected
}
# each ARGUMENT... -- FILE...: prints the same.
each()
{
    one_by_one "$@"
    run -q --each "$@"
    counts "$*" expected
}

# --- FILEs of every size, more than there are workers and tables ---

mkdir dir
set --
for i in 1 2 3 4 5 6 7 8 9; do
    for size in 0 1 2 100 5000; do
        data text $size $i >dir/$size.$i
        set -- "$@" dir/$size.$i
    done
done
data text 700000 1 >dir/large
data uniform 300000 2 >dir/larger
data same 4 >dir/x.4
for options in --bytes --letters "-fl3" "--values=u8 -B 7 --min=10 --max=90"; do
    for threads in 1 2 8; do
        each $options --threads=$threads -- "$@" dir/large dir/x.4 dir/larger
        each $options --threads=$threads -- dir/larger "$@" dir/large
    done
    each $options -- dir/x.4
    each $options -- dir/large dir/large dir/x.4 dir/large
done
for chunk in 1 7 4096; do
    each -l --chunk-size=$chunk -- dir/100.1 dir/1.1 dir/0.1 dir/5000.2 dir/2.1
done

# --- numbers, which are cut anywhere ---

numbers=
for i in 1 2 3 4 5 6 7 8; do
    seq "$i" "$((i * 37))" $((i * 4000)) | tr '\n' ' ' >dir/n$i
    numbers="$numbers dir/n$i"
done
printf '1e300 -5 .25' >dir/few
printf ' 7 x\n\n y8' >dir/odd
: >dir/none
for threads in 1 2 8; do
    each -n --threads=$threads -- dir/few $numbers dir/none dir/odd
    each -n -B 9 --min=0 --max=9999 --threads=$threads -- $numbers dir/few dir/odd
done
for chunk in 1 64 1000; do
    each -n --chunk-size=$chunk -- dir/few dir/odd dir/n8 dir/none dir/n1
done
each -n --invalid=skip --percent -- dir/few dir/odd

# --- compressed FILEs, side by side, cut within numbers and values ---

"$HELPERS/make_zstd" -f 1000 <dir/large >dir/many.zst
"$HELPERS/make_zstd" <dir/larger >dir/one.zst
"$HELPERS/make_zstd" -f 7 <dir/5000.1 >dir/tiny.zst
some="1 2 8"
case $ENGINE in *--device=gpu*) some=2 ;; esac # a GPU takes a second for the tiny frames, whoever reads them
for threads in $some; do
    each --bytes --threads=$threads -- dir/many.zst dir/one.zst dir/100.1 dir/tiny.zst dir/large
done
head -c 299997 dir/larger | "$HELPERS/make_zstd" -n -f 1001 >dir/cut.zst
each --values=u24 -B 5 --min=0 --max=16777216 --device=cpu -- dir/cut.zst dir/cut.zst
mkfifo dir/fifo
cat dir/large >dir/fifo &
one_by_one --bytes -- dir/large
sed 's|^dir/large|dir/fifo|' expected >first
one_by_one --bytes -- dir/100.1 dir/many.zst
cat first expected >all
run --each dir/fifo dir/100.1 dir/many.zst
counts "a fifo before files" all
wait $!

printf 'abc' >a
printf 'xyz?' >'b "c'
printf '1 1 3' >one
printf '2' >two

# --- statistics: those of a run for each FILE, in one row ---

# statistics_of FILE ARGUMENT...: the row of statistics, made of the column of a run of its own.
statistics_of()
{
    file_=$1
    shift
    "$GPUHISTO" --device=cpu -q "$@" --stats "$file_" | awk -F '\t' -v file="$file_" -v OFS='\t' '
    {
        row = row OFS $2
        if ($1 ~ /^p[0-9]/) row = row OFS ($3 == "" ? $2 : $3)
    }
    END { print file row }'
}
ENGINE_=$ENGINE
ENGINE=--device=cpu
for options in -b -l "-n --quantiles=0,0.5,1" "-n -B 5 --min=0 --max=9999" --values=u8 --values=f64 \
    "-n --invalid=skip"; do
    set -- dir/few dir/none dir/n1 dir/odd dir/n8
    case $options in
    --values=f64)
        options="$options --edges=-1,0,1"
        set -- dir/x.4.8 dir/5000.2 dir/none
        head -c 80 dir/larger >dir/x.4.8
        ;;
    esac
    case $options in
    -b | -l) ENGINE=$ENGINE_ ;;
    *) ENGINE=--device=cpu ;;
    esac
    for threads in 1 3; do
        for file in "$@"; do statistics_of $file $options; done >expected
        run -q --each --stats $options --threads=$threads "$@"
        sed 1d out >rows
        same "statistics, $options, $threads threads" expected rows
        tr '\t' , <out >expected
        run -q --each --stats $options -F csv "$@"
        same "statistics, $options, csv" expected out
    done
done
ENGINE=$ENGINE_

# --- what fails, fails as a whole ---

head -c 2000 dir/many.zst | head -c 1500 >dir/bad.zst
run --each -l a dir/bad.zst 'b "c'
refuses "a FILE that is truncated" 1 "dir/bad.zst: "
printf '\1\0\0\0' >number
printf 'number\t-inf\t0\t0\nnumber\t0\t0\t1\nnumber\t1\t1\t2\n' >expected
ENGINE='' run_as "$GPUHISTO" --each --values=u32 --bins=70000 number
head -n 3 out >shown
same "too many bins for a GPU: auto counts on the CPU" expected shown

if can_interpose; then
    case $ENGINE in
    *gpu*) ;;
    *)
        # Some allocations are those of a FILE's counts.
        lost=0
        n=1
        one_by_one -b -- a one two number
        while [ $n -lt 60 ]; do
            run_as env FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 \
                LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE --threads=1 --each a one two number
            if [ "$(cat status)" -eq 0 ]; then
                counts "allocation $n fails, and is not needed" expected
            else
                lost=$((lost + 1))
                refuses "allocation $n fails" 1 "gpuhisto: "
            fi
            n=$((n + 1))
        done
        check "allocations failed" [ $lost -ge 8 ]
        ;;
    esac
else
    skip_part "allocations that fail: $why_not"
fi

# --- thousands of small FILEs ---

if [ "$SCALE" = full ]; then files=5000; else files=300; fi
mkdir small
i=0
set --
while [ $i -lt $files ]; do
    printf '%d %d\n' "$i" $((i * i)) >small/$i
    set -- "$@" small/$i
    i=$((i + 1))
done
run --each --letters=26 "$@"
check "small FILEs: rows" [ "$(wc -l <out)" -eq $files ]
cut -f 1 out >names
printf '%s\n' "$@" >expected
same "small FILEs: in order" expected names
run --each --bytes --nonzero "$@"
check "small FILEs: newlines" [ "$(grep -c "${tab}0x0a${tab}1${tab}" out)" -eq $files ]

summary

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
run -n --each dir/few dir/odd dir/none
message "the first invalid token of all" "dir/odd: line 1: 'x' is not a number"
run -n --each --invalid=error dir/few dir/odd
refuses "--invalid=error" 1 "dir/odd: line 1: 'x' is not a number"

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

# --- formats ---

printf 'abc' >a
printf 'xyz?' >'b "c' # a blank and a double quote
newline='d
e\f'
printf 'a' >"$newline"
cat >expected <<'EOF_'
file	bin	count	share	running
a	a-i	3	100.0000	100.0000
a	j-r	0	0.0000	100.0000
a	s-z	0	0.0000	100.0000
b \x22c	a-i	0	0.0000	0.0000
b \x22c	j-r	0	0.0000	0.0000
b \x22c	s-z	3	75.0000	75.0000
d\x0ae\\f	a-i	1	100.0000	100.0000
d\x0ae\\f	j-r	0	0.0000	100.0000
d\x0ae\\f	s-z	0	0.0000	100.0000
EOF_
run --each -l9 --header --percent a 'b "c' "$newline"
counts "tsv" expected
cat >expected <<'EOF_'
file,bin,count
a,a-i,3
a,j-r,0
a,s-z,0
"b ""c",a-i,0
"b ""c",j-r,0
"b ""c",s-z,3
d\x0ae\\f,a-i,1
d\x0ae\\f,j-r,0
d\x0ae\\f,s-z,0
EOF_
run --each -l9 --header -F csv a 'b "c' "$newline"
counts "csv" expected
cat >expected <<'EOF_'
{"schema":"gpuhisto/1","file":"a","mode":"letters","options":["--letters=26"],"total":3,"counted":3,"other":0,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":3}]}
{"schema":"gpuhisto/1","file":"b \"c","mode":"letters","options":["--letters=26"],"total":4,"counted":3,"other":1,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":3}]}
{"schema":"gpuhisto/1","file":"d\u000ae\\f","mode":"letters","options":["--letters=26"],"total":1,"counted":1,"other":0,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":1}]}
EOF_
run --each -l26 -F json a 'b "c' "$newline"
counts "json" expected
cat >expected <<'EOF_'
==> a <==
0x61  1  33.33  a  ###################
0x62  1  33.33  b  ###################
0x63  1  33.33  c  ###################

==> b "c <==
0x3f  1  25.00  ?  ###################
0x78  1  25.00  x  ###################
0x79  1  25.00  y  ###################
0x7a  1  25.00  z  ###################
EOF_
COLUMNS=38 run --each -p a 'b "c'
counts "plot" expected
cp a copy
run --each -l26 <copy
printf -- '-\ta-z\t3\n' >expected
counts "standard input" expected
run --each -l26 - a <copy
printf -- '-\ta-z\t3\na\ta-z\t3\n' >expected
counts "standard input and a FILE" expected
run --each -l26 --nonzero a 'b "c' -o table
refute "--output: nothing on standard output" [ -s out ]
cp table out
printf 'a\ta-z\t3\nb \\x22c\ta-z\t3\n' >expected
counts "--output" expected

printf '1 1 3' >one
printf '2' >two
cat >expected <<'EOF_'
file	lo	count	hi
one	-inf	0	0
one	0	2	2
one	2	1	4
one	4	0	inf
one	invalid	0
two	-inf	0	0
two	0	0	2
two	2	1	4
two	4	0	inf
two	invalid	0
EOF_
run -n --each --header --edges=0,2,4 one two
counts "numbers" expected

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
cat >expected <<'EOF_'
file	count	invalid	min	max	sum	mean	stddev	p0	p0_upper	p60	p60_upper
one	3	0	1	3	5	1.6666666666666667	0.9428090415820634	1	1	1	2
two	1	0	2	2	2	2	0	2	2	2	2
EOF_
run -n --each --edges=0,2,4 --quantiles=0,0.6 one two
counts "quantiles" expected
run -n --each --edges=0,2,4 --quantiles=0 -F json one two
check "quantiles, json: an object a line" [ "$(grep -c '^{"schema":.*"quantiles":\[{"q":0,.*}\],"stats":{.*},"moments":{.*}}$' out)" -eq 2 ]
run -n --each -p --edges=0,2,4 --quantiles=0 one two
check "quantiles, plot: two parts" [ "$(grep -c '^p0  ' out)" -eq 2 ]
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
run -q --each -ns one two
check "statistics: the first row" [ "$(sed -n 1p out | cut -f 1-4,9-10)" = \
    "file${tab}count${tab}invalid${tab}min${tab}p50${tab}p50_upper" ]
run -q --each -ns -F json one two
check "statistics, json" [ "$(grep -c '^{.*"file":.*"stats":{"count":[13],.*}}$' out)" -eq 2 ]
run -q --each -nps one two
check "statistics, plot" [ "$(grep -c '^==> .* <==$' out)" -eq 2 ]
# Of compressed files it is said, once, what the entropy is of.
"$HELPERS/make_zstd" <one >one.zst
"$HELPERS/make_zstd" <two >two.zst
run --each -s one one.zst two.zst
message "entropy of compressed files" "their entropy is that of the content; use --decompress=none"
check "entropy of compressed files: one line" [ "$(wc -l <err)" -eq 1 ]
for options in "-q one.zst" "-n one.zst" "-d none one.zst" "one two"; do
    run --each -s $options
    check "entropy, $options" [ ! -s err ]
done
ENGINE=$ENGINE_

# --- what fails, fails as a whole ---

run --each -l a missing 'b "c'
refuses "a FILE that is missing" 1 "missing: No such file"
head -c 2000 dir/many.zst | head -c 1500 >dir/bad.zst
run --each -l a dir/bad.zst 'b "c'
refuses "a FILE that is truncated" 1 "dir/bad.zst: "
ENGINE='' run --each --values=u32 --bins=70000 --device=gpu a
refuses "too many bins for a GPU" 2 "--each: the GPU cannot count files separately with 70003 bins"
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

# --- long names ---

printf '1\n2\n' >numbers
name=$(printf './%.0s' $(seq 600))numbers
run --each -np "$name"
check "a long name: its heading" [ "$(head -n 1 out)" = "==> $name <==" ]
run --each -n "$name"
check "a long name: its rows" [ "$(head -n 1 out)" = "$name${tab}1${tab}1${tab}1.01" ]

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

#!/bin/sh
# SPDX-License-Identifier: MIT
# --also: several histograms of one input. Each is what it is alone, wherever the input is cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900

# alone INPUT...: what the histograms of $histograms (options, separated by "|") are when each is counted
# alone, one after the other, in the file expected.
alone()
{
    first=yes
    : >expected
    echo "$histograms" | tr '|' '\n' | while read -r options; do
        [ $first = yes ] || echo >>expected
        first=no
        # shellcheck disable=SC2086
        "$GPUHISTO" $ENGINE $options "$@" >>expected
    done
}

# together OPTION...: the same in one pass.
together()
{
    # shellcheck disable=SC2046
    run $(echo "$histograms" | sed 's/|/ --also /g') "$@"
}

data text 300000 3 >text
data uniform 100000 4 >bytes
: >empty
printf x >one
data text 1024 5 >small
{
    cat bytes
    printf '\303'
} | tail -c 5000 >utf
printf '\251\342\202' >>utf
for file in text small utf one empty; do
    "$HELPERS/make_zstd" -f 1000 <$file >$file.zst
done
"$HELPERS/make_zstd" -n -f 7 <small >sevens.zst
"$HELPERS/make_zstd" -f 1 -k 2 <small >ones.zst

# --- what goes together, from files, pipes and frames ---

turn=0

for histograms in "-b|-l" "--bytes|--letters=26 -f|--pairs" "--pairs|-b" "--pairs|--bytes|--pairs|-l2" \
    "-c|-b" "-b|-c|--categories|--blocks" "-l|--blocks" "-b --nonzero|--pairs=aligned"; do
    for file in text bytes small utf one empty text.zst small.zst utf.zst sevens.zst ones.zst one.zst empty.zst; do
        case $histograms$file in
            *aligned*one* | *aligned*utf*) continue ;; # an odd byte
        esac
        alone $file
        for how in "" "--threads=1" "--threads=3 --chunk-size=4K" "--threads=3 --chunk-size=1"; do
            case $how$file in
                *=1text | *=1bytes | *=1text.zst) continue ;; # takes long
            esac
            turn=$((turn + 1))
            [ "$SCALE" != small ] || [ $((turn % 3)) -eq 0 ] || continue
            # shellcheck disable=SC2086
            together $how $file
            counts "$histograms: $file $how" expected
        done
        "$HELPERS/dribble" -n 1000 <$file | together
        counts "$histograms: $file, a pipe" expected
    done
    alone text small text.zst empty bytes
    together --threads=3 text small text.zst empty bytes
    counts "$histograms: several FILEs" expected
    alone --skip=3 --length=500 text sevens.zst
    together --skip=3 --length=500 text sevens.zst
    counts "$histograms: a range" expected
done

# --- every cut of a text ---

histograms="--pairs|-b|--letters=26"
sizes=$(seq 1 1026)
[ "$SCALE" != small ] || sizes="1 2 3 5 63 64 65 511 512 513 1023 1024 1025"
alone small
for size in $sizes; do
    together --chunk-size="$size" --threads=2 small
    counts "chunks of $size" expected
    "$HELPERS/dribble" -n "$size" <small | together
    counts "reads of $size" expected
    "$HELPERS/make_zstd" -f "$size" <small | together --threads=3
    counts "frames of $size" expected
done

# --- numbers: fields of the same lines, and other bins of the same samples ---

i=0
while [ $i -lt 3000 ]; do
    echo "$i $((i * 7 % 1000)).5 word$i,$((i % 13)) -$i"
    i=$((i + 1))
done >lines
"$HELPERS/make_zstd" -f 999 <lines >lines.zst
for histograms in "-n|-n --bins=10 --min=0 --max=1000" "-n -k1|-n -k2|-n -k-1 --digits=1" \
    "-nk1 --log=2:32|-nk2 --after=word" "-n -t, -k1|-nk2" "-n --edges=0,10,100|-n -B3 --min=0 --max=9|-n --digits=2"; do
    case $histograms in
        *after*) histograms="-nk1 --log=2:32|-n --after=word" ;;
    esac
    for file in lines lines.zst; do
        # shellcheck disable=SC2086
        alone -q $file
        together -q --threads=3 --chunk-size=4K $file
        counts "$histograms: $file" expected
        "$HELPERS/dribble" -n 77 <$file | together -q
        counts "$histograms: $file, a pipe" expected
        alone -q --invalid=skip $file
        together -q --invalid=skip $file
        counts "$histograms: $file, --invalid=skip" expected
    done
    alone -q -s lines
    together -q -s lines
    counts "$histograms: --stats" expected
done
for type in u8 u16 f32 f64; do
    histograms="--values=$type -B 7 --min=0 --max=200|--values=$type -B 3 --min=-1 --max=1"
    alone bytes
    together --threads=2 --chunk-size=4K bytes
    counts "$histograms" expected
done

# --- a result for each FILE ---

mkdir dir
set --
for size in 0 1 2 100 5000; do
    for i in 1 2 3; do
        data text $size $i >dir/$size.$i
        set -- "$@" dir/$size.$i
    done
done
for histograms in "-b|-l" "--pairs|-b|-l26 -f" "-c|-b|--categories" "--values=u8 -B 7 --min=10 --max=90|--values=u8 -B 3 --min=0 --max=99"; do
    for options in "--threads=1" "--threads=3" "--threads=2 --chunk-size=7" "--nonzero --percent" "-F json" "-q -s" "-p"; do
        # shellcheck disable=SC2086
        alone $options --each "$@" text.zst dir/5000.1
        case $options in
            *json*) sed -i '/^$/d' expected ;; # a line each
        esac
        # shellcheck disable=SC2086
        together $options --each "$@" text.zst dir/5000.1
        counts "$histograms: --each $options" expected
    done
done
seq 300 | tr '\n' ' ' >dir/numbers
seq 7 3 99 >dir/others
histograms="-n --digits=1|-n --digits=4|-n -B 9 --min=0 --max=99"
alone -n --each dir/numbers dir/others empty
together -n --each dir/numbers dir/others empty
counts "numbers: --each" expected

# --- shares: those of all add up, for each histogram ---

# sums FILE...: the counts of each row of each table, added up over FILEs.
sums()
{
    awk -F "$tab" 'FNR == 1 { table = 1 }
        /^$/ { table++; next }
        { sum[table FS $1] += $2 }
        END { for (row in sum) print row FS sum[row] }' "$@" | LC_ALL=C sort
}
case $SCALE in small) every="1 2 3 7" ;; *) every=$(seq 1 12) ;; esac
for histograms in "-b|-l" "--pairs|-b|-l" "-c|-b" "-b|--blocks|-c" "-n|-n --digits=1" "-n -k1|-n -k2"; do
    case $histograms in
        -n*) files="lines lines.zst empty" ;;
        *) files="small text.zst utf empty utf.zst small.zst one" ;;
    esac
    # shellcheck disable=SC2086
    together -q --nonzero $files
    sums out >expected
    for n in $every; do
        k=1
        set --
        while [ $k -le "$n" ]; do
            # shellcheck disable=SC2086
            together -q --nonzero --part=$k/"$n" $files
            cp out part.$k
            set -- "$@" part.$k
            k=$((k + 1))
        done
        sums "$@" >sum
        same "$histograms: $n shares" expected sum
    done
done
histograms="-b|-l"
alone -F json --part=2/3 small text.zst
sed -i '/^$/d' expected
together -F json --part=2/3 small text.zst
counts "a share in JSON" expected

# --- shares in JSON: those of one histogram are merged, and proved to be complete ---

histograms="-b|--letters=3"
for k in 1 2 3; do
    together -F json --part=$k/3 small text.zst
    cat out
done >parts
alone small text.zst
ENGINE='' run --merge parts
refuses "two histograms" 1 "parts: was counted with --letters=3, but parts with --bytes; merge the tables of one histogram at a time"
sed -n 'n;p' parts >letters
sed -n 'p;n' parts | ENGINE='' run --merge
cp out sum
ENGINE='' run --verbose --merge letters
check "the proof" grep -q "3 tables: all 3 shares of 2 files" err
{
    cat sum
    echo
    cat out
} >sums
same "merged shares" expected sums

# --- formats ---

histograms="-b|--pairs"
for options in "-F json" "-F csv --header" "-p" "--percent" "-s" "-s -F json" "--nonzero"; do
    # shellcheck disable=SC2086
    alone $options small
    case $options in
        *json*) sed -i '/^$/d' expected ;; # a line each
    esac
    # shellcheck disable=SC2086
    together $options small
    counts "$options" expected
done
together -o result small
alone small
same "--output" expected result
"$HELPERS/dribble" -n 100 -u 30000 <small | together --interval=0.1
tail -n "$(wc -l <expected)" out >last
same "--interval: the last tables" expected last

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# --part=K/N: the tables of all shares, added up, are the table of the whole, and the ranges in JSON
# tile each FILE.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
ENGINE=$ANY_MODE # many modes: none is counted by every kernel

# Numbers of shares: of few the ranges are long, of many some are empty. How a list of FILEs is cut does not
# depend on the engine, and a GPU takes long to start, as does a program with a sanitizer.
numbers="1 2 7 19" lists="1 3 17" statistics="2 3 5 7"
[ "$SCALE" != small ] || numbers="2 7" lists="1 17" statistics=5
[ "$SANITIZED" = no ] || numbers="1 2 7" statistics=5
case $ENGINE in *--device=gpu*) numbers=4 lists=3 statistics=5 ;; esac
[ "$SCALE" = small ] && every=$numbers || every="$(seq 1 20) 31 64"

# shares N ARGUMENT...: runs all N shares, and leaves their tables in all.
shares()
{
    of=$1
    shift
    : >all
    : >all.err
    k=1
    while [ $k -le "$of" ]; do
        "$GPUHISTO" $ANY_MODE --part=$k/"$of" "$@" >>all 2>>all.err || return
        k=$((k + 1))
    done
}

# add_up TABLE: adds up the tables in all, to rows in the order of TABLE, which has all of them. Counts
# are in columns 2 to 1 + COUNTS.
counts_=1
add_up()
{
    awk -F "$tab" -v OFS="$tab" -v counts="$counts_" '
        NR == FNR { order[++rows] = $1; rest[rows] = NF > 1 + counts ? OFS $NF : ""; is_row[$1] = 1; next }
        { for (i = 1; i <= counts; i++) sum[$1, i] += $(1 + i) }
        !($1 in is_row) { print "another row: " $0 }
        END {
            for (i = 1; i <= rows; i++) {
                printf "%s", order[i]
                for (j = 1; j <= counts; j++) printf "\t%.0f", sum[order[i], j]
                print rest[i]
            } }' "$1" all
}

# adds_up CASE ARGUMENT...: for each number of shares. With --all tables have the same rows.
adds_up()
{
    what=$1
    shift
    if ! "$GPUHISTO" $ANY_MODE "$@" >whole 2>err; then
        case $ENGINE in *--device=gpu*) grep -q 'the GPU cannot count .*; leave out --device' err && return ;; esac
        failed "$what: the whole"
        sed 's/^/  standard error: /' err
        return
    fi
    for n in $every; do
        if ! shares "$n" "$@"; then
            failed "$what: share $k of $n"
            sed 's/^/  standard error: /' all.err
            continue
        fi
        add_up whole >sum
        same "$what, $n shares" whole sum
    done
}

# tiles NAME N FILE...: the ranges in JSON of all N shares tile each FILE, and all tell the same list.
tiles()
{
    what=$1 of=$2
    shift 2
    if ! shares "$of" --format=json --nonzero "$@"; then
        case $ENGINE in *--device=gpu*) grep -q 'the GPU cannot count .*; leave out --device' all.err && return ;; esac
        failed "$what: share $k of $of as JSON"
        sed 's/^/  standard error: /' all.err
        return
    fi
    while [ -n "$1" ] && [ ! -e "$1" ]; do shift; done
    for file in "$@"; do wc -c <"$file"; done >sizes
    grep -o '"list":{[^}]*}' all | sort -u >lists
    check "$what: one list" [ "$(wc -l <lists)" -eq 1 ]
    check "$what: $# FILEs" grep -q "\"files\":$#,\"bytes\":$(awk '{ sum += $1 } END { print sum + 0 }' sizes)," lists
    # index, size, begin and end of each FILE of each share, in the order of the shares
    grep -o '"index":[0-9]*,"name":"[^"]*","size":[0-9]*,"fingerprint":"[0-9a-f]\{16\}","ranges":\[\[[0-9]*,[0-9]*\]\]' all |
        sed 's/"index":\([0-9]*\),.*"size":\([0-9]*\),.*\[\[\([0-9]*\),\([0-9]*\)\]\]/\1 \2 \3 \4/' >ranges
    awk 'NR == FNR { size[NR] = $1; files = NR; next }
         $2 != size[$1] { print "size of " $1 ": " $2 }
         $3 != done[$1] + 0 { print "a gap in " $1 " at " $3 }
         $1 < last { print "out of order: " $1 }
         $3 == $4 && $2 > 0 { print "an empty range of " $1 }
         { done[$1] = $4; seen[$1]++; last = $1 }
         END { for (i = 1; i <= files; i++) {
                   if (done[i] != size[i]) print "the end of " i " is missing: " done[i]
                   if (!seen[i]) print i " is missing"
                   if (size[i] == 0 && seen[i] != 1) print i " is there " seen[i] " times" } }' sizes ranges >gaps
    same "$what: $of shares tile the FILEs" /dev/null gaps
}

# --- the FILEs ---

awk 'BEGIN {
    for (i = 0; i < 1500; i++)
        printf "%s%s%s", i * i % 7919 / (i % 5 + 1), i % 7 ? i % 11 ? "" : "x" : "e-2",
               i % 3 ? " " : i % 4 ? "\n" : i % 5 ? " \n\n" : "\t"
}' >words
awk 'BEGIN { print "name size time"
    for (i = 0; i < 700; i++)
        printf "host%s %d rt=%s%s\n", i % 13 ? "" : "-with-a-longer-name-" i, i * 37 % 1009, i * i % 401 / 8,
               i % 17 ? "" : " \n"
}' >lines
awk 'BEGIN { print "name,size"
    for (i = 0; i < 500; i++) printf "\"a %s\",%d\n", i % 3 ? "" : "\"\"\n,", i * 37 % 1009
}' >quoted
data uniform 12003 5 | tr '\0' 'a' >odd
data uniform 12000 6 >values
: >empty
printf 7 >one
head -c 3001 words >few

# frames SIZE FILE: makes FILE.zst of frames of SIZE bytes, FILE.unsized likewise of frames that do not
# state their size, FILE.whole of one, and FILE.mixed with skippable, empty and large ones.
frames()
{
    "$HELPERS/make_zstd" -f "$1" <"$2" >"$2.zst"
    "$HELPERS/make_zstd" -c -n -f "$1" <"$2" >"$2.unsized"
    "$HELPERS/make_zstd" <"$2" >"$2.whole"
    {
        "$HELPERS/make_zstd" -K 300
        head -c 500 "$2" | "$HELPERS/make_zstd" -k 7 -f 3
        "$HELPERS/make_zstd" -n <empty
        "$HELPERS/make_zstd" <empty
        tail -c +501 "$2" | head -c 2000 | "$HELPERS/make_zstd" -l 19 -w 24 -f 999
        "$HELPERS/make_zstd" -n <empty
        "$HELPERS/make_zstd" -K 100
        tail -c +2501 "$2" | "$HELPERS/make_zstd" -k 1 -f "$1"
        "$HELPERS/make_zstd" -K 5
    } >"$2.mixed"
}
for file in words lines values odd; do
    frames 401 $file
done
frames 7 few
with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | run 2>/dev/null && [ "$(cat status)" -eq 0 ]; then with_gzip=no; fi
[ $with_gzip = yes ] || skip_part "gzip: built without ISA-L"
if [ $with_gzip = yes ]; then
    for file in words lines values odd few; do
        "$HELPERS/make_gzip" -m 500 <$file >$file.gz
        "$HELPERS/make_gzip" -B -m 401 -f -z 30 <$file >$file.bgz
    done
else
    for file in words lines values odd few; do
        cp $file $file.gz
        cp $file $file.bgz
    done
fi

# --- every kind of sample, from every kind of FILE ---

for kind in "" .zst .unsized .whole .mixed .gz .bgz; do
    all=$every
    case $SCALE$kind in
    small*) ;;
    *.whole | *.gz) every="1 2 7" ;;
    esac
    adds_up "bytes of odd$kind" --all odd$kind
    adds_up "letters of words$kind" --letters=1 -f words$kind
    adds_up "numbers of words$kind" -n --nonzero words$kind
    adds_up "numbers in bins of words$kind" -n --min=0 --max=8000 --bins=7 --threads=3 words$kind
    adds_up "fields of lines$kind" -n -k 2 --nonzero lines$kind
    adds_up "fields by name of lines$kind" -n -k size --header-line --nonzero lines$kind
    adds_up "fields after text of lines$kind" -n --after=rt= --nonzero lines$kind
    adds_up "values of values$kind" --values=u16 --min=0 --max=65535 --bins=5 values$kind
    adds_up "values of 3 bytes of values$kind" --values=u24be --min=0 --max=16777215 --bins=5 values$kind
    counts_=3
    adds_up "channels of values$kind" --values=u16 --channels=3 --min=0 --max=65535 --bins=2 values$kind
    counts_=1
    adds_up "numbers of several FILEs, $kind" -n --nonzero empty words$kind one few few$kind empty
    every=$all
    tiles "words$kind" 7 words$kind
done

# --- what else a FILE is cut by ---

# Quotes are known from the beginning only: a FILE belongs to one share.
adds_up "CSV" -n --csv -k 2 --header-line --nonzero --threads=2 quoted one quoted
adds_up "CSV by name" -n --csv -k size --header-line --nonzero quoted quoted
tiles "CSV" 5 -n --csv -k 2 quoted lines
for range in --skip=999 --length=5001 "--skip=7 --length=6006" --skip=99999 --length=0; do
    for kind in "" .zst; do
        adds_up "$range$kind, bytes" $range odd$kind
        adds_up "$range$kind, numbers" -n --nonzero $range words$kind few$kind
        adds_up "$range$kind, values" --values=u24 --min=0 --max=16777215 --bins=3 $range values$kind
    done
done
{ printf '\223NUMPY\001\000\166\000'; printf "%-117s\n" "{'descr': '<u2', 'fortran_order': False, 'shape': (6000,)}"; cat values; } >array.npy
frames 401 array.npy
for file in array.npy array.npy.zst array.npy.whole; do
    adds_up "$file" --values=u16 --min=0 --max=65535 --bins=5 $file values.zst
done
every=$numbers
[ "$SCALE" = small ] || lists="1 2 3 5 8 13 64"
for n in $lists; do
    tiles "several FILEs" "$n" empty words one few empty odd.zst empty
    tiles "FILEs of one byte" "$n" one one one
    tiles "empty FILEs" "$n" empty empty
    tiles "one empty FILE" "$n" empty
done
adds_up "one byte" one
adds_up "nothing" empty
adds_up "the same FILE twice" -n --nonzero few few.zst few few.zst
adds_up "without decompression" -d none --letters=3 words.zst

# --- numbers that are not, and where they are ---

for file in words words.zst; do
    k=1
    while [ $k -le 5 ]; do
        run -n --invalid=error --part=$k/5 $file
        case $k in
        1) refuses "an invalid number in share 1 of $file" 1 "$file: line " "' is not a number" ;;
        *) refuses "an invalid number in share $k of $file" 1 "$file: line " " after byte " "' is not a number" ;;
        esac
        line=$(sed -n 's/.*: line \([0-9]*\).*/\1/p' err)
        from=$(sed -n 's/.* after byte \([0-9]*\):.*/\1/p' err)
        tail -c +$((${from:-0} + 1)) $file >rest
        case $file in
        *.zst) "$GPUHISTO" $ANY_MODE -n --invalid=error rest 2>err.rest >/dev/null
            check "$file, share $k: the line from there on" [ "$(sed 's/.*: line \([0-9]*\).*/\1/' err.rest)" = "$line" ] ;;
        *) check "$file, share $k: the line from there on" [ -n "$(sed -n "${line}p" rest | grep x)" ] ;;
        esac
        k=$((k + 1))
    done
done

# --- refusals ---

if [ -r /proc/version ] && [ "$(stat -c %s /proc/version)" -eq 0 ]; then
    run --part=1/1 /proc/version
    refuses "a file that claims to be empty" 1 "/proc/version: has a size of 0"
    if can_interpose; then
        run_as env FAULT_CALL=pread FAULT_AT=1 FAULT_FOR_GOOD=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $ENGINE --part=1/1 /proc/version
        refuses "a file that claims to be empty, and cannot be read" 1 \
            "/proc/version: Input/output error, at byte 0"
        run_as env FAULT_EINTR=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $ENGINE --part=1/1 /proc/version
        refuses "a file that claims to be empty, interrupted" 1 "/proc/version: has a size of 0"
    fi
fi
head -c $(($(wc -c <words.zst) - 10)) words.zst >cut.zst
k=1
found=0
while [ $k -le 7 ]; do
    run -n --part=$k/7 cut.zst
    if [ "$(cat status)" -ne 0 ]; then
        refuses "share $k of truncated data" 1 "cut.zst: truncated zstd data"
        found=$((found + 1))
    fi
    k=$((k + 1))
done
check "truncated data: $found shares fail" [ $found -eq 1 ] || [ $found -eq 2 ]
head -c 11999 values >cut
found=0
for k in 1 2 3 4; do
    run --values=u16 --min=0 --max=65535 --bins=5 --part=$k/4 cut
    if [ "$(cat status)" -ne 0 ]; then
        refuses "share $k of a cut value" 1 "cut: ends inside a value, after 1 of its 2 bytes"
        found=$((found + 1))
    fi
done
check "a cut value: $found shares fail" [ $found -eq 1 ]
if can_interpose; then
    run_as env LD_PRELOAD="$HELPERS/interpose.so" FAULT_SIZE=100 "$GPUHISTO" $ENGINE --part=1/1 words
    refuses "a FILE that became shorter" 1 "words: was truncated"
    oracle bytes <words
    run_as env LD_PRELOAD="$HELPERS/interpose.so" FAULT_SIZE=99999 "$GPUHISTO" $ENGINE --part=1/1 words
    counts "a FILE that grew" expected
else
    skip_part "FILEs that change: $why_not"
fi
# Before a share of text there may be many frames that do not say that they are empty: they are looked at
# once, not once each.
{
    printf '\050\265\057\375\000\000\001\000\000%.0s' $(seq 20000)
    echo 5 | "$HELPERS/make_zstd"
} >hollow.zst
run_as timeout 20 "$GPUHISTO" --device=cpu -n --nonzero --part=2/2 hollow.zst
"$GPUHISTO" --device=cpu -n --nonzero hollow.zst >expected
counts "twenty thousand empty frames" expected

# A character belongs to the share that it begins in, with all its bytes: statistics of shares add up too.
statistics_of_characters() { "$GPUHISTO" $ANY_MODE -c --stats "$@" | grep -E '^(bytes|characters|invalid|invalid-bytes)[[:space:]]'; }
printf 'a\342\202\254\360\220\215\210\303\251b\360\237\230\200\200\200\303x' >scripts.plain
printf 'a\360\200\200\200\200\200\200\200\200b\360\237\342\202\200\200\200\200\200' >invalid.plain
for text in scripts invalid; do
    "$HELPERS/make_zstd" -n -f 1 <$text.plain >$text.ones
    "$HELPERS/make_zstd" -f 3 <$text.plain >$text.threes
    for form in plain ones threes; do
        for n in $statistics; do
            statistics_of_characters $text.$form >whole
            : >all
            for k in $(seq $n); do
                statistics_of_characters --part=$k/$n $text.$form >>all
            done
            add_up whole >sum
            same "statistics of characters, $text.$form, $n shares" whole sum
        done
    done
done

# --- by --merge ---

# merges CASE N ARGUMENT...: the tables of all shares, the last one first, are merged to that of the whole.
merges()
{
    what=$1 of=$2
    shift 2
    "$GPUHISTO" $ANY_MODE "$@" >whole 2>err
    k=$of
    : >tables
    while [ "$k" -gt 0 ]; do
        "$GPUHISTO" $ANY_MODE -q --part="$k/$of" --format=json "$@" >>tables || failed "$what: share $k of $of"
        k=$((k - 1))
    done
    "$GPUHISTO" --merge tables >sum 2>err
    same "$what, $of shares merged" whole sum
    sed 1d tables >few.tables
    [ "$of" -eq 1 ] || refute "$what: a share is missing of $of" "$GPUHISTO" --merge few.tables 2>err >out
}

if "$GPUHISTO" --merge=x 2>&1 | grep -q 'no such option'; then
    skip_part "merged tables: there is no --merge"
elif "$GPUHISTO" --merge /dev/null 2>&1 | grep -q 'built without'; then
    skip_part "merged tables: built without a JSON library"
else
    for n in $lists; do
        merges "bytes" "$n" odd.mixed
        merges "numbers" "$n" -n empty words.zst one words empty
        merges "values" "$n" --values=u16 --min=0 --max=65535 --bins=5 values.zst
        merges "fields" "$n" -n -k 2 lines.mixed lines
    done
fi
summary

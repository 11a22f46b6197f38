#!/bin/sh
# --part=K/N: the tables of all shares, added up, are the table of the whole, and the ranges in JSON
# tile each FILE.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900

printf x >x
run --part=1/1 x
if grep -q 'built without xxHash' err; then
    refuses "a build without xxHash" 2 "--part=1/1: "
    skip "built without xxHash"
fi
case $ENGINE in *--device=gpu*) numbers="1 2 7 19" ;; *) numbers="1 2 3 5 8 13 64" ;; esac
[ "$SCALE" = small ] && every=$numbers || every=$(seq 1 64)

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
        case $ENGINE in *--device=gpu*) grep -q 'does not count .*; leave it out' err && return ;; esac
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
        failed "$what: share $k of $of as JSON"
        sed 's/^/  standard error: /' all.err
        return
    fi
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
    done
else
    for file in words lines values odd few; do
        cp $file $file.gz
    done
fi

# --- every kind of sample, from every kind of FILE ---

for kind in "" .zst .unsized .whole .mixed .gz; do
    all=$every
    case $kind in
    .whole | .gz) every="1 2 7" ;;
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
summary

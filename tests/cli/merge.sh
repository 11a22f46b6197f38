#!/bin/sh
# SPDX-License-Identifier: MIT
# --merge: tables that were made before are added up, and shares are proved to be complete. How tables are
# read, by threads and damaged at random, is for tests/unit/test_merge.
. "${srcdir:-.}/tests/helpers/lib.sh"

# run_as does not take ENGINE, which --merge refuses. One, two and five threads take turns.
threads=1
merge()
{
    case $threads in 1) threads=2 ;; 2) threads=5 ;; *) threads=1 ;; esac
    run_as "$GPUHISTO" --merge --threads=$threads "$@"
}

awk 'BEGIN { x = 1; for (i = 0; i < 3000; i++) { x = x * 69069 % 4294967296; print x % 9973 / 10 - 100 } }' >all
sed -n 1,1000p all >part1
sed -n 1001,2900p all >part2
sed -n '2901,$p' all >part3

# --- the sum of parts is the whole, in every mode ---

# adds STATISTICS OPTION...: each of the histograms of one run, of three parts: two of them are merged to one
# table, and that with the third. A run prints a line of JSON for each.
adds()
{
    statistics=$1
    shift
    for part in part1 part2 part3; do
        run "$@" $statistics -F json $part
        check "$*: $part" [ "$(cat status)" = 0 ]
        mv out $part.json
    done
    run "$@" $statistics -F json part1 part2 part3
    mv out whole.json
    awk '{ print >(FILENAME "." FNR); close(FILENAME "." FNR) }' part1.json part2.json part3.json whole.json
    i=0
    while i=$((i + 1)) && [ -e whole.json.$i ]; do
        "$GPUHISTO" --merge $statistics -F json part3.json.$i part2.json.$i >late.json
        merge $statistics -F json part1.json.$i - <late.json
        counts "$*: histogram $i" whole.json.$i
    done
    rm -f ./*.json.*
}
adds -s -b --also -l --also -l1 --also -l5 --fold-case
adds '' -b --also --pairs
adds '' -n --log --also -n --log=10
adds -s -n --also -n --digits=1 --also -n --digits=5 --also -n --log=2:32 --also -n --log=1.5 --min=1 --max=500 \
    --also -n --edges=-100,0,1.5,200 --also -n -B 20 --min=-100 --max=900
adds -s --values=i8 -B 9 --also --values=i8 -B 10 --min=0 --max=5 --also --values=i8 --edges=0,40,50,99 \
    --also --values=i8 --log=2 --min=1 --max=1000 --also --values=i8 --log --also --values=i8
adds '' --values=u16be --length=300 -B 9 --also --values=u16be --edges=0,40,50,99
adds '' --values=u64 -B 7 --min=0 --max=18446744073709551616 --length=400
adds '' --values=f32 --length=400
adds -s --values=f64be --length=400 --log=2:32
adds '' --values=u8 --channels=2 --length=300

# What is shown of the sum.
run -n -F json part1 && cp out 1.json
run -n -F json --percent part2 part3 && cp out 2.json # shares in JSON are not read
for options in '' -p '-B 8' '-p -B 8' '-B 8 -F json' '--percent --header' --nonzero --all '-F csv --header --percent'; do
    run -n $options all
    cp out whole
    merge $options 1.json 2.json
    counts "sum shown with $options" whole
done
merge -o written --nonzero 1.json 2.json
run -n --nonzero all
check "-o" cmp -s out written
# Quantiles are those of the rows that tables have; all else is as in one run.
bare='s/"quantiles.*"stats"//; s/,"p50":.*},//'
run -n -s --log -F json part1 part2 && sed "$bare" out >whole
run -n -s --log -F json part1 && cp out one.json
run -n -s --log -F json part2 && cp out two.json
merge -s -F json one.json two.json
sed "$bare" out >in
same "--stats of --log" whole in

# Counts of 64 bits, and the largest sum.
table()
{
    printf '{"schema":"gpuhisto/1","mode":"letters","options":["--letters=26"],%s"total":%s,"counted":%s,"other":0,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":%s}]}\n' \
        "$2" "$1" "$1" "$1"
}
table 18446744073709551614 '' >large
table 1 '' >one
printf 'a-z\t18446744073709551615\n' >whole
merge large one
counts "2^64 - 1" whole

# --- FILEs are read side by side: what is printed does not depend on threads ---

for i in 1 2 3 4 5 6 7 8 9; do table $((i * i)) '' >t$i; done
printf 'a-z\t285\n' >whole
mkfifo pipe
for title in "1 thread" "3 threads" "all threads"; do
    case $title in all*) option= ;; *) option=--threads=${title%% *} ;; esac
    cat t2 >pipe &
    run_as "$GPUHISTO" --merge $option t1 pipe t3 t4 - t6 t7 t8 t9 <t5
    counts "$title: a pipe, and standard input" whole
    run_as "$GPUHISTO" --merge -v $option t9 t2 t3 t4 t5 t6 t7 t8 t1
    check "$title: tables" grep -q '^gpuhisto: 9 tables, which are not shares' err
    run_as "$GPUHISTO" --merge $option t1 t2 missing t4 whole t6 t7 t8 t9
    refuses "$title: two are refused" 1 "gpuhisto: missing: "
    run_as "$GPUHISTO" --merge $option t1 large t4 t5 whole t7 t8 t9
    refuses "$title: 2^64 is reached" 1 "gpuhisto: t4: the total exceeds 2^64"
done

# Rows that every table has, in more bytes than are read at a time.
awk 'BEGIN { for (i = 1; i < 30000; i++) printf "%d.5\n", i }' >numbers
run -n --digits=4 -F json numbers && cp out many
cat many many many >in
run -n --digits=4 numbers numbers numbers && cp out whole
merge - <in
counts "all rows are there" whole
sed 's/"count":10}/"count":11}/' many >in
merge many many in many
refuses "one count of many is another" 1 "gpuhisto: in: the bins add up to "
sed 's/\({"lo":1000,[^}]*}\),\({[^}]*}\)/\2,\1/' many >in
merge many many in many
refuses "two rows of many have changed places" 1 "gpuhisto: in: there is no bin from 1000 to 1001 after the one before it"

# --- damage ---

# Every beginning of a table is refused.
run -n --edges=0,5 -s -F json part1 && cp out whole.json
size=$(wc -c <whole.json)
step=1
if [ "$SCALE" = small ]; then step=37; fi
n=0
accepted=
while [ $n -lt $((size - 1)) ]; do
    head -c $n whole.json | "$GPUHISTO" --merge >out 2>err && accepted="$accepted $n"
    one_line || accepted="$accepted $n"
    n=$((n + step))
done
check "beginnings of$accepted bytes are accepted" [ -z "$accepted" ]

# --- memory ---

list_='{"files":3,"bytes":30,"digest":"00000000000000aa"}'
# share PART FILES [OF [LIST]]: a share with one letter.
share()
{
    table 1 '"share":{"of":'"${3:-4}"',"parts":[['"$1"']],"list":'"${4:-$list_}"',"files":['"$2"']},'
}
# file INDEX NAME SIZE RANGES [FINGERPRINT]
file()
{
    printf '{"index":%s,"name":"%s","size":%s,"fingerprint":"%016x","ranges":[%s]}' "$1" "$2" "$3" "${5:-7}" "$4"
}
# One FILE with a long name in 6000 ranges: one copy of the name is kept.
awk 'BEGIN { for (i = 0; i < 6000; i++) printf "%s[%d,%d]", i ? "," : "", 2 * i, 2 * i + 1 }' >ranges
share 1,1 "$(file 1 "$(printf '%016000d' 0)" 12000 "$(cat ranges)")" 4 '{"files":1,"bytes":12000,"digest":"00000000000000aa"}' >in
if [ "$SANITIZED" = yes ]; then
    skip_part "memory cannot be limited with sanitizers and emulators"
else
    (ulimit -v 60000 && "$GPUHISTO" --merge -F json --incomplete in >out 2>err)
    echo $? >status
    check "6000 ranges of a FILE with a long name, in 60 MB" [ "$(cat status)" = 0 ]
fi

# --- memory that cannot be had ---

# no_memory CASE FAULTS ARGUMENT...: with every allocation failing in turn, alone or from there on.
no_memory()
{
    what="no memory, $1, $2"
    faults=$2
    shift 2
    "$GPUHISTO" "$@" >table
    n=0
    while n=$((n + 1)) && [ $n -lt 300 ]; do
        run_as env $faults FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 FAULT_MARK="$work/mark" \
            LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" "$@"
        [ -s mark ] || break
        : >mark
        read -r status <status
        if [ "$status" -eq 0 ]; then
            counts "$what, at $n" table
        else
            refuses "$what, at $n" 1 memory
        fi
    done
    counts "$what: none left to fail" table
    check "$what: some tried" [ $n -gt 10 ]
}

if can_interpose; then
    run -n --stats -F json part1 && cp out one
    run -n --stats -F json part2 && cp out two
    no_memory "two tables" "" --merge --threads=1 -F json one two
    no_memory "two tables, compared" FAULT_FOR_GOOD=1 --diff one two
    if [ "$SCALE" != small ]; then
        no_memory "two tables" FAULT_FOR_GOOD=1 --merge --threads=1 -F json one two
        no_memory "two tables, compared" "" --diff one two
    fi
    # The library's own message takes memory, too.
    printf '{"total":truee' >wrong
    n=15
    while [ $n -lt 40 ]; do
        run_as env FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 FAULT_MARK="$work/mark" \
            LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" --merge wrong
        refuses "not JSON, no memory at $n" 1
        [ -s mark ] || break
        : >mark
        n=$((n + 1))
    done
else
    skip_part "memory that cannot be had: $why_not"
fi

summary

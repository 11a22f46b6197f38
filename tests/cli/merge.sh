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
merge -v 1.json 2.json
check "nothing proves that none is missing" grep -q 'not shares.*nothing proves' err
echo 5 5 5 | "$GPUHISTO" -n -s -F json >five.json
echo 5 5 5 5 5 5 | "$GPUHISTO" -n -s -B 4 -F json >whole
merge -s -B 4 -F json five.json five.json
counts "--bins of one number" whole
# Quantiles are those of the rows that tables have; all else is as in one run.
bare='s/"quantiles.*"stats"//; s/,"p50":.*},//'
run -n -s --log -F json part1 part2 && sed "$bare" out >whole
run -n -s --log -F json part1 && cp out one.json
run -n -s --log -F json part2 && cp out two.json
merge -s -F json one.json two.json
sed "$bare" out >in
same "--stats of --log" whole in
echo 5.001 5.002 | "$GPUHISTO" -n -s -F json >two.json
merge -s -B 4 -F json two.json
message "--bins of two numbers in one bin" "gpuhisto: --bins=4: for narrower bins, count again with --min=5.001 --max=5.002004"
check "--bins of two numbers in one bin" grep -q '"bins":\[{"lo":5,"hi":5.01,"count":2}\]' out

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

# --- bins are compared, not where their numbers came from ---

sed 's/^/x rt=/' all >log
run -n --after=rt= -F json log && cp out after
run -n -k-1 -F json all && cp out field
run -n --skip=5 -k-1 --length=900 -F json all && cp out range
run -n --digits=3 -F json all all && cp out twice
run -n all all && cp out twice.tsv
merge -F json after field
check "another place: the sum" cmp -s out twice
message "another place" "gpuhisto: warning: field: was counted with --field=-1, but after with --after=rt="
merge field after
check "in the other order: the sum" cmp -s out twice.tsv
message "in the other order" "gpuhisto: warning: after: was counted with --after=rt=, but field with --field=-1"
merge -q field after
counts "no warnings" twice.tsv
merge 1.json 2.json 1.json after field range
message "several, of which the first is named" "warning: after: was counted with --after=rt=, but 1.json without --after=rt=; 2 more tables differ, too"
cat after field >in
merge in
refuses "two in one FILE, which may be of one input" 1 "gpuhisto: in: was counted with --field=-1, but in with --after=rt=; merge the tables of one histogram at a time"
run -n -k-1 --digits=2 -F json all && cp out digits
merge after digits
refuses "other bins" 1 "gpuhisto: digits: was counted with --digits=2, but after with --digits=3"
run -l5 -F json all && cp out letters
run -l5 -f -F json all && cp out folded
merge letters folded
refuses "other letters" 1 "gpuhisto: folded: was counted with --fold-case, but letters without --fold-case"
sed 's/--after=rt=/--output=x/' after >in
merge field in
refuses "no option of a table's" 1 'gpuhisto: in: "options" are not what gpuhisto writes'
run -n --after=rt= -F json --part=1/2 log && cp out half1
run -n -k2 -F json --part=2/2 log && cp out half2
merge half1 half2
refuses "shares of one job" 1 "gpuhisto: half2: was counted with --field=2, but half1 with --after=rt="

# Texts that look alike, and such as are written in other ways, are read again.
printf '\001 5\n' >in
run -n --after="$(printf '\001 ')" -F json in && cp out a.json
printf '\\x01 6\n' >in
run -n --after='\x01 ' -F json in && cp out b.json
merge a.json b.json
message "--after with a control character and with its escape" "gpuhisto: warning: b.json: was counted with --after="
for after in '\' '\\x5c' 'a\x41b' '\x' "$(printf '\377\\\302\240')" "$(printf '\303\251')"; do
    printf '%s5\n' "$after" >in
    run -n --after="$after" -F json in && cp out in.json
    merge in.json
    check "--after=$after is read again" [ "$(cat status)" = 0 ]
done
printf 'a\\b\n5\n' >in
run -n --csv --header-line --field='a\b' -F json in && cp out in.json
merge in.json
check "a column's name with a backslash" [ "$(cat status)" = 0 ]
sed 's/\\\\x5c/\\\\x62/' in.json >in
check "the name was changed" grep -q 'x62b' in
merge in
refuses "an escape that is none" 1 "are not what gpuhisto writes"
for bounds in '0 4' '-4 0'; do
    echo 1 2 -1 | "$GPUHISTO" -n -B 4 --min=${bounds% *} --max=${bounds#* } -F json >whole
    zero=$(echo "$bounds" | sed 's/\<0/-0/')
    echo 1 2 -1 | "$GPUHISTO" -n -B 4 --min=${zero% *} --max=${zero#* } -F json >in
    same "-0 is 0: $zero" whole in
done
# A name that another program wrote with other escapes is text of JSON again.
"$GPUHISTO" --part=1/1 -l -F json whole | sed 's/"name":"whole"/"name":"w\\n\\u0001\\"e"/' >escaped
merge -F json escaped
check "control characters of a name are escaped" grep -qF '"name":"w\u000a\u0001\"e"' out
cp out escaped
merge escaped
check "... and read again" [ "$(cat status)" = 0 ]

# --- what is refused ---

merge all
refuses "what was counted" 1 "gpuhisto: all: not a table in JSON; make one with 'gpuhisto ... -F json'"
echo '{"time":5}' >in
merge in
refuses "other JSON" 1 "gpuhisto: in: byte 10: not a table in JSON; make one with 'gpuhisto ... -F json'"
merge one twice.tsv
refuses "TSV" 1 "gpuhisto: twice.tsv: not a table in JSON; make one with 'gpuhisto ... -F json'"
echo 1 | "$GPUHISTO" -n -F json | sed 's/"bins":\[/&{"bin":"x","count":0},/' >in
merge in
refuses "a bin of numbers that has a name only" 1 "gpuhisto: in: there is no bin 'x'"
merge -s 1.json
refuses "no moments" 1 'gpuhisto: 1.json: has no "moments"'
run -ns -F json part1 && sed 's/"sum":"\(.\)/"sum":"f\1/' out >in
merge -s in
refuses "damaged moments" 1 'gpuhisto: in: "moments" are damaged'
run -n -B5 -F json part1 && cp out in
merge in
refuses "bins over what was seen" 1 "gpuhisto: in: was counted with --bins but without --min and --max"
: >empty
merge empty
refuses "an empty FILE" 1 "gpuhisto: empty: there is no table"
gzip -c 1.json >in
merge in
refuses "compressed" 1 "gpuhisto: in: is compressed; decompress it first, with 'gzip -d'"
for options in -n --each --interval=1 --device=cpu --skip=1 --min=1 --digits=2 --timing; do
    merge $options one
    refuses "$options" 2 "--merge" "cannot be combined"
done
merge --incomplete one
refuses "--incomplete without JSON" 2 "gpuhisto: --incomplete needs --format=json"
run --incomplete one
refuses "--incomplete without --merge" 2 "gpuhisto: --incomplete needs --merge"
merge --incomplete -F json one
refuses "--incomplete without shares" 1 "are not shares"
{ cat one && head -c 9000000 /dev/zero | tr '\0' ' ' && cat one; } >in
merge in
printf 'a-z\t2\n' >whole
counts "9 million blanks" whole
{ printf '{"note":"' && head -c 9000000 /dev/zero | tr '\0' ' ' && printf '",' && tail -c +2 one; } >in
merge in
refuses "a text of 9 million bytes" 1 "gpuhisto: in: byte " "a name or value of more than 8 MiB"

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

# A table of far more rows than the sum has is refused before all of them are in memory.
seq 2000 >numbers
"$GPUHISTO" -n -B3 --min=0 --max=9 -F json numbers >few
"$GPUHISTO" -n -B200000 --min=0 --max=9 --all -F json numbers >many
merge few many
refuses "far more rows" 1 "gpuhisto: many: byte " "there are more bins than in the tables before"
"$GPUHISTO" -n -B60000 --min=0 --max=9 --all -F json numbers >many
merge few many
refuses "more rows" 1 "gpuhisto: many: was counted with --bins=60000, but few with --bins=3"

# --- shares ---

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
share 1,1 "$(file 1 x 20 '[0,8]'),$(file 2 e 0 '[0,0]')" >s1
share 2,2 "$(file 1 x 20 '[8,15]')" >s2
share 3,3 "$(file 1 x 20 '[15,20]'),$(file 3 y 10 '[0,3]')" >s3
share 4,4 "$(file 3 y 10 '[3,10]')" >s4
printf 'a-z\t4\n' >whole
for order in "s1 s2 s3 s4" "s4 s3 s2 s1" "s2 s4 s1 s3"; do
    merge $order
    counts "shares $order" whole
done
merge -F json s1 s2 s3 s4
cp out whole.json
check "the record of all" grep -q '"parts":\[\[1,4\]\].*"name":"x".*"ranges":\[\[0,20\]\]},{"index":2,"name":"e".*\[\[0,0\]\]},{"index":3.*\[\[0,10\]\]' out
merge -F json --incomplete s4 s2
cp out m1
check "the record of some" grep -q '"parts":\[\[2,2\],\[4,4\]\].*\[\[8,15\]\].*\[\[3,10\]\]' out
merge -F json --incomplete s3 s1
cp out m2
merge -F json m2 m1
counts "a merge of merges" whole.json
merge -v whole.json
check "all shares" grep -q 'all 4 shares of 3 files, 30 bytes' err
merge s1 s3
refuses "two are missing" 1 "gpuhisto: shares 2, 4 of 4 are missing"
merge s1 s3 s4
refuses "one is missing" 1 "gpuhisto: share 2 of 4 is missing"
merge s1 s2 s3 s4 s2
refuses "one is there twice" 1 "gpuhisto: s2: share 2/4 is also in s2"
merge m1 s2 s1 s3
refuses "one is in a merge, too" 1 "share 2/4 is also in"
share 4,4 "$(file 3 y 10 '[2,10]')" >in
merge s1 s2 s3 in
refuses "bytes overlap" 1 "gpuhisto: in: bytes from 2 of y are also in s3"
share 4,4 "$(file 3 y 10 '[4,10]')" >in
merge s1 s2 s3 in
refuses "bytes are missing" 1 "gpuhisto: y: all 4 shares are present, but bytes 3 to 4 are missing"
share 4,4 "$(file 3 y 10 '[3,9]')" >in
merge s1 s2 s3 in
refuses "the last byte is missing" 1 "gpuhisto: y: all 4 shares are present, but bytes 9 to 10 are missing"
share 1,1 "$(file 1 x 20 '[0,8]')" >in
merge in s2 s3 s4
refuses "an empty FILE is missing" 1 "but only 2 of 3 files"
share 4,4 "$(file 3 y 10 '[3,10]' 8)" >in
merge s1 s2 s3 in
refuses "another fingerprint" 1 "gpuhisto: in: y has the fingerprint 0000000000000008, but in s3 0000000000000007"
share 4,4 "$(file 3 z 10 '[3,10]')" >in
merge s1 s2 s3 in
refuses "another name" 1 "gpuhisto: in: file 3 is z of 10 bytes, but in s3 y of 10"
share 4,4 "$(file 3 y 11 '[3,11]')" >in
merge s1 s2 s3 in
refuses "another size" 1 "gpuhisto: in: file 3 is y of 11 bytes"
share 4,4 "$(file 3 y 10 '[3,10]')" 5 >in
merge s1 s2 s3 in
refuses "another N" 1 "gpuhisto: in: is one of 5 shares, but s1 is one of 4"
for list in '{"files":3,"bytes":30,"digest":"00000000000000ab"}' '{"files":4,"bytes":30,"digest":"00000000000000aa"}' \
    '{"files":3,"bytes":31,"digest":"00000000000000aa"}'; do
    share 4,4 "$(file 3 y 10 '[3,10]')" 4 "$list" >in
    merge s1 s2 s3 in
    refuses "another list: $list" 1 "gpuhisto: in: is a share of different files than s1"
done
merge s1 one
refuses "a table that is no share" 1 "gpuhisto: one: is not a share (--part), but s1 is one"
merge one s1
refuses "a share after a table" 1 "gpuhisto: s1: is a share (--part), but one is not"
for files in "$(file 4 y 10 '[3,10]')" "$(file 0 y 10 '[3,10]')" "$(file 3 y 10 '[3,11]')" "$(file 3 y 10 '[5,5]')" \
    "$(file 3 y 10 '[5,6],[2,3]')" "$(file 3 y 10 '[3]')" "$(file 3 y 10 '')" "$(file 3 y 99 '[3,10]')"; do
    share 4,4 "$files" >in
    merge in
    refuses "no share: $files" 1 "gpuhisto: in: "
done
for part in 0,1 5,5 4,3 2,9; do
    share $part "$(file 3 y 10 '[3,10]')" >in
    merge in
    refuses "no part: $part" 1 '"share" names a share that cannot exist'
done

# --- shares, and numbers that no job has ---

share 1,18446744073709551615 "$(file 3 y 10 '[3,10]')" 18446744073709551615 >in
merge -F json --incomplete in
refuses "2^64 - 1 shares" 1 'gpuhisto: in: "share" names more than 1000000 shares'
share 1,1 "$(file 1 x 18446744073709551615 '[0,18446744073709551615]'),$(file 2 y 31 '[0,31]')" 1 \
    '{"files":2,"bytes":18446744073709551615,"digest":"00000000000000aa"}' >in
merge in
refuses "bytes beyond 2^64" 1 "more than 2^64 bytes"
share 1,1 "$(file 1 x 8 '[0,8]')" 1 >in
merge in
refuses "one share" 1 "gpuhisto: the share is present, but only 1 of 3 files"
share 1,1 "$(file 3 y 10 '[0,3]')" 1 >in
merge in
refuses "one share, with a gap" 1 "gpuhisto: y: the share is present, but bytes 3 to 10 are missing"
share 1,1 "$(file 1 x 30 '[0,30]')" 1 '{"files":1,"bytes":30,"digest":"00000000000000aa"}' >in
merge -v in
check "all of one" grep -q '1 table: the only share of 1 file, 30 bytes' err
share 1,1 "$(file 1 "$(printf '%020000d' 0)" 20 '[0,8]')" >in
merge in
refuses "a name of 20000 bytes" 1 "gpuhisto: in: byte " "the name of a file is too long"
run --values=u8 --channels=2 --length=100 --edges=0,50 -F json part1
sed 's/"counts":\[/&'"$(printf '%0100d' 0 | sed 's/0/1,/g')"'/' out >in
merge in
refuses "100 counts in a row" 1 "gpuhisto: in: byte " "there are too many \"counts\""
awk 'BEGIN { for (i = 1; i <= 1000001; i++) printf "%s[1,1]", (i == 1 ? "" : ",") }' >parts
{ printf '{"schema":"gpuhisto/1","share":{"parts":[' && cat parts; } >in
merge in
refuses "a million and one parts" 1 "gpuhisto: in: byte " "there are too many \"parts\""
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

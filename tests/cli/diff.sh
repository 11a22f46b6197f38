#!/bin/sh
# SPDX-License-Identifier: MIT
# --diff: two tables that were made before, side by side.
. "${srcdir:-.}/tests/helpers/lib.sh"

diffs()
{
    run_as "$GPUHISTO" --diff "$@"
}

# table NAME OPTION...: counts standard input into a table.
table()
{
    table_=$1
    shift
    run "$@" -F json
    cp out "$table_"
}

printf 'aaab..' | table before -l13
printf 'aznn' | table after -l13
printf 'a-m\t4\t1\t66.6667\t25.0000\t-41.6667\t0.375\nn-z\t0\t3\t0.0000\t75.0000\t75.0000\tinf\n' >expected
diffs before after
counts "letters" expected
{ printf 'bin\tbefore\tafter\tbefore_share\tafter_share\tpoints\tratio\n' && cat expected; } >header
diffs --header before after
counts "--header" header
tr '\t' , <header >expected
diffs --header -F csv before after
counts "csv" expected
printf '%s\n' '{"schema":"gpuhisto-diff/1","mode":"letters","before":{"total":6,"counted":4,"other":2},"after":{"total":4,"counted":4,"other":0},"bins":[{"bin":"a-m","lo":97,"hi":109,"before":4,"after":1,"before_share":66.6667,"after_share":25.0000,"points":-41.6667,"ratio":0.375},{"bin":"n-z","lo":110,"hi":122,"before":0,"after":3,"before_share":0.0000,"after_share":75.0000,"points":75.0000,"ratio":"inf"}]}' >expected
diffs -F json before after
counts "json" expected
printf 'bin   before    after    points  ratio\na-m  66.6667  25.0000  -41.6667  0.375      #####|\nn-z   0.0000  75.0000   75.0000    inf           |#########\n' >expected
LC_ALL=C COLUMNS=60 diffs -p --header before after
counts "bars to both sides" expected
diffs -o written before after
diffs before after
check "-o" cmp -s out written
printf 'a-m\t4\t4\t66.6667\t66.6667\t0.0000\t1\n' >expected
diffs --nonzero before before
counts "a table and itself, --nonzero" expected

printf 'x1"' | table before
printf 'x,,' | table after
printf '0x22,1,0,"""",33.3333,0.0000,-33.3333,0\n0x2c,0,2,",",0.0000,66.6667,66.6667,inf\n0x31,1,0,1,33.3333,0.0000,-33.3333,0\n0x78,1,1,x,33.3333,33.3333,0.0000,1\n' >expected
diffs --nonzero -F csv before after
counts "bytes, csv" expected
sed 's/"""",/\\x22,/; s/",",/COMMA,/; s/,/\t/g; s/COMMA/,/' expected >expected.tsv
diffs --nonzero before after
counts "bytes, tsv" expected.tsv

# Of decimal digits, bins nest.
echo 1.04 1.06 2.5 x -1.25 0 1e50 | table fine -nq
echo 1.1 2.55 -1.3 0 0 -inf | table wide -nq --digits=2
printf -- '-inf\t0\t1\t-1e+39\n-1.3\t1\t1\t-1.2\n0\t1\t2\t0\n1\t2\t0\t1.1\n1.1\t0\t1\t1.2\n2.5\t1\t1\t2.6\n1e+39\t1\t0\tinf\ninvalid\t1\t0\t\n' >expected
for order in "fine wide" "wide fine"; do
    # shellcheck disable=SC2086 # two words
    diffs $order
    cut -f 1-4 out >columns
    if [ "$order" = "wide fine" ]; then awk -F '\t' '{ print $1 "\t" $3 "\t" $2 "\t" $4 }' columns >swapped && mv swapped columns; fi
    same "nested bins: $order" expected columns
done
# The sum's bins, and each side's counts as if it had been counted in these.
awk 'BEGIN { for (i = 1; i < 500; i++) print i * 0.7 }' >one
awk 'BEGIN { for (i = 1; i < 900; i++) print 300 - i }' >two
table 1.json -n <one
table 2.json -n <two
for bins in 1 2 5 13 40; do
    diffs -B $bins 1.json 2.json
    cp out compared
    run -n -B $bins one two
    cut -f 1,2,3 out >sum
    awk -F '\t' '{ print $1 "\t" $2 + $3 "\t" $4 }' compared | sed 's/^invalid.*/invalid\t0/' >added
    same "-B $bins: the sum" sum added
    edges=$(awk -F '\t' '$1 != "-inf" && $1 != "invalid" { printf "%s%s", comma, $1; comma = "," }' compared)
    for side in one:2 two:3; do
        run -n --edges="$edges" ${side%:*}
        cut -f 2 out >expected
        cut -f ${side#*:} compared >column
        same "-B $bins: ${side%:*}" expected column
    done
done
diffs -p 1.json 2.json
check "a picture has at most 40 bins" [ "$(wc -l <out)" -le 42 ]
# Of latencies with a tail it has decades; equal bins would have all but a few in one.
awk 'BEGIN { for (i = 1; i < 500; i++) print i * 0.7; print 1e6 }' | table tail.json -n
diffs -p 1.json tail.json
check "a picture of a tail" [ "$(awk '{ printf "%s ", $1 }' out)" = \
    "0.5 1 2 5 10 20 50 100 200 500 1000 2000 5000 10000 20000 50000 100000 200000 500000 1000000 " ]
table log.json -n --log <one
diffs --nonzero log.json log.json
check "--log" [ "$(cut -f 1-4 out | tail -n 1)" = "200${tab}214${tab}214${tab}500" ]

# Bins are compared, not where numbers came from.
sed 's/^/rt=/' two | "$GPUHISTO" -n --after=rt= -F json >after.json
diffs 1.json 2.json
cp out expected
diffs 1.json after.json
same "numbers from another place" expected out
message "a warning" "gpuhisto: warning: after.json: was counted with --after=rt=, but 1.json without --after=rt="
sed 's/^/rt=/' two | "$GPUHISTO" -n --after=rt= --digits=2 -F json >wide.json
diffs wide.json 1.json
message "a warning of bins that nest" "gpuhisto: warning: 1.json: was counted without --after=rt=, but wide.json with --after=rt="
diffs -q 1.json after.json
counts "no warning" expected

# --- what is refused ---

for options in -n --each --percent --merge --incomplete --threads=2; do
    diffs $options 1.json 2.json
    refuses "$options" 2 "--diff" "cannot be combined"
done
diffs 1.json
refuses "one file" 2 "gpuhisto: --diff: the second file, AFTER, is missing"
for files in '' '1.json 2.json 1.json'; do
    # shellcheck disable=SC2086 # words
    diffs $files
    refuses "FILEs: $files" 2 "gpuhisto: --diff needs two files, BEFORE and AFTER"
done
diffs 1.json before
refuses "other modes" 1 "gpuhisto: before: was counted with --bytes, but 1.json with --numbers"
table log -n --log=2:32 <one
diffs 1.json log
refuses "bins that do not nest" 1 "gpuhisto: log: was counted with --log=2:32, but 1.json with --digits=3"
diffs -B 3 log log
refuses "-B of other bins" 1 "gpuhisto: --bins: these tables were not counted with --digits"
run -n one && cp out one.tsv
diffs one one
refuses "what was counted" 1 "gpuhisto: one: not a table in JSON; make one with 'gpuhisto ... -F json'"
diffs 1.json one.tsv
refuses "tsv, the second one" 1 "gpuhisto: one.tsv: not a table in JSON; make one with 'gpuhisto ... -F json'"
run --values=u8 --channels=2 --length=100 --edges=0,50 -F json one && cp out two.channels
diffs two.channels two.channels
refuses "channels" 1 "gpuhisto: two.channels: has several channels, which --diff cannot compare"
echo 5.001 5.002 | table close -n
diffs -B 4 close close
message "-B of numbers in one bin" "gpuhisto: --bins=4: for narrower bins, count again with --min=5 --max=5.01"
check "-B of numbers in one bin" grep -q "^5${tab}2${tab}2${tab}5.01${tab}" out
diffs -p close close
check "a picture of numbers in one bin" [ "$(cat status)" = 0 ]
gzip -c 1.json >zipped
diffs 1.json zipped
refuses "compressed" 1 "gpuhisto: zipped: is compressed; decompress it first, with 'gzip -d'"
printf '%s\n' '{"schema":"gpuhisto/1","mode":"letters","options":["--letters=26"],"share":{"of":2,"parts":[[1,1]],"list":{"files":1,"bytes":9,"digest":"00000000000000aa"},"files":[{"index":1,"name":"x","size":9,"fingerprint":"0000000000000007","ranges":[[0,4]]}]},"total":1,"counted":1,"other":0,"bins":[{"bin":"a-z","lo":97,"hi":122,"count":1}]}' >share1
diffs share1 share1
refuses "a share of two" 1 "gpuhisto: share1: share 2 of 2 is missing"
head -c 100 1.json >cut
diffs 1.json cut
refuses "cut short" 1 "gpuhisto: cut: byte 100: the table is truncated"

# Tables of differences are none to add up, whatever comes first in them.
diffs -F json 1.json 1.json
cp out differences
run_as "$GPUHISTO" --merge differences
refuses "a difference" 1 "gpuhisto: differences: " "the schema is 'gpuhisto-diff/1', not 'gpuhisto/1'"

# The widest screen: the axis is in one column.
printf 'aab' | table a --letters=1
printf 'bbbc' | table b --letters=1
COLUMNS=65535 LC_ALL=C diffs -p a b
check "65535 columns" [ "$(awk '{ print index($0, "|") }' out | sort -u | wc -l)" = 1 ]
summary

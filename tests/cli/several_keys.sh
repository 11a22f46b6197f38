#!/bin/sh
# SPDX-License-Identifier: MIT
# --by given several times: keys are tuples, which oracle_by.py counts, whatever bytes their parts have, however the text
# comes and wherever it is cut, in every format and order, and through --part and --merge.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=500 seeds="1"
else
    lines=5000 seeds="1 2 3 4 5"
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

# Writes the same records in four ways: fields after ';', CSV, lines of JSON, and words. Parts of keys are prefixes of each
# other, empty, or have bytes that could pass for something between two of them. Some records lack the last fields.
cat >make_text.py <<'END'
import json, random, sys
random.seed(int(sys.argv[2]))
parts = ['', '', 'a', 'ab', 'abc', 'b', 'a\0', 'a\0\0', '\0', '\0\0\0\0', '\1', 'a\1', 'a\0b', 'b\0', '\1\0\0\0', '\3\0\0\0', 'a\2\0\0\0',
         'é', '\udcff', 'a b', ' ', '  ', 'a ', '(other)', '(invalid)', '\\', '\\x00', '/x/17/y?q', '/x/18', '\t']
numbers = ['0', '7', '10', '9', '-3', '007', '1e1', '200', '404', '9007199254740993', '9007199254740992', '-0']
only_csv = ['\n', 'a\nb', '"', 'a"b', '""', 'x;y', ';', '\r\n', ',']
def quote(text):
    return '"%s"' % text.replace('"', '""') if random.randrange(2) or set(text) & set('";\n\r') else text
plain, csv, members, words = [], [], [], []
for _ in range(int(sys.argv[1])):
    fields = [random.choice(parts), random.choice(parts[:random.randrange(1, len(parts))]), random.choice(numbers),
              '2026-11-%02dT10:%02d:%02dZ' % (random.randrange(1, 3), random.randrange(12), random.randrange(60)),
              str(random.randrange(-100, 100))]
    kept = fields[:random.choice([5, 5, 5, 5, 5, 5, 1 + random.randrange(5)])]
    if not ';'.join(kept):
        kept = fields
    plain.append(';'.join(kept))
    names = dict(zip('abctn', kept))
    members.append('{%s}' % ', '.join('"%s":%s' % (name, text if name == 'n' else json.dumps(text, ensure_ascii='\udcff' not in text))
                                      for name, text in random.sample(list(names.items()), len(names))))
    words.append(random.choice([' ', '', '\t']) + ' '.join(text.replace(' ', '_').replace('\t', '_') or '-' for text in kept))
    odd = [random.choice(only_csv) if random.randrange(6) == 0 else text for text in kept[:2]]
    csv.append(';'.join(quote(text) for text in odd + kept[2:]) or '""')
for path, records in zip(('plain', 'csv', 'json', 'words'), (plain, csv, members, words)):
    with open(path, 'wb') as file:
        file.write('\n'.join(records).encode('utf-8', 'surrogateescape') + b'\n')
END

ways()
{
    cat <<'END'
1 2
2 1
1 1
3 1
1 3
3 5
1 2 3
2:1-1 1:2-
4:5m 1:route
3 4:1d 2
1 2 3 4:1m
-1 1
END
}

# by WAY: the options of a way.
by()
{
    printf -- '--by=%s ' $1
}

# shows CASE: the last run printed what is expected.
shows()
{
    read -r status <status
    check "$way, $1: status" [ "$status" -eq 0 ]
    case $options in
    *' -s '*) tail -n +2 out | cut -f 1-$((5 + $(printf '%s\n' $way | wc -l))) >rows ;;
    *) cp out rows ;;
    esac
    same "$way, $1" expected rows
}

ways >all_ways
for seed in $seeds; do
    $python make_text.py "$lines" "$seed" || broken make_text.py
    gzip -c plain >plain.gz
    "$HELPERS/make_zstd" -f 1000 <plain >plain.zst
    codecs="plain.zst"
    "$GPUHISTO" --device=cpu -d gzip plain.gz >/dev/null 2>&1 && codecs="plain.zst plain.gz"
    while read -r way; do
        by=$(by "$way")
        options="-q -t ; $by"
        $oracle_by -t ';' $by <plain >expected || broken "oracle_by.py $by"
        check "$way: some keys" [ "$(wc -l <expected)" -gt 5 ]
        for threads in 1 8; do
            for chunk in $(few 2 100 1 1000) 8M; do
                run $options --threads=$threads --chunk-size=$chunk plain
                shows "$threads threads, chunks of $chunk"
            done
        done
        cat plain | run $options --chunk-size=64
        shows pipe
        for file in $codecs; do
            run $options --threads=3 $file
            shows $file
        done
        for cpu in $(kernels_here); do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options plain
            shows "$cpu"
        done
        options="-q $(printf '%s\n' $by | sed 's/=-1/=5/; s/=1/=.a/; s/=2/=.b/; s/=3/=.c/; s/=4/=.t/; s/=5/=.n/')"
        case $way in
        -*) ;; # the last field is not always the same member
        *)
            for chunk in 100 8M; do
                run $options --threads=2 --chunk-size=$chunk json
                shows "JSON, chunks of $chunk"
            done
            ;;
        esac
        options="-q --csv -t ; $by"
        $oracle_by --csv -t ';' $by <csv >expected
        for chunk in 100 8M; do
            run $options --threads=2 --chunk-size=$chunk csv
            shows "CSV, chunks of $chunk"
        done
        options="-q $by"
        $oracle_by $by <words >expected
        run $options --chunk-size=1000 words
        shows words
        options="-q -s -k 5 -t ; $by"
        $oracle_by -k 5 -t ';' $by <plain >expected
        for chunk in 100 8M; do
            run $options --threads=2 --chunk-size=$chunk plain
            shows "numbers, chunks of $chunk"
        done
        options="-q -s --after=Z; $by" # every line counts, blank ones too
        sed 's/^a$/ /' words | sed 's/Z /Z;/' >after
        $oracle_by $by <after | grep -v '^(invalid)' | cut -f 1-$(printf '%s\n' $way | wc -l) >expected
        run $options after
        tail -n +2 out | grep -v '^(invalid)' | cut -f 1-$(printf '%s\n' $way | wc -l) >rows
        same "$way, --after" expected rows
    done <all_ways
done

# --- many keys with the same first parts ---

$python - <<'END' >many
import random
random.seed(7)
for _ in range(4000):
    number = random.choice([random.randrange(-50, 3000), '%d.0' % random.randrange(100), '9007199254740%d' % random.randrange(990, 999)])
    print(random.choice(['200', '200', '200.0', '1000']), random.choice('ab'), '/api/%d/x' % random.randrange(2000), number)
END
for way in '1 3' '1 4' '2 1 3' '2 1 4' '1 2 4 3' '2 4 3' '3 1'; do
    by=$(by "$way")
    options="-q $by"
    $oracle_by $by <many >expected
    for threads in 1 8; do
        run $options --threads=$threads many
        shows "many keys, $threads threads"
    done
done

# --- shards, and tables that are read again ---

json_of()
{
    $python - "$1" <<'END'
import json, sys
for line in open(sys.argv[1], encoding='utf-8'):
    table = json.loads(line)
    for row in table['bins']:
        if 'key' in row:
            key = [bytes.fromhex(part) for part in row['key_bytes']] if 'key_bytes' in row else [part.encode() for part in row['key']]
            print(repr(key), row['count'])
END
}

if can_share; then
    for way in '1 2' '2 1 3' '4:5m 1'; do
        by=$(by "$way")
        $oracle_by -t ';' $by <plain >expected
        $oracle_by -k 5 -t ';' $by <plain >expected.numbers
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE -q -t ';' $by -F json --part=$part/3 plain >part.$part || broken "--part=$part/3"
            "$GPUHISTO" $ENGINE -q -t ';' $by -k 5 -s -F json --part=$part/3 plain >numbers.$part || broken "--part=$part/3"
        done
        options=-q
        run_as "$GPUHISTO" -q --merge part.1 part.2 part.3
        shows --merge
        options="-q -s "
        run_as "$GPUHISTO" -q -s --merge numbers.1 numbers.2 numbers.3
        cp expected.numbers expected
        shows "--merge of numbers"
        run $options --top=3 --header -t ';' $by -k 5 plain
        cp out expected
        run_as "$GPUHISTO" -q -s --top=3 --header --merge numbers.1 numbers.2 numbers.3
        same "$way, --merge --top --header" expected out
        run_as "$GPUHISTO" -q --merge part.1 part.2 part.3 -F json
        json_of out >rows
        run -q -t ';' $by -F json plain
        json_of out >expected
        same "$way, --merge to JSON" expected rows
    done
    "$GPUHISTO" $ENGINE -q -t ';' --by=2 --by=1 -F json plain >other
    "$GPUHISTO" $ENGINE -q -t ';' --by=1 --by=2 -F json plain >table
    "$GPUHISTO" $ENGINE -q -t ';' --by=1 -F json plain >one
    run_as "$GPUHISTO" -q --merge table other
    refuses "--merge of another order" 1 "gpuhisto: other: was counted with the options of table in another order"
    run_as "$GPUHISTO" -q --merge table one
    refuses "--merge of one key" 1 "gpuhisto: one: was counted without --by=2, but table with --by=2"
    # Tables whose keys are not those of their options.
    mismatch="its keys and \"options\" do not match"
    sed 's/"--by=1",//' table >wrong
    run_as "$GPUHISTO" -q --merge wrong
    refuses "lists of one --by" 1 "$mismatch"
    sed 's/"options":\[/"options":["--by=3",/' table >wrong
    run_as "$GPUHISTO" -q --merge wrong
    refuses "fewer parts than --by" 1 "$mismatch"
    sed 's/"options":\["--by=1",/"options":["--by=1","--by=1",/' one >wrong
    run_as "$GPUHISTO" -q --merge wrong
    refuses "texts of several --by" 1 "$mismatch"
    head='{"schema":"gpuhisto/1","mode":"lines","options":["--by=1","--by=2"],"total":1,"counted":1,"other":0,"invalid":0,"bins":['
    for key in '"key":["a"]' '"key":[]' '"key":["a","b","c"]' '"key":"a"' '"key":["a","b"],"key_bytes":["61"]' \
        '"key":["a","b"],"key_bytes":"6162"' '"key_bytes":["61","62"]'; do
        printf '%s{%s,"count":1}]}\n' "$head" "$key" >wrong
        run_as "$GPUHISTO" -q --merge wrong
        refuses "$key" 1 "gpuhisto: wrong: "
    done
    for key in '["a","b","c","d","e"]' '["a",1]' '["a",["b"]]' '[{}]' '["a",null]'; do
        printf '%s{"key":%s,"count":1}]}\n' "$head" "$key" >wrong
        run_as "$GPUHISTO" -q --merge wrong
        refuses "$key" 1 "gpuhisto: wrong: byte "
    done
    for bytes in '["6","62"]' '["6g","62"]' '["61",62]'; do
        printf '%s{"key":["a","b"],"key_bytes":%s,"count":1}]}\n' "$head" "$bytes" >wrong
        run_as "$GPUHISTO" -q --merge wrong
        refuses "$bytes" 1 "gpuhisto: wrong: byte "
    done
    printf '%s{"count":1,"key_bytes":["00ff",""],"key":["?",""]}]}\n' "$head" >odd
    printf '\\x00\\xff\t\t1\n' >expected
    run_as "$GPUHISTO" --merge odd
    counts "bytes before texts" expected
else
    skip_part "--merge: $why_not"
fi

# --- formats ---

printf '200;"/a ""b""";1\n200;/c;2\n404;"x\ty\nz";3\n1000;(other);4\n(other);;5\n' >few
# A key that looks like the row of all others is not written like it.
run -q --csv -t ';' --by=1 --by=2 -F csv --header few
cat >expected <<'EOF_'
key1,key2,count
\x28other),,1
1000,(other),1
200,"/a ""b""",1
200,/c,1
404,x\x09y\x0az,1
EOF_
same CSV expected out
run -q --csv -t ';' --by=1 --by=2 --header few
tr , '\t' <expected | sed 's/"\/a ""b"""/\/a \\x22b\\x22/' >expected.tsv
same TSV expected.tsv out
printf '200;a\n' >two
run -q -t ';' --by=2 --by=1 -F json two
check "JSON" grep -qx '{"schema":"gpuhisto/1","mode":"lines","options":\["--by=2","--by=1","--separator=;"\],"total":1,"counted":1,"other":0,"invalid":0,"bins":\[{"key":\["a","200"\],"count":1}\]}' out
printf '200 a 1\n200 a 2\n404 b 3\n500 a 4\nx\n' >in
printf 'key1\tkey2\tcount\tshare\trunning\n200\ta\t2\t40.0000\t40.0000\n(other)\t\t2\t40.0000\t80.0000\n(invalid)\t\t1\t20.0000\t100.0000\n' >expected
run -q --by=1 --by=2 --top=1 --header --percent in
same "--top, (invalid)" expected out
run --by=1 --by=2 in
message "a field that is missing" "gpuhisto: in: line 5: no field 2"
run --by=1 --by=2 --by=3 --invalid=error in
refuses "a field that is missing" 1 "gpuhisto: in: line 5: no field 2"
run --by=3 --by=2 --invalid=error in
refuses "the first of two fields that are missing" 1 "gpuhisto: in: line 5: no field 3"
printf 'a b\nc\n d\n' >lacks
run --by=1 --by=-1 --by=2 --lines-without=d --invalid=error lacks
refuses "a field that is missing in a line that is kept" 1 "gpuhisto: lacks: line 2: no field 2"
run -q --by=1 --by=2 --interval=0.1 --top=1 in
tail -n 3 out >rows
printf '200\ta\t2\n(other)\t\t2\n(invalid)\t\t1\n' >expected
same "the last table of --interval" expected rows
LC_ALL=C COLUMNS=36 run -q --by=1 --by=2 -p --header in
cat >expected <<'EOF_'
key1       key2  count  share
200        a         2  40.00  #####
404        b         1  20.00  ###
500        a         1  20.00  ###
(invalid)            1  20.00  ###
EOF_
same plot expected out
# Parts are in columns, and names that are shortened still differ.
cat >columns.py <<'END'
import re, sys
lines = sys.stdin.read().split('\n')[:-1]
begins = [found.start() for found in re.finditer('(key[0-9]|count) ', lines[0])]
names = [line[:begins[-1]] for line in lines[1:]]
assert len(set(names)) == len(names) > 5, names
assert all(name[begin - 2:begin] == '  ' for name in names for begin in begins[1:]), names
assert all(re.fullmatch('[ -~]* *[0-9]+ +[0-9.]+(  #+)?', line) for line in lines[1:]), lines
assert any('...' in name for name in names) == (int(sys.argv[1]) < 100), names
END
for way in '1 2' '2 1 3' '1 2 3 4'; do
    for columns in 20 40 300; do
        COLUMNS=$columns run -q -t ';' $(by "$way") -p --all --header plain
        check "$way: a plot of $columns columns" $python columns.py $columns <out
    done
done
# In a picture parts with blanks, and such as are alike without them, differ.
printf 'a;b c\na b;c\na;b  c\na  b;c\n;a\na;\n;\n;\n(invalid);\na ;b\na; b\n' >blanks
LC_ALL=C COLUMNS=60 run -q -t ';' --by=1 --by=2 -p blanks
sed 's/  *[0-9][0-9]*  *[0-9.]*  *#*$//' out | sort -u >rows
check "names in a plot differ" [ "$(wc -l <rows)" -eq 10 ]
run -q --by=1 --by=2 -k3 -F prometheus --edges=0,10 in
check "labels of Prometheus" grep -qx 'gpuhisto_numbers_bucket{key1="404",key2="b",le="10.0"} 1' out

# --- names of columns ---

printf 'status,route,ms\n200,/a/1,5\n404,/b,6\n200,/a/2,7\n' >named.csv
printf 'status\troute\tcount\n200\t/a/*\t2\n404\t/b\t1\n' >expected
run --csv --header-line --header --by=status --by=route:route named.csv
same "names of columns" expected out
cat named.csv | run --csv --header-line --header --by=status --by=route:route
same "names of columns, from a pipe" expected out
printf 'ms,route,status\n5,/a/1,200\n6,/b,404\n7,/a/2,200\n' >swapped.csv
sed '1d; s/\([^\t]*\)$/\1/' expected | awk -F '\t' '{ print $1 "\t" $2 "\t" 2 * $3 }' >expected.sum
run --csv --header-line --by=status --by=route:route named.csv swapped.csv
same "columns elsewhere in each file" expected.sum out
printf 'status\tkey2\tcount\tinvalid\tmin\n200\t/a/*\t2\t0\t5\n404\t/b\t1\t0\t6\n' >expected
run --csv --header-line --header --by=status --by=2:route -k ms -s named.csv
cut -f 1-5 out >rows
same "a name and a number" expected rows
run --csv --header-line --by=status --by=path named.csv
refuses "a column that is missing" 1 "gpuhisto: named.csv: no column is called 'path'; it has 'status', 'route', 'ms'"
printf '{"a":1,"b":{"c":"x"}}\n{"a":2}\n' >in.json
printf '.a\t.b.c\tcount\n1\tx\t1\n(invalid)\t\t1\n' >expected
run -q --header --by=.a --by=.b.c in.json
same "paths" expected out

# --- long fields ---

$python - <<'END' >long
import sys
for i in range(6):
    for size in 400000, 700000, 1048570 - i, 3:
        sys.stdout.buffer.write(b'/%s/%d?x;q%d\n' % (b'k' * (size - 9), i % 2, i % 3))
END
for way in '1 2' '1 1' '1:route 2 1' '1:2- 1:2- 1:2- 1:2-'; do
    options="-q -t ; $(by "$way")"
    $oracle_by -t ';' $(by "$way") <long >expected
    for chunk in 100000 8M; do
        run $options --chunk-size=$chunk long
        shows "long fields, chunks of $chunk"
    done
done

# --- what is refused ---

run --by=1 --by=2 --by=3 --by=4 --by=5 in
refuses "five keys" 2 "gpuhisto: --by=5: may be given at most 4 times"
run --by=.a --by=2 in
refuses "paths and fields" 2 "gpuhisto: --by=2: cannot be combined with --by=.a, as lines are JSON or not; use paths such as .status, or fields such as 9, for both"
run --by=1 --by=x in
refuses "a second field that is none" 2 "gpuhisto: --by=x: must be 1 to 1048576"
run --by=1 --by=2:5x in
refuses "a modifier of the second" 2 "gpuhisto: --by=2:5x: "
run --by=1 --by=2 -k3 -p in
refuses "a heat map" 2 "gpuhisto: --format=plot --by: a heat map is by one key; give --by once, or use --format=tsv"
run --by=1 --by=2 -k3 -F pgm in
refuses "an image of a heat map" 2 "gpuhisto: --format=pgm --by: a heat map is by one key; give --by once, or use --format=tsv"
run --by=1 --by=2 --max-keys=2 in
refuses "--max-keys" 1 "gpuhisto: more than 2 keys; use a shorter part of the field"
run --by=1 --by=2 --each in
refuses --each 2 "--each"
run --by=1 --by=2 --also --by=1 in
refuses --also 2 "--also"
if can_share; then
    "$GPUHISTO" $ENGINE -q --by=1 --by=2 -k3 -F json in >numbers
    run_as "$GPUHISTO" -q --merge -p numbers
    refuses "a heat map of --merge" 1 "--format=plot: a heat map is by one key, and the tables are by 2; use --format=tsv"
fi
summary

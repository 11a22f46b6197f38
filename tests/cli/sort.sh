#!/bin/sh
# SPDX-License-Identifier: MIT
# --sort: keys are in the order in which Python puts the rows of the table by name, for every column, in every format,
# with --top, and of merged tables; what has no order is refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=400 draws=1 distinct=9000
else
    lines=4000 draws=2 distinct=300000
fi

# Lines of a key and a number: few keys are common, and most have as many samples as others. Numbers are none, small, not
# whole, equal as doubles but not as whole numbers, or too large for those.
cat >make_text.py <<'END'
import random, sys
random.seed(int(sys.argv[2]))
keys = [b'', b'a', b'b', b'GET', b'"', b'a"b', b'\\', b'\\x00', b'a\0b', b'\0', b'\xff', b'\xc3', b'\xef\xbf\xbd', b'\x01\x1f',
        'ä€😀'.encode(), b'(other)', b'(invalid)', b'nan', b'k' * 300, b'10', b'9', b'-1.5', b'none', b'huge']
keys += [b'key%d' % i for i in range(40)]
if len(sys.argv) > 3:
    keys = [b'%d' % i for i in range(-20, 60)] + [b'1e1', b'10.0']
numbers = {b'none': [b'x', b''], b'huge': [b'1e300', b'-1e300', b'1e308']}
large = [b'9007199254740992', b'9007199254740993', b'9007199254740994', b'-9007199254740993', b'18446744073709551615', b'1e17',
         b'100000000000000001', b'1e40', b'1e-320']
for _ in range(int(sys.argv[1])):
    key = random.choice(keys)
    if len(key) % 3 == 0: number = random.choice(large + [b'1'])
    else: number = random.choice([b'%d' % random.randrange(5), b'0.%d' % random.randrange(30), b'-7', b'1e3', b'x', b'0'])
    number = random.choice(numbers.get(key, [number]))
    sys.stdout.buffer.write(random.choice([key + b';' + number] * 12 + [b'', b'\xff', b'a']) + b'\n')
END

# order.py COLUMN [TOP]: the rows of a table with a header in the order that is expected, the first TOP ones, without
# (other); (invalid) stays last.
cat >order.py <<'END'
import re, sys
from fractions import Fraction

name, top = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
is_reversed, name = name.startswith('-'), name.lstrip('-')

def value(text):
    if re.fullmatch('-?[0-9]+', text):
        return Fraction(int(text))
    number = float(text)
    return number if abs(number) == float('inf') else Fraction(number)

table = sys.stdin.buffer.read().decode().split('\n')[:-1]
header = table[0].split('\t')
rows = [line.split('\t') for line in table[1:]]
missing = [row for row in rows if row[0] == '(invalid)']
rows = [row for row in rows if row[0] != '(invalid)']
columns = [header.index(name)] + ([header.index(name + '_upper')] if name + '_upper' in header else [])
if name == header[0]:
    rows = rows[::-1] if is_reversed else rows
else:
    with_number = [row for row in rows if row[columns[0]] != 'nan']
    # A sort that is stable: as many stay in order by name.
    with_number.sort(key=lambda row: [(value(row[i]) if is_reversed else -value(row[i])) for i in columns])
    rows = with_number + [row for row in rows if row[columns[0]] == 'nan']
rows = rows if top is None else rows[:top]
for row in rows + (missing if top is None else []):
    sys.stdout.buffer.write(('\t'.join(row) + '\n').encode())
END

# ordered COLUMN [TOP]: writes to `expected` what order.py makes of the file by_name.
ordered()
{
    $python order.py "$@" <by_name >expected || broken "order.py $*"
}

# names: the first column of the last table, without its header, (other) and (invalid).
names()
{
    cut -f 1 | grep -avxF -e '(other)' -e '(invalid)'
}

# in_order TITLE OPTION...: the last run has that header and the rows that are expected.
in_order()
{
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    tail -n +2 out >rows
    same "$1" expected rows
}

# --- a few ---

printf 'b 1\na 2\nb 3\nc 4\nb 5\nc 6\nd x\n' >few
# --- every column, of drawn lines ---

gzip -c few >few.gz
codecs=zstd
"$GPUHISTO" --device=cpu -d gzip few.gz >/dev/null 2>&1 && codecs="zstd gzip"

# by_columns COLUMN...: the table of `way` in the order of each column, in both directions, all of it and the first rows.
by_columns()
{
    "$GPUHISTO" $ENGINE -q $way --header in >by_name || broken "$way"
    for column; do
        for sign in '' -; do
            ordered $sign$column
            for threads in 1 8; do
                run -q $way --header --sort=$sign$column --threads=$threads in
                in_order "$way, $sign$column, $threads threads"
            done
            cat in | run -q $way --header --sort=$sign$column --chunk-size=7
            in_order "$way, $sign$column, pipe, chunks of 7"
            for codec in $codecs; do
                run -q $way --header --sort=$sign$column in.$codec
                in_order "$way, $sign$column, $codec"
            done
            for top in 1 5 1000; do
                ordered $sign$column $top
                run -q $way --header --sort=$sign$column --top=$top in
                tail -n +2 out | grep -avE '^\((other|invalid)\)' >rows
                same "$way, $sign$column, --top=$top" expected rows
            done
            # The others together have all that is left: as many samples as without --sort.
            run -q $way --sort=$sign$column --top=5 --header in
            check "$way, $sign$column: all samples" [ "$(tail -n +2 out | awk -F '\t' '{ sum += $2 } END { print sum }')" = \
                "$(tail -n +2 by_name | awk -F '\t' '{ sum += $2 } END { print sum }')" ]
        done
    done
}

for draw in $(seq 1 $draws); do
    for keys in any numbers; do
        $python make_text.py $lines "$draw" $([ $keys = any ] || echo numbers) >in
        "$HELPERS/make_zstd" -f 500 <in >in.zstd
        gzip -c in >in.gzip
        way="-t ; --by=1"
        by_columns key count
        way="-t ; --by=1:1-2 --invalid=skip"
        by_columns key count
        way="-t ; --by=1 -k2 -s"
        by_columns key count invalid min max sum mean stddev p50 p90 p99 p99.9
        way="-t ; --by=1 -k2 -s --invalid=skip --digits=1"
        by_columns count sum p50
        way="-t ; --by=2 -k2 --quantiles=0,0.25,1 --edges=-1,0,1,1e20"
        by_columns p0 p25 p100 mean
    done
done

# --- every format ---

way="-t ; --by=1 -k2"
"$GPUHISTO" $ENGINE -q $way -s --header in >by_name
for column in key count -count max -mean p90 stddev invalid; do
    ordered $column
    names <expected >expected.names
    run -q $way --sort=$column in
    cut -f 1 out | uniq | names >rows
    # Without statistics a count is that of all samples.
    case $column in *count) ;; *) same "rows, $column" expected.names rows ;; esac
    run -q $way -s -F csv --sort=$column in
    $python -c 'import csv, sys; [print(row[0]) for row in list(csv.reader(sys.stdin))[1:]]' <out | names >rows
    tr -d '"' <expected.names | sed 's/\\x22//g' >expected.csv
    tr -d '"' <rows >rows.csv
    same "csv, $column" expected.csv rows.csv
    run -q $way -s -F json --sort=$column in
    # shellcheck disable=SC2016
    $python -c '
import json, sys
for number, line in enumerate(sys.stdin):
    table = json.loads(line)
    if table["table"] != number + 1 or table["tables"] < number + 1: print("table", number)
    if table["key"] is not None: print("%d %r" % (table["stats"]["count"], table["stats"]["sum"]))' <out >rows
    tail -n +2 by_name >unordered
    $python -c '
import json, sys
for line in sys.stdin:
    row = line.rstrip("\n").split("\t")
    if row[0] != "(invalid)": print("%s %r" % (row[1], json.loads(row[5])))' <expected >expected.json
    same "json, $column" expected.json rows
done
"$GPUHISTO" $ENGINE -q -t ';' --by=1 --header in >by_name
for column in key -key count -count; do
    ordered $column
    names <expected >expected.names
    run -q -t ';' --by=1 --sort=$column -F json in
    $python -c '
import json, sys
[print(row["count"]) for row in json.load(sys.stdin)["bins"]]' <out >rows
    grep -av '^(invalid)' expected | cut -f 2 >expected.counts
    same "json of lines, $column" expected.counts rows
done

# Numbers and times in a heat map are in another order if that is asked for.
awk 'BEGIN { for (i = 1; i <= 60; i++) for (n = 0; n < i % 7 + 1; n++) printf "%d %d\n", i, i * 37 % 61 }' >sequence
run --by=1 -k2 -p --sort=max sequence
sed 1d out | cut -d ' ' -f 1 >rows
sort -u sequence | sort -k2,2nr | sed -n '1,40s/ .*//p' >expected
echo '(other)' >>expected
same "a sequence in another order" expected rows
run --by=1 -k2 -p --sort=-key sequence
sed 1d out | cut -d ' ' -f 1 >rows
seq 60 -1 1 >expected
same "a sequence reversed" expected rows
run --by=1 -k2 -p --sort=key --top=3 sequence
sed 1d out | cut -d ' ' -f 1 >rows
printf '1\n2\n3\n(other)\n' >expected
same "the first of a sequence" expected rows

# Each table of --interval is in that order.
"$HELPERS/dribble" -n 4 -u 20000 <few | run -q --by=1 -k2 -s --interval=0.1 --sort=mean --chunk-size=4
tail -n 4 out | cut -f 1 | tr -d '\n' >rows
check "--interval" [ "$(cat rows)" = cbad ]

# A picture that does not fit on the screen, of 24 lines, has the first keys of that order, and (other).
if "$HELPERS/terminal" 80 true 2>/dev/null; then
    seq 1 50 | awk '{ for (i = 0; i < $1; i++) print "k" $1 }' >steps
    for column in count -count -key; do
        case $column in count) seq 50 -1 1 ;; -key) seq 1 50 | sort -r ;; *) seq 1 50 ;; esac | sed 's/^/k/' >whole
        (cat steps && sleep 0.35) | run_as "$HELPERS/terminal" 80 "$GPUHISTO" $ENGINE --by=1 -p --interval=0.1 --sort=$column
        sed 's/^.*\[J/=\n/' out | awk '/^=/ && tables++ { exit } !/^=/ { print $1 }' >rows
        (sed 21q whole && echo "(other)" && echo "(19") >expected
        same "a screen, $column" expected rows
    done
else
    skip_part "terminals: none can be opened here"
fi

# --- many keys ---

awk -v n=$distinct 'BEGIN { for (i = 0; i < 3 * n; i++) printf "k%d %d.%d\n", i * 7919 % n, i * i % 9973, i % 10 }' >many
way="--by=1 -k2 -s"
"$GPUHISTO" $ENGINE $way --header many >by_name
for column in -count sum p90; do
    ordered $column
    for threads in 1 2 8; do
        run $way --header --sort=$column --threads=$threads many
        in_order "$distinct keys, $column, $threads threads"
    done
done

# --- merged ---

if can_share; then
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -q -t ';' --by=1 -k2 -s -F json --part=$k/3 --sort=-max in >share$k
        "$GPUHISTO" $ENGINE -q -t ';' --by=1 -F json --part=$k/3 --sort=count in >lines$k
    done
    for column in key -key count -count sum -stddev p99 invalid; do
        for format in tsv csv json; do
            run -q -t ';' --by=1 -k2 -s -F $format --sort=$column --top=30 in
            mv out expected
            run_as "$GPUHISTO" --merge -q -s -F $format --sort=$column --top=30 share3 share1 share2
            sed -i 's/"share":{.*},"total"/"total"/' out
            counts "merged, $column, $format" expected
        done
        run -q -t ';' --by=1 -k2 --sort=$column in
        mv out expected
        run_as "$GPUHISTO" --merge -q --threads=3 --sort=$column share1 share2 share3
        counts "merged without statistics, $column" expected
        COLUMNS=70 run -q -t ';' --by=1 -k2 -p --sort=$column in
        mv out expected
        COLUMNS=70 run_as "$GPUHISTO" --merge -q -p --sort=$column share1 share2 share3
        counts "a merged heat map, $column" expected
    done
    for column in key -key count -count; do
        run -q -t ';' --by=1 --sort=$column in
        mv out expected
        run_as "$GPUHISTO" --merge -q --sort=$column lines1 lines2 lines3
        counts "merged lines, $column" expected
    done
    run_as "$GPUHISTO" --merge -q -s --quantiles=0.25 --sort=p25 share1 share2 share3
    run_as cut -f 1 out
    mv out merged
    run -q -t ';' --by=1 -k2 --quantiles=0.25 --sort=p25 in
    run_as cut -f 1 out
    counts "merged, p25" merged
else
    skip_part "--merge: $why_not"
fi

summary

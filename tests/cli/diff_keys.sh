#!/bin/sh
# SPDX-License-Identifier: MIT
# --diff of tables by key: keys that came, went or changed are where Python puts them, with what both tables say of them, in
# every format and order; tables that asked different things are refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"
can_share || skip "$why_not"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=200 seeds=1 many=3000
else
    lines=4000 seeds="1 2 3 4" many=200000
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

# make_text.py LINES SEED SIDE: records of four fields, of which some come and go with the side.
cat >make_text.py <<'END'
import random, sys
random.seed(int(sys.argv[2]) * 2 + int(sys.argv[3]))
texts = ['', 'a', 'ab', 'a\0', '\0', '\1\0\0\0', 'é', '\udcff', 'a b', ' ', '(other)', '(invalid)', '\\', '\\x00', '"', 'a"b', ',',
         '"a,b"', '/x/17?q', '\t', 'k' * 90]
texts = random.sample(texts, 15)
numbers = ['0', '7', '10', '9', '-3', '1e1', '200', '9007199254740993', '9007199254740992']
numbers = random.sample(numbers, 6)
large = ['9007199254740993', '9007199254740992', '18446744073709551615', '1e300', '-1e300', 'inf', '-inf', '1e-320']
for _ in range(int(sys.argv[1])):
    text = random.choice(texts[:random.randrange(1, len(texts))])
    number = random.choice(['%d' % random.randrange(5), '0.%d' % random.randrange(30), '-7', 'x', random.choice(large)])
    fields = [text, random.choice(numbers), random.choice('abc'), number]
    if text == 'a':
        fields[3] = 'x'
    fields = fields[:random.choice([4] * 12 + [1, 2, 3])]
    sys.stdout.buffer.write(';'.join(fields).encode('utf-8', 'surrogateescape') + b'\n')
END

# rows.py PARTS BEFORE AFTER NAMES [COLUMN [TOP]]: the rows that are expected, made of two tables in TSV whose names have so
# many parts, with or without a header, and of one with all names in order. Rows are in order by the rise of COLUMN, or
# without one by the change of the count; the rest after TOP is one row, without statistics.
cat >rows.py <<'END'
import sys
from fractions import Fraction

parts = int(sys.argv[1])
column, top = (sys.argv[5:] + ['', ''])[:2]
is_reversed, column = column.startswith('-'), column.lstrip('-')

def table(path):
    with open(path, 'rb') as file:
        rows = [line.split('\t') for line in file.read().decode().split('\n')[:-1]]
    has_header = rows and 'count' in rows[0]
    header = rows.pop(0)[parts:] if has_header else ['count']
    return header, {tuple(row[:parts]): dict(zip(header, row[parts:])) for row in rows}

def number(text):
    try:
        return Fraction(int(text))
    except ValueError:
        value = float(text)
        return Fraction(value) if abs(value) < 2.0 ** 126 and value.is_integer() else value

# Whole numbers exactly, others as doubles.
def rise(key, name):
    old, new = (number(side.get(key, nothing)[name]) for side in (before, after))
    is_whole = isinstance(old, Fraction) and isinstance(new, Fraction)
    old, new = (old, new) if is_whole else (float(old), float(new))
    return 0 if old == new else new - old

header, before = table(sys.argv[2])
_, after = table(sys.argv[3])
_, names = table(sys.argv[4])
nothing = {name: 'nan' for name in header}
nothing.update(count='0', invalid='0', sum='0')
shown = [name for name in header if name == 'mean' or name.startswith('p')]
is_missing = lambda key: key[0] == '(invalid)'
keys = [key for key in names if not is_missing(key)]
missing = [key for key in names if is_missing(key)]
if not column:
    keys.sort(key=lambda key: -abs(rise(key, 'count')))
elif column == 'key':
    keys = keys[::-1] if is_reversed else keys
else:
    columns = [column] + [column + '_upper'] * (column + '_upper' in header)
    rises = {key: [rise(key, name) for name in columns] for key in keys}
    has_rise = [key for key in keys if rises[key][0] == rises[key][0]]
    has_rise.sort(key=lambda key: [x if is_reversed else -x for x in rises[key]])
    keys = has_rise + [key for key in keys if key not in set(has_rise)]

def write(key, old, new, others):
    factor = '%.6g' % (new / old) if old else 'inf' if new else 'nan'
    sys.stdout.buffer.write(('\t'.join([*key, str(old), str(new), str(new - old), factor] + others) + '\n').encode())

def counts(keys):
    return [sum(int(side.get(key, nothing)['count']) for key in keys) for side in (before, after)]

end = int(top) if top else len(keys)
for key in keys[:end]:
    sides = [side.get(key, nothing) for side in (before, after)]
    of = [name for name in shown if not name.endswith('_upper')]
    others = [side[part] for name in of for side in sides for part in (name, name + '_upper') if part in header]
    write(key, *counts([key]), others)
if keys[end:]:
    write(('(other)',) + ('',) * (parts - 1), *counts(keys[end:]), [])
for key in missing:
    write(key, *counts([key]), [])
END

# read.py FORMAT PARTS: the rows of a comparison in TSV, from CSV or JSON.
cat >read.py <<'END'
import csv, io, json, sys
text = sys.stdin.buffer.read().decode()
if sys.argv[1] == 'csv':
    rows = [[field.replace('"', '\\x22') for field in row] for row in csv.reader(io.StringIO(text, newline=''))]
else:
    document = json.loads(text)
    assert document['schema'] == 'gpuhisto-diff/1', document['schema']
    parts, rows = int(sys.argv[2]), []
    for row in document['bins']:
        if 'keys' in row or row['key'] is None:
            key = ['(other)' if 'keys' in row else '(invalid)'] + [''] * (parts - 1)
        else:
            key = row.get('key_bytes', row['key'])
            key = key if parts > 1 else [key]
            key = [bytes.fromhex(part) if 'key_bytes' in row else part.encode() for part in key]
            key = [repr(part) for part in key]
        rows.append(key + [str(row[name]) for name in ('before', 'after', 'difference', 'factor')])
    for side in 'before', 'after':
        assert document[side]['total'] == sum(row[side] for row in document['bins']) or document['mode'] == 'numbers'
sys.stdout.buffer.write(''.join('\t'.join(row) + '\n' for row in rows).encode())
END

# bytes.py PARTS: the names in TSV as Python shows their bytes, which read.py does with those of JSON.
cat >bytes.py <<'END'
import re, sys
parts = int(sys.argv[1])
def unescape(text):
    return re.sub(rb'\\(\\|x..)', lambda it: b'\\' if it[1] == b'\\' else bytes.fromhex(it[1][1:].decode()), text)
for line in sys.stdin.buffer.read().split(b'\n')[:-1]:
    row = line.split(b'\t')
    if row[0] not in (b'(other)', b'(invalid)'):
        row[:parts] = [repr(unescape(part)).encode() for part in row[:parts]]
    sys.stdout.buffer.write(b'\t'.join(row) + b'\n')
END

diffs()
{
    run_as "$GPUHISTO" -q --diff "$@"
}

by()
{
    printf -- '--by=%s ' $1
}

# table NAME FILE OPTION...
table()
{
    table_=$1
    shift
    "$GPUHISTO" $ENGINE -q -t ';' -F json "$@" >"$table_" || broken "a table of $*"
}

for seed in $seeds; do
    for side in 0 1; do
        $python make_text.py "$lines" "$seed" $side >text.$side || broken make_text.py
    done
    cat text.0 text.1 >text
    for way in 1 2 '1 2' '2 3 1' '1 2 3 4'; do
        by=$(by "$way")
        parts=$(printf '%s\n' $way | wc -l)
        for side in 0 1; do
            $oracle_by -t ';' $by <text.$side >counted.$side || broken "oracle_by.py $by"
        done
        $oracle_by -t ';' $by <text >names
        table before text.0 $by --threads=8 --chunk-size=100
        cat text.1 | table after $by
        for order in '' key -key count -count; do
            for top in '' 1 3 1000; do
                $python rows.py "$parts" counted.0 counted.1 names "$order" $top >expected || broken "rows.py $order"
                diffs ${order:+--sort=$order} ${top:+--top=$top} before after
                counts "$way, --sort=$order --top=$top" expected
                diffs -F csv ${order:+--sort=$order} ${top:+--top=$top} before after
                $python read.py csv "$parts" <out >rows
                same "$way, CSV, --sort=$order --top=$top" expected rows
                diffs -F json ${order:+--sort=$order} ${top:+--top=$top} before after
                $python read.py json "$parts" <out >rows
                $python bytes.py "$parts" <expected >expected.json || broken bytes.py
                cut -f "1-$((parts + 3))" rows >columns # the factor is another text of the same number
                cut -f "1-$((parts + 3))" expected.json >expected
                same "$way, JSON, --sort=$order --top=$top" expected columns
            done
        done
        # The same tables by shards, and through a pipe.
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE -q -t ';' $by -F json --part=$part/3 text.0 || broken "--part=$part/3"
        done >shards
        diffs before after
        cp out expected
        "$GPUHISTO" --merge -F json after | "$GPUHISTO" -q --diff shards - >out
        same "$way, shards and a pipe" expected out
        # Numbers, of which the oracle has what --stats prints of each side.
        table before.n -k 4 -s $by text.0
        table after.n -k 4 -s $by text.1
        for side in 0 1; do
            run -q -t ';' -s --header --quantiles=0.5,0.99 --sort=key $by -k 4 text.$side
            cp out stats.$side
        done
        run -q -t ';' -s --quantiles=0.5,0.99 --sort=key --header $by -k 4 text
        cp out names
        for order in '' key -key count -count invalid min max -max sum -sum mean -mean stddev p50 -p99; do
            diffs --quantiles=0.5,0.99 ${order:+--sort=$order} before.n after.n
            $python rows.py "$parts" stats.0 stats.1 names "$order" >expected || broken "rows.py $order"
            grep -av '^(invalid)' out >rows
            grep -av '^(invalid)' expected >all
            same "$way, --stats --sort=$order" all rows
            cut -f "1-$parts" rows | $python bytes.py "$parts" >expected
            diffs -F json ${order:+--sort=$order} -s before.n after.n
            $python read.py json "$parts" <out | grep -av '^(invalid)' | cut -f "1-$parts" >rows
            same "$way, JSON, --stats --sort=$order" expected rows
        done
    done
done
rm -f before* after* text* names

# --- many keys ---

$python - "$many" <<'END'
import random, sys
random.seed(5)
for side in 0, 1:
    with open('text.%d' % side, 'w') as file:
        for _ in range(int(sys.argv[1])):
            file.write('%d;%d\n' % (random.randrange(int(sys.argv[1])), random.randrange(3)))
END
for side in 0 1; do
    $oracle_by -t ';' --by=1 <text.$side >counted.$side
    table table.$side --by=1 text.$side
done
cat text.0 text.1 | $oracle_by -t ';' --by=1 >names
$python rows.py 1 counted.0 counted.1 names >expected
diffs table.0 table.1
counts "many keys" expected
$python rows.py 1 counted.0 counted.1 names '' 10 >expected
diffs --top=10 table.0 table.1
counts "many keys, --top=10" expected
diffs --max-keys=$((many / 2)) table.0 table.1
refuses "--max-keys" 1 "more than $((many / 2)) keys; use a greater --max-keys"

printf '/a 5\n/a 7\n/b 1\nx\n/c  3\n/a 9\n/gone x\n' >old
printf '/a 50\n/b 1\n/b 1\n/b z\n/new 3\n/c 3\n/c 4\n/c 5\n/c 6\n' >new
table old.n -t ' ' --by=1 -k2 -s old
table new.n -t ' ' --by=1 -k2 -s new

# --- memory that cannot be had ---

if can_interpose; then
    for options in '-s --sort=p99' '-F json --top=1' -p; do
        diffs $options old.n new.n
        cp out expected
        for faults in '' FAULT_FOR_GOOD=1; do
            n=1
            while n=$((n + 13)); do
                run_as env $faults FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 FAULT_MARK="$work/mark" \
                    LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" -q --diff $options old.n new.n
                [ -s mark ] || break
                : >mark
                case $(cat status) in
                0) counts "$options, $faults, no memory at $n" expected ;;
                *) refuses "$options, $faults, no memory at $n" 1 memory ;;
                esac
            done
            check "$options, $faults: some tried" [ $n -gt 300 ]
        done
    done
else
    skip_part "memory that cannot be had: $why_not"
fi

summary

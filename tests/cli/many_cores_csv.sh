#!/bin/sh
# SPDX-License-Identifier: MIT
# --csv of a file by several workers, who scan pieces of it before they know whether these begin in quotes:
# the tables, the message and the exit status are those of a pipe, which is read in order, and the counts are
# those of Python's csv. Quotes are drawn that are doubled, never closed, or followed by text; fields of many
# lines, and longer than pieces; and endings of lines of both kinds.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"

if [ "$SCALE" = small ] || [ "$SANITIZED" = yes ]; then
    seeds=12
else
    seeds=150
fi

cat >draw.py <<'END'
import csv, io, random, sys
random.seed(int(sys.argv[1]))
PLAIN = ['1', '22', 'abc', '', 'x y', '3.5']
QUOTED = ['a,b', 'q""q', 'l\nm', '', ',', '\n\n', 'a\r\nb', 'x' * 150]
ODD = ['"a"b', 'ab"c', '"l\nm"x', '"x', '""', '"a\n""b"', ' "q"', '"l\nm" ']
kind = ['mirrored', 'quoted', 'odd', 'quoted', 'plain', 'odd'][int(sys.argv[1]) % 6]
rows, rare = random.choice([300, 3000, 10000]), random.choice([1, 1, 50, 500])


def field(wild):
    if kind == 'mirrored':  # as valid if quotes that open are taken for those that close
        return random.choice(['","', '"\n"'])
    if kind == 'plain' or random.random() < .6:
        return random.choice(PLAIN)
    return random.choice(ODD) if wild else '"%s"' % random.choice(QUOTED)


out = io.StringIO(newline='')
for row in range(rows):
    wild = kind == 'odd' and random.randrange(rare) == 0
    if kind != 'plain' and random.random() < .0005:
        out.write('k0,1,"' + 'z\n' * random.randrange(9000) + '",6\n')
    out.write('k%d,' % random.randrange(9) + ','.join(field(wild) for _ in range(3)) + random.choice(['\n', '\n', '\r\n']))
if random.random() < .3:
    out.write('k1,2,3,4')
text = out.getvalue()
open('in', 'w', newline='').write(text)
if kind != 'odd':
    counts = {}
    for row in csv.reader(io.StringIO(text, newline='')):
        counts[row[0]] = counts.get(row[0], 0) + 1
    open('counts', 'w').writelines('%s\t%d\n' % item for item in sorted(counts.items()))
END

# same_as_in_order OPTION...: of in, by many workers and in small chunks.
same_as_in_order()
{
    "$GPUHISTO" --device=cpu --csv "$@" - <in >expected 2>told
    expected_status=$?
    for how in "--threads=2 --chunk-size=4K" "--threads=8 --chunk-size=2K" "--threads=8 --chunk-size=64K" --threads=3; do
        "$GPUHISTO" --device=cpu --csv "$@" $how in >out 2>err
        check "seed $seed: $* $how: the exit status" [ $? = $expected_status ]
        sed -i "s/^gpuhisto: in:/gpuhisto: standard input:/" err
        check "seed $seed: $* $how: the table" cmp -s out expected
        check "seed $seed: $* $how: the message" cmp -s err told
    done
}

for seed in $(seq $seeds); do
    rm -f counts
    $python draw.py $seed || broken "draw.py"
    if [ -f counts ]; then
        "$GPUHISTO" --device=cpu --csv --by=1 --threads=8 --chunk-size=4K in >out
        check "seed $seed: the counts of Python" cmp -s out counts
    fi
    same_as_in_order -n -k2
    same_as_in_order --by=3
    same_as_in_order -n -k2 --by=1 -s
    same_as_in_order -n -k-1 --header-line --invalid=error
    same_as_in_order --by=2 --lines-with=a
done

# Files that end a byte before, at and behind the end of a piece, and of the bytes that are read with it.
$python draw.py 1 || broken "draw.py"
mv in whole
for size in 0 1 2047 2048 2049 4095 4096 4097 6143 6144 6145 8191 8192 8193 10239 10240 10241 12287 12288 12289; do
    head -c $size whole >in
    seed="$size bytes"
    same_as_in_order --by=1
    same_as_in_order -n -k2 -s
done

summary

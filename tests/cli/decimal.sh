#!/bin/sh
# SPDX-License-Identifier: MIT
# --decimal=, on drawn numbers: tables and statistics are those of the same text with points, as Python's re
# translates it, in every way of finding a field, by key, however chunks are cut; and what it refuses.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300
find_python || skip "python3 is not installed"

cat >draw.py <<'END'
import random, re, sys
random.seed(int(sys.argv[1]))
COMMA = re.compile(r'([+-]?)(\d*|\d{1,3}(?:\.\d{3})+)(?:,(\d*))?([eE][+-]?\d+)?')
WORDS = ['', ',', '.', '-', 'inf', '-Infinity', 'nan', '1.234.5', '12.34', '1234.567', '.123', '1..234', '1.234,5.6', '1,2,3',
         '1,5e3', '1.234e2', '0x1F', '9.007.199.254.740.993', '1.000.000', '0.001', ',5', '5,', '-1.234,', '007,50']


def number():
    if random.random() < .15:
        return random.choice(WORDS)
    whole = str(random.randrange(10 ** random.randrange(1, 19)))
    if random.random() < .5:
        whole = '{:,}'.format(int(whole)).replace(',', '.')
    part = ',' + str(random.randrange(10 ** random.randrange(1, 9))) if random.random() < .6 else ''
    return random.choice(['', '', '-', '+']) + whole + part + random.choice(['', '', '', '', 'e3'])


def with_point(text):
    found = COMMA.fullmatch(text)
    if not found:
        return text if text.lower().lstrip('+-') in ('inf', 'infinity') else 'x'
    sign, whole, part, power = found.groups()
    return sign + whole.replace('.', '') + ('.' + part if part is not None else '') + (power or '')


with open('comma', 'w') as comma, open('point', 'w') as point:
    for _ in range(int(sys.argv[2])):
        text, key, quote = number(), random.choice('abc'), random.choice(['', '', '"'])
        for out, shown in (comma, text), (point, with_point(text)):
            out.write('%s;%s%s%s;rt=%s\n' % (key, quote, shown, quote, shown))
END

# same_as_with_points OPTION...
same_as_with_points()
{
    "$GPUHISTO" --device=cpu -n "$@" point >expected 2>/dev/null
    for how in --threads=1 "--threads=3 --chunk-size=1" "--threads=8 --chunk-size=100"; do
        "$GPUHISTO" --device=cpu -n --decimal=, "$@" $how comma >out 2>/dev/null
        same "seed $seed: $* $how" expected out
    done
}

for seed in 1 2 3 4 5 6; do
    $python draw.py $seed 1500 || broken "draw.py"
    same_as_with_points -t';' -k2
    same_as_with_points -t';' -k2 -s
    same_as_with_points -t';' -k2 --digits=5 --by=1
    same_as_with_points -t';' -k2 --by=1 -s
    same_as_with_points --csv -t';' -k2 -s
    same_as_with_points --after=rt= -s
    same_as_with_points -t';' -k2 -s --where='2>=-1000.5' --where='2<1e9'
done
gzip -c comma >comma.gz
"$GPUHISTO" --device=cpu -nt';' -k2 -s --decimal=, comma 2>/dev/null >expected
for part in 1/2 2/2; do
    "$GPUHISTO" --device=cpu -nt';' -k2 -s --decimal=, --part=$part -F json comma 2>/dev/null >part.${part%/2}
done
"$GPUHISTO" --merge -s part.1 part.2 2>/dev/null >out
same "merged parts" expected out
"$GPUHISTO" --device=cpu -nt';' -k2 -F json --decimal=, comma >one 2>/dev/null
"$GPUHISTO" --device=cpu -nt';' -k2 -F json point >other 2>/dev/null
run_as "$GPUHISTO" --merge one other
message "a table of numbers with points is merged" "other: was counted without --decimal=,, but one with"

summary

#!/bin/sh
# SPDX-License-Identifier: MIT
# --weight: what is printed is what is printed of the same records, each as often as it weighs, which Python writes, in
# every way of finding fields, however chunks are cut; large weights by oracle_by.py and fractions; sums that do not fit;
# and what is refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=400 seeds="1"
else
    lines=3000 seeds="1 2 3 4"
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

# Writes records in five ways, each three times: with weights; as often as they weigh, where lines are counted; and where
# numbers are. There a record without a weight is one without a key, or without a number.
cat >draw.py <<'END'
import json, random, sys
random.seed(int(sys.argv[2]))
WEIGHTS = {'0': 0, '1': 1, '2': 2, '3': 3, '17': 17, '007': 7, '+3': 3, '3.0': 3, '4.': 4, '-0': 0, '-0.0': 0, '"2"': 2,
           '00000000000000000000000000000002': 2, '2.00000000000000000000000000000000': 2,
           '-1': None, 'x': None, '': None, '1e1': None, '2.5': None, '0x2': None, '.0': None, '1,0': None, '+': None, '--1': None,
           '9223372036854775808': None, '18446744073709551618': None, '99999999999999999999999': None, 'nan': None, 'inf': None,
           '2\0': None, '2\v2': None, 'é': None, '2:2': None}
NUMBERS = ['0', '7', '10', '9', '-3', '1e1', '200', '404', '0.1', '123456.789', '1e300', '-1e300', '1e-300', '9007199254740993', '18446744073709551615',
           '-9007199254740995', '5e-324', '-0', 'x', 'inf', '-inf', '1e25']
CLOSE = ['0', '7', '10', '9', '-3', '12.25', '200', '404', '0.1', '123456.789', 'x', '77']
ways = ('plain', 'csv', 'json', 'words', 'line')
out = {way: [open(way + end, 'wb') for end in ('', '.lines', '.numbers')] for way in ways}

def csv(text):
    if set(text) & set('";\n') or random.random() < .3:
        return '"%s"' % text.replace('"', '""')
    return text

def member(name, text):
    number = all(c in '0123456789' for c in text) and (text == '0' or not text.startswith('0')) and text
    return '"%s":%s' % (name, text if number and random.random() < .5 else json.dumps(text, ensure_ascii=random.random() < .5))

def write(way, fields):
    a, b, w, n = fields + [''] * (4 - len(fields))
    if way == 'plain':
        return ';'.join(fields)
    if way == 'csv':
        return ';'.join(csv(field) for field in fields)
    if way == 'json':
        return '{%s}' % ','.join(member(name, text) for name, text in zip('abwn', fields))
    if way == 'words':
        return random.choice(['', ' ', '\t']) + ' '.join(field.replace('\v', '_') or '-' for field in fields)
    return '|'.join(fields)

for _ in range(int(sys.argv[1])):
    w = random.choice(list(WEIGHTS)[:12] if random.random() < .9 else list(WEIGHTS))
    number = random.choice(NUMBERS if int(sys.argv[2]) % 2 else CLOSE)
    fields = [random.choice('abcdefg'), random.choice(['', 'x', 'xy', 'é', 'key'] + ['k%d' % random.randrange(300)]), w, number]
    kept = fields[:4 if random.random() < .97 else random.randrange(1, 4)]
    for way in ways:
        plain, of_lines, of_numbers = out[way]
        weight = WEIGHTS[w] if len(kept) > (3 if way == 'line' else 2) else None
        if way in ('csv', 'json') and w == '"2"':
            weight = None  # which quotes are part of
        record = (write(way, kept) + '\n').encode()
        plain.write(record)
        is_invalid = weight is None
        of_lines.write((write(way, kept[:1]) + '\n').encode() if is_invalid else record * weight)
        if is_invalid and len(kept) == 4:
            record = (write(way, kept[:3] + ['x']) + '\n').encode()
        of_numbers.write(record * (1 if is_invalid else weight))
END

# as_often WAY WEIGHTS LIKE OPTION...: the options print the same of the records with weights as of the others, without.
as_often()
{
    way=$1 weighted=$2 like=$3
    shift 3
    "$GPUHISTO" --device=cpu -q "$@" $like >expected 2>/dev/null || broken "$* $like"
    for how in "--threads=1 $way" "--threads=8 --chunk-size=100 $way" "--threads=3 --chunk-size=1000 $way.zst" $gzipped; do
        run -q "$@" $weighted ${how%:*}
        read -r status <status
        check "seed $seed: $weighted $* $how: status" [ "$status" -eq 0 ]
        same "seed $seed: $weighted $* $how" expected out
    done
    cat $way | run -q "$@" $weighted --chunk-size=64
    same "seed $seed: $weighted $*, pipe" expected out
}

for seed in $seeds; do
    $python draw.py "$lines" "$seed" || broken "draw.py"
    for way in plain csv json words line; do
        "$HELPERS/make_zstd" -f 1000 <$way >$way.zst
        gzip -c $way >$way.gz
        gzipped=$way.gz
        "$GPUHISTO" --device=cpu -d gzip $way.gz >/dev/null 2>&1 || gzipped=
        case $way in
        plain) options='-t ;' a=1 b=2 w=3 n=4 ;;
        csv) options='--csv -t ;' a=1 b=2 w=3 n=4 ;;
        json) options='' a=.a b=.b w=.w n=.n ;;
        words) options='' a=1 b=2 w=3 n=4 ;;
        line) options='--line=$a|$b|$w|$n' a=a b=b w=w n=n ;;
        esac
        for by in "--by=$b" "--by=$b --by=$a" "--by=$b:1-1 --top=2 --percent" "--by=$b --sort=count --invalid=skip"; do
            as_often $way --weight=$w $way.lines $options $by
        done
        [ $way = line ] || as_often $way --weight=$w $way.lines $options --by=$b "--where=$a!=b"
        for numbers in "" "-s" "--digits=5 --percent" "-B20 --min=0 --max=100 --invalid=skip" "--by=$a" "--by=$a -s --quantiles=0.25,0.999" \
            "--by=$a --by=$b -s --sort=sum" "-s --lines-with=a" "--each" "-s --each"; do
            case $numbers in
            *each) # which prints the name
                cp $way.numbers expanded
                "$GPUHISTO" --device=cpu -q $options -k $n $numbers $way.numbers | sed "s/$way.numbers/$way/" >expected
                run -q $options -k $n --weight=$w $numbers $way
                same "seed $seed: $way $numbers" expected out
                ;;
            *) as_often $way --weight=$w $way.numbers $options -k $n $numbers ;;
            esac
        done
    done
    run -q -t ';' -k 4 --weight=3 -s --also -t ';' -k 4 -s --digits=2 --also -t ';' -k 4 --weight=-1 -B3 plain
    {
        "$GPUHISTO" --device=cpu -q -t ';' -k 4 -s plain.numbers
        echo
        "$GPUHISTO" --device=cpu -q -t ';' -k 4 -s --digits=2 plain
        echo
        "$GPUHISTO" --device=cpu -q -t ';' -k 4 --weight=-1 -B3 -s plain
    } >expected
    same "seed $seed: --also" expected out
    for cpu in $(kernels_here); do
        for numbers in "" "-s" "--by=2 -s"; do
            "$GPUHISTO" --device=cpu -q -t ';' -k 4 $numbers plain.numbers >expected
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q -t ';' -k 4 $numbers --weight=3 plain
            same "seed $seed: $numbers, $cpu" expected out
        done
    done
    if can_share; then
        for numbers in "--by=2" "-k 4 -s" "-k 4 --by=2 -s"; do
            for part in 1 2 3; do
                "$GPUHISTO" $ENGINE -q -t ';' --weight=3 $numbers -F json --part=$part/3 plain >part.$part || broken "--part=$part/3"
            done
            "$GPUHISTO" --device=cpu -q -t ';' --weight=3 $numbers plain >expected
            run_as "$GPUHISTO" -q $(printf '%s\n' "$numbers" | grep -o -e -s) --merge part.2 part.3 part.1
            same "seed $seed: --merge, $numbers" expected out
        done
    fi
done

# --- large weights, by fractions ---

cat >large.py <<'END'
import random, sys
random.seed(int(sys.argv[1]))
exponents = range(-300, 300, 40) if int(sys.argv[1]) % 2 else range(-3, 9)
for i in range(int(sys.argv[2])):
    weight = random.choice([0, 1, 2, random.randrange(1 << 20), random.randrange(1 << 32), random.randrange(1 << 53)])
    if i < 2:
        weight = ((1 << 63) - 1) >> i
    number = random.choice(['%.3fe%d' % (random.uniform(-10, 10), random.choice(exponents)), random.randrange(-99, 99),
                            random.randrange(1 << 53, 1 << 64), -random.randrange(1 << 53, 1 << 64), 'x'])
    print(number, random.choice('abcdef'), 'all', weight)
END
# Mean and deviation of all numbers, each rounded once.
cat >moments.py <<'END'
import math, sys
from fractions import Fraction

def root(fraction):
    """Returns the root of the fraction rounded to 53 bits, which may be more than a double holds."""
    power = 600 if fraction > 1 << 1000 else 0
    return math.sqrt(fraction.numerator / (fraction.denominator << 2 * power)) * 2.0 ** power

total, sums, squares = 0, Fraction(0), Fraction(0)
for line in open('large'):
    number, _, _, weight = line.split()
    if number == 'x':
        continue
    value = Fraction(int(number)) if number.lstrip('-').isdigit() else Fraction(float(number))
    total += int(weight)
    sums += value * int(weight)
    squares += value * value * int(weight)
mean = sums / total
print(mean.numerator / mean.denominator, root(squares / total - mean * mean))
END
for seed in 1 2 3 4 $(few 5 5 6 7 8 9); do
    $python large.py $seed 300 >large
    for by in 2 3 "2 --by=3"; do
        $oracle_by -k 1 --weight=4 --by=$by <large >expected
        for how in --threads=1 "--threads=8 --chunk-size=100"; do
            run -q -s -k 1 --by=$by --weight=4 $how large
            tail -n +2 out | cut -f 1-$(head -n 1 expected | tr '\t' '\n' | wc -l) >rows
            same "seed $seed: large weights, --by=$by, $how" expected rows
        done
        $oracle_by --weight=4 --by=$by <large >expected
        run -q --by=$by --weight=4 large
        same "seed $seed: large weights of lines, --by=$by" expected out
    done
    $oracle_by -k 1 --weight=4 --by=3 <large | cut -f 2- | tr '\t' '\n' >expected
    run -q -s -k 1 --weight=4 --chunk-size=100 large
    head -n 5 out | cut -f 2 >rows
    same "seed $seed: large weights without a key" expected rows
    $python moments.py >expected
    sed -n 's/^mean\t//p; s/^stddev\t//p' out | $python -c 'import sys; print(*(float(line) for line in sys.stdin))' >rows
    same "seed $seed: mean and deviation" expected rows
    run -q -s -k 1 --weight=4 --by=3 large
    sed 1d out | tr '\t' '\n' | sed -n '7,8p' | $python -c 'import sys; print(*(float(line) for line in sys.stdin))' >rows
    same "seed $seed: mean and deviation of a key" expected rows
done

# --- more samples and keys than a thread holds, and records that are too long ---

awk 'BEGIN { srand(5); for (i = 0; i < 150000; i++) print int(rand() * 9), "k" int(rand() * rand() * 50000), i % 7 + 0.25 }' >many
for how in --threads=1 "--threads=8 --chunk-size=10000"; do
    $oracle_by --weight=1 --by=2 <many >expected
    run --weight=1 --by=2 $how many
    counts "many keys, $how" expected
    $oracle_by -k 3 --weight=1 --by=2 <many >expected
    run -s -k 3 --weight=1 --by=2 $how many
    tail -n +2 out | cut -f 1-6 >rows
    same "numbers of many keys, $how" expected rows
    awk '{ for (i = 0; i < $1; i++) print }' many | "$GPUHISTO" --device=cpu -k 3 --by=2 >expected
    run -k 3 --weight=1 --by=2 $how many
    counts "rows of many keys, $how" expected
done
summary

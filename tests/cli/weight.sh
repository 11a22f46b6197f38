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
{ printf '2;a;1\n3;'; head -c 1048576 /dev/zero | tr '\0' b; printf ';1\n4;a;1\n'; } >long
printf 'a\t6\n(invalid)\t1\n' >expected
run -q -t ';' --by=2 --weight=1 long
counts "a line that is too long" expected
printf '1\t6\t1.01\ninvalid\t1\n' >expected
run -q -t ';' -k 3 --weight=1 long
counts "a line that is too long, of numbers" expected
run -t ';' -k 3 --weight=1 --invalid=error long
refuses "a line that is too long" 1 "gpuhisto: long: line 2: longer than 1048576 bytes"

# --- sums at the edge of 64 bits ---

most=9223372036854775807
printf '%s a 1\n%s b 2\n1 c 3\n0 d 4\n' $most $most >fits
printf '1 d 4\n' | cat fits - >too_many
too_large="gpuhisto: the weights add up to more than 18446744073709551615; count fewer lines, as with --where or --lines-with"
printf 'a\t%s\nb\t%s\nc\t1\n' $most $most >expected
run --by=2 --weight=1 fits
counts "2^64 - 1 in all" expected
printf '18446744073709551615\n' >expected
run -k3 --weight=1 -F json fits
sed 's/.*"total":\([0-9]*\),.*/\1/' out >rows
same "2^64 - 1 in all, of numbers" expected rows
for options in --by=2 -k3 "-s -k3" "-s -k3 --by=2" "-k3 --each" "-k3 --interval=0.1" "-k3 --also -k3 --weight=1" "--by=2 --top=1"; do
    for how in "" "--threads=8 --chunk-size=8"; do
        run --weight=1 $options $how too_many
        refuses "2^64 in all, $options $how" 1 "$too_large"
    done
done
run --weight=1 -k3 too_many fits --part=1/1
refuses "2^64 in a part" 1 "$too_large"
if can_share; then
    "$GPUHISTO" $ENGINE -q --by=2 --weight=1 -F json fits >table.1
    printf '1 e\n' | "$GPUHISTO" $ENGINE -q --by=2 --weight=1 -F json >table.2
    run_as "$GPUHISTO" --merge table.1 table.2
    refuses "2^64 in tables" 1 "gpuhisto: table.2: the total exceeds 2^64"
    "$GPUHISTO" $ENGINE -q --by=2 -F json fits >without
    run_as "$GPUHISTO" --merge table.1 without
    refuses "another table" 1 "gpuhisto: without: was counted without --weight=1, but table.1 with --weight=1"
    check "words" grep -qF '"options":["--by=2","--weight=1"]' table.1
fi

# --- names, messages, what is refused ---

printf 'n,hits,route\n1,2,/a\n2,3,/b\n4,x,/b\n3,"1",/a\n' >one.csv
printf 'route,n,hits\n/a,5,10\n' >other.csv
printf '/a\t13\n/b\t3\n(invalid)\t1\n' >expected
run -q --csv --header-line --by=route --weight=hits one.csv other.csv
counts "names of columns" expected
cat one.csv | run -q --csv --header-line --by=route --weight=hits --chunk-size=5 - other.csv
counts "names of columns, from a pipe" expected
printf 'count\t16\ninvalid\t1\nmin\t1\nmax\t5\nsum\t61\n' >expected
run -q -s --csv --header-line -k n --weight=hits one.csv other.csv
head -n 5 out >rows
same "names of columns, of numbers" expected rows
run --csv --header-line --by=route --weight=none one.csv
refuses "no such column" 1 "gpuhisto: one.csv: no column is called 'none'; it has 'n', 'hits', 'route'"
message_of="is not a whole number from 0 to 9223372036854775807"
run --csv --header-line --by=route --weight=hits one.csv
message "no weight" "gpuhisto: one.csv: line 4: the weight 'x' $message_of"
printf 'a 1 5\nb 0 x\n\nc -2 6\nd 1 y\ne\n' >in
run -k3 --weight=2 --invalid=error in
refuses "the first invalid line has no weight" 1 "gpuhisto: in: line 4: the weight '-2' $message_of"
run -k3 --weight=2 --invalid=error --where=1!=c in
refuses "the first invalid line has no number" 1 "gpuhisto: in: line 5: 'y' is not a number"
run --by=1 --weight=2 --invalid=error --lines-without=c in
refuses "the first invalid line has no such field" 1 "gpuhisto: in: line 6: no field 2"
run -k3 --weight=2 --invalid=error --where=2=0 in
check "a line that does not count may have no number" [ "$(cat status)" = 0 ]
message "nothing is left" "gpuhisto: warning: --where and --weight left every line out, so nothing was counted"
printf 'x 3\ny 3\n' >none
run -k1 --weight=2 none
check "nothing but invalid lines" grep -qx "gpuhisto: warning: all 6 samples are invalid, so no number was counted" err
printf '1.000;5\n12;7\n1.00;7\n' >points
printf 'count\t1012\ninvalid\t1\nmin\t5\nmax\t7\nsum\t5084\n' >expected
run -q -s -t';' -k2 --weight=1 --decimal=, points
head -n 5 out >rows
same "points between thousands" expected rows
printf 'took=5 3\ntook=7 4\n' >after
printf 'count\t7\ninvalid\t0\nmin\t5\nmax\t7\nsum\t43\n' >expected
run -s --after=took= --weight=2 after
head -n 5 out >rows
same "--after" expected rows
printf '{"ms":"5ms","w":3}\n{"ms":"1s","w":2}\n' >units
printf 'count\t5\ninvalid\t0\nmin\t0.005\nmax\t1\nsum\t2.015\n' >expected
run -s -k.ms --units --weight=.w units
head -n 5 out >rows
same "--units" expected rows
for mode in -b -l -c --pairs; do
    run $mode --weight=1 in
    refuses "$mode" 2 "$mode and --weight cannot be combined; use --numbers with --field, or --by"
done
run --weight=1 in
refuses "no mode" 2 "gpuhisto: --weight needs --numbers or --by=FIELD"
run -n --weight=1 in
refuses "tokens" 2 "gpuhisto: --weight needs --field=N, --after=STRING or --by=FIELD"
run --values=u8 --weight=1 in
refuses "values" 2 "--weight"
for field in '' 1:sum '"1' a:b; do
    run --by=1 --weight="$field" --header-line in
    refuses "--weight=$field" 2 "--weight=$field: must be a"
done
printf '5,w:x,c\n1,2,3\n' >quoted
for field in 3 '"c"'; do
    printf '1\t3\n' >expected
    run -q --csv --header-line --by='"5"' --weight="$field" quoted
    counts "a weight called $field" expected
done
printf '3\t2\n' >expected
run -q --csv --header-line --by=3 --weight='"w:x"' quoted
counts "a weight whose name has a colon" expected
for field in x 0 1-2; do
    run --by=1 --weight=$field in
    refuses "the field '$field'" 2 "gpuhisto: --weight=$field: must be 1 to 1048576, -1 for the last field, a path into JSON such as .a.b"
done
run --by=1 --csv --weight=hits in
refuses "a name without a header" 2 "gpuhisto: --weight=hits: to find a column by its name, add --header-line"
run --by=.a --csv --weight=.b in
refuses "JSON in CSV" 2 "--csv"
run '--line=$a $b' --by=a --weight=c in
refuses "a name that --line has not" 2 "--weight=c"
run -k1 --csv --header-line --weight=n --also -k1 --csv --header-line one.csv
refuses "--also by name" 2 "cannot be counted in one pass, as they read lines differently"
ENGINE='' run --device=gpu -k3 --weight=2 in
refuses "the GPU" 2 "gpuhisto: --device=gpu: the GPU cannot read --weight; leave out --device"
# 2^64 has 65 bits, but is among the whole numbers that are added as such.
printf 'a 18446744073709551616 3\na -18446744073709551616 1\nb 18446744073709551616 1\n' >large
printf 'a\t4\t0\t-1.8446744073709552e+19\t1.8446744073709552e+19\t3.6893488147419103e+19\n' >expected
printf 'b\t1\t0\t1.8446744073709552e+19\t1.8446744073709552e+19\t1.8446744073709552e+19\n' >>expected
run -q -sk2 --by=1 --weight=3 large
tail -n +2 out | cut -f 1-6 >got
same "2^64, with weights" expected got
printf 'a\t2\t0\t-1.8446744073709552e+19\t1.8446744073709552e+19\t0\n' >expected
printf 'b\t1\t0\t1.8446744073709552e+19\t1.8446744073709552e+19\t1.8446744073709552e+19\n' >>expected
run -q -sk2 --by=1 large
tail -n +2 out | cut -f 1-6 >got
same "2^64" expected got

summary

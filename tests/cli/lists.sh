#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists of numbers: --field=F:each, :sum and :last, and [] in paths into JSON. They count what a text does that has one
# number a line, which Python made of the same drawn records: tables, statistics, keys and conditions, wherever the text is
# cut, in every way it comes; and what is refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=200 seeds=1
else
    lines=700 seeds="1 2 3 4"
fi

# Writes records as fields after '|', CSV, lines of a log and JSON, and for each way to count them its numbers, each with the
# key and the status of its record. A number that is none is x.
cat >draw.py <<'END'
import json, random, re, sys
from decimal import Decimal, getcontext
getcontext().prec = 5000
random.seed(int(sys.argv[1]))
NUMBER = re.compile(r'[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf(inity)?))')
BLANKS = ' \t\v\f\r'
MISSING = object()
ODD = ['x', '', ' ', '1 2', '0x1F', 'nan', '1e', '+', '--', '-x', '1.2.3', 'é', '\\', "'", '\0', '1\0', 'infinit', '1e5e5', '.', '-.']
EXTREME = ['9007199254740993', '-9007199254740992', '18446744073709551615', '1e300', '-1e300', '1e-300',
           '1E22', '0.1', '-0.1', '0.2', '1e399', '-1e399', '1e-400', '-0', '00', '5.', '.5', '+7', '1e+2', '0e9999', '123456789012345678901234567890']


class Raw(str):
    """A number of JSON as it is written."""


def number():
    chance = random.random()
    if chance < .003:
        return random.choice(['inf', '-Infinity', '+INF'])
    return random.choice(ODD if chance < .07 else EXTREME) if chance < .25 else \
        random.choice(['%.3f', '%.3f', '%.6g', '-%.2f']) % (random.random() * 10 ** random.randrange(-2, 4))


def drawn_list():
    text = ''
    for i in range(random.choice([1, 1, 2, 2, 3, 5, random.randrange(1, 30)])):
        text += (random.choice(',,,:;') if i else '') + random.choice(['', ' ', ' ', '\t '])
        text += ('-' if random.random() < .1 else number()) + random.choice(['', '', ' '])
    return text


def token(value):
    if not isinstance(value, str):
        return 'x'
    text = value.strip(BLANKS)
    return text if NUMBER.fullmatch(text) else 'x'


def exact_sum(tokens):
    infinite = {text[0] == '-' for text in tokens if 'i' in text.lower()}
    if 'x' in tokens or len(infinite) == 2:
        return 'x'
    if infinite:
        return '-inf' if True in infinite else 'inf'
    text = format(sum(map(Decimal, tokens)), 'f')
    text = text.rstrip('0').rstrip('.') if '.' in text else text
    return text if Decimal(text) != 0 else '0'


def samples(elements, how):
    tokens = [token(element) for element in elements if not isinstance(element, str) or element.strip(BLANKS) != '-']
    return ['x'] if not tokens else tokens if how == 'each' else [exact_sum(tokens)] if how == 'sum' else tokens[-1:]


def of_value(value, how, escapes=False):
    if isinstance(value, list):
        return samples(value, how)
    is_text = isinstance(value, str) and not isinstance(value, Raw) and not (escapes and '\\' in json.dumps(value, ensure_ascii=False))
    return samples(re.split('[,:;]', value) if is_text else [value], how)


def written(value):
    if isinstance(value, Raw):
        return value
    if isinstance(value, list):
        return random.choice(['[%s]', '[ %s ]']) % random.choice([',', ', ', ' ,']).join(map(written, value))
    if isinstance(value, dict):
        return '{%s}' % ', '.join('%s:%s' % (json.dumps(name), written(item)) for name, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def drawn_value():
    text = number()
    is_json = re.fullmatch(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?', text)
    return Raw(text) if is_json and random.random() < .9 else text if random.random() < .8 else random.choice(['-', None, True, {}, [], ['1', '2']])


def drawn_spans():
    if random.random() < .1:
        return random.choice([None, {}, 'x', []])
    made = []
    for _ in range(random.choice([0, 1, 2, 3, random.randrange(40)])):
        span = {'ms': drawn_value()} if random.random() < .9 else {}
        if random.random() < .9:
            span['parts'] = [{'ns': drawn_value(), 'n': [drawn_value() for _ in range(3)]} for _ in range(random.randrange(4))]
        made.append(span if random.random() < .97 else drawn_value())
    return made


def follow(value, steps):
    """What steps lead to; [] is each element."""
    if not steps:
        return [value]
    if steps[0] == []:
        return [found for item in value for found in follow(item, steps[1:])] if isinstance(value, list) else [MISSING]
    is_there = isinstance(value, list) and len(value) > 0 if steps[0] == -1 else isinstance(value, dict) and steps[0] in value
    return follow(value[steps[0]], steps[1:]) if is_there else [MISSING]


PATHS = {'.spans[].ms': ['spans', [], 'ms'], '.spans[].parts[].ns': ['spans', [], 'parts', [], 'ns'], '.times[]': ['times', []],
         '.spans[].parts[-1].n[]': ['spans', [], 'parts', -1, 'n', []], '.spans[].parts[-1].n:sum': ['spans', [], 'parts', -1, 'n'],
         '.text:each': ['text'], '.text:sum': ['text'], '.text:last': ['text'], '.times:each': ['times'], '.times:sum': ['times'],
         '.times:last': ['times'], '.spans[].ms:sum': ['spans', [], 'ms'], '.spans[].ms:each': ['spans', [], 'ms']}
files = {}


def put(name, *parts):
    files.setdefault(name, []).append('|'.join(parts))


for _ in range(int(sys.argv[2])):
    key, status, text, is_cut = random.choice('abc'), random.choice(['200', '404', '500']), drawn_list(), random.random() < .02
    times = [drawn_value() for _ in range(random.randrange(6))]
    record = {'key': key, 'text': text, 'times': times, 'spans': drawn_spans(), 'status': Raw(status)}
    put('plain', key if is_cut else '%s|%s|%s' % (key, random.choice(['%s', ' %s', '"%s"']) % text, status))
    put('csv', key if is_cut else '%s,"%s",%s' % (key, text, status))
    put('log', key if is_cut else '%s [%s] %s' % (key, text, status))
    put('json', '{"key":' if is_cut else written(record))
    for how in 'each', 'sum', 'last':
        for sample in of_value(text, how) if not is_cut else 'x':
            put('plain.' + how, sample, key, *[] if is_cut else [status])
            put('log.' + how, sample, *[] if is_cut else [key, status])
    for path, steps in PATHS.items():
        for found in follow(record, steps) if not is_cut else [MISSING]:
            for sample in ['x'] if found is MISSING else of_value(found, path.split(':')[1], True) if ':' in path else [token(found)]:
                put('json.' + path, sample, *[] if is_cut else [key, status])
for name, lines in files.items():
    with open(name, 'w', encoding='utf-8', newline='') as file:
        file.write(''.join(line + '\n' for line in lines))
END

# shows CASE: the last run printed what is expected, but for names of columns.
shows()
{
    sed '1s/.*count/count/' out >rows
    same "seed $seed: $1" expected rows
}

# compare NUMBERS OPTION...: the options count of $input what those after $field count of the numbers.
compare()
{
    numbers=$1
    shift
    for rest in "" $(few 2 -s --digits=5,--by) "-s --by --by-status" "--bins=7 --min=-1 --max=1 --where" $(few 3 -s,--where,--by); do
        plain=$(printf '%s\n' $rest | tr , '\n' | sed 's/^--by$/--by=2/; s/^--by-status$/--by=3/; s/^--where$/--where=3!=404/')
        listed=$(printf '%s\n' $rest | tr , '\n' | sed "s/^--by\$/--by=$key/; s/^--by-status\$/--by=$status_field/; s/^--where\$/--where=$status_field!=404/")
        "$GPUHISTO" --device=cpu -q -t'|' -nk1 $plain "$numbers" >out || broken "$plain $numbers"
        sed '1s/.*count/count/' out >expected
        for cut in --threads=1 $(few 2 "--threads=8,--chunk-size=10" "--threads=3,--chunk-size=100" "--threads=2,--chunk-size=5000"); do
            run -q "$@" $listed $(printf '%s\n' "$cut" | tr , ' ') "$input"
            shows "$* $listed $cut"
        done
    done
    cat "$input" | run -q "$@" $listed --chunk-size=300
    shows "$* $listed, from a pipe"
}

for seed in $seeds; do
    $python draw.py "$seed" "$lines" || broken draw.py
    for how in each sum last; do
        key=1 status_field=3 input=plain
        compare plain.$how -t'|' -k2:$how
        input=csv
        compare plain.$how --csv -k2:$how
        key=key status_field=status input=log
        compare log.$how "--line=\$key [\$times] \$status" -ktimes:$how
    done
    key=.key status_field=.status input=json
    for numbers in json..*; do
        compare "$numbers" -k"${numbers#json.}"
    done
done

# --- other ways that text comes, and other tables ---

gzip -c json >json.gz
"$HELPERS/make_zstd" -f 1000 <json >json.zst
for path in '.spans[].ms' .text:sum; do
    "$GPUHISTO" --device=cpu -q -t'|' -nk1 --by=2 -s "json.$path" | sed '1s/.*count/count/' >expected
    "$GPUHISTO" --device=cpu -q -t'|' -nk1 "json.$path" >table
    for file in json.gz json.zst; do
        case $file in *.gz) "$GPUHISTO" --device=cpu -d gzip json.gz >/dev/null 2>&1 || continue ;; esac
        run -q --threads=3 -k"$path" --by=.key -s $file
        shows "$path $file"
    done
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q -k"$path" --by=.key -s json
        shows "$path $cpu"
    done
    run -q -k"$path" --also -k.times:last json
    sed -n "1,$(wc -l <table)p" out >rows
    check "$path --also: more tables" [ "$(wc -l <out)" -gt "$(wc -l <table)" ]
    same "$path --also" table rows
    run -q -k"$path" -F json json
    cp out table
    run -q -k"$path" -F json --each json
    sed 's/"file":"json",//' out >rows
    same "$path --each" table rows
    if can_share; then
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE -q -k"$path" --by=.key -s -F json --part=$part/3 json >part.$part || broken "--part=$part/3"
        done
        run_as "$GPUHISTO" -q --merge -s part.1 part.2 part.3
        shows "$path --merge"
    fi
done
if can_share; then
    "$GPUHISTO" $ENGINE -q -t'|' -k2:sum -F json plain >one
    "$GPUHISTO" $ENGINE -q -t'|' -k2:last -F json plain >other
    run_as "$GPUHISTO" --merge one other
    message "sums and last ones" "gpuhisto: warning: other: was counted with --field=2:last, but one with --field=2:sum"
fi

# --- many elements, large ones, and long sums ---

$python - <<'END'
from decimal import Decimal, getcontext
import json, random
getcontext().prec = 10000
random.seed(5)
with open('large', 'w') as large, open('large.each', 'w') as each, open('large.sum', 'w') as sums, open('large.last', 'w') as last:
    for i, count in enumerate([200000, 1, 50000, 4, 1025, 1024, 1023, 128]):
        numbers = [random.choice(['%d.%d' % (random.randrange(99), random.randrange(9)), '9007199254740%03d' % random.randrange(1000)])
                   for _ in range(count)]
        large.write('{"a":[%s],"k":"%d","s":"%s"}\n' % (','.join(numbers), i, ' : '.join(numbers)))
        each.write(''.join('%s|%d\n' % (number, i) for number in numbers))
        total = str(sum(map(Decimal, numbers)))
        sums.write('%s|%d\n' % (total.rstrip('0').rstrip('.') if '.' in total else total, i))
        last.write('%s|%d\n' % (numbers[-1], i))
with open('long', 'w') as long, open('long.sum', 'w') as sums:
    for digits, is_number in (399, True), (400, True), (401, False), (4095, False), (4096, False), (4097, False):
        for text in '0.' + '1' * digits, '1' * digits, '-1e%d' % (digits - 1), '1e-%d' % digits:
            long.write('%s, -0.5,1e0\n' % text)
            sums.write(format(Decimal(text) + Decimal('.5'), 'f') + '\n' if is_number else 'x\n')
END
input=large
for rest in -s "-s --by"; do
    listed=$(echo "$rest" | sed 's/--by/--by=.k/')
    for how in each sum last; do
        "$GPUHISTO" --device=cpu -q -t'|' -nk1 $(echo "$rest" | sed 's/--by/--by=2/') large.$how | sed '1s/.*count/count/' >expected
        for field in .a:$how .s:$how $([ $how = each ] && echo '.a[]'); do
            for cut in 10000 8M; do
                run -q -k$field $listed --chunk-size=$cut large
                shows "large: $field $listed --chunk-size=$cut"
            done
        done
    done
done
"$GPUHISTO" --device=cpu -q -n -s long.sum >expected
run -q -s -t'|' -k1:sum long
same "long sums" expected out

summary

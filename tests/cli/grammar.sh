#!/bin/sh
# SPDX-License-Identifier: MIT
# What names the parts of a line, chooses lines, makes keys of parts, weighs, and puts keys in order, all together:
# --line, --where, --lines-with=/REGEX/, several --by with modifiers, --weight and --sort, on drawn lines of a web
# server's log. Python's re, datetime and fractions say what comes out; lines that are no such lines are
# among them.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"
has_regex=yes
"$GPUHISTO" --by=1 --lines-with=/x/ </dev/null >/dev/null 2>&1 || has_regex=no

if [ "$SCALE" = small ] || [ "$SANITIZED" = yes ]; then
    seeds=8 lines=1500
else
    seeds=20 lines=6000
fi

cat >draw.py <<'END'
import random, re, sys
from collections import Counter
from fractions import Fraction
sys.path.insert(0, sys.argv[3])
import modifiers
random.seed(int(sys.argv[1]))
COMBINED = re.compile(r'(?P<remote_addr>.*?) - (?P<remote_user>.*?) \[(?P<time_local>.*?)\] "(?P<request>(?:\\.|[^"\\])*)" '
                      r'(?P<status>.*?) (?P<body_bytes_sent>.*?) "(?P<http_referer>(?:\\.|[^"\\])*)" '
                      r'"(?P<http_user_agent>(?:\\.|[^"\\])*)"', re.S)


def line():
    if random.random() < .03:
        return random.choice(['', 'x', '- - -', '1.2.3.4 - - [bad', '"', '1 - - [22/Nov/2026:10:00:00 +0000] "GET'])
    path = random.choice(['/', '/items/%d' % random.randrange(9), '/items/%d/orders?q=%d' % (random.randrange(9), random.randrange(9)),
                          '/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301#top', '/static/app.js', '/a b'])
    request = random.choice(['GET %s HTTP/1.1', 'POST %s HTTP/2', '%s', 'GET %s']) % path
    time = '%02d/Nov/2026:%02d:%02d:%02d %s' % (random.choice([1, 22]), random.choice([9, 10]), random.randrange(60),
                                                random.randrange(60), random.choice(['+0000', '+0000', '+0530']))
    if random.random() < .03:
        time = random.choice(['-', '22/Nov/2026', '22/Foo/2026:10:00:00 +0000'])
    return '10.0.0.%d - %s [%s] "%s" %s %s "%s" "%s"' % (
        random.randrange(5), random.choice(['-', 'ann']), time, request, random.choice(['200', '200', '404', '500', '502', '-']),
        random.choice(['0', '512', '1048576', '-', '7.5']), random.choice(['-', 'http://a/b']), random.choice(['curl/8', 'Mozilla \\"5\\" (X11)']))


def parts(text):
    found = COMBINED.match(text)
    if not found:
        return None
    names = found.groupdict()
    words = names['request'].split(' ')
    if len(words) == 3:
        names.update(zip(('method', 'path', 'protocol'), words))
    return names


def key(names, field, *chain, in_utc=False):
    text = names and names.get(field)
    made = None if text is None else modifiers.apply(text.encode(), chain, in_utc)
    return None if made is None else made.decode()


def number(text):
    return Fraction(text) if text and re.fullmatch(r'\d+(\.\d+)?', text) else None


def clock(names):
    found = names and modifiers.read_time(names['time_local'].encode())
    return found and found[0] % modifiers.DAY


def write(name, rows):
    open(name, 'w').writelines(row + '\n' for row in rows)


def by_two(kept, first, second):
    """Rows of counts by two keys; no key is that of a line that lacks one. Times of several offsets are in UTC."""
    counts = Counter()
    has_keys = [names for names in kept if None not in (key(names, *first), key(names, *second))]
    in_utc = first[0] == 'time_local' and len({names['time_local'][-5:] for names in has_keys}) > 1
    for names in kept:
        both = key(names, *first, in_utc=in_utc), key(names, *second)
        counts[('(invalid)', '') if None in both else both] += 1
    return sorted('\t'.join(both + (str(count),)) for both, count in counts.items())


texts = [line() for _ in range(int(sys.argv[2]))]
open('in', 'w').write('\n'.join(texts) + random.choice(['', '\n']))
texts = [text for text in texts if text]
log = [(text, parts(text)) for text in texts]
weights = Counter()
for _, names in log:
    if not (names and names.get('method') == 'GET'):
        continue
    size, of_route = number(names['body_bytes_sent']), key(names, 'path', 'route')
    if size is None or size.denominator > 1:
        weights['(invalid)'] += 1 # without a weight a line counts once
    elif size > 0:
        weights[of_route or '(invalid)'] += int(size)
write('weights', sorted('%s\t%d' % row for row in weights.items()))
write('routes', by_two([names for _, names in log], ('path', 'route'), ('status',)))
write('errors', by_two([names for _, names in log if names and (number(names['status']) or 0) >= 400 and clock(names) is not None
                        and 10 * 3600 + 300 <= clock(names) < 10 * 3600 + 47 * 60], ('time_local', '5m'), ('status', '1')))
sums = {}
for text, names in log:
    if not (names and names.get('method') == 'GET') or (sys.argv[4] == 'yes' and not re.search(r'"(GET|POST) /items', text)):
        continue
    size = number(names['body_bytes_sent'])
    row = sums.setdefault(names['remote_addr'], [0, 0, Fraction(0)])
    row[size is None] += 1
    row[2] += size or 0
write('sizes', ['%s\t%d\t%d\t%.15g' % (client, row[0], row[1], row[2])
                for client, row in sorted(sums.items(), key=lambda item: (-item[1][2], item[0]))])
END

for seed in $(seq $seeds); do
    $python draw.py "$seed" $lines "$srcdir/tests/helpers" $has_regex || broken "draw.py"
    gzip -c in >in.gz
    set --
    [ $has_regex = no ] || set -- '--lines-with=/"(GET|POST) [/]items/'
    for how in "--threads=1 in" "--threads=8 --chunk-size=100 in" "--threads=3 --chunk-size=2K in.gz" -; do
        "$GPUHISTO" --device=cpu -q --line=combined --by=path:route --by=status $how <in | sort >out
        same "seed $seed: $how: routes" routes out
        "$GPUHISTO" --device=cpu -q --line=combined --by=time_local:5m --by=status:1 --where='status>=400' \
            --where='time_local>=10:05' --where='time_local < 10:47' $how <in | sort >out
        same "seed $seed: $how: errors" errors out
        "$GPUHISTO" --device=cpu -q --line=combined --by=path:route --weight=body_bytes_sent --where=method=GET $how <in |
            LC_ALL=C sort >out
        same "seed $seed: $how: weights" weights out
        "$GPUHISTO" --device=cpu -q --line=combined -sk body_bytes_sent --by=remote_addr --where=method=GET \
            "$@" --sort=sum $how <in | tail -n +2 | cut -f 1-3,6 >out
        same "seed $seed: $how: sizes" sizes out
    done
done

summary

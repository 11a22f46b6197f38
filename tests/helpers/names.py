# SPDX-License-Identifier: MIT
"""names.py make SEED N FILE: draws N keys of any bytes, and writes them to FILE, each of them, \\x1f, a number and a
newline, so that each key has another number of lines.

names.py check FORMAT FILE: reads what gpuhisto printed of such a FILE in a format, and checks that every key is there
with its lines, that no two look alike, and that the text of a key says which bytes it has, unless a picture shortens
it. FORMAT is tsv, csv, json, plot, heat, pgm or prometheus.

names.py files FORMAT NAME...: the same of a table for each file of --each -l26, in tsv, csv, json or plot."""
import collections
import csv
import io
import json
import os
import random
import re
import sys

SPECIAL = ('(other)', '(invalid)')
PIECES = [b'\\', b'\\\\', b'\\x', b'\\xff', b'\xff', b'ff', b'x28', b'(other)', b'(invalid)', b'other', b'invalid', b' ',
          b'\t', b'"', b',', b'\r', b'\x00', b'\x7f', b'~2~', b'...', b'=', b'{', b'}', b'e', 'é'.encode(),
          '\u061c'.encode(), '\u200c'.encode(), '\u200d'.encode(), '\ufff9'.encode(), '\u00a0'.encode(),
          '\u3000'.encode(), '\U000e0041'.encode(), '\ufeff'.encode(), '\u0085'.encode(), '\u2028'.encode(), b'\xe2\x80',
          b'\xc2', b'\xed\xa0\x80', '日本'.encode(), '😀'.encode(), b'n', b'a' * 40, b'b' * 40]


def draw(seed, count):
    """Draws keys. Some are long, and differ in the middle alone; some are what these are shortened to."""
    random.seed(seed)
    keys = {b'', b' ', b'  ', b'(other)', b'(invalid)', b'\\x28other)', b'other', b'invalid', b'\xff', b'\\xff', b'\\\\xff'}
    while len(keys) < count:
        kind = random.randrange(8)
        if kind == 0:
            keys.add(b'a' * 30 + random.choice(PIECES) * random.randrange(4) + b'z' * 30)
        elif kind == 1:
            gap = random.choice((b'...', b'~%d~' % random.randrange(20)))
            keys.add(b'a' * random.randrange(6, 14) + gap + b'z' * random.randrange(6, 14))
        elif kind == 2:
            keys.add(bytes(random.choice([b for b in range(256) if b not in (10, 31)]) for _ in range(random.randrange(4))))
        else:
            keys.add(b''.join(random.choices(PIECES, k=random.randrange(1, 5))))
    return sorted(keys)


def make(seed, count, name):
    with open(name, 'wb') as file:
        for lines, key in enumerate(draw(seed, count), 1):
            file.write((key + b'\x1f5\n') * lines)


def unescape(text):
    """Returns the bytes that a text of a table stands for."""
    found = re.fullmatch(rb'(?:[^\\]|\\\\|\\x[0-9a-f]{2})*', text, re.S)
    assert found, 'not an escape: %r' % text
    return re.sub(rb'\\(\\|x..)', lambda it: b'\\' if it[1] == b'\\' else bytes.fromhex(it[1][1:].decode()), text)


def tsv_rows(out):
    return [line.split(b'\t')[:2] for line in out.splitlines()]


def csv_rows(out):
    return [[field.encode() for field in row[:2]] for row in csv.reader(io.StringIO(out.decode(), newline=''))]


def json_name(row, member):
    if member + '_bytes' in row:
        return bytes.fromhex(row[member + '_bytes'])
    return row[member].encode()


def plot_rows(out):
    rows = [re.fullmatch(rb'(.*)  +(\d+)  +\d+\.\d\d(?:  #+)?', line) for line in out.split(b'\n')[:-1]]
    assert all(rows), 'a row: %r' % out
    return [(row[1].rstrip(b' '), row[2]) for row in rows]


def heat_rows(out):
    """All numbers are the same, so there is one column."""
    rows = [re.fullmatch(rb'(.*)  #+  +(\d+)', line) for line in out.split(b'\n')[1:-1]]
    assert all(rows), 'a row: %r' % out
    return [(row[1].rstrip(b' '), row[2]) for row in rows]


def prometheus_rows(out):
    rows = re.findall(rb'gpuhisto_numbers_count\{key="((?:[^"\\]|\\.)*)"\} (\d+)\n', out)
    return [(re.sub(rb'\\(.)', rb'\1', name), count) for name, count in rows]


def pgm_rows(out):
    return [(name, None) for name in re.findall(rb'# line \d+: (.*)\n', out[:out.rindex(b'\n65535\n')])]


def check_printable(text):
    assert all(byte >= 0x20 and byte != 0x7f for byte in text), 'not printable: %r' % text
    text.decode()


def check_shortened(text, key):
    """The text has the beginning and the end of what would be shown of the key."""
    gaps = [gap.span(1) for gap in re.finditer(rb'(?=(\.\.\.|~[0-9]+~))', text)]
    assert any(key.startswith(unescape_cut(text[:begin])) and key.endswith(unescape_cut(text[end:]))
               for begin, end in gaps), '%r is shown as %r' % (key, text)


def unescape_cut(text):
    try:
        return unescape(text)
    except AssertionError:
        return b'\n'  # which no key has


def check_names(rows, keys, may_shorten):
    names = [name for name, count in rows]
    assert len(set(names)) == len(names), 'look alike: %s' % collections.Counter(names).most_common(2)
    shown = 0
    for name, count in rows:
        check_printable(name)
        if name.decode() in SPECIAL:
            continue
        key = unescape(name) if not may_shorten else keys[int(count) - 1]
        assert key in keys, 'no such key: %r' % key
        assert count is None or keys[int(count) - 1] == key, '%r: %s lines' % (key, count)
        if may_shorten and unescape_cut(name) != key:
            check_shortened(name, key)
        shown += 1
    return shown


def check(format, name):
    out = sys.stdin.buffer.read()
    with open(name, 'rb') as file:
        keys = sorted({line[:-2] for line in file.read().split(b'\n')[:-1]})
    if format == 'json':
        table = json.loads(out)
        rows = {json_name(row, 'key'): row['count'] for row in table['bins']}
        assert rows == dict(zip(keys, range(1, len(keys) + 1)))
        return
    reader = {'tsv': tsv_rows, 'csv': csv_rows, 'plot': plot_rows, 'heat': heat_rows, 'pgm': pgm_rows,
              'prometheus': prometheus_rows}[format]
    shown = check_names(reader(out), keys, format in ('plot', 'heat'))
    assert shown == int(os.environ.get('TOP', len(keys))), '%d keys' % shown


def check_files(format, names):
    out = sys.stdin.buffer.read()
    names = [os.fsencode(name) for name in names]
    if format == 'json':
        found = [json_name(json.loads(line), 'file') for line in out.splitlines()]
    elif format == 'plot':
        found = [unescape(name) for name in re.findall(rb'(?:^|\n)==> (.*) <==\n', out)]
    else:
        found = [unescape(row[0]) for row in (tsv_rows if format == 'tsv' else csv_rows)(out)]
    assert found == names, '%s: %s' % (found, names)


if sys.argv[1] == 'make':
    make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
elif sys.argv[1] == 'check':
    check(*sys.argv[2:])
else:
    check_files(sys.argv[2], sys.argv[3:])

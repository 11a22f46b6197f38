# SPDX-License-Identifier: MIT
"""Draws names, writes each in every way that JSON, CSV and plain text have for it, in every mixture, and checks that
--by counts it as one key:

    oracle_keys.py [--runs=N] [--seed=SEED] [--first=I] [--cpus=A,B] [--gzip] [--merge] GPUHISTO [OPTION...]

What is expected follows from what was drawn, so no text is parsed here. Each text is run in four ways: in files,
compressed or not, in a pipe, in shards, with chunks of any size, by 1 to 8 threads, and by a GPUHISTO_CPU of --cpus. Run
I of a seed always draws the same: with --first=I --runs=1 it is run again, and its files stay in the current folder.
Exit status 1 after the first wrong run."""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import zlib

RUNS_OF_TEXT = 4
MARK = b'~kept~'  # in records that --lines-with keeps, if it is given
BOM = b'\xef\xbb\xbf'
TEXTS = ['a', 'b', 'ab', '', 'GET', 'GET /', '/x/"y"', '\\', '"', '""', 'x"y', 'a""b', 'é', 'e\u0301', '\u20ac uro',
         '\U0001f600', '\ufffd', '\ufffd\ufffd', 'a\tb', 'a,b', ',', 'a b', '\x01', '\x7f', 'a\0b', '\\u0061',
         '200', '404', '-0.5', '1e3', '12345678901234567890', 'true', 'false', 'null', '[]', '{}', '[1,2]', '{"x":1}',
         '["a\\u0062"]', 'invalid', 'other', '\r', 'a\rb', 'a\nb', '\n', 'xxxxxxxxxxxxxxxy', 'xxxxxxxxxxxxxxxz']
BYTES = [b'\xff', b'\x80\x80', b'a\xc3', b'\xe2\x82']


def draw_name(rng, is_short):
    kind = 2 if is_short else rng.randrange(8)
    if kind == 0:
        return rng.choice(BYTES)
    if kind == 1:  # lengths around those that words, vectors and blocks of memory have
        size = rng.choice([3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 200])
        return bytes(rng.choice(b'ab0"') for _ in range(size))
    if kind == 2:
        return b'%d' % rng.randrange(100, 1000)
    if kind == 3 and rng.randrange(20) == 0:
        return rng.choice([b'k', b'"', b'\xc3\xa9']) * rng.choice([5000, 16383, 16384, 16385, 40000])
    return rng.choice(TEXTS).encode()


# --- how a name is written ---

def is_json(name):
    """Whether a name is a value of JSON on one line, other than a string, without spaces around it."""
    def refuse(constant):
        raise ValueError(constant)

    try:
        json.loads(name.decode(), parse_constant=refuse)
    except ValueError:
        return False
    return name == name.strip() and not name.startswith(b'"') and b'\n' not in name


SHORT = {'"': '\\"', '\\': '\\\\', '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t'}


def units(code):
    """A character as \\u and its UTF-16."""
    pair = [code] if code < 0x10000 else [0xd800 + (code - 0x10000 >> 10), 0xdc00 + (code - 0x10000 & 0x3ff)]
    return ''.join('\\u%04x' % unit for unit in pair)


def json_character(rng, c, escapes, is_last):
    code = ord(c)
    if 0xdc80 <= code <= 0xdcff:  # a byte that is not UTF-8, which JSON cannot escape
        return c
    if c == '\ufffd' and rng.randrange(4) == 0:  # what half of a surrogate pair becomes
        return '\\u%04x' % (rng.randrange(0xd800, 0xdc00) if is_last else rng.randrange(0xdc00, 0xe000))
    if code >= 0x20 and c not in '"\\' and rng.random() >= escapes:
        return c
    if c in SHORT and rng.randrange(2):
        return SHORT[c]
    escaped = units(code)
    return escaped if rng.randrange(2) else '\\u' + escaped[2:].upper().replace('\\U', '\\u')


def as_json(rng, name, _):
    if is_json(name) and rng.randrange(2):
        return name
    text = name.decode('utf-8', 'surrogateescape')
    escapes = rng.choice([0, 0, 0.2, 1])
    written = ''.join(json_character(rng, c, escapes, i + 1 == len(text)) for i, c in enumerate(text))
    return ('"%s"' % written).encode('utf-8', 'surrogateescape')


def as_separated(rng, name, separator):
    return None if separator in name or b'\n' in name or name.endswith(b'\r') else name


def as_csv(rng, name, separator):
    if as_separated(rng, name, separator) is not None and not name.startswith(b'"') and rng.randrange(2):
        return name
    at = rng.choice([len(name), len(name), rng.randrange(len(name) + 1)])
    inner, after = name[:at], name[at:]
    # Text after a quoted field of several lines is refused, as a quote is probably missing.
    if as_separated(rng, after, separator) is None or after.startswith(b'"') or b'\n' in inner:
        inner, after = name, b''
    return b'"' + inner.replace(b'"', b'""') + b'"' + after


def as_blanks(rng, name, _):
    return None if not name or re.search(rb'[ \t\n]|\r$', name) else name


# --- records ---

class Json:
    def __init__(self, rng):
        self.separator, self.write, self.is_csv = None, as_json, False
        self.steps = rng.choice([b'%s', b'{"s":%s}', b'[%s]', b'[0,"",%s]'])
        self.options = ['--by=.k' + {b'%s': '', b'{"s":%s}': '.s', b'[%s]': '[0]', b'[0,"",%s]': '[-1]'}[self.steps]]
        self.number = ['-k', '.n']
        self.spaces = rng.choice([b'', b'', b' ', b'\t  '])

    def record(self, rng, name, number, mark):
        members = [b'"pad":"%s"' % (b'.' * rng.choice([0, 0, 1, 70]) + mark)]
        if name is not None:
            key = rng.choice([b'"k"', b'"k"', b'"\\u006b"'])
            members.append(key + b':' + self.spaces + self.steps % name)
            if rng.randrange(8) == 0:  # of members with one name the last one counts
                members.insert(0, b'"k":' + self.steps % b'"\\u007a"')
        elif rng.randrange(4) == 0:
            members.append(rng.choice([b'"k":', b'"k":"\\x"', b'"k":01', b'k']))
            number = None  # a record that is not JSON has neither
        if number is not None:
            members.insert(rng.randrange(2), b'"n":' + rng.choice([b'%d', b'"%d"']) % number)
        return b'{' + (b',' + self.spaces).join(members) + b'}', number


class Fields:
    """Fields between separators, in CSV or not, or between blanks."""

    def __init__(self, rng):
        kind = rng.choice(['csv', 'csv', 'csv', 'separated', 'blanks'])
        self.is_csv = kind == 'csv'
        self.write = {'csv': as_csv, 'separated': as_separated, 'blanks': as_blanks}[kind]
        self.separator = b' ' if kind == 'blanks' else rng.choice([b',', b';'])
        self.options = {'csv': ['--csv'], 'separated': [], 'blanks': []}[kind]
        if kind != 'blanks' and (self.separator != b',' or kind == 'separated'):
            self.options += ['-t', self.separator.decode()]
        # The fields: the key, the number, and what the mark is in, which is there even if it is empty.
        self.order = rng.choice(['kn.', 'nk.', '.nk', 'k.n'])
        key, number = self.order.index('k'), self.order.index('n')
        self.has_names = rng.randrange(6) == 0
        if self.has_names:
            self.options += ['--header-line', '--by=key']
            self.number = ['-k', 'num']
        else:
            by = key + 1 if rng.randrange(3) else key - 3
            self.options += ['--by=%d' % by]
            self.number = ['-k', str(number + 1)]
        # Whether a record of one field lacks the key.
        self.may_lack = not self.has_names and by not in (1, -1)
        names = [{'k': b'key', 'n': b'num', '.': b'pad'}[field] for field in self.order]
        self.header = self.separator.join(names) + b'\n' if self.has_names else b''

    def record(self, rng, name, number, mark):
        filler = rng.choice([b'.', b'..', b'.' * 80])
        fields = {'k': name, 'n': b'?' if number is None else b'%d' % number, '.': filler + mark}
        if name is None:  # no field for the key: what is wrong is the whole record
            return (fields['.'] if self.may_lack else None), None
        if self.is_csv and number is not None and rng.randrange(3) == 0:
            fields['n'] = b'"%s"' % fields['n']
        return self.separator.join(fields[field] for field in self.order), number


# --- what is counted ---

class Numbers:
    def __init__(self):
        self.samples, self.numbers = 0, []

    def add(self, number):
        self.samples += 1
        if number is not None:
            self.numbers.append(number)

    def statistics(self):
        found = self.numbers
        return len(found), self.samples - len(found), min(found, default='nan'), max(found, default='nan'), sum(found)


def cut_characters(name, first, last):
    return b''.join(re.findall(rb'[\x00-\xff][\x80-\xbf]*', name)[first - 1:last])


class Text:
    """Records that were drawn, and what is expected of them."""

    def __init__(self, rng):
        layout = rng.choice([Json, Fields])(rng)
        self.layout, self.keys = layout, {}
        self.has_numbers = rng.randrange(3) == 0
        self.options = layout.options + (['-s'] + layout.number if self.has_numbers else [])
        characters = rng.choice([None, None, None, (1, 2), (2, 3), (2, 1 << 20)])
        if characters:
            first, last = characters
            self.options = [option + ':%d-%s' % (first, last if last < 1 << 20 else '') if option.startswith('--by=') else option
                            for option in self.options]
        filtered = rng.randrange(8) == 0
        if filtered:
            self.options += ['--lines-with=' + MARK.decode()]
        forms = self.draw_forms(rng, layout)
        records, names = [], list(forms)
        keys = {name: cut_characters(name, *characters) if characters else name for name in names}
        most = rng.choice([1, 2, 5, 20, 40, 40, rng.randrange(120, 136), rng.randrange(120, 260), rng.randrange(1000, 1100),
                           rng.randrange(2000, 2100)]) if rng.randrange(4) == 0 else rng.randrange(1, 40)
        odd = rng.choice([0, 0, 0.1])
        stays = rng.choice([0, 0.3, 0.9, 0.99])  # the name of the record before is this one's
        name = form = None
        while len(records) < most:
            if name is None or rng.random() >= stays:
                name = rng.choice(names)
            if form not in forms[name] or rng.random() >= stays:
                form = rng.choice(forms[name])
            lacks = rng.random() < odd
            number = None if rng.random() < odd else rng.randrange(-50, 1000)
            kept = not filtered or rng.randrange(3) > 0
            record, number = layout.record(rng, None if lacks else form, number, MARK if kept and filtered else b'')
            if record is None:
                continue
            records.append(record + (b'\r\n' if rng.randrange(16) == 0 else b'\n'))
            if kept:
                self.keys.setdefault(None if lacks else keys[name], Numbers()).add(number)
        self.files = self.divide(rng, records)

    @staticmethod
    def draw_forms(rng, layout):
        """Names, and ways in which each is written."""
        forms, is_short = {}, rng.randrange(4) == 0
        while not forms or (len(forms) < 12 and rng.randrange(4)):
            name = draw_name(rng, is_short)
            written = {layout.write(rng, name, layout.separator) for _ in range(rng.randrange(1, 5))} - {None}
            if written:
                forms[name] = sorted(written)
        return forms

    def divide(self, rng, records):
        """Returns the contents of one file, or of several."""
        count = rng.choice([1, 1, 1, 2, 3])
        header = getattr(self.layout, 'header', b'')
        files = []
        for i in range(count):
            part = records[len(records) * i // count:len(records) * (i + 1) // count]
            text = header + b''.join(part)
            if rng.randrange(4) == 0 and text.endswith(b'\n') and part:
                text = text[:-2] if text.endswith(b'\r\n') else text[:-1]
            if rng.randrange(6) == 0 and (self.layout.is_csv or self.layout.write is as_json):
                text = BOM + text
            files.append(text)
        return files


# --- how it comes ---

def zstd_frame(content):
    """A frame of raw blocks."""
    head = b'\x28\xb5\x2f\xfd\xa0' + len(content).to_bytes(4, 'little')
    blocks = [content[at:at + 100000] for at in range(0, len(content), 100000)] or [b'']
    for i, block in enumerate(blocks):
        head += (len(block) << 3 | (i + 1 == len(blocks))).to_bytes(3, 'little') + block
    return head


def gzip_member(content):
    deflate = zlib.compressobj(1, zlib.DEFLATED, 31)
    return deflate.compress(content) + deflate.flush()


def compress(rng, content, encode):
    cuts = sorted(rng.randrange(len(content) + 1) for _ in range(rng.choice([0, 1, 3, 10])))
    return b''.join(encode(content[begin:end]) for begin, end in zip([0] + cuts, cuts + [len(content)]))


def found_keys(output, has_numbers):
    """Returns what tables in JSON say of each key, as Text expects it."""
    found = {}
    for table in map(json.loads, output.splitlines()):
        rows = [table] if has_numbers else table['bins']
        for row in rows:
            if has_numbers and 'key' not in row:  # there are no keys
                continue
            key = row['key']
            key = bytes.fromhex(row['key_bytes']) if 'key_bytes' in row else None if key is None else key.encode()
            if key in found:
                raise ValueError('key %r twice' % key)
            stats = row.get('stats')
            found[key] = tuple(stats[name] for name in ('count', 'invalid', 'min', 'max', 'sum')) if has_numbers else row['count']
        if not has_numbers and table['invalid']:
            found[None] = table['invalid']
    return found


class Wrong(Exception):
    pass


def feed(pipe, pieces):
    with pipe:
        for piece in pieces:
            try:
                pipe.write(piece)
                pipe.flush()
            except BrokenPipeError:
                return


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.environment = dict(os.environ)
        self.command = []

    def run(self, command, pieces=None):
        """Runs a command, on a pipe if there are pieces. Returns what it prints."""
        self.command = command
        pipe = subprocess.PIPE if pieces is not None else subprocess.DEVNULL
        with subprocess.Popen(self.command, stdin=pipe, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment) as process:
            if pieces is not None:
                writer = threading.Thread(target=feed, args=(process.stdin, pieces))
                writer.start()
                process.stdin = None
            out, err = process.communicate()
            if pieces is not None:
                writer.join()
        if process.returncode != 0 or err:
            raise Wrong('status %d: %s' % (process.returncode, err.decode(errors='replace')))
        return out

    def merge(self, rng, options, names):
        parts = rng.randrange(1, 5)
        tables = []
        for part in range(parts):
            tables.append('%s.%d' % (names[0], part))
            with open(tables[-1], 'wb') as file:
                file.write(self.run(options + ['--part=%d/%d' % (part + 1, parts)] + names))
        program = self.arguments.command[:1]
        return self.run(program + ['-q', '-F', 'json', '--merge'] + (['-s'] if '-s' in options else []) + tables)

    def check(self, rng, text):
        arguments = self.arguments
        options = arguments.command + ['-q', '-F', 'json'] + text.options
        if rng.randrange(4):
            least = sum(map(len, text.files)) // 2000  # fewer bytes take too long
            options.append('--chunk-size=%d' % max(least, rng.choice([1, 2, 3, 5, 8, 13, 64, 100, 1000])))
        if rng.randrange(2):
            options.append('--threads=%d' % rng.randrange(1, 9))
        self.environment['GPUHISTO_CPU'] = rng.choice(arguments.cpus.split(',')) if arguments.cpus else ''
        if not self.environment['GPUHISTO_CPU']:
            del self.environment['GPUHISTO_CPU']
        encode = rng.choice([None, None, zstd_frame] + [gzip_member] * arguments.gzip)
        files = [compress(rng, file, encode) if encode else file for file in text.files]
        way = rng.choice(['file', 'file', 'pipe'] + ['merge'] * arguments.merge)
        if way == 'pipe' and len(files) == 1:
            step = max(1, len(files[0]) // rng.choice([1, 2, 20]))
            output = self.run(options, [files[0][at:at + step] for at in range(0, len(files[0]), step)])
        else:
            names = ['keys-%d' % i for i in range(len(files))]
            for name, file in zip(names, files):
                with open(name, 'wb') as out:
                    out.write(file)
            output = self.merge(rng, options, names) if way == 'merge' else self.run(options + names)
        self.compare(text, output)

    @staticmethod
    def compare(text, output):
        expected = {key: numbers.statistics() if text.has_numbers else numbers.samples for key, numbers in text.keys.items()}
        found = found_keys(output, text.has_numbers)
        if found == expected:
            return
        for key in sorted(set(found) | set(expected), key=repr):
            if found.get(key) != expected.get(key):
                raise Wrong('key %.200r: %s, expected %s' % (key, found.get(key), expected.get(key)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=1000)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--cpus', default='')
    parser.add_argument('--gzip', action='store_true')
    parser.add_argument('--merge', action='store_true')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    runner, seed = Runner(arguments), arguments.seed << 32
    text = None
    for i in range(arguments.first, arguments.first + arguments.runs):
        if i % RUNS_OF_TEXT == 0 or not text:
            text = Text(random.Random('text %d' % (seed + i // RUNS_OF_TEXT)))
        try:
            runner.check(random.Random(seed + i), text)
        except (Wrong, ValueError) as wrong:
            print('run %d of seed %d, GPUHISTO_CPU=%s %s: %s' %
                  (i, arguments.seed, runner.environment.get('GPUHISTO_CPU', ''), ' '.join(runner.command), wrong))
            sys.exit(1)
    print('%d runs' % arguments.runs)


main()

# SPDX-License-Identifier: MIT
"""Draws regular expressions and records, and checks that --lines-with=/REGEX/ and --lines-without=/REGEX/ keep those
that Python's re matches, and that grep -P finds the same lines:

    oracle_regex.py [--runs=N] [--seed=SEED] [--first=I] [--gzip] [--grep] GPUHISTO [OPTION...]

Records are lines of fields, CSV with newlines in quotes, and lines of JSON; each begins with a number of its own, by
which it is counted. Each text is run in a file, compressed or not, and in a pipe, with chunks of any size, by 1 to 8
threads. Run I of a seed always draws the same. Exit status 1 after the first wrong run."""
import argparse
import gzip
import os
import random
import re
import subprocess
import sys

MEMBERS = [r'\d', r'\w', r'\s', r'\.', r'\]', 'a', 'b', 'A', '0', '5', '-', ' ', ',', '"', 'a-c', '0-5', '\x80-\xff', '^']
PLAIN = ['a', 'b', 'ab', 'A', 'B', '0', '5', '7', ' ', ',', '"', '/', '-', '_', '\t', '\xe9', 'GET', ' 5']
ATOMS = ['.', r'\d', r'\w', r'\s', r'\S', r'\D', r'\W', r'\b', r'\B', '^', '$', r'\.', r'\\', r'\"', r'\t', r'\x00', r'\xff',
         r'\n', r'\A', '[^"]*', '.*']
REPEATS = ['*', '+', '?', '{2}', '{1,2}', '{0,3}', '{2,}']
FLAGS = ['', '', '', '', '', '', '(?i)', '(?s)', '(?m)', '(?x)']


def draw_class(rng):
    members = rng.sample(MEMBERS, rng.randrange(1, 4))
    if members[0] == '^':
        members.append('b')
        members.reverse()
    if any(member == '-' for member in members):  # where it is no range
        members = ['-'] + [member for member in members if member != '-']
    if rng.randrange(8) == 0:
        members = [']'] + [member for member in members if member != '-']
    return ('[^%s]' if rng.randrange(2) else '[%s]') % ''.join(members)


def draw_atom(rng, depth):
    """Returns an atom, and whether it may be repeated."""
    kind = rng.randrange(12)
    if kind < 5 or depth == 0:
        text = rng.choice(PLAIN)
        return text, len(text) == 1
    if kind < 7:
        text = rng.choice(ATOMS)
        return text, not text.endswith('*') and text not in ('^', '$', r'\b', r'\B', r'\A')
    if kind < 9:
        return draw_class(rng), True
    inside = draw(rng, depth - 1)
    if kind == 9:
        return rng.choice(['(?=%s)', '(?!%s)', '(?<name>%s)', '(?i:%s)']) % inside, False
    if kind == 10:
        one = draw_class(rng) if rng.randrange(2) else rng.choice('ab0" ,')
        return rng.choice(['(?<=%s)', '(?<!%s)', '(?>%s+)', '(%s)']) % one, False
    simple = not re.search(r'[*+?}]', inside)  # otherwise it could take forever
    return rng.choice(['(?:%s)', '(%s)']) % inside, simple


def draw(rng, depth):
    branches = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = ''
        for _ in range(rng.randrange(1, 4)):
            atom, may_repeat = draw_atom(rng, depth)
            text += atom
            if may_repeat and rng.randrange(3) == 0:
                # PCRE2 10.42 takes for possessive what comes before a possessive group.
                text += rng.choice(REPEATS) + rng.choice(['', '', '', '?', '?' if atom[0] == '(' else '+'])
        branches.append(text)
    return '|'.join(branches)


def draw_expression(rng):
    """Returns an expression, and the same for Python, whose $ also matches before a last newline, and whose groups
    have their names in another way."""
    while True:
        text = (rng.choice(FLAGS) + draw(rng, 2)).encode('latin-1')
        if text.count(b'?<name>') > 1:
            continue
        python = text if text.startswith(b'(?m)') else text.replace(b'$', rb'\Z')
        try:
            return text, re.compile(python.replace(b'(?<name>', b'(?P<name>'))
        except re.error:
            continue


def draw_text(rng):
    """Returns the bytes of a line, mostly short."""
    pieces = ['a', 'b', 'ab', 'A', 'B', '0', '5', '7', ' ', '-', '_', '\t', '.', '/', 'GET', ' 500 ', '\\', '\x00', '\xff', '\xe9', '\xc3\xa9']
    size = rng.choice([0, 1, 3, 6, 12, 12, 25])
    return ''.join(rng.choice(pieces) for _ in range(size)).encode('latin-1')


def draw_records(rng, layout):
    """Returns records without their ends."""
    records = []
    for number in range(rng.choice([1, 3, 20, 200])):
        text = draw_text(rng)
        if layout == 'json':
            text = text.replace(b'\\', b'\\\\').replace(b'\t', b' ').replace(b'\x00', b'0').replace(b'\xff', b'').replace(b'\xc3\xa9', b'e')
            record = b'{"id":%d,"t":"%s"}' % (number, text.replace(b'\xe9', b'\xc3\xa9'))
        elif layout == 'csv' and rng.randrange(3) == 0:
            quoted = text.replace(b'a', rng.choice([b'a', b'\n', b'""', b'\r\n']))
            record = b'%d,"%s",%d' % (number, quoted, rng.randrange(10))
        else:
            record = b'%d,%s' % (number, text)
        records.append(record)
    return records


OPTIONS = {'lines': ['-t', ',', '--by=1'], 'csv': ['--csv', '--by=1'], 'json': ['--by=.id']}


def kept(records, wanted, unwanted):
    return {number for number, record in enumerate(records)
            if all(regex.search(record) for regex in wanted) and not any(regex.search(record) for regex in unwanted)}


def zstd_frame(content):
    """A frame of raw blocks."""
    head = b'\x28\xb5\x2f\xfd\xa0' + len(content).to_bytes(4, 'little')
    blocks = [content[at:at + 100000] for at in range(0, len(content), 100000)] or [b'']
    for i, block in enumerate(blocks):
        head += (len(block) << 3 | (i + 1 == len(blocks))).to_bytes(3, 'little') + block
    return head


def count(arguments, rng, content, options):
    """Returns the keys that the program counts, or its message."""
    stored = rng.choice([content, zstd_frame(content)] + ([gzip.compress(content, 1)] if arguments.gzip else []))
    command = arguments.command + options + ['-F', 'csv', '--threads=%d' % rng.choice([1, 1, 8])]
    if rng.randrange(2):
        command.append('--chunk-size=%d' % rng.choice([1, 7, 64, 1000]))
    if rng.randrange(3):
        with open('drawn', 'wb') as file:
            file.write(stored)
        result = subprocess.run(command + ['drawn'], capture_output=True, check=False)
    else:
        result = subprocess.run(command, input=stored, capture_output=True, check=False)
    lines = result.stdout.decode().splitlines()
    if result.returncode != 0 or (result.stderr and b'left every line out' not in result.stderr):
        return command, result.stderr
    return command, {int(line.split(',')[0]) for line in lines if re.match(r'\d+,1(,|$)', line)}


def grep_finds(content, pattern, is_inverted):
    result = subprocess.run(['grep', '-aP' + ('v' if is_inverted else ''), '-e', pattern], input=content, capture_output=True,
                            check=False, env={'LC_ALL': 'C', 'PATH': os.environ['PATH']})
    return {int(line.split(b',')[0]) for line in result.stdout.split(b'\n') if line} if result.returncode < 2 else None


def check(arguments, i):
    rng = random.Random('%s %d' % (arguments.seed, i))
    layout = rng.choice(['lines', 'lines', 'csv', 'json'])
    ends = rng.choice([[b'\n'], [b'\n'], [b'\r\n'], [b'\n', b'\r\n']])
    records = draw_records(rng, layout)
    content = b''.join(record + rng.choice(ends) for record in records)
    if rng.randrange(4) == 0 and content.endswith(b'\n'):
        content = content[:-1]
    drawn = [draw_expression(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    are_unwanted = [rng.randrange(3) == 0 for _ in drawn]
    expected = kept(records, [regex for (_, regex), not_ in zip(drawn, are_unwanted) if not not_],
                    [regex for (_, regex), not_ in zip(drawn, are_unwanted) if not_])
    options = ['--lines-with%s=/%s/' % ('out' if not_ else '', os.fsdecode(pattern))
               for (pattern, _), not_ in zip(drawn, are_unwanted)]
    command, found = count(arguments, rng, content, OPTIONS[layout] + options)
    if found != expected:
        print('run %d: %r\nof %r\nexpected %r\nfound %r' % (i, command, content[:2000], sorted(expected), found))
        return False
    if arguments.grep and layout == 'lines' and ends == [b'\n'] and len(drawn) == 1:
        found = grep_finds(content, drawn[0][0], are_unwanted[0])
        if found is not None and found != expected and not drawn[0][0].startswith(b'(?'):
            print('run %d: grep -P finds %r, and %r is expected of %r' % (i, found, expected, drawn[0][0]))
            return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runs', type=int, default=100)
    parser.add_argument('--seed', default='1')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--gzip', action='store_true')
    parser.add_argument('--grep', action='store_true')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not all(check(arguments, i) for i in range(arguments.first, arguments.first + arguments.runs)):
        sys.exit(1)


main()

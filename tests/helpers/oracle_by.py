# SPDX-License-Identifier: MIT
"""Writes what --by prints of standard input, by a dict of Fractions:

    oracle_by.py [-t C | --csv] [--header-line] [-k N] [--weight=N] --by=FIELD[:MODIFIER]... <IN

--by may be given several times: then a key is a tuple of texts, a column each. Without -k each key and the number of its
lines; with it each key, and count, invalid, min, max and sum of its
numbers, as -s prints them."""
import argparse
import re
import sys
import unicodedata
from fractions import Fraction

sys.dont_write_bytecode = True  # the source may be anywhere
import modifiers  # noqa: E402

MOST = 1 << 20
NUMBER = re.compile(rb'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$')

parser = argparse.ArgumentParser()
parser.add_argument('-t', dest='separator', default=None)
parser.add_argument('--csv', action='store_true')
parser.add_argument('--header-line', action='store_true')
parser.add_argument('-k', dest='field')
parser.add_argument('--weight')
parser.add_argument('--by', required=True, action='append')
options = parser.parse_args()
separator = options.separator.encode() if options.separator else b',' if options.csv else None


def quoted_end(text, at):
    """Returns where the quoted text after the quote before `at` ends: at its quote, or at the end."""
    while True:
        at = text.find(b'"', at)
        if at < 0 or text[at + 1:at + 2] != b'"':
            return len(text) if at < 0 else at
        at += 2


def records(text):
    begin = 0
    while begin < len(text):
        at = begin
        while options.csv:
            if text[at:at + 1] == b'"':
                at = quoted_end(text, at + 1)
            next_field, newline = text.find(separator, at), text.find(b'\n', at)
            if next_field < 0 or 0 <= newline < next_field:
                break
            at = next_field + 1
        newline = text.find(b'\n', at)
        end = newline if newline >= 0 else len(text)
        yield text[begin:end]
        begin = end + 1


def fields(record):
    """Returns the fields of a record; None if it does not count, no list if it is too long."""
    if len(record) > MOST:
        return []
    record = record[:-1] if record.endswith(b'\r') else record
    if not record:
        return None
    if separator is None:
        return re.findall(rb'[^ \t]+', record) or None
    if not options.csv:
        return record.split(separator)
    found, at = [], 0
    while True:
        end = quoted_end(record, at + 1) if record[at:at + 1] == b'"' else at
        end = record.find(separator, end)
        if end < 0:
            return found + [record[at:]]
        found.append(record[at:end])
        at = end + 1


def pick(found, number):
    number = number - 1 if number > 0 else len(found) + number
    return found[number] if 0 <= number < len(found) else None


def content(field):
    """Returns a field without the quotes of CSV: what follows the closing one is appended, as by Python's csv."""
    if not options.csv or not field.startswith(b'"'):
        return field
    end = quoted_end(field, 1)
    return field[1:end].replace(b'""', b'"') + field[end + 1:]


def key_of(found):
    """Returns the key of a record, a tuple; or None if a part is missing."""
    key = []
    for number, (_, made) in zip(key_numbers, by):
        field = pick(found, number)
        key.append(None if field is None else modifiers.apply(content(field), made, len(key) in in_utc))
    return None if None in key else tuple(key)


def several_offsets(records_found):
    """Returns which keys are buckets of times with several offsets, which are then in UTC."""
    offsets = [set() for _ in by]
    for found in records_found:
        if key_of(found) is None:
            continue
        for part, (number, (_, made)) in enumerate(zip(key_numbers, by)):
            if made and modifiers.is_bucket(made[-1]):
                offsets[part].add(modifiers.offset_of(modifiers.apply(content(pick(found, number)), made[:-1])))
    return {part for part, found in enumerate(offsets) if len(found - {b''}) > 1}


def number_of(field):
    """Returns the number in a field, or None: whole numbers as they are, others as doubles."""
    text = content(field or b'').strip(b' \t\n\v\f\r')
    if len(text) > 1 and text.startswith(b'"') and text.endswith(b'"'):
        text = text[1:-1].strip(b' \t\n\v\f\r')
    if re.fullmatch(rb'[+-]?[0-9]+', text):
        return Fraction(int(text))
    return Fraction(float(text)) if NUMBER.match(text) else None


def weight_of(field):
    """Returns how often a record counts, or None if its weight is none."""
    text = content(field or b'').strip(b' \t\n\v\f\r')
    if len(text) > 1 and text.startswith(b'"') and text.endswith(b'"'):
        text = text[1:-1].strip(b' \t\n\v\f\r')
    weight = int(text.split(b'.')[0]) if re.fullmatch(rb'[+-]?[0-9]+(\.0*)?', text) and len(text) <= 256 else -1
    return weight if 0 <= weight < 1 << 63 else None


def show(key):
    """Shows the parts of a key, the first of which is not one of the words."""
    if key is None:
        return '(invalid)' + '\t' * (len(by) - 1)
    shown = [show_part(part) for part in key]
    if shown[0] in ('(other)', '(invalid)'):
        shown[0] = '\\x28' + shown[0][1:]
    return '\t'.join(shown)


def show_part(key):
    """Shows bytes as one printable line: what is no character of UTF-8, or cannot be seen, as \\xNN."""
    shown = ''
    for c in key.decode('utf-8', 'surrogateescape'):
        code = ord(c)
        if 0xdc80 <= code <= 0xdcff:
            shown += '\\x%02x' % (code - 0xdc00)
        elif c != ' ' and unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp', 'Zs'):
            shown += ''.join('\\x%02x' % byte for byte in c.encode())
        elif c == '\\':
            shown += '\\\\'
        else:
            shown += c
    return shown.replace('"', '\\x22')


def show_number(value):
    if value is None:
        return 'nan'
    nearest = float(value)
    if value.denominator == 1 and abs(value) < 1 << 64 and nearest != value:
        return str(value.numerator)
    return str(int(nearest)) if nearest.is_integer() and abs(nearest) < 1e17 else repr(nearest)


class Numbers:
    def __init__(self):
        self.samples = self.invalid = 0
        self.sum = Fraction(0)
        self.least = self.greatest = None

    def add(self, value, times):
        self.samples += times
        if value is None:
            self.invalid += times
            return
        self.sum += value * times
        self.least = value if self.least is None else min(self.least, value)
        self.greatest = value if self.greatest is None else max(self.greatest, value)


by = [modifiers.parse(text) for text in options.by]


def column(found, name):
    if re.fullmatch('-?[0-9]+', name):
        return int(name)
    names = [field.decode().strip('"') for field in found]
    return names.index(name) + 1


keys = {}
key_numbers = None if options.header_line else [int(field) for field, _ in by]
number = int(options.field) if options.field and not options.header_line else None
weight_number = int(options.weight) if options.weight and not options.header_line else None
in_utc = set()
all_found = [fields(record) for record in records(sys.stdin.buffer.read())]
if options.header_line and all_found:
    key_numbers = [column(all_found[0], field) for field, _ in by]
    number = column(all_found[0], options.field) if options.field else None
    weight_number = column(all_found[0], options.weight) if options.weight else None
    all_found.pop(0)
all_found = [found for found in all_found if found is not None]
in_utc = several_offsets(all_found)
for found in all_found:
    weight = weight_of(pick(found, weight_number)) if weight_number else 1
    if weight == 0:
        continue
    key, value = key_of(found), number_of(pick(found, number)) if number else Fraction(0)
    if weight is None:
        key, value = key if number else None, None
    keys.setdefault(key, Numbers()).add(value if number else Fraction(0), 1 if weight is None else weight)

named = [key for key in keys if key is not None]
are_numbers = [all(NUMBER.match(part) for part in parts) for parts in zip(*named)]
named.sort(key=lambda key: [
    (float(part), part if float(part) >= 0 else bytes(255 - byte for byte in part)) if is_number else part
    for part, is_number in zip(key, are_numbers)])
for key in named + [key for key in keys if key is None]:
    of_key = keys[key]
    row = [show(key), str(of_key.samples)]
    if options.field:
        row[1] = str(of_key.samples - of_key.invalid)
        row += [str(of_key.invalid), show_number(of_key.least), show_number(of_key.greatest),
                show_number(of_key.sum)]
    sys.stdout.buffer.write(('\t'.join(row) + '\n').encode())

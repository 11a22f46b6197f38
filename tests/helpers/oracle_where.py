# SPDX-License-Identifier: MIT
"""Which records --where keeps, by Python's re, json, datetime and Fraction:

    oracle_where.py SEED CASES

makes files case.N.in, case.N.options (an option a line) and case.N.expected: the table of --by with the
records that are kept, the first field of which is a name of their own."""
import datetime
import fractions
import json
import operator
import random
import re
import sys

sys.dont_write_bytecode = True  # the source may be anywhere
import modifiers  # noqa: E402

Fraction = fractions.Fraction
OPERATORS = {b'=': operator.eq, b'!=': operator.ne, b'<': operator.lt, b'<=': operator.le, b'>': operator.gt, b'>=': operator.ge}
COLOUR = rb'\x1b\[[0-9;:]*[mK]'
INFINITE = (1, 0)  # after all (0, Fraction)

UNITS = {b'w': 604800, b'd': 86400, b'h': 3600, b'm': 60, b's': 1, b'ms': Fraction(1, 1000), b'us': Fraction(1, 10 ** 6), b'ns': Fraction(1, 10 ** 9),
         b'B': 1, b'k': 1000, b'M': 10 ** 6, b'G': 10 ** 9, b'Ki': 1024, b'KiB': 1024, b'MiB': 1 << 20, b'kB': 1000, b'MB': 10 ** 6, b'min': 60}


def decimal(text):
    """The exact value of a number, or None."""
    if re.fullmatch(rb'[+-]?(?i:inf|infinity)', text):
        return (-1, 0) if text.startswith(b'-') else INFINITE
    if not re.fullmatch(rb'[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?', text):
        return None
    digits = re.sub(rb'^(.*?)\.?((?:[eE].*)?)$', rb'\1\2', text)
    return (0, Fraction(digits.decode()))


def nearest(value):
    try:
        return float(value[1]) if value[0] == 0 else value[0] * float('inf')
    except OverflowError:
        return float('inf') if value[1] > 0 else float('-inf')


def with_unit(text):
    match = re.fullmatch(rb'([+-]?[0-9.]+)[ \t]*([A-Za-z]+)', text)
    if not match or match[2] not in UNITS or decimal(match[1]) is None:
        return None
    return (0, decimal(match[1])[1] * UNITS[match[2]])


def strip(text):
    return re.sub(rb'^([\s]|%b)+|([\s]|%b)+$' % (COLOUR, COLOUR), b'', text)


def bare(text):
    text = strip(text)
    return strip(text[1:-1]) if re.fullmatch(rb'".*"', text, re.S) and len(text) > 1 else text


CLOCK = rb'([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?'
ZONE = rb'(?: ?([Zz])|(?: (?=...:?[0-9]))?([+-])([0-9]{2})(?::?([0-9]{2}))?)'
MONTHS = [b'Jan', b'Feb', b'Mar', b'Apr', b'May', b'Jun', b'Jul', b'Aug', b'Sep', b'Oct', b'Nov', b'Dec']


def below(digits):
    return Fraction(int((digits or b'0')[:9].ljust(9, b'0')), 10 ** 9)


def of_parts(year, month, day, clock=None, zone=None):
    """(kind, local seconds since 1970, seconds of UTC or None), or None."""
    try:
        hour, minute, second = (int(part) for part in clock[:3]) if clock else (0, 0, 0)
        if second > 60:
            return None
        local = datetime.datetime(year, month, day, hour, minute) - datetime.datetime(1970, 1, 1)
    except ValueError:
        return None
    seconds = local // datetime.timedelta(seconds=1) + second + (below(clock[3]) if clock else 0)
    utc = None
    if zone and any(zone):
        offset = 0 if zone[0] else (int(zone[2]) * 60 + int(zone[3] or 0)) * (-60 if zone[1] == b'-' else 60)
        if zone[1] and (int(zone[2]) > 23 or int(zone[3] or 0) > 59):
            return None
        utc = seconds - offset
    return ('year', seconds, utc)


def time(text):
    text = text.strip(b' \t')
    text = text.removeprefix(b'[')
    text = text.removesuffix(b']')
    if match := re.fullmatch(rb'([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})(?:[Tt ]%b(?:%b)?)?' % (CLOCK, ZONE), text):
        parts = match.groups()
        parts = parts[:1] + parts[2:]
        return of_parts(int(parts[0]), int(parts[1]), int(parts[2]), parts[3:7] if parts[3] else None, parts[7:11])
    if match := re.fullmatch(rb'([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):%b(?:%b)?' % (CLOCK, ZONE), text):
        parts = match.groups()
        return of_parts(int(parts[2]), MONTHS.index(parts[1]) + 1, int(parts[0]), parts[3:7], parts[7:11]) if parts[1] in MONTHS else None
    if match := re.fullmatch(rb'(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) ([A-Z][a-z]{2}) ( [0-9]|[0-9]{2}) %b ([0-9]{4})' % CLOCK, text):
        parts = match.groups()
        return of_parts(int(parts[6]), MONTHS.index(parts[0]) + 1, int(parts[1]), parts[2:6]) if parts[0] in MONTHS else None
    if match := re.fullmatch(rb'([A-Z][a-z]{2})  ?([0-9]|[0-9]{2}) %b' % CLOCK, text):
        parts = match.groups()
        found = of_parts(1972, MONTHS.index(parts[0]) + 1, int(parts[1]), parts[2:6]) if parts[0] in MONTHS else None
        return found and ('none', found[1], None)
    if match := re.fullmatch(rb'([0-9]{2})(?:/([0-9]{2})/([0-9]{2})[Tt ]%b|([0-9]{2})([0-9]{2})[Tt ]%b)(?:%b)?' % (CLOCK, CLOCK.replace(b':(', b'('), ZONE), text):
        parts = match.groups()
        parts, zone = parts[:7] if parts[1] else parts[:1] + parts[7:13], parts[13:]
        year = int(parts[0])
        return of_parts(year + (2000 if year < 69 else 1900), int(parts[1]), int(parts[2]), parts[3:7], zone)
    if match := re.fullmatch(rb'([0-9]{4})([0-9]{2})([0-9]{2})-([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,3})', text):
        parts = match.groups()
        return of_parts(int(parts[0]), int(parts[1]), int(parts[2]), parts[3:6] + (parts[6].zfill(3),))
    if match := re.fullmatch(rb'([0-9]{2})[-.]([0-9]{2})[Tt ]%b' % CLOCK, text):
        found = of_parts(1972, int(match[1]), int(match[2]), match.groups()[2:6])
        return found and ('none', found[1], None)
    if match := re.fullmatch(rb'(-?)([0-9]+)(?:\.([0-9]+))?', text):
        sign, digits, rest = match.groups()
        digits = digits.lstrip(b'0') or b'0'
        if len(digits) > (12 if sign else 21):
            return None
        places = 0 if sign or len(digits) < 12 else 3 if len(digits) < 15 else 6 if len(digits) < 18 else 9
        value = Fraction(int(digits), 10 ** places) + (Fraction(int(rest), 10 ** (places + len(rest))) if rest else 0)
        value = -value if sign else value
        first, after = -62135596800, 253402300800
        value = Fraction(value * 10 ** 9 // 1, 10 ** 9)
        return ('year', value, value) if first <= value < after else None
    return None


def time_of_words(text):
    """The time with which a text begins, of as many words as make one."""
    ends = [match.end() for match in re.finditer(rb'[^ \t]+', text)][:5]
    ends = ends[bool(re.match(rb'[\s"]*\[?[0-9]{6}"?\s+\S', text)):]  # a date of HDFS
    found = [time(bare(text[:end])) for end in ends]
    return ([each for each in found if each] or [None])[-1]


DATE = rb'[ \t]*\[?[0-9]{4}([-/])[0-9]{2}\1[0-9]{2}\]?[ \t]*'


def clock(text):
    text = text.removeprefix(b'[').removesuffix(b']')
    if not re.match(rb'[0-9]{1,2}:[0-9]{2}', text):
        return None
    text = text if text[2:3] == b':' else b'0' + text
    return time(b'1970-01-01T' + text + (b':00' if len(text) == 5 else b''))


def compare(compared, value, content, token, has_units, words=b''):
    """Whether a condition holds for a field with this content, this token that may be a number, and words of a time."""
    if re.fullmatch(rb'".*"', value, re.S) and len(value) > 1:
        return compared(content, value[1:-1])
    if re.fullmatch(rb'[0-9]{1,2}:[0-9]{2}.*', value):
        found = clock(bare(content)) or (time_of_words(words) if words else time(bare(content)))
        return found is not None and compared(found[1] % 86400, clock(value)[1] % 86400)
    exact = decimal(value)
    unit = with_unit(value) if exact is None and has_units else None
    if exact is not None or unit is not None:
        number = decimal(token)
        other = with_unit(token) if number is None and has_units else None
        if number is not None and exact is not None:
            return compared(number, exact)
        number = number if number is not None else other
        return number is not None and compared(nearest(number), nearest(exact if exact is not None else unit))
    for rest in b'', b':00', b':00:00:00', b' 00:00:00':
        moment = time(value + rest) if rest[:1] != b' ' or value[:1].isalpha() else None
        if not moment:
            continue
        are_dates = re.fullmatch(DATE, value) and re.fullmatch(DATE, bare(content)) and time(bare(content))
        found = time_of_words(words) if words and not are_dates else time(bare(content))
        if not found or found[0] != moment[0]:
            return False
        if found[2] is not None and moment[2] is not None:
            return compared(found[2], moment[2])
        return compared(found[1], moment[1])
    return compared(content, value)


NUMBERS = [b'0', b'-0', b'0.0', b'00012', b'12', b'12.', b'+12', b'1.2e1', b'120e-1', b'.5', b'0.5', b'-0.5', b'5e-1', b'1e400', b'1e401', b'-1e400',
           b'1e-400', b'2e-400', b'inf', b'-inf', b'Infinity', b'nan', b'9007199254740992', b'9007199254740993', b'9007199254740993.0',
           b'9007199254740992.9999999999999999', b'0.1', b'0.1000000000000000055511151231257827', b'0.10', b'1', b'10', b'99', b'100', b'200', b'404', b'500',
           b'503', b'0x1F', b'1e', b'--1', b'1,234', b'.', b'-', b'e5', b'1e5', b'100000', b'99999.99999', b'0.000', b'000', b'123456789012345678901234567890',
           b'12345678901234567890123456789e1', b'123456789012345678901234567890.000000000000000000000000000000000001', b'5e+0', b'005', b'1' * 300, b'1e309']
TIMES = [b'2026-11-22T10:05:07Z', b'2026-11-22T10:05:07.5Z', b'2026-11-22T11:05:07+01:00', b'2026-11-22T10:05:07', b'2026-11-22T10:05:07,500',
         b'2026-11-22t10:05:60z', b'2026-11-22', b'2026-02-29', b'2024-02-29', b'22/Nov/2026:10:05:07', b'[22/Nov/2026:10:05:07]', b'[22/Nov/2026:10:47:00',
         b'22/Nov/2026:23:59:60', b'1795341907', b'1795341907123', b'1795341907.000000001', b'-1.5', b'-1', b'0', b'2026-11-22T10:05:07.1234567891-00:30',
         b'2026-11-22T24:00:00', b'9999-12-31T23:59:59Z', b'0001-01-01', b'10:05', b'10:05:07', b'9:05', b'09:05:00.5', b'10:47:59.999', b'24:00', b'10:60',
         b'23:59:60', b'10:05:07Z', b'[10:06:00]', b'[9:05', b'10:05x', b'1:2:3']
SPACED = [b'2026-11-22 10:05:07', b'2026-11-22 10:05:07 +0200', b'22/Nov/2026:10:05:07 +0000', b'[22/Nov/2026:10:05:07 -0130]', b'Nov 22 10:05:07', b'Nov  2 10:05:07',
          b'Sun Nov 22 10:05:07 2026', b'[Mon Nov  2 10:05:07.25 2026]', b'Sun Nov 31 10:05:07 2026', b'Sum Nov 22 10:05:07 2026',
          b'2026/11/22 10:05:07.5', b'2026/11/22', b'26/11/22 10:05:07', b'69/02/28 10:05:07,25', b'261122 100507', b'261122 100507.5 +0200',
          b'261122 10:05:07', b'20261122-10:5:7:96', b'20261122-10:05:07:500', b'20261122-10:5:7', b'11-22 10:05:07.500', b'[11.22 10:05:07]', b'13-22 10:05:07',
          b'11-22', b'26/11/22', b'Nov 2 23:59:60', b'Feb 29 00:00:00', b'Feb 30 00:00:00', b' 2026-11-22 ', b'\t12 ', b' 404', b'GET /x', b' ']
TEXTS = [b'GET', b'GETS', b'GE', b'get', b'', b'\xff\xfe', b'\xc3\xa9', b'a=b', b'<', b'"GET', b'"404"', b'"', b'""', b'/a?b=1', b'404x', b'10.0.0.1', b'x' * 300,
         b'\x1b[32mGET\x1b[0m', b'\x1b[1;31m404\x1b[K', b'"2026-11-22T10:05:07Z"', b'true', b'null']
WITH_UNITS = [b'350ms', b'0.35', b'0.35s', b'350000us', b'5m', b'300', b'5min', b'1.5k', b'1500', b'1KiB', b'1024', b'2MB', b'1h', b'3600s', b'5KB', b'0.1s', b'100ms', b'1d']
FIELDS = [NUMBERS, TIMES, TEXTS]
MODIFIERS = [['1-3'], ['-1'], ['2-'], ['1-2'], ['-8--4'], ['route'], ['1h'], ['1d'], ['5m', '12-16'], ['2-', '10s'], ['route', '-3-'], ['1-4', '-1']]

VALUES = [b'0', b'12', b'-0.5', b'0.5', b'.5', b'1e400', b'-1e400', b'1e-400', b'inf', b'-inf', b'9007199254740992', b'9007199254740993', b'0.1', b'100', b'404', b'500',
          b'99999.99999', b'123456789012345678901234567890', b'1' * 200, b'1e309',
          b'2026-11-22T10:05:07Z', b'2026-11-22T10:05:07.5Z', b'2026-11-22T10:05:07', b'2026-11-22 10:05', b'2026-11-22T10:05', b'2026-11-22', b'22/Nov/2026:10:05:07',
          b'22/Nov/2026:10:05', b'22/Nov/2026', b'22/Nov/2026:10:05:07 +0000', b'[22/Nov/2026:10:05:07 +0100]', b'Nov 22 10:05', b'Nov 2 10:05:07', b'11-22 10:05', b'11-22', b'26/11/22', b'26/11/22 10:05', b'261122 100507', b'20261122-10:5:7:96', b'2026/11/22',
          b'Nov 2',
          b'2026-11-22T10:05:07.123456789Z', b'0001-01-01', b'9999-12-31T23:59:59Z',
          b'10:05', b'10:05:07', b'9:05', b'10:47:59.999', b'23:59', b'0:00', b'00:00:00', b'10:05:07,5',
          b'GET', b'GE', b'"GET"', b'"404"', b'""', b'"12"', b'\xff', b'"\xff\xfe"', b'10.0.0.1', b'/a?b=1', b'/a', b'*', b'1', b'2', b'20', b'10:00', b'2026-11-22T10:00:00Z', b'"2026-11-22T10:00:00Z"', b'"a=b"', b'"<"', b'"', b'"GET', b'""GET"', b'404x', b'x' * 255,
          b'"10:05"', b'" "', b'" 404"', b'true', b'null', b'2026-11', b'"2026-11-22"', b'a b']


class Case:
    def __init__(self, draw, number):
        self.draw = draw
        self.kind = draw.choice(['blanks', 'blanks', 'separated', 'csv', 'csv', 'json', 'names'])
        self.has_units = draw.random() < 0.3 and self.kind in ('separated', 'csv')
        lists = [NUMBERS, TEXTS, WITH_UNITS, WITH_UNITS] if self.has_units else FIELDS + [SPACED]
        self.values = VALUES + (WITH_UNITS[:4] + [b'5m', b'1.5k', b'1KiB', b'1h', b'0.1s', b'100ms'] if self.has_units else [])
        self.lists = lists
        self.number = number

    def fields(self):
        draw = self.draw
        return [draw.choice(draw.choice(self.lists)) for _ in range(draw.choice([0, 1, 2, 3, 3, 3, 4]))]

    def record(self, name):
        """The record as written; and its fields, None for none, as written and as content."""
        draw, fields = self.draw, self.fields()
        if self.kind == 'blanks':
            text = draw.choice([b' ', b' ', b'\t', b'  ']).join([name] + fields)
            fields = re.findall(rb'[^ \t]+', text)
            return draw.choice([b'', b' ']) + text + draw.choice([b'', b' ']), fields, fields
        if self.kind == 'separated':
            fields = [name] + fields
            return b'|'.join(fields), fields, fields
        if self.kind == 'json':
            return self.json(name, fields)
        written, contents = [name], [name]
        for field in fields:
            form = draw.randrange(4)
            if form == 0 or b'"' in field or b',' in field:
                field = draw.choice([field, field + b'\n', field + b',1', field])
                written.append(b'"' + field.replace(b'"', b'""') + b'"')
            elif form == 1 and field:
                written.append(b'"' + field[:1] + b'"' + field[1:])  # text after a closing quote
            else:
                written.append(field)
            contents.append(field)
        return b','.join(written), written, contents

    def json(self, name, fields):
        draw, members, contents = self.draw, [b'"id": "%b"' % name], {}
        for key, field in zip(b'abcd', fields):
            field = field.decode('latin-1')
            is_number = re.fullmatch(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?', field)
            if is_number or field in ('true', 'null'):
                text = field if not is_number or draw.random() < 0.6 else '"%s"' % field
            else:
                text = json.dumps(field) if draw.random() < 0.7 else '"%s"' % ''.join('\\u%04x' % ord(letter) for letter in field)
                text = text.replace('/', '\\/') if draw.random() < 0.3 else text
            members.append(b'"%c": %b' % (key, text.encode()))
            contents[bytes([key])] = (text.encode(), field.encode())
        record = b'{' + b', '.join(members) + b'}'
        if draw.random() < 0.03:
            return record[:-1], {}, {}
        return record, {key: value[0] for key, value in contents.items()}, {key: value[1] for key, value in contents.items()}

    def condition(self):
        draw = self.draw
        symbol = draw.choice(list(OPERATORS))
        value = draw.choice(self.values)
        blank = draw.choice([b'', b'', b' ', b'  '])
        field = draw.choice({'json': [b'.a', b'.b', b'.c', b'."a"'], 'names': [b'one', b'two', b'a b', b'3', b'2']}.get(self.kind, [b'2', b'3', b'-1', b'4', b'-2']))
        made = draw.choice(MODIFIERS) if draw.random() < 0.4 else []
        typed = b''.join([field] + [b':' + each.encode() for each in made])
        return field, symbol, value, typed + blank + symbol + blank + value + blank, made

    def field(self, name, fields):
        if self.kind == 'json':
            return fields.get(name.strip(b'."'))
        number = {b'one': 2, b'two': 3, b'a b': 4}.get(name) or int(name)
        at = number - 1 if number > 0 else len(fields) + number
        return fields[at] if 0 <= at < len(fields) else None

    def words(self, name, record):
        """What begins with a field between blanks."""
        begins = [match.start() for match in re.finditer(rb'[^ \t]+', record)]
        return record[self.field(name, begins):] if self.kind == 'blanks' else b''

    def holds(self, condition, record, written, contents):
        name, symbol, value, _, made = condition
        content, number = self.field(name, contents), self.field(name, written)
        if content is None:
            return False
        is_decoded = self.kind == 'json' or number.startswith(b'"') and self.kind in ('csv', 'names')
        if not is_decoded:
            content = re.sub(rb'^(%b)+|(%b)+$' % (COLOUR, COLOUR), b'', content)
        elif not number.endswith(b'"'):  # text after a closing quote
            content = re.sub(rb'(%b)+$' % COLOUR, b'', content)
        if made:
            content = modifiers.apply(content, made)
            return content is not None and compare(OPERATORS[symbol], value, content, bare(content), self.has_units)
        return compare(OPERATORS[symbol], value, content, strip(content) if is_decoded else bare(number), self.has_units,
                       self.words(name, record))

    def write(self):
        draw = self.draw
        conditions = [self.condition() for _ in range(draw.choice([1, 1, 1, 2, 3]))]
        text, kept = b'', []
        if self.kind == 'names':
            text = b'id,one,"two",a b\n'
        for i in range(draw.choice([5, 40, 120])):
            name = b'r%04d' % i
            record, written, contents = self.record(name)
            text += record + draw.choice([b'\n', b'\n', b'\r\n'])
            if all(self.holds(condition, record, written, contents) for condition in conditions):
                kept.append(name)
        options = {'blanks': ['--by=1'], 'separated': ['--by=1', '--separator=|'], 'csv': ['--by=1', '--csv'], 'json': ['--by=.id'],
                   'names': ['--by=id', '--csv', '--header-line']}[self.kind]
        if self.has_units:
            options += ['-n', '-k1', '--units']  # no field is a number: all are invalid
        with open('case.%d.in' % self.number, 'wb') as file:
            file.write(text if draw.randrange(2) else text[:-1])
        with open('case.%d.options' % self.number, 'wb') as file:
            file.write(b''.join(option.encode() + b'\n' for option in options) + b''.join(b'--where=' + condition[3] + b'\n' for condition in conditions))
        with open('case.%d.expected' % self.number, 'wb') as file:
            for name in kept:
                file.write(name + (b'\tinvalid\t1\n' if self.has_units else b'\t1\n'))


def main():
    draw = random.Random(int(sys.argv[1]))
    for number in range(int(sys.argv[2])):
        Case(draw, number).write()


if __name__ == '__main__':
    main()

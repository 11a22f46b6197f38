#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# json_events.py COUNT SEED: documents of JSON, by hand and COUNT at random, most of which are damaged, and what
# Python's json makes of them. Writes into the current folder:
#
#   documents               for json_events.c
#   events.0, events.1      what it prints of them, where strings may have any bytes, or must be UTF-8
#   lines.valid, .invalid   those without a newline, and that are not white space only, a line each
#   table.valid             tables of a letter each, some of these documents as a member that is not known
#   table.invalid.N         such a table alone
import json
import random
import sys

DEPTH, LINE_DEPTH, TABLE_DEPTH = 64, 10000, 72
TABLE = ('"schema":"gpuhisto/1","mode":"letters","options":["--letters=26"],"total":1,"counted":1,"other":0,'
         '"bins":[{"bin":"a-z","lo":97,"hi":122,"count":1}]}')

VALID = ['0', '-0', '-1', '10', '1.5', '-0.0', '1e5', '1E-5', '2.5e+10', '1e999', '-1e-999', '9' * 100, '0.' + '0' * 50,
         'true', 'false', 'null', '""', '"a"', '[]', '{}', '[[]]', '[{}]', '{"":""}', '{"a":{"b":[1,2,{"c":null}]}}',
         '[1,2,3]', ' [ 1 , 2 ] ', '\t{\r\n"a" : 1 , "b":[ ]\n}', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0000\\u001f\\u0041"',
         '"\\ud83d\\ude00"', '"\\uD83D\\uDE00"', '"\\ud83d"', '"\\ude00"', '"\\ud83d\\ud83d\\ude00"', '"\\ud83dx"',
         '"\\ud83d\\n"', '"\\u00e9\\u20ac"', '"\u00e9\u20ac\U0001f600"', '"\x7f"', '{"a":1,"a":2}', '{"\\u0061":1,"a":2}',
         '[true,false,null]', '["]","}",",",":"]', '{"{":"}"}', '"/"', '[0,-0,0.0,1e0]', '"\u2028\u2029"']
INVALID = ['', ' ', '\n', '01', '-01', '-', '+1', '1.', '.5', '1.e5', '1e', '1e+', '1e5.5', '--1', '0x10', '1_000', '1,', ',1',
           'NaN', 'Infinity', '-Infinity', 'nan', 'True', 'tru', 'truee', 'nulll', 'fals', 't', 'nul l', '"', '"a', '"\\', '"\\"',
           '"\\x41"', '"\\u12"', '"\\u12g4"', '"\\U0041"', '"\\u+041"', '"\\u 041"', "'a'", '"a\nb"', '"a\tb"', '"\x00"',
           '[', ']', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1,,2]', '[]]', '[}', '{', '}', '{]', '{"a"', '{"a":', '{"a":1',
           '{"a":1,', '{"a":1,}', '{,"a":1}', '{a:1}', '{1:2}', '{"a" 1}', '{"a"::1}', '{"a":}', '{"a":1 "b":2}', '{"a":1;"b":2}',
           '{"a",1}', '{"a":1}}', '1 2', '[] {}', 'true false', '"a" "b"', '\ufeff1', '1\x00', '\x0c1', '[\x0c]', '1\x0b', '\u00a01', '[1]#',
           '// 1\n1', '/* */1', '[1]//', '{"a":1}/**/', '"\\\n"', '\\u0031', '"a"b']


class Pairs(list):
    """The members of an object."""


class Number(str):
    """As it is written."""


def refuse(_):
    raise ValueError


def show_string(text):
    shown = []
    for character in text:
        code = ord(character)
        if 0xf780 <= code < 0xf800:
            shown.append('%02x' % (code - 0xf700))
        elif 0xd800 <= code < 0xe000:
            shown.append('efbfbd')
        else:
            shown.append(character.encode().hex())
    return '"' + ''.join(shown) + '"'


def show(value, depths):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return show_string(value)
    if isinstance(value, list):
        if depths == 0:
            raise ValueError
        if isinstance(value, Pairs):
            return '{' + ''.join(f'{show_string(name)}:{show(member, depths - 1)},' for name, member in value) + '}'
        return '[' + ''.join(show(element, depths - 1) + ',' for element in value) + ']'
    return {True: 'true', False: 'false', None: 'null'}[value]


def events(document, is_utf8, depths):
    """What a document consists of, which is nested so deeply at most. Bytes that are not ASCII are characters that no document here has."""
    try:
        if is_utf8:
            document.decode()
        text = ''.join(chr(byte) if byte < 0x80 else chr(0xf700 + byte) for byte in document)
        return show(json.loads(text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=refuse), depths)
    except (ValueError, RecursionError):
        return 'invalid'


def by_hand():
    yield from (text.encode() for text in VALID + INVALID)
    # Every place in the words that strings and numbers are read by.
    for length in range(0, 19):
        for at in range(0, length + 1):
            for special in (b'"', b'\\n', b'\\', b'\x1f', b'\xc3\xa9', b'\xe9', b'\xff', b'\\u00e9', b'\\ud83d'):
                yield b'"' + b'x' * at + special + b'y' * (length - at) + b'"'
            for special in (b'.', b'e', b'-', b',', b'e+', b'/', b':'):
                yield b'[' + b'1' * at + special + b'2' * (length - at) + b']'
    for bad in (b'\x80', b'\xc0\xaf', b'\xc1\xbf', b'\xe0\x80\xaf', b'\xed\xa0\x80', b'\xed\xbf\xbf', b'\xf4\x90\x80\x80', b'\xf0\x82\x82\xac',
                b'\xf5\x80\x80\x80', b'\xc3', b'\xe2\x82', b'\xf0\x9f\x98', b'\xfe', b'\xef\xbf\xbe', b'\xf0\x9f\x98\x80', b'\xe2\x82\xac'):
        yield b'["' + bad + b'"]'
        yield b'{"' + bad + b'":1}'
        yield b'[' + bad + b']'
    for depth in range(DEPTH - 1, TABLE_DEPTH + 2):
        yield b'[' * depth + b']' * depth
        yield b'{"a":' * depth + b'1' + b'}' * depth
        yield b'[{"a":' * (depth // 2) + b'[]' * (depth % 2) + b'}]' * (depth // 2)
    # Longer than what is read at a time, and twice that.
    for length in (262143, 262144, 262145):
        yield b'["' + b'x' * length + b'"]'
        yield b'[1' + b' ' * length + b',2]'
        yield b'{"a"' + b' ' * length + b':' + b'3' * length + b'}'
        yield b'["' + b'x' * length
    yield b'[' + b'{"lo":1,"hi":2},' * 20000 + b'{}]'


def one_of(*choices):
    return random.choice(choices)


def space():
    return one_of('', '', '', '', '', ' ', '\t', '\n', '\r', '  ', ' \n ')


def string():
    return '"' + ''.join(one_of('a', 'b', 'lo', '{', ']', ',', ':', ' ', '\u00e9', '\u20ac', '\U0001f600', '\\n', '\\"', '\\\\', '\\/', '\\u0041',
                                '\\u00E9', '\\ud83d\\ude00', '\\udead', '\x7f') for _ in range(random.randrange(12))) + '"'


def number():
    return one_of('0', '-0', '7', '12', '-345', '1.5', '0.25', '1e3', '-2.5E-7', '12345678901234567890', '3' * random.randrange(1, 30))


def value(depth):
    kind = random.randrange(8 if depth < 5 else 4)
    if kind < 2:
        text = number()
    elif kind == 2:
        text = string()
    elif kind == 3:
        text = one_of('true', 'false', 'null')
    elif kind < 6:
        text = '[' + space() + ','.join(value(depth + 1) for _ in range(random.randrange(4))) + ']'
    else:
        text = '{' + space() + ','.join(space() + string() + space() + ':' + value(depth + 1) for _ in range(random.randrange(4))) + '}'
    return space() + text + space()


def damage(document):
    at, span = random.randrange(len(document) + 1), random.randrange(1, 4)
    likely = b'{}[],:"\\ \n\t0123456789-+.eEtfnu/\x00\x1f\x7f\x80\xc3\xff'
    added = bytes(random.choice(likely) for _ in range(random.randrange(1, 3)))
    return random.choice([document[:at], document[:at] + document[at + span:], document[:at] + added + document[at:],
                          document[:at] + added + document[at + len(added):], document[:at] + document[at:at + span] + document[at:]])


def at_random(count):
    for _ in range(count):
        document = value(0).encode()
        for _ in range(random.choice([0, 1, 1, 1, 2])):
            document = damage(document)
        if b'\\uf7' not in document.lower():
            yield document


def main():
    random.seed(int(sys.argv[2]))
    documents = list(by_hand()) + list(at_random(int(sys.argv[1])))
    lines = {True: open('lines.valid', 'wb'), False: open('lines.invalid', 'wb')}
    refused = 0
    with open('documents', 'wb') as out, open('events.0', 'w') as any_bytes, open('events.1', 'w') as utf8, open('table.valid', 'wb') as tables:
        for i, document in enumerate(documents):
            out.write(len(document).to_bytes(4, 'little') + document)
            found = events(document, False, DEPTH)
            print(found, file=any_bytes)
            print(events(document, True, DEPTH), file=utf8)
            if b'\n' not in document and document.strip(b' \t\r') and len(document) < 100000:
                lines[events(document, False, LINE_DEPTH) != 'invalid'].write(document + b'\n')
            is_first = i < len(VALID + INVALID)
            if len(document) > 10000 or not (is_first or random.randrange(5) == 0):
                continue
            table = b'{"document":' + document + b',' + TABLE.encode() + b'\n'
            if events(table, True, TABLE_DEPTH) != 'invalid':
                tables.write(table)
            elif is_first or random.randrange(20) == 0:
                with open(f'table.invalid.{refused}', 'wb') as alone:
                    alone.write(table)
                refused += 1
    for file in lines.values():
        file.close()


main()

# SPDX-License-Identifier: MIT
"""Finds the parts of lines that --line names, by regular expressions:

    oracle_line.py draw FORMAT SEED COUNT >LINES
    oracle_line.py csv FORMAT [-k NAME] [--by=NAME] <LINES >CSV
    oracle_line.py first FORMAT [-k NAME] [--by=NAME] <LINES

`draw` makes lines that have the format, and lines that nearly do. `csv` writes each line that counts as a record of CSV
with the columns of these names: a missing number is "?", a missing key is no field. `first` prints the number of
the first line that lacks the key, or whose -k is not a number; nothing if there is none."""
import random
import re
import sys

MOST = 1 << 20
NUMBER = re.compile(rb'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$')
COMMON = b'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent'
PRESETS = {b'common': COMMON, b'combined': COMMON + b' "$http_referer" "$http_user_agent"'}
WORDS = [b'method', b'path', b'protocol']
ESCAPES = {b'"': b'"', b'\\': b'\\', b'n': b'\n', b'r': b'\r', b't': b'\t'}


def pieces_of(text):
    """Returns what a line begins with, and (name, text behind it, is it quoted) of each part."""
    split = re.split(rb'\$(?:\{(\w+)\}|(\w+))', text)
    lead, pieces, before = split[0], [], split[0]
    for i in range(1, len(split), 3):
        behind = split[i + 2]
        pieces.append((split[i] or split[i + 1], behind, before.endswith(b'"') and behind.startswith(b'"')))
        before = behind
    return lead, pieces


def match_pattern(text, line):
    lead, pieces = pieces_of(text)
    if not line.startswith(lead):
        return {}
    at, parts = len(lead), {}
    for name, behind, is_quoted in pieces:
        inside = rb'((?:[^"\\]|\\.)*+)' if is_quoted else rb'(.*?)'
        found = re.compile(inside + (re.escape(behind) or rb'\Z'), re.S).match(line, at)
        if not found:
            return {}
        parts[name], at = found[1], found.end()
    return add_words(parts)


def add_words(parts):
    words = re.fullmatch(rb'([^ ]+) ([^ ]+) ([^ ]+)', parts.get(b'request', b''), re.S)
    for i in range(3 if words else 0):
        parts.setdefault(WORDS[i], words[i + 1])
    return parts


def match_syslog(line):
    head = re.match(rb'(<[0-9]{1,3}>)?(1 )?([A-Z][a-z]{2} [0-9 ][0-9] \d\d:\d\d:\d\d(?= )|'
                    rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^ ]*(?= )) ([^ ]*) ', line, re.S)
    if not head or (head[2] and not head[1]):
        return {}
    parts, rest = {b'time': head[3], b'host': head[4]}, line[head.end():]
    if head[2]:
        found = re.match(rb'([^ ]*) ([^ ]*) [^ ]* (?:-|(?:\[(?:[^]"]|"(?:[^"\\]|\\.)*+")*+\])+)(?: (?:\xef\xbb\xbf)?|\Z)',
                         rest, re.S)
        if not found:
            return {}
        if found[1] != b'-':
            parts[b'tag'] = found[1]
        if found[2] != b'-':
            parts[b'pid'] = found[2]
        parts[b'message'] = rest[found.end():]
        return parts
    found = re.match(rb'([^[: ]+)(?:\[([^] ]*)\]:?|:) ?', rest, re.S)
    if found:
        parts[b'tag'] = found[1]
        if found[2] is not None:
            parts[b'pid'] = found[2]
    parts[b'message'] = rest[found.end():] if found else rest
    return parts


def match_logfmt(line):
    parts, at = {}, 0
    while found := re.compile(rb'[\0- ]*([^\0- =]*)(=?)').match(line, at):
        if found.end() == at:
            break
        at = found.end()
        if not found[2]:
            continue
        value = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?!")[^\0- ]*', re.S).match(line, at)
        if not value:
            break
        text = value[0]
        if text.startswith(b'"'):
            text = re.sub(rb'\\(.)', lambda c: ESCAPES.get(c[1], c[0]), text[1:-1], flags=re.S)
        parts.setdefault(found[1], text)
        at = re.compile(rb'[^\0- ]*').match(line, value.end()).end()
    return parts


def is_expression(text):
    return len(text) >= 2 and text.startswith(b'/') and text.endswith(b'/')


def match_expression(text, line):
    found = re.search(re.sub(rb"\(\?P?[<'](\w+)[>']", rb'(?P<\1>', text[1:-1]), line)
    parts = {name.encode(): part for name, part in found.groupdict().items() if part is not None} if found else {}
    return add_words(parts)


def parts_of(text, line):
    if len(line) > MOST:
        return {}
    line = line[:-1] if line.endswith(b'\r') else line
    if text == b'syslog':
        return match_syslog(line)
    if text == b'logfmt':
        return match_logfmt(line)
    if is_expression(text):
        return match_expression(text, line)
    return match_pattern(PRESETS.get(text, text), line)


def records(data):
    """Returns the number of each line that counts, and the line."""
    lines = data.split(b'\n')
    return [(i + 1, line) for i, line in enumerate(lines) if line not in (b'', b'\r')]


def number_in(part):
    """Returns a part without white space and a pair of quotes around it."""
    part = part.strip(b' \t\r\v\f')
    is_quoted = len(part) >= 2 and part.startswith(b'"') and part.endswith(b'"')
    return part[1:-1].strip(b' \t\r\v\f') if is_quoted else part


# --- drawn lines ---

# Pieces of values: numbers, what stands behind other parts, and bytes that are rare in logs.
BITS = [b'0', b'12', b'7.5', b'-', b'a', b'GET', b'/a', b'/a?b', b'HTTP/1.1', b' ', b' ', b'"', b'\\"', b'\\\\', b'\\', b'[', b']',
        b'] ', b' - ', b' [', b'" ', b':', b': ', b'=', b'k="', b'\0', b'\xff', '\u00e9'.encode(), b'\r', b'\t', b'x' * 70, b'y' * 130]
REQUESTS = [b'GET /a HTTP/1.1', b'GET /b HTTP/2', b'POST /a?b=%22 HTTP/1.1', b'-', b'', b'GET /a b HTTP/1.1', b'GET  HTTP/1.1',
            b'GET /\\"q HTTP/1.1', b' GET /']
HEADS = [b'Nov 22 10:05:07 ', b'Nov  2 10:05:07 ', b'<34>Oct 11 22:14:15 ', b'<34>1 2003-10-11T22:14:15.003Z ',
         b'2024-11-22T10:05:07.1+01:00 ', b'<1234>Oct 11 22:14:15 ', b'1 2003-10-11T22:14:15.003Z ', b'<34>1 - ', b'Nov 22 10:05 ']
TAGS = [b'sshd[7]: ', b'cron: ', b'su(pam)[12]: ', b'a[b]', b'kernel:x', b'last message', b'', b'a[7 ]: ', b'app 7 id - ',
        b'app - - [a b="]\\"x"][c] ', b'app 8 id [a b="] ', b'app 9 id [a]', b'- 7 id - \xef\xbb\xbf', b'app 7 id x ']


def a_value(is_wild):
    if not is_wild and random.random() < 0.8:
        return random.choice([b'0', b'17', b'2.5', b'404', b'-', b'abc', b'10.0.0.1', b'1e3', b'z' * random.randrange(90)])
    return b''.join(random.choice(BITS) for _ in range(random.randrange(6)))


def draw_line(text, is_wild):
    if text == b'syslog':
        return random.choice(HEADS) + random.choice([b'host', b'10.0.0.1', b'']) + b' ' + random.choice(TAGS) + a_value(is_wild)
    if text == b'logfmt':
        words = []
        for _ in range(random.randrange(7)):
            value = a_value(is_wild)
            if random.random() < 0.4:
                value = b'"' + re.sub(rb'(["\\])', rb'\\\1', value) + b'"'
            words.append(random.choice([b'ts', b'level', b'msg', b'dur', b'd', b'']) + random.choice([b'=', b'=', b'=', b'']) + value)
        return random.choice([b' ', b'  ', b'\t']).join(words)
    lead, pieces = pieces_of(PRESETS['combined'.encode()] if is_expression(text) else PRESETS.get(text, text))
    line = lead
    for name, behind, _ in pieces:
        line += (random.choice(REQUESTS) if name == b'request' and random.random() < 0.9 else a_value(is_wild)) + behind
    return line + random.choice([b'', b'', b' 0.5', b'"'])


def draw(text, seed, count):
    random.seed(seed)
    lines = []
    for _ in range(count):
        line = draw_line(text, random.random() < 0.4)
        fate = random.random()
        if fate < 0.1:
            line = line[:random.randrange(len(line) + 1)]
        elif fate < 0.2 and line:
            at = random.randrange(len(line))
            line = line[:at] + line[at + 1:]
        elif fate < 0.23:
            line = random.choice([b'', b' ', b'\r', b'"', b'\\'])
        lines.append(line.replace(b'\n', b'') + random.choice([b'\n', b'\n', b'\n', b'\r\n']))
    return b''.join(lines)


# --- the command line ---

what, text, *rest = [word.encode() for word in sys.argv[1:]]
if what == b'draw':
    sys.stdout.buffer.write(draw(text, int(rest[0]), int(rest[1])))
    sys.exit()
number = key = None
while rest:
    word = rest.pop(0)
    if word == b'-k':
        number = rest.pop(0)
    else:
        key = word.removeprefix(b'--by=')
if what == b'csv':
    sys.stdout.buffer.write(b'number,' + (key or b'') + b'\n')
for at, line in records(sys.stdin.buffer.read()):
    parts = parts_of(text, line)
    found = number_in(parts.get(number, b'?')) if number else b'1'
    if what == b'csv':
        fields = [found, parts[key]] if key in parts else [found]
        sys.stdout.buffer.write(b','.join(b'"' + field.replace(b'"', b'""') + b'"' for field in fields) + b'\n')
    elif (key and key not in parts) or not NUMBER.match(found):
        print(at)
        break

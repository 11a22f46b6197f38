#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oracle_units.py random SEED COUNT WAY: prints lines with numbers with units, or what looks like them.
oracle_units.py read WAY: for each line of standard input, prints the decimal in seconds or bytes that the number in it
is, or x if it is none. Lines that do not count have none.

A WAY is tokens, blanks:N, separated:C:N, csv:N, after:STRING or json. By the definition in doc/gpuhisto.1, with regular
expressions and fractions."""
import json
import random
import re
import sys
from fractions import Fraction

SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6),
           "\xb5s": Fraction(1, 10**6), "\u03bcs": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}
WORDS = {"week": "w", "day": "d", "hour": "h", "hr": "h", "minute": "m", "min": "m", "second": "s", "sec": "s",
         "millisecond": "ms", "msec": "ms", "microsecond": "us", "usec": "us", "nanosecond": "ns", "nsec": "ns"}
BYTES = {"B": 1}
for power, prefix in enumerate("kMGTP", 1):
    BYTES[prefix] = BYTES[prefix + "B"] = 1000**power
    binary = prefix.upper() + "i"
    BYTES[binary] = BYTES[binary + "B"] = 1024**power
UNCLEAR = set("y yr year mo month am pm ps picosecond bit bps".split())
UNCLEAR |= {prefix + rest for prefix in "kmgt" for rest in ("bit", "bps")}
UNCLEAR |= {word + "s" for word in UNCLEAR}
UNCLEAR |= {symbol.lower() for symbol in list(SECONDS) + list(BYTES) if symbol.isascii()}
UNCLEAR |= {unit + "b" for unit in ("s", "ms", "us", "ns", "m", "h", "d", "w")}

DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
COLOUR = r"(?:\x1b\[[0-9;:]*[mK])"
MICRO = r"\\u00[bB]5s|\\u03[bB][cC]s"


def unit_of(name):
    """The factor of a unit, and whether it is a time; or None."""
    if name in BYTES or name.lower() in ("byte", "bytes"):
        return Fraction(BYTES.get(name, 1)), False
    lower = name.lower()
    symbol = WORDS.get(lower) or (WORDS.get(lower[:-1]) if lower.endswith("s") else None) or name
    return (Fraction(SECONDS[symbol]), True) if symbol in SECONDS else None


def is_unclear(name):
    if "/" in name:
        head = name.split("/")[0]
        return unit_of(head) is not None or is_unclear(head)
    return name.lower() in UNCLEAR or re.search("(?i).bytes?$", name) is not None


def scaled(digits, exponent):
    """A decimal with an exponent; beyond all doubles infinity or 0."""
    number, power = Fraction(digits if digits[-1] != "." else digits + "0"), int(exponent or 0)
    if abs(power) > 5000:
        return float("inf") if power > 0 and number > 0 else Fraction(0)
    return number * Fraction(10) ** power


def value_of(token):
    """A token without white space: its value, or None."""
    sign = -1 if token.startswith("-") else 1
    body = token[1:] if token[:1] in ("-", "+") else token
    if re.fullmatch("(?i)inf(inity)?", body):
        return sign * float("inf")
    bare = re.fullmatch(f"({DECIMAL})(?:[eE]([+-]?[0-9]+))?", body)
    if bare:
        return sign * scaled(bare[1], bare[2])
    total, before, is_last = Fraction(0), None, False
    while body:
        clock = re.fullmatch(r"([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]*)?)", body)
        days = re.fullmatch(r"([0-9]+)-([0-9]+:.*)", body)
        if clock and not is_last and (before is None or (before >= 86400 and sign > 0)):
            second = clock[3] + "0" if clock[3].endswith(".") else clock[3]
            return sign * (total + int(clock[1]) * 3600 + int(clock[2]) * 60 + Fraction(second))
        if before is None and days and sign > 0:
            total, before, body = Fraction(int(days[1]) * 86400), 86400, days[2]
            if not re.fullmatch(r"[0-9]+:[0-5][0-9]:[0-5][0-9](\.[0-9]*)?", body):
                return None
            continue
        short = re.fullmatch(r"([0-9]+):([0-5][0-9]\.[0-9]+)", body)
        if short and before is None:
            return sign * (int(short[1]) * 60 + Fraction(short[2]))
        exponent = r"(?:[eE]([+-]?[0-9]+))?" if before is None else "()"
        term = re.match(f"({DECIMAL}){exponent}([^0-9.]+)", body)
        if not term or is_last:
            return None
        unit = unit_of(term[3])
        if unit is None or (before is not None and not (unit[1] and unit[0] < before)):
            return None
        total += scaled(term[1], term[2]) * unit[0]
        is_last = "." in term[1] or bool(term[2])
        before = unit[0] if unit[1] else Fraction(0)
        body = body[term.end():]
    return sign * total if before is not None else None


def skip_gap(text, at):
    return re.compile(f"(?:[ \\t]|{COLOUR})*").match(text, at).end()


def unit_word(text, at):
    """Where the word ends that may be a unit; `at` if there is none."""
    match = re.compile(f"(?:{MICRO})?(?:[a-zA-Z\x80-\U0010ffff][a-zA-Z\x80-\U0010ffff/]*)?").match(text, at)
    end = match.end()
    if re.match(MICRO, text[at:]):
        end = re.compile(r"[a-zA-Z\x80-\U0010ffff/]*").match(text, at + 7).end()
    if re.compile(r"[0-9_=]|[.-][a-zA-Z0-9]").match(text, end):
        return at
    return end


def is_decimal(token):
    return re.fullmatch(f"[+-]?{DECIMAL}(?:[eE][+-]?[0-9]+)?", token) is not None and token[-1] in "0123456789."


def join_unit(token, word):
    """The token with a unit, None if that is unclear."""
    if not is_decimal(token) or not word:
        return token
    if re.fullmatch(MICRO, word):
        return token + "us"
    if unit_of(word):
        return token + word
    return None if is_unclear(word) else token


def next_term(token, text, at):
    """The token with the term that follows, and where that ends; or the same."""
    match = re.compile(f",?{COLOUR}* {COLOUR}*(?:and )?(?=[0-9])").match(text, at)
    if not match:
        return token, at
    begin = match.end()
    end = re.compile("[a-zA-Z0-9.:\x80-\U0010ffff]*").match(text, begin).end()
    end -= text[end - 1] in ".:"
    longer = token + text[begin:end]
    if longer[-1] in "0123456789":
        word = skip_gap(text, end)
        word_end = unit_word(text, word)
        if word > end and word_end > word and unit_of(text[word:word_end]):
            longer += text[word:word_end]
            end = word_end
    return (longer, end) if value_of(longer) is not None else (token, at)


def read_words(token, text, at):
    """The token with what belongs to it from `at` on, and where that ends; None if it is no number because of that."""
    if token[-1] in "0123456789.":
        word = skip_gap(text, at)
        end = unit_word(text, word)
        name = text[word:end]
        is_unit = name and (unit_of(name) or is_unclear(name) or re.fullmatch(MICRO, name))
        if (word == at and not re.match(MICRO, name)) or not is_unit:
            return token, at
        if ":" in token and value_of(token) is not None:
            return None, end
        joined = join_unit(token, name)
        if joined is None or joined == token:
            return joined, end if joined is None else at
        token, at = joined, end
    while True:
        longer, end = next_term(token, text, at)
        if longer == token:
            break
        token, at = longer, end
    follows = re.compile(f",?(?:[ \\t]|{COLOUR})*[+-]?[0-9]+:[0-9][a-zA-Z0-9.:\x80-\U0010ffff]*").match(text, at)
    if follows and value_of(token.lstrip("+-") + "0:00:00") is not None:
        return None, follows.end() - (text[follows.end() - 1] in ".:")
    return token, at


def strip(text):
    around = f"(?:[ \\t\\r\\n\\v\\f]|{COLOUR})*"
    return re.fullmatch(f"(?s){around}(.*?){around}", text)[1]


def unquoted(text):
    text = strip(text)
    return strip(text[1:-1]) if len(text) >= 2 and text[0] == text[-1] == '"' else text


def content(text):
    """All of a text as a number."""
    words = text.split(None, 1) if text[:1] not in (" ", "\t") else [""]
    if not words:
        return None
    first = re.match(r"[^ \t\r\n\v\f]*", text)[0]
    if not first:
        return None
    token, end = read_words(first, text, len(first))
    return token if token is not None and not text[end:].strip(" \t\r\n\v\f") else None


def token_end(text, at):
    """Where the token after a string ends."""
    end = at
    while end < len(text):
        c = text[end]
        if c == ":" and end > at and text[end - 1] in "0123456789" and text[end + 1:end + 2].isdigit():
            end += 1
            continue
        if c in " \t\r\n\v\f\"'&;:<>|\\)]}\x1b" or (c in ",%" and not text[end + 1:end + 2].isdigit()):
            break
        end += 1
    return end - 1 if end > at and text[end - 1] == "." else end


def tokens_of(line):
    at = 0
    while True:
        at += len(line[at:]) - len(line[at:].lstrip(" \t\r\v\f"))
        if at >= len(line):
            return
        end = at + len(re.match(r"[^ \t\r\v\f]*", line[at:])[0])
        token, after = read_words(line[at:end], line, end)
        rest = re.compile(r"[^ \t\r\v\f]*").match(line, after).end()
        yield token if rest == after else None
        at = rest


def field(fields, at, text, closed):
    """The number in fields[at] = (from, to)."""
    begin, end = fields[at]
    number = unquoted(text[begin:end])
    if not closed:
        if not number or re.search(r"[ \t\r\v\f]", number):
            return None
        return read_words(number, text, end)[0]
    token = content(number)
    if token and at + 1 < len(fields):
        unit = unquoted(text[fields[at + 1][0]:fields[at + 1][1]])
        return join_unit(token, unit) if unit_word(unit, 0) == len(unit) else token
    return token


def numbers_of(way, line):
    """The tokens of the numbers of a line; None: of an invalid one."""
    kind, _, rest = way.partition(":")
    line = line[:-1] if line.endswith("\r") else line
    if kind == "tokens":
        return list(tokens_of(line))
    if not line or (kind in ("blanks", "json") and not line.strip(" \t" + "\r" * (kind == "json"))):
        return []
    if kind == "json":
        try:
            value = json.loads(line, parse_float=str, parse_int=str)["t"]
        except (ValueError, KeyError, TypeError):
            return [None]
        is_string = isinstance(value, str)
        return [content(strip(value)) if is_string and value else None]
    if kind == "after":
        at = line.find(rest)
        if at < 0:
            return [None]
        at += len(rest)
        at = re.compile(f"[ \\t]*{COLOUR}*").match(line, at).end()
        if line[at:at + 1] == '"':
            at = re.compile(f"[ \\t]*{COLOUR}*").match(line, at + 1).end()
        end = token_end(line, at)
        return [read_words(line[at:end], line, end)[0] if end > at else None]
    if kind == "blanks":
        fields, number, closed = [match.span() for match in re.finditer(r"[^ \t]+", line)], int(rest), False
    else:
        separator, number = (rest[0], int(rest[2:])) if kind == "separated" else (",", int(rest))
        pattern = '(?:"(?:[^"]|"")*"?[^,]*|[^,]*)' if kind == "csv" else f"[^{re.escape(separator)}]*"
        fields, at = [], 0
        while True:
            end = re.compile(pattern).match(line, at).end()
            fields.append((at, end))
            if end == len(line):
                break
            at = end + 1
        closed = True
    at = number - 1 if number > 0 else len(fields) + number
    return [field(fields, at, line, closed) if 0 <= at < len(fields) else None]


def decimal(value):
    """A fraction whose denominator has no factors but 2 and 5, in full."""
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    digits = 0
    while (value * 10**digits).denominator > 1:
        digits += 1
    whole = value * 10**digits
    return f"{whole.numerator}e-{digits}"


PIECES = ("1", "5", "30", "2.5", ".5", "3.", "007", "12345678", "0", "1e3", "ms", "s", "m", "h", "d", "w", "us", "ns",
          "\xb5s", "\u03bcs", "\\u00b5s", "k", "kB", "K", "KB", "MiB", "B", "M", "GB/s", "min", "mins", "Minutes", "hour", "hours",
          "days", "day,", "sec", "msec", "week", "bytes", "month", "pm", "and", "and ", "GET", "foo", "x=3", "s=3",
          "ms)", "ms,", "-1", "+2", "1:02:03", "02:03", "2:03.5", "1-02:03:04", "inf", "nan", "1h30m", "1m", "3s", "5ms",
          "20", ",", ";", "\"", "'", "(", "=", ".", ":", "\x1b[0m", "\x1b[01;31m", "\x1b[K", "\x1b[1", "m5s", "\r", "/op")
GAPS = ("", "", " ", " ", " ", " ", "  ", "\t", ", ", ",", " \x1b[0m ")


def random_line(draw, way):
    kind, _, rest = way.partition(":")
    text = ""
    for _ in range(draw.randint(1, 7)):
        text += draw.choice(PIECES) + draw.choice(GAPS)
    if kind == "after":
        text = draw.choice(("", "a ", "x, ")) + rest + draw.choice(("", " ", '"', ' " ')) + text
    if kind == "json":
        text = json.dumps({"a": 1, "t": text.replace("\\u00b5", "\xb5")}, ensure_ascii=draw.random() < 0.5)
    if kind == "csv":
        parts = text.replace('"', "").split(",")
        text = ",".join(f'"{part}"' if draw.random() < 0.3 else part for part in parts)
    return text


def main():
    if sys.argv[1] == "random":
        draw = random.Random(int(sys.argv[2]))
        lines = [random_line(draw, sys.argv[4]) for _ in range(int(sys.argv[3]))]
        sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode())
        return
    text = sys.stdin.buffer.read().decode("utf-8")
    lines = text.split("\n")
    for line in lines[:-1] if text.endswith("\n") else lines:
        for token in numbers_of(sys.argv[2], line):
            value = value_of(token) if token else None
            print("x" if value is None else decimal(value))


main()

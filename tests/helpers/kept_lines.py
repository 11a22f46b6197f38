# SPDX-License-Identifier: MIT
"""Writes those records of standard input that --lines-with and --lines-without keep, by Python's `in`:

    kept_lines.py [--csv] [--tokens] [--numbers=FILE] [--lines-with=STRING]... [--lines-without=STRING]... <IN >OUT

FILE gets, for each line of OUT, its number in IN. A record of more than a MiB is always kept; with
--tokens one that is invalid takes its place."""
import os
import sys

MOST = 1 << 20


def records(text, is_csv):
    """Yields records with their newlines."""
    begin = 0
    while begin < len(text):
        at = begin
        while is_csv:
            # A quote that begins a field quotes newlines.
            if text[at:at + 1] == b'"':
                at += 1
                while True:
                    at = text.find(b'"', at)
                    if at < 0:
                        at = len(text)
                        break
                    if text[at:at + 2] != b'""':
                        break
                    at += 2
            separator, newline = text.find(b',', at), text.find(b'\n', at)
            if separator < 0 or 0 <= newline < separator:
                break
            at = separator + 1
        newline = text.find(b'\n', at)
        end = newline + 1 if newline >= 0 else len(text)
        yield text[begin:end]
        begin = end


def strings(option):
    return [os.fsencode(word[len(option):]) for word in sys.argv[1:] if word.startswith(option)]


wanted, unwanted = strings('--lines-with='), strings('--lines-without=')
tokens = '--tokens' in sys.argv
numbers, line = [], 1
for record in records(sys.stdin.buffer.read(), '--csv' in sys.argv):
    content = record.removesuffix(b'\n')
    is_long = len(content) > MOST
    if is_long or (all(s in content for s in wanted) and not any(s in content for s in unwanted)):
        kept = b'?\n' if is_long and tokens else record
        sys.stdout.buffer.write(kept)
        numbers += range(line, line + max(kept.count(b'\n'), 1))
    line += record.count(b'\n')
for name in strings('--numbers='):
    with open(name, 'w') as file:
        file.writelines('%d\n' % number for number in numbers)

# SPDX-License-Identifier: MIT
"""Counts the characters of standard input by Python's decoder: a line for each, as gpuhisto prints
the first two columns of --characters. Each maximal subpart is one U+FFFD of errors='replace'."""
import codecs
import collections
import sys

invalid = 0


def count_invalid(error):
    global invalid
    invalid += 1
    return "", error.end


codecs.register_error("count", count_invalid)
counts = collections.Counter(sys.stdin.buffer.read().decode("utf-8", "count"))
for character in sorted(counts):
    print("U+%04X\t%d" % (ord(character), counts[character]))
print("invalid\t%d" % invalid)

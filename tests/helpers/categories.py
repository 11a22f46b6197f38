# SPDX-License-Identifier: MIT
"""Adds up the rows of --characters on standard input by the general category that Python's database
has for each character. Its version must be that of src/tally/unicode_groups.c."""
import collections
import os
import re
import sys
import unicodedata

source = os.path.join(os.environ.get("srcdir", "."), "src/tally/unicode_groups.c")
with open(source) as made:
    version = re.search(r"Unicode Character Database, version ([0-9.]+)\.", made.read()).group(1)
if unicodedata.unidata_version != version:
    print("another version")
    sys.exit()
counts = collections.Counter()
invalid = 0
for line in sys.stdin:
    name, count = line.split("\t")
    if name == "invalid":
        invalid = int(count)
    else:
        counts[unicodedata.category(chr(int(name[2:], 16)))] += int(count)
for category in sorted(counts):
    print("%s\t%d" % (category, counts[category]))
print("invalid\t%d" % invalid)

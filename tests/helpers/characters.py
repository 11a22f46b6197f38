# SPDX-License-Identifier: MIT
"""characters.py FILE...: counts the characters of FILEs, each decoded by itself by Python's decoder: a
line for each, as gpuhisto prints the first two columns of --characters. Each maximal subpart is one
U+FFFD of errors='replace'.

characters.py --each FILE...: writes the counts of each FILE to FILE.table."""
import codecs
import collections
import sys

invalid = 0


def count_invalid(error):
    global invalid
    invalid += 1
    return "", error.end


def counts_of(name):
    """The counts of a FILE's characters, and of what is invalid in it."""
    global invalid
    invalid = 0
    with open(name, "rb") as file:
        counts = collections.Counter(file.read().decode("utf-8", "count"))
    table = collections.Counter({"U+%04X" % ord(character): counts[character] for character in counts})
    table["invalid"] = invalid
    return table


def write(table, file):
    for row in sorted(table):
        print("%s\t%d" % (row, table[row]), file=file)


codecs.register_error("count", count_invalid)
if sys.argv[1] == "--each":
    for name in sys.argv[2:]:
        with open(name + ".table", "w") as file:
            write(counts_of(name), file)
else:
    total = collections.Counter()
    for name in sys.argv[1:]:
        total.update(counts_of(name))
    write(total, sys.stdout)

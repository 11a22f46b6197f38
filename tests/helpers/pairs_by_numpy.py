# SPDX-License-Identifier: MIT
"""Counts pairs of bytes: pairs_by_numpy.py STEP < data. STEP is 1 for pairs that overlap, 2 for aligned
ones. Prints "0x6162", the count and both bytes, as --pairs does."""
import sys

import numpy


def shown(byte):
    if 7 <= byte <= 13:
        return "\\" + "abtnvfr"[byte - 7]
    if byte in b' "' or not 32 < byte < 127:
        return "\\x%02x" % byte
    return "\\\\" if byte == ord("\\") else chr(byte)


step = int(sys.argv[1])
data = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8).astype(numpy.uint32)
counts = numpy.bincount(data[:-1:step] * 256 + data[1::step], minlength=65536)
for pair in numpy.flatnonzero(counts):
    print("0x%04x\t%d\t%s%s" % (pair, counts[pair], shown(pair >> 8), shown(pair & 255)))

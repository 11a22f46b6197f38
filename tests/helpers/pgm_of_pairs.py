# SPDX-License-Identifier: MIT
"""Writes the picture that --pairs --format=pgm should give: pgm_of_pairs.py STEP [NAME] < data. STEP is 1
for pairs that overlap, 2 for aligned ones; NAME is that of the file, with --each."""
import math
import sys

step = int(sys.argv[1])
data = sys.stdin.buffer.read()
counts = [0] * 65536
for i in range(0, len(data) - 1, step):
    counts[data[i] * 256 + data[i + 1]] += 1
largest = max(counts)
name = "# %s\n" % sys.argv[2] if len(sys.argv) > 2 else ""
head = "P5\n%s# pairs %d, largest count %d\n" % (name, sum(counts), largest)
head += "# line: first byte; column: second byte\n"
head += "# pixel: 65535 * log(1 + count) / log(1 + largest count)\n256 256\n65535\n"
out = sys.stdout.buffer
out.write(head.encode())
for count in counts:
    pixel = math.floor(65535 * (math.log1p(count) / math.log1p(largest)) + 0.5) if count else 0
    out.write(pixel.to_bytes(2, "big"))

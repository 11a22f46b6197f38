# SPDX-License-Identifier: MIT
"""Prints the table of --right for numbers of standard input: right_bins.py EDGE..., by comparing each
number with each edge as a fraction. What is no number is invalid; a double stands for the nearest."""
import sys
from fractions import Fraction

edges = sys.argv[1:]
values = [Fraction(float(edge)) if '.' in edge or 'e' in edge else Fraction(int(edge)) for edge in edges]
rows, invalid = [0] * (len(edges) + 1), 0
for word in sys.stdin.read().split():
    try:
        number = float(word) if '.' in word or 'e' in word or 'inf' in word else Fraction(int(word))
    except ValueError:
        invalid += 1
        continue
    # The bin from a to b has the numbers with a < number <= b.
    rows[sum(number > value for value in values)] += 1
lows, highs = ['-inf'] + edges, edges + ['inf']
for low, count, high in zip(lows, rows, highs):
    print(low, count, high, sep='\t')
print('invalid', invalid, sep='\t')

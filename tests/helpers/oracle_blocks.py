# SPDX-License-Identifier: MIT
"""Writes what --each=SIZE prints of the content of files, block by block, and of a part of it:

    oracle_blocks.py WHAT SIZE [--skip=N] [--length=N] FILE[=NAME]...

WHAT: bytes, the rows that have a count, without the character; letters, in ranges of 13; entropy, the columns bytes,
distinct and entropy of -s; or a type of values, the columns count, min, max and, up to 32 bits, sum. Lines begin with NAME, if there are
several files, and the offset."""
import math
import sys
from collections import Counter


def entropy(counts):
    total = sum(counts.values())
    return sum(n / total * math.log2(total / n) for n in counts.values())


def rows(what, block):
    counts = Counter(block)
    if what == 'bytes':
        for byte in sorted(counts):
            yield f'0x{byte:02x}\t{counts[byte]}'
    elif what == 'letters':
        for first in (97, 110):
            yield f'{chr(first)}-{chr(first + 12)}\t{sum(counts[byte] for byte in range(first, first + 13))}'
    elif what == 'entropy':
        yield f'{len(block)}\t{len(counts)}\t{entropy(counts):.6f}'
    else:
        order = 'big' if what.endswith('be') else 'little'
        size = int(what.removesuffix('be')[1:]) // 8
        values = [int.from_bytes(block[at:at + size], order, signed=what[0] == 'i') for at in range(0, len(block), size)]
        yield f'{len(values)}\t{min(values)}\t{max(values)}' + f'\t{sum(values)}' * (size < 8)


what, size, operands = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
given = {'--skip': 0, '--length': sys.maxsize}
while operands[0].startswith('--'):
    name, value = operands.pop(0).split('=')
    given[name] = int(value)
for operand in operands:
    path, _, name = operand.partition('=')
    with open(path, 'rb') as file:
        content = file.read()
    end = min(len(content), given['--skip'] + given['--length'])
    for offset in range(given['--skip'], end, size):
        for row in rows(what, content[offset:min(offset + size, end)]):
            print(f'{name or path}\t' * (len(operands) > 1) + f'{offset}\t{row}')

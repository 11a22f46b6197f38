# SPDX-License-Identifier: MIT
"""Compressed files that are decoded in small pieces by several workers: output, messages and status are as with one.

pieces.py PROGRAM CASES SEED: draws files, damages some of them, and runs the program on each with one worker and with
several. GPUHISTO_PIECES is how large pieces are. Prints what differs, and at the end how many cases were tried."""
import os
import random
import subprocess
import sys
import zlib

program, cases, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = random.Random(seed)


def text(size):
    words = ['GET', 'POST', '200', '404', '/index.html', '/api/v1/items', 'curl/8.1', '"-"', 'M\u00fcnchen', 'x' * 40]
    lines, have = [], 0
    while have < size:
        line = ' '.join(draw.choice(words) for _ in range(draw.randrange(12)))
        line += ' %.3f\n' % draw.lognormvariate(0, 3)
        lines.append(line)
        have += len(line)
    return ''.join(lines).encode()[:size]


def table(size):
    lines, have = ['url,ms,"a ""b"""\n'], 0
    while have < size:
        lines.append('"/a,%d",%d,"x\ny"\n' % (draw.randrange(9), draw.randrange(1000)) if draw.randrange(3) else 'b,%d,\n' % draw.randrange(99))
        have += len(lines[-1])
    return ''.join(lines).encode()[:size]


def content(size):
    kind = draw.randrange(11)
    if kind > 8:
        return table(size)
    if kind < 4:
        return text(size)
    if kind == 4:
        return draw.randbytes(size)
    if kind == 5:
        return bytes(size)
    if kind == 6:
        return b''.join(b'%d\n' % draw.randrange(10 ** draw.randrange(1, 9)) for _ in range(size // 6))
    return text(size // 2) + draw.randbytes(size // 4) + text(size // 4)


def member(data):
    strategy = draw.choice([zlib.Z_DEFAULT_STRATEGY] * 6 + [zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE])
    deflate = zlib.compressobj(draw.choice([0, 1, 1, 6, 6, 9]), zlib.DEFLATED, 31, draw.choice([1, 8, 9]), strategy)
    out, at = [], 0
    while at < len(data):
        some = draw.choice([1000, 30000, 200000, len(data)])
        out.append(deflate.compress(data[at:at + some]))
        if draw.randrange(4) == 0:
            out.append(deflate.flush(draw.choice([zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_BLOCK])))
        at += some
    return b''.join(out) + deflate.flush()


def file():
    size = draw.choice([0, 1, 1000, 40000, 300000, 300000, 900000])
    whole = b''.join(member(content(draw.randrange(size + 1))) for _ in range(draw.choice([1, 1, 1, 2, 5, 30])))
    if draw.randrange(6) == 0:
        whole += bytes(draw.randrange(9000))
    if draw.randrange(8) == 0:
        whole += draw.choice([b'rubbish', b'\x1f\x8b', b'\x1f\x8b\x08\x00', whole[:200]])
    return whole


def damage(whole):
    if len(whole) < 20:
        return whole
    kind = draw.randrange(4)
    at = draw.choice([draw.randrange(len(whole)), len(whole) - 1 - draw.randrange(20), draw.randrange(20)])
    if kind == 0:
        return whole[:at]
    if kind == 1:
        return whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1:]
    if kind == 2:
        return whole[:at] + draw.randbytes(draw.randrange(1, 300)) + whole[at + 300:]
    return whole[:at] + whole[at + draw.randrange(1, 40000):]


modes = [['-b'], ['-b'], ['-n', '--min=0', '--max=100'], ['-nk-1', '-s'], ['-c'], ['--pairs'], ['--by=1'], ['--by=2', '-nk-1', '-s'],
         ['--letters'], ['--values=u24', '-s'], ['-n', '--invalid=error'], ['-nk-1', '-s', '--invalid=skip'],
         ['-b', '--lines-with=404'], ['-b', '--length=%d' % draw.randrange(1, 400000)], ['-b', '--each=100K'], ['-b', '--skip=70000'],
         ['--csv', '--by=1'], ['--csv', '-nk', '2', '-s'], ['-nk', 'ms', '-s'], ['-b', '--skip=10000', '--length=20000'],
         ['-nk-1', '-s', '--length=50000']]
wrong = 0
for case in range(cases):
    with open('piece.gz', 'wb') as out:
        data = file()
        out.write(damage(data) if draw.randrange(2) else data)
    for mode in draw.sample(modes, 3):
        results = []
        threads = draw.choice([2, 3, 8, 8, 64])
        for count, size in ((1, '4096'), (threads, str(draw.choice([1000, 4096, 20000])))):
            run = subprocess.run([program, '--device=cpu', '--threads=%d' % count] + mode + ['piece.gz'],
                                 env=dict(os.environ, GPUHISTO_PIECES=size), capture_output=True, timeout=300)
            results.append((run.returncode, run.stdout, run.stderr))
        if ('--invalid=error' in mode or '--csv' in mode) and results[0][0] == results[1][0] == 1:
            continue  # one worker drops what it has of a chunk in which a member turns out wrong
        if results[0] != results[1]:
            wrong += 1
            os.replace('piece.gz', 'wrong%d.gz' % wrong) if os.path.exists('piece.gz') else None
            print('seed', seed, 'case', case, mode, threads, results[0][0], results[1][0], results[0][2][:200], results[1][2][:200])
            break
print('%d cases, %d wrong' % (cases, wrong))
sys.exit(wrong > 0)

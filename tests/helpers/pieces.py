# SPDX-License-Identifier: MIT
"""Compressed files that are decoded in small pieces by several workers: output, messages and status are as with one.

pieces.py PROGRAM CASES SEED: draws files, damages some of them, and runs the program on each with one worker and with
several, as files and in pipes that pause. GPUHISTO_PIECES is how large pieces are. Prints what differs, and at the end how many cases were tried."""
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import zlib

program, cases, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = random.Random(seed)
has_zstd = shutil.which('zstd')


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


def frame(data):
    options = ['-%d' % draw.choice([1, 3, 6, 12]), draw.choice(['--check', '--no-check'])]
    if draw.randrange(3) == 0:
        options.append('--zstd=wlog=%d' % draw.randrange(10, 18))
    return subprocess.run(['zstd', '-qc', *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def zstd_file():
    size = draw.choice([0, 1, 1000, 40000, 300000, 300000, 900000, 3000000])
    skipped = b'\x50\x2a\x4d\x18\x03\x00\x00\x00abc' if draw.randrange(6) == 0 else b''
    whole = skipped.join(frame(content(draw.randrange(size + 1))) for _ in range(draw.choice([1, 1, 2, 5, 12])))
    if draw.randrange(8) == 0:
        whole += draw.choice([b'rubbish', b'\x28\xb5\x2f\xfd', b'\x50\x2a\x4d\x18\x04\x00\x00\x00abcd', whole[:200]])
    return whole


def file():
    if has_zstd and draw.randrange(2):
        return zstd_file()
    size = draw.choice([0, 1, 1000, 40000, 300000, 300000, 900000])
    size = draw.choice([size, size, 3000])
    whole = b''.join(member(content(draw.randrange(size + 1))) for _ in range(draw.choice([1, 1, 1, 2, 5, 30] if size > 3000 else [30, 300])))
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
         ['-nk-1', '-s', '--length=50000'], ['-b', '--part=1/2'], ['-b', '--part=2/2'], ['-nk-1', '-s', '--part=2/3']]


def feed(pipe, data, pauses):
    """Writes data to a pipe, which pauses at these bytes."""
    at = 0
    try:
        for end in pauses + [len(data)]:
            pipe.write(data[at:end])
            pipe.flush()
            time.sleep(draw.choice([0.003, 0.015]) if end < len(data) else 0)
            at = end
        pipe.close()
    except BrokenPipeError:
        pass


def run(threads, size, mode, data, pauses):
    """Returns status, output and messages; pauses is None: of a file."""
    command = [program, '--device=cpu', '--threads=%d' % threads] + mode + (['piece.gz'] if pauses is None else [])
    process = subprocess.Popen(command, env=dict(os.environ, GPUHISTO_PIECES=size), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer = threading.Thread(target=feed, args=(process.stdin, b'' if pauses is None else data, pauses or []))
    writer.start()
    results = []
    readers = [threading.Thread(target=lambda pipe=pipe, at=at: results.append((at, pipe.read())))
               for at, pipe in enumerate((process.stdout, process.stderr))]
    for reader in readers:
        reader.start()
    status = process.wait(timeout=60)
    for thread in readers + [writer]:
        thread.join()
    return (status, *[text for _, text in sorted(results)])


wrong = 0
for case in range(cases):
    with open('piece.gz', 'wb') as out:
        data = file()
        data = damage(data) if draw.randrange(2) else data
        out.write(data)
    pauses = None
    if draw.randrange(2):
        pauses = sorted(draw.randrange(len(data) + 1) for _ in range(draw.randrange(4)))
    for mode in draw.sample(modes, 3):
        results = []
        in_file = '--part' in mode[-1]  # a pipe has no parts
        threads = draw.choice([2, 3, 8, 8, 64])
        for count, size in ((1, '4096'), (threads, str(draw.choice([1000, 4096, 20000, 100000])))):
            results.append(run(count, size, mode, data, None if in_file else pauses))
        if ('--invalid=error' in mode or '--csv' in mode) and results[0][0] == results[1][0] == 1:
            continue  # one worker drops what it has of a chunk in which a member turns out wrong
        if any(option.startswith('--length') for option in mode) and b'corrupt' in results[0][2]:
            continue  # one worker may look ahead beyond the range
        if results[0] != results[1]:
            wrong += 1
            os.replace('piece.gz', 'wrong%d.gz' % wrong) if os.path.exists('piece.gz') else None
            print('seed', seed, 'case', case, mode, threads, pauses, results[0][0], results[1][0], results[0][2][:200], results[1][2][:200])
            break
print('%d cases, %d wrong' % (cases, wrong))
sys.exit(wrong > 0)

# SPDX-License-Identifier: MIT
"""facts_by_fractions.py GPUHISTO: prints a line for each fact of --stats, of doubles that are hard
to add up: "ok", or "FAILED ..." if it is not what exact fractions and math.fsum say, for every
counter of this processor, and for several threads and orders."""
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

program = sys.argv[1]
source = random.Random(13)
BATCH = 1024
LARGEST, LEAST = sys.float_info.max, 5e-324


def unit():
    return source.random()


def signed(value):
    return value if source.random() < 0.5 else -value


def cancelling(count):
    half = [math.ldexp(1 + unit(), source.randrange(-300, 300)) for _ in range(count // 2)]
    return half + [-value for value in half] + [1e-300]


def vanishing(mantissa, high, low):
    """Numbers that cancel each other, and tiny ones that would be 0 if they were scaled as those
    are."""
    large, tiny = math.ldexp(mantissa, high), math.ldexp(mantissa, low)
    return ([large, -large] * (BATCH // 2 - 1) + [tiny] * 2) * 4


DATA = {
    "uniform": [unit() for _ in range(5 * BATCH + 7)],
    "lognormal": [source.lognormvariate(0, 1) for _ in range(5 * BATCH)],
    "signs": [source.gauss(0, 1) for _ in range(5 * BATCH)],
    "one value": [0.1] * (70 * BATCH),
    "whole": [float(source.randrange(-(10**6), 10**6)) for _ in range(4 * BATCH)],
    "subnormals": [signed(LEAST * source.randrange(1 << 52)) for _ in range(3 * BATCH)],
    "subnormals and one": [1.0] + [LEAST * source.randrange(9) for _ in range(3 * BATCH)],
    "far apart": [signed(math.ldexp(1 + unit(), source.randrange(-1000, 400)))
                  for _ in range(3 * BATCH)],
    "cancelling": cancelling(4 * BATCH),
    "largest": [LARGEST / (1 << 20)] * (2 * BATCH) + [-LARGEST / (1 << 20)] * (2 * BATCH) + [3.5],
    "below a power of two": [math.nextafter(1, 0) if sys.version_info >= (3, 9) else 1 - 2**-53]
                            * (2 * BATCH),
    "vanishing": vanishing(1, 470, -1000),
    "vanishing, two limbs": vanishing(1 + 2**-52, 479, -700),
    "vanishing below 2^100": vanishing(1, 99, -1074),
    "vanishing below 2^60": vanishing(1 + 2**-52, 59, -1060) + vanishing(1.5, 30, -1074),
    "one far away": [1 + unit() for _ in range(BATCH - 1)] + [2.0**-60 * (1 + unit())],
}


def facts_of(values, counter, threads):
    raw = struct.pack("=%dd" % len(values), *values)
    with open("doubles", "wb") as file:
        file.write(raw)
    command = [program, "--device=cpu", "--values=f64", "--stats", "--threads=%d" % threads]
    output = subprocess.run(command + ["doubles"], env=dict(os.environ, GPUHISTO_CPU=counter),
                            check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout.decode()
    return dict(line.split("\t")[:2] for line in output.splitlines())


def expect(what, got, expected):
    print("ok" if got == expected else "FAILED %s: %r, not %r" % (what, got, expected))


def rounded(fraction):
    try:
        return fraction.numerator / fraction.denominator
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def check(name, values, counter, threads):
    facts = facts_of(values, counter, threads)
    exact = [Fraction(value) for value in values]
    count, total = len(values), sum(exact)
    variance = (count * sum(value * value for value in exact) - total * total) / count**2
    where = "%s, %s, %d threads: " % (name, counter, threads)
    expect(where + "min", float(facts["min"]), min(values))
    expect(where + "max", float(facts["max"]), max(values))
    expect(where + "sum", float(facts["sum"]), rounded(total))
    expect(where + "sum by fsum", float(facts["sum"]), math.fsum(values))
    expect(where + "mean", float(facts["mean"]), rounded(total / count))
    if Fraction(1, 10**290) < variance < 10**290:
        expect(where + "stddev", float(facts["stddev"]), math.sqrt(rounded(variance)))


for counter in ("avx512", "avx2", "neon", "portable"):
    try:
        facts_of([1.0], counter, 1)
    except subprocess.CalledProcessError:
        continue  # not on this processor
    for name, values in DATA.items():
        check(name, values, counter, 1)
        source.shuffle(values)
        check(name, values, counter, 3)

# SPDX-License-Identifier: MIT
"""statistics_by_fractions.py GPUHISTO COUNTER...: prints a line for each statistic of --stats, of doubles that are hard
to add up, and of whole numbers in text that doubles do not hold: "ok", or "FAILED ..." if it is not what exact fractions and math.fsum say, for each
COUNTER of the CPU, and for several threads and orders."""
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


def statistics_of(values, counter, threads):
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
    statistics = statistics_of(values, counter, threads)
    exact = [Fraction(value) for value in values]
    count, total = len(values), sum(exact)
    variance = (count * sum(value * value for value in exact) - total * total) / count**2
    where = "%s, %s, %d threads: " % (name, counter, threads)
    expect(where + "min", float(statistics["min"]), min(values))
    expect(where + "max", float(statistics["max"]), max(values))
    expect(where + "sum", float(statistics["sum"]), rounded(total))
    expect(where + "sum by fsum", float(statistics["sum"]), math.fsum(values))
    expect(where + "mean", float(statistics["mean"]), rounded(total / count))
    if Fraction(1, 10**290) < variance < 10**290:
        expect(where + "stddev", float(statistics["stddev"]), math.sqrt(rounded(variance)))


def near(power, bits):
    """Whole numbers on both sides of a power of two, and others of so many bits."""
    return [(1 << power) + source.randrange(-5, 6) for _ in range(20)] + [
        source.getrandbits(bits) for _ in range(20)]


IDS = {
    "64 bits": lambda: [source.getrandbits(64) for _ in range(2 * BATCH + 9)],
    "one after the other": lambda: [(1 << 62) + 1 + i for i in range(BATCH + 9)],
    "with signs": lambda: [signed(source.getrandbits(63)) for _ in range(BATCH)],
    "cancelling": lambda: [signed(n) for n in near(53, 54) + near(63, 64)] + [2**53 + 1, -(2**53)],
    "near 2^53": lambda: near(53, 53) + [5],
    "near 2^64": lambda: near(64, 64) + [2**64 - 1, -(2**64 - 1), 2**64, 2**64 + 1],
    "one of many": lambda: [7] * BATCH + [2**53 + 1] + [1] * BATCH,
    "the least alone": lambda: [-(2**53) - 1] + [3] * 9,
}


def texts_of(numbers):
    """Some are not whole as they are written: those are the nearest doubles."""
    texts = [b"%d" % number for number in numbers]
    return texts + [b"1.5", b"9007199254740993.0", b"1e16", b"0000000000000000000000012", b"+9007199254740997"]


def value_of(text):
    """A number of digits and at most 64 bits is itself; any other one is a double."""
    if text.strip(b"+-").isdigit() and abs(int(text)) < 2**64:
        return Fraction(int(text))
    return Fraction(float(text))


def shown(text):
    return Fraction(int(text)) if text.strip("-").isdigit() else Fraction(float(text))


LINES = {
    "alone": (b"%s\n", []),
    "a field": (b"x %s y\n", ["-k2"]),
    "CSV": (b'a,"%s",b\n', ["--csv", "-k2"]),
    "after": (b"id=%s, z\n", ["--after=id="]),
}


def check_ids(name, counter, threads):
    texts = texts_of(IDS[name]())
    values = [value_of(text) for text in texts]
    count, total = len(values), sum(values)
    variance = (count * sum(value * value for value in values) - total * total) / count**2
    for kind, (line, options) in LINES.items():
        with open("ids", "wb") as file:
            file.writelines(line % text for text in texts)
        command = [program, "--device=cpu", "-n", "--stats", "--threads=%d" % threads, *options]
        output = subprocess.run(command + ["--chunk-size=4K", "ids"], env=dict(os.environ, GPUHISTO_CPU=counter),
                                check=True, stdout=subprocess.PIPE).stdout.decode()
        statistics = dict(line.split("\t")[:2] for line in output.splitlines())
        where = "%s, %s, %s, %d threads: " % (name, kind, counter, threads)
        expect(where + "invalid", statistics["invalid"], "0")
        expect(where + "min", shown(statistics["min"]), min(values))
        expect(where + "max", shown(statistics["max"]), max(values))
        is_exact = total.denominator == 1 and abs(total) < 2**64
        expect(where + "sum", shown(statistics["sum"]), total if is_exact else Fraction(rounded(total)))
        expect(where + "mean", float(statistics["mean"]), rounded(total / count))
        expect(where + "stddev", float(statistics["stddev"]), math.sqrt(rounded(variance)))


for counter in sys.argv[2:]:
    for name, values in DATA.items():
        check(name, values, counter, 1)
        source.shuffle(values)
        check(name, values, counter, 3)
    for name in IDS:
        check_ids(name, counter, 1 + source.randrange(3))

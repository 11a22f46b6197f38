# SPDX-License-Identifier: MIT
"""oracle_stats.py SCALE KERNELS COMMAND...: what gpuhisto, run by COMMAND and by each of the CPU's KERNELS (names with
blanks between), says by --stats of numbers that are drawn, that are hard to add up, or that no double holds. Fractions say
what is right: min, max and quantiles are samples, or intervals around them; the sum, the mean and the standard deviation
are exact, or rounded once. Prints a line for each case: "ok", or "FAILED" with the case and what differs."""
import json
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

scale, kernels, *command = sys.argv[1:]
source = random.Random(20)
unit, gauss = source.random, source.gauss
BATCH = 1024  # what a worker adds up at a time
ALWAYS = ['0.5', '0.9', '0.99', '0.999']  # without --quantiles
LARGEST, LEAST = sys.float_info.max, 5e-324


def signed(value):
    return value if unit() < 0.5 else -value


# --- what is drawn ---

def poisson(mean):
    product, count = unit(), 0
    while product > math.exp(-mean):
        product, count = product * unit(), count + 1
    return float(count)


def near_edge():
    """A decimal of three digits, or a double next to it."""
    edge = source.randrange(100, 1000) * 10.0 ** source.randrange(-9, 9)
    return math.nextafter(edge, edge * source.randrange(3))


DISTRIBUTIONS = {
    'uniform': unit,
    'normal': lambda: gauss(0, 100),
    'lognormal': lambda: source.lognormvariate(0, 2),
    'exponential': lambda: source.expovariate(1 / 50),
    'Pareto': lambda: source.paretovariate(1.1) - 1,
    'Cauchy': lambda: math.tan(math.pi * (unit() - 0.5)),
    'beta, most near 0 and 1': lambda: source.betavariate(0.1, 0.1),
    'two peaks': lambda: gauss(0, 1) + 1000 * source.randrange(2),
    'Poisson': lambda: poisson(4),
    'one value': lambda: 499.0,
    'two neighbours': lambda: source.choice([0.1, math.nextafter(0.1, 1)]),
    'five values': lambda: source.choice([-7.25, 0.0, 1e-3, 12.0, 500.0]),
    'zero, but for a few': lambda: gauss(0, 1) * (unit() < 0.02),
    'negative': lambda: -source.lognormvariate(3, 1),
    'whole': lambda: float(source.randrange(-5000, 5000)),
    'large whole': lambda: float(source.randrange(2**52, 2**53)),
    'three places': lambda: source.randrange(100000) / 1000,
    'near edges': near_edge,
    'subnormal': lambda: signed(LEAST * source.randrange(1, 2**40)),
    '1e-300 to 1e300': lambda: signed(10.0 ** source.uniform(-300, 300)),
}


def whole_of(bits, is_signed):
    """The values as whole numbers of a type, which its range cuts off."""
    least = -(1 << bits - 1) if is_signed else 0
    return lambda x: [min(max(round(v), least), least + (1 << bits) - 1) for v in x]


def floats_of(x):
    """The values as f32; those beyond its range would all be infinite."""
    raw = struct.pack('<%df' % len(x), *(min(max(v, -1e37), 1e37) for v in x))
    return list(struct.unpack('<%df' % len(x), raw))


def packed(code):
    return lambda x: struct.pack(code[0] + '%d' % len(x) + code[1], *x)


def lines(x):
    return ''.join('%r\n' % v for v in x).encode()


EQUAL = ['--bins=64', '--min=-1000', '--max=1000']
# How the values are given: options, the values as they are then, and as bytes.
FORMS = {
    'f64': (['--values=f64'], list, packed('<d')),
    'f64be': (['--values=f64be'], list, packed('>d')),
    'f32': (['--values=f32'], floats_of, packed('<f')),
    'i16': (['--values=i16'], whole_of(16, True), packed('<h')),
    'u16': (['--values=u16'], whole_of(16, False), packed('<H')),
    'i32': (['--values=i32', *EQUAL], whole_of(32, True), packed('<i')),
    'i64': (['--values=i64', *EQUAL], whole_of(64, True), packed('<q')),
    'text': (['-n'], list, lines),
    'text, one digit': (['-n', '--digits=1'], list, lines),
    'text, parts of powers of two': (['-n', '--log=2:32'], list, lines),
    'text, few bins': (['-n', '--bins=50', '--min=-10', '--max=1000'], list, lines),
    'text, 17 digits': (['-n'], list, lambda x: ''.join('%.16e ' % v for v in x).encode()),
}


# --- what is hard to add up ---

def vanishing(mantissa, high, low):
    """Numbers that cancel each other, and tiny ones that would be 0 if they were scaled as those are."""
    large, tiny = math.ldexp(mantissa, high), math.ldexp(mantissa, low)
    return ([large, -large] * (BATCH // 2 - 1) + [tiny] * 2) * 4


def cancelling(count):
    half = [math.ldexp(1 + unit(), source.randrange(-300, 300)) for _ in range(count // 2)]
    return half + [-value for value in half] + [1e-300]


HARD = {
    'uniform': [unit() for _ in range(5 * BATCH + 7)],
    'lognormal': [source.lognormvariate(0, 1) for _ in range(5 * BATCH)],
    'signs': [gauss(0, 1) for _ in range(5 * BATCH)],
    'one value': [0.1] * (70 * BATCH),
    'whole': [float(source.randrange(-(10**6), 10**6)) for _ in range(4 * BATCH)],
    'subnormals': [signed(LEAST * source.randrange(1 << 52)) for _ in range(3 * BATCH)],
    'subnormals and one': [1.0] + [LEAST * source.randrange(9) for _ in range(3 * BATCH)],
    'far apart': [signed(math.ldexp(1 + unit(), source.randrange(-1000, 400))) for _ in range(3 * BATCH)],
    'cancelling': cancelling(4 * BATCH),
    'largest': [LARGEST / (1 << 20)] * (2 * BATCH) + [-LARGEST / (1 << 20)] * (2 * BATCH) + [3.5],
    'below a power of two': [math.nextafter(1, 0)] * (2 * BATCH),
    'vanishing': vanishing(1, 470, -1000),
    'vanishing, two limbs': vanishing(1 + 2**-52, 479, -700),
    'vanishing below 2^100': vanishing(1, 99, -1074),
    'vanishing below 2^60': vanishing(1 + 2**-52, 59, -1060) + vanishing(1.5, 30, -1074),
    'one far away': [1 + unit() for _ in range(BATCH - 1)] + [2.0**-60 * (1 + unit())],
}


def near(power, bits):
    """Whole numbers on both sides of a power of two, and others of so many bits."""
    return [(1 << power) + source.randrange(-5, 6) for _ in range(20)] + [source.getrandbits(bits) for _ in range(20)]


# Whole numbers of up to 64 bits, and of more.
IDS = {
    '64 bits': lambda: [source.getrandbits(64) for _ in range(2 * BATCH + 9)],
    'one after the other': lambda: [(1 << 62) + 1 + i for i in range(BATCH + 9)],
    'with signs': lambda: [signed(source.getrandbits(63)) for _ in range(BATCH)],
    'cancelling': lambda: [signed(n) for n in near(53, 54) + near(63, 64)] + [2**53 + 1, -(2**53)],
    'near 2^53': lambda: near(53, 53) + [5],
    'near 2^64': lambda: near(64, 64) + [2**64 - 1, -(2**64 - 1), 2**64, 2**64 + 1],
    'one of many': lambda: [7] * BATCH + [2**53 + 1] + [1] * BATCH,
    'the least alone': lambda: [-(2**53) - 1] + [3] * 9,
}
# Some are not whole as they are written: those are the nearest doubles.
NOT_WHOLE = ['1.5', '9007199254740993.0', '1e16', '0000000000000000000000012', '+9007199254740997']
LINES = {
    'alone': ('%s\n', []),
    'a field': ('x %s y\n', ['-k2']),
    'CSV': ('a,"%s",b\n', ['--csv', '-k2']),
    'after': ('id=%s, z\n', ['--after=id=']),
}


def value_of(text):
    """A number of digits and at most 64 bits is itself; any other one is a double."""
    is_whole = text.strip('+-').isdigit() and abs(int(text)) < 2**64
    return int(text) if is_whole else float(text)


# --- what is right ---

def wide(lower, upper, form):
    """Whether an interval is wider than a bin."""
    if lower == upper or form.startswith('text, ') and form != 'text, 17 digits':
        return False
    if form in ('i16', 'u16'):
        return True
    if form in ('i32', 'i64'):
        return -1000 <= lower and upper < 1000 and upper - lower > 2000 / 64
    least, most = sorted((abs(lower), abs(upper)))
    # 1e-38 and 1e39 are as far as bins of three digits reach.
    return most > 1.0001e-38 and least < 9.999e38 and most - least > 0.01000001 * least


def rounded(numerator, denominator):
    try:
        return numerator / denominator  # rounded once, as Python's division of whole numbers is
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def differences(form, values, probabilities, stats):
    """What is wrong with the statistics of the values; nothing if all is well."""
    wrong = []

    def expect(name, said, wanted):
        if said != wanted:
            wrong.append('%s is %r, not %r' % (name, said, wanted))

    count = len(values)
    expect('count', stats['count'], count)
    expect('invalid', stats['invalid'], 0)
    expect('min', stats['min'], min(values))
    expect('max', stats['max'], max(values))
    # In units of the least double, which are whole numbers.
    ratios = [value.as_integer_ratio() for value in values]
    scaled = [numerator << 1075 - denominator.bit_length() for numerator, denominator in ratios]
    total, squares = sum(scaled), sum(value * value for value in scaled)
    said = stats['sum']
    if form == 'ids' and not total % 2**1074 and abs(total) < 2**1138:
        expect('sum', said, total >> 1074)
    else:
        expect('sum', float(said), rounded(total, 1 << 1074))
    expect('mean', float(stats['mean']), rounded(total, count << 1074))
    variance = count * squares - total * total  # in units of their square, count * count times
    if 10**290 > Fraction(variance, count * count << 2148) > Fraction(1, 10**290):
        expect('stddev', float(stats['stddev']), math.sqrt(rounded(variance, count * count << 2148)))
    else:
        root = rounded(math.isqrt(variance << 128), count << 1074 + 64)  # 64 more bits, as it is rounded down
        if not math.isclose(float(stats['stddev']), root, rel_tol=4e-16, abs_tol=5e-324):
            expect('stddev', stats['stddev'], root)
    ascending = sorted(values)
    shown = [stats[name] for name in stats if name.startswith('p')]
    expect('quantiles', len(shown), len(probabilities))
    for probability, interval in zip(probabilities, shown):
        lower, upper = interval if isinstance(interval, list) else (interval, interval)
        wanted = ascending[max(math.ceil(Fraction(probability) * count), 1) - 1]
        if not lower <= wanted <= upper:
            wrong.append('the quantile %s is %r, not in %s' % (probability, wanted, interval))
        if lower < min(values) or upper > max(values) or wide(lower, upper, form):
            wrong.append('the quantile %s is in %s, which is too wide' % (probability, interval))
    return wrong


def check(name, form, options, data, values, probabilities=None, kernel=None):
    arguments = [*command, *options, '--stats', '--format=json']
    if probabilities:
        arguments.append('--quantiles=' + ','.join(probabilities))
    environment = dict(os.environ, GPUHISTO_CPU=kernel) if kernel else None
    run = subprocess.run(arguments, input=data, capture_output=True, env=environment)
    is_hint = run.stderr.startswith(b'gpuhisto: for narrower bins, use ') and run.stderr.count(b'\n') == 1
    if run.returncode != 0 or run.stderr and not is_hint:
        wrong = ['status %d: %s' % (run.returncode, run.stderr.decode().strip())]
    else:
        wrong = differences(form, values, probabilities or ALWAYS, json.loads(run.stdout)['stats'])
    where = '%s, %d values, %s, %s' % (name, len(values), ' '.join(options), kernel)
    print('FAILED %s: %s' % (where, '; '.join(wrong[:3])) if wrong else 'ok')


def main():
    sizes = [1, 2, 3, 10, 1000, 20000 if scale == 'small' else 100000]
    for number, (name, draw) in enumerate(DISTRIBUTIONS.items()):
        for size in sizes:
            for place, (form, (options, convert, as_bytes)) in enumerate(FORMS.items()):
                # A small scale has each distribution and each form with each size, but not all pairs.
                if scale == 'small' and (number + place + size) % (len(FORMS) - 1):
                    continue
                values = convert([draw() for _ in range(size)])
                data = as_bytes(values)
                drawn = sorted({*(unit() for _ in range(6)), 0.0, 1.0, 1 / size, source.randrange(size) / size})
                check(name, form, options, data, values)
                check(name, form, options, data, values, ['%.17f' % q for q in drawn])
    for kernel in kernels.split():
        for name, values in HARD.items():
            for threads in 1, 3:
                check(name, 'f64', ['--values=f64', '--threads=%d' % threads], packed('<d')(values), values, None, kernel)
                source.shuffle(values)
        for name, draw in IDS.items():
            texts = ['%d' % number for number in draw()] + NOT_WHOLE
            for line, options in LINES.values():
                more = [*options, '--threads=%d' % source.randrange(1, 4), '--chunk-size=4K']
                data = ''.join(line % text for text in texts).encode()
                check(name, 'ids', ['-n', *more], data, [value_of(text) for text in texts], None, kernel)


main()

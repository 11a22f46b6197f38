# SPDX-License-Identifier: MIT
"""statistics_by_numpy.py SCALE COMMAND...: what gpuhisto, run by COMMAND, says by --stats of numbers from
20 distributions of numpy, against math.fsum, fractions and whole numbers of Python. Quantiles of numpy
would not do: it multiplies doubles, and 0.07 times 100 gives it 7.000000000000001.

Prints a line for each case: "ok", or "FAILED" with the case and what differs."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy

SEED = 20
BOUNDS = -1000, 1000  # of the equal bins for wide whole numbers
BINS = 64
ALWAYS = [0.5, 0.9, 0.99, 0.999]  # without --quantiles

random = numpy.random.default_rng(SEED)


def signs(n):
    return random.choice([-1.0, 1.0], n)


def near_edges(n):
    """Decimals of three digits, and the doubles next to them."""
    edges = random.integers(100, 1000, n) * 10.0 ** random.integers(-9, 9, n)
    return numpy.nextafter(edges, edges * random.integers(0, 3, n))


DISTRIBUTIONS = {
    "uniform": lambda n: random.random(n),
    "normal": lambda n: random.normal(0, 100, n),
    "lognormal": lambda n: random.lognormal(0, 2, n),
    "exponential": lambda n: random.exponential(50, n),
    "Pareto": lambda n: random.pareto(1.1, n),
    "Cauchy": lambda n: random.standard_cauchy(n),
    "beta, most near 0 and 1": lambda n: random.beta(0.1, 0.1, n),
    "two peaks": lambda n: random.normal(0, 1, n) + 1000 * random.integers(0, 2, n),
    "Poisson": lambda n: random.poisson(4, n).astype(float),
    "one value": lambda n: numpy.full(n, 499.0),
    "two neighbours": lambda n: random.choice([0.1, numpy.nextafter(0.1, 1)], n),
    "five values": lambda n: random.choice([-7.25, 0.0, 1e-3, 12.0, 500.0], n),
    "zero, but for a few": lambda n: random.normal(0, 1, n) * (random.random(n) < 0.02),
    "negative": lambda n: -random.lognormal(3, 1, n),
    "whole": lambda n: random.integers(-5000, 5000, n).astype(float),
    "large whole": lambda n: random.integers(2**52, 2**53, n).astype(float),
    "three places": lambda n: random.integers(0, 100000, n) / 1000,
    "near edges": near_edges,
    "subnormal": lambda n: signs(n) * 5e-324 * random.integers(1, 2**40, n),
    "1e-300 to 1e300": lambda n: signs(n) * 10.0 ** random.uniform(-300, 300, n),
}


def as_floats(x):
    """The values as f32. Those beyond its range would all be infinite."""
    return numpy.clip(x, -1e37, 1e37).astype("<f4")


def as_whole(dtype):
    """The values as whole numbers of a type, which its range cuts off."""
    limits = numpy.iinfo(dtype)
    # The greatest double that is not above the type's greatest value.
    most = limits.max if limits.bits < 64 else limits.max - 1023
    return lambda x: numpy.clip(numpy.rint(x), limits.min, most).astype(dtype)


EQUAL = [f"--min={BOUNDS[0]}", f"--max={BOUNDS[1]}", f"--bins={BINS}"]
# How the values are given: options, the values as they are then, and as bytes.
FORMS = {
    "f64": (["--values=f64"], lambda x: x, lambda x: x.astype("<f8").tobytes()),
    "f64be": (["--values=f64be"], lambda x: x, lambda x: x.astype(">f8").tobytes()),
    "f32": (["--values=f32"], as_floats, lambda x: x.tobytes()),
    "i16": (["--values=i16"], as_whole("<i2"), lambda x: x.tobytes()),
    "u16": (["--values=u16"], as_whole("<u2"), lambda x: x.tobytes()),
    "i32": (["--values=i32", *EQUAL], as_whole("<i4"), lambda x: x.tobytes()),
    "i64": (["--values=i64", *EQUAL], as_whole("<i8"), lambda x: x.tobytes()),
    "text": (["-n"], lambda x: x, lambda x: "".join(f"{v!r}\n" for v in x.tolist()).encode()),
    "text, 17 digits": (["-n"], lambda x: x, lambda x: "".join(f"{v:.16e} " for v in x.tolist()).encode()),
}


def exact_sums(values):
    """The sum and the sum of squares as whole numbers, and the unit of the sum, whose square is that of
    the squares."""
    if isinstance(values[0], int):
        return sum(values), sum(v * v for v in values), 1
    scaled = []
    for value in values:
        fraction, exponent = math.frexp(value)
        scaled.append(int(fraction * 2**53) << exponent + 1074 if value else 0)
    return sum(scaled), sum(v * v for v in scaled), 2 ** (1074 + 53)


def quotient(numerator, denominator):
    """Rounded once; Python's division of whole numbers is."""
    return numerator / denominator


def wide(lower, upper, form):
    """Whether an interval is wider than a bin."""
    if lower == upper:
        return False
    if form in ("i16", "u16"):
        return True
    if form in ("i32", "i64"):
        inside = BOUNDS[0] <= lower and upper < BOUNDS[1]
        return inside and upper - lower > (BOUNDS[1] - BOUNDS[0]) / BINS
    least, most = sorted((abs(lower), abs(upper)))
    # 1e-38 and 1e39 are as far as bins of three digits reach.
    return most > 1.0001e-38 and least < 9.999e38 and most - least > 0.01000001 * least


def differences(form, values, probabilities, stats):
    """What is wrong with the statistics of the values; nothing if all is well."""
    wrong = []

    def expect(name, said, wanted):
        if said != wanted:
            wrong.append(f"{name} is {said!r}, not {wanted!r}")

    numbers = values.tolist()
    count = len(numbers)
    expect("count", stats["count"], count)
    expect("invalid", stats["invalid"], 0)
    expect("min", stats["min"], min(numbers))
    expect("max", stats["max"], max(numbers))
    total, squares, unit = exact_sums(numbers)
    expect("sum", float(stats["sum"]), quotient(total, unit))
    expect("sum by fsum", float(stats["sum"]), math.fsum(numbers))
    expect("mean", float(stats["mean"]), quotient(total, unit * count))
    # 64 more bits, as the root is rounded down.
    root = math.isqrt((count * squares - total * total) << 128)
    deviation = quotient(root, unit * count << 64)
    if not math.isclose(float(stats["stddev"]), deviation, rel_tol=4e-16, abs_tol=5e-324):
        expect("stddev", stats["stddev"], deviation)
    ascending = sorted(numbers)
    shown = [stats[name] for name in stats if name.startswith("p")]
    expect("quantiles", len(shown), len(probabilities))
    for probability, interval in zip(probabilities, shown):
        lower, upper = interval if isinstance(interval, list) else (interval, interval)
        wanted = ascending[max(math.ceil(Fraction(repr(probability)) * count), 1) - 1]
        if not lower <= wanted <= upper:
            wrong.append(f"the quantile {probability!r} is {wanted!r}, not in {interval}")
        if lower < min(numbers) or upper > max(numbers) or wide(lower, upper, form):
            wrong.append(f"the quantile {probability!r} is in {interval}, which is too wide")
    return wrong


def run_case(command, form, values, probabilities):
    options, _, as_bytes = FORMS[form]
    arguments = [*command, *options, "--stats", "--format=json"]
    if probabilities != ALWAYS:
        arguments.append("--quantiles=" + ",".join(map(repr, probabilities)))
    run = subprocess.run(arguments, input=as_bytes(values), capture_output=True)
    is_hint = run.stderr.startswith(b"gpuhisto: for narrower bins, use ") and run.stderr.count(b"\n") == 1
    if run.returncode != 0 or (run.stderr and not is_hint):
        return [f"status {run.returncode}: {run.stderr.decode().strip()}"]
    return differences(form, values, probabilities, json.loads(run.stdout)["stats"])


def main():
    scale, *command = sys.argv[1:]
    sizes = [1, 2, 3, 10, 1000, 20000 if scale == "small" else 100000]
    for number, (name, draw) in enumerate(DISTRIBUTIONS.items()):
        for size in sizes:
            for place, (form, (_, convert, _)) in enumerate(FORMS.items()):
                # A small scale has each distribution and each form with each size, but not all pairs.
                if scale == "small" and (number + place + size) % (len(FORMS) - 1):
                    continue
                values = convert(draw(size))
                drawn = sorted({*random.random(6), 0.0, 1.0, 1 / size, random.integers(0, size) / size})
                for probabilities in (ALWAYS, [float(q) for q in drawn]):
                    wrong = run_case(command, form, values, probabilities)
                    if wrong:
                        print(f"FAILED {name}, {size} values, {form}: {'; '.join(wrong[:3])}")
                    else:
                        print("ok")


main()

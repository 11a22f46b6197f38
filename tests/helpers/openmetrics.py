# SPDX-License-Identifier: MIT
"""openmetrics.py: checks that standard input is a histogram in OpenMetrics 1.0, by its grammar and by what it asks of
histograms, and prints one line for each sample: name, values of the labels but "le", "le", value.

openmetrics.py FILE...: checks FILEs so, and by both parsers of prometheus_client, which must be installed."""
import re
import sys
from decimal import Decimal

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = r'[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[Ii]nf(?:inity)?|[Nn]a[Nn])'
SAMPLE = re.compile(r'(%s)(?:\{(.*)\})? (%s)' % (NAME, NUMBER))


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, 'labels: ' + text
        name, value = match.groups()
        assert name not in labels, 'a label twice: ' + text
        assert all(ord(c) >= 0x20 and not 0x7f <= ord(c) < 0xa0 for c in value), 'a control in ' + repr(text)
        labels[name] = re.sub(r'\\(.)', lambda escape: {'n': '\n'}.get(escape[1], escape[1]), value)
        at = match.end()
        assert at == len(text) or text[at] == ',', 'labels: ' + text
        at += 1
    return labels


def check_point(point):
    """One histogram: its lines follow each other; buckets ascend, and the last one has all."""
    edges = [float(le) for kind, le, value in point if kind == 'bucket']
    counts = [int(value) for kind, le, value in point if kind == 'bucket']
    others = {kind: float(value) for kind, le, value in point if kind != 'bucket'}
    assert edges == sorted(set(edges)) and edges[-1] == float('inf'), 'edges: %s' % edges
    assert point[len(edges) - 1][1] == '+Inf', 'how infinity is written'
    assert counts == sorted(counts), 'counts: %s' % counts
    assert ('sum' in others) == ('count' in others), 'a sum needs a count'
    assert 'sum' not in others or edges[0] >= 0, 'a sum with an edge below 0'
    assert others.get('count', counts[-1]) == counts[-1], 'the count of all'
    assert len(point) == len(edges) + len(others)


def go_text(value):
    """Returns a number as Go's %g writes it, with a fraction or an exponent."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first = len(digits) + exponent - 1
    if value != 0 and (first < -4 or first >= 6):
        text = ''.join(map(str, digits))
        return '%s%s%s%se%+03d' % ('-' * sign, text[0], '.' * (len(text) > 1), text[1:], first)
    text = '%s%s' % ('-' * sign, format(Decimal(repr(abs(value))).normalize(), 'f'))
    return text if '.' in text else text + '.0'


def check_le(le):
    """Edges are the shortest decimals, also of whole numbers that are no doubles."""
    assert le == '+Inf' or abs(float(le)) >= 1 << 53 or le == go_text(float(le)), 'an edge: ' + le


def read(text):
    """Checks a text, and returns its samples: kind, labels, value of "le", value."""
    text = text.decode('utf-8')
    assert text.endswith('# EOF\n') and text.count('# EOF') == 1
    lines = text.splitlines(keepends=True)
    assert all(line.endswith('\n') and line.count('\n') == 1 for line in lines)
    samples, points = [], {}
    if len(lines) == 1:
        return samples
    match = re.fullmatch(r'# TYPE (%s) histogram\n' % NAME, lines[0])
    assert match, lines[0]
    family = match[1]
    for line in lines[1:-1]:
        match = SAMPLE.fullmatch(line[:-1])
        assert match, line
        name, labels, value = match[1], labels_of(match[2] or ''), match[3]
        assert name.startswith(family + '_'), name
        kind = name[len(family) + 1:]
        assert kind in ('bucket', 'sum', 'count') and (kind == 'bucket') == ('le' in labels), line
        le = labels.pop('le', '')
        if le:
            check_le(le)
        assert set(labels) in (set(), {'file'}, {'offset'}, {'file', 'offset'}, {'key'}), line
        key = tuple(sorted(labels.items()))
        assert key not in points or key == next(reversed(points)), 'the lines of %s do not follow each other' % (key,)
        assert (kind, le) not in [at[:2] for at in points.get(key, ())], 'a series twice: ' + line
        points.setdefault(key, []).append((kind, le, value))
        samples.append((kind, labels, le, value))
    for point in points.values():
        check_point(point)
    return samples


def check_parsers(text, samples):
    """Both parsers find the same samples."""
    from prometheus_client import parser as prometheus
    from prometheus_client.openmetrics import parser as openmetrics
    expected = sorted((kind, sorted(dict(labels, le=le).items() if le else labels.items()), float(value))
                      for kind, labels, le, value in samples)
    for parser in (openmetrics, prometheus):
        found = sorted((sample.name.rpartition('_')[2], sorted(sample.labels.items()), float(sample.value))
                       for family in parser.text_string_to_metric_families(text) for sample in family.samples)
        assert found == expected, 'what %s reads' % parser.__name__


if len(sys.argv) == 1:
    for kind, labels, le, value in read(sys.stdin.buffer.read()):
        print(kind, ','.join(labels.values()).encode('unicode_escape').decode(), le, value, sep='\t')
for name in sys.argv[1:]:
    with open(name, 'rb') as file:
        text = file.read()
    try:
        check_parsers(text.decode(), read(text))
    except (AssertionError, ValueError) as error:
        sys.exit('%s: %s: %s' % (name, type(error).__name__, error))

# SPDX-License-Identifier: MIT
"""Checks that standard input is a histogram in OpenMetrics 1.0, by its grammar and by what it asks of
histograms, and prints one line for each sample: name, value of the label that is not "le", "le", value."""
import re
import sys

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
        labels[name] = re.sub(r'\\(.)', lambda escape: {'n': '\n'}.get(escape[1], escape[1]), value)
        at = match.end()
        assert at == len(text) or text[at] == ',', 'labels: ' + text
        at += 1
    return labels


def check_point(family, point):
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


text = sys.stdin.buffer.read().decode('utf-8')
assert text.endswith('# EOF\n') and text.count('# EOF') == 1
lines = text.splitlines(keepends=True)
assert all(line.endswith('\n') and line.count('\n') == 1 for line in lines)
match = re.fullmatch(r'# TYPE (%s) histogram\n' % NAME, lines[0])
assert match, lines[0]
family, points = match[1], {}
for line in lines[1:-1]:
    match = SAMPLE.fullmatch(line[:-1])
    assert match, line
    name, labels, value = match[1], labels_of(match[2] or ''), match[3]
    assert name.startswith(family + '_'), name
    kind = name[len(family) + 1:]
    assert kind in ('bucket', 'sum', 'count') and (kind == 'bucket') == ('le' in labels), line
    le = labels.pop('le', '')
    assert len(labels) < 2
    key = next(iter(labels.items()), ('', ''))
    assert key not in points or key == list(points)[-1], 'the lines of %s do not follow each other' % (key,)
    points.setdefault(key, []).append((kind, le, value))
    print(kind, key[1].encode('unicode_escape').decode(), le, value, sep='\t')
for point in points.values():
    check_point(family, point)

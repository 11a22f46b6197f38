# SPDX-License-Identifier: MIT
"""made_times.py LINES SEED FILE writes records TIME;PATH;NUMBER, with faults. Times come in bursts, as in logs. Writes the
same to FILE as lines of JSON."""
import json, random, sys
random.seed(int(sys.argv[2]))
months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()
zones = ['', '', 'Z', 'z', '+00:00', '-00:00', '+02:00', '-0530', '+14', ' +0000', ' -0730', ' Z', ' -12', ' +05', ' +01:30', '+23:59', '-24:00', '+02:', '+2']
fractions = ['', '', '.1', '.123', ',999', '.000000001', '.', '.x']
segments = ['a', 'items', '', '0', '17', '20261122', 'deadbeef', 'deadbee1', 'deadbe1', 'DEADBEEF01', '1234567g', 'v2', 'x' * 16,
            'x' * 15 + '1', 'x' * 14 + '1', 'a-b_c-d_e-f_g-h1', '1' * 15 + '_', '-' * 15 + '1', 'abcdefgh1234567.', 'é1', '\udcff1',
            '01234567-89ab-cdef-0123-456789abcdef', '01234567-89AB-CDEF-0123-456789ABCDEF', '01234567-89ab-cdef-0123-456789abcdeg',
            '0123456-789ab-cdef-0123-456789abcdef', 'abcdefab-abcd-abcd-abcd-abcdefabcdef', '%31', '1 2', '+1', 'GET ']
def some(*weights):
    return random.choice(weights)
def draw_form():
    """Returns a function from second and fraction to a time."""
    year = some(2026, 2026, 2024, 1970, 1969, 1900, 2000, 1, 4, 9999, random.randrange(1, 10000))
    month, day = random.randrange(1, 13), some(1, 28, 29, 30, 31, random.randrange(1, 32))
    hour, minute = some(0, 23, random.randrange(24), 24), some(0, 59, random.randrange(60), 60)
    zone = random.choice(zones)
    clock = '%02d:%02d:' % (hour % 24 if random.randrange(20) else hour, minute % 60 if random.randrange(20) else minute)
    kind = random.randrange(11)
    number = some(str(random.randrange(10 ** random.randrange(1, 23))), '-' + str(random.randrange(10 ** random.randrange(1, 14))),
                  '99999999999', '100000000000', '99999999999999', '100000000000000', '99999999999999999', '100000000000000000',
                  '253402300799', '253402300799999', '253402300800000', '253402300799999999999', '253402300800000000000',
                  '-62135596800', '-62135596801', '0', '-0', '007')
    if kind <= 1:
        between = some('-', '-', '/')
        return lambda s, f: between.join(['%04d', '%02d', '%02d%s%s%02d%s%s']) % (year, month, day, 'T' if kind else random.choice('Tt '), clock, s, f, zone)
    if kind == 2:
        return lambda s, f: '%s%02d/%s/%04d:%s%02d%s%s' % (some('', '['), day, months[month - 1], year, clock, s, f, some(zone, zone + ']'))
    if kind == 3:
        form = some('%s %2d %s%02d%s', '%s %d %s%02d%s', '%s %02d %s%02d%s')
        return lambda s, f: form % (months[month - 1], day, clock, s, f)
    if kind == 6:
        name = some('Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sum')
        form = some('%s%s %s %2d %s%02d%s %04d', '%s%s %s %02d %s%02d%s %04d')
        return lambda s, f: form % (some('', '['), name, months[month - 1], day, clock, s, f, year)
    if kind == 4:
        return lambda s, f: some('%04d-%02d-%02d', '%04d/%02d/%02d') % (year, month, day)
    if kind == 7:
        return lambda s, f: '%02d/%02d/%02d %s%02d%s%s' % (year % 100, month, day, clock, s, f, zone)
    if kind == 8:
        return lambda s, f: '%02d%02d%02d %s%02d%s%s' % (year % 100, month, day, clock.replace(':', ''), s, f, zone)
    if kind == 9:
        parts = some('%d:%d', '%02d:%02d', '%02d:%d', '%d:%02d') % (hour % 24, minute % 60)
        return lambda s, f: '%04d%02d%02d-%s:%s:%s' % (year, month, day, parts, some('%d', '%02d') % s, some('0', '7', '96', '606', '007', '1234'))
    if kind == 10:
        form = some('%02d-%02d %s%02d%s', '[%02d.%02d %s%02d%s]')
        return lambda s, f: form % (month, day, clock, s, f)
    return lambda s, f: number + some('', f)
def mutate(text):
    at = random.randrange(len(text) + 1)
    return text[:at] + some('', random.choice('0159:-/T .,[]+Zx\t')) + text[at + some(0, 1):]
form, fraction, lines, members = draw_form(), '', [], []
for _ in range(int(sys.argv[1])):
    if random.randrange(4) == 0:
        form, fraction = draw_form(), random.choice(fractions)
    digits = fraction if random.randrange(8) == 0 else ''.join(random.choice('0123456789') if c.isdigit() else c for c in fraction)
    time = form(random.randrange(60) if random.randrange(20) else some(60, 61), digits)
    time = some(' ', '\t', '') + time if random.randrange(10) == 0 else mutate(time) if random.randrange(8) == 0 else time
    path = '/'.join(random.choice(segments) for _ in range(random.randrange(1, 6)))
    path += random.choice(['', '', '?a=1/2', '#x/1', '?#', '?'])
    fields = [time, path, str(random.randrange(100))]
    lines.append(';'.join(fields))
    strings = [json.dumps(field, ensure_ascii=random.randrange(2)) if '\udcff' not in field else '"%s"' % field for field in fields]
    strings = [string.replace('/', random.choice(['/', '\\/'])) for string in strings]
    members.append('{"n":%s, "path" : %s,"a:b":{"t":%s}}' % (fields[2], strings[1], strings[0].replace('1', random.choice(['1', '1', '\\u0031']))))
with open(sys.argv[3], 'wb') as file:
    file.write('\n'.join(members).encode('utf-8', 'surrogateescape') + b'\n')
sys.stdout.buffer.write('\n'.join(lines).encode('utf-8', 'surrogateescape') + b'\n')

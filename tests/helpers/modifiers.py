# SPDX-License-Identifier: MIT
"""What the modifiers of --by make of a text, by re, datetime and Fraction, for oracle_by.py."""
import datetime
import re
from fractions import Fraction

MOST = 1 << 20
DAY = 86400
DAYS_OF_400_YEARS = 146097
MONTHS = [b'Jan', b'Feb', b'Mar', b'Apr', b'May', b'Jun', b'Jul', b'Aug', b'Sep', b'Oct', b'Nov', b'Dec']
BARE = rb'(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)([.,]\d+)?'
CLOCK = rb'(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)([.,]\d+)?'
ZONE = rb'( ?(?P<utc>[Zz])|(?P<apart> )?(?P<sign>[+-])(?P<hours>\d\d)(:?(?P<minutes>\d\d)|(?(apart)(?!))))?'
FORMS = [re.compile(form + rb'\Z') for form in (
    rb'(?P<year>\d{4})([-/])(?P<month>\d\d)\2(?P<day>\d\d)([Tt ]' + CLOCK + ZONE + rb')?',
    rb'(?P<year>\d\d)/(?P<month>\d\d)/(?P<day>\d\d)[Tt ]' + CLOCK + ZONE,
    rb'(?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d)[ ]' + BARE + ZONE,
    rb'(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)-(?P<hour>\d\d?):(?P<minute>\d\d?):(?P<second>\d\d?):\d{1,3}',
    rb'(?P<month>\d\d)[-.](?P<day>\d\d)[ ]' + CLOCK,
    rb'(?P<day>\d\d)/(?P<name>[A-Z][a-z]{2})/(?P<year>\d{4}):' + CLOCK + ZONE,
    rb'(Sun|Mon|Tue|Wed|Thu|Fri|Sat) (?P<name>[A-Z][a-z]{2}) (?P<day> \d|\d\d) ' + CLOCK + rb' (?P<year>\d{4})',
    rb'(?P<name>[A-Z][a-z]{2})  ?(?P<day>\d{1,2}) ' + CLOCK)]
FIRST, END = (datetime.date(year, 1, 1).toordinal() for year in (1, 9999))
EPOCH = datetime.date(1970, 1, 1).toordinal()


def parse(text):
    """Returns a field and its modifiers: '"a:b":1-2:route' is 'a:b', ['1-2', 'route']."""
    quoted = re.match(r'"((?:[^"]|"")*)"', text)
    field = quoted.group(1).replace('""', '"') if quoted else text.partition(':')[0]
    return field, text[quoted.end() if quoted else len(field):].split(':')[1:]


def characters(text, first, last):
    """Characters as a slice: bytes that continue a character stay with what is before them."""
    found = re.findall(rb'[\x00-\xff][\x80-\xbf]*', text)
    begin = first - 1 if first > 0 else max(len(found) + first, 0)
    end = last if last > 0 else max(len(found) + last + 1, 0)
    return b''.join(found[begin:end])


def route(path):
    path = re.split(rb'[?#]', path, maxsplit=1)[0]
    ids = [rb'[0-9]+', rb'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', rb'(?=.*[0-9])[0-9a-f]{8,}',
           rb'(?=.*[0-9])(?=.*[a-z])[a-z0-9_-]{16,}']
    return b'/'.join(b'*' if any(re.fullmatch(each, segment, re.I) for each in ids) else segment
                     for segment in path.split(b'/'))


def read_number(text):
    """Returns the seconds since 1970 of a number, or None."""
    if not re.fullmatch(rb'-?\d+(\.\d+)?', text):
        return None
    number = Fraction(text.decode())
    unit = 1 if number < 10**11 else 1000 if number < 10**14 else 10**6 if number < 10**17 else 10**9
    seconds = number / unit // 1
    return seconds if (FIRST - EPOCH) * DAY <= seconds < (END + 365 - EPOCH) * DAY else None


def read_time(text):
    """Returns seconds since 1970 by the clock of a time, and how its offset is printed: None without a year. Or None."""
    text = re.sub(rb'^[ \t]+|[ \t]+\Z', b'', text)
    text = text[1:] if text[:1] == b'[' else text
    text = text[:-1] if text[-1:] == b']' else text
    found = next(filter(None, (form.match(text) for form in FORMS)), None)
    if not found:
        seconds = read_number(text)
        return None if seconds is None else (seconds, b'Z')
    parts = found.groupdict()
    offset = b'Z' if parts.get('utc') else b''
    try:
        month = MONTHS.index(parts['name']) + 1 if 'name' in parts else int(parts['month'])
        year = int(parts.get('year') or 1972)
        if len(parts.get('year') or '1972') == 2:
            year += 2000 if year < 69 else 1900
        days = datetime.date(year, month, int(parts['day'])).toordinal() - EPOCH
        hour, minute, second = (int(parts[name] or 0) for name in ('hour', 'minute', 'second'))
        if parts.get('sign'):
            hours, minutes = parts['hours'], parts['minutes'] or b'00'
            datetime.time(int(hours), int(minutes))
            offset = parts['sign'] + hours + b':' + minutes
        datetime.time(hour, minute, min(second, 59))
    except ValueError:
        return None
    seconds = days * DAY + hour * 3600 + minute * 60 + second
    if second > 60 or seconds >= (END + 365 - EPOCH) * DAY:
        return None
    return seconds, offset if 'year' in parts else None


def offset_of(text):
    """Returns the offset from UTC of a time as it is printed, or b''."""
    found = text is not None and read_time(text)
    return found[1] or b'' if found else b''


def to_utc(found):
    """Turns a time with an offset into one of UTC, unless that is not of the years 1 to 9999."""
    if not found or not found[1] or found[1] == b'Z':
        return found
    seconds = found[0] - int(found[1][:1] + b'1') * (int(found[1][1:3]) * 3600 + int(found[1][4:]) * 60)
    return (seconds, b'Z') if (FIRST - EPOCH) * DAY <= seconds < (END + 365 - EPOCH) * DAY else found


def bucket(text, seconds, in_utc=False):
    """Returns the beginning of the bucket that a time is in, or None."""
    found = to_utc(read_time(text)) if in_utc else read_time(text)
    if found is None or (found[1] is None and seconds > DAY):
        return None
    if seconds < DAY and re.fullmatch(rb'[ \t]*\[?\d{4}([-/])\d\d\1\d\d\]?[ \t]*', text):
        return None  # a date alone
    days, since = divmod(found[0] // seconds * seconds, DAY)
    date = datetime.date.fromordinal(days + EPOCH + (DAYS_OF_400_YEARS if days < 0 else 0))
    year = date.year - (400 if days < 0 else 0)
    clock = '%02d:%02d:%02d' % (since // 3600, since // 60 % 60, since % 60)
    if found[1] is None:
        return b'%s %2d %s' % (MONTHS[date.month - 1], date.day, clock.encode())
    return ('%04d-%02d-%02dT%s' % (year, date.month, date.day, clock)).encode() + found[1]


def is_bucket(modifier):
    return modifier != 'route' and modifier[-1] in 'smhd'


def apply(text, modifiers, in_utc=False):
    """Returns what modifiers make of a text, or None. A bucket that is the last one may be in UTC."""
    for at, modifier in enumerate(modifiers):
        if text is None:
            break
        if modifier == 'route':
            text = route(text)
        elif is_bucket(modifier):
            unit = {'s': 1, 'm': 60, 'h': 3600, 'd': DAY}[modifier[-1]]
            text = bucket(text, int(modifier[:-1]) * unit, in_utc and at == len(modifiers) - 1)
        else:
            first, dash, last = re.fullmatch(r'(-?\d+)(-?)(-?\d*)', modifier).groups()
            text = characters(text, int(first), int(last) if last else MOST if dash else int(first))
    return text

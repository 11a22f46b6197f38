# SPDX-License-Identifier: MIT
# recipes.py RECIPES: runs every command of a document that counts, on data as ugly as real ones, in the
# current directory, and compares what it prints with the definition. Prints a line for each: "ok COMMAND"
# or "wrong COMMAND: WHY"; "left out COMMAND: WHY" where a tool is missing. A command without a check here
# is wrong: a new recipe is to be tried on data that are not made for it.
import collections, json, math, random, re, shutil, struct, subprocess, sys

sys.dont_write_bytecode = True # the source may be anywhere
import modifiers

random.seed(7)

# --- data ---

# Bounds of buckets are common, as clocks tick; a few samples are thousands of times the median.
def a_time():
    draw = random.random()
    if draw < 0.25:
        return random.choice(["0.000", "0.050", "0.100", "0.250", "0.500", "1.000"])
    if draw < 0.98:
        return "%.3f" % min(random.lognormvariate(-3.5, 1), 4)
    return random.choice(["59.998", "60.001", "181.204", "5.123", "502.250"])

class Request:
    pass

def make_requests(count):
    requests = []
    for i in range(count):
        request = Request()
        request.time = a_time() if random.random() < 0.99 else "-"
        request.status, request.text = random.choice([(200, "GET /item/%d HTTP/1.1" % i)] * 20 + [
            (500 + i % 5, "POST /a HTTP/1.1"), (404, "GET /a b c HTTP/1.1"), (400, ""), (408, "-"),
            (400, r"\x16\x03\x01\x02\x00\x01"), (400, r"GET /\x22 5 x"), (301, "GET /?t=22/Nov/2026:10:01 HTTP/1.1"),
            (400, r"t3 12.2.1\x5C 7 7 7")])
        request.hour, request.minute = random.choice([9, 10, 10, 10, 11]), random.randrange(60)
        host = random.choice(["10.0.0.%d" % (i % 9), "2001:db8:10:7::%x" % i, "fe80:10:44::1"])
        user = random.choice(["-"] * 9 + ["mary ann"])
        agent = random.choice(["curl/8", "Mozilla/5.0 (X11; Linux x86_64) Safari/537.36", r"a \x22quoted\x22 5 one", "-"])
        request.line = '%s - %s [22/Nov/2026:%02d:%02d:07 +0000] "%s" %d %d "-" "%s" %s' % (
            host, user, request.hour, request.minute, request.text, request.status, i % 3000, agent, request.time)
        requests.append(request)
    return requests

def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())

def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

requests = make_requests(5000)
write("access.log", "\n".join(request.line for request in requests)) # the last line is being written
older, newer = requests[:1500], requests[-500:]
write("today.log", "".join(request.line + "\n" for request in requests[1000:]))
write("day.log", "".join(request.line + "\n" for request in requests))
write("shop.log", "".join(request.line + "\n" for request in requests))
stamps = ["%s %2d %02d:%02d:%02d" % (random.choice(["Nov", "Dec", "Jan"]), day, hour, minute, second) for day, hour, minute, second in (
    (random.randrange(1, 32), random.randrange(24), random.randrange(60), random.randrange(62)) for i in range(300))]
write("auth.log", "".join(stamp + " web, a\tb [1]: x\n" for stamp in stamps))
whole_day = requests[:4000] + requests[-2000:] # as head and tail cut it
rotated = newer + older

latencies = [random.choice(["12.5", "8", "130", "9.25", "12500", "0.5"]) for _ in range(400)]
json_lines, latency_values, latency_faults = [], [], 0
for latency in latencies:
    line = random.choice(['{"latency_ms":7,"http":{"latency_ms": %s}}', '{"http":{"latency_ms":%s,"ok":true}}',
                          '{"http":{"latency_ms": "%s"},"db":{"latency_ms":3}}', '{"http":{"latency_\\u006ds":\t%s } }',
                          '{"path":"\\"http\\":{\\"latency_ms\\":4}","http":{"latency_ms":1,"latency_ms":%s}}',
                          '{"http":{"latency_ms":null}}', '{"latency_ms":5}', '{"http":{"latency_ms":"6 ms"}}',
                          '{"http":{"latency_ms":6}', '{"http":{"latency_ms":06}}', 'starting'])
    json_lines.append(line % latency if "%s" in line else line)
    is_number = "%s" in line
    latency_values += [float(latency)] if is_number else []
    latency_faults += not is_number
write("log.json", "\n".join(json_lines) + "\n")
write("log.fmt", "".join("start=%d level=info rt=%s restart=9\n" % (i, t) for i, t in enumerate(
    ["0.25", "0.5", "", "250.5", "1e-3", "-", "0.25"] * 30)))
rt_values = [0.25, 0.5, 250.5, 1e-3, 0.25] * 30

spans = [(service, [random.choice(["5", "7.5", '"9"', "null", "[1]", "1e3"]) for _ in range(random.randrange(5))])
         for service in random.choices(["shop", "auth", "a\\\"b"], k=300)]
write("traces.json", "".join('{"spans":[%s],"service":"%s"}\n' % (
    ", ".join(random.choice(['{"ms":%s}', '{"x":[{"ms":1}], "ms": %s}']) % ms for ms in each), service) for service, each in spans))
upstream = [[random.choice(["0.004", "0.012", "0.1", "-"]) for _ in range(random.randrange(1, 5))] for _ in range(300)]
write("upstream.log", "".join('200 "%s"\n' % re.sub("/", lambda _: random.choice([", ", " : "]), "/".join(times)) for times in upstream))
upstream_sums = [sum(round(1000 * float(time)) for time in times if time != "-") / 1000 for times in upstream if set(times) != {"-"}]

durations = {"350ms": 0.35, "1m2.5s": 62.5, "480µs": 480e-6, "100ns": 100e-9, "0s": 0, "2h0m0.001s": 7200.001, "": None, "-": None}
write("durations.log", "".join("msg=x mistook=5s took=%s path=/\n" % text for text in durations) * 20)
seconds = [value for value in durations.values() if value is not None] * 20

prices = ["12.5", "9.75", "", "n/a", "1,234.50", "12500"] * 20
write("sales.csv", b"\xef\xbb\xbfname,price,city\r\n" + "".join(
    '"Miller, ""A.""\r\n%d",%s,"New\nYork, NY"\r\n' % (i, '"%s"' % p if i % 2 or "," in p else p)
    for i, p in enumerate(prices)).encode())
price_values = [12.5, 9.75, 12500.0] * 20

days = {}
for day in ("01", "02", "03"):
    days[day] = [request.time for request in make_requests(1000)]
    write("web.%s.log" % day, "".join("10.0.0.1 /a b/%d 200 %s\n" % (i, t) for i, t in enumerate(days[day])))
releases = [[request.time for request in make_requests(count)] for count in (2000, 700)]
for number, times in enumerate(releases):
    write("release%d.log" % (number + 1), "".join("GET /a b %s\n" % t for t in times))

text = b"seven\0\xff\r\n" * 400 + bytes(range(256))
write("numbers.txt", text)
write("numbers.gz", b"\x1f\x8b\x08\x00" + bytes(random.randrange(256) for _ in range(3000)))
image = bytes(1 << 16) + b"\xff\0" * (3 << 14) + random.randbytes(100000) + b"\n"
write("image", image)

pixels = bytes(random.choice([0, 31, 32, 64, 200, 255]) for _ in range(3000))
write("grey.pgm", b"P5\n# CREATOR: GIMP PNM Filter Version 1.1\n60 50\n255\n" + pixels)
write("rgb.ppm", b"P6 50\t20 # wide and high\n255\n" + pixels)
samples = [random.choice([-32768, 32767, 0, 1, -1, 5]) for _ in range(400)]
sound = struct.pack("<400h", *samples)
guid = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
form = struct.pack("<HHIIHHHHIH", 0xFFFE, 2, 48000, 192000, 4, 16, 22, 16, 3, 1) + guid
wave = chunk(b"LIST", b"INFOISFT\x0d\0\0\0Lavf58.76.100\0") + chunk(b"fmt ", form) + chunk(b"fact", b"\xc8\0\0\0")
wave = b"WAVE" + wave + chunk(b"data", sound) + chunk(b"id3 ", b"\xff" * 77)
write("take.wav", b"RIFF" + struct.pack("<I", len(wave)) + wave)
array = [random.choice([0.5, 1, 2, 1e6]) for _ in range(60)]
header = b"{'shape': (6, 10), 'fortran_order': True, 'descr': '<f4'}\n"
write("array.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header + struct.pack("<60f", *array))
genome = "".join(random.choice("ACGTacgtNnRyKM*-") for _ in range(3000))
write("genome.fa", ">chr1 ACGT\r\n%s\r\n>chr2 >nnn\r\n%s\r\n" % (genome[:2000], genome[2000:]))
qualities = ["II5!", "@@@~", "+III", "FFFF"]
write("reads.fq", "".join("@r\nACGT\n+\n%s\n" % q for q in qualities))

# --- what is due ---

def times_of(list_of):
    return [float(t) for t in (r if isinstance(r, str) else r.time for r in list_of) if t != "-"]

def faults_of(list_of):
    return sum((r if isinstance(r, str) else r.time) == "-" for r in list_of)

def number_of(label):
    return float(label.rstrip("≥<"))

# Counts of rows by their lower ends, whatever bins they are: each holds what lies up to the next row,
# which only rows without samples may part.
def check_rows(rows, values, invalid=None):
    seen = 0
    stated = [row for row in rows if row[0] == "invalid"]
    rows = [row for row in rows if row[0] != "invalid"]
    edges = [number_of(row[0]) for row in rows] + [math.inf]
    for i, row in enumerate(rows):
        end = number_of(row[2]) if len(row) == 3 else edges[i + 1]
        due = sum(edges[i] <= value < end or value == edges[i] for value in values) # 0 has a row to itself
        if int(row[1]) != due:
            return "%s in %s instead of %d" % (row[1], row[0], due)
        seen += due
    if seen != len(values):
        return "%d samples instead of %d" % (seen, len(values))
    if invalid is not None and [int(row[1]) for row in stated] != [invalid]:
        return "%s invalid instead of %d" % (stated, invalid)

def table(values, invalid):
    return lambda out: check_rows([line.split("\t") for line in out.splitlines()], values, invalid)

# Bars: a lower end, a count, two shares and the bar.
def plot(values):
    def check(out):
        rows = [line.split()[:2] for line in out.splitlines()]
        return check_rows([row for row in rows if row[0] != "invalid"], values)
    return check

def same(lines):
    def check(out):
        due = "".join("%s\n" % line for line in lines)
        if out != due:
            return "%r instead of %r" % (out[:300], due[:300])
    return check

def near(text, value):
    return abs(float(text) - value) <= 1e-12 * max(abs(value), 1e-3)

def stats(values, invalid, only=None):
    values = sorted(values)
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    due = {"count": len(values), "invalid": invalid, "min": values[0], "max": values[-1], "sum": math.fsum(values),
           "mean": mean, "stddev": deviation}
    def check(out):
        rows = [line.split("\t") for line in out.splitlines()]
        if not rows or (only is None and {row[0] for row in rows} < set(due)):
            return "not all statistics: %r" % out
        for name, first, *last in rows:
            if name in due and abs(float(first) - due[name]) > 1e-9 * max(1e-3, abs(due[name])):
                return "%s is %s instead of %r" % (name, first, due[name])
            if name not in due:
                sample = values[max(math.ceil(round(float(name[1:]) * len(values) / 100, 9)), 1) - 1]
                if not float(first) <= sample <= float(last[0] if last else first):
                    return "%s is %s, %s instead of %r" % (name, first, last, sample)
        if only and {row[0] for row in rows} != set(only):
            return "rows %r" % rows
    return check

def buckets(bounds):
    counts = [sum(value <= float(bound) for value in times_of(requests)) for bound in bounds]
    due = ['gpuhisto_numbers_bucket{le="%s"} %d' % pair for pair in zip(bounds, counts)]
    return lambda out: same(due)("".join(line for line in out.splitlines(True) if "_bucket" in line))

def statuses(out):
    counts = collections.Counter(request.status for request in requests)
    return same(["%d\t%d" % pair for pair in sorted(counts.items())] + ["invalid\t0"])(out)

def minutes(rows):
    def check(out):
        counts = collections.Counter(request.minute for request in requests if request.hour == 10)
        return same("%d\t%d" % (minute, counts[minute]) for minute in range(rows))(re.sub(r"(?m)\t[^\t\n]*$", "", out))
    return check

def each(out):
    due = {"access.log.1": times_of(newer), "access.log.2": times_of(older)}
    for name, count, most, mean in (line.split("\t") for line in out.splitlines()[1:]):
        values = due.pop(name)
        if (int(count), float(most)) != (len(values), max(values)) or not near(mean, math.fsum(values) / len(values)):
            return "%s: %s, %s, %s" % (name, count, most, mean)
    return "not all files" if due else None

# By fields between blanks, whatever they are in this log.
errors = [request for request in requests if re.fullmatch("[0-9]+", request.line.split()[8]) and int(request.line.split()[8]) >= 500]
between = [request for request in requests if re.fullmatch(r"\[../.../....:10:(0[5-9]|[123].|4[0-6]):..", request.line.split()[3])]

failures = times_of(request for request in requests if request.status == 500)
other_failures = [request for request in requests if 500 < request.status < 510]

# Rows: lower end, counts and percents of both, the difference in points.
def worse(out):
    parts = [100 * sum(value >= 0.6 for value in times_of(times)) / len(times) for times in releases]
    said = out.split("\n")[0]
    if not abs(float(said) - (parts[1] - parts[0])) < 0.01:
        return "%s instead of %r" % (said, parts[1] - parts[0])

def diff_plot(out):
    rows = [line.split()[:3] for line in out.splitlines()]
    rows = [row for row in rows if row[0] != "invalid"]
    edges = [number_of(row[0]) for row in rows] + [math.inf]
    for i, row in enumerate(rows):
        for percent, times in zip(row[1:], releases):
            due = 100 * sum(edges[i] <= value < edges[i + 1] for value in times_of(times)) / len(times)
            if abs(float(percent) - due) > 0.02:
                return "%s: %s %% instead of %.4f" % (row[0], percent, due)

def entropy_of(data):
    return -sum(n / len(data) * math.log2(n / len(data)) for n in collections.Counter(data).values())

# How many spans each service has, and the sum of their times.
def service_sums(out):
    found = collections.defaultdict(list)
    for service, each in spans:
        found[service.replace("\\\"", '"')] += [float(ms.strip('"')) for ms in each if ms not in ("null", "[1]")]
    return same([".service\tcount\tsum"] + ["%s\t%d\t%g" % (service.replace('"', "\\x22"), len(found[service]), sum(found[service]))
                                            for service in sorted(found)])(out)

def byte_statistics(out):
    statistics = dict(line.split("\t") for line in out.splitlines())
    due = {"bytes": len(text), "entropy": entropy_of(text), "distinct": 256}
    for name, value in due.items():
        if name in statistics and abs(float(statistics[name]) - value) > 1e-6:
            return "%s is %s instead of %r" % (name, statistics[name], value)
    return None if "entropy" in statistics else "no entropy"

def gz_entropy(out):
    with open("numbers.gz", "rb") as file:
        return same(["%.1f" % entropy_of(file.read())])(out)

def block_entropies(out):
    blocks = range(0, len(image), 1 << 16)
    return same(["%6d  %.1f" % (at, abs(entropy_of(image[at:at + (1 << 16)]))) for at in blocks])(out)

def top_bytes(out):
    counts = sorted(collections.Counter(text).values(), reverse=True)[:3]
    said = [int(line.split()[1]) for line in out.splitlines()]
    return None if said == counts else "%r instead of %r" % (said, counts)

def columns(counts_of, names):
    def check(out):
        for line in out.splitlines():
            row = line.split("\t")
            if row[0] in ("lo", "invalid"):
                continue
            due = [sum(float(row[0]) <= value < float(row[-1]) for value in counts_of[i::names]) for i in range(names)]
            if [int(count) for count in row[1:-1]] != due:
                return "%s instead of %r" % (line, due)
    return check

def loudness(out):
    for i, line in enumerate(out.splitlines()[1:]):
        values = samples[i::2]
        mean = sum(values) / len(values)
        due = (i + 1, min(values), max(values), math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)))
        if not all(near(said, value) for said, value in zip(line.split("\t"), due)):
            return "%s instead of %r" % (line, due)
    return None if out.count("\n") == 3 else "not all channels"

def letters(out):
    counts = collections.Counter(letter for letter in genome.lower() if letter.isalpha())
    return same("%s\t%d" % pair for pair in sorted(counts.items()))(out)

def bytes_of_qualities(out):
    counts = collections.Counter("".join(q + "\n" for q in qualities).encode())
    said = {int(line.split("\t")[0], 16): int(line.split("\t")[1]) for line in out.splitlines()}
    return None if said == dict(counts) else "%r instead of %r" % (said, counts)

def csv_rows(out):
    return check_rows([line.split(",") for line in out.splitlines() if line != "lo,count,hi"], times_of(requests))

def json_row(out):
    row = json.loads(out)
    due = sum(row["lo"] <= value < row["hi"] for value in times_of(requests))
    return None if row["count"] == due else "%r instead of %d" % (row, due)

def pandas_rows(out):
    rows = [line.split()[1:] for line in out.splitlines()[1:]]
    return check_rows(rows, times_of(requests))

def nothing(out):
    return "printed %r" % out if out else None

all_times, faults = times_of(requests), faults_of(requests)
month, month_faults = times_of(days["01"] + days["02"] + days["03"]), faults_of(days["01"] + days["02"] + days["03"])
# A pattern of commands, and the check of what they print.
# Requests by what a function makes of their fields.
def by_key(key_of, requests=None):
    groups = collections.defaultdict(list)
    for request in requests or whole_day:
        groups[key_of(request.line.split())].append(request.time)
    return groups

def an_hour(fields):
    return fields[3][13:15]

# Rows of statistics: the samples of each key, and intervals around its quantiles.
def key_statistics(key_of, quantiles, requests=None):
    def check(out):
        groups = {key.replace("\\", r"\\").replace('"', r"\x22"): times_of(times) for key, times in by_key(key_of, requests).items()}
        for line in out.splitlines()[1:]:
            key, count, *ends = line.split("\t")
            values = sorted(groups[key])
            if int(count) != len(values):
                return "%s: %d numbers" % (line, len(values))
            for i, q in enumerate(quantiles if values else []):
                value = values[max(0, math.ceil(q * len(values)) - 1)]
                if not float(ends[2 * i]) <= value <= float(ends[2 * i + 1]):
                    return "%s: %g is %g" % (line, q, value)
    return check

# The hours in the order of their p99, and intervals around it; of the others together, too.
def slowest_hours(most):
    def check(out):
        groups = {hour: sorted(times_of(times)) for hour, times in by_key(an_hour).items()}
        p99 = lambda values: values[math.ceil(0.99 * len(values)) - 1]
        order = sorted(groups, key=lambda hour: (-p99(groups[hour]), hour))
        groups["(other)"] = sorted(sum((groups[hour] for hour in order[most:]), []))
        rows = [line.split("\t") for line in out.splitlines()[1:]]
        if [row[0] for row in rows] != order[:most] + ["(other)"]:
            return "the order is %s" % order[:most]
        for hour, count, lower, upper in rows:
            if int(count) != len(groups[hour]) or not float(lower) <= p99(groups[hour]) <= float(upper):
                return "%s: %d numbers, p99 is %g" % (hour, len(groups[hour]), p99(groups[hour]))
    return check

# Buckets of each key, which is a label.
def key_buckets(key_of, bounds):
    def check(out):
        due = []
        for key, times in by_key(key_of).items():
            label = key.replace("\\", r"\\\\").replace('"', r'\"')
            due += ['gpuhisto_numbers_bucket{key="%s",le="%s"} %d' % (
                label, bound, sum(value <= float(bound) for value in times_of(times))) for bound in bounds]
        return same(sorted(due))("".join(sorted(line for line in out.splitlines(True) if "_bucket" in line)))
    return check

# A heat map: keys in their order, and all their samples at the right.
def heat_map(out):
    groups = by_key(an_hour)
    due = ["%s %d" % (key, len(groups[key])) for key in sorted(groups)]
    return same(due)("".join("%s %s\n" % (line[:2].strip(), line.split()[-1]) for line in out.splitlines()[1:]))

# A field and what a modifier makes of it, which may be nothing.
def modified(field, modifier):
    def key_of(fields):
        key = modifiers.apply(fields[field - 1].encode(), [modifier])
        return "(invalid)" if key is None else key.decode()
    return key_of

# Lines of each bucket of time in a log of syslog.
def syslog(out):
    buckets = [modifiers.apply(stamp.encode(), ["5m"]) for stamp in stamps]
    counts = collections.Counter("(invalid)" if bucket is None else bucket.decode() for bucket in buckets)
    return same(["%s\t%d" % (key, counts[key]) for key in sorted(counts, key=lambda key: (key == "(invalid)", key))])(out)

# Requests of each key, in order: a table, or the first two columns of a plot.
def key_table(key_of, wanted=lambda request: True):
    def check(out):
        groups = by_key(key_of, [request for request in requests if wanted(request)])
        due = ["%s\t%d" % (key.replace("\\", r"\\").replace('"', r"\x22"), len(groups[key]))
               for key in sorted(groups, key=lambda key: (key == "(invalid)", key))]
        rows = [line.split("\t") if "\t" in line else line.split() for line in out.splitlines()]
        return same(due)("".join("\t".join(row[:2]) + "\n" for row in rows))
    return check

# The sum of the weights of each route, and how often each field 9 is in both parts of the shop's log.
def route_weights(out):
    sums = collections.Counter()
    for request in requests:
        fields = request.line.split()
        weight = int(fields[9]) if fields[9].isdigit() else None
        sums["(invalid)" if weight is None else modified(7, "route")(fields)] += 1 if weight is None else weight
    due = sorted((key for key in sums if sums[key] > 0), key=lambda key: (key == "(invalid)", key))
    return same("%s\t%d" % (key.replace("\\", r"\\").replace('"', r"\x22"), sums[key]) for key in due)(
        "".join("\t".join(line.split("\t")[:2]) + "\n" for line in out.splitlines()))

def field_counts(out):
    counts = collections.Counter(request.line.split()[8] for request in requests[:1500] + requests[-1500:])
    return same("%s\t%d" % (key.replace("\\", r"\\").replace('"', r"\x22"), counts[key]) for key in sorted(counts))(out)

# Two keys of the requests that are in both parts of the shop's log, in order: their number, and where p99 begins if it is
# there.
def pairs_of_keys(one, other, wanted=lambda request: True, most=None):
    def check(out):
        def key_of(fields):
            key = one(fields), other(fields)
            return ("(invalid)", "") if "(invalid)" in key else key
        def shown(key):
            return tuple(part.replace("\\", r"\\").replace('"', r"\x22") for part in key)
        groups = by_key(key_of, [request for request in requests[:1500] + requests[-1500:] if wanted(request)])
        rows = [line.split("\t") for line in out.splitlines() if not line.startswith("key1")]
        due = sorted(groups, key=lambda key: (key[0] == "(invalid)", key))[:most]
        if [tuple(row[:2]) for row in rows] != [shown(key) for key in due]:
            return "these keys are due: %s" % due
        for row, key in zip(rows, due):
            found = groups[key]
            values = sorted(times_of(found))
            if int(row[2]) != len(values if len(row) > 3 else found):
                return "%s: %d requests" % (row, len(found))
            if len(row) > 3 and values and not float(row[3]) <= values[math.ceil(0.99 * len(values)) - 1]:
                return "%s: p99 is less" % row
    return check

# The routes of shop.log and today.log: how many requests each has, and the means. With them only numbers count, and the
# mean's rise gives the order; otherwise all requests do, and the change of their number.
def routes_compared(has_means):
    def check(out):
        route = modified(7, "route")
        sides = [by_key(route, requests), by_key(route, requests[1000:])]
        if has_means:
            sides = [{key: times_of(times) for key, times in side.items()} for side in sides]
        rows = [line.split("\t") for line in out.splitlines() if not line.startswith("key\t")]
        names = {key: key.replace("\\", r"\\").replace('"', r"\x22") for key in set(sides[0]) | set(sides[1])}
        due = {name: [len(side.get(key, [])) for side in sides] for key, name in names.items()}
        if {row[0]: [int(count) for count in row[1:3]] for row in rows} != due:
            return "these are due: %s" % due
        means = {name: [sum(side[key]) / len(side[key]) if side.get(key) else math.nan for side in sides]
                 for key, name in names.items()} if has_means else {}
        if any(abs(float(row[3 + side]) - mean) > 1e-9 for row in rows for side, mean in enumerate(means.get(row[0], []))):
            return "these means are due: %s" % means
        changes = [means[row[0]][1] - means[row[0]][0] if has_means else abs(due[row[0]][1] - due[row[0]][0])
                   for row in rows if row[0] != "(invalid)"]
        changes = [change for change in changes if not math.isnan(change)]
        if any(one < next - 1e-9 for one, next in zip(changes, changes[1:])):
            return "not in order: %s" % changes
    return check

# Seconds since 1970 of the requests whose fourth field is the time, and requests of some paths in ten minutes.
times_in_field = [request.line.split()[3] for request in requests if request.line.split()[3].startswith("[")]
moments = [modifiers.read_time(time.encode())[0] for time in times_in_field]

def is_item(request):
    fields = request.line.split()
    return fields[6].startswith("/item") and modified(4, "10m")(fields)[11:16] == "10:10"

client_counts = {key: len(times) for key, times in by_key(lambda fields: fields[0]).items()}

def first_clients(most):
    order = sorted(client_counts, key=lambda key: (-client_counts[key], key))
    rest = sum(client_counts[key] for key in order[most:])
    return ["%s\t%d" % (key, client_counts[key]) for key in order[:most]] + ["(other)\t%d" % rest]

def client_bars(out):
    return same(first_clients(3))("".join("\t".join(line.split()[:2]) + "\n" for line in out.splitlines()))

def first_client(out):
    key = min(client_counts)
    return None if json.loads(out) == {"key": key, "count": client_counts[key]} else out

def client_statistics(out):
    due = ["lines\t%d" % len(whole_day), "invalid\t0", "keys\t%d" % len(client_counts)]
    return same(due)("".join(out.splitlines(True)[:3]))

# The first three clients of access.log, with their requests and bytes, and all others.
def bytes_of_clients(out):
    sizes = collections.defaultdict(list)
    for request in requests:
        sizes[request.line.split()[0]].append(int(re.search(r'" \d+ (\d+) "', request.line)[1]))
    order = sorted(sizes, key=lambda client: (-len(sizes[client]), client))
    groups = [(client, sizes[client]) for client in order[:3]] + [("(other)", sum((sizes[client] for client in order[3:]), []))]
    return same(["remote_addr\tcount\tsum"] + ["%s\t%d\t%d" % (name, len(all), sum(all)) for name, all in groups])(out)

checks = [
    (r"gpuhisto --line=combined --field=body_bytes_sent --by=remote_addr .*", bytes_of_clients),
    (r"gpuhisto --by=7 -k-1 --quantiles=0.5,0.99 .*", key_statistics(lambda fields: fields[6], [0.5, 0.99])),
    (r"gpuhisto --by=4:14-15 -k-1 --quantiles=0.99 --sort=p99 --top=3 .*", slowest_hours(3)),
    (r"gpuhisto --by=4:14-15 -k-1 --quantiles=0.99 .*", key_statistics(an_hour, [0.99])),
    (r"gpuhisto --by=4:14-15 -k-1 -p day[^|]* \| head -n 12", heat_map),
    (r"gpuhisto --by=7:route shop\.log", key_table(modified(7, "route"))),
    (r"gpuhisto --by=7:route -k-1 --quantiles=0.99 shop.*", key_statistics(modified(7, "route"), [0.99], requests)),
    (r"gpuhisto --by=4:5m --lines-with=.* shop\.log", key_table(modified(4, "5m"), lambda request: '" 50' in request.line)),
    (r"gpuhisto --by=4:5m --by=7:route .* head -n 6", pairs_of_keys(modified(4, "5m"), modified(7, "route"), most=5)),
    (r"gpuhisto --by=9 --by=7:route --lines-with=.*", pairs_of_keys(lambda fields: fields[8], modified(7, "route"), lambda request: '" 50' in request.line)),
    (r"gpuhisto -s -k 4:time shop\.log \| grep .*", stats(moments, len(requests) - len(moments), ["min", "max"])),
    (r"gpuhisto --by=9 --where='7:1-5=.*", key_table(lambda fields: fields[8], is_item)),
    (r"gpuhisto --by=7:route --weight=10 --percent shop\.log", route_weights),
    (r"zcat -f shop.* \| gpuhisto --by=2 --weight=1", field_counts),
    (r"gpuhisto --by=4:10m -p shop\.log", key_table(modified(4, "10m"))),
    (r"gpuhisto -t '.x1f' --by=1:1-15:5m auth\.log", syslog),
    (r"gpuhisto --by=1 --top=3 day.*", same(first_clients(3))),
    (r"gpuhisto --by=1 --top=3 -p .*", client_bars),
    (r"gpuhisto --by=1 -s .*", client_statistics),
    (r"gpuhisto --by=1 -F json .*", first_client),
    (r"gpuhisto -np -k-1( -B10)? access\.log\.\*", plot(times_of(rotated))),
    (r"gpuhisto (-ns -k-1|-nsk-1) access\.log\.\*", stats(times_of(rotated), faults_of(rotated))),
    (r"gpuhisto -ns -k-1 --each access\.log\.\* \| cut .*", each),
    (r"gpuhisto -n \S+( ')? access\.log \| cut -f 1,2", statuses),
    (r"gpuhisto -n --after=\S* access\.log \| head -n 3", minutes(3)),
    (r"gpuhisto -n --after=\S* access\.log \| head -n 2", minutes(2)),
    (r"gpuhisto -np -k-1 -B5 --lines-with=.* access\.log", plot(failures)),
    (r"gpuhisto -nk-1 -B5 --nonzero --lines-with=.* access\.log", table(failures, None)),
    (r"gpuhisto -nsk-1 --lines-with=.* access\.log \| grep .*",
     stats(times_of(other_failures), 0, ["count", "p90", "p99", "p99.9"])),
    (r"gpuhisto -nsk-1 --where='9>=500' access\.log", stats(times_of(errors), faults_of(errors))),
    (r"gpuhisto -nsk-1 --where='4>=.* access\.log \| grep p99", stats(times_of(between), 0, ["p99", "p99.9"])),
    (r"gpuhisto -pk \.http\.latency_ms log\.json", plot(latency_values)),
    (r"gpuhisto -sk '\.spans\[\]\.ms' --by=.service traces\.json .*", service_sums),
    (r"gpuhisto --line=.* -k times:sum upstream\.log", table(upstream_sums, len(upstream) - len(upstream_sums))),
    (r"gpuhisto -sk \.http\.latency_ms log\.json", stats(latency_values, latency_faults)),
    (r"printf (.|\n)* \| gpuhisto -k '\.spans\[-1\]\.ms'", table([7, 7, 9], 1)),
    (r"gpuhisto -n --after=.* log\.fmt", table(rt_values, 60)),
    (r"gpuhisto -n --units --after=.* durations\.log", table(seconds, 40)),
    (r"printf .* \| sed .* \| gpuhisto -n --units -k1", table([4096, 12288, 1572864, 1572864], 0)),
    (r"gpuhisto -n --csv --header-line -k price sales\.csv", table(price_values, 60)),
    (r"printf 'Ort;(.|\n)*", same(["Ort\tcount\tsum", "Bonn\t2\t%g" % (1234.5 + 0.5), "Ulm\t1\t12.5"])),
    (r"printf .* \| gpuhisto -n -t, -k2", table([10, 20, 20], 0)),
    (r"for day in .*; do gpuhisto -ns -k-1 -F json -o .*; done", nothing),
    (r"for log in .*; do gpuhisto --by=1 -F json -o .*; done", nothing),
    (r"gpuhisto --merge --top=3 day\.log\.1\.json day\.log\.2\.gz\.json", same(first_clients(3))),
    (r"gpuhisto --merge -s web\.\?\?\.json", stats(month, month_faults)),
    (r"gpuhisto --merge -p -B6 web\.\?\?\.json", plot(month)),
    (r"gpuhisto --merge -s -F json -o month\.json web\.\?\?\.json", nothing),
    (r"gpuhisto --merge -s month\.json \| grep p90", stats(month, 0, ["p90"])),
    (r"gpuhisto --merge web\.01\.json cut\.json", nothing),
    (r"sed .* web\.03\.log \| gpuhisto -ns --after=\S* -F json -o other\.json", nothing),
    (r"gpuhisto --merge -s web\.01\.json web\.02\.json other\.json \| grep p90", stats(month, 0, ["p90"])),
    (r"gpuhisto -n -k-1 -F json -o release\d\.json release\d\.log", nothing),
    (r"gpuhisto --diff -p -B8 release1\.json release2\.json", diff_plot),
    (r"gpuhisto --diff release1\.json release2\.json >diff && awk .*", worse),
    (r"gpuhisto --by=7:route -k-1 -s -F json -o \w+\.json (shop|today)\.log", nothing),
    (r"gpuhisto --diff --quantiles=0\.99 --sort=mean --header yesterday.* cut -f 1-3,6-8,10", routes_compared(True)),
    (r"gpuhisto --diff yesterday\.json today\.json", routes_compared(False)),
    (r"gpuhisto -s numbers\.txt( \| grep entropy)?", byte_statistics),
    (r"gpuhisto -s -d none numbers\.gz \| awk .*", gz_entropy),
    (r"gpuhisto -s --each=64K image \| awk .*", block_entropies),
    (r"gpuhisto -p numbers\.txt \| sort -k2nr \| head -n 3", top_bytes),
    (r"gpuhisto -p --values.* --min=0 --max=256 -B4 grey\.pgm", plot(list(pixels))),
    (r"gpuhisto --values.* --min=0 --max=256 -B8 --nonzero grey\.pgm", table(list(pixels), None)),
    (r"gpuhisto --values.* --channels=3 .*--header rgb\.ppm", columns(list(pixels), 3)),
    (r"gpuhisto --values.* --channels=2 .*-B4 take\.wav", columns(samples, 2)),
    (r"gpuhisto --values.* --channels=2 --stats take\.wav \| cut .*", loudness),
    (r"gpuhisto -s --values.* take\.wav", stats(samples, 0)),
    (r"gpuhisto --values\S* array\.npy", table(array, 0)),
    (r"grep -v '\^>' genome\.fa \| gpuhisto (--letters=1 -f|-fl1) --nonzero", letters),
    (r"awk 'NR ?% ?4 ?== ?0' reads\.fq \| gpuhisto --nonzero", bytes_of_qualities),
    (r"(LC_ALL=C )?COLUMNS=\d+ gpuhisto -np -k-1 -B5 access\.log", plot(all_times)),
    (r"timeout .* \| gpuhisto -npk-1 -B5 --interval=9", plot(all_times)),
    (r"gpuhisto -nk-1 --edges=.* -F prometheus access\.log", buckets(("0.1", "0.5", "1.0", "+Inf"))),
    (r"gpuhisto --by=7 -k-1 --edges=.* -F prometheus .*", key_buckets(lambda fields: fields[6], ("0.1", "1.0", "+Inf"))),
    (r"gpuhisto -nk-1 -B5 -Fcsv --header --nonzero access\.log", csv_rows),
    (r"gpuhisto -n -k-1 -B4 -F json access\.log \| jq '\.bins\[0\]'", json_row),
    (r"gpuhisto .* \| python3 -c 'import pandas.*", pandas_rows),
    (r"gpuhisto .* \| gnuplot .*", nothing),
]

# --- the document ---

# The commands of its examples, each with its following lines.
def commands_of(document):
    commands, is_on = [], False
    for line in document.splitlines():
        is_on = line == "```console" or (is_on and line != "```")
        if is_on and line.startswith("$ "):
            commands.append(line[2:])
        elif is_on and line.startswith("> "):
            commands[-1] += "\n" + line[2:]
    return commands

def run(command):
    return subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

# Why a command cannot be run here; or None.
def lacking(command):
    for tool in ("gnuplot", "jq", "gzip"):
        if re.search(r"\b%s " % tool, command) and not shutil.which(tool):
            return "no " + tool
    if "--lines-with='/" in command and run("gpuhisto -n --lines-with=/x/").returncode != 0:
        return "no PCRE2"
    if "import pandas" in command and run("python3 -c 'import pandas'").returncode != 0:
        return "no pandas"

def try_command(command):
    reason = lacking(command)
    if reason:
        return "left out", reason
    check = next((check for pattern, check in checks if re.fullmatch(pattern, command, re.DOTALL)), None)
    if not check:
        return "wrong", "has no check in tests/helpers/recipes.py"
    done = run(command)
    try:
        why = check(done.stdout.decode())
    except (ValueError, KeyError, IndexError, TypeError) as error:
        why = "%r: %r" % (error, done.stdout[:200])
    return ("wrong", why + "; " + done.stderr.decode()) if why else ("ok", "")

with open(sys.argv[1], encoding="utf-8") as file:
    document = file.read()
for command in commands_of(document):
    if "gpuhisto" in command:
        result, why = try_command(command)
        print("%s %s%s%s" % (result, command.split("\n")[0][:100], ": " if why else "", why.replace("\n", " ")))
    elif re.match(r"gzip|head ", command): # what follows from the data; all other makers made them above
        run(command)

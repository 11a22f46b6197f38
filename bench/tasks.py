#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tasks.py [--program=FILE] [--megabytes=N] [--rounds=N] [--dir=DIR] [--tasks=N,N,...] [--csv=FILE]

Questions about logs, JSON lines, CSV and images, each answered by gpuhisto and by the commands that
people use instead. All answers are compared with Python's, and a wrong one makes the exit status 1. Prints a
table in Markdown: CPU seconds (medians; all threads and processes of the command), the same of the rival that
takes least, and the characters of both commands. With --csv every rival is in FILE, with wall seconds and the
MiB of the largest process. Rivals that are not installed, and tasks whose options --program refuses, are left
out with a word on standard error. N megabytes (100) of each kind of data are made in DIR (default: /dev/shm)."""
import argparse
import bisect
import collections
import csv
import functools
import gzip
import io
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# --- the data ---

Request = collections.namedtuple("Request", "client hour minute url status bytes agent milliseconds")
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/8.5.0",
          "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"]
LINE_OF_LOG, LINE_OF_JSON, LINE_OF_CSV, LINE_OF_LISTS = 190, 240, 46, 40 # bytes, about


def requests_of_a_day(count):
    """In order of time. A few clients and URLs have most of the requests, and latencies have a tail."""
    urls = ["/item/%d" % i for i in range(150)] + ["/search?q=%d" % i for i in range(50)]
    for i in range(count):
        second = i * 86400 // count
        url = urls[int(len(urls) * random.random() ** 2)]
        client = int(20000 * random.random() ** 4)
        slow = 3 if second // 3600 in (11, 12) else 1
        latency = min(int(random.lognormvariate(3.5, 1) * slow), 59999)
        yield Request("10.1.%d.%d" % (client >> 8, client & 255), second // 3600, second // 60, url,
                      random.choice((200,) * 40 + (304, 304, 404, 503)), int(random.lognormvariate(8, 2)),
                      random.choice(AGENTS), latency)


def line_of(request, day=22):
    return ('%s - - [%02d/Nov/2026:%02d:%02d:%02d +0000] "GET %s HTTP/1.1" %d %d "https://example.org/" "%s" %d.%03d\n'
            % (request.client, day, request.hour, request.minute % 60, request.milliseconds % 60, request.url,
               request.status, request.bytes, request.agent, *divmod(request.milliseconds, 1000)))


def write(name, lines):
    opener = (lambda: gzip.open(name, "wt", 6)) if name.endswith(".gz") else (lambda: open(name, "w"))
    with opener() as file:
        file.writelines(lines)


def make_json(count):
    """Events with nested numbers. Some have no .http, some a latency of null, and all have another latency_ms."""
    events = []
    for i in range(count):
        event = {"level": random.choice(["info"] * 19 + ["error"]), "service": random.choice(["api", "cart", "mail", "search"]),
                 "db": {"latency_ms": random.randrange(90)}, "text": 'says "%d", {%d}' % (i, i % 7)}
        if random.random() < 0.98:
            latency = None if random.random() < 0.01 else round(random.expovariate(1 / 80), 2)
            event["http"] = {"method": "GET", "path": "/cart/%d" % (i % 999), "status": 200, "latency_ms": latency}
        event["user"] = {"id": random.randrange(5000), "tags": ["a", "b"]}
        events.append(event)
    write("app.json", (json.dumps(event, separators=(",", ":")) + "\n" for event in events))
    return events


def make_lists(count):
    """Seconds of one server or of several, as nginx writes $upstream_response_time, and the same as arrays of JSON."""
    lists = [[random.randrange(1, 3000) / 1000 for _ in range(random.choice((1, 1, 1, 2, 4)))] for _ in range(count)]
    write("upstream.log", ("10.1.0.%d\t/item/%d\t%s\n" % (i % 250, i % 150, ", ".join("%.3f" % x for x in times))
                           for i, times in enumerate(lists)))
    write("spans.json", ('{"trace":%d,"spans":[%s]}\n' % (i, ",".join('{"name":"db","s":%.3f}' % x for x in times))
                         for i, times in enumerate(lists)))
    return lists


def make_csv(count):
    sales = [(random.choice(["north", "south", "east", "west"]), random.randrange(100, 100000), i) for i in range(count)]
    write("sales.csv", ["id,region,item,price\n"] +
          ['%d,%s,"chair, no. %d",%d.%02d\n' % (i, region, i % 500, *divmod(cents, 100)) for region, cents, i in sales])
    write("umsatz.csv", ["nr;region;artikel;preis\n"] +
          ['%d;%s;"Stuhl; Nr. %d";%d,%02d\n' % (i, region, i % 500, *divmod(cents, 100)) for region, cents, i in sales])
    return sales


def make_image(size):
    """Blocks of 64 KiB that are empty, text, code or compressed."""
    kinds = [lambda n: b"\xff" * n, lambda n: (b"usage: tool [OPTION]... FILE\n" * n)[:n],
             lambda n: bytes(random.choices(range(256), [256 - i for i in range(256)], k=n)), random.randbytes]
    blocks = [kind(1 << 16) for kind in kinds for _ in range(4)]
    blocks = [random.choice(blocks) for _ in range(size >> 16)] + [b"end"]
    with open("firmware.bin", "wb") as file:
        file.writelines(blocks)
    return blocks


class Data:
    def __init__(self, size):
        random.seed(34)
        self.day = list(requests_of_a_day(size // LINE_OF_LOG))
        write("access.log", map(line_of, self.day))
        self.rotated = []
        for i in range(4):
            requests = list(requests_of_a_day(size // LINE_OF_LOG // 4))
            write("access.log.%d.gz" % (i + 1), (line_of(request, 21 - i) for request in requests))
            self.rotated += requests
        self.after = [request._replace(milliseconds=request.milliseconds * 5 // 4) for request in self.rotated]
        write("before.log", map(line_of, self.rotated))
        write("after.log", map(line_of, self.after))
        self.events = make_json(size // LINE_OF_JSON)
        self.sales = make_csv(size // LINE_OF_CSV)
        self.lists = make_lists(size // LINE_OF_LISTS)
        self.blocks = make_image(size)


# --- answers: what Python says, and what commands print ---

def quantile(values, fraction):
    values = sorted(values)
    return values[max(math.ceil(round(fraction * len(values), 9)), 1) - 1]


def groups(records, key, value):
    lists = collections.defaultdict(list)
    for record in records:
        lists[key(record)].append(value(record))
    return lists


def seconds(request):
    return request.milliseconds / 1000


def hour(request):
    return "%02d" % request.hour


def summary(values):
    return [len(values), math.fsum(values) / len(values), *(quantile(values, q) for q in (0.5, 0.9, 0.99))]


@functools.lru_cache
def entropy_of(block):
    return math.fsum(-n / len(block) * math.log2(n / len(block)) for n in collections.Counter(block).values())


def p99_of(records, key, value):
    return {name: [len(values), quantile(values, 0.99)] for name, values in groups(records, key, value).items()}


def counts_of(records, key):
    return {name: [count] for name, count in collections.Counter(map(key, records)).items()}


def table(*columns, separator=None, header=0, key=0):
    """Reads rows: the key, then these columns; key=None: a single answer. A pair of columns is an interval."""
    def read(out):
        answer = {}
        for line in out.splitlines()[header:]:
            cells = next(csv.reader([line])) if separator == "," else line.split(separator)
            name = "" if key is None else "\t".join(cells[i] for i in key) if isinstance(key, tuple) else cells[key]
            answer[name] = [tuple(float(cells[i]) for i in column) if isinstance(column, tuple) else float(cells[column])
                            for column in columns]
        return answer
    return read


def lines_of_statistics(*names):
    """Reads lines NAME, VALUE and, for a quantile, its upper end."""
    def read(out):
        rows = {line.split("\t")[0]: [float(cell) for cell in line.split("\t")[1:]] for line in out.splitlines()}
        return {"": [tuple(rows[name]) if name[0] == "p" else rows[name][0] for name in names]}
    return read


def statistics_by_key(*names, separator="\t"):
    """Reads rows with a header that names the columns, as --each and --by print them."""
    def read(out):
        rows = list(csv.reader(io.StringIO(out), delimiter=separator, quoting=csv.QUOTE_NONE))
        at = rows[0].index
        return {row[0]: [(float(row[at(name)]), float(row[at(name + "_upper")])) if re.match(r"p\d", name)
                         else float(row[at(name)]) for name in names] for row in rows[1:]}
    return read


def only(read, wanted):
    return lambda out: {key: value for key, value in read(out).items() if wanted(key)}


def without_invalid(read):
    return only(read, lambda key: key not in ("invalid", "(invalid)"))


def near(said, due):
    if isinstance(said, tuple):
        return len(said) == 1 and near(said[0], due) or said[0] <= due < said[-1] or said[0] == due
    return abs(said - due) <= 1e-6 * max(abs(due), 1e-3)


def why_wrong(said, due):
    if said.keys() != due.keys():
        return "other keys: %s" % list(said.keys() ^ due.keys())[:5]
    for key, values in due.items():
        if len(said[key]) != len(values) or not all(map(near, said[key], values)):
            return "%r: %r instead of %r" % (key, said[key], values)
    return None


# --- the tasks ---

Task = collections.namedtuple("Task", "question command read due rivals") # rivals: name: (command, read)

LOG = "from read_csv('access.log',delim=' ',header=false)"
QUANTILES = "quantile_disc(%s,.5),quantile_disc(%s,.9),quantile_disc(%s,.99)"


def duckdb(query):
    """The first line that it prints, the names of the columns, is not read."""
    return 'duckdb -csv -c "%s"' % query


def duckdb_summary(source, column, condition=""):
    return duckdb("%s select count(%s),avg(%s),%s%s" % (source, column, column, QUANTILES.replace("%s", column), condition))


def in_datamash(values, group=""):
    return "%s | datamash %scount 1 mean 1 median 1 perc:90 1 perc:99 1" % (values, group)


def tasks_of_logs(data):
    day, rotated = data.day, data.rotated
    stats = lines_of_statistics("count", "mean", "p50", "p90", "p99")
    one_row = table(0, 1, 2, 3, 4, separator=",", key=None)
    pairs = table(1, separator=",")
    count_after_key = without_invalid(table(1, separator="\t"))
    gz = LOG.replace("access.log", "access.log.*.gz")
    yield Task("latencies of a day", "gpuhisto -nsk-1 access.log", stats, {"": summary([*map(seconds, day)])},
               {"duckdb": (duckdb_summary(LOG, "column10"), one_row)})
    yield Task("latencies in four rotated .gz", "gpuhisto -nsk-1 access.log.*.gz", stats,
               {"": summary([*map(seconds, rotated)])}, {"duckdb": (duckdb_summary(gz, "column10"), one_row)})
    yield Task("p99 by URL", "gpuhisto -nk-1 --by=7 --quantiles=.99 access.log", statistics_by_key("count", "p99"),
               p99_of(day, lambda r: r.url, seconds),
               {"duckdb": (duckdb(LOG + " select split_part(column05,' ',2),count(*),quantile_disc(column10,.99) group by 1 order by 1"),
                           table(1, 2, separator=","))})
    yield Task("p99 by hour", "gpuhisto -nk-1 --by=4:14-15 --quantiles=.99 access.log", statistics_by_key("count", "p99"),
               p99_of(day, hour, seconds),
               {"duckdb": (duckdb(LOG + " select column03[14:15],count(*),quantile_disc(column10,.99) group by 1 order by 1"),
                           table(1, 2, separator=","))})
    yield Task("requests a minute", "gpuhisto --by=4:2-18 access.log", count_after_key,
               counts_of(day, lambda r: "22/Nov/2026:%02d:%02d" % (r.hour, r.minute % 60)),
               {"cut, uniq": ("cut -d[ -f2 access.log | cut -c-17 | uniq -c", table(0, key=1)),
                "duckdb": (duckdb(LOG + " select column03[2:18],count(*) group by 1 order by 1"), pairs)})
    tenth = sorted(collections.Counter(r.client for r in day).values())[-10]
    top = {key: count for key, count in counts_of(day, lambda r: r.client).items() if count[0] >= tenth}
    yield Task("the ten busiest clients", "gpuhisto --by=1 --top=10 access.log", only(count_after_key, lambda key: key != "(other)"), top,
               {"awk, sort": ("awk '{n[$1]++}END{for(k in n)print n[k],k}' access.log | sort -rn | head", table(0, key=1)),
                "sort, uniq": ("cut -d' ' -f1 access.log | sort | uniq -c | sort -rn | head", table(0, key=1)),
                "duckdb": (duckdb(LOG + " select column00,count(*) group by 1 order by 2 desc limit 10"), pairs)})
    statuses = counts_of(day, lambda r: str(r.status))
    yield Task("status codes", "gpuhisto -nk9 access.log", without_invalid(only(count_after_key, lambda key: key in statuses)), statuses,
               {"awk": ("awk '{n[$9]++}END{for(k in n)print k,n[k]}' access.log", table(1)),
                "duckdb": (duckdb(LOG + " select column06,count(*) group by 1 order by 1"), pairs)})
    yield Task("status codes by hour", "gpuhisto -nk9 --by=4:14-15 access.log",
               lambda out: {k: v for k, v in table(2, separator="\t", key=(0, 1))(out).items() if v != [0] and not {"invalid", "(invalid)"} & set(k)},
               counts_of(day, lambda r: "%02d\t%d" % (r.hour, r.status)),
               {"awk": ("awk '{n[substr($4,14,2)\" \"$9]++}END{for(k in n)print k,n[k]}' access.log | sort", table(2, key=(0, 1))),
                "duckdb": (duckdb(LOG + " select column03[14:15],column06,count(*) group by 1,2 order by 1,2"),
                           table(2, separator=",", key=(0, 1)))})
    failed = [seconds(r) for r in day if r.status == 503]
    yield Task("latencies of failed requests", "gpuhisto -nsk-1 --lines-with='\" 503 ' access.log", stats, {"": summary(failed)},
               {"grep, gpuhisto": ("grep '\" 503 ' access.log | gpuhisto -nsk-1", stats),
                "duckdb": (duckdb_summary(LOG, "column10", " where column06=503"), one_row)})
    bounds = [0.1, 0.5, 1, 5]
    due = {str(bound): [sum(seconds(r) <= bound for r in day)] for bound in bounds} | {"+Inf": [len(day)]}
    yield Task("a histogram for Prometheus", "gpuhisto -nk-1 --edges=0,.1,.5,1,5 -F prometheus access.log", buckets, due,
               {"awk": ("awk '{n++;for(i=split(\".1 .5 1 5\",e);i;i--)if($NF<=e[i])c[i]++}"
                        "END{for(i in e)print \"s_bucket{le=\\\"\"e[i]\"\\\"}\",c[i];print \"s_bucket{le=\\\"+Inf\\\"}\",n}' access.log", buckets),
                "duckdb": (duckdb(LOG + " select count(*) filter (column10<=.1),count(*) filter (column10<=.5),count(*) filter (column10<=1),"
                                  "count(*) filter (column10<=5),count(*)"),
                           lambda out: {key: [float(n)] for key, n in zip(due, out.split(","))})})
    yield Task("bytes by client", "gpuhisto -nsk10 --by=1 access.log", statistics_by_key("count", "sum"),
               {k: [len(v), sum(v)] for k, v in groups(day, lambda r: r.client, lambda r: r.bytes).items()},
               {"awk": ("awk '{n[$1]++;s[$1]+=$10}END{for(k in n)print k,n[k],s[k]}' access.log | sort", table(1, 2)),
                "duckdb": (duckdb(LOG + " select column00,count(*),sum(column07) group by 1 order by 1"), table(1, 2, separator=","))})
    number = table(0, key=None)
    yield Task("how many clients", "gpuhisto --by=1 access.log | wc -l", number, {"": [len({r.client for r in day})]},
               {"cut, sort": ("cut -d' ' -f1 access.log | sort -u | wc -l", number),
                "awk": ("awk '!n[$1]++{c++}END{print c}' access.log", number),
                "duckdb": (duckdb(LOG + " select count(distinct column00)"), number)})
    people = [seconds(r) for r in rotated if "bot" not in r.agent]
    yield Task("latencies in .gz without robots", "gpuhisto -nsk-1 --lines-without=bot access.log.*.gz", stats, {"": summary(people)},
               {"zcat, grep": ("zcat access.log.*.gz | grep -v bot | gpuhisto -nsk-1", stats),
                "duckdb": (duckdb_summary(gz, "column10", " where column09 not like '%bot%'"), one_row)})
    decades = counts_of([r for r in day if r.milliseconds], lambda r: "%02d\t%g" % (r.hour, 10.0 ** (len(str(r.milliseconds)) - 4)))
    yield Task("latencies by hour as a heat map", "gpuhisto -nk-1 --by=4:14-15 --log --min=.001 --max=100 access.log",
               lambda out: {k: v for k, v in table(2, separator="\t", key=(0, 1))(out).items() if v != [0] and not re.search(r"[a-z<]", k)}, decades,
               {"duckdb": (duckdb(LOG + " select column03[14:15],10**floor(log10(column10))::float,count(*) where column10>0 group by 1,2 order by 1,2"),
                           lambda out: {"%s\t%g" % (k.split("\t")[0], float(k.split("\t")[1])): v
                                        for k, v in table(2, separator=",", key=(0, 1))(out).items()})})
    yield Task("before and after a deploy", "gpuhisto -nsk-1 --each before.log after.log", statistics_by_key("count", "mean", "p50", "p90", "p99"),
               {"before.log": summary([*map(seconds, rotated)]), "after.log": summary([*map(seconds, data.after)])},
               {"duckdb": (duckdb("from read_csv(['before.log','after.log'],delim=' ',header=false,filename=true) select filename,count(*),"
                                  "avg(column10),%s group by 1" % QUANTILES.replace("%s", "column10")), table(1, 2, 3, 4, 5, separator=","))})


def buckets(out):
    """The lines _bucket of OpenMetrics."""
    found = re.findall(r'_bucket\{le="([^"]*)"\} (\d+)', out)
    return {le if le == "+Inf" else "%g" % float(le): [float(count)] for le, count in found if le == "+Inf" or float(le) > 0}


def tasks_of_json(data):
    stats = lines_of_statistics("count", "mean", "p50", "p90", "p99")
    timed = [e for e in data.events if e.get("http", {}).get("latency_ms") is not None]
    latency = lambda event: event["http"]["latency_ms"]
    yield Task("a nested latency of JSON lines", "gpuhisto -nsk .http.latency_ms app.json", stats, {"": summary([*map(latency, timed)])},
               {"duckdb": (duckdb_summary("from 'app.json'", "http.latency_ms"), table(0, 1, 2, 3, 4, separator=",", key=None)),
                "jq": ("jq '.http.latency_ms//empty' app.json | gpuhisto -ns", stats)})
    yield Task("p99 by service, JSON lines", "gpuhisto -nk .http.latency_ms --by=.service --quantiles=.99 app.json",
               statistics_by_key("count", "p99"), p99_of(timed, lambda e: e["service"], latency),
               {"duckdb": (duckdb("from 'app.json' select service,count(http.latency_ms),quantile_disc(http.latency_ms,.99) group by 1 order by 1"),
                           table(1, 2, separator=","))})
    yield Task("errors by service, JSON lines", "gpuhisto --by=.service --lines-with='\"level\":\"error\"' app.json",
               without_invalid(table(1, separator="\t")), counts_of([e for e in data.events if e["level"] == "error"], lambda e: e["service"]),
               {"duckdb": (duckdb("from 'app.json' select service,count(*) where level='error' group by 1 order by 1"), table(1, separator=",")),
                "jq": ("grep '\"level\":\"error\"' app.json | jq -r .service | sort | uniq -c", table(0, key=1))})


def beginning_of(request, minutes):
    at = request.minute // minutes * minutes
    return "2026-11-22T%02d:%02d:00" % divmod(at, 60)


def route(request):
    return request.url.split("?")[0] if "?" in request.url else "/item/*"


def tasks_of_places(data):
    """Modifiers, conditions, weights, lists."""
    day = data.day
    stats = lines_of_statistics("count", "mean", "p50", "p90", "p99")
    one_row = table(0, 1, 2, 3, 4, separator=",", key=None)
    routes = {name: [len(v), quantile(v, 0.5), quantile(v, 0.99)] for name, v in groups(day, route, seconds).items()}
    of_time = "strptime(column03,'[%d/%b/%Y:%H:%M:%S')"
    bucket = "strftime(time_bucket(interval '%d minutes'," + of_time.replace("%", "%%") + "),'%%Y-%%m-%%dT%%H:%%M:%%S')"
    yield Task("p50 and p99 by route", "gpuhisto -nk-1 --by=7:route --quantiles=.5,.99 access.log", statistics_by_key("count", "p50", "p99"), routes,
               {"duckdb": (duckdb(LOG + " select regexp_replace(regexp_replace(split_part(column05,' ',2),'[?].*',''),'/[0-9]+','/*','g'),count(*),"
                                  "quantile_disc(column10,.5),quantile_disc(column10,.99) group by 1"), table(1, 2, 3, separator=",")),
                "sed, gpuhisto": ("sed -E 's|(GET /[^ ?]*)\\?[^ ]*|\\1|;s|(GET [^ ]*)/[0-9]+ |\\1/* |' access.log | gpuhisto -nk-1 --by=7 --quantiles=.5,.99",
                                  statistics_by_key("count", "p50", "p99"))})
    failed = {minute: [sum(r.status >= 500 for r in v), len(v)] for minute, v in groups(day, lambda r: beginning_of(r, 1), lambda r: r).items()}
    yield Task("error rate a minute", "gpuhisto -nk9 --by=4:1m --edges=0,500,600 access.log",
               lambda out: {k: [int(v.get("500", 0)), sum(map(int, v.values()))] for k, v in rows_of_bins(out).items()}, failed,
               {"duckdb": (duckdb(LOG + " select %s,count(*) filter (column06>=500),count(*) group by 1" % (bucket % 1)), table(1, 2, separator=",")),
                "awk": ("awk '{m=substr($4,14,5);n[m]++;f[m]+=$9>=500}END{for(m in n)print \"2026-11-22T\"m\":00\",f[m],n[m]}' access.log", table(1, 2))})
    total = collections.Counter()
    for request in day:
        total[request.client] += request.bytes
    top = {client: [count] for client, count in total.most_common(10)}
    yield Task("bytes of the ten clients with most", "gpuhisto --by=1 --weight=10 --top=10 access.log",
               only(without_invalid(table(1, separator="\t")), lambda key: key != "(other)"), top,
               {"awk, sort": ("awk '{n[$1]+=$10}END{for(k in n)print n[k],k}' access.log | sort -rn | head", table(0, key=1)),
                "duckdb": (duckdb(LOG + " select column00,sum(column07)::bigint group by 1 order by 2 desc limit 10"), table(1, separator=","))})
    decades = counts_of([r for r in day if r.milliseconds], lambda r: "%s\t%g" % (beginning_of(r, 5), 10.0 ** (len(str(r.milliseconds)) - 4)))
    yield Task("a heat map of five minutes", "gpuhisto -nk-1 --by=4:5m --log --min=.001 --max=100 access.log",
               lambda out: {k: v for k, v in table(2, separator="\t", key=(0, 1))(out).items() if v != [0] and not re.search(r"[a-z<]", k)}, decades,
               {"duckdb": (duckdb(LOG + " select %s,10**floor(log10(column10))::float,count(*) where column10>0 group by 1,2" % (bucket % 5)),
                           lambda out: {"%s\t%g" % (k.split("\t")[0], float(k.split("\t")[1])): v
                                        for k, v in table(2, separator=",", key=(0, 1))(out).items()})})
    some = [seconds(r) for r in day if 10 * 60 + 5 <= r.minute < 10 * 60 + 47]
    yield Task("between 10:05 and 10:47", "gpuhisto -nsk-1 --where='4>=10:05' --where='4<10:47' access.log", stats, {"": summary(some)},
               {"duckdb": (duckdb_summary(LOG, "column10", " where column03[14:18]>='10:05' and column03[14:18]<'10:47'"), one_row),
                "awk, gpuhisto": ("awk '{t=substr($4,14,5)}t>=\"10:05\"&&t<\"10:47\"' access.log | gpuhisto -nsk-1", stats)})
    yield Task("status by hour", "gpuhisto --by=4:1h --by=9 access.log", without_invalid(table(2, separator="\t", key=(0, 1))),
               counts_of(day, lambda r: "%s\t%d" % (beginning_of(r, 60), r.status)),
               {"duckdb": (duckdb(LOG + " select %s,column06,count(*) group by 1,2" % (bucket % 60)), table(2, separator=",", key=(0, 1))),
                "awk": ("awk '{n[\"2026-11-22T\"substr($4,14,2)\":00:00 \"$9]++}END{for(k in n)print k,n[k]}' access.log", table(2, key=(0, 1)))})
    ways = (("each element of a list", "each", [x for times in data.lists for x in times], "unnest(%s)"),
            ("the sum of a list", "sum", [round(math.fsum(times), 3) for times in data.lists], "list_sum(%s)"),
            ("the last of a list", "last", [times[-1] for times in data.lists], "(%s)[-1]"))
    for question, modifier, values, way in ways:
        source = ("from (from read_csv('upstream.log',delim='\t',header=false) select %s as x)"
                  % (way % "string_split(column2::varchar,', ')::decimal(9,3)[]"))
        awk = {"each": "for(i=1;i<=n;i++)print a[i]", "sum": "s=0;for(i=1;i<=n;i++)s+=a[i];print s", "last": "print a[n]"}[modifier]
        yield Task(question, "gpuhisto -nst '\\t' -k3:%s upstream.log" % modifier, stats, {"": summary(values)},
                   {"duckdb": (duckdb_summary(source, "x"), one_row),
                    "awk, gpuhisto": ("awk -F'\\t' '{n=split($3,a,\", \");%s}' upstream.log | gpuhisto -ns" % awk, stats)})
    elements = [x for times in data.lists for x in times]
    yield Task("each element of an array", "gpuhisto -nsk '.spans[].s' spans.json", stats, {"": summary(elements)},
               {"duckdb": (duckdb_summary("from (from 'spans.json' select unnest(spans).s as x)", "x"), one_row),
                "jq": ("jq '.spans[].s' spans.json | gpuhisto -ns", stats)})
    prices = {k: [len(v), sum(v) / 100] for k, v in groups(data.sales, lambda s: s[0], lambda s: s[1]).items()}
    yield Task("semicolons and decimal commas", "gpuhisto -ns --csv --separator=';' --decimal=, --header-line -k preis --by=region umsatz.csv",
               statistics_by_key("count", "sum"), prices,
               {"duckdb": (duckdb("from read_csv('umsatz.csv',delim=';',decimal_separator=',') select region,count(*),sum(preis) group by 1"),
                           table(1, 2, separator=","))})


def rows_of_bins(out):
    """Rows KEY, LOWER EDGE, COUNT of keys' bins, by key."""
    bins = collections.defaultdict(dict)
    for line in out.splitlines():
        key, edge, count = line.split("\t")[:3]
        if edge in ("0", "500"):
            bins[key][edge] = count
    return bins


def tasks_of_other(data):
    prices = {k: [len(v), sum(v) / 100] for k, v in groups(data.sales, lambda s: s[0], lambda s: s[1]).items()}
    yield Task("sales by region, CSV", "gpuhisto -ns --csv --header-line -k price --by=region sales.csv", statistics_by_key("count", "sum"), prices,
               {"duckdb": (duckdb("from 'sales.csv' select region,count(*),sum(price) group by 1 order by 1"), table(1, 2, separator=",")),
                "mlr": ("mlr --icsv --ojson stats1 -a count,sum -f price -g region sales.csv",
                        lambda out: {row["region"]: [row["price_count"], row["price_sum"]] for row in json.loads(out)})})
    entropies = {str(i << 16): [entropy_of(block)] for i, block in enumerate(data.blocks)}
    yield Task("entropy along a firmware image", "gpuhisto -s --each=64K firmware.bin", statistics_by_key("entropy"), entropies,
               {"python, numpy": ("python3 -c \"import numpy as n\nfor i,b in enumerate(iter(lambda f=open('firmware.bin','rb'):f.read(65536),b'')):\n "
                                  "p=n.bincount(n.frombuffer(b,'u1'))/len(b);p=p[p>0];print(i<<16,-(p*n.log2(p)).sum())\"", table(1))})


# --- running them ---

USAGE_ERROR = 2 # gpuhisto's exit status
Cost = collections.namedtuple("Cost", "wall cpu mib")


def run(command, out):
    begin = time.monotonic()
    with open(out, "wb") as file:
        child = subprocess.Popen(["sh", "-c", command], stdout=file, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status = os.waitstatus_to_exitcode(status)
    return Cost(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), status, said


def answer_of(command, read, due):
    """Why the command's answer is not the one that is due; or None."""
    _, status, said = run(command, "out")
    if status != 0:
        return "failed: " + said.strip()
    with open("out") as file:
        out = file.read()
    try:
        return why_wrong(read(out.partition("\n")[2] if command.startswith("duckdb") else out), due)
    except (ValueError, KeyError, IndexError) as error:
        return "%r: %r" % (error, out[:200])


def installed(command):
    words = re.findall(r"(?:^|\| )(\w+)", command)
    return all(shutil.which(word) for word in words)


def measure(commands, rounds):
    costs = collections.defaultdict(list)
    for i in range(rounds):
        for command in commands if i % 2 == 0 else commands[::-1]:
            costs[command].append(run(command, "/dev/null")[0])
    return {command: Cost(*map(statistics.median, zip(*list_of))) for command, list_of in costs.items()}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", default="./gpuhisto")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--tasks")
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    program, csv_file = os.path.abspath(arguments.program), arguments.csv and open(arguments.csv, "w", newline="")
    wanted = arguments.tasks and set(map(int, arguments.tasks.split(",")))
    with tempfile.TemporaryDirectory(dir=arguments.dir, prefix="gpuhisto-tasks.") as work:
        os.chdir(work)
        os.mkdir("bin")
        os.symlink(program, "bin/gpuhisto")
        os.environ["PATH"] = work + "/bin:" + os.environ["PATH"]
        os.environ["LC_ALL"] = "C.UTF-8"
        wrong = run_tasks(Data(arguments.megabytes * 1000000), wanted, arguments.rounds, csv_file)
        os.chdir("/")
    return wrong


def run_tasks(data, wanted, rounds, csv_file):
    wrong = 0
    rows = csv.writer(csv_file) if csv_file else None
    if rows:
        rows.writerow("task,question,tool,wall,cpu,mib,strokes,rounds,command".split(","))
    print("| | task | `gpuhisto` | CPU s | best rival | CPU s | ratio | characters |\n| ---: | --- | --- | ---: | --- | ---: | ---: | ---: |")
    for number, task in enumerate([*tasks_of_logs(data), *tasks_of_json(data), *tasks_of_other(data), *tasks_of_places(data)], 1):
        if wanted and number not in wanted:
            continue
        _, status, said = run(task.command, "out")
        if status == USAGE_ERROR:
            print("tasks: %d, %s, is left out: %s" % (number, task.question, said.strip()), file=sys.stderr)
            continue
        commands = {"gpuhisto": (task.command, task.read)}
        for name, rival in task.rivals.items():
            if installed(rival[0]):
                commands[name] = rival
            else:
                print("tasks: %d: %s is not here" % (number, name), file=sys.stderr)
        for name, (command, read) in list(commands.items()):
            why = answer_of(command, read, task.due)
            if why:
                wrong += 1
                commands = {key: value for key, value in commands.items() if key != name}
                print("tasks: %d, %s by %s: %s\n  %s" % (number, task.question, name, why, command), file=sys.stderr)
        if "gpuhisto" not in commands:
            continue
        costs = measure([command for command, _ in commands.values()], rounds)
        report(number, task, {name: command for name, (command, _) in commands.items()}, costs, rounds, rows)
    return 1 if wrong else 0


def report(number, task, commands, costs, rounds, rows):
    ours = costs[task.command]
    if rows:
        for name, command in commands.items():
            rows.writerow([number, task.question, name, "%.4f" % costs[command].wall, "%.4f" % costs[command].cpu,
                           "%.1f" % costs[command].mib, len(command), rounds, command])
    rivals = {name: command for name, command in commands.items() if name != "gpuhisto"}
    if not rivals:
        return
    best = min(rivals, key=lambda name: costs[rivals[name]].cpu)
    cpu = costs[rivals[best]].cpu
    print("| %d | %s | `%s` | %.3f | %s | %.3f | %.2f | %d, %d |" %
          (number, task.question, task.command.replace("|", "\\|"), ours.cpu, best, cpu, ours.cpu / cpu, len(task.command), len(rivals[best])),
          flush=True)


if __name__ == "__main__":
    sys.exit(main())

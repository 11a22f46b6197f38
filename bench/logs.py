# SPDX-License-Identifier: MIT
"""logs.py log|json KEYS random|sorted BYTES: writes lines with KEYS different keys to standard output.

log: a web server's log in the combined format, with the request time as the last field; the key is the client,
the first field. json: an object a line; the key is .user.id, the number .http.latency_ms, and .db has another
latency_ms. sorted: lines of a key follow each other. The same arguments give the same bytes everywhere."""

import itertools
import random
import sys

TAILS = 1 << 14


def seconds():
    return "%.3f" % random.expovariate(1 / 0.12)


def tail_of_log():
    return (
        " - - [22/Nov/2026:%02d:%02d:%02d +0000] \"GET /item/%d?page=%d HTTP/1.1\" %d %d "
        "\"https://example.org/list/%d\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\" "
        % (*(random.randrange(n) for n in (24, 60, 60, 100000, 9)), random.choice([200] * 49 + [503]),
           random.randrange(50000), random.randrange(1000))
    ) + seconds() + "\n"


def tail_of_json():
    return (
        ',"name":"user \\"%d\\""},"http":{"method":"GET","path":"/item/%d?page=%d","status":%d,"headers":{"host":'
        '"example.org","accept":["text/html","*/*"]},"latency_ms":%.3f},"db":{"queries":%d,"latency_ms":%.2f},'
        '"message":"request was answered, {%d} [\\u00e9]"}\n'
        % (random.randrange(1000), random.randrange(100000), random.randrange(9),
           random.choice([200] * 49 + [503]), random.expovariate(1 / 120), random.randrange(20), random.random() * 100,
           random.randrange(1000))
    )


def log_lines(keys):
    tails = [tail_of_log() for _ in range(TAILS)]
    return ("10.%d.%d.%d" % (key >> 16, key >> 8 & 255, key & 255) + random.choice(tails) for key in keys)


def json_lines(keys):
    tails = [tail_of_json() for _ in range(TAILS)]
    heads = ['{"time":"2026-11-22T%02d:%02d:%02dZ","level":"info","service":"%s","user":{"id":'
             % (random.randrange(24), random.randrange(60), random.randrange(60),
                random.choice(["api", "cart", "search", "mail"])) for _ in range(TAILS)]
    return (random.choice(heads) + str(key) + random.choice(tails) for key in keys)


def keys_in(order, count, lines):
    if order == "sorted":
        return (i * count // lines for i in range(lines))
    return (random.randrange(count) for _ in itertools.count())


def main():
    kind, count, order, size = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    random.seed(1)
    make = {"log": log_lines, "json": json_lines}[kind]
    length = sum(map(len, itertools.islice(make(keys_in("random", count, 0)), 1000))) / 1000
    lines = int(size / length)
    sys.stdout.writelines(itertools.islice(make(keys_in(order, count, lines)), lines))


main()

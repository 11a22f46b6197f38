#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scaling.py [--program=FILE] [--file=FILE] [--rounds=N] [--threads=N,N,...] [-- OPTION...]

How the CPU's part of gpuhisto scales with the number of workers. FILE (default: latencies, 1 GiB, made in
/dev/shm) is counted with OPTIONs (default: -n) by so many threads (default: 1, 2, 4 and so on), on all
processors and, where these are hardware threads of fewer cores, on one of each core. Medians; all take turns.

Prints comma-separated rows: where, threads, seconds, GB/s, user and system nanoseconds a byte, the share
of the threads' time in which they did not run, and voluntary switches a MiB (a thread that sleeps for a
lock, or for input). If user time a byte grows with the threads, they share cores, caches or memory; if
the share that is idle grows, and the switches, they wait for locks."""
import argparse
import glob
import os
import random
import resource
import statistics
import subprocess
import sys
import time


def one_of_each_core():
    firsts = set()
    allowed = os.sched_getaffinity(0)
    for path in glob.glob("/sys/devices/system/cpu/cpu*/topology/thread_siblings_list"):
        with open(path) as file:
            text = file.read().strip()
        siblings = [int(part.split("-")[0]) for part in text.split(",")]
        if min(siblings) in allowed:
            firsts.add(min(siblings))
    return firsts or allowed


def make_latencies(path, size):
    random.seed(1)
    piece = "".join("%.3f\n" % random.lognormvariate(3, 1.2) for _ in range(1 << 20)).encode()
    with open(path, "wb") as file:
        for _ in range(size // len(piece) + 1):
            file.write(piece)


def run(command, processors):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True,
                   preexec_fn=lambda: os.sched_setaffinity(0, processors))
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (seconds, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime,
            after.ru_nvcsw - before.ru_nvcsw)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", default="./gpuhisto")
    parser.add_argument("--file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads")
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    options = arguments.options or ["-n"]
    places = {"all": os.sched_getaffinity(0)}
    if len(one_of_each_core()) < len(places["all"]):
        places["cores"] = one_of_each_core()
    most = len(places["all"])
    threads = [int(n) for n in arguments.threads.split(",")] if arguments.threads else \
        sorted({1 << i for i in range(most.bit_length()) if 1 << i <= most} | {most * 3 // 4 or 1, most})
    path = arguments.file or "/dev/shm/gpuhisto-scaling.%d" % os.getpid()
    try:
        if not arguments.file:
            make_latencies(path, 1 << 30)
        size = os.path.getsize(path)
        jobs = [(where, n) for where in places for n in threads if n <= len(places[where])]
        results = {job: [] for job in jobs}
        for _ in range(arguments.rounds + 1):  # the first one has the pages cached, and does not count
            for where, n in jobs:
                command = [arguments.program, "--device=cpu", "-q", "--threads=%d" % n, *options, path]
                results[where, n].append(run(command, places[where]))
        print("where,threads,seconds,GBps,user_ns,system_ns,idle,switches")
        for (where, n), runs in results.items():
            wall, user, system, switches = (statistics.median(column) for column in zip(*runs[1:]))
            print("%s,%d,%.3f,%.2f,%.3f,%.3f,%.2f,%.2f" % (
                where, n, wall, size / wall / 1e9, user / size * 1e9, system / size * 1e9,
                1 - (user + system) / (n * wall), switches / (size / 2**20)))
    finally:
        if not arguments.file and os.path.exists(path):
            os.unlink(path)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starting: `gpuhisto -l` of a file of a line beside `wc -c` of the same file, in turn.

    bench/startup.py [--pairs=N] [PROGRAM [OPTION]...]

For each pair both are run once, the other one first each time. Prints the medians of wall time and of processor
time (user and system) of each, and the median of the pairs' ratios with the middle half of these."""
import os
import statistics
import sys
import tempfile
import time


def run(command):
    """Runs it with its output thrown away; seconds of wall time and of processor time."""
    begin = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{command[0]}: status {os.waitstatus_to_exitcode(status)}")
    return wall, used.ru_utime + used.ru_stime


def main():
    arguments = sys.argv[1:]
    pairs = 200
    if arguments and arguments[0].startswith("--pairs="):
        pairs = int(arguments.pop(0).partition("=")[2])
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"hello world\n")
        file.flush()
        commands = [(arguments or ["./gpuhisto"]) + ["-l", file.name], ["wc", "-c", file.name]]
        for command in commands * 3:
            run(command)
        taken = [[], []]
        for i in range(pairs):
            for which in (0, 1) if i % 2 else (1, 0):
                taken[which].append(run(commands[which]))
    for number, what in enumerate(("wall", "processor")):
        times = [[pair[number] for pair in side] for side in taken]
        ratios = [ours / theirs for ours, theirs in zip(*times) if theirs > 0]
        low, middle, high = statistics.quantiles(ratios, n=4)
        ours, theirs = map(statistics.median, times)
        print(f"{what:9}  gpuhisto {ours * 1e3:.3f} ms  wc {theirs * 1e3:.3f} ms  "
              f"medians {ours / theirs:.2f}  pairs {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()

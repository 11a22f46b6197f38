/* SPDX-License-Identifier: MIT */
/* The pairs of bytes that --pairs should print, counted the dullest way there is and written apart
 * from it: oracle_pairs STEP [all] < data
 * STEP is 1 for pairs that overlap, 2 for aligned ones; all: those too that do not occur. */
#include <stdio.h>
#include <stdlib.h>

static void show(int byte)
{
    static const char *const names[] = {"\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r"};
    if (byte >= 7 && byte <= 13)
        fputs(names[byte - 7], stdout);
    else if (byte <= ' ' || byte == '"' || byte > 126)
        printf("\\x%02x", (unsigned)byte);
    else
        printf(byte == '\\' ? "\\%c" : "%c", byte);
}

int main(int argc, char **argv)
{
    static unsigned long long seen[256][256];
    int step = argc > 1 ? atoi(argv[1]) : 0, before = EOF, at = 0;
    if (step < 1)
        return 2;
    for (int byte; (byte = getchar()) != EOF; before = byte, at++)
        if (before != EOF && at % step == step - 1)
            seen[before][byte]++;
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            if (seen[first][second] == 0 && argc < 3)
                continue;
            printf("0x%02x%02x\t%llu\t", (unsigned)first, (unsigned)second, seen[first][second]);
            show(first);
            show(second);
            putchar('\n');
        }
    return 0;
}

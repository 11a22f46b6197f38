/* SPDX-License-Identifier: MIT */
/* What the program should print, counted the dullest way there is and written apart from it:
 *     oracle bytes < data
 *     oracle letters WIDTH FOLD < data        (FOLD: 0 or 1) */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static unsigned long long seen[256];
    for (int byte; (byte = getchar()) != EOF;)
        seen[byte]++;
    if (argc < 4) {
        static const char *const names[] = {"\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r"};
        for (int byte = 0; byte < 256; byte++) {
            printf("0x%02x\t%llu\t", (unsigned)byte, seen[byte]);
            if (byte >= 7 && byte <= 13)
                puts(names[byte - 7]);
            else if (byte < 33 || byte == 34 || byte > 126)
                printf(byte == 32 ? "' '\n" : "\\x%02x\n", (unsigned)byte);
            else
                printf(byte == 92 ? "\\%c\n" : "%c\n", byte);
        }
        return 0;
    }
    int width = atoi(argv[2]), fold = atoi(argv[3]);
    for (int first = 'a'; first <= 'z'; first += width) {
        unsigned long long sum = 0;
        int last = first + width - 1 > 'z' ? 'z' : first + width - 1;
        for (int letter = first; letter <= last; letter++)
            sum += seen[letter] + (fold ? seen[toupper(letter)] : 0);
        printf(first == last ? "%c" : "%c-%c", first, last);
        printf("\t%llu\n", sum);
    }
    return 0;
}

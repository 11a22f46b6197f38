/* SPDX-License-Identifier: MIT */
/* The text of --help, made from the table of options. */
#include "option.h"
#include "src/report/writer.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 27 /* where the help of an option begins, from 0 */

static const char help_begin[] =
    "Usage: gpuhisto [OPTION]... [FILE]...\n"
    "Count bytes, pairs, letters, characters or numbers in FILEs, exactly, on the CPU\n"
    "or the GPU.\n"
    "\n"
    "With no FILE, or when FILE is -, read standard input. Decompress zstd and\n"
    "gzip data.\n";

static const char help_end[] =
    "\n"
    "SIZE may end with K, M or G, for powers of 1024. Defaults are in parentheses.\n"
    "Exit status: 0 if everything was counted, 1 on failure, 2 on a usage error.\n"
#ifdef BUG_URL
    "Report bugs to " BUG_URL ".\n"
#endif
    ;

static const char *const headings[] = {
    [GROUP_MODE] = "Mode, what to count:",
    [GROUP_BINS] = "Bins, with --numbers or --values:",
    [GROUP_NUMBERS] = "With --numbers:",
    [GROUP_INPUT] = "Input:",
    [GROUP_OUTPUT] = "Output:",
    [GROUP_TABLES] = "Tables made before:",
    [GROUP_ENGINE] = "Engine:",
    [GROUP_MESSAGES] = "Messages:",
};

static void write_option(struct writer *out, const struct option_row *row)
{
    static const char *const before[] = {"", "=", "[="};
    static const char *const after[] = {"", "", "]"};
    const char *line = row->help;
    const char letter[] = {'-', row->letter ? row->letter : '-', ',', ' ', '\0'};
    char names[80];
    snprintf(names, sizeof names, "  %s--%s%s%s%s", row->letter ? letter : "    ", row->name,
             before[row->takes], row->value, after[row->takes]);
    do {
        int len = (int)strcspn(line, "\n");
        writer_format(out, "%-*s%.*s\n", HELP_COLUMN, names, len, line);
        line += len;
        names[0] = '\0';
    } while (*line++);
}

void options_write_help(struct writer *out)
{
    writer_text(out, help_begin);
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (i == 0 || row->group != row[-1].group)
            writer_format(out, "\n%s\n", headings[row->group]);
        write_option(out, row);
    }
    writer_text(out, help_end);
}

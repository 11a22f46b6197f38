/* SPDX-License-Identifier: MIT */
/* The texts of --help and -h, made from the table of options. */
#include "option.h"
#include "src/report/writer.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 27 /* where the help of an option begins, from 0 */

static const char help_begin[] =
    "Usage: gpuhisto [OPTION]... [FILE]...\n"
    "Count how often each byte, letter, character or number occurs in files or\n"
    "standard input. Files compressed with zstd or gzip are read directly.\n";

static const char brief_end[] =
    "\n"
    "Latencies, from the last field of rotated logs:\n"
    "  gpuhisto -nsk-1 access.log access.log.*.gz\n"
    "'gpuhisto --help' lists all options; 'man gpuhisto' explains them.\n";

static const char help_end[] =
    "\n"
    "SIZE may end with K, M or G, for powers of 1024. Defaults are in parentheses.\n"
    "Exit status: 0 if everything was counted, 1 on failure, 2 on a usage error.\n"
#ifdef BUG_URL
    "Report bugs to " BUG_URL ".\n"
#endif
    ;

static const char *const headings[] = {
    [GROUP_MODE] = "What to count:",      [GROUP_BINS] = "Bins, with --numbers or --values:",
    [GROUP_NUMBERS] = "Numbers in text:", [GROUP_INPUT] = "Input:",
    [GROUP_OUTPUT] = "Output:",           [GROUP_TABLES] = "Saved tables:",
    [GROUP_ENGINE] = "CPU and GPU:",      [GROUP_MESSAGES] = "Messages:",
};

static void write_option(struct writer *out, const struct option_row *row, const char *help)
{
    static const char *const before[] = {"", "=", "[="};
    static const char *const after[] = {"", "", "]"};
    const char letter[] = {'-', row->letter ? row->letter : '-', ',', ' ', '\0'};
    char names[80];
    snprintf(names, sizeof names, "  %s--%s%s%s%s", row->letter ? letter : "    ", row->name,
             before[row->takes], row->value, after[row->takes]);
    if (strlen(names) + 2 > HELP_COLUMN) { /* the help follows on a line of its own */
        writer_format(out, "%s\n", names);
        names[0] = '\0';
    }
    do {
        int len = (int)strcspn(help, "\n");
        writer_format(out, "%-*s%.*s\n", HELP_COLUMN, names, len, help);
        help += len;
        names[0] = '\0';
    } while (*help++);
}

void options_write_help(struct writer *out)
{
    writer_text(out, help_begin);
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (i == 0 || row->group != row[-1].group)
            writer_format(out, "\n%s\n", headings[row->group]);
        write_option(out, row, row->help);
    }
    writer_text(out, help_end);
}

void options_write_brief_help(struct writer *out)
{
    writer_format(out, "%s\n", help_begin);
    for (size_t i = 0; i < option_count; i++)
        if (option_rows[i].brief)
            write_option(out, &option_rows[i], option_rows[i].brief);
    writer_text(out, brief_end);
}

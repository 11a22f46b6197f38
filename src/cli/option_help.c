/* The text of --help, made from the table of options. */
#include "option.h"

#include <string.h>

#define HELP_COLUMN 27 /* where the help of an option begins, from 0 */

static const char help_begin[] =
    "Usage: gpuhisto [OPTION]... [FILE]...\n"
    "Count the bytes, letters or numbers in FILEs exactly, on the CPU or the GPU.\n"
    "\n"
    "With no FILE, or when FILE is -, read standard input. Decompress zstd data.\n";

static const char help_end[] =
    "\n"
    "SIZE may end with K, M or G, for powers of 1024. Defaults are in parentheses.\n"
    "Exit status: 0 if everything was counted, 1 on failure, 2 on a usage error.\n";

static const char *const headings[] = {
    [GROUP_MODE] = "Mode, what to count:",
    [GROUP_BINS] = "Bins, with --numbers or --values:",
    [GROUP_NUMBERS] = "With --numbers:",
    [GROUP_INPUT] = "Input:",
    [GROUP_OUTPUT] = "Output:",
    [GROUP_ENGINE] = "Engine:",
    [GROUP_MESSAGES] = "Messages:",
};

static void print_row(FILE *out, const struct option_row *row)
{
    static const char *const before[] = {"", "=", "[="};
    static const char *const after[] = {"", "", "]"};
    const char *line = row->help;
    int width = row->letter ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "      ");
    width +=
        fprintf(out, "--%s%s%s%s", row->name, before[row->takes], row->value, after[row->takes]);
    do {
        int len = (int)strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", HELP_COLUMN - width, "", len, line);
        line += len;
        width = 0;
    } while (*line++);
}

void options_print_help(FILE *out)
{
    fputs(help_begin, out);
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (i == 0 || row->group != row[-1].group)
            fprintf(out, "\n%s\n", headings[row->group]);
        print_row(out, row);
    }
    fputs(help_end, out);
}

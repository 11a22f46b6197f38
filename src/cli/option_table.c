/* SPDX-License-Identifier: MIT */
/* The table of options: what each is called, what it needs and excludes, what it sets, and what
 * help says of it. The text of --help and -h is made from it here, completions by
 * make_completions.c, which also refuses a table whose terms are wrong.
 *
 * A term is the name of another option, or NAME=VALUE: that option with this value.
 *
 *   .requires = "a b|c"   needs --a, and --b or --c
 *   .conflicts = "a b=1"  cannot be combined with --a, nor with --b=1; one of a pair says so
 *   .instead = {{"a b", "; TEXT"}}  the same, with a message that says what to type
 *   .only_with = "a b"    cannot be combined with anything but --a and --b
 *   .replaces = "a"       the last of this and --a takes effect
 *   .implies = "a"        without a mode, gives the mode --a
 *   .words = {"a", "b"}   what the value may be, or for .set only what completions offer
 *   .brief = "TEXT"       what the one screen of -h says; without it, only --help has the option
 *
 * Modes exclude each other without a term: an option is a mode's if `modes` (src/tally/modes.c) has
 * its name. Without .to and .set, draft_gave says all about an option. */
#include "cli.h"
#include "option.h"
#include "src/report/writer.h"

#include <stdio.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define GIB ((uint64_t)1 << 30) /* a kernel's 32-bit counters hold nearly four times that */
#define CONTENT_SIZES "0 to 9223372036854775807"
#define BUFFERS_MAX 64
#define THREADS_MAX 1024

#define IN_DRAFT(member)                                                                           \
    {                                                                                              \
        SETS_DRAFT, offsetof(struct draft, member)                                                 \
    }
#define IN_OPTIONS(member)                                                                         \
    {                                                                                              \
        SETS_OPTIONS, offsetof(struct options, member)                                             \
    }

/* -h and --help are two options. */
static int set_help(struct draft *draft, const char *value, struct error *error)
{
    (void)value;
    (void)error;
    const struct option_row *row = option_find(draft->table, "help", strlen("help"));
    draft->options->action = draft_given(draft, row)->letter ? ACTION_BRIEF_HELP : ACTION_HELP;
    return 0;
}

static const struct option_row rows[] = {
    {GROUP_MODE, 'b', "bytes", VALUE_NONE, "", .help = "each of the 256 byte values (default)",
     .brief = "count each of the 256 byte values (default)"},
    {GROUP_MODE, 'l', "letters", VALUE_OPTIONAL, "WIDTH",
     .help = "lower-case ASCII letters, in ranges of WIDTH (4)",
     .brief = "count lower-case letters, in ranges of WIDTH (4)", .set = set_letters},
    {GROUP_MODE, 'f', "fold-case", VALUE_NONE, "",
     .help = "with --letters: count upper case as lower case", .requires = "letters"},
    {GROUP_MODE, 'c', "characters", VALUE_NONE, "",
     .help = "each character of UTF-8 text that occurs",
     .brief = "count each character of UTF-8 text"},
    {GROUP_MODE, '\0', "categories", VALUE_NONE, "",
     .help = "characters by their general category in Unicode"},
    {GROUP_MODE, '\0', "blocks", VALUE_NONE, "", .help = "characters by their Unicode block"},
    {GROUP_MODE, '\0', "pairs", VALUE_OPTIONAL, "WHICH",
     .help = "each byte together with the next one; aligned:\n"
             "bytes 0 and 1, 2 and 3, and so on",
     .words = {"aligned"}, .set = set_pairs},
    {GROUP_MODE, 'n', "numbers", VALUE_NONE, "",
     .help = "decimal numbers in text, separated by white space",
     .brief = "count decimal numbers in text"},
    {GROUP_MODE, '\0', "values", VALUE_OPTIONAL, "TYPE",
     .help = "binary numbers: u8 u16 u24 u32 u64 i8 i16 i24 i32\n"
             "i64 f32 f64; append be for big-endian; without TYPE,\n"
             "what the header says (.npy, WAV, PGM or PPM)",
     .words = {"u8",    "u16",   "u24",   "u32",   "u64",   "i8",    "i16",   "i24",
               "i32",   "i64",   "f32",   "f64",   "u16be", "u24be", "u32be", "u64be",
               "i16be", "i24be", "i32be", "i64be", "f32be", "f64be"},
     .brief = "count binary numbers, such as u8, i16be or f64", .set = set_values},
    {GROUP_MODE, '\0', "channels", VALUE_REQUIRED, "N",
     .help = "with --values: count each of N interleaved channels\n"
             "in a column of its own, 1-64",
     .requires = "values", .conflicts = "format=prometheus", .to = IN_DRAFT(channels),
     .max = CHANNELS_MAX},
    {GROUP_MODE, '\0', "also", VALUE_NONE, "",
     .help = "count another histogram of the same input in the\n"
             "same pass",
     .conflicts = "format=pgm format=prometheus", .to = IN_DRAFT(ends)},

    {GROUP_BINS, 'B', "bins", VALUE_REQUIRED, "BINS",
     .help = "number of equal bins from --min to --max; without a\n"
             "range, at most BINS bins with round edges; for\n"
             "integers, one bin for each value below BINS",
     .requires = "numbers|values|merge|diff", .brief = "print at most BINS equal bins",
     .to = IN_DRAFT(bins), .max = BINS_MAX},
    {GROUP_BINS, '\0', "min", VALUE_REQUIRED, "X", .help = "lower edge of the first bin",
     .requires = "numbers|values max bins|log", .conflicts = "log=2:32", .to = IN_DRAFT(min)},
    {GROUP_BINS, '\0', "max", VALUE_REQUIRED, "Y",
     .help = "upper edge of the last bin, which excludes Y",
     .requires = "numbers|values min bins|log", .conflicts = "log=2:32", .to = IN_DRAFT(max)},
    {GROUP_BINS, '\0', "edges", VALUE_REQUIRED, "A,B,...",
     .help = "bins from A to B, from B to C, and so on", .requires = "numbers|values",
     .conflicts = "bins min max log", .to = IN_DRAFT(edges)},
    {GROUP_BINS, '\0', "log", VALUE_OPTIONAL, "BASE",
     .help = "bins between powers of BASE (10), from --min to\n"
             "--max; without a range, edges at 1, 2 and 5 times\n"
             "powers of ten; 2:32: 32 bins for each power of two",
     .requires = "numbers|values", .conflicts = "bins", .set = set_log},
    {GROUP_BINS, '\0', "digits", VALUE_REQUIRED, "N",
     .help = "bins of N significant decimal digits, 1-5; the\n"
             "default for numbers, f32 and f64 is 3",
     .requires = "numbers|values", .conflicts = "min max edges log", .to = IN_DRAFT(digits),
     .max = DIGITS_MAX},
    {GROUP_BINS, '\0', "right", VALUE_NONE, "",
     .help = "bins include their upper edge instead of the lower", .requires = "edges|min"},

    {GROUP_NUMBERS, 'k', "field", VALUE_REQUIRED, "N",
     .help = "count field N of each line; -1 is the last field;\n"
             "with --header-line, N may be the name of a column;\n"
             "of lines of JSON, N is a path such as .http.ms",
     .requires = "numbers", .implies = "numbers",
     .brief = "take field N of each line; -1 is the last one", .set = set_field, .is_text = true},
    {GROUP_NUMBERS, '\0', "by", VALUE_REQUIRED, "FIELD",
     .help = "a result for each value of a field, or of what\n"
             "follows it: :FIRST-LAST takes these characters,\n"
             ":route a path without ids, :10s, :5m, :1h and :1d\n"
             "times rounded down; without a mode, count lines;\n"
             "up to four times: by all of these, a column each",
     .brief = "a result for each value of a field, as in --by=1",
     .instead = {{"bytes letters characters categories blocks pairs",
                  "; pipe the lines of one key in, as in grep KEY FILE | gpuhisto -b"},
                 {"values", "; turn values into text, as in od -An -v -w8 -tu4 FILE | "
                            "gpuhisto --by=1 -k2"},
                 {"each", "; run gpuhisto once for each file"},
                 {"also", "; run gpuhisto once for each histogram"}},
     .set = set_by, .is_text = true},
    {GROUP_NUMBERS, '\0', "max-keys", VALUE_REQUIRED, "N",
     .help = "with --by: count at most N keys (1000000)", .requires = "by|merge|diff",
     .to = IN_OPTIONS(max_keys), .max = KEYS_LIMIT},
    {GROUP_NUMBERS, 't', "separator", VALUE_REQUIRED, "C",
     .help = "fields are separated by C (default: by blanks)", .requires = "numbers|by field|by",
     .brief = "fields are separated by C, as in -t ';'", .set = set_separator},
    {GROUP_NUMBERS, '\0', "csv", VALUE_NONE, "",
     .help = "fields are comma-separated values (RFC 4180)", .requires = "numbers|by field|by",
     .implies = "numbers", .brief = "fields are separated by commas, and may be quoted"},
    {GROUP_NUMBERS, '\0', "header-line", VALUE_NONE, "",
     .help = "do not count the first line of each file", .requires = "numbers|by field|after|by"},
    {GROUP_NUMBERS, '\0', "after", VALUE_REQUIRED, "STRING",
     .help = "count the number that follows STRING in each line", .requires = "numbers",
     .implies = "numbers", .conflicts = "field separator csv",
     .brief = "take the number after STRING in each line", .set = set_after, .is_text = true},
    {GROUP_NUMBERS, '\0', "line", VALUE_REQUIRED, "FORMAT",
     .help = "name the parts of a line for --field and --by:\n"
             "common, combined, syslog, logfmt, text and names as\n"
             "in nginx's log_format, such as '$host $status', or\n"
             "/REGEX/ with named groups",
     .words = {"common", "combined", "syslog", "logfmt"}, .requires = "field|by",
     .conflicts = "separator csv header-line after", .set = set_line, .is_text = true},
    {GROUP_NUMBERS, '\0', "lines-with", VALUE_REQUIRED, "STRING",
     .help = "count only lines that contain STRING; /REGEX/ is a\n"
             "regular expression; if given several times, all",
     .requires = "numbers|by",
     .instead = {{"bytes letters characters categories blocks pairs",
                  "; pipe lines in, as in grep -F STRING FILE | gpuhisto -b"}},
     .set = set_lines_with, .is_text = true},
    {GROUP_NUMBERS, '\0', "lines-without", VALUE_REQUIRED, "STRING",
     .help = "do not count lines that contain STRING", .requires = "numbers|by",
     .instead = {{"bytes letters characters categories blocks pairs",
                  "; pipe lines in, as in grep -vF STRING FILE | gpuhisto -b"}},
     .set = set_lines_without, .is_text = true},
    {GROUP_NUMBERS, '\0', "where", VALUE_REQUIRED, "CONDITION",
     .help = "count only lines whose field is as in\n"
             "--where='9>=500'; by = != < <= > >=, of numbers,\n"
             "times, times of day and text; if given several\n"
             "times, all must hold",
     .requires = "numbers|by",
     .instead = {{"bytes letters characters categories blocks pairs",
                  "; pipe lines in, as in awk '$9 >= 500' FILE | gpuhisto -b"}},
     .set = set_where, .is_text = true},
    {GROUP_NUMBERS, '\0', "weight", VALUE_REQUIRED, "FIELD",
     .help = "count a line as often as a field of it says", .requires = "numbers|by field|after|by",
     .instead = {{"bytes letters characters categories blocks pairs",
                  "; use --numbers with --field, or --by"}},
     .to = IN_DRAFT(weight), .is_text = true},
    {GROUP_NUMBERS, '\0', "units", VALUE_NONE, "",
     .help = "read times such as 350ms and 2h45m as seconds, and\n"
             "sizes such as 1.5k and 4KiB as bytes",
     .requires = "numbers", .implies = "numbers"},
    {GROUP_NUMBERS, '\0', "decimal", VALUE_REQUIRED, "CHARACTER",
     .help = "what stands before decimals: . (default) or , with\n"
             "points between thousands, as in 1.234,5",
     .words = {".", ","}, .requires = "numbers field|after", .conflicts = "units",
     .to = IN_DRAFT(has_comma)},
    {GROUP_NUMBERS, '\0', "invalid", VALUE_REQUIRED, "HOW",
     .help = "what to do with text that is not a number: count\n"
             "(default), skip, error",
     .words = {"count", "skip", "error"}, .requires = "numbers|by", .to = IN_OPTIONS(pool.invalid)},

    {GROUP_INPUT, 'd', "decompress", VALUE_REQUIRED, "HOW",
     .help = "auto (default: look at the first bytes), zstd, gzip\n"
             "or none",
     .words = {"auto", "zstd", "gzip", "none"}, .set = set_decompress},
    {GROUP_INPUT, '\0', "memlimit", VALUE_REQUIRED, "SIZE",
     .help = "largest zstd window to accept (128M)", .to = IN_OPTIONS(input.decoding.memlimit),
     .sizes = {KIB, 2 * GIB, "1K to 2G"}},
    {GROUP_INPUT, '\0', "no-check", VALUE_NONE, "",
     .help = "do not verify the checksums of zstd frames",
     .to = IN_OPTIONS(input.decoding.no_check)},
    {GROUP_INPUT, '\0', "skip", VALUE_REQUIRED, "SIZE",
     .help = "skip the first SIZE bytes of each file", .to = IN_OPTIONS(input.content.skip),
     .sizes = {0, CONTENT_MAX, CONTENT_SIZES}},
    {GROUP_INPUT, '\0', "length", VALUE_REQUIRED, "SIZE",
     .help = "count at most SIZE bytes of each file", .set = set_length},
    {GROUP_INPUT, '\0', "part", VALUE_REQUIRED, "K/N", .help = "count share K of N of the input",
     .conflicts = "each interval", .set = set_part},

    {GROUP_OUTPUT, 's', "stats", VALUE_NONE, "",
     .help = "print summary statistics instead of the table: sum,\n"
             "mean, quantiles; of bytes entropy and more",
     .conflicts = "format=prometheus", .instead = {{"format=pgm", "; --format=json has both"}},
     .brief = "print count, min, max, mean, p50, p90, p99, p99.9", .to = IN_OPTIONS(report.stats)},
    {GROUP_OUTPUT, '\0', "quantiles", VALUE_OPTIONAL, "Q,...",
     .help = "print statistics with these quantiles\n"
             "(0.5,0.9,0.99,0.999)",
     .requires = "numbers|values|merge|diff", .conflicts = "format=prometheus",
     .instead = {{"format=pgm", "; --format=json has both"}}, .set = set_quantiles},
    {GROUP_OUTPUT, 'F', "format", VALUE_REQUIRED, "FORMAT",
     .help = "tsv (default), csv, json, plot, prometheus (implies\n"
             "--right), or pgm (an image of --pairs or by key)",
     .replaces = "plot", .brief = "print tsv (default), csv, json or plot", .set = set_format},
    {GROUP_OUTPUT, 'p', "plot", VALUE_NONE, "",
     .help = "print aligned columns with percentages and bars;\n"
             "the same as --format=plot",
     .replaces = "format", .brief = "print aligned columns and bars", .set = set_format},
    {GROUP_OUTPUT, '\0', "percent", VALUE_NONE, "",
     .help = "append the percentage and the running percentage",
     .conflicts = "format=pgm format=prometheus", .to = IN_OPTIONS(report.percent)},
    {GROUP_OUTPUT, '\0', "nonzero", VALUE_NONE, "", .help = "leave out rows with a count of 0",
     .conflicts = "format=pgm format=prometheus", .replaces = "all", .to = IN_OPTIONS(report.empty),
     .becomes = EMPTY_LEFT_OUT},
    {GROUP_OUTPUT, '\0', "all", VALUE_NONE, "",
     .help = "print all rows, even those left out by default",
     .conflicts = "format=pgm format=prometheus characters", .replaces = "nonzero",
     .to = IN_OPTIONS(report.empty), .becomes = EMPTY_SHOWN},
    {GROUP_OUTPUT, '\0', "each", VALUE_OPTIONAL, "SIZE",
     .help = "print a result for each file, with its name first;\n"
             "or for each block of SIZE bytes, with its offset",
     .brief = "print a result for each file", .set = set_each},
    {GROUP_OUTPUT, '\0', "sort", VALUE_REQUIRED, "COLUMN",
     .help = "with --by: order of keys: by key (default), count or\n"
             "a statistic such as p99, the greatest first; with -\n"
             "before COLUMN reversed",
     .requires = "by|merge|diff", .set = set_sort},
    {GROUP_OUTPUT, '\0', "top", VALUE_REQUIRED, "N",
     .help = "with --by: print the first N keys of --sort (default:\n"
             "those with most samples), and all others together",
     .requires = "by|merge|diff", .to = IN_OPTIONS(top), .max = KEYS_LIMIT},
    {GROUP_OUTPUT, '\0', "header", VALUE_NONE, "", .help = "begin with a row of column names",
     .conflicts = "format=pgm format=prometheus", .to = IN_OPTIONS(report.header)},
    {GROUP_OUTPUT, 'o', "output", VALUE_REQUIRED, "FILE",
     .help = "write to FILE, which is replaced only on success", .to = IN_OPTIONS(output)},
    {GROUP_OUTPUT, '\0', "interval", VALUE_REQUIRED, "SECONDS",
     .help = "print the table every SECONDS seconds while reading",
     .conflicts = "format=prometheus each output", .set = set_interval},

    {GROUP_TABLES, '\0', "merge", VALUE_NONE, "",
     .help = "add up tables that gpuhisto has printed as JSON",
     .only_with = "bins stats quantiles format plot percent nonzero all header output "
                  "sort top max-keys incomplete threads sandbox no-sandbox quiet verbose",
     .to = IN_OPTIONS(action), .becomes = ACTION_MERGE},
    {GROUP_TABLES, '\0', "diff", VALUE_NONE, "",
     .help = "compare two such tables, BEFORE and AFTER",
     .conflicts = "format=pgm format=prometheus",
     .only_with = "bins stats quantiles format plot nonzero all header output sort top "
                  "max-keys sandbox no-sandbox quiet verbose",
     .to = IN_OPTIONS(action), .becomes = ACTION_DIFF},
    {GROUP_TABLES, '\0', "incomplete", VALUE_NONE, "",
     .help = "with --merge: accept missing shares", .requires = "merge format=json",
     .conflicts = "bins", .to = IN_OPTIONS(incomplete)},

    {GROUP_ENGINE, '\0', "device", VALUE_REQUIRED, "DEVICE",
     .help = "what counts: auto (default), cpu, gpu, gpu:N[,N]...\n"
             "or all",
     .words = {"auto", "cpu", "gpu", "all"}, .set = set_device},
    {GROUP_ENGINE, '\0', "kernel", VALUE_REQUIRED, "NAME",
     .help = "GPU counting strategy; 'help' lists them", .set = set_kernel},
    {GROUP_ENGINE, '\0', "chunk-size", VALUE_REQUIRED, "SIZE",
     .help = "bytes sent to the GPU at a time (8M)", .to = IN_OPTIONS(pool.chunk_size),
     .sizes = {1, GIB, "1 to 1G"}},
    {GROUP_ENGINE, '\0', "buffers", VALUE_REQUIRED, "N",
     .help = "chunks in flight to the GPU, 1-64", .to = IN_OPTIONS(pool.buffers),
     .max = BUFFERS_MAX},
    {GROUP_ENGINE, '\0', "threads", VALUE_REQUIRED, "N",
     .help = "use at most N worker threads (one per processor)", .to = IN_OPTIONS(pool.threads),
     .max = THREADS_MAX},
    {GROUP_ENGINE, '\0', "sandbox", VALUE_REQUIRED, "WHEN",
     .help = "sandbox the process: auto (default), require (fail\n"
             "if that is not possible) or never",
     .words = {"auto", "require", "never"}, .to = IN_OPTIONS(sandbox)},
    {GROUP_ENGINE, '\0', "no-sandbox", VALUE_NONE, "", .help = "do not sandbox the process",
     .to = IN_OPTIONS(sandbox), .becomes = SANDBOX_NONE},

    {GROUP_MESSAGES, '\0', "progress", VALUE_OPTIONAL, "WHEN",
     .help = "show progress: never (default), always or auto\n"
             "(if standard error is a terminal)",
     .words = {"never", "auto", "always"}, .to = IN_OPTIONS(progress), .becomes = PROGRESS_AUTO},
    {GROUP_MESSAGES, '\0', "timing", VALUE_NONE, "",
     .help = "print the speed and what each engine counted", .to = IN_OPTIONS(pool.timing)},
    {GROUP_MESSAGES, 'q', "quiet", VALUE_NONE, "", .help = "suppress warnings",
     .to = IN_OPTIONS(verbosity), .becomes = QUIET},
    {GROUP_MESSAGES, 'v', "verbose", VALUE_NONE, "",
     .help = "print which engines were used, or why no GPU was", .to = IN_OPTIONS(verbosity),
     .becomes = VERBOSE},
    {GROUP_MESSAGES, 'h', "help", VALUE_NONE, "",
     .help = "print this help and exit; -h prints one screen",
     .brief = "print this screen; --help prints all options", .set = set_help},
    {GROUP_MESSAGES, 'V', "version", VALUE_NONE, "", .help = "print version information and exit",
     .to = IN_OPTIONS(action), .becomes = ACTION_VERSION},
};

const struct option_table option_table = {rows, sizeof rows / sizeof rows[0]};

_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_MAX, "too many options");

const struct option_row *option_of_letter(char letter)
{
    for (size_t i = 0; letter && i < option_table.count; i++)
        if (rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

/* --- what a row sets --- */

/* Reads a value to the member that the row names. */
static int set_member(const struct option_row *row, struct draft *draft, const char *value,
                      struct error *error)
{
    char *to = row->to.of == SETS_DRAFT ? (char *)draft : (char *)draft->options;
    to += row->to.offset;
    if (row->to.of == SETS_NOTHING)
        return 0;
    if (row->max > 0)
        return parse_count(value, row->max, (unsigned *)(void *)to, error);
    if (row->sizes.text)
        return parse_size(value, &row->sizes, (uint64_t *)(void *)to, error);
    if (value && row->words[0]) {
        const int choice = parse_word(value, row->words, error);
        *(unsigned *)(void *)to = (unsigned)choice;
        return choice < 0 ? OPTIONS_WRONG : 0;
    }
    if (value)
        *(const char **)(void *)to = value;
    else if (row->becomes > 0)
        *(unsigned *)(void *)to = row->becomes;
    else
        *(bool *)to = true;
    return 0;
}

int option_set(const struct option_row *row, struct draft *draft, const char *value,
               struct error *error)
{
    const struct mode *mode = option_mode(row);
    char name[TYPED_SHOWN];
    draft->mode = mode ? mode : draft->mode;
    if ((row->set ? row->set(draft, value, error) : set_member(row, draft, value, error)) == 0)
        return 0;
    snprintf(name, sizeof name, "--%s", row->name);
    return option_refuse_value(name, value, error);
}

/* --- help --- */

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

void options_write_help(struct writer *out, bool is_brief)
{
    writer_format(out, "%s%s", help_begin, is_brief ? "\n" : "");
    for (size_t i = 0; i < option_table.count; i++) {
        const struct option_row *row = &rows[i];
        if (!is_brief && (i == 0 || row->group != row[-1].group))
            writer_format(out, "\n%s\n", headings[row->group]);
        if (!is_brief || row->brief)
            write_option(out, row, is_brief ? row->brief : row->help);
    }
    writer_text(out, is_brief ? brief_end : help_end);
}

/* SPDX-License-Identifier: MIT */
/* Messages on standard error, and hints at what was probably meant: by a word of the command line,
 * or by the bins of a table. */
#include "cli.h"
#include "option.h"

#include "src/base/error.h"
#include "src/report/report.h"
#include "src/tally/coarsen.h"
#include "src/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048 /* twice an error, so that nothing of one is left out */
#define NAME_COMPARED 32    /* bytes: longer names are no option's */
#define HINT_BINS 20        /* that people take in at a glance */

void diag(const char *format, ...)
{
    int saved = errno;
    char line[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Text of others, such as a driver's, stays on one line and cannot control a terminal. */
    show_text(line, strlen(line), shown, sizeof shown);
    /* Standard error is unbuffered, but glibc still collects one fprintf into one write. */
    fprintf(stderr, "gpuhisto: %s\n", shown);
    errno = saved;
}

/* --- options that there are not --- */

/* True if the len bytes at name begin an option's name; if `exact`, if they are all of it. */
static bool is_named(const struct option_row *row, const char *name, size_t len, bool exact)
{
    return strncmp(row->name, name, len) == 0 && (!exact || row->name[len] == '\0');
}

/* Lists the options that begin with the len bytes at name, or the one with just that name, as in
 * "--decompress or --device". Returns how many there are. */
static unsigned list_matches(const char *name, size_t len, char *list, size_t capacity)
{
    unsigned matches = 0, listed = 0;
    size_t used = 0;
    bool exact = false;
    list[0] = '\0';
    for (size_t i = 0; i < option_table.count; i++) {
        matches += is_named(&option_table.rows[i], name, len, false);
        exact |= is_named(&option_table.rows[i], name, len, true);
    }
    if (exact)
        matches = 1;
    for (size_t i = 0; i < option_table.count && used < capacity; i++) {
        if (!is_named(&option_table.rows[i], name, len, exact))
            continue;
        const char *before = listed == 0 ? "" : listed + 1 == matches ? " or " : ", ";
        used += (size_t)snprintf(list + used, capacity - used, "%s--%s", before,
                                 option_table.rows[i].name);
        listed++;
    }
    return matches;
}

/* Returns how many letters have to be inserted, deleted, exchanged or swapped with the next one to
 * make name[0..len) of other: the optimal string alignment distance. Names are short. */
static unsigned name_distance(const char *name, size_t len, const char *other)
{
    unsigned rows[3][NAME_COMPARED + 1];
    const size_t other_len = strlen(other);
    if (len > NAME_COMPARED || other_len > NAME_COMPARED)
        return NAME_COMPARED;
    for (size_t i = 0; i <= len; i++) {
        unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other_len; j++) {
            if (i == 0) {
                row[j] = (unsigned)j;
                continue;
            }
            const unsigned exchanged = last[j - 1] + (name[i - 1] != other[j - 1]);
            const unsigned moved = (last[j] < row[j - 1] ? last[j] : row[j - 1]) + 1;
            row[j] = exchanged < moved ? exchanged : moved;
            if (i > 1 && j > 1 && name[i - 1] == other[j - 2] && name[i - 2] == other[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return rows[len % 3][other_len];
}

/* Returns the option that name[0..len) was probably meant to be, or NULL: its name differs in one
 * letter, or of a longer name in two. */
static const struct option_row *find_nearest(const char *name, size_t len)
{
    const struct option_row *nearest = NULL;
    unsigned min = len < 5 ? 2 : 3;
    for (size_t i = 0; i < option_table.count; i++) {
        const unsigned distance = name_distance(name, len, option_table.rows[i].name);
        if (distance < min && distance < len) {
            nearest = &option_table.rows[i];
            min = distance;
        }
    }
    return nearest;
}

/* Says that there is no such option, and which one was probably meant by name, which may end with
 * '=' and a value. */
static int refuse_unknown(const char *typed, const char *name, const struct option_row *meant,
                          struct error *error)
{
    char value[ERROR_SUBJECT_MAX];
    error_show_subject(name + strcspn(name, "="), value);
    if (meant)
        return error_of(error, typed, "no such option; did you mean --%s%s?", meant->name, value);
    return error_of(error, typed, "no such option; try 'gpuhisto --help'");
}

/* Returns the long option that a word of letters is when it gets another dash, as in -by=1, or
 * NULL. */
static const struct option_row *find_dashless(const char *word)
{
    const size_t len = *word == '-' ? strcspn(word + 1, "=") : 0;
    return len > 1 ? option_find(&option_table, word + 1, len) : NULL;
}

int hint_unknown(const char *word, char letter, struct error *error)
{
    const struct option_row *meant = find_dashless(word);
    const char typed[] = {'-', letter, '\0'}, *name = word + 2;
    char list[512];
    if (strncmp(word, "--", 2) != 0)
        return refuse_unknown(meant ? word : typed, word + 1, meant, error);
    const size_t len = strcspn(name, "=");
    const unsigned matches = list_matches(name, len, list, sizeof list);
    if (matches == 0)
        return refuse_unknown(word, name, find_nearest(name, len), error);
    if (matches == 1)
        return error_of(error, word, "%s takes no argument", list);
    return error_of(error, word, "ambiguous; could be %s", list);
}

void hint_letters(const struct option_row *row, const char *word, const char *value,
                  struct error *error)
{
    const struct option_row *meant = find_dashless(word);
    const int before = value ? (int)(strlen(word) - strlen(value)) - 1 : 0;
    /* A value in the same word as its option, as in "-lf", may consist of letters of other options,
     * which were meant to come first. */
    bool is_misordered = row->takes == VALUE_OPTIONAL && value;
    for (const char *at = value; is_misordered && *at; at++) {
        const struct option_row *other = option_of_letter(*at);
        is_misordered = other && other->takes == VALUE_NONE;
    }
    if (is_misordered)
        error_of(error, word, "'%s' is not a %s of -%c; did you mean %.*s%s%c?", value, row->value,
                 row->letter, before, word, value, row->letter);
    else if (meant)
        refuse_unknown(word, word + 1, meant, error);
}

/* --- a value that was typed as a file --- */

bool hint_is_value(const char *word)
{
    const char *end = word + strspn(word, "0123456789.,");
    const bool is_size = end > word && end[0] != '\0' && strchr("KMG", end[0]) && end[1] == '\0';
    return *end == '\0' || is_size || value_type_find(word);
}

bool hint_misplaced(const struct misplaced *misplaced)
{
    struct error error;
    if (!misplaced->option || access(misplaced->word, F_OK) == 0)
        return false;
    error_of(&error, misplaced->word, "%s; did you mean --%s=%s?", strerror(errno),
             misplaced->option, misplaced->word);
    diag("%s", error.text);
    return true;
}

/* --- ranges --- */

/* Names a range of so many bins that separates values which were counted in the same bin. */
static void hint_range(const struct options *options, const struct histogram_spec *spec,
                       const struct tally *tally, unsigned bins)
{
    const bool is_given = options->report.bins.max > 0;
    const char *how = options->action != ACTION_COUNT ? "count again with " : "use ";
    struct seen_range range;
    char min[SHOW_NUMBER], max[SHOW_NUMBER];
    if (!coarsen_range(spec, tally, bins, &range))
        return;
    show_double(range.min, min);
    show_double(range.max, max);
    if (is_given)
        diag("--bins=%u: for narrower bins, %s--min=%s --max=%s%s", bins, how, min, max,
             options->report.bins.keep ? " instead of --digits" : "");
    else
        diag("for narrower bins, use --bins=%u --min=%s --max=%s", bins, min, max);
}

/* Names what tells numbers apart that fill only a few bins of three digits. */
static void hint_digits(const struct options *options, const struct histogram_spec *spec,
                        const struct tally *tally)
{
    const unsigned digits = coarsen_digits(spec, tally, HINT_BINS);
    if (digits > 0)
        diag("to tell whole numbers apart, use --digits=%u", digits);
    else if (coarsen_is_close(spec, tally))
        hint_range(options, spec, tally, HINT_BINS);
}

/* Warns if more than nine tenths of whole values are outside of bins that begin with 0. */
static void warn_of_own_bins(unsigned bins, const struct histogram_spec *spec,
                             const struct tally *tally)
{
    const struct totals totals = rows_add_up(spec, tally);
    const uint64_t outside = totals.samples - totals.of[ROW_KIND_BIN];
    const unsigned bits = 8 * (unsigned)spec->type.size;
    const bool is_signed = spec->type.kind == 'i';
    if (outside <= totals.samples - totals.samples / 10)
        return;
    if (bits > 16)
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64
             " values are not from 0 to %u; use --min and --max (--stats prints the range)",
             bins, outside, totals.samples, bins - 1);
    else
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64
             " values are not from 0 to %u; to cover all of them, use --min=%ld --max=%ld",
             bins, outside, totals.samples, bins - 1, is_signed ? -(1L << (bits - 1)) : 0,
             1L << (is_signed ? bits - 1 : bits));
}

void hint_ranges(const struct options *options, const struct histogram_spec *spec,
                 const struct tally *tally)
{
    if (options->verbosity < NORMAL)
        return;
    const struct report_options *report = &options->report;
    /* Rows of as many digits as nobody asked for are shown. */
    const bool has_default_bins = options->action == ACTION_COUNT && spec->binning.digits.scales &&
                                  !report->bins.keep && report->bins.log_parts == 0 &&
                                  !(report->stats && report->format->separator);
    if (report->bins.max > 0)
        hint_range(options, spec, tally, report->bins.max);
    else if (has_default_bins && !options->each && !options->pool.keys)
        hint_digits(options, spec, tally);
    if (report->bins.own > 0)
        warn_of_own_bins(report->bins.own, spec, tally);
}

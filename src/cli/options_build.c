/* SPDX-License-Identifier: MIT */
/* The options of a table in JSON, read again. */
#include "option.h"

#include <stdlib.h>
#include <string.h>

static const char not_written[] = "\"options\" are not what gpuhisto writes";

/* Returns the list that an option of a table belongs to; NULL: no table has such an option. */
static struct words *list_of(struct table_words *sorted, const char *word)
{
    const size_t len = strcspn(word, "=");
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (strlen(row->name) + 2 != len || strncmp(row->name, word + 2, len - 2) != 0)
            continue;
        switch (row->group) {
        case GROUP_MODE:
        case GROUP_BINS:
            return &sorted->bins;
        case GROUP_NUMBERS:
        case GROUP_INPUT:
            return &sorted->sources;
        default:
            return NULL;
        }
    }
    return NULL;
}

int options_sort(const struct words *words, struct table_words *sorted, struct error *error)
{
    bool has_keys = false; /* which mean what all options say of them */
    *sorted = (struct table_words){.bins.list = NULL};
    for (size_t i = 0; i < words->count; i++)
        has_keys |= strncmp(words->list[i], "--by=", strlen("--by=")) == 0;
    for (size_t i = 0; i < words->count; i++) {
        struct words *list = list_of(sorted, words->list[i]);
        list = list && has_keys ? &sorted->bins : list;
        if (list && words_add(list, words->list[i], strlen(words->list[i])) == 0)
            continue;
        error_set(error, "%s", list ? "out of memory" : not_written);
        table_words_free(sorted);
        return -1;
    }
    return 0;
}

/* Parses words as a command line, which refers to *typed. 0, or -1 with an error and nothing to
 * free.
 */
static int parse_words(const struct words *words, struct words *typed, struct options *options,
                       struct error *error)
{
    static char name[] = "gpuhisto", end[] = "--";
    char **argv = calloc(words->count + 3, sizeof *argv);
    int rc = argv ? words_copy(typed, words) : -1;
    for (size_t i = 0; i < words->count && rc == 0; i++)
        words_unescape(argv[1 + i] = typed->list[i]);
    if (rc != 0) {
        error_set(error, "out of memory");
    } else {
        argv[0] = name;
        argv[1 + words->count] = end;
        rc = options_parse((int)words->count + 2, argv, options, error);
    }
    free(argv);
    if (rc != 0)
        words_free(typed);
    return rc == 0 ? 0 : -1;
}

/* Gives a histogram the bins that its tables show, if these are not the bins that are counted. 0,
 * or -1 with an error and nothing to free. */
static int build_shown(struct histogram_spec *spec, const struct report_options *report,
                       struct error *error)
{
    const unsigned channels = histogram_spec_channels(spec);
    if (report->bins.log_parts == 0)
        return 0;
    binning_free(&spec->binning);
    if (binning_decades(&spec->binning, report->bins.log_parts) != BINNING_OK)
        return error_set(error, "out of memory");
    spec->bins = ROWS(&spec->binning) * channels;
    return 0;
}

int options_build_keys(const struct words *words, struct options *options, struct error *error)
{
    struct words typed = {.list = NULL};
    struct options read;
    if (parse_words(words, &typed, &read, error) != 0)
        return -1;
    for (unsigned i = 0; i < read.spec.lines.key_count; i++)
        options->spec.lines.keys[i].field.number = read.spec.lines.keys[i].field.number;
    memcpy(options->by_fields, read.by_fields, sizeof options->by_fields);
    words_free(&typed);
    options_free(&read);
    return 0;
}

int options_build(const struct words *words, struct histogram_spec *spec, struct error *error)
{
    struct words typed = {.list = NULL};
    struct options options;
    if (parse_words(words, &typed, &options, error) != 0)
        return -1;
    const bool counts = options.action == ACTION_COUNT;
    const bool is_written = counts && words_same(words, &options.words);
    words_free(&typed); /* the options refer to it */
    if (is_written && options.report.bins.max == 0) {
        *spec = options.spec;
        /* It refers to what is freed, and only counting needs it. */
        spec->lines.field = (struct field){.kind = FIELD_NONE};
        for (unsigned i = 0; i < KEY_FIELDS_MAX; i++)
            spec->lines.keys[i].field = (struct field){.kind = FIELD_NONE};
        spec->lines.filter = (struct line_filter){.count = 0};
        words_free(&options.words);
        return build_shown(spec, &options.report, error);
    }
    error_set(error, "%s",
              is_written
                  ? "was counted with --bins but without --min and --max, so its bins fit only "
                    "its own numbers; count without --bins, and give --bins to --merge"
                  : not_written);
    if (counts)
        options_free(&options);
    return -1;
}

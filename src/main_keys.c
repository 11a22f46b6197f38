/* SPDX-License-Identifier: MIT */
#include "main.h"

#include "src/base/system.h"
#include "src/cli/diag.h"
#include "src/report/report.h"
#include "src/tally/key_tallies.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t main_max_key_bytes(unsigned max_keys)
{
    const uint64_t min = UINT64_C(1) << 30, max = (uint64_t)max_keys << 10;
    return max > min ? max : min;
}

unsigned main_threads_of(const struct options *options)
{
    return options->pool.threads > 0 ? options->pool.threads
                                     : system_limits_processors(sched_getaffinity);
}

size_t main_shown_keys(const struct options *options, bool is_sequence)
{
    const struct report_options *report = &options->report;
    const bool is_cut = report->format->is_picture && report->empty != EMPTY_SHOWN;
    return options->top > 0 ? options->top : is_cut && !is_sequence ? PICTURE_ROWS : SIZE_MAX;
}

/* Sorts keys as --sort says, and sets *top to how many are shown. Numbers and times that a heat map
 * has in their order are all shown, unless --top picks some. 0, or -1 if memory is short. */
static int sort_as_asked(const struct options *options, struct key_tallies *keys, size_t *top)
{
    const struct report_options *report = &options->report;
    const bool skip_invalid = options->pool.invalid == INVALID_SKIP;
    const struct group_columns columns = {.spec = &options->spec,
                                          .has_numbers = options->spec.mode->is_binned &&
                                                         (report->stats || skip_invalid),
                                          .quantile_count = report->quantile_count,
                                          .quantiles = report->quantiles};
    const bool is_by_name = strcmp(report->order.column, GROUP_ORDER_KEY) == 0;
    const bool is_by_count = strcmp(report->order.column, GROUP_ORDER_COUNT) == 0;
    const enum key_order by_count = columns.has_numbers ? KEYS_BY_VALID : KEYS_BY_COUNT;
    const bool is_reversed = report->order.is_reversed;
    size_t *list = NULL;
    if (key_tallies_sort(keys, is_by_count && !is_reversed ? by_count : KEYS_BY_NAME,
                         main_threads_of(options)) != 0)
        return -1;
    *top = main_shown_keys(options, is_by_name && options->spec.mode->is_binned &&
                                        report->format->heat && key_tallies_are_sequence(keys));
    if ((is_by_name || is_by_count) && !is_reversed)
        return 0;
    struct groups groups = groups_of_keys(keys, SIZE_MAX, NULL, skip_invalid);
    groups.threads = main_threads_of(options);
    const int rc = group_order_list(&report->order, &columns, &groups, &list) == 0
                       ? key_tallies_reorder(keys, list)
                       : -1;
    free(list);
    return rc;
}

/* Sorts keys: by name, or if not all are shown by their samples. In a heat map, numbers and times
 * are all shown, unless --top picks some, and always in their order. Sets *top to how many are
 * shown. 0, or -1 if memory is short. */
static int sort_keys(const struct options *options, struct key_tallies *keys, size_t *top)
{
    const struct report_options *report = &options->report;
    const unsigned threads = main_threads_of(options);
    const bool is_heat = report->format->heat && options->spec.mode->is_binned;
    if ((options->top == 0 || is_heat) && key_tallies_sort(keys, KEYS_BY_NAME, threads) != 0)
        return -1;
    const bool is_sequence = is_heat && key_tallies_are_sequence(keys);
    *top = main_shown_keys(options, is_sequence);
    if (options->top == 0 && key_tallies_count(keys) <= *top)
        return 0;
    if (key_tallies_sort(keys,
                         options->pool.invalid == INVALID_SKIP ? KEYS_BY_VALID : KEYS_BY_COUNT,
                         threads) != 0)
        return -1;
    if (is_sequence)
        key_tallies_sort_top(keys, *top);
    return 0;
}

void main_name_columns(const struct options *options, char text[MAIN_COLUMNS_SIZE])
{
    const struct histogram_spec *spec = &options->spec;
    for (unsigned i = 0; i < spec->lines.key_count; i++) {
        const char *by = options->by_fields[i];
        if (i > 0)
            *text++ = GROUP_SEPARATOR;
        if (spec->lines.keys[i].field.number == 0)
            text += name_text((const unsigned char *)by, strlen(by), false, text);
        else if (spec->lines.key_count > 1)
            text += sprintf(text, "key%u", i + 1);
        else
            text = stpcpy(text, "key");
    }
}

/* Writes the tables of keys that were joined. 0, or -1 if memory is short. */
static int write_keys(struct writer *out, const struct options *options, struct key_tallies *keys,
                      bool follow, struct tally *tally)
{
    char columns[MAIN_COLUMNS_SIZE];
    const bool skip_invalid = options->pool.invalid == INVALID_SKIP;
    size_t top;
    main_name_columns(options, columns);
    if ((options->report.order.column ? sort_as_asked : sort_keys)(options, keys, &top) != 0)
        return -1;
    struct groups groups = groups_of_keys(keys, top, columns, skip_invalid);
    groups.threads = main_threads_of(options);
    groups.is_ordered = options->report.order.column != NULL;
    report_write_gap(out, &options->report, follow);
    report_write_groups(out, &options->report, &options->spec, &groups, tally);
    key_tallies_thaw(keys);
    return 0;
}

int main_join_times(const struct options *options, struct key_tallies *keys, bool are_fine,
                    struct tally *tally, struct key_tallies **joined, bool *said_utc,
                    struct error *error)
{
    if (key_tallies_sort(keys, KEYS_BY_NAME, main_threads_of(options)) != 0)
        return error_set(error, "out of memory");
    switch (key_times_join(keys, &options->spec, are_fine, tally, joined)) {
    case KEY_TIMES_NO_MEMORY:
        return error_set(error, "out of memory");
    case KEY_TIMES_COARSE:
        return error_set(error, "the tables have times of several offsets from UTC, whose buckets "
                                "overlap; count all files in one run, or as shares (--part)");
    case KEY_TIMES_IN_UTC:
        if (!*said_utc && options->verbosity >= NORMAL)
            diag("times have several offsets from UTC, so their buckets are in UTC");
        *said_utc = true;
        break;
    case KEY_TIMES_SAME:
    case KEY_TIMES_JOINED:
        break;
    }
    return 0;
}

int main_write_keys(struct writer *out, const struct options *options, bool follow,
                    struct tally *tally, bool *said_utc, struct error *error)
{
    const struct shard_record *shard = options->report.shard;
    struct key_tallies *keys = options->pool.keys, *joined = NULL;
    const bool is_part =
        shard && !shard_record_is_complete(shard) && options->report.format->is_read_back;
    if (key_times_are_used(&options->spec) && !is_part) {
        const bool are_fine = options->action == ACTION_COUNT || shard;
        const int rc = main_join_times(options, keys, are_fine, tally, &joined, said_utc, error);
        if (rc != 0)
            return rc;
    }
    if (joined)
        key_tallies_thaw(keys);
    const int rc = write_keys(out, options, joined ? joined : keys, follow, tally);
    key_tallies_close(joined);
    return rc == 0 ? 0 : error_set(error, "out of memory");
}

/* SPDX-License-Identifier: MIT */
/* A table from its counts on: its rows and statistics, and those of each group. */
#include "format.h"
#include "writer.h"

#include "src/base/system.h"
#include "src/tally/file_tallies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct format *const formats[] = {
    &format_tsv, &format_csv, &format_json, &format_plot, &format_prometheus, &format_pgm, NULL,
};

_Static_assert(sizeof formats / sizeof formats[0] <= FORMATS_MAX, "too many formats");

static struct table table_of(struct writer *out, const struct report_options *options)
{
    return (struct table){.out = out, .options = options, .format = options->format};
}

static void write_last_line(struct writer *out, const struct report_options *options)
{
    if (options->format->last_line)
        writer_text(out, options->format->last_line);
}

/* --- statistics --- */

/* Writes the statistics of the table's channel, or of all samples. `is_row`: as a row, below a
 * header if `is_first`. */
static void write_own_statistics(struct table *table, bool is_row, bool is_first)
{
    struct statistics statistics;
    report_find_statistics(table->options, table->counted.spec, table->counted.tally, &statistics);
    if (is_row)
        table->format->statistics_row(table, &statistics, is_first);
    else
        table->format->statistics(table, &statistics);
}

/* Writes the statistics of each channel in turn. */
static void write_statistics(struct table *table, bool is_row, bool is_first)
{
    const struct counts all = table->counted;
    const unsigned channels = histogram_spec_channels(all.spec);
    if (channels == 1) {
        write_own_statistics(table, is_row, is_first);
        return;
    }
    const struct histogram_spec spec = histogram_spec_of_channel(all.spec);
    for (unsigned channel = 0; channel < channels && !table->out->error; channel++) {
        const struct tally tally = tally_of_channel(all.tally, channel);
        table->counted = (struct counts){&spec, &tally};
        table->channel = channel + 1;
        write_own_statistics(table, is_row, is_first && channel == 0);
    }
    table->counted = all;
}

/* --- a table --- */

/* Returns how many rows of a picture fit on the screen, besides all else that is shown of each
 * channel and the line of the cursor; at least two. 0: any number. */
static size_t rows_that_fit(const struct table *table)
{
    const struct report_options *options = table->options;
    const struct counts *counted = &table->counted;
    const unsigned channels = histogram_spec_channels(counted->spec);
    const size_t lines = options->terminal.lines / channels;
    const size_t header = options->header ? 1 : 0;
    size_t others = header + (channels > 1 ? 2 : 0);
    struct statistics statistics;
    if (!table->format->is_picture || options->terminal.lines == 0)
        return 0;
    if (options->stats) {
        const struct histogram_spec spec = histogram_spec_of_channel(counted->spec);
        const struct tally tally =
            channels > 1 ? tally_of_channel(counted->tally, 0) : *counted->tally;
        report_find_statistics(options, &spec, &tally, &statistics);
        others += statistics.count + 1 + header;
    }
    return lines > others + 2 ? lines - others : 2;
}

/* Returns how many bins a picture may have, so that with the rows below, above and invalid it has
 * no more than `max` rows; 0: any number. */
static size_t bins_that_fit(size_t max, const struct counts *counted)
{
    const struct totals totals = rows_add_up(counted->spec, counted->tally);
    size_t others = 0;
    for (unsigned kind = 0; kind < ROW_KINDS; kind++)
        others += kind != ROW_KIND_BIN && totals.of[kind] > 0;
    if (max == 0 || max >= PICTURE_ROWS + others)
        return PICTURE_ROWS;
    return max > others ? max - others : 1;
}

/* Shows wider bins than those that were counted: bins that are asked for, or fewer in a picture of
 * more than PICTURE_ROWS rows, or of more than `max`. False, and nothing to free: the rows that
 * were counted are shown. If memory is short that is an error of the writer, as the table would be
 * another one. */
static bool widen_bins(struct table *table, size_t max, struct coarse_rows *rows)
{
    const struct counts *counted = &table->counted;
    const bool is_picture = table->format->is_picture;
    const struct picture_bins picture = {is_picture ? bins_that_fit(max, counted) : 0, DECADE_PARTS,
                                         PICTURE_CROWDED};
    const enum coarsen_outcome outcome =
        report_widen(table->options, counted, is_picture ? &picture : NULL, rows);
    if (outcome == COARSEN_NO_MEMORY && !table->out->error)
        table->out->error = ENOMEM;
    table_show(table,
               outcome == COARSEN_DONE ? (struct counts){&rows->spec, &rows->tally} : *counted);
    return outcome == COARSEN_DONE;
}

static void write_content(struct table *table)
{
    const bool stats = table->options->stats, is_delimited = table->format->separator;
    if (!stats || !is_delimited) {
        table_add_up(table);
        table_write_rows(table);
    }
    if (stats)
        write_statistics(table, is_delimited && histogram_spec_channels(table->counted.spec) > 1,
                         true);
    if (table->format->end)
        table->format->end(table);
}

/* Writes a picture of each channel. */
static void write_pictures(struct table *table)
{
    const struct counts shown = table->shown, counted = table->counted;
    const struct histogram_spec shown_spec = histogram_spec_of_channel(shown.spec);
    const struct histogram_spec counted_spec = histogram_spec_of_channel(counted.spec);
    for (unsigned channel = 0; channel < histogram_spec_channels(shown.spec); channel++) {
        const struct tally shown_tally = tally_of_channel(shown.tally, channel);
        const struct tally counted_tally = tally_of_channel(counted.tally, channel);
        table_show(table, (struct counts){&shown_spec, &shown_tally});
        table->counted = (struct counts){&counted_spec, &counted_tally};
        table->channel = channel + 1;
        write_content(table);
        table->tables++;
    }
}

/* Writes all of a table whose rows are chosen; `max` fit on the screen. */
static void write_chosen(struct table *table, size_t max)
{
    table->max = table->options->terminal.is_replaced ? max : 0;
    table->label = table->mode->columns[0];
    if (table->format->is_picture && histogram_spec_channels(table->counted.spec) > 1)
        write_pictures(table);
    else
        write_content(table);
}

/* Writes all of a table, of which the counts are set. */
static void write_table(struct table *table)
{
    const size_t max = rows_that_fit(table);
    struct coarse_rows rows;
    const bool is_wider = widen_bins(table, max, &rows);
    write_chosen(table, max);
    if (is_wider)
        coarse_rows_free(&rows);
}

void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram_spec *spec, const struct tally *tally)
{
    struct table table = table_of(out, options);
    table.counted = (struct counts){spec, tally};
    write_table(&table);
    write_last_line(out, options);
}

/* --- a result for each group --- */

/* The group that is being written. */
struct group_report {
    const struct groups *groups;
    const struct histogram_spec *spec;
    struct tally *tally;
    char *name;               /* as printable text, `room` bytes */
    size_t capacity;          /* for the longest one */
    char offset[SHOW_NUMBER]; /* of a block */
};

/* Loads the name and the counts of a group into the report, and sets the table to them. */
static void load_group(struct group_report *report, struct table *table, size_t group)
{
    const struct groups *groups = report->groups;
    groups_load(groups, group, report->spec, report->tally);
    if (groups->columns[GROUP_NAME]) {
        groups_show_name(groups, group, report->name);
        table->group[GROUP_NAME] = report->name;
    }
    if (groups->columns[GROUP_OFFSET]) {
        show_unsigned(file_tallies_position(groups->files->tallies, group).offset, report->offset);
        table->group[GROUP_OFFSET] = report->offset;
    }
    table->group_index = group;
    table->counted = (struct counts){report->spec, report->tally};
}

/* Writes the groups from `begin` to before `end`. */
static void write_some_groups(struct group_report *report, struct table table, size_t begin,
                              size_t end)
{
    const bool is_delimited = table.format->separator;
    const struct table empty = table;
    struct coarse_rows rows;
    for (size_t group = begin; group < end && !table.out->error; group++) {
        if (!is_delimited)
            table = empty;
        table.tables = group;
        load_group(report, &table, group);
        if (!is_delimited) {
            write_table(&table);
        } else if (table.options->stats) {
            write_statistics(&table, true, group == 0);
        } else {
            const bool is_wider = widen_bins(&table, 0, &rows);
            table_add_up(&table);
            table_each_row(&table, table.format->row);
            if (is_wider)
                coarse_rows_free(&rows);
        }
    }
}

/* Groups that a thread writes at a time: few enough that their text takes little memory. */
#define GROUPS_AT_ONCE ((size_t)2048)

/* Groups that a thread writes to memory, and what it needs for that. */
struct group_part {
    struct group_report report;
    struct table table;
    struct group_tally memory;
    struct writer out;
    size_t begin, end;
};

static void write_part(void *arg, size_t i)
{
    struct group_part *part = (struct group_part *)arg + i;
    writer_begin(&part->out, -1);
    write_some_groups(&part->report, part->table, part->begin, part->end);
    writer_flush(&part->out);
}

/* Opens a part for a report and its table. 0, or -1: memory is short, and there is nothing to free.
 */
static int open_part(struct group_part *part, const struct group_report *report,
                     const struct table *table)
{
    if (group_tally_open(&part->memory, report->spec) != 0)
        return -1;
    part->report = *report;
    part->report.tally = &part->memory.tally;
    part->table = *table;
    part->table.out = &part->out;
    part->report.name = malloc(report->capacity);
    if (part->report.name)
        return 0;
    tally_close(&part->memory.tally);
    return -1;
}

/* Has parts written side by side, and then one after the other to where they belong. */
static void write_by_parts(struct group_part *parts, size_t count, const struct table *table)
{
    const size_t all = table->groups->count;
    for (size_t begin = 0; begin < all && !table->out->error;) {
        for (size_t i = 0; i < count; i++) {
            parts[i].begin = begin;
            begin = all - begin > GROUPS_AT_ONCE ? begin + GROUPS_AT_ONCE : all;
            parts[i].end = begin;
        }
        parallel_loop((unsigned)count, count, write_part, parts);
        for (size_t i = 0; i < count && !table->out->error; i++) {
            writer_bytes(table->out, parts[i].out.kept, parts[i].out.kept_len);
            if (!table->out->error)
                table->out->error = parts[i].out.error;
        }
    }
}

/* Has several threads write groups that are many. False if not, or memory is short for that. */
static bool write_together(const struct group_report *report, const struct table *table)
{
    const struct groups *groups = report->groups;
    const size_t max = groups->count / GROUPS_AT_ONCE;
    const size_t threads = groups->threads < max ? groups->threads : max;
    if (!table->format->separator || !groups->keys || threads < 2)
        return false;
    struct group_part *parts = calloc(threads, sizeof *parts);
    size_t opened = 0;
    while (parts && opened < threads && open_part(&parts[opened], report, table) == 0)
        opened++;
    if (opened >= 2)
        write_by_parts(parts, opened, table);
    for (size_t i = 0; i < opened; i++) {
        free(parts[i].out.kept);
        tally_close(&parts[i].memory.tally);
        free(parts[i].report.name);
    }
    free(parts);
    return opened >= 2;
}

static void write_groups(struct group_report *report, struct table table)
{
    table.groups = report->groups;
    if (table.format->separator && !table.options->stats) {
        table_show(&table, (struct counts){report->spec, report->tally});
        table.label = table.mode->columns[0];
        table.format->begin(&table);
    }
    if (!write_together(report, &table))
        write_some_groups(report, table, 0, report->groups->count);
}

/* Writes a table of keys: a row for each. */
static void write_group_table(struct group_report *report, struct table *table)
{
    struct groups each = *report->groups;
    struct group_rows shown, counted;
    each.count = each.all;
    each.rest = SIZE_MAX;
    each.missing = SIZE_MAX;
    const bool is_made = group_rows_make(&shown, report->spec, report->groups) == 0;
    if (is_made && group_rows_make(&counted, report->spec, &each) == 0) {
        counted.tally.samples = shown.tally.samples;
        table->names = (struct row_names){report->groups, report->name};
        table_show(table, (struct counts){&shown.spec, &shown.tally});
        table->counted = (struct counts){&counted.spec, &counted.tally};
        write_chosen(table, rows_that_fit(table));
        group_rows_free(&counted);
    } else {
        table->out->error = ENOMEM;
    }
    if (is_made)
        group_rows_free(&shown);
}

/* Makes room in a picture for what stands beside the names of keys: a count, a percentage unless
 * it is a heat map, and a character of a bar or a cell at least. 0, or -1: memory is short. */
static int fit_names(const struct table *table, bool is_heat, struct groups *groups)
{
    const struct screen screen = screen_of(table->out->fd);
    char digits[SHOW_NUMBER];
    uint64_t largest = 0;
    if (!table->format->is_picture || !groups->keys)
        return 0;
    for (size_t group = 0; group < groups->count; group++) {
        const uint64_t samples = groups_samples(groups, group);
        largest = samples > largest ? samples : largest;
    }
    show_unsigned(largest, digits);
    const size_t percent = is_heat ? 0 : strlen("100.00") + PICTURE_GAP;
    const size_t header = table->options->header ? strlen("count") : 0;
    const size_t count = strlen(digits) > header ? strlen(digits) : header;
    return groups_shorten_names(groups, &screen, count + percent + 2 * PICTURE_GAP + 1);
}

void report_write_groups(struct writer *out, const struct report_options *options,
                         const struct histogram_spec *spec, const struct groups *groups,
                         struct tally *tally)
{
    struct table table = table_of(out, options);
    struct groups shown = *groups;
    struct row_blocks blocks;
    struct group_report report = {
        .groups = &shown, .spec = spec, .tally = tally, .capacity = groups_name_capacity(groups)};
    if (groups->keys && groups->count == 0 && spec->mode->is_binned &&
        options->format->is_read_back) { /* all keys, added up, so that there is a table */
        shown.count = 1;
        shown.rest = 0;
    }
    report.name = malloc(report.capacity);
    if (!report.name || fit_names(&table, spec->mode->is_binned, &shown) != 0) {
        out->error = out->error ? out->error : ENOMEM;
        goto end;
    }
    /* With a GPU it has counts of all files. */
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    row_blocks_clear(&blocks, tally->bins);
    tally->blocks = &blocks;
    if (groups->keys && !spec->mode->is_binned)
        write_group_table(&report, &table);
    else if (groups->keys && options->format->heat)
        heat_write(out, options, spec, &(struct row_names){&shown, report.name}, tally);
    else
        write_groups(&report, table);
    write_last_line(out, options);
    tally->blocks = NULL;
end:
    free(shown.gaps);
    free(report.name);
}

#define TERMINAL_CLEAR "\033[H\033[J" /* from the upper left corner on, as ECMA-48 has it */

void report_write_gap(struct writer *out, const struct report_options *options, bool follows)
{
    const bool is_picture = options->format->is_picture, is_delimited = options->format->separator;
    if (options->terminal.in_place && (is_picture || (is_delimited && options->stats)))
        writer_text(out, TERMINAL_CLEAR);
    else if (follows && (is_picture || is_delimited))
        writer_char(out, '\n');
}

/* SPDX-License-Identifier: MIT */
/* One object: totals, and lists of the bins and of quantiles. Samples in no bin are in the totals
 * alone. */
#include "diff.h"
#include "format.h"
#include "json.h"

#include "src/tally/statistics.h"
#include "src/text/number.h"

/* Writes the totals of each channel, if there are several. */
static void write_channels(struct table *table)
{
    struct writer *out = table->out;
    const struct histogram_spec spec = histogram_spec_of_channel(table->shown.spec);
    const unsigned channels = histogram_spec_channels(table->shown.spec);
    for (unsigned channel = 0; channels > 1 && channel < channels; channel++) {
        const struct tally tally = tally_of_channel(table->shown.tally, channel);
        const struct totals totals = rows_add_up(&spec, &tally);
        json_count(out, channel ? ",{\"total\":" : ",\"channels\":[{\"total\":", totals.samples);
        json_outside(out, &totals);
        writer_text(out, channel + 1 < channels ? "}" : "}]");
    }
}

static void write_options(struct table *table)
{
    const struct words *words = table->options->words;
    writer_text(table->out, ",\"options\":[");
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0)
            writer_char(table->out, ',');
        json_string(table->out, words->list[i]);
    }
    writer_char(table->out, ']');
}

/* Writes which file, or block of a file, the table is of, if it is of one. */
static void write_file(struct table *table)
{
    if (table->group[GROUP_NAME]) {
        writer_char(table->out, ',');
        json_group(table->out, table->groups, table->group_index);
    }
    if (table->group[GROUP_OFFSET])
        json_member(table->out, ",\"offset\":", table->group[GROUP_OFFSET]);
}

/* True for one of the tables of numbers by key, which all together are the result. */
static bool is_of_key(const struct table *table)
{
    return table->groups && table->groups->are_keys;
}

static void json_begin(struct table *table)
{
    struct writer *out = table->out;
    const struct histogram_spec *spec = table->shown.spec;
    const struct mode *mode = spec->mode;
    writer_text(out, "{\"schema\":\"gpuhisto/1\"");
    if (is_of_key(table)) {
        writer_char(out, ',');
        json_group(out, table->groups, table->group_index);
        json_count(out, ",\"table\":", table->group_index + 1);
        json_count(out, ",\"tables\":", table->groups->count);
    } else {
        write_file(table);
    }
    writer_format(out, ",\"mode\":\"%s\"", mode->name);
    if (mode->has_types)
        writer_format(out, ",\"type\":\"%s\"", spec->type.name);
    write_options(table);
    if (table->options->shard && (!is_of_key(table) || table->group_index == 0)) {
        writer_text(out, ",\"share\":");
        shard_record_write(out, table->options->shard);
    }
    writer_char(out, ',');
    json_totals(out, mode, &table->totals);
    if (mode->has_characters || table->names.groups)
        json_count(out, ",\"invalid\":", table->totals.of[ROW_KIND_INVALID]);
    write_channels(table);
    writer_text(out, ",\"bins\":[");
}

static void write_counts(struct table *table, const struct row *row)
{
    const bool is_list = histogram_spec_channels(table->shown.spec) > 1;
    writer_text(table->out, is_list ? ",\"counts\":[" : ",\"count\":");
    format_counts(table, row, ',');
    if (is_list)
        writer_char(table->out, ']');
}

static void json_row(struct table *table, const struct row *row)
{
    struct writer *out = table->out;
    if (row->label.kind != ROW_KIND_BIN)
        return;
    writer_text(out, table->written++ ? ",{" : "{");
    const bool is_named = !table->shown.spec->mode->is_binned;
    if (table->names.groups)
        json_group(out, table->names.groups, row->index);
    else if (is_named)
        writer_format(out, "\"bin\":\"%s\"", row->label.name);
    if (row->label.lo[0]) {
        json_member(out, is_named ? ",\"lo\":" : "\"lo\":", row->label.lo);
        json_member(out, ",\"hi\":", row->label.hi);
    }
    write_counts(table, row);
    if (table->options->percent)
        format_percents(table, row, ",\"share\":", ",\"running\":");
    writer_char(out, '}');
}

/* --- statistics --- */

/* Writes `key`, which ends with the colon, and a double. */
static void write_double(struct writer *out, const char *key, double value)
{
    char text[SHOW_NUMBER];
    show_double(value, text);
    json_member(out, key, text);
}

static void write_quantiles(struct table *table)
{
    struct writer *out = table->out;
    const struct report_options *options = table->options;
    struct quantiles quantiles = quantiles_of(table->counted.spec, table->counted.tally);
    writer_text(out, "\"quantiles\":[");
    for (size_t i = 0; i < options->quantile_count; i++) {
        const struct probability *q = &options->quantiles[i];
        const struct quantile found = quantiles_find(&quantiles, q);
        const struct estimate estimate = quantile_estimate(&found);
        char order[SHOW_DECIMAL(PROBABILITY_DIGITS)];
        show_decimal(q->digits, q->exponent, order);
        json_member(out, i ? ",{\"q\":" : "{\"q\":", order);
        write_double(out, ",\"value\":", estimate.value);
        write_double(out, ",\"error\":", estimate.error);
        json_member(out, ",\"lower\":", found.lower_text);
        json_member(out, ",\"upper\":", found.upper_text);
        writer_char(out, '}');
    }
    writer_text(out, "],");
}

static void write_statistic(struct writer *out, const struct statistic *statistic)
{
    writer_format(out, "\"%s\"", statistic->name);
    if (statistic->upper[0]) {
        json_member(out, ":[", statistic->value);
        json_member(out, ",", statistic->upper);
        writer_char(out, ']');
    } else {
        json_member(out, ":", statistic->value);
        if (statistic->is_population)
            writer_text(out, ",\"ddof\":0");
    }
}

/* Writes what an exact merge of statistics needs. */
static void write_moments(struct table *table)
{
    struct writer *out = table->out;
    const struct moments *moments = table->counted.tally->moments;
    struct moments_text text;
    moments_show(moments, table->counted.spec->binning.is_whole, &text);
    json_member(out, ",\"moments\":{\"least\":", text.least);
    json_member(out, ",\"greatest\":", text.greatest);
    json_count(out, ",\"lowest\":", moments->lowest);
    json_count(out, ",\"highest\":", moments->highest);
    writer_text(out, ",\"sum\":");
    json_string(out, text.sum);
    writer_text(out, ",\"squares\":");
    json_string(out, text.squares);
    writer_text(out, ",\"check\":");
    json_string(out, text.check);
    writer_char(out, '}');
}

static void json_statistics(struct table *table, const struct statistics *statistics)
{
    struct writer *out = table->out;
    if (table->channel <= 1)
        writer_text(out, "],");
    if (table->channel > 0)
        writer_text(out, table->channel == 1 ? "\"channel_stats\":[{" : ",{");
    if (table->counted.spec->has_moments)
        write_quantiles(table);
    writer_text(out, "\"stats\":{");
    for (size_t i = 0; i < statistics->count; i++) {
        writer_text(out, i ? "," : "");
        write_statistic(out, &statistics->list[i]);
    }
    writer_char(out, '}');
    if (table->counted.tally->moments)
        write_moments(table);
    if (table->channel > 0)
        writer_char(out, '}');
}

static void json_end(struct table *table)
{
    const bool is_list_open = !table->options->stats || table->channel > 0;
    writer_text(table->out, is_list_open ? "]}\n" : "}\n");
}

const struct format format_json = {
    .name = "json",
    .is_read_back = true,
    .diff = diff_json,
    .diff_keys = diff_keys_json,
    .begin = json_begin,
    .row = json_row,
    .statistics = json_statistics,
    .end = json_end,
};

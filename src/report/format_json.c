/* SPDX-License-Identifier: MIT */
/* One object: totals, and lists of the bins and of quantiles. What is in no bin is in the totals
 * alone. */
#include "channels.h"
#include "format.h"
#include "json_text.h"
#include "percent.h"

#include "src/count/moments_text.h"
#include "src/count/show_number.h"

/* Writes a member's value. JSON knows no infinity and no NaN: they are strings. */
static void json_number(struct writer *out, const char *text)
{
    bool is_finite = text[0] != 'i' && text[0] != 'n' && (text[0] != '-' || text[1] != 'i');
    if (is_finite) {
        writer_text(out, text);
        return;
    }
    writer_char(out, '"');
    writer_text(out, text);
    writer_char(out, '"');
}

/* Writes `key`, which ends with the colon, and a number. */
static void json_member(struct writer *out, const char *key, const char *text)
{
    writer_text(out, key);
    json_number(out, text);
}

static void json_count(struct writer *out, const char *key, uint64_t count)
{
    writer_text(out, key);
    writer_count(out, count);
}

/* Writes the totals of each channel, if there are several. */
static void json_channels(struct table *table)
{
    struct writer *out = table->out;
    unsigned channels = histogram_channels(table->histogram);
    for (unsigned channel = 0; channels > 1 && channel < channels; channel++) {
        struct totals totals = channel_totals(table, channel);
        json_count(out, channel ? ",{\"total\":" : ",\"channels\":[{\"total\":", totals.samples);
        json_count(out, ",\"below\":", totals.of[ROW_KIND_BELOW]);
        json_count(out, ",\"above\":", totals.of[ROW_KIND_ABOVE]);
        json_count(out, ",\"invalid\":", totals.of[ROW_KIND_INVALID]);
        writer_text(out, channel + 1 < channels ? "}" : "}]");
    }
}

static void json_counts(struct table *table, const struct row *row)
{
    bool is_list = histogram_channels(table->histogram) > 1;
    writer_text(table->out, is_list ? ",\"counts\":[" : ",\"count\":");
    channels_write_counts(table, row, ',');
    if (is_list)
        writer_char(table->out, ']');
}

static void json_options(struct table *table)
{
    const struct words *words = table->words;
    writer_text(table->out, ",\"options\":[");
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0)
            writer_char(table->out, ',');
        json_string(table->out, words->list[i]);
    }
    writer_char(table->out, ']');
}

static void json_begin(struct table *table)
{
    struct writer *out = table->out;
    const struct mode *mode = table->histogram->mode;
    const struct totals *totals = &table->totals;
    writer_text(out, "{\"schema\":\"gpuhisto/1\"");
    if (table->file) {
        writer_text(out, ",\"file\":");
        json_string(out, table->file);
    }
    writer_format(out, ",\"mode\":\"%s\"", mode->name);
    if (mode->has_types)
        writer_format(out, ",\"type\":\"%s\"", table->histogram->type.name);
    json_options(table);
    if (table->shard) {
        writer_text(out, ",\"share\":");
        shard_record_write(out, table->shard);
    }
    json_count(out, ",\"total\":", totals->samples);
    json_count(out, ",\"counted\":", totals->of[ROW_KIND_BIN]);
    json_count(out, ",\"other\":", totals->samples - totals->of[ROW_KIND_BIN]);
    if (mode->is_binned) {
        json_count(out, ",\"below\":", totals->of[ROW_KIND_BELOW]);
        json_count(out, ",\"above\":", totals->of[ROW_KIND_ABOVE]);
        json_count(out, ",\"invalid\":", totals->of[ROW_KIND_INVALID]);
    }
    if (mode->has_characters)
        json_count(out, ",\"invalid\":", totals->of[ROW_KIND_INVALID]);
    json_channels(table);
    writer_text(out, ",\"bins\":[");
}

/* Begins an object of a list. */
static void json_next(struct table *table)
{
    writer_text(table->out, table->written++ ? ",{" : "{");
}

static void json_percents(struct table *table, const struct row *row)
{
    char percent[PERCENT_TEXT], running[PERCENT_TEXT];
    percent_show(row->count, table->totals.samples, PERCENT_DIGITS, percent);
    percent_show(row->running, table->totals.samples, PERCENT_DIGITS, running);
    writer_format(table->out, ",\"share\":%s,\"running\":%s", percent, running);
}

static void json_row(struct table *table, const struct row *row)
{
    struct writer *out = table->out;
    if (row->label.kind != ROW_KIND_BIN)
        return;
    json_next(table);
    const bool is_named = !table->histogram->mode->is_binned;
    if (is_named)
        writer_format(out, "\"bin\":\"%s\"", row->label.name);
    if (row->label.lo[0]) {
        json_member(out, is_named ? ",\"lo\":" : "\"lo\":", row->label.lo);
        json_member(out, ",\"hi\":", row->label.hi);
    }
    json_counts(table, row);
    if (table->percent)
        json_percents(table, row);
    writer_char(out, '}');
}

static void json_begin_quantiles(struct table *table)
{
    writer_text(table->out, table->channel ? "\"quantiles\":[" : "],\"quantiles\":[");
}

/* Writes `key`, which ends with the colon, and a double. */
static void json_double(struct writer *out, const char *key, double value)
{
    char text[SHOW_NUMBER];
    show_double(value, text);
    json_member(out, key, text);
}

static void json_quantile(struct table *table, const struct probability *q,
                          const struct quantile *found)
{
    struct writer *out = table->out;
    char order[SHOW_DECIMAL(PROBABILITY_DIGITS)];
    const struct estimate estimate = quantile_estimate(found);
    json_next(table);
    show_decimal(q->digits, q->exponent, order);
    json_member(out, "\"q\":", order);
    json_double(out, ",\"value\":", estimate.value);
    json_double(out, ",\"error\":", estimate.error);
    json_member(out, ",\"lower\":", found->lower_text);
    json_member(out, ",\"upper\":", found->upper_text);
    writer_char(out, '}');
}

static void json_begin_statistics(struct table *table)
{
    writer_text(table->out, "],\"stats\":{");
    table->has_statistics = true;
}

static void json_statistic(struct table *table, const struct statistic *statistic)
{
    struct writer *out = table->out;
    writer_format(out, "%s\"%s\":", table->written++ ? "," : "", statistic->name);
    if (!statistic->upper[0]) {
        json_number(out, statistic->value);
        if (statistic->is_population)
            writer_text(out, ",\"ddof\":0");
        return;
    }
    json_member(out, "[", statistic->value);
    json_member(out, ",", statistic->upper);
    writer_char(out, ']');
}

/* What an exact merge of statistics needs. */
static void json_moments(struct table *table)
{
    struct writer *out = table->out;
    struct moments_text text;
    moments_show(table->moments, table->histogram->binning.is_whole, &text);
    json_member(out, ",\"moments\":{\"least\":", text.least);
    json_member(out, ",\"greatest\":", text.greatest);
    json_count(out, ",\"lowest\":", table->moments->lowest);
    json_count(out, ",\"highest\":", table->moments->highest);
    writer_text(out, ",\"sum\":");
    json_string(out, text.sum);
    writer_text(out, ",\"squares\":");
    json_string(out, text.squares);
    writer_text(out, ",\"check\":");
    json_string(out, text.check);
    writer_char(out, '}');
}

static void json_begin_channel(struct table *table)
{
    writer_text(table->out, table->channel == 1 ? "],\"channel_stats\":[{" : ",{");
}

static void json_end_channel(struct table *table)
{
    writer_char(table->out, '}');
    json_moments(table);
    writer_char(table->out, '}');
}

static void json_end(struct table *table)
{
    const bool is_of_all = table->channel == 0;
    writer_char(table->out, table->has_statistics && is_of_all ? '}' : ']');
    if (table->moments && is_of_all)
        json_moments(table);
    writer_text(table->out, "}\n");
}

const struct format format_json = {
    .is_apart = true,
    .is_line = true,
    .has_both = true,
    .begin = json_begin,
    .row = json_row,
    .begin_quantiles = json_begin_quantiles,
    .quantile = json_quantile,
    .begin_statistics = json_begin_statistics,
    .statistic = json_statistic,
    .begin_channel = json_begin_channel,
    .end_channel = json_end_channel,
    .end = json_end,
};

/* SPDX-License-Identifier: MIT */
/* One object: totals, and lists of the bins and of quantiles. Samples in no bin are in the totals
 * alone. */
#include "format.h"
#include "writer.h"
#include "src/base/memory.h"

#include "src/tally/characters.h"
#include "src/tally/key_tallies.h"
#include "src/text/number.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- values --- */

/* Writes a byte of a string. */
static void write_byte(struct writer *out, char byte)
{
    if (byte == '"' || byte == '\\')
        writer_char(out, '\\');
    if ((unsigned char)byte < ' ')
        writer_format(out, "\\u%04x", (unsigned)(unsigned char)byte);
    else
        writer_char(out, byte);
}

static void write_string(struct writer *out, const char *text)
{
    writer_char(out, '"');
    for (; *text; text++)
        write_byte(out, *text);
    writer_char(out, '"');
}

/* Writes `key`, which ends with the colon, and a number. JSON knows no infinity and no NaN: these
 * are strings. */
static void write_member(struct writer *out, const char *key, const char *number)
{
    const char first = number[0] == '-' ? number[1] : number[0];
    writer_text(out, key);
    if (first >= '0' && first <= '9')
        writer_text(out, number);
    else
        write_string(out, number);
}

static void json_count(struct writer *out, const char *key, uint64_t count)
{
    writer_text(out, key);
    writer_count(out, count);
}

static void write_outside(struct writer *out, const struct totals *totals)
{
    json_count(out, ",\"below\":", totals->of[ROW_KIND_BELOW]);
    json_count(out, ",\"above\":", totals->of[ROW_KIND_ABOVE]);
    json_count(out, ",\"invalid\":", totals->of[ROW_KIND_INVALID]);
}

static void json_totals(struct writer *out, const struct mode *mode, const struct totals *totals)
{
    json_count(out, "\"total\":", totals->samples);
    json_count(out, ",\"counted\":", totals->of[ROW_KIND_BIN]);
    json_count(out, ",\"other\":", totals->samples - totals->of[ROW_KIND_BIN]);
    if (mode->is_binned)
        write_outside(out, totals);
}

/* Writes the totals of two tables: ,"before":{...},"after":{...}. */
static void write_both_totals(struct table *table)
{
    static const char *const names[SIDES] = {",\"before\":{", ",\"after\":{"};
    const struct diff *diff = table->diff;
    for (unsigned side = 0; side < SIDES; side++) {
        uint64_t samples, invalid;
        writer_text(table->out, names[side]);
        if (diff->tables) {
            key_tallies_add_up(side == BEFORE ? diff->tables->before : diff->tables->after,
                               &samples, &invalid);
            json_count(table->out, "\"total\":", samples);
            json_count(table->out, ",\"invalid\":", invalid);
        } else {
            const struct totals totals = rows_add_up(table->shown.spec, diff->sides[side]);
            json_totals(table->out, table->mode, &totals);
        }
        writer_char(table->out, '}');
    }
}

/* Writes a string of bytes. False if these are not all in it as they are. */
static bool write_text(struct writer *out, const unsigned char *at, size_t len)
{
    bool is_whole = true;
    uint32_t character;
    writer_char(out, '"');
    for (size_t size; len > 0; at += size, len -= size) {
        size = character_decode(at, len, &character);
        is_whole &= character != CHARACTER_INVALID && character != 0;
        if (character == CHARACTER_INVALID)
            writer_text(out, "\ufffd");
        for (size_t i = 0; character != CHARACTER_INVALID && i < size; i++)
            write_byte(out, (char)at[i]);
    }
    writer_char(out, '"');
    return is_whole;
}

/* Writes the bytes of a name, of which the text does not have all as they are. */
static void write_bytes(struct writer *out, const struct groups *groups, size_t group,
                        const char *member)
{
    const bool is_list = groups->parts > 1;
    writer_format(out, is_list ? ",\"%s_bytes\":[" : ",\"%s_bytes\":", member);
    for (unsigned i = 0; i == 0 || i < groups->parts; i++) {
        const struct key_name part = groups_part(groups, group, i);
        writer_text(out, i > 0 ? ",\"" : "\"");
        for (size_t at = 0; at < part.len; at++)
            writer_format(out, "%02x", (unsigned)part.bytes[at]);
        writer_char(out, '"');
    }
    if (is_list)
        writer_char(out, ']');
}

/* Writes the member "key" or "file", the name of a group. It is a string, in which U+FFFD replaces
 * invalid UTF-8, as in jq; or null, for records without a key. A name of several parts is an array
 * of strings. A name that is not UTF-8, or has a 0 in it, is followed by "key_bytes" or
 * "file_bytes", its bytes in hexadecimal, of each part if there are several. For `rest` writes
 * "keys" instead, their number. */
static void write_group(struct writer *out, const struct groups *groups, size_t group)
{
    const char *member = groups->keys ? "key" : "file";
    if (group == groups->rest) {
        json_count(out, "\"keys\":", groups->all - groups->rest);
        return;
    }
    if (group == groups->missing) {
        writer_text(out, "\"key\":null");
        return;
    }
    const bool is_list = groups->parts > 1;
    bool is_whole = true;
    writer_format(out, is_list ? "\"%s\":[" : "\"%s\":", member);
    for (unsigned i = 0; i == 0 || i < groups->parts; i++) {
        const struct key_name part = groups_part(groups, group, i);
        if (i > 0)
            writer_char(out, ',');
        is_whole &= write_text(out, part.bytes, part.len);
    }
    if (is_list)
        writer_char(out, ']');
    if (!is_whole)
        write_bytes(out, groups, group, member);
}

/* --- shards --- */

/* Writes `key`, which ends with the colon, and a list of pairs. */
static void write_ranges(struct writer *out, const char *key, const struct shard_range *ranges,
                         size_t count)
{
    writer_text(out, key);
    for (size_t i = 0; i < count; i++)
        writer_format(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "[", ranges[i].begin,
                      ranges[i].end);
    writer_text(out, count ? "]" : "[]");
}

/* Writes the record as an object. */
static void write_shard(struct writer *out, const struct shard_record *record)
{
    const struct shard_job *job = &record->job;
    writer_format(out, "{\"of\":%" PRIu64, job->of);
    write_ranges(out, ",\"parts\":", record->shards, record->shard_count);
    writer_format(out,
                  ",\"list\":{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"digest\":\"%016" PRIx64
                  "\"},\"files\":[",
                  job->files, job->bytes, job->digest);
    for (size_t i = 0; i < record->file_count; i++) {
        const struct shard_file *file = &record->files[i];
        writer_format(out, "%s{\"index\":%" PRIu64 ",\"name\":", i ? "," : "", file->index);
        write_string(out, file->name);
        writer_format(out, ",\"size\":%" PRIu64 ",\"fingerprint\":\"%016" PRIx64 "\"", file->size,
                      file->fingerprint);
        write_ranges(out, ",\"ranges\":", file->ranges, file->range_count);
        writer_char(out, '}');
    }
    writer_text(out, "]}");
}

void shard_record_free(struct shard_record *record)
{
    for (size_t i = 0; i < record->file_count; i++) {
        free(record->files[i].name);
        free(record->files[i].ranges);
    }
    free(record->files);
    free(record->shards);
    *record = (struct shard_record){0};
}

/* --- tables --- */

/* Writes the totals of each channel, if there are several. */
static void write_channels(struct table *table)
{
    struct writer *out = table->out;
    const unsigned channels = table->channels;
    if (channels <= 1)
        return;
    const struct histogram_spec spec = histogram_spec_of_channel(table->shown.spec);
    for (unsigned channel = 0; channel < channels; channel++) {
        const struct tally tally = tally_of_channel(table->shown.tally, channel);
        const struct totals totals = rows_add_up(&spec, &tally);
        json_count(out, channel ? ",{\"total\":" : ",\"channels\":[{\"total\":", totals.samples);
        write_outside(out, &totals);
        writer_text(out, channel + 1 < channels ? "}" : "}]");
    }
}

/* True for one of the tables of numbers by key, which all together are the result. */
static bool is_of_key(const struct table *table)
{
    return table->groups && table->groups->keys;
}

/* Begins the object that compares two tables. */
static void begin_diff(struct table *table)
{
    writer_format(table->out, "{\"schema\":\"gpuhisto-diff/1\",\"mode\":\"%s\"", table->mode->name);
    if (table->type && !table->names.groups)
        writer_format(table->out, ",\"type\":\"%s\"", table->type);
    write_both_totals(table);
    writer_text(table->out, ",\"bins\":[");
}

static void json_begin(struct table *table)
{
    struct writer *out = table->out;
    const struct mode *mode = table->mode;
    if (table->diff) {
        begin_diff(table);
        return;
    }
    writer_text(out, "{\"schema\":\"gpuhisto/1\"");
    if (is_of_key(table) || table->group[GROUP_NAME]) {
        writer_char(out, ',');
        write_group(out, table->groups, table->group_index);
    }
    if (is_of_key(table)) {
        json_count(out, ",\"table\":", table->group_index + 1);
        json_count(out, ",\"tables\":", table->groups->count);
    } else if (table->group[GROUP_OFFSET]) {
        write_member(out, ",\"offset\":", table->group[GROUP_OFFSET]);
    }
    writer_format(out, ",\"mode\":\"%s\"", mode->name);
    if (table->type)
        writer_format(out, ",\"type\":\"%s\"", table->type);
    const struct words *words = table->options->words;
    writer_text(out, ",\"options\":[");
    for (size_t i = 0; i < words->count; i++) {
        writer_text(out, i > 0 ? "," : "");
        write_string(out, words->list[i]);
    }
    writer_char(out, ']');
    if (table->options->shard && (!is_of_key(table) || table->group_index == 0)) {
        writer_text(out, ",\"share\":");
        write_shard(out, table->options->shard);
    }
    writer_char(out, ',');
    json_totals(out, mode, &table->totals);
    if (mode->has_characters || table->names.groups)
        json_count(out, ",\"invalid\":", table->totals.of[ROW_KIND_INVALID]);
    write_channels(table);
    writer_text(out, ",\"bins\":[");
}

/* Writes the values of a row, of which counts of channels are a list. */
static void write_cells(struct writer *out, const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->list[i];
        const bool is_range = cell->upper && cell->upper[0];
        const bool is_last = i + 1 == cells->count || cells->list[i + 1].name;
        if (cell->name) {
            writer_text(out, ",\"");
            writer_text(out, cell->prefix ? cell->prefix : "");
            writer_text(out, cell->name);
            writer_text(out, is_range ? "\":[" : "\":");
        } else {
            writer_text(out, i == 0 ? ",\"counts\":[" : ",");
        }
        if (cell->text)
            write_member(out, "", cell->text);
        else
            writer_count(out, cell->count);
        if (is_range)
            write_member(out, ",", cell->upper);
        if (is_range || (!cell->name && is_last))
            writer_char(out, ']');
    }
}

static void json_row(struct table *table, const struct row *row)
{
    struct writer *out = table->out;
    const bool is_group = table->names.groups, is_named = !table->mode->is_binned;
    struct cells cells;
    if (row->label.kind != ROW_KIND_BIN && !(table->diff && is_group))
        return;
    table_cells(table, row, &cells);
    writer_text(out, table->written++ ? ",{" : "{");
    if (is_group)
        write_group(out, table->names.groups, row->index);
    else if (is_named)
        writer_format(out, "\"bin\":\"%s\"", row->label.name);
    if (!is_group && (row->label.lo[0] || table->diff)) { /* empty if there are none */
        write_member(out, is_named ? ",\"lo\":" : "\"lo\":", row->label.lo);
        write_member(out, ",\"hi\":", row->label.hi);
    }
    write_cells(out, &cells);
    writer_char(out, '}');
}

/* --- statistics --- */

/* Writes `key`, which ends with the colon, and a double. */
static void write_double(struct writer *out, const char *key, double value)
{
    char text[SHOW_NUMBER];
    show_double(value, text);
    write_member(out, key, text);
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
        write_member(out, i ? ",{\"q\":" : "{\"q\":", order);
        write_double(out, ",\"value\":", estimate.value);
        write_double(out, ",\"error\":", estimate.error);
        write_member(out, ",\"lower\":", found.lower_text);
        write_member(out, ",\"upper\":", found.upper_text);
        writer_char(out, '}');
    }
    writer_text(out, "],");
}

static void write_statistic(struct writer *out, const struct statistic *statistic)
{
    writer_format(out, "\"%s\"", statistic->name);
    if (statistic->upper[0]) {
        write_member(out, ":[", statistic->value);
        write_member(out, ",", statistic->upper);
        writer_char(out, ']');
    } else {
        write_member(out, ":", statistic->value);
        if (statistic->is_population)
            writer_text(out, ",\"ddof\":0");
    }
}

/* Writes what an exact merge of statistics needs. */
static void write_moments(struct writer *out, const struct moments *moments, bool is_whole)
{
    struct moments_text text;
    moments_show(moments, is_whole, &text);
    write_member(out, ",\"moments\":{\"least\":", text.least);
    write_member(out, ",\"greatest\":", text.greatest);
    json_count(out, ",\"lowest\":", moments->lowest);
    json_count(out, ",\"highest\":", moments->highest);
    writer_text(out, ",\"sum\":");
    write_string(out, text.sum);
    writer_text(out, ",\"squares\":");
    write_string(out, text.squares);
    writer_text(out, ",\"check\":");
    write_string(out, text.check);
    writer_char(out, '}');
}

static void json_statistics(struct table *table, const struct statistics *statistics)
{
    struct writer *out = table->out;
    const struct moments *moments = table->counted.tally->moments;
    if (table->channel <= 1)
        writer_text(out, "],");
    if (table->channel > 0)
        writer_text(out, table->channel == 1 ? "\"channel_stats\":[{" : ",{");
    if (moments)
        write_quantiles(table);
    writer_text(out, "\"stats\":{");
    for (size_t i = 0; i < statistics->count; i++) {
        writer_text(out, i ? "," : "");
        write_statistic(out, &statistics->list[i]);
    }
    writer_char(out, '}');
    if (moments)
        write_moments(out, moments, table->counted.spec->binning.is_whole);
    if (table->channel > 0)
        writer_char(out, '}');
}

static void json_end(struct table *table)
{
    const bool is_list_open = table->diff || !table->options->stats || table->channel > 0;
    writer_text(table->out, is_list_open ? "]}\n" : "}\n");
}

const struct format format_json = {
    .name = "json",
    .is_read_back = true,
    .begin = json_begin,
    .row = json_row,
    .statistics = json_statistics,
    .end = json_end,
};

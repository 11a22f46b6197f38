/* SPDX-License-Identifier: MIT */
/* A histogram in the text format of OpenMetrics 1.0, which Prometheus reads: a bucket has the count
 * of all numbers up to its edge. Text that is not a number is left out. */
#include "format.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_DIGITS 6 /* that Go's %g writes without an exponent */

/* --- labels --- */

/* Writes the labels that have the name of the group, which is printable: a key of several parts
 * has one for each. */
static void write_name_labels(struct table *table)
{
    unsigned part = 1;
    if (table->groups->parts > 1)
        writer_text(table->out, "key1=\"");
    else
        writer_text(table->out, table->groups->keys ? "key=\"" : "file=\"");
    for (const char *at = table->group[GROUP_NAME]; *at; at++) {
        if (*at == GROUP_SEPARATOR) {
            writer_format(table->out, "\",key%u=\"", ++part);
            continue;
        }
        if (*at == '"' || *at == '\\')
            writer_char(table->out, '\\');
        writer_char(table->out, *at);
    }
    writer_char(table->out, '"');
}

/* Writes the labels of the group, if there are groups. */
static void write_group(struct table *table)
{
    const char *const name = table->group[GROUP_NAME], *const offset = table->group[GROUP_OFFSET];
    if (name)
        write_name_labels(table);
    if (offset)
        writer_format(table->out, "%soffset=\"%s\"", name ? "," : "", offset);
}

/* Writes an edge as Prometheus does, which is Go's %g: 0.25, 1.0, 1.5e+06. */
static void write_edge(struct writer *out, const char *edge)
{
    const size_t first = edge[0] == '-', digits = strspn(edge + first, "0123456789");
    if (strcmp(edge, "inf") == 0) {
        writer_text(out, "+Inf");
    } else if (digits <= WHOLE_DIGITS || strchr(edge, 'e')) {
        writer_format(out, "%s%s", edge, strpbrk(edge, ".e") ? "" : ".0");
    } else {
        char mantissa[ROW_TEXT];
        size_t len = 0;
        for (const char *at = edge + first; *at; at++)
            if (*at != '.')
                mantissa[len++] = *at;
        while (len > 1 && mantissa[len - 1] == '0')
            len--;
        writer_format(out, "%.*s%c%s%.*se+%02zu", (int)first, edge, mantissa[0], len > 1 ? "." : "",
                      (int)len - 1, mantissa + 1, digits - 1);
    }
}

/* --- lines --- */

/* Begins a line: the name of a sample. */
static void begin_sample(struct table *table, const char *suffix)
{
    writer_format(table->out, "gpuhisto_%s_%s", table->mode->name, suffix);
}

static void prometheus_begin(struct table *table)
{
    if (table->tables == 0)
        writer_format(table->out, "# TYPE gpuhisto_%s histogram\n", table->mode->name);
}

static void prometheus_row(struct table *table, const struct row *row)
{
    if (row->label.kind == ROW_KIND_INVALID)
        return;
    begin_sample(table, "bucket{");
    write_group(table);
    writer_text(table->out, table->groups ? ",le=\"" : "le=\"");
    write_edge(table->out, row->label.hi);
    writer_text(table->out, "\"} ");
    writer_count(table->out, row->running);
    writer_char(table->out, '\n');
}

/* Writes a sample of the whole histogram. */
static void write_sample(struct table *table, const char *suffix, const char *value)
{
    begin_sample(table, suffix);
    if (table->groups) {
        writer_char(table->out, '{');
        write_group(table);
        writer_char(table->out, '}');
    }
    writer_format(table->out, " %s\n", strcmp(value, "inf") == 0 ? "+Inf" : value);
}

/* If a number or an edge is below 0, OpenMetrics allows no sum, as it would not grow with each
 * number, and no count without a sum. */
static void prometheus_end(struct table *table)
{
    const struct counts *counted = &table->counted;
    const struct binning *binning = &counted->spec->binning;
    const double first = binning->is_whole ? (double)binning_shown_whole_edge(binning, 0)
                                           : binning_shown_edge(binning, 0);
    struct statistics statistics = {.count = 0};
    if (!(first >= 0) || counted->tally->moments->min < 0)
        return;
    counted->spec->mode->add_statistics(counted->spec, counted->tally, &statistics);
    for (size_t i = 0; i < statistics.count; i++) {
        const struct statistic *statistic = &statistics.list[i];
        if (strcmp(statistic->name, "sum") == 0 || strcmp(statistic->name, "count") == 0)
            write_sample(table, statistic->name, statistic->value);
    }
}

const struct format format_prometheus = {
    .name = "prometheus",
    .last_line = "# EOF\n",
    .is_cumulative = true,
    .begin = prometheus_begin,
    .row = prometheus_row,
    .end = prometheus_end,
};

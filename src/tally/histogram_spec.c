/* SPDX-License-Identifier: MIT */
#include "histogram_spec.h"
#include "src/base/error.h"
#include "src/text/number.h"

#include <stdio.h>
#include <string.h>

void histogram_spec_split(struct histogram_spec *spec, unsigned channels)
{
    spec->bins = histogram_spec_rows(spec) * channels;
    spec->channels = channels;
}

unsigned histogram_spec_channels(const struct histogram_spec *spec)
{
    return spec->channels > 1 ? spec->channels : 1;
}

size_t histogram_spec_rows(const struct histogram_spec *spec)
{
    return spec->bins / histogram_spec_channels(spec);
}

struct histogram_spec histogram_spec_of_channel(const struct histogram_spec *spec)
{
    struct histogram_spec channel = *spec;
    channel.bins = histogram_spec_rows(spec);
    channel.channels = 1;
    return channel;
}

size_t histogram_spec_sample_size(const struct histogram_spec *spec)
{
    return spec->sample_size * histogram_spec_channels(spec);
}

uint64_t histogram_spec_samples_max(const struct histogram_spec *spec, size_t len)
{
    if (spec->sample_size > 0)
        return len / spec->sample_size;
    if (spec->mode->is_text)
        return ((uint64_t)len + 1) / 2; /* a byte each, and white space between two */
    if (spec->mode->has_pairs)
        return len > 0 ? len - 1 : 0; /* every byte but the last begins one */
    return len;                       /* characters of one byte, or invalid bytes */
}

enum row_kind histogram_spec_row_kind(const struct histogram_spec *spec, size_t row)
{
    const struct binning *binning = &spec->binning;
    if (!spec->mode->is_binned)
        return spec->mode->has_characters && row == spec->bins - 1 ? ROW_KIND_INVALID
                                                                   : ROW_KIND_BIN;
    row %= ROWS(binning); /* of its channel */
    return row == ROW_BELOW              ? ROW_KIND_BELOW
           : row == ROW_ABOVE(binning)   ? ROW_KIND_ABOVE
           : row == ROW_INVALID(binning) ? ROW_KIND_INVALID
                                         : ROW_KIND_BIN;
}

void histogram_spec_label_row(const struct histogram_spec *spec, size_t row,
                              struct row_label *label)
{
    label->kind = histogram_spec_row_kind(spec, row);
    if (label->kind == ROW_KIND_INVALID)
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
    else
        spec->mode->label_row(spec, row, label);
}

bool histogram_spec_adds_up(const struct histogram_spec *spec, uint64_t counted, uint64_t samples)
{
    return spec->mode->counts_every ? counted == samples : counted <= samples;
}

void histogram_spec_map(const struct histogram_spec *spec, const uint64_t bytes[BYTE_VALUES],
                        uint64_t *counts)
{
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        if (spec->bin_of[value] != NO_BIN)
            counts[spec->bin_of[value]] += bytes[value];
}

void row_label_set(struct row_label *label, unsigned lo, unsigned hi)
{
    show_unsigned(lo, label->lo);
    show_unsigned(hi, label->hi);
    label->name[0] = label->note[0] = '\0';
}

void byte_show(unsigned byte, char text[ROW_TEXT])
{
    static const char escapes[] = "abtnvfr"; /* \a is 7, and so on */
    const bool is_escaped = byte == '\\' || (byte >= '\a' && byte <= '\r');
    if (is_escaped || (byte > ' ' && byte < 0x7f)) {
        text[0] = is_escaped ? '\\' : (char)byte;
        text[1] = !is_escaped ? '\0' : byte == '\\' ? '\\' : escapes[byte - '\a'];
        text[2] = '\0';
    } else if (byte == ' ') {
        strcpy(text, "' '");
    } else {
        show_escape((unsigned char)byte, text);
        text[SHOW_ESCAPE] = '\0';
    }
}

/* Plans offsets of so many bits, if all edges are numbers of so many bits, or one beyond the last
 * of them. Narrower types have room for a sign in any case. */
static bool plan_offsets(const struct histogram_spec *spec, unsigned bits, struct row_plan *plan)
{
    const struct binning *binning = &spec->binning;
    const bool is_narrower = 8 * spec->type.size < bits;
    bool fits = false, is_signed = spec->type.kind == 'i';
    for (unsigned tries = 0; tries < 2 && !fits; tries++) {
        is_signed |= tries > 0;
        const int128 min = row_plan_min(bits, is_signed), end = min + ((int128)1 << bits);
        fits = (tries == 0 || is_narrower) && binning->first >= min &&
               binning->first + binning->span <= end;
    }
    *plan = (struct row_plan){.way = PLAN_OFFSETS, .bits = bits, .is_signed = is_signed};
    return fits;
}

struct row_plan row_plan_of(const struct histogram_spec *spec)
{
    static const enum row_plan_way ways[] = {[BINNING_EQUAL] = PLAN_EQUAL_DOUBLES,
                                             [BINNING_EDGES] = PLAN_DOUBLE_EDGES,
                                             [BINNING_DECADES] = PLAN_DOUBLE_EDGES,
                                             [BINNING_LOG_LINEAR] = PLAN_LOG_LINEAR,
                                             [BINNING_DIGITS] = PLAN_DIGITS};
    const struct binning *binning = &spec->binning;
    if (spec->type.kind == 'f')
        return (struct row_plan){.way = ways[binning->kind]};
    if (binning->kind == BINNING_DIGITS)
        return (struct row_plan){.way = PLAN_WHOLE_DIGITS};
    const bool has_offsets = binning->kind == BINNING_EQUAL &&
                             (binning->reciprocal || (int128)binning->bins == binning->span);
    struct row_plan plan;
    if (has_offsets &&
        ((spec->type.size <= 4 && plan_offsets(spec, 32, &plan)) || plan_offsets(spec, 64, &plan)))
        return plan;
    return (struct row_plan){.way = PLAN_WHOLE_EDGES};
}

/* --- types of values --- */

const struct value_type value_types[] = {
    {"u8", 1, 'u', false},
    {"u16", 2, 'u', false},
    {"u16be", 2, 'u', true},
    {"u24", 3, 'u', false},
    {"u24be", 3, 'u', true},
    {"u32", 4, 'u', false},
    {"u32be", 4, 'u', true},
    {"u64", 8, 'u', false},
    {"u64be", 8, 'u', true},
    {"i8", 1, 'i', false},
    {"i16", 2, 'i', false},
    {"i16be", 2, 'i', true},
    {"i24", 3, 'i', false},
    {"i24be", 3, 'i', true},
    {"i32", 4, 'i', false},
    {"i32be", 4, 'i', true},
    {"i64", 8, 'i', false},
    {"i64be", 8, 'i', true},
    {"f32", 4, 'f', false},
    {"f32be", 4, 'f', true},
    {"f64", 8, 'f', false},
    {"f64be", 8, 'f', true},
    {0},
};

const struct value_type *value_type_find(const char *name)
{
    const struct value_type *type = value_types;
    while (type->name && strcmp(type->name, name) != 0)
        type++;
    return type->name ? type : NULL;
}

void value_types_show(char *text, size_t size)
{
    const struct value_type *type = value_types, *next;
    for (size_t len = 0; type->name && len < size; type = next) {
        for (next = type + 1; next->name && next->big_endian; next++)
            continue;
        const char *before = type == value_types ? "" : next->name ? ", " : " or ";
        len += (size_t)snprintf(text + len, size - len, "%s%s", before, type->name);
    }
}

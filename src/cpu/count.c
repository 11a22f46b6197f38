/* SPDX-License-Identifier: MIT */
/* The table of kernels, and how each mode is counted. */
#include "count.h"
#include "byte_pairs.h"
#include "src/text/line_spans.h"
#include "src/base/byte_masks.h"

#include <string.h>

const struct cpu_kernels *const all_kernels[] = {
#if defined __x86_64__ && defined __GNUC__
    &cpu_kernels_avx512,
    &cpu_kernels_avx2,
#elif defined __aarch64__ && defined __ARM_NEON
    &cpu_kernels_neon,
#endif
    &cpu_kernels_portable,
    NULL,
};

const struct cpu_kernels *cpu_kernels_find(const char *name)
{
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((!name || strcmp((*kernels)->name, name) == 0) && (*kernels)->runs_here())
            return *kernels;
    return NULL;
}

/* Adds counts of bytes to a channel's rows as values, and to its moments unless these are NULL. */
static void add_byte_values(const struct histogram_spec *spec, const uint64_t bytes[256],
                            uint64_t *counts, struct moments *moments)
{
    bool is_signed = spec->type.kind == 'i';
    for (int byte = 0; byte < 256; byte++) {
        int128 value = is_signed && byte >= 128 ? byte - 256 : byte;
        counts[binning_row_whole(&spec->binning, value)] += bytes[byte];
        if (moments)
            moments_add_times(moments, value, bytes[byte]);
    }
}

static void count_byte_values(const struct count_plan *plan, const unsigned char *data, size_t len,
                              struct tally *tally)
{
    uint64_t bytes[256] = {0};
    plan->kernels->count_bytes(data, len, bytes);
    add_byte_values(plan->spec, bytes, tally->counts, tally->moments);
    tally->samples += len;
}

/* Counts values of one byte in interleaved channels. */
static void count_byte_channels(const struct histogram_spec *spec, const unsigned char *data,
                                size_t len, struct tally *tally)
{
    const size_t channels = spec->channels, rows = histogram_spec_rows(spec);
    for (size_t channel = 0; channel < channels; channel++) {
        uint64_t bytes[2][256] = {{0}}; /* used alternately, as neighbours are often equal */
        size_t at = channel;
        for (; at + channels < len; at += 2 * channels) {
            bytes[0][data[at]]++;
            bytes[1][data[at + channels]]++;
        }
        if (at < len)
            bytes[0][data[at]]++;
        for (unsigned byte = 0; byte < 256; byte++)
            bytes[0][byte] += bytes[1][byte];
        add_byte_values(spec, bytes[0], tally->counts + channel * rows,
                        tally->moments ? &tally->moments[channel] : NULL);
    }
    tally->samples += len;
}

static void count_values(const struct count_plan *plan, const unsigned char *data, size_t len,
                         struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    if (spec->type.size == 1 && spec->channels > 1)
        count_byte_channels(spec, data, len, tally);
    else if (spec->type.size == 1)
        count_byte_values(plan, data, len, tally);
    else
        plan->kernels->count_values(plan, data, len, tally, paged);
}

/* The place where samples are counted. */
struct destination {
    struct tally *tally;
    struct paged_counts *paged; /* NULL: in the tally */
    struct keyed_counts *keyed; /* NULL: there are no keys */
};

/* Counts records that are nothing but their keys. */
static void count_keys(const struct count_plan *plan, const unsigned char *data, size_t len,
                       const struct destination *to)
{
    struct record_text text = {data, data, data + len};
    struct key_span spans[KEYED_MAX];
    uint32_t numbers[KEYED_MAX];
    to->tally->newlines += byte_count(data, len, '\n');
    while (text.at < text.limit) {
        const size_t n = plan->parser->find_fields(&plan->key.field, &text, spans, KEYED_MAX);
        keyed_count(to->keyed, &plan->key, spans, n, numbers);
    }
}

/* Counts all samples of data[0..len). */
static void count_all(const struct count_plan *plan, const unsigned char *data, size_t len,
                      const struct destination *to)
{
    const struct cpu_kernels *kernels = plan->kernels;
    const enum mode_id mode = plan->spec->mode->id;
    struct tally *tally = to->tally;
    if (to->keyed && mode == MODE_LINES)
        count_keys(plan, data, len, to);
    else if (to->keyed)
        kernels->count_keyed_numbers(plan, data, len, tally, to->keyed);
    else
        switch (mode) {
        case MODE_BYTES:
            kernels->count_bytes(data, len, tally->counts);
            tally->samples += len;
            break;
        case MODE_LETTERS:
            kernels->count_letters(plan, data, len, tally->counts);
            tally->samples += len;
            break;
        case MODE_VALUES:
            count_values(plan, data, len, tally, to->paged);
            break;
        case MODE_NUMBERS:
            kernels->count_numbers(plan, data, len, tally, to->paged);
            break;
        case MODE_CHARACTERS:
        case MODE_CATEGORIES:
        case MODE_BLOCKS:
            kernels->count_characters(plan, data, len, tally, to->paged);
            break;
        case MODE_PAIRS:
            count_byte_pairs(data, len, plan->spec->is_aligned, tally, to->paged);
            break;
        case MODE_LINES:
        case MODES:
            break;
        }
}

#define GATHERED_SIZE ((size_t)64 << 10) /* bytes of records that are counted together */

#define LONG_SPAN ((size_t)16 << 10) /* bytes of one that is counted where it is */

/* Counts the records that the filter keeps. Short spans of them are gathered, as a loop takes long
 * to begin and to end. Not inlined, as these take some pages of the stack. */
static __attribute__((noinline)) void count_kept(const struct count_plan *plan,
                                                 const unsigned char *data, size_t len,
                                                 const struct destination *into)
{
    const uint64_t newlines = into->tally->newlines + byte_count(data, len, '\n');
    const unsigned char *from, *to;
    unsigned char gathered[GATHERED_SIZE];
    size_t used = 0;
    struct line_spans spans;
    const bool has_tokens = plan->field.kind == FIELD_NONE && !key_is_used(&plan->spec->key);
    line_spans_begin(&spans, &plan->spec->filter, &plan->field, has_tokens, plan->parser, data,
                     len);
    while (line_spans_next(&spans, &from, &to)) {
        const size_t size = (size_t)(to - from);
        if (size >= LONG_SPAN) {
            count_all(plan, from, size, into);
            continue;
        }
        if (size > GATHERED_SIZE - used) {
            count_all(plan, gathered, used, into);
            used = 0;
        }
        memcpy(gathered + used, from, size);
        used += size;
    }
    count_all(plan, gathered, used, into);
    into->tally->newlines = newlines; /* of all lines, as messages number them */
}

struct count_plan count_plan(const struct cpu_kernels *kernels, const struct histogram_spec *spec)
{
    struct count_plan plan = {.kernels = kernels, .spec = spec};
    if (spec->mode->is_binned)
        plan.rows = row_plan_of(spec);
    if (spec->mode->is_text) {
        plan.parser = number_parser_find(kernels->parser);
        plan.field = spec->field;
        plan.key = spec->key;
    } else if (spec->mode->id == MODE_LETTERS) {
        kernels->prepare_letters(&plan);
    }
    return plan;
}

void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally)
{
    const struct destination to = {.tally = tally};
    if (plan->spec->filter.count > 0)
        count_kept(plan, data, len, &to);
    else
        count_all(plan, data, len, &to);
}

/* Counts the newlines of a header. Returns its length without its last newline, which then is an
 * empty record. */
static size_t count_header(const struct count_plan *plan, const unsigned char *data, size_t len,
                           struct tally *tally)
{
    size_t header = field_header_len(&plan->field, data, len);
    for (size_t i = 0; i < header; i++)
        tally->newlines += data[i] == '\n';
    return header;
}

bool count_can_page(const struct histogram_spec *spec)
{
    return (spec->mode->has_characters && !spec->groups) || spec->mode->has_pairs ||
           (spec->mode->is_binned && spec->type.size > 1);
}

void count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged, struct keyed_counts *keyed)
{
    const struct destination to = {.tally = tally, .paged = paged, .keyed = keyed};
    const struct origin *origin = &chunk->origin;
    const unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin;
    struct count_plan of_file;
    if (origin->column != 0 || origin->key_column != 0) { /* they have names */
        of_file = *plan;
        if (origin->column != 0)
            of_file.field.number = origin->column;
        if (origin->key_column != 0)
            of_file.key.field.number = origin->key_column;
        plan = &of_file;
    }
    if (plan->skip_repeated) {
        data += chunk->repeated;
        len = origin->bytes;
    }
    tally->bytes += origin->bytes;
    if (origin->has_header) {
        const size_t header = count_header(plan, data, len, tally);
        data += header;
        len -= header;
    }
    if (plan->spec->filter.count > 0)
        count_kept(plan, data, len, &to);
    else
        count_all(plan, data, len, &to);
}

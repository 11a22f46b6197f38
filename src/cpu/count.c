/* SPDX-License-Identifier: MIT */
/* The table of kernels, and how each mode is counted: by a loop of the kernels, or by one here that
 * needs no vectors, which are values of one byte and pairs. A chunk loses its header, and what its
 * filter leaves out, on the way. */
#include "count.h"
#include "src/base/byte_masks.h"
#include "src/base/byte_word.h"
#include "src/text/line_spans.h"
#include "src/text/field.h"

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

/* --- values of one byte --- */

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
    if (spec->type.size > 1) {
        plan->kernels->count_values(plan, data, len, tally, paged);
    } else if (spec->channels > 1) {
        count_byte_channels(spec, data, len, tally);
    } else {
        uint64_t bytes[256] = {0};
        plan->kernels->count_bytes(data, len, bytes);
        add_byte_values(spec, bytes, tally->counts, tally->moments);
        tally->samples += len;
    }
}

/* --- pairs of bytes --- */

/* Counts pairs of bytes by one table of 8-bit counters: 64 KiB, most of which the L1 cache holds
 * even if the data are random. Wider counters or a second table would not fit. A counter that wraps
 * adds 256 to the tally.
 *
 * The two halves of the data alternate: neighbouring pairs are often equal, as in a row of blanks,
 * and each would wait for the increment before it to leave the store buffer. */
#define INLINE static inline __attribute__((always_inline))

/* Bytes of each half in a turn. */
#define TURN 8

/* Fewer bytes than this are not worth setting up the table. */
#define PAIRS_FEW ((size_t)16 << 10)

/* Rows that are checked at once: in text, most pairs never occur. */
#define ROWS_AT_ONCE 64

struct pair_counts {
    uint64_t *counts; /* the tally's */
    struct paged_counts *paged;
    uint8_t table[PAIR_ROWS];
};

static void add_times(struct pair_counts *pairs, uint32_t row, uint64_t times)
{
    if (pairs->paged)
        paged_count_times(pairs->paged, row, times);
    else
        pairs->counts[row] += times;
}

static __attribute__((noinline, cold)) void carry(struct pair_counts *pairs, uint32_t row)
{
    add_times(pairs, row, 256);
}

/* Counts the pair that a word ends with. The address is computed first: if it is in one register,
 * the processor forwards the counter from the last store to it much sooner, which makes equal pairs
 * 2.5 times as fast. */
INLINE void count_pair(struct pair_counts *pairs, uint64_t word)
{
    uint8_t *at = pairs->table + (word & 0xffff);
    __asm__("" : "+r"(at));
    if (__builtin_expect(++*at == 0, 0))
        carry(pairs, (uint32_t)(at - pairs->table));
}

/* Returns eight bytes, the first one highest, so that a pair is a 16-bit number in it. */
INLINE uint64_t word_of_pairs(const unsigned char *data)
{
    return __builtin_bswap64(byte_word(data));
}

/* Counts the pairs that begin in the next eight bytes of each half. */
INLINE void count_turn(struct pair_counts *pairs, const unsigned char *one,
                       const unsigned char *other, bool is_aligned)
{
    const uint64_t a = word_of_pairs(one), b = word_of_pairs(other);
    const uint64_t a_odd = is_aligned ? 0 : word_of_pairs(one + 1);
    const uint64_t b_odd = is_aligned ? 0 : word_of_pairs(other + 1);
#pragma GCC unroll 4
    for (unsigned shift = 64; shift > 0; shift -= 16) {
        count_pair(pairs, a >> (shift - 16));
        count_pair(pairs, b >> (shift - 16));
        if (!is_aligned) {
            count_pair(pairs, a_odd >> (shift - 16));
            count_pair(pairs, b_odd >> (shift - 16));
        }
    }
}

/* Counts the pairs that begin in data[begin..end). data[end] may be the last byte. */
static void count_one_by_one(struct pair_counts *pairs, const unsigned char *data, size_t begin,
                             size_t end, size_t step)
{
    for (size_t i = begin; i < end; i += step)
        add_times(pairs, (uint32_t)data[i] << 8 | data[i + 1], 1);
}

/* Adds ROWS_AT_ONCE rows. Skipping zeros would cost more: no processor can predict them. */
static void add_rows(struct pair_counts *pairs, uint32_t begin)
{
    const uint8_t *rows = pairs->table + begin;
    if (pairs->paged) {
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
            paged_count_times(pairs->paged, begin + i, rows[i]);
        return;
    }
    uint64_t *counts = pairs->counts + begin;
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
        counts[i] += rows[i];
}

static void add_table(struct pair_counts *pairs)
{
    for (uint32_t row = 0; row < PAIR_ROWS; row += ROWS_AT_ONCE) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i += sizeof any)
            any |= byte_word(pairs->table + row + i);
        if (any > 0)
            add_rows(pairs, row);
    }
}

/* Counts the pairs that begin in data[0..begins). */
INLINE void count_all_pairs(struct pair_counts *pairs, const unsigned char *data, size_t begins,
                            bool is_aligned)
{
    const size_t step = is_aligned ? 2 : 1;
    const size_t half = begins / 2 & ~(size_t)(TURN - 1);
    memset(pairs->table, 0, sizeof pairs->table);
    for (size_t i = 0; i < half; i += TURN)
        count_turn(pairs, data + i, data + half + i, is_aligned);
    add_table(pairs);
    count_one_by_one(pairs, data, 2 * half, begins, step);
}

void count_byte_pairs(const unsigned char *data, size_t len, bool is_aligned, struct tally *tally,
                      struct paged_counts *paged)
{
    struct pair_counts pairs;
    const size_t begins = len > 0 ? len - 1 : 0;
    pairs.counts = tally->counts;
    pairs.paged = paged;
    tally->samples += is_aligned ? len / 2 : begins;
    if (begins < PAIRS_FEW)
        count_one_by_one(&pairs, data, 0, begins, is_aligned ? 2 : 1);
    else if (is_aligned)
        count_all_pairs(&pairs, data, begins, true);
    else
        count_all_pairs(&pairs, data, begins, false);
}

/* --- any mode --- */

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
    uint32_t numbers[KEYED_MAX];
    to->tally->newlines += byte_count(data, len, '\n');
    while (text.at < text.limit) {
        const struct record_text begin = text;
        const size_t n = plan->parser->find_fields(&plan->lines->keys[0].field, &text,
                                                   to->keyed->spans[0], KEYED_MAX);
        keyed_find_others(to->keyed, plan->parser, &plan->lines->field, plan->lines->keys, begin,
                          NULL, n);
        keyed_count(to->keyed, plan->lines->keys, n, numbers);
    }
}

static void count_lists(const struct count_plan *plan, const unsigned char *data, size_t len,
                        const struct destination *to);

static void count_all(const struct count_plan *plan, const unsigned char *data, size_t len,
                      const struct destination *to)
{
    const struct cpu_kernels *kernels = plan->kernels;
    const enum mode_id mode = plan->spec->mode->id;
    struct tally *tally = to->tally;
    if (to->keyed && mode == MODE_LINES)
        count_keys(plan, data, len, to);
    else if (mode == MODE_NUMBERS && field_is_list(&plan->lines->field))
        count_lists(plan, data, len, to);
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

/* --- lists of numbers --- */

#define LISTS_MAX 128 /* records whose fields are found together */

/* Samples of lists, as lines without a field, and the keys of their records. */
struct listed {
    struct count_plan plan;
    const struct destination *to;
    struct key_span keys[KEY_PARTS_MAX][LISTS_MAX];
    size_t record, count, used;
    unsigned char tokens[GATHERED_SIZE];
};

static void count_listed(struct listed *listed)
{
    count_all(&listed->plan, listed->tokens, listed->used, listed->to);
    listed->count = listed->used = 0;
}

/* Adds a sample of a record. */
static void add_listed(struct listed *listed, const struct list_sample *sample)
{
    struct keyed_counts *keyed = listed->to->keyed;
    if ((keyed && listed->count == KEYED_MAX) || GATHERED_SIZE - listed->used <= NUMBER_MAX)
        count_listed(listed);
    for (unsigned i = 0; keyed && i < keyed->parts; i++)
        keyed->spans[i][listed->count] = listed->keys[i][listed->record];
    const size_t len = sample->len > 0 ? sample->len : 1;
    memcpy(listed->tokens + listed->used, sample->len > 0 ? sample->token : (unsigned char *)"?",
           len);
    listed->used += len;
    listed->tokens[listed->used++] = '\n';
    listed->count++;
}

/* Counts records whose fields are lists. Not inlined, as samples take some pages of the stack. */
static __attribute__((noinline)) void count_lists(const struct count_plan *plan,
                                                  const unsigned char *data, size_t len,
                                                  const struct destination *to)
{
    const uint64_t newlines = to->tally->newlines + byte_count(data, len, '\n');
    unsigned char token[LIST_TOKEN_SIZE];
    struct list_sample sample = {.token = token};
    struct list list;
    struct record_text text = {data, data, data + len};
    struct key_span fields[LISTS_MAX];
    struct listed listed;
    struct line_spec numbers = {.field = {.has_units = plan->lines->field.has_units}};
    listed.plan = *plan;
    listed.plan.lines = &numbers;
    memcpy(numbers.keys, plan->lines->keys, sizeof numbers.keys);
    listed.to = to;
    listed.count = listed.used = 0;
    while (text.at < text.limit) {
        const struct record_text begin = text;
        const size_t n = plan->parser->find_fields(&plan->lines->field, &text, fields, LISTS_MAX);
        for (unsigned i = 0; to->keyed && i < to->keyed->parts; i++)
            fields_find_keys(plan->parser, &plan->lines->field, &plan->lines->keys[i].field, begin,
                             listed.keys[i], n);
        for (listed.record = 0; listed.record < n; listed.record++) {
            const struct key_span *field = &fields[listed.record];
            list_open(&list, &plan->lines->field, field->from,
                      field->from ? field->from + field->len : NULL);
            while (list_next(&list, &sample))
                add_listed(&listed, &sample);
        }
    }
    count_listed(&listed);
    to->tally->newlines = newlines; /* of the text */
}

#define LONG_SPAN ((size_t)16 << 10) /* bytes of one that is counted where it is */

/* Counts the records of a file that the filter keeps; a `name` that is NULL is not known. False if
 * an expression was undecided. Short spans of them are gathered, as a loop takes long to begin and
 * to end. Not inlined, as these take some pages of the stack. */
static __attribute__((noinline)) bool count_kept(const struct count_plan *plan, const char *name,
                                                 const unsigned char *data, size_t len,
                                                 const struct destination *into)
{
    const uint64_t newlines = into->tally->newlines + byte_count(data, len, '\n');
    const unsigned char *from, *to;
    unsigned char gathered[GATHERED_SIZE];
    size_t used = 0;
    struct line_spans spans;
    const bool has_tokens = plan->lines->field.kind == FIELD_NONE && plan->lines->key_count == 0;
    line_spans_begin(&spans, &plan->lines->filter, &plan->lines->field, has_tokens, plan->parser,
                     data, len);
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
    line_spans_end(&spans);
    if (!*spans.failure.text)
        return true;
    if (name)
        error_begin(&spans.failure, name);
    line_filter_fail(&plan->lines->filter, &spans.failure);
    return false;
}

struct count_plan count_plan(const struct cpu_kernels *kernels, const struct histogram_spec *spec)
{
    struct count_plan plan = {.kernels = kernels, .spec = spec, .lines = &spec->lines};
    if (spec->mode->is_binned)
        plan.rows = row_plan_of(spec);
    if (spec->mode->is_text)
        plan.parser = number_parser_find(kernels->parser);
    else if (spec->mode->id == MODE_LETTERS)
        kernels->prepare_letters(&plan);
    return plan;
}

void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally)
{
    const struct destination to = {.tally = tally};
    if (line_filter_is_used(&plan->lines->filter))
        (void)count_kept(plan, NULL, data, len, &to);
    else
        count_all(plan, data, len, &to);
}

bool count_can_page(const struct histogram_spec *spec)
{
    return (spec->mode->has_characters && !spec->groups) || spec->mode->has_pairs ||
           (spec->mode->is_binned && spec->type.size > 1 && !spec->lines.has_weight);
}

bool count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged, struct keyed_counts *keyed)
{
    const struct destination to = {.tally = tally, .paged = paged, .keyed = keyed};
    const struct origin *origin = &chunk->origin;
    const unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin;
    struct count_plan of_file;
    struct line_spec lines;
    if (line_spec_has_names(plan->lines)) {
        lines = *plan->lines;
        line_spec_set_columns(&lines, &origin->columns);
        of_file = *plan;
        of_file.lines = &lines;
        plan = &of_file;
    }
    if (plan->skip_repeated) {
        data += chunk->repeated;
        len = origin->bytes;
    }
    tally->bytes += origin->bytes;
    if (origin->has_header) {
        /* Its last newline stays, which then is an empty record. */
        const size_t header = field_header_len(&plan->lines->field, data, len);
        tally->newlines += byte_count(data, header, '\n');
        data += header;
        len -= header;
    }
    if (line_filter_is_used(&plan->lines->filter))
        return count_kept(plan, origin->name, data, len, &to);
    count_all(plan, data, len, &to);
    return true;
}

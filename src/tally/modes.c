/* SPDX-License-Identifier: MIT */
/* The modes: what a sample is, what the rows are called, and their statistics. */
#include "characters.h"
#include "statistics.h"
#include "histogram_spec.h"
#include "src/base/error.h"
#include "src/text/number.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The regularized incomplete gamma function, by its series where that converges quickly and by its
 * continued fraction elsewhere (Abramowitz and Stegun, 6.5.29, and 6.5.31 by Lentz's method). */

#define TERMS_MAX 100000 /* far more than either takes */

/* Returns the fraction of the gamma function of `a` below x. */
static double lower_by_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < TERMS_MAX && term > sum * DBL_EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* Returns the fraction above x. */
static double upper_by_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, value = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return value * exp(a * log(x) - x - lgamma(a));
}

/* Bytes: each byte value is a bin. */

static void bytes_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    const unsigned byte = (unsigned)row;
    row_label_set(label, byte, byte);
    show_escape((unsigned char)byte, label->name);
    memcpy(label->name, "0x", 2);
    label->name[SHOW_ESCAPE] = '\0';
    byte_show(byte, label->note);
}

static void bytes_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    const uint64_t *counts = tally->counts;
    const bool any = tally->samples > 0;
    const double samples = (double)tally->samples, expected = samples / BYTE_VALUES;
    struct exact_sum exact = {0};
    int128 sum = 0;
    uint64_t distinct = 0, printable = 0;
    double chi_square = any ? 0 : NAN; /* how far the counts are from being equal */
    double probability = NAN;
    double coincidence = samples > 1 ? 0 : NAN; /* that two samples are the same byte */
    for (unsigned byte = 0; byte < BYTE_VALUES; byte++) {
        const double count = (double)counts[byte], difference = count - expected;
        distinct += counts[byte] > 0;
        if ((byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r'))
            printable += counts[byte];
        sum += (int128)counts[byte] * byte;
        chi_square += difference * difference / expected;
        if (counts[byte] > 1)
            coincidence += count / samples * ((double)(counts[byte] - 1) / (samples - 1));
    }
    exact_sum_add_int128(&exact, sum, 0);
    if (any) {
        const double a = (BYTE_VALUES - 1) / 2.0, x = chi_square / 2;
        probability = !(x > 0)    ? 1
                      : x < a + 1 ? 1 - lower_by_series(a, x)
                                  : upper_by_fraction(a, x);
    }
    statistics_add_count(to, "bytes", tally->samples);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_rounded(to, "entropy", statistics_entropy(counts, BYTE_VALUES), 6);
    statistics_add_rounded(to, "chi-square", chi_square, 2);
    statistics_add_rounded(to, "probability", probability, 6);
    statistics_add_number(to, "mean", any ? exact_sum_quotient(&exact, tally->samples) : NAN);
    statistics_add_rounded(to, "printable", (double)printable / samples, 6);
    statistics_add_rounded(to, "coincidence", coincidence, 6);
}

const struct mode mode_bytes = {
    .id = MODE_BYTES,
    .name = "bytes",
    .counts_every = true,
    .columns = {"bin", "count", "char"},
    .label_row = bytes_label_row,
    .add_statistics = bytes_add_statistics,
};

void histogram_spec_bytes(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){
        .mode = &mode_bytes, .sample_size = 1, .width = 1, .bins = BYTE_VALUES};
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        spec->bin_of[value] = (uint16_t)value;
}

/* Letters: ranges of ASCII letters are bins. Other bytes are samples too, and in no bin. */

static void letters_label_row(const struct histogram_spec *spec, size_t row,
                              struct row_label *label)
{
    unsigned lo = 'a' + (unsigned)row * spec->width, hi = lo + spec->width - 1;
    hi = hi < 'z' ? hi : 'z';
    row_label_set(label, lo, hi);
    if (lo == hi)
        snprintf(label->name, sizeof label->name, "%c", (int)lo);
    else
        snprintf(label->name, sizeof label->name, "%c-%c", (int)lo, (int)hi);
}

static void letters_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                   struct statistics *to)
{
    const uint64_t letters = tally_counted(tally);
    statistics_add_count(to, "bytes", tally->samples);
    statistics_add_count(to, "letters", letters);
    statistics_add_rounded(to, "share", (double)letters / (double)tally->samples, 6);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, spec->bins), 6);
}

const struct mode mode_letters = {
    .id = MODE_LETTERS,
    .name = "letters",
    .columns = {"bin", "count", NULL},
    .label_row = letters_label_row,
    .add_statistics = letters_add_statistics,
};

void histogram_spec_letters(struct histogram_spec *spec, unsigned width, bool fold)
{
    *spec = (struct histogram_spec){
        .mode = &mode_letters, .sample_size = 1, .width = width, .fold = fold};
    spec->bins = (LETTERS + width - 1) / width;
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        spec->bin_of[value] = NO_BIN;
    for (unsigned letter = 0; letter < LETTERS; letter++) {
        const uint16_t bin = (uint16_t)(letter / width);
        spec->bin_of['a' + letter] = bin;
        if (fold)
            spec->bin_of['A' + letter] = bin;
    }
}

/* Pairs of bytes: each byte with the one after it, or bytes 0 and 1, 2 and 3, and so on. */

/* Writes a byte as the note of a pair has it: a space in quotes would look like three bytes. */
static void show_in_pair(unsigned byte, char text[ROW_TEXT])
{
    if (byte == ' ')
        strcpy(text, "\\x20");
    else
        byte_show(byte, text);
}

static void pairs_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    const unsigned pair = (unsigned)row;
    row_label_set(label, pair, pair);
    show_in_pair(pair >> 8, label->note);
    show_in_pair(pair & 0xff, label->note + strlen(label->note));
    show_escape(pair & 0xff, label->name + 2);
    show_escape((unsigned char)(pair >> 8), label->name);
    memcpy(label->name, "0x", 2);
    label->name[2 + SHOW_ESCAPE] = '\0';
}

static void pairs_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    const uint64_t *counts = tally->counts;
    uint64_t distinct = 0, firsts[BYTE_VALUES] = {0};
    for (size_t row = 0; row < PAIR_ROWS; row++) {
        distinct += counts[row] > 0;
        firsts[row / BYTE_VALUES] += counts[row];
    }
    const double entropy = statistics_entropy(counts, PAIR_ROWS);
    const double rest = entropy - statistics_entropy(firsts, BYTE_VALUES); /* of the second byte */
    statistics_add_count(to, "pairs", tally->samples);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_rounded(to, "entropy", entropy, 6);
    /* It is negative only by rounding; NaN stays NaN. */
    statistics_add_rounded(to, "conditional-entropy", rest < 0 ? 0 : rest, 6);
}

const struct mode mode_pairs = {
    .id = MODE_PAIRS,
    .name = "pairs",
    .has_pairs = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "chars"},
    .label_row = pairs_label_row,
    .add_statistics = pairs_add_statistics,
};

void histogram_spec_pairs(struct histogram_spec *spec, bool is_aligned)
{
    *spec = (struct histogram_spec){.mode = &mode_pairs,
                                    .sample_size = is_aligned ? 2 : 0,
                                    .width = 1,
                                    .bins = PAIR_ROWS,
                                    .is_aligned = is_aligned};
}

/* Characters of UTF-8: each code point is a bin, or each general category, or each block. Bytes
 * that are not well-formed are in the last row. */

size_t characters_head(const unsigned char *data, size_t len)
{
    size_t head = 0;
    while (head < CHARACTER_SIZE_MAX - 1 && head < len && character_continues(data[head]))
        head++;
    return head;
}

size_t characters_tail(const unsigned char *data, size_t len)
{
    size_t tail = 1;
    uint32_t row;
    while (tail < CHARACTER_SIZE_MAX && tail <= len && character_continues(data[len - tail]))
        tail++;
    if (tail >= CHARACTER_SIZE_MAX || tail > len || data[len - tail] < 0xc2)
        return 0;
    /* The character is cut off if all of its bytes are the beginning of a longer one. */
    const unsigned char *begin = data + len - tail;
    const size_t size = begin[0] < 0xe0 ? 2 : begin[0] < 0xf0 ? 3 : 4;
    const size_t used = character_decode(begin, tail, &row);
    return row == CHARACTER_INVALID && used == tail && tail < size && begin[0] <= 0xf4 ? tail : 0;
}

/* Reads a run. Returns its length. */
static uint32_t take_run(const struct character_groups *groups, const uint32_t **run,
                         uint16_t *group)
{
    *group = (uint16_t)(**run % groups->count);
    return *(*run)++ / (uint32_t)groups->count;
}

/* Fills the pages. Those that are all of one group are the same page. */
static void lay_out(const struct character_groups *groups)
{
    const size_t size = (size_t)1 << groups->bits;
    const uint32_t *run = groups->runs;
    uint32_t length = 0;
    uint16_t group = 0, used = 0, page_of[CHARACTER_GROUPS_MAX] = {0}; /* plus 1 */
    for (size_t page = 0; page < CHARACTER_INVALID >> groups->shift >> groups->bits; page++) {
        if (length == 0)
            length = take_run(groups, &run, &group);
        if (length >= size && page_of[group] > 0) {
            groups->pages[page] = page_of[group] - 1;
            length -= (uint32_t)size;
            continue;
        }
        if (length >= size)
            page_of[group] = used + 1;
        for (size_t i = 0; i < size; i++, length--) {
            if (length == 0)
                length = take_run(groups, &run, &group);
            groups->units[used * size + i] = group;
        }
        groups->pages[page] = used++;
    }
}

static pthread_once_t categories_once = PTHREAD_ONCE_INIT, blocks_once = PTHREAD_ONCE_INIT;

static void lay_out_categories(void)
{
    lay_out(&character_categories);
}

static void lay_out_blocks(void)
{
    lay_out(&character_blocks);
}

bool character_is_hidden(uint32_t character)
{
    pthread_once(&categories_once, lay_out_categories);
    const char *category =
        character_categories.names[character_group(&character_categories, character)];
    return category[0] == 'Z' || strcmp(category, "Cc") == 0 || strcmp(category, "Cf") == 0;
}

/* Writes a character as tables show it: itself, or its bytes as C escapes them if it is hidden. */
static void character_show(uint32_t character, char text[ROW_TEXT])
{
    unsigned char bytes[CHARACTER_SIZE_MAX];
    if (character < 0x80) {
        byte_show(character, text);
        return;
    }
    const unsigned size = character_encode(character, bytes);
    const bool hidden = character_is_hidden(character);
    char *end = text;
    for (unsigned i = 0; i < size; i++)
        if (hidden)
            end += snprintf(end, 5, "\\x%02x", bytes[i]);
        else
            *end++ = (char)bytes[i];
    *end = '\0';
}

/* --- each code point --- */

static void characters_label_row(const struct histogram_spec *spec, size_t row,
                                 struct row_label *label)
{
    (void)spec;
    const unsigned character = (unsigned)row;
    row_label_set(label, character, character);
    snprintf(label->name, sizeof label->name, "U+%04X", character);
    character_show(character, label->note);
}

static void characters_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                      struct statistics *to)
{
    (void)spec;
    const uint64_t invalid = tally->counts[CHARACTER_INVALID];
    const uint64_t characters = tally->samples - invalid;
    uint64_t distinct = 0, ascii = 0, valid_bytes = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < CHARACTER_INVALID; row++) {
        const uint64_t count = tally->counts[row];
        distinct++;
        ascii += row < 0x80 ? count : 0;
        valid_bytes += count * character_size((uint32_t)row);
    }
    statistics_add_count(to, "bytes", tally->bytes);
    statistics_add_count(to, "characters", characters);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_count(to, "invalid", invalid);
    statistics_add_count(to, "invalid-bytes", tally->bytes - valid_bytes);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, CHARACTER_INVALID), 6);
    statistics_add_rounded(to, "ascii", (double)ascii / (double)characters, 6);
}

const struct mode mode_characters = {
    .id = MODE_CHARACTERS,
    .name = "characters",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "char"},
    .label_row = characters_label_row,
    .add_statistics = characters_add_statistics,
};

void histogram_spec_characters(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){.mode = &mode_characters, .width = 1, .bins = CHARACTER_ROWS};
}

/* --- groups of them --- */

static void groups_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    const struct character_groups *groups = spec->groups;
    snprintf(label->name, sizeof label->name, "%s", groups->names[row]);
    if (groups->notes) {
        snprintf(label->note, sizeof label->note, "%s", groups->notes[row]);
        return;
    }
    const uint32_t *run = groups->runs;
    uint32_t begin, end = 0;
    uint16_t group;
    do {
        begin = end;
        end += take_run(groups, &run, &group);
    } while (group != row);
    if (row == groups->count - 1) /* of no block */
        label->note[0] = '\0';
    else
        snprintf(label->note, sizeof label->note, "U+%04X-U+%04X", begin << groups->shift,
                 (end << groups->shift) - 1);
}

static void groups_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                  struct statistics *to)
{
    const size_t groups = spec->groups->count;
    const uint64_t invalid = tally->counts[groups];
    uint64_t distinct = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < groups; row++)
        distinct++;
    statistics_add_count(to, "bytes", tally->bytes);
    statistics_add_count(to, "characters", tally->samples - invalid);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_count(to, "invalid", invalid);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, groups), 6);
}

const struct mode mode_categories = {
    .id = MODE_CATEGORIES,
    .name = "categories",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "category"},
    .label_row = groups_label_row,
    .add_statistics = groups_add_statistics,
};

const struct mode mode_blocks = {
    .id = MODE_BLOCKS,
    .name = "blocks",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "range"},
    .label_row = groups_label_row,
    .add_statistics = groups_add_statistics,
};

void histogram_spec_categories(struct histogram_spec *spec)
{
    pthread_once(&categories_once, lay_out_categories);
    *spec = (struct histogram_spec){.mode = &mode_categories,
                                    .width = 1,
                                    .bins = character_categories.count + 1,
                                    .groups = &character_categories};
}

void histogram_spec_blocks(struct histogram_spec *spec)
{
    pthread_once(&blocks_once, lay_out_blocks);
    *spec = (struct histogram_spec){.mode = &mode_blocks,
                                    .width = 1,
                                    .bins = character_blocks.count + 1,
                                    .groups = &character_blocks};
}

/* Numbers in bins between the edges of a binning: decimal numbers in text, as doubles, and binary
 * values of a fixed size. */

static void binned_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    const struct binning *binning = &spec->binning;
    const bool follows = label->next == row;
    label->next = row + 1;
    if (label->kind == ROW_KIND_BIN && binning_is_zero_alone(binning, row - 1)) {
        *label = (struct row_label){.name = "0", .lo = "0", .hi = "0", .note = "0"};
        return;
    }
    if (row == ROW_BELOW)
        strcpy(label->lo, "-inf");
    else if (follows)
        memcpy(label->lo, label->hi, sizeof label->lo);
    else
        binning_show_edge(binning, row - 1, label->lo);
    if (row < ROW_ABOVE(binning))
        binning_show_edge(binning, row, label->hi);
    else
        strcpy(label->hi, "inf");
    memcpy(label->name, label->lo, sizeof label->name);
    memcpy(label->note, label->hi, sizeof label->note);
}

/* Adds a whole number if it is one, otherwise a double. */
static void add_number(struct statistics *to, const char *name, bool is_whole, int128 number,
                       double value)
{
    char text[ROW_TEXT];
    if (!is_whole) {
        statistics_add_number(to, name, value);
        return;
    }
    show_whole(number, text);
    statistics_add_text(to, name, text);
}

static void binned_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                  struct statistics *to)
{
    const struct moments *moments = tally->moments;
    const uint64_t invalid = tally->counts[ROW_INVALID(&spec->binning)];
    const uint64_t numbers = tally->samples - invalid;
    const bool any = numbers > 0, is_whole = any && spec->binning.is_whole;
    int128 least = moments->least, greatest = moments->greatest, sum;
    const bool is_least = is_whole || moments_least_large(moments, &least);
    const bool is_greatest = is_whole || moments_greatest_large(moments, &greatest);
    const bool is_sum = moments_sum_large(moments, &sum);
    statistics_add_count(to, "count", numbers);
    statistics_add_count(to, "invalid", invalid);
    add_number(to, "min", is_least, least, any ? moments->min : NAN);
    add_number(to, "max", is_greatest, greatest, any ? moments->max : NAN);
    add_number(to, "sum", is_sum, sum, moments_sum(moments));
    statistics_add_number(to, "mean", any ? moments_mean(moments, numbers) : NAN);
    statistics_add_number(to, "stddev", any ? moments_deviation(moments, numbers) : NAN);
    to->list[to->count - 1].is_population = true;
}

const struct mode mode_numbers = {
    .id = MODE_NUMBERS,
    .name = "numbers",
    .is_text = true,
    .is_binned = true,
    .counts_every = true,
    .columns = {"lo", "count", "hi"},
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

const struct mode mode_values = {
    .id = MODE_VALUES,
    .name = "values",
    .is_binned = true,
    .counts_every = true,
    .has_types = true,
    .columns = {"lo", "count", "hi"},
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

void histogram_spec_numbers(struct histogram_spec *spec, const struct binning *binning)
{
    *spec = (struct histogram_spec){.mode = &mode_numbers,
                                    .bins = ROWS(binning),
                                    .type = *value_type_find("f64"),
                                    .binning = *binning};
}

void histogram_spec_values(struct histogram_spec *spec, const struct value_type *type,
                           const struct binning *binning)
{
    *spec = (struct histogram_spec){.mode = &mode_values,
                                    .sample_size = type->size,
                                    .bins = ROWS(binning),
                                    .channels = 1,
                                    .type = *type,
                                    .binning = *binning};
}

/* Lines, or records of CSV: each is a sample, in the one row there is. They are counted for their
 * keys. */

static void lines_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    (void)row;
    snprintf(label->name, sizeof label->name, "lines");
}

static void lines_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                 struct statistics *to)
{
    (void)spec;
    statistics_add_count(to, "lines", tally->samples);
}

const struct mode mode_lines = {
    .id = MODE_LINES,
    .name = "lines",
    .is_text = true,
    .counts_every = true,
    .columns = {"bin", "count"},
    .label_row = lines_label_row,
    .add_statistics = lines_add_statistics,
};

void histogram_spec_lines(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){.mode = &mode_lines, .bins = 1};
}

const struct mode *const modes[MODES] = {
    [MODE_BYTES] = &mode_bytes,           [MODE_LETTERS] = &mode_letters,
    [MODE_VALUES] = &mode_values,         [MODE_NUMBERS] = &mode_numbers,
    [MODE_CHARACTERS] = &mode_characters, [MODE_CATEGORIES] = &mode_categories,
    [MODE_BLOCKS] = &mode_blocks,         [MODE_PAIRS] = &mode_pairs,
    [MODE_LINES] = &mode_lines,
};

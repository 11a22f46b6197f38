#include "histogram.h"

#include <stdio.h>
#include <stdlib.h>

#define VALUE_TYPE(kind, bits)                                                                     \
    {                                                                                              \
#kind #bits, bits / 8, #kind[0], false                                                     \
    }
#define VALUE_TYPES(kind, bits)                                                                    \
    VALUE_TYPE(kind, bits),                                                                        \
    {                                                                                              \
#kind #bits "be", bits / 8, #kind[0], true                                                 \
    }

const struct value_type value_types[] = {
    VALUE_TYPE(u, 8),
    VALUE_TYPE(i, 8),
    VALUE_TYPES(u, 16),
    VALUE_TYPES(u, 32),
    VALUE_TYPES(u, 64),
    VALUE_TYPES(i, 16),
    VALUE_TYPES(i, 32),
    VALUE_TYPES(i, 64),
    VALUE_TYPES(f, 32),
    VALUE_TYPES(f, 64),
    {0},
};

void histogram_bytes(struct histogram *histogram)
{
    *histogram = (struct histogram){.mode = SAMPLE_BYTES, .width = 1, .bins = 256};
    for (unsigned value = 0; value < 256; value++)
        histogram->bin_of[value] = (uint16_t)value;
}

void histogram_letters(struct histogram *histogram, unsigned width, bool fold)
{
    *histogram = (struct histogram){.mode = SAMPLE_LETTERS, .width = width, .fold = fold};
    histogram->bins = (LETTERS + width - 1) / width;
    for (unsigned value = 0; value < 256; value++)
        histogram->bin_of[value] = NO_BIN;
    for (unsigned letter = 0; letter < LETTERS; letter++) {
        uint16_t bin = (uint16_t)(letter / width);
        histogram->bin_of['a' + letter] = bin;
        if (fold)
            histogram->bin_of['A' + letter] = bin;
    }
}

void histogram_values(struct histogram *histogram, const struct value_type *type,
                      const struct binning *binning)
{
    *histogram = (struct histogram){
        .mode = SAMPLE_VALUES, .bins = ROWS(binning), .type = *type, .binning = *binning};
}

void histogram_numbers(struct histogram *histogram, const struct binning *binning)
{
    *histogram = (struct histogram){.mode = SAMPLE_NUMBERS,
                                    .bins = ROWS(binning),
                                    .type = VALUE_TYPE(f, 64),
                                    .binning = *binning};
}

size_t histogram_sample_size(const struct histogram *histogram)
{
    if (histogram->mode == SAMPLE_NUMBERS)
        return 0;
    return histogram->mode == SAMPLE_VALUES ? histogram->type.size : 1;
}

unsigned histogram_lo(const struct histogram *histogram, size_t bin)
{
    unsigned first = histogram->mode == SAMPLE_LETTERS ? 'a' : 0;
    return first + (unsigned)bin * histogram->width;
}

unsigned histogram_hi(const struct histogram *histogram, size_t bin)
{
    unsigned last = histogram->mode == SAMPLE_LETTERS ? 'z' : 255;
    unsigned hi = histogram_lo(histogram, bin) + histogram->width - 1;
    return hi < last ? hi : last;
}

void histogram_label(const struct histogram *histogram, size_t bin, char label[8])
{
    unsigned lo = histogram_lo(histogram, bin) & 0xff, hi = histogram_hi(histogram, bin) & 0xff;
    if (histogram->mode == SAMPLE_BYTES)
        snprintf(label, 8, "0x%02x", lo);
    else if (lo == hi)
        snprintf(label, 8, "%c", (int)lo);
    else
        snprintf(label, 8, "%c-%c", (int)lo, (int)hi);
}

void histogram_map(const struct histogram *histogram, const uint64_t bytes[256], uint64_t *counts)
{
    for (unsigned value = 0; value < 256; value++)
        if (histogram->bin_of[value] != NO_BIN)
            counts[histogram->bin_of[value]] += bytes[value];
}

int tally_open(struct tally *tally, const struct histogram *histogram)
{
    *tally = (struct tally){.bins = histogram->bins};
    tally->counts = calloc(tally->bins, sizeof tally->counts[0]);
    return tally->counts ? 0 : -1;
}

void tally_close(struct tally *tally)
{
    free(tally->counts);
    *tally = (struct tally){0};
}

void tally_add(struct tally *into, const struct tally *from)
{
    into->samples += from->samples;
    into->bytes += from->bytes;
    into->newlines += from->newlines;
    for (size_t bin = 0; bin < into->bins; bin++)
        into->counts[bin] += from->counts[bin];
}

uint64_t tally_counted(const struct tally *tally)
{
    uint64_t sum = 0;
    for (size_t bin = 0; bin < tally->bins; bin++)
        sum += tally->counts[bin];
    return sum;
}

void tally_skip_invalid(struct tally *tally, const struct histogram *histogram)
{
    uint64_t *invalid = &tally->counts[ROW_INVALID(&histogram->binning)];
    tally->samples -= *invalid;
    *invalid = 0;
}

bool tally_adds_up(const struct tally *tally, const struct histogram *histogram)
{
    uint64_t counted = tally_counted(tally);
    return histogram->mode == SAMPLE_LETTERS ? counted <= tally->samples
                                             : counted == tally->samples;
}

#include "histogram.h"

#include <stdio.h>

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

struct tally tally_zero(const struct histogram *histogram)
{
    return (struct tally){.bins = histogram->bins};
}

void tally_add(struct tally *into, const struct tally *from)
{
    into->samples += from->samples;
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

bool tally_adds_up(const struct tally *tally, const struct histogram *histogram)
{
    uint64_t counted = tally_counted(tally);
    return histogram->mode == SAMPLE_BYTES ? counted == tally->samples : counted <= tally->samples;
}

/* What is counted: the kind of sample, the bins and their names; and the counts themselves. */
#ifndef GPUHISTO_HISTOGRAM_H
#define GPUHISTO_HISTOGRAM_H

#include "binning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits, so that a counting strategy can say which of them it counts. */
enum sample_mode {
    SAMPLE_BYTES = 1,   /* each byte value is a bin */
    SAMPLE_LETTERS = 2, /* ranges of ASCII letters are bins, any other byte belongs to none */
    SAMPLE_VALUES = 4,  /* binary numbers, in bins laid over them */
    SAMPLE_NUMBERS = 8, /* decimal numbers in text, as doubles, in bins laid over these */
};

/* How a binary number lies in memory. */
struct value_type {
    const char *name; /* "u8" to "f64"; those of more than a byte also with "be" behind */
    size_t size;      /* bytes: 1, 2, 4 or 8 */
    char kind;        /* 'u', 'i' or 'f' */
    bool big_endian;
};

/* All of them; ends with one whose name is NULL. */
extern const struct value_type value_types[];

#define LETTERS 26     /* in the alphabet */
#define NO_BIN 0xffffu /* in histogram.bin_of: the byte is counted nowhere */

struct histogram {
    enum sample_mode mode;
    unsigned width;         /* letters in a bin; 1 in byte mode */
    bool fold;              /* upper case counts as lower case */
    size_t bins;            /* counts in a tally: 1 to 256, or the rows of a binning */
    uint16_t bin_of[256];   /* the bin of every byte value, or NO_BIN; not for values and numbers */
    struct value_type type; /* of values; of numbers f64 */
    struct binning binning; /* of values and numbers */
};

/* Lays one bin per byte value. */
void histogram_bytes(struct histogram *histogram);

/* Lays bins of `width` (1 to 26) lower-case letters each; the last may be shorter. */
void histogram_letters(struct histogram *histogram, unsigned width, bool fold);

/* Counts values of a type by a binning, which is the histogram's from then on. */
void histogram_values(struct histogram *histogram, const struct value_type *type,
                      const struct binning *binning);

/* Counts numbers in text by a binning of doubles, which is the histogram's from then on. */
void histogram_numbers(struct histogram *histogram, const struct binning *binning);

/* Bytes that a sample takes; 0: numbers, which are as long as they are. */
size_t histogram_sample_size(const struct histogram *histogram);

/* The first and the last byte value of a bin (below histogram->bins), both inclusive. */
unsigned histogram_lo(const struct histogram *histogram, size_t bin);
unsigned histogram_hi(const struct histogram *histogram, size_t bin);

/* The bin's name as users see it ("a-d", "z", "0x41"), terminated; the longest takes 5 bytes. */
void histogram_label(const struct histogram *histogram, size_t bin, char label[8]);

/* Adds a table of byte totals to bin counts: counts[bin_of[v]] += bytes[v].
 * `counts` has histogram->bins entries. */
void histogram_map(const struct histogram *histogram, const uint64_t bytes[256], uint64_t *counts);

/* Exact counts. */
struct tally {
    size_t bins;
    uint64_t samples;  /* all that were looked at, in a bin or not */
    uint64_t bytes;    /* of input, that the samples came in */
    uint64_t newlines; /* of text; 0 otherwise */
    uint64_t *counts;  /* one for each bin */
};

/* Makes *tally an all-zero one for a histogram. 0; or -1: memory is short, and nothing to free. */
int tally_open(struct tally *tally, const struct histogram *histogram);

/* Frees its counts. */
void tally_close(struct tally *tally);

/* Adds `from` to `into`; both have the same bins. */
void tally_add(struct tally *into, const struct tally *from);

/* The samples that fell into a bin: the sum of the counts. */
uint64_t tally_counted(const struct tally *tally);

/* Forgets numbers that were invalid. */
void tally_skip_invalid(struct tally *tally, const struct histogram *histogram);

/* Whether the counts can be what `tally->samples` samples give: their sum is just that many, or no
 * more in letter mode. */
bool tally_adds_up(const struct tally *tally, const struct histogram *histogram);

#endif

/* SPDX-License-Identifier: MIT */
/* Texts of numbers, and what counting them must give, by the definition alone. */
#ifndef GPUHISTO_TESTS_TEXTS_H
#define GPUHISTO_TESTS_TEXTS_H

#include "src/bins/binning.h"

#define TEXT_MAX ((size_t)1 << 18)
#define TEXT_ROWS_MAX 32

struct text {
    size_t len;
    unsigned char data[TEXT_MAX];
};

struct text_expectation {
    uint64_t counts[TEXT_ROWS_MAX], samples, newlines;
    char invalid[320]; /* what a message says of the first token that is not a number, after the
                        * FILE's name; empty if there is none */
};

/* Appends bytes to a text; aborts if they do not fit. One thread, as for all that follow, which
 * draw random numbers. */
void text_append(struct text *text, const char *bytes, size_t len);

/* Puts so many digits at the end, which are a number up to NUMBER_MAX. */
void text_append_digits(struct text *text, size_t len);

/* Makes it tokens and white space of all kinds, `len` bytes; numbers alone before byte `valid`. */
void text_fill(struct text *text, size_t len, size_t valid);

/* Adds to *expected what the text gives; the first message stays. The text may have NUL, but no
 * other byte that a message must escape. The binning has TEXT_ROWS_MAX rows at most. */
void text_expect(const struct text *text, const struct binning *binning,
                 struct text_expectation *expected);

#endif

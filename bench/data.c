/* SPDX-License-Identifier: MIT */
#include "bench/data.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <string.h>

#define PERIOD ((size_t)16 << 20)

const char *data_name(enum data_kind kind)
{
    static const char *const names[] = {"uniform",  "letters", "text", "log",
                                        "one-byte", "zipf",    "runs", "sorted"};
    return names[kind];
}

/* Appends text, cut at the end of the data. */
static size_t put(unsigned char *data, size_t at, size_t len, const char *text)
{
    size_t size = strlen(text);
    if (size > len - at)
        size = len - at;
    memcpy(data + at, text, size);
    return at + size;
}

static void fill_text(unsigned char *data, size_t len)
{
    static const char *const words[] = {
        "the",   "of",    "and",   "to",    "in",    "a",       "is",     "that",    "for",
        "it",    "as",    "was",   "with",  "be",    "by",      "on",     "not",     "he",
        "this",  "are",   "or",    "his",   "from",  "at",      "which",  "but",     "have",
        "an",    "had",   "they",  "you",   "were",  "their",   "one",    "all",     "we",
        "can",   "her",   "has",   "there", "been",  "if",      "more",   "when",    "will",
        "would", "who",   "so",    "no",    "quick", "memory",  "people", "through", "because",
        "while", "years", "first", "jumps", "table", "quality", "zero",   "vector",  "example"};
    const double count = sizeof words / sizeof words[0];
    unsigned sentence = 0;
    for (size_t at = 0; at < len;) {
        /* The product of two uniform numbers favours the frequent words. */
        size_t rank = (size_t)(random_fraction() * random_fraction() * count);
        size_t begin = at;
        at = put(data, at, len, words[rank]);
        if (sentence++ == 0 && data[begin] >= 'a')
            data[begin] = (unsigned char)(data[begin] - 'a' + 'A');
        if (random_below(12) == 0) {
            at = put(data, at, len, random_below(6) ? ". " : ".\n");
            sentence = 0;
        } else {
            at = put(data, at, len, random_below(14) ? " " : ", ");
        }
    }
}

static void fill_log(unsigned char *data, size_t len)
{
    static const char *const paths[] = {"/index.html", "/api/v1/items", "/static/app.js",
                                        "/favicon.ico", "/search?q=histogram"};
    char line[200];
    unsigned second = 0;
    for (size_t at = 0; at < len;) {
        uint32_t r = (uint32_t)random_word();
        second += r % 3 == 0;
        snprintf(line, sizeof line,
                 "10.%u.%u.%u - - [21/Nov/2026:%02u:%02u:%02u +0000] \"GET %s HTTP/1.1\" %u %u\n",
                 r & 15, r >> 4 & 255, r >> 12 & 255, second / 3600 % 24, second / 60 % 60,
                 second % 60, paths[(r >> 20) % 5], r & 64 ? 200u : 304u, random_below(50000));
        at = put(data, at, len, line);
    }
}

/* Draws from 256 values, the k-th with a weight of 1 / k, by the inverse of the sum. */
static void fill_zipf(unsigned char *data, size_t len)
{
    static unsigned char value_at[1 << 16];
    double sum = 0, total = 0;
    for (unsigned k = 1; k <= 256; k++)
        total += 1.0 / k;
    size_t at = 0;
    for (unsigned k = 1; k <= 256; k++) {
        sum += 1.0 / k;
        for (; at < sizeof value_at && (double)at < sum / total * (double)sizeof value_at; at++)
            value_at[at] = (unsigned char)(k * 101); /* neighbours in rank differ in value */
    }
    for (size_t i = 0; i < len; i++)
        data[i] = value_at[random_below(sizeof value_at)];
}

static void fill_period(enum data_kind kind, unsigned char *data, size_t len)
{
    switch (kind) {
    case DATA_TEXT:
        fill_text(data, len);
        return;
    case DATA_LOG:
        fill_log(data, len);
        return;
    case DATA_ZIPF:
        fill_zipf(data, len);
        return;
    case DATA_ONE_BYTE:
        memset(data, 'e', len);
        return;
    default:
        break;
    }
    for (size_t i = 0; i < len; i++)
        data[i] = (unsigned char)(kind == DATA_LETTERS ? 'a' + random_below(26)
                                  : kind == DATA_RUNS  ? i / 1000 * 37
                                                       : random_below(256));
}

void data_fill(enum data_kind kind, unsigned char *data, size_t len)
{
    random_seed((uint64_t)kind);
    if (kind == DATA_SORTED) {
        for (unsigned value = 0; value < 256; value++) {
            size_t begin = len / 256 * value, end = value < 255 ? begin + len / 256 : len;
            memset(data + begin, (int)value, end - begin);
        }
        return;
    }
    size_t period = len < PERIOD ? len : PERIOD;
    fill_period(kind, data, period);
    for (size_t at = period; at < len; at += period)
        memcpy(data + at, data, len - at < period ? len - at : period);
}

/* SPDX-License-Identifier: MIT */
#include "tests/helpers/samples.h"
#include "tests/helpers/random.h"

static unsigned sample(enum samples kind, size_t at, size_t len)
{
    static const char text[] = "It was the best of times, it was the worst of times; [Zz] {A}\n";
    switch (kind) {
    case SAMPLES_UNIFORM:
        return random_below(256);
    case SAMPLES_LOWER_CASE:
        return 'a' + random_below(26);
    case SAMPLES_TEXT:
        return (unsigned char)text[(at * 7 + at / 64) % (sizeof text - 1)];
    case SAMPLES_ONE_BYTE:
        return (unsigned)len * 31 + 'p';
    case SAMPLES_ONE_HIGH:
        return 0xff;
    case SAMPLES_NEARLY_ONE:
        return random_below(300) ? 'n' : random_below(256);
    case SAMPLES_HIGH:
        return 0x80 | random_below(128);
    case SAMPLES_ZIPF:
        return 't' + (unsigned)__builtin_ctz((unsigned)random_word() | 1u << 20);
    case SAMPLES_RUNS:
        return (unsigned)(at / 1000 * 37);
    case SAMPLES_MIXED:
        return (unsigned)(at % 3 ? 'a' + at * 7 % 26 : at * 31 >> 2);
    default:
        return (unsigned)(at * 256 / (len + 1));
    }
}

void samples_fill(enum samples kind, unsigned char *data, size_t len)
{
    for (size_t at = 0; at < len; at++)
        data[at] = (unsigned char)sample(kind, at, len);
}

void samples_expect(const struct histogram_spec *spec, const uint64_t bytes[256], uint64_t *counts)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned letter = spec->fold && byte >= 'A' && byte <= 'Z' ? byte + 'a' - 'A' : byte;
        if (spec->mode == &mode_bytes)
            counts[byte] += bytes[byte];
        else if (letter >= 'a' && letter <= 'z')
            counts[(letter - 'a') / spec->width] += bytes[byte];
    }
}

void samples_count(const struct histogram_spec *spec, const unsigned char *data, size_t len,
                   uint64_t *counts)
{
    uint64_t bytes[256] = {0};
    for (size_t i = 0; i < len; i++)
        bytes[data[i]]++;
    samples_expect(spec, bytes, counts);
}

#include "tests/helpers/samples.h"

static unsigned next_random(void)
{
    static unsigned long long state = 88172645463325252ull; /* xorshift, Marsaglia */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20);
}

static unsigned sample(enum samples kind, size_t at, size_t len)
{
    static const char text[] = "It was the best of times, it was the worst of times; [Zz] {A}\n";
    switch (kind) {
    case SAMPLES_UNIFORM:
        return next_random();
    case SAMPLES_LOWER_CASE:
        return 'a' + next_random() % 26;
    case SAMPLES_TEXT:
        return (unsigned char)text[(at * 7 + at / 64) % (sizeof text - 1)];
    case SAMPLES_ONE_BYTE:
        return (unsigned)len * 31 + 'p';
    case SAMPLES_ONE_HIGH:
        return 0xff;
    case SAMPLES_NEARLY_ONE:
        return next_random() % 300 ? 'n' : next_random();
    case SAMPLES_HIGH:
        return 0x80 | next_random() >> 3;
    case SAMPLES_ZIPF:
        return 't' + (unsigned)__builtin_ctz(next_random() | 1u << 20);
    case SAMPLES_RUNS:
        return (unsigned)(at / 1000 * 37);
    default:
        return (unsigned)(at * 256 / (len + 1));
    }
}

void samples_fill(enum samples kind, unsigned char *data, size_t len)
{
    for (size_t at = 0; at < len; at++)
        data[at] = (unsigned char)sample(kind, at, len);
}

void samples_expect(const struct histogram *histogram, const uint64_t bytes[256], uint64_t *counts)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned letter = histogram->fold && byte >= 'A' && byte <= 'Z' ? byte + 'a' - 'A' : byte;
        if (histogram->mode == &mode_bytes)
            counts[byte] += bytes[byte];
        else if (letter >= 'a' && letter <= 'z')
            counts[(letter - 'a') / histogram->width] += bytes[byte];
    }
}

/* SPDX-License-Identifier: MIT */
/* XXH64 in plain C. */
#include "xxh64_variant.h"
#include "src/base/byte_word.h"

static bool portable_runs_here(void)
{
    return true;
}

static void portable_add(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    for (const unsigned char *end = data + count * XXH64_STRIPE; data < end; data += XXH64_STRIPE) {
        __builtin_prefetch(data + XXH64_AHEAD);
        a = xxh64_step(a, byte_word(data) * XXH64_PRIME_2);
        b = xxh64_step(b, byte_word(data + 8) * XXH64_PRIME_2);
        c = xxh64_step(c, byte_word(data + 16) * XXH64_PRIME_2);
        d = xxh64_step(d, byte_word(data + 24) * XXH64_PRIME_2);
        XXH64_KEEP_APART(a, b, c, d);
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

const struct xxh64_variant xxh64_portable = {"portable", portable_runs_here, portable_add};

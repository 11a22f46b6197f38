/* SPDX-License-Identifier: MIT */
/* The choice of a variant, and everything around whole stripes. */
#include "xxh64.h"
#include "src/base/byte_word.h"

#include <string.h>

#define PRIME_3 UINT64_C(0x165667b19e3779f9)
#define PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME_5 UINT64_C(0x27d4eb2f165667c5)

const struct xxh64_variant *const xxh64_variants[] = {
#if defined __x86_64__ && defined __GNUC__
    &xxh64_avx512,
    &xxh64_avx2,
#endif
    &xxh64_portable,
    NULL,
};

void xxh64_begin_with(struct xxh64 *hash, const struct xxh64_variant *variant)
{
    *hash = (struct xxh64){
        .variant = variant,
        .lanes = {XXH64_PRIME_1 + XXH64_PRIME_2, XXH64_PRIME_2, 0, 0 - XXH64_PRIME_1}};
}

void xxh64_begin(struct xxh64 *hash)
{
    const struct xxh64_variant *const *variant = xxh64_variants;
    while (!(*variant)->runs_here())
        variant++;
    xxh64_begin_with(hash, *variant);
}

void xxh64_add(struct xxh64 *hash, const void *data, size_t len)
{
    const unsigned char *at = data;
    const size_t held = hash->len % XXH64_STRIPE;
    hash->len += len;
    if (len == 0)
        return;
    if (held > 0) {
        const size_t wanted = XXH64_STRIPE - held, some = len < wanted ? len : wanted;
        memcpy(hash->rest + held, at, some);
        if (some < wanted)
            return;
        hash->variant->add(hash->lanes, hash->rest, 1);
        at += some;
        len -= some;
    }
    hash->variant->add(hash->lanes, at, len / XXH64_STRIPE);
    memcpy(hash->rest, at + len / XXH64_STRIPE * XXH64_STRIPE, len % XXH64_STRIPE);
}

static uint64_t value_of_lanes(const struct xxh64 *hash)
{
    static const unsigned by[XXH64_LANES] = {1, 7, 12, 18};
    uint64_t value = 0;
    if (hash->len < XXH64_STRIPE)
        return PRIME_5;
    for (int i = 0; i < XXH64_LANES; i++)
        value += xxh64_rotate(hash->lanes[i], by[i]);
    for (int i = 0; i < XXH64_LANES; i++)
        value = (value ^ xxh64_step(0, hash->lanes[i] * XXH64_PRIME_2)) * XXH64_PRIME_1 + PRIME_4;
    return value;
}

/* Adds the bytes after the last whole stripe: words, half a word, and bytes. */
static uint64_t add_rest(uint64_t value, const unsigned char *at, size_t len)
{
    for (; len >= 8; at += 8, len -= 8) {
        value ^= xxh64_step(0, byte_word(at) * XXH64_PRIME_2);
        value = xxh64_rotate(value, 27) * XXH64_PRIME_1 + PRIME_4;
    }
    if (len >= 4) {
        const uint64_t half =
            at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
        value = xxh64_rotate(value ^ half * XXH64_PRIME_1, 23) * XXH64_PRIME_2 + PRIME_3;
        at += 4, len -= 4;
    }
    for (; len > 0; at++, len--)
        value = xxh64_rotate(value ^ *at * PRIME_5, 11) * XXH64_PRIME_1;
    return value;
}

uint64_t xxh64_value(const struct xxh64 *hash)
{
    uint64_t value =
        add_rest(value_of_lanes(hash) + hash->len, hash->rest, hash->len % XXH64_STRIPE);
    value = (value ^ value >> 33) * XXH64_PRIME_2;
    value = (value ^ value >> 29) * PRIME_3;
    return value ^ value >> 32;
}

/* SPDX-License-Identifier: MIT */
/* Huffman tables of literals (RFC 8878, section 4.2.1): a weight for each symbol, the last one left
 * out. Weights are stored as they are, or coded by FSE in two streams that take turns. */
#include "src/base/byte_word.h"
#include "zstd_tables.h"

#include <string.h>

#define WEIGHTS_LOG_MAX 6
#define WEIGHTS_BYTES_MAX 127 /* of coded weights */
#define DIRECT_MIN 128        /* a description that begins with this or more has plain weights */

struct weights {
    uint8_t of[HUFFMAN_SYMBOLS_MAX];
    unsigned count;
};

/* --- reading weights --- */

/* Bits that are read from the end to the beginning, with zeros before it. */
struct backward_bits {
    unsigned char bytes[8 + WEIGHTS_BYTES_MAX + 8];
    int at; /* bits that are left */
};

/* Begins at the end. False: the last byte, which marks the end, is 0. */
static bool begin_backward(struct backward_bits *bits, const unsigned char *in, size_t len)
{
    if (len == 0 || in[len - 1] == 0)
        return false;
    memset(bits->bytes, 0, sizeof bits->bytes);
    memcpy(bits->bytes + 8, in, len);
    bits->at = (int)(len - 1) * 8 + 31 - __builtin_clz(in[len - 1]);
    return true;
}

static uint32_t read_backward(struct backward_bits *bits, unsigned count)
{
    bits->at -= (int)count;
    const unsigned at = (unsigned)(bits->at + 64);
    return (uint32_t)(byte_word(bits->bytes + at / 8) >> at % 8) & ((UINT32_C(1) << count) - 1);
}

/* Decodes weights until the bits are used up; the last states of both streams count, too. */
static bool decode_weights(struct weights *weights, const struct fse_state *states, unsigned log,
                           struct backward_bits *bits)
{
    uint32_t state[2];
    state[0] = read_backward(bits, log);
    state[1] = read_backward(bits, log);
    if (bits->at < 0)
        return false;
    for (unsigned turn = 0; weights->count < HUFFMAN_SYMBOLS_MAX - 2; turn ^= 1) {
        const struct fse_state now = states[state[turn]];
        weights->of[weights->count++] = now.symbol;
        if (bits->at < now.bits) {
            weights->of[weights->count++] = states[state[turn ^ 1]].symbol;
            return true;
        }
        state[turn] = now.next + read_backward(bits, now.bits);
    }
    return false;
}

static bool read_coded(struct weights *weights, const unsigned char *in, size_t len)
{
    struct fse_probabilities probabilities;
    struct fse_state states[1 << WEIGHTS_LOG_MAX];
    struct backward_bits bits;
    const size_t used = fse_read(&probabilities, in, len, HUFFMAN_LOG_MAX + 1, WEIGHTS_LOG_MAX);
    if (used == 0 || !begin_backward(&bits, in + used, len - used))
        return false;
    fse_spread(&probabilities, states);
    return decode_weights(weights, states, probabilities.log, &bits);
}

static void read_direct(struct weights *weights, const unsigned char *in, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        weights->of[i] = i % 2 ? in[i / 2] & 15 : in[i / 2] >> 4;
    weights->count = count;
}

/* --- from weights to codes --- */

/* Adds the weight of the last symbol, which makes the code complete. Returns the bits of the
 * longest code, or 0: there is no such weight. */
static unsigned complete(struct weights *weights)
{
    uint32_t sum = 0, left;
    for (unsigned i = 0; i < weights->count; i++) {
        if (weights->of[i] > HUFFMAN_LOG_MAX)
            return 0;
        sum += (UINT32_C(1) << weights->of[i]) >> 1;
    }
    if (sum == 0)
        return 0;
    const unsigned log = 32 - (unsigned)__builtin_clz(sum);
    left = (UINT32_C(1) << log) - sum;
    if (log > HUFFMAN_LOG_MAX || (left & (left - 1)) != 0)
        return 0;
    weights->of[weights->count++] = (uint8_t)(32 - __builtin_clz(left));
    return log;
}

/* Sets the entries. Symbols with the least weight, which have the longest codes, come first. False:
 * the codes of the longest length are not pairs. */
static bool set_entries(struct huffman_table *table, const struct weights *weights, unsigned log)
{
    uint32_t of_weight[HUFFMAN_LOG_MAX + 2] = {0}, at[HUFFMAN_LOG_MAX + 2], next = 0;
    for (unsigned i = 0; i < weights->count; i++)
        of_weight[weights->of[i]]++;
    if (of_weight[1] < 2 || of_weight[1] % 2 != 0)
        return false;
    for (unsigned weight = 1; weight <= log; weight++) {
        at[weight] = next;
        next += of_weight[weight] << (weight - 1);
    }
    for (unsigned symbol = 0; symbol < weights->count; symbol++) {
        const unsigned weight = weights->of[symbol];
        const uint32_t entries = (UINT32_C(1) << weight) >> 1;
        const uint16_t entry = (uint16_t)(symbol | (log + 1 - weight) << 8);
        for (uint32_t i = 0; i < entries; i++)
            table->entries[at[weight] + i] = entry;
        if (weight > 0)
            at[weight] += entries;
    }
    table->log = log;
    table->is_set = true;
    return true;
}

int huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len)
{
    struct weights weights = {.count = 0};
    if (len < 1)
        return -1;
    const bool is_direct = in[0] >= DIRECT_MIN;
    const unsigned count = is_direct ? in[0] - DIRECT_MIN + 1u : 0;
    const size_t size = is_direct ? (count + 1) / 2 : in[0];
    if (size > len - 1)
        return -1;
    if (is_direct)
        read_direct(&weights, in + 1, count);
    else if (!read_coded(&weights, in + 1, size))
        return -1;
    const unsigned log = complete(&weights);
    return log > 0 && set_entries(table, &weights, log) ? (int)(1 + size) : -1;
}

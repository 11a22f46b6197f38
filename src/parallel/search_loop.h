/* SPDX-License-Identifier: MIT */
/* The search for blocks of deflate with vectors. Whoever includes this has LANES, the type `lanes`
 * of so many bytes, and what is done with them:
 *
 *   lanes_load, lanes_store     from and to memory at any address
 *   lanes_bits(low, high, n)    each byte of `low` shifted down by n bits, and filled from `high`
 *   lanes_fill(bits)            what a length fills whose bits are the lowest three
 *   lanes_add(a, b)             sums that saturate
 *   lanes_choose(no, yes, is)   `yes` where the highest bit of `is` is set
 *   lanes_equal(a, bits, value) a bit for each lane whose `bits` are the value */

/* Complete precodes are found at all bits of a stream at once. Lane j of a vector stands for byte
 * j, and each of the eight bits of a byte has a row of lanes, so every bit has a lane. The lane for
 * a later bit is in another row, or some lanes further.
 *
 * A length of n bits fills PRECODE_SPACE >> n. Rows say how much is filled by the length that
 * begins at a bit, by two lengths, by four and by eight. A precode has four lengths, and up to
 * fifteen more: the bits of that number say whether one, two, four and eight of them are there.
 * Sums saturate. */

#define PRECODE_SPACE 128
#define ROW 256      /* lanes; the last vector only has what follows the others */
#define ROW_SLACK 64 /* lanes behind it that are read, and do not matter */
#define FIRST_BITS 7 /* of a block: with these it is not the last, and dynamic */
#define FIRST_BITS_ARE 4

typedef uint8_t rows[8][ROW + ROW_SLACK];

/* The rows of a piece of the stream. */
struct precode_rows {
    rows bits;    /* the eight bits that begin at each bit */
    rows sums[4]; /* of one length, two, four and eight */
};

/* Returns lanes from `at` on, for what is `bit` bits behind the first bit of each byte. */
TARGET INLINE lanes lanes_at(const rows of, unsigned bit, size_t at)
{
    return lanes_load(&of[bit % 8][at + bit / 8]);
}

/* Sets `end` lanes of all rows; reads a byte more. */
TARGET INLINE void set_rows(struct precode_rows *to, const unsigned char *bytes, size_t end)
{
    for (size_t at = 0; at < end; at += LANES) {
        const lanes low = lanes_load(bytes + at), high = lanes_load(bytes + at + 1);
#pragma GCC unroll 8
        for (int bit = 0; bit < 8; bit++) {
            const lanes bits = lanes_bits(low, high, bit);
            lanes_store(&to->bits[bit][at], bits);
            lanes_store(&to->sums[0][bit][at], lanes_fill(bits));
        }
    }
    for (unsigned i = 0; i < 3; i++)
#pragma GCC unroll 8
        for (unsigned bit = 0; bit < 8; bit++)
            for (size_t at = 0; at < end; at += LANES)
                lanes_store(&to->sums[i + 1][bit][at],
                            lanes_add(lanes_at(to->sums[i], bit, at),
                                      lanes_at(to->sums[i], bit + (3u << i), at)));
}

/* Adds what 1 << i lengths fill, behind those that the lower bits of their number say are there, if
 * is[i] says that these are, too. Of `is` only the highest bit of each lane counts. */
TARGET INLINE lanes add_lengths(lanes sum, const struct precode_rows *of, unsigned i,
                                const lanes *is, unsigned bit, size_t at)
{
    lanes sums[8];
#pragma GCC unroll 8
    for (unsigned before = 0; before < 8; before++) /* of which 1 << i are used */
        sums[before] = lanes_at(of->sums[i], bit + 3 * before, at);
#pragma GCC unroll 3
    for (unsigned chosen = 0; chosen < i; chosen++)
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; j++)
            sums[j] = lanes_choose(sums[2 * j], sums[2 * j + 1], is[chosen]);
    return lanes_add(sum, lanes_choose((lanes){0}, sums[0], is[i]));
}

/* Returns a bit for each lane: a block may begin with this bit of its byte, as far as its type and
 * its precode say. */
TARGET INLINE uint64_t complete_lanes(const struct precode_rows *of, unsigned bit, size_t at)
{
    const unsigned precode = bit + DEFLATE_HEADER_SIZE;
    lanes is[4], sum = lanes_at(of->sums[2], precode, at);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        is[i] = lanes_at(of->bits, precode - 4 + i - 7, at);
        sum = add_lengths(sum, of, i, is, precode + 3 * 4, at);
    }
    return lanes_equal(sum, UINT8_MAX, PRECODE_SPACE) &
           lanes_equal(lanes_at(of->bits, bit, at), FIRST_BITS, FIRST_BITS_ARE);
}

/* Adds the bits of LANES bytes, from bit `from` on, with which blocks may begin. */
TARGET INLINE unsigned add_found(const struct deflate_input *input, const struct precode_rows *in,
                                 size_t at, uint64_t from, uint64_t to, uint64_t *found)
{
    uint64_t complete[8], any = 0;
    unsigned count = 0;
#pragma GCC unroll 8
    for (unsigned bit = 0; bit < 8; bit++)
        any |= complete[bit] = complete_lanes(in, bit, at);
    for (; any > 0; any &= any - 1)
        for (unsigned lane = (unsigned)__builtin_ctzll(any), bit = 0; bit < 8; bit++) {
            const uint64_t here = from + 8 * (uint64_t)lane + bit;
            if (!(complete[bit] >> lane & 1) || here >= to)
                continue; /* lanes may be further behind the end than can be read */
            const uint64_t word = deflate_bits(input, here);
            if ((word >> 4 & 15) < 15 && (word >> 9 & 15) < 15)
                found[count++] = here;
        }
    return count;
}

TARGET static unsigned find_precodes(const struct deflate_input *input, uint64_t *from, uint64_t to,
                                     uint64_t *found)
{
    struct precode_rows in;
    unsigned char copy[ROW + LANES] = {0};
    unsigned count = 0;
    while (*from < to && count == 0) {
        const unsigned char *bytes = input->bytes + *from / 8;
        const size_t readable = (size_t)(input->bits - *from) / 8 + DEFLATE_SLACK,
                     tried = (size_t)(to - *from + 7) / 8,
                     end = tried < ROW - LANES ? (tried + LANES - 1) / LANES * LANES : ROW - LANES;
        if (readable <= end + LANES)
            bytes = memcpy(copy, bytes, readable);
        set_rows(&in, bytes, end + LANES);
        for (size_t at = 0; at < end; at += LANES)
            count += add_found(input, &in, at, *from + 8 * at, to, found + count);
        *from += 8 * end;
    }
    return count;
}

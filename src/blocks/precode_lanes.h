/* SPDX-License-Identifier: MIT */
/* Finds complete precodes at all bits of a stream at once. Lane j of a vector stands for byte j,
 * and each of the eight bits of a byte has a row of lanes, so every bit has a lane. The lane for a
 * later bit is in another row, or some lanes further.
 *
 * A length of n bits fills PRECODE_SPACE >> n. Rows say how much is filled by the length that
 * begins at a bit, by two lengths, by four and by eight. A precode has four lengths, and up to
 * fifteen more: the bits of that number say whether one, two, four and eight of them are there.
 * Sums saturate.
 *
 * The including file defines TARGET, INLINE, and
 *
 *     LANES                      of a vector
 *     lanes, condition           types: a vector; true or false for each lane
 *     lanes_load, lanes_store
 *     lanes_add(a, b)            saturating
 *     lanes_bits(low, high, n)   bits n to n + 7 of the 16 bits of `low` and, above it, `high`
 *     lanes_fill(bits)           how much the length in the lowest three bits fills
 *     lanes_top(bits)            true if the highest bit is set
 *     lanes_if(condition, yes, no)
 *     lanes_add_if(condition, sum, more)
 *     lanes_and(a, bits)
 *     lanes_equal(a, value)      a mask with a bit for each lane */

#define PRECODE_SPACE 128
#define ROW 256      /* lanes; the last vector only has what follows the others */
#define ROW_SLACK 64 /* lanes behind it that are read, and do not matter */
#define FIRST_BITS 7 /* of a block: with these it is not the last, and dynamic */
#define FIRST_BITS_ARE 4

typedef uint8_t rows[8][ROW + ROW_SLACK];

/* The rows of a piece of the stream. */
struct precode_rows {
    rows bits; /* the eight bits that begin at each bit */
    rows one, two, four, eight;
};

/* Returns lanes from `at` on, for what is `bit` bits behind the first bit of each byte. */
TARGET INLINE lanes lanes_at(const rows of, unsigned bit, size_t at)
{
    return lanes_load(&of[bit % 8][at + bit / 8]);
}

/* Sets the rows `sums` to the sums of two that are `apart` bits apart. */
TARGET INLINE void add_rows(rows sums, const rows of, unsigned apart, size_t end)
{
#pragma GCC unroll 8
    for (unsigned bit = 0; bit < 8; bit++)
        for (size_t at = 0; at < end; at += LANES)
            lanes_store(&sums[bit][at],
                        lanes_add(lanes_at(of, bit, at), lanes_at(of, bit + apart, at)));
}

/* Sets `end` lanes of all rows; reads a byte more. */
TARGET INLINE void set_rows(struct precode_rows *to, const unsigned char *bytes, size_t end)
{
    for (size_t at = 0; at < end; at += LANES) {
#pragma GCC unroll 8
        for (unsigned bit = 0; bit < 8; bit++) {
            const lanes bits = lanes_bits(lanes_load(bytes + at), lanes_load(bytes + at + 1), bit);
            lanes_store(&to->bits[bit][at], bits);
            lanes_store(&to->one[bit][at], lanes_fill(bits));
        }
    }
    add_rows(to->two, to->one, 3, end);
    add_rows(to->four, to->two, 6, end);
    add_rows(to->eight, to->four, 12, end);
}

/* Returns a bit for each lane: a block may begin with this bit of its byte, as far as its type and
 * its precode say. */
TARGET INLINE uint64_t complete_lanes(const struct precode_rows *of, unsigned bit, size_t at)
{
    const unsigned precode = bit + DEFLATE_HEADER_SIZE;
    const condition one = lanes_top(lanes_at(of->bits, precode - 4 - 7, at)),
                    two = lanes_top(lanes_at(of->bits, precode - 3 - 7, at)),
                    four = lanes_top(lanes_at(of->bits, precode - 2 - 7, at)),
                    eight = lanes_top(lanes_at(of->bits, precode - 1 - 7, at));
    lanes sums[8], sum = lanes_at(of->four, precode, at);
    sum = lanes_add_if(one, sum, lanes_at(of->one, precode + 3 * 4, at));
#pragma GCC unroll 2
    for (unsigned i = 0; i < 2; i++)
        sums[i] = lanes_at(of->two, precode + 3 * (4 + i), at);
    sum = lanes_add_if(two, sum, lanes_if(one, sums[1], sums[0]));
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        sums[i] = lanes_at(of->four, precode + 3 * (4 + i), at);
    sum = lanes_add_if(
        four, sum, lanes_if(two, lanes_if(one, sums[3], sums[2]), lanes_if(one, sums[1], sums[0])));
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++)
        sums[i] = lanes_at(of->eight, precode + 3 * (4 + i), at);
    sum = lanes_add_if(
        eight, sum,
        lanes_if(four,
                 lanes_if(two, lanes_if(one, sums[7], sums[6]), lanes_if(one, sums[5], sums[4])),
                 lanes_if(two, lanes_if(one, sums[3], sums[2]), lanes_if(one, sums[1], sums[0]))));
    return lanes_equal(sum, PRECODE_SPACE) &
           lanes_equal(lanes_and(lanes_at(of->bits, bit, at), FIRST_BITS), FIRST_BITS_ARE);
}

/* True if neither count of codes is too large. */
static bool has_counts(const struct deflate_input *input, uint64_t bit)
{
    const uint64_t word = deflate_bits(input, bit);
    return (word >> 4 & 15) < 15 && (word >> 9 & 15) < 15;
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
            if ((complete[bit] >> lane & 1) && here < to && has_counts(input, here))
                found[count++] = here;
        }
    return count;
}

/* Returns what find_precodes does (block_loops.h). */
TARGET static unsigned find_in_lanes(const struct deflate_input *input, uint64_t *from, uint64_t to,
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

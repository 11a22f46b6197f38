/* SPDX-License-Identifier: MIT */
/* Deflate (RFC 1951): reads the headers of blocks and makes decoding tables of their codes; finds
 * blocks, and parses them one after another. Loops of block_loops.h take the time. */
#include "block_loops.h"

#include <string.h>

#define LITERALS_MAX 286 /* what a dynamic block may have */
#define DISTANCES_MAX 30

/* The number of lengths of the precode, the code in which code lengths are written. */
#define PRECODES 19
#define PRECODE_MAX 7                           /* bits */
#define STORED_SIZE 32                          /* bits that say how much is stored */
#define COUNTS_SIZE 14                          /* bits that say how many codes follow */
#define SPACE ((uint32_t)1 << DEFLATE_CODE_MAX) /* what the codes of a complete code fill */

/* Returns the part of SPACE that a code of this length fills; 0 for 0. */
static inline uint32_t filled_by(unsigned length)
{
    return SPACE >> length & (SPACE - 1);
}

/* Returns the next code of so many bits, in the order of the stream: 1 is added to its highest bit,
 * and carried to lower ones. */
static unsigned code_after(unsigned code, unsigned bits)
{
    const unsigned zeros = ~code & ((1u << bits) - 1);
    if (zeros == 0)
        return 0;
    const unsigned highest = 1u << (31 - __builtin_clz(zeros));
    return (code & (highest - 1)) | highest;
}

/* --- decoding tables ---
 *
 * Symbols are sorted by the length of their codes. A code of n bits is stored once, while the table
 * has 2^n entries. Then the table is doubled, so all other entries of the code are copies. */

/* Entries of symbols, without the bits of the codes. */
#define RARE(kind) (ENTRY_RARE | (uint32_t)(kind) << 8)
#define LITERAL(symbol) ((uint32_t)(symbol) << 16 | 1 << 14)
#define LENGTH(base, extra) ((uint32_t)((base)-LENGTH_MIN) << 24 | ENTRY_LENGTH | (extra))
#define LENGTHS_4(base, extra)                                                                     \
    LENGTH(base, extra), LENGTH((base) + (1 << (extra)), extra),                                   \
        LENGTH((base) + (2 << (extra)), extra), LENGTH((base) + (3 << (extra)), extra)
#define DISTANCE(base, extra) ((uint32_t)(base) << 16 | (extra))
#define DISTANCES_2(base, extra) DISTANCE(base, extra), DISTANCE((base) + (1 << (extra)), extra)

static const uint32_t end_and_lengths[DEFLATE_LITERALS - DEFLATE_END] = {
    RARE(RARE_END),   LENGTHS_4(3, 0),    LENGTHS_4(7, 0),    LENGTHS_4(11, 1),
    LENGTHS_4(19, 2), LENGTHS_4(35, 3),   LENGTHS_4(67, 4),   LENGTHS_4(131, 5),
    LENGTH(258, 0),   RARE(RARE_INVALID), RARE(RARE_INVALID),
};
static const uint32_t distances[DEFLATE_DISTANCES] = {
    DISTANCES_2(1, 0),     DISTANCES_2(3, 0),     DISTANCES_2(5, 1),      DISTANCES_2(9, 2),
    DISTANCES_2(17, 3),    DISTANCES_2(33, 4),    DISTANCES_2(65, 5),     DISTANCES_2(129, 6),
    DISTANCES_2(257, 7),   DISTANCES_2(513, 8),   DISTANCES_2(1025, 9),   DISTANCES_2(2049, 10),
    DISTANCES_2(4097, 11), DISTANCES_2(8193, 12), DISTANCES_2(16385, 13), RARE(RARE_INVALID),
    RARE(RARE_INVALID),
};

/* The symbols of a code in the order of their codes, after those that have none. */
struct sorted {
    uint16_t symbols[DEFLATE_LITERALS];
    unsigned ends[DEFLATE_CODE_MAX + 1]; /* of those whose codes have so many bits, or fewer */
};

static void sort(const uint8_t *lengths, unsigned count, struct sorted *sorted)
{
    unsigned *next = sorted->ends, end = 0;
    memset(next, 0, sizeof sorted->ends);
    for (unsigned i = 0; i < count; i++)
        next[lengths[i]]++;
    for (unsigned bits = 0; bits <= DEFLATE_CODE_MAX; bits++) {
        end += next[bits];
        next[bits] = end - next[bits];
    }
    for (unsigned i = 0; i < count; i++)
        sorted->symbols[next[lengths[i]]++] = (uint16_t)i;
}

static uint32_t entry_of(uint32_t symbol, unsigned bits)
{
    return symbol + bits + (symbol & ENTRY_RARE ? 0 : bits << 8);
}

/* Builds the first table, and the second ones, and sorts the symbols, whose entries are given.
 * Entries of the first that no code leads to are invalid, and take one bit. Codes that have a
 * second table are complete, so all of that is set. */
static void build(uint32_t *table, unsigned first_bits, const uint32_t *symbols,
                  const uint8_t *lengths, unsigned count, struct sorted *sorted)
{
    const unsigned first_size = 1u << first_bits, size = 1u << (DEFLATE_CODE_MAX - first_bits);
    unsigned code = 0, last = first_size, second = first_size - size;
    sort(lengths, count, sorted);
    unsigned next = sorted->ends[0];
    table[0] = table[1] = RARE(RARE_INVALID) | 1;
    for (unsigned bits = 1; bits <= first_bits; bits++) {
        for (; next < sorted->ends[bits]; next++) {
            table[code] = entry_of(symbols[sorted->symbols[next]], bits);
            code = code_after(code, bits);
        }
        if (bits < first_bits)
            memcpy(table + (1u << bits), table, sizeof *table << bits);
    }
    for (unsigned bits = first_bits + 1; bits <= DEFLATE_CODE_MAX; bits++)
        for (; next < sorted->ends[bits]; next++) {
            const unsigned first = code & (first_size - 1);
            const uint32_t entry = entry_of(symbols[sorted->symbols[next]], bits);
            if (first != last) {
                second += size;
                table[last = first] = RARE(RARE_LINK) | second << 16;
            }
            for (unsigned at = code >> first_bits; at < size; at += 1u << (bits - first_bits))
                table[second + at] = entry;
            code = code_after(code, bits);
        }
}

/* Returns what an entry adds to that of a literal before it; if the two cannot be joined, bits that
 * never fit. */
static uint32_t second_of(uint32_t entry)
{
    const uint32_t value = entry & 0xffff0000;
    if (entry & ENTRY_RARE)
        return DEFLATE_CODE_MAX << 8;
    return (entry & 0xffff) | (entry & ENTRY_LENGTH ? value : value << 8);
}

/* Joins literals with the symbol after them, if the bits have that one's whole code, too. */
static void join_literals(uint32_t *table, const struct sorted *sorted)
{
    uint32_t seconds[1 << (LITERAL_BITS - 1)];
    const unsigned *ends = sorted->ends;
    unsigned min = 1, code = 0;
    while (ends[min] == ends[0])
        min++;
    for (unsigned i = 0; i < 1u << (LITERAL_BITS - min); i++)
        seconds[i] = second_of(table[i]);
    for (unsigned bits = min, next = ends[0]; bits <= LITERAL_BITS - min; bits++)
        for (; next < ends[bits]; next++) {
            const uint32_t literal = table[code];
            const unsigned left = LITERAL_BITS - bits;
            for (unsigned i = 0; sorted->symbols[next] < DEFLATE_END && i < 1u << left; i++)
                if ((seconds[i] >> 8 & 15) <= left)
                    table[code + (i << bits)] = literal + seconds[i];
            code = code_after(code, bits);
        }
}

void deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes)
{
    struct sorted sorted;
    uint32_t literals[DEFLATE_LITERALS];
    for (uint32_t i = 0; i < DEFLATE_END; i++)
        literals[i] = LITERAL(i);
    memcpy(literals + DEFLATE_END, end_and_lengths, sizeof end_and_lengths);
    build(tables->literals, LITERAL_BITS, literals, codes->lengths, codes->literals, &sorted);
    join_literals(tables->literals, &sorted);
    build(tables->distances, DISTANCE_BITS, distances, codes->lengths + codes->literals,
          codes->distances, &sorted);
}

/* --- headers --- */

/* The precode's decoding table. An entry has all that a code means, so that most of what the finder
 * tries is ruled out without a branch on it:
 *
 *     bits 0-11   as in the tables of a block
 *          13     PRECODE_REPEATS: the length before is given again
 *          16-19  how many lengths it gives, without the value of the extra bits
 *          24-27  the length */
#define PRECODE_TABLE_SIZE (1 << PRECODE_MAX)
#define PRECODE_REPEATS ((uint32_t)1 << 13)
#define PRECODE(length) ((uint32_t)(length) << 24 | 1 << 16)
#define PRECODES_4(length)                                                                         \
    PRECODE(length), PRECODE((length) + 1), PRECODE((length) + 2), PRECODE((length) + 3)
#define PRECODE_REPEAT(min, extra) ((uint32_t)(min) << 16 | (extra))

/* Entries of symbols, without the bits of their codes. */
static const uint32_t precode_symbols[PRECODES] = {
    PRECODES_4(0),
    PRECODES_4(4),
    PRECODES_4(8),
    PRECODES_4(12),
    PRECODE_REPEAT(3, 2) | PRECODE_REPEATS,
    PRECODE_REPEAT(3, 3),
    PRECODE_REPEAT(11, 7),
};

/* Reads `count` lengths of the precode, which begin at `bit`, and makes its table; false if the
 * code is not complete. */
static bool precode_read(const struct deflate_input *input, uint64_t bit, unsigned count,
                         uint32_t *table)
{
    static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint64_t word = deflate_bits(input, bit) & (((uint64_t)1 << 3 * count) - 1);
    uint8_t lengths[PRECODES];
    struct sorted sorted;
    uint32_t used = 0;
    for (unsigned i = 0; i < PRECODES; i++, word >>= 3) {
        lengths[order[i]] = word & 7;
        used += filled_by(word & 7);
    }
    if (used == SPACE)
        build(table, PRECODE_MAX, precode_symbols, lengths, PRECODES, &sorted);
    return used == SPACE;
}

/* The lengths of a block's codes, as they are read. */
struct lengths {
    const struct deflate_input *input;
    uint64_t bit;          /* the next one */
    uint8_t *all;          /* `total`, and DEFLATE_LENGTHS_SLACK more */
    unsigned count, total; /* count: the last repeat may have begun the next code, too */
};

/* Reads the lengths of the code that ends with `end` lengths. *filled_space is how much of SPACE
 * they fill: more is wrong at once, which rules out most of what the finder tries. */
static enum deflate_stop read_lengths(struct lengths *lengths, const uint32_t *precode,
                                      unsigned begin, unsigned end, uint32_t *filled_space)
{
    const struct deflate_input input = *lengths->input;
    const unsigned total = lengths->total;
    enum deflate_stop read = DEFLATE_ENDED;
    uint64_t bit = lengths->bit;
    unsigned count = lengths->count;
    uint32_t value = count > 0 ? lengths->all[count - 1] : 0,
             used = (count - begin) * filled_by(value);
    while (count < end && read == DEFLATE_ENDED) {
        uint64_t word = deflate_bits(&input, bit);
        for (unsigned i = 0; i < 4 && count < end; i++) { /* at most 14 bits each */
            const uint32_t entry = precode[word & (PRECODE_TABLE_SIZE - 1)];
            const unsigned taken = entry & 255, extra = (unsigned)word & ((1u << taken) - 1),
                           times = (entry >> 16 & 15) + (extra >> (entry >> 8 & 15));
            const unsigned here = times < end - count ? times : end - count;
            value = (value & (0 - (entry / PRECODE_REPEATS & 1))) | entry >> 24;
            word >>= taken;
            bit += taken;
            used += here * filled_by(value);
            if (bit > input.bits || times > total - count || used > SPACE) {
                read = bit > input.bits ? DEFLATE_CUT : DEFLATE_CORRUPT;
                break;
            }
            for (unsigned set = 0; set < times; set += DEFLATE_LENGTHS_SLACK)
                memset(lengths->all + count + set, (int)value, DEFLATE_LENGTHS_SLACK);
            count += times;
        }
    }
    lengths->bit = bit;
    lengths->count = count;
    *filled_space = used;
    return read;
}

/* True if the code fills all of SPACE, or if it has one code, of one bit. */
static bool is_complete(const uint8_t *lengths, unsigned count, uint32_t used)
{
    unsigned codes = 0;
    if (used == SPACE / 2)
        for (unsigned i = 0; i < count; i++)
            codes += lengths[i] > 0;
    return used == SPACE || codes == 1;
}

enum deflate_stop deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_codes *codes)
{
    uint32_t precode[PRECODE_TABLE_SIZE];
    const uint64_t word = deflate_bits(input, *bit);
    const unsigned count = (word >> 10 & 15) + 4;
    const uint64_t end = *bit + COUNTS_SIZE + (uint64_t)3 * count;
    codes->literals = (word & 31) + 257;
    codes->distances = (word >> 5 & 31) + 1;
    *bit = end;
    if (end > input->bits)
        return DEFLATE_CUT;
    if (codes->literals > LITERALS_MAX || codes->distances > DISTANCES_MAX ||
        !precode_read(input, end - (uint64_t)3 * count, count, precode) ||
        (precode[deflate_bits(input, end) & (PRECODE_TABLE_SIZE - 1)] & PRECODE_REPEATS))
        return DEFLATE_CORRUPT;
    struct lengths lengths = {input, end, codes->lengths, 0, codes->literals + codes->distances};
    uint32_t used;
    enum deflate_stop read = read_lengths(&lengths, precode, 0, codes->literals, &used);
    if (read == DEFLATE_ENDED &&
        (codes->lengths[DEFLATE_END] == 0 || !is_complete(codes->lengths, codes->literals, used)))
        read = DEFLATE_CORRUPT;
    if (read == DEFLATE_ENDED)
        read = read_lengths(&lengths, precode, codes->literals, lengths.total, &used);
    if (read == DEFLATE_ENDED && used > 0 &&
        !is_complete(codes->lengths + codes->literals, codes->distances, used))
        read = DEFLATE_CORRUPT;
    *bit = lengths.bit;
    return read;
}

/* Sets the codes of a fixed block (RFC 1951, section 3.2.6). */
static void fixed_codes(struct deflate_codes *codes)
{
    codes->literals = DEFLATE_LITERALS;
    codes->distances = DEFLATE_DISTANCES;
    memset(codes->lengths, 8, 144);
    memset(codes->lengths + 144, 9, 112);
    memset(codes->lengths + 256, 7, 24);
    memset(codes->lengths + 280, 8, 8);
    memset(codes->lengths + DEFLATE_LITERALS, 5, DEFLATE_DISTANCES);
}

/* Reads the size of a stored block, which begins at the next byte after *bit. */
static enum deflate_stop read_stored(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_header *header)
{
    const uint64_t at = (*bit + 7) / 8 * 8;
    if (at + STORED_SIZE > input->bits)
        return DEFLATE_CUT;
    const uint64_t sizes = deflate_bits(input, at);
    header->size = sizes & 0xffff;
    *bit = at + STORED_SIZE;
    return header->size == (~sizes >> 16 & 0xffff) ? DEFLATE_ENDED : DEFLATE_CORRUPT;
}

enum deflate_stop deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                      struct deflate_header *header)
{
    enum deflate_stop read = DEFLATE_ENDED;
    uint64_t end = *bit + DEFLATE_TYPE_SIZE;
    if (end > input->bits)
        return DEFLATE_CUT;
    const uint64_t word = deflate_bits(input, *bit);
    header->is_last = word & 1;
    header->type = (enum deflate_type)(word >> 1 & 3);
    if (header->type == DEFLATE_STORED)
        read = read_stored(input, &end, header);
    else if (header->type == DEFLATE_FIXED)
        fixed_codes(&header->codes);
    else if (header->type == DEFLATE_DYNAMIC)
        read = deflate_read_codes(input, &end, &header->codes);
    else
        read = DEFLATE_CORRUPT;
    if (read == DEFLATE_ENDED)
        *bit = end;
    return read;
}

/* --- finding --- */

uint64_t deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                      uint64_t from, uint64_t to, int64_t *budget)
{
    uint64_t found[PRECODES_MAX], at = from / 8 * 8;
    to = to < input->bits ? to : input->bits;
    if (budget && *budget < 0)
        return DEFLATE_NONE;
    while (at < to) {
        /* Nearly all bits are ruled out by the first bits of a block and by its precode. Where
         * these fit, the codes are read: one bit in some 2000. */
        const unsigned count = loops->find_precodes(input, &at, to, found);
        for (unsigned i = 0; i < count; i++) {
            struct deflate_codes codes;
            uint64_t end = found[i] + DEFLATE_TYPE_SIZE;
            if (found[i] < from)
                continue;
            const enum deflate_stop read = deflate_read_codes(input, &end, &codes);
            if (budget)
                *budget -= (int64_t)(end - found[i]);
            if (read == DEFLATE_ENDED)
                return found[i];
            if (budget && *budget < 0)
                return DEFLATE_NONE;
        }
    }
    return DEFLATE_NONE;
}

/* --- parsing --- */

/* More room than one round of a loop takes. */
#define LITERALS_MARGIN 16
#define OPERATIONS_MARGIN 32

/* Bits of input that take as long to parse as a block takes to begin, with its header and tables;
 * and as an operation, of which two bits may make thirteen. */
#define BLOCK_WORK 4096
#define OPERATION_WORK 2

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sets the next stops, with which any literals and matches fit: half the room for content is for
 * either, and half that for operations is for literals before the next match. False: the run is
 * full. */
static bool set_stops(struct filling *filling)
{
    const struct parsed_run *run = filling->run;
    const uint32_t pending = pending_literals(filling);
    const size_t content = DEFLATE_RUN_CONTENT_MAX - filling->writer.content - pending;
    const size_t operations =
        run->operations_max - pending / COPY_MAX - (size_t)(filling->writer.next - run->operations);
    const size_t literals = min_of(min_of(content / 2, operations / 2 * COPY_MAX),
                                   run->literals_max - (size_t)(filling->literal - run->literals));
    const size_t matches = min_of(content / 2 / COPY_MAX, operations / 2);
    if (literals <= LITERALS_MARGIN || matches <= OPERATIONS_MARGIN)
        return false;
    filling->literals_stop = filling->literal + literals - LITERALS_MARGIN;
    filling->operations_stop = filling->writer.next + matches - OPERATIONS_MARGIN;
    return true;
}

/* Copies the bytes that are there of a stored block. */
static enum deflate_stop parse_stored(struct deflate_position *position, struct filling *filling)
{
    const struct deflate_input *input = filling->input;
    size_t left = position->header.size, here = (input->bits - position->bit) / 8;
    while (left > 0 && here > 0 && set_stops(filling)) {
        const size_t space = (size_t)(filling->literals_stop - filling->literal),
                     some = min_of(min_of(left, here), space);
        memcpy(filling->literal, input->bytes + position->bit / 8, some);
        filling->literal += some;
        position->bit += 8 * some;
        left -= some;
        here -= some;
    }
    position->header.size = (uint32_t)left;
    return left == 0 ? DEFLATE_ENDED : here == 0 ? DEFLATE_CUT : DEFLATE_FULL;
}

/* Parses the block that begins at the place, or the rest of the one it is in. DEFLATE_ENDED: the
 * block ended. */
static enum deflate_stop parse_block(struct deflate_parser *parser,
                                     struct deflate_position *position, struct filling *filling)
{
    const struct deflate_header *header = &position->header;
    enum deflate_stop stop = DEFLATE_ENDED;
    if (!position->is_inside)
        stop = deflate_read_header(filling->input, &position->bit, &position->header);
    if (stop != DEFLATE_ENDED)
        return stop;
    if (header->type == DEFLATE_STORED) {
        stop = parse_stored(position, filling);
    } else {
        if (header->type != DEFLATE_FIXED || !parser->is_fixed)
            deflate_tables_build(&parser->tables, &header->codes);
        parser->is_fixed = header->type == DEFLATE_FIXED;
        filling->bit = position->bit;
        stop = DEFLATE_FULL;
        while (stop == DEFLATE_FULL && set_stops(filling))
            stop = parser->loops->parse_symbols(filling);
        position->bit = filling->bit;
    }
    position->is_inside = stop != DEFLATE_ENDED;
    return stop;
}

/* Returns how far before content that was added its matches begin: operations from `from` on,
 * before which the run has `before` bytes of content. Only matches of the first bytes can begin
 * there. */
static uint32_t reach_of(const struct parsed_run *run, size_t from, uint32_t before)
{
    const operation *next = run->operations + from, *end = run->operations + run->operations_len;
    int32_t min = (int32_t)before;
    for (uint32_t content = 0; next < end && content < DEFLATE_WINDOW; next++) {
        const int32_t source = (int32_t)(uint32_t)*next;
        min = source < min ? source : min;
        content += operation_literals(*next) + operation_match(*next);
    }
    return before - (uint32_t)min;
}

enum deflate_stop deflate_parse(struct deflate_parser *parser, const struct deflate_input *input,
                                struct deflate_position *position, uint64_t until,
                                struct parsed_run *run)
{
    const size_t from = run->operations_len;
    const uint32_t before = run->content;
    struct filling filling = {.run = run,
                              .input = input,
                              .tables = &parser->tables,
                              .writer = {.next = run->operations + from, .content = before},
                              .literal = run->literals + run->literals_len,
                              .added = run->literals + run->literals_len};
    const uint64_t begin = position->bit,
                   work_max = parser->work_max ? parser->work_max : UINT64_MAX;
    uint64_t blocks = 0;
    enum deflate_stop stop;
    do {
        stop = parse_block(parser, position, &filling);
        if (pending_literals(&filling) > 0)
            operations_add_long(&filling.writer, pending_literals(&filling), 0, 0);
        filling.added = filling.literal;
        run->operations_len = (size_t)(filling.writer.next - run->operations);
        parser->work = ++blocks * BLOCK_WORK + (position->bit - begin) +
                       OPERATION_WORK * (uint64_t)(run->operations_len - from);
        if (stop != DEFLATE_ENDED || position->header.is_last)
            break;
        if (position->bit >= until || parser->work > work_max)
            stop = DEFLATE_REACHED;
    } while (stop == DEFLATE_ENDED);
    run->literals_len = (size_t)(filling.literal - run->literals);
    run->content = filling.writer.content;
    run->reach = reach_of(run, from, before);
    run->needs_fallback = stop == DEFLATE_CORRUPT;
    return stop;
}

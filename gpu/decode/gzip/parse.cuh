// SPDX-License-Identifier: MIT
// The stage parse of gzip: blocks become units of literals and sequences.
//
// Takes the candidates, in order; gives a part for each, and its units. A part begins at a
// candidate and goes on, over stored and fixed blocks and dynamic ones that were not found, until a
// block begins at another candidate. So the parts of a file are linked, and those that are linked
// from its first block on are right. A false candidate has a part that nobody asks for.
//
// A CUDA block is a warp, which takes one candidate after the other and decodes windows of its
// blocks. Each window is a unit. Shared memory: the tables and a window, 20 KiB.
//
// Data can be made in which thousands of candidates are false, and have parts as long as the batch.
// So the parts of candidates have a budget of work: GZIP_WORK times the bytes of the batch.
#ifndef GPUHISTO_GPU_DECODE_GZIP_PARSE_CUH
#define GPUHISTO_GPU_DECODE_GZIP_PARSE_CUH

#include "gpu/decode/gzip/codes.cuh"
#include "gpu/decode/stages.h"

// --- windows ---
//
// A window is some compressed bits of a block, which the lanes of a warp decode together. Each lane
// has a region of it, and begins some hundred bits before that, to fall into step with the codes
// (doc/decoding.md):
//
//     lane 0   |=================|=                 = decoded; ends with a code that begins in its
//     lane 1            ~~~~~~~~~|=================|==                               own region
//     lane 2                              ~~~~~~~~~|=================|       ~ to fall into step
//
// Lane 0 begins where the block before was left, so it is right. A lane is right if the one before
// is and ends where it begins. Other lanes are decoded again, from where the one before has ended,
// until all are right: once in most windows, and 32 times if codes never fall into step.
//
// First codes are only counted. Then each lane knows where its literals and sequences go, decodes
// once more and writes them.

// Words of a lane's region. They are odd, so that lanes read from different banks of shared memory.
// If codes have so much content that one region of the large ones is too much for a unit, regions
// are small.
constexpr unsigned GZIP_REGION_LARGE = 65, GZIP_REGION_SMALL = 17;
static_assert(GZIP_REGION_SMALL * 32 / 2 * 258 + 258 <= GZIP_UNIT_CONTENT, "a region is a unit");

constexpr unsigned GZIP_WARM_UP = 512; // bits before a region, and of its head

// Words of a window beside its regions: it begins with one of four words, and ends with a code.
constexpr unsigned GZIP_WORDS_MORE = 8;

// The shared memory that a warp needs to parse.
struct gzip_parser {
    gzip_codes codes;
    __align__(16) unsigned words[32 * GZIP_REGION_LARGE + GZIP_WORDS_MORE]; // of the input
};

enum gzip_lane_stop {
    GZIP_LANE_GOES_ON, // the next code begins in the next region
    GZIP_LANE_END,     // the block has ended
    GZIP_LANE_CUT,     // the input ends before the code does
    GZIP_LANE_BAD      // no code has these bits
};

// A sink that counts what is decoded.
struct gzip_count {
    unsigned sequences = 0, literals = 0;
    unsigned copied = 0; // bytes of matches
    unsigned after = 0;  // literals after the last match

    __device__ __forceinline__ void literal(unsigned)
    {
        literals++;
        after++;
    }

    __device__ __forceinline__ void match(unsigned length, unsigned)
    {
        sequences++;
        copied += length;
        after = 0;
    }
};

// A sink that writes what is decoded. `begin` and `first` are where the content and the literals of
// the next sequence begin.
struct gzip_write {
    decode_sequence *sequences;
    unsigned char *literals;
    unsigned content, literal_count, begin, first;

    __device__ __forceinline__ void literal(unsigned byte)
    {
        *literals++ = static_cast<unsigned char>(byte);
        literal_count++;
        content++;
    }

    __device__ __forceinline__ void match(unsigned length, unsigned distance)
    {
        *sequences++ = begin | static_cast<decode_sequence>(first) << DECODE_LITERALS_SHIFT |
                       static_cast<decode_sequence>(distance) << DECODE_OFFSET_SHIFT;
        content += length;
        begin = content;
        first = literal_count;
    }
};

// Returns the entry of the code that these bits begin with.
template <unsigned Bits, unsigned Symbols>
DEVICE_INLINE gzip_entry gzip_entry_at(const gzip_code<Symbols> &code, const gzip_entry *table,
                                       unsigned bits)
{
    gzip_entry entry = table[bits & ((1u << Bits) - 1)];
    if (entry == 0)
        entry = gzip_find_code<Bits + 1, GZIP_CODE_MAX>(code, code.limit, bits);
    return entry ? entry : GZIP_NO_CODE;
}

constexpr unsigned GZIP_MATCH_BITS = 48; // of a length, a distance and what is added to them

// Takes a length and the distance after it, or the end of the block. `low` and `high` have the bits
// from it on, GZIP_MATCH_BITS of which are valid.
template <typename Sink>
DEVICE_INLINE gzip_lane_stop gzip_take_match(const gzip_codes &codes, gzip_entry entry,
                                             unsigned low, unsigned high, unsigned &bit,
                                             unsigned end, Sink &sink)
{
    const unsigned kind = gzip_entry_kind(entry), extra = entry >> 4 & 15;
    unsigned used = entry & 15;
    if (kind == GZIP_END) {
        if (bit + used > end)
            return GZIP_LANE_CUT;
        bit += used;
        return GZIP_LANE_END;
    }
    const unsigned length = (entry >> GZIP_VALUE_SHIFT) + (low >> used & ((1u << extra) - 1));
    used += extra;
    const unsigned rest = __funnelshift_r(low, high, used);
    const gzip_entry distance =
        gzip_entry_at<GZIP_DISTANCE_BITS>(codes.distances, codes.distance_table, rest);
    if (kind == GZIP_INVALID || gzip_entry_kind(distance) == GZIP_INVALID)
        return bit + GZIP_MATCH_BITS > end ? GZIP_LANE_CUT : GZIP_LANE_BAD;
    const unsigned distance_bits = distance & 15, more = distance >> 4 & 15;
    const unsigned back =
        (distance >> GZIP_VALUE_SHIFT) + (rest >> distance_bits & ((1u << more) - 1));
    used += distance_bits + more;
    if (bit + used > end)
        return GZIP_LANE_CUT;
    sink.match(length, back);
    bit += used;
    return GZIP_LANE_GOES_ON;
}

// Decodes codes from `bit` on that begin before `limit`. `bit` goes on to the next one, or stays at
// one that is cut or bad. Bits count from parser.words; the input ends at `end`. After that it may
// be anything, so a code may look bad there; it turns out whether it is when the rest has come.
template <typename Sink>
DEVICE_INLINE gzip_lane_stop gzip_decode(const gzip_parser &parser, unsigned &bit, unsigned limit,
                                         unsigned end, Sink &sink)
{
    const gzip_codes &codes = parser.codes;
    gzip_lane_stop stop = GZIP_LANE_GOES_ON;
    while (stop == GZIP_LANE_GOES_ON && bit < limit) {
        const unsigned *const words = parser.words + bit / 32;
        const unsigned low = __funnelshift_r(words[0], words[1], bit);
        const gzip_entry entry =
            gzip_entry_at<GZIP_LITERAL_BITS>(codes.literals, codes.literal_table, low);
        if (gzip_entry_kind(entry) != GZIP_LITERAL)
            stop = gzip_take_match(codes, entry, low, __funnelshift_r(words[1], words[2], bit), bit,
                                   end, sink);
        else if (bit + (entry & 15) > end)
            stop = GZIP_LANE_CUT;
        else {
            sink.literal(entry >> GZIP_VALUE_SHIFT);
            bit += entry & 15;
        }
    }
    return stop;
}

// The part of its region that a lane has decoded: the head, and the rest. A lane that begins
// elsewhere has mostly fallen into step with the codes before the rest, which then need not be
// decoded again.
struct gzip_lane {
    unsigned begin, middle, end; // bits of parser.words
    gzip_lane_stop stop;
    gzip_count head, rest;

    __device__ __forceinline__ gzip_count count() const
    {
        gzip_count sum;
        sum.sequences = head.sequences + rest.sequences;
        sum.literals = head.literals + rest.literals;
        sum.copied = head.copied + rest.copied;
        sum.after = rest.sequences > 0 ? rest.after : head.after + rest.after;
        return sum;
    }
};

// Decodes the codes that begin before `limit`; those of the head before `head`. Unless it is the
// first time, the rest is not decoded again if the head ends where it did before.
DEVICE_INLINE void gzip_lane_decode(const gzip_parser &parser, gzip_lane &lane, unsigned head,
                                    unsigned limit, unsigned end, bool is_first)
{
    unsigned bit = lane.begin;
    lane.head = gzip_count();
    const gzip_lane_stop stop = gzip_decode(parser, bit, min(head, limit), end, lane.head);
    if (stop == GZIP_LANE_GOES_ON && bit == lane.middle && !is_first)
        return;
    lane.middle = stop == GZIP_LANE_GOES_ON ? bit : DECODE_NONE;
    lane.rest = gzip_count();
    lane.stop = stop;
    if (stop == GZIP_LANE_GOES_ON)
        lane.stop = gzip_decode(parser, bit, limit, end, lane.rest);
    lane.end = bit;
}

// Copies words of the input from a multiple of four on, as far as there are some. The bytes after
// the end of the input may be anything.
DEVICE_INLINE void gzip_load(gzip_parser &parser, const gzip_input &input, unsigned first,
                             unsigned words)
{
    const unsigned there = (input.end + 31) / 32;
    __syncwarp(); // whoever still uses the words before
    for (unsigned i = threadIdx.x % 32 * 4; i < words && first + i < there; i += 128)
        copy_16(parser.words + i, input.words + first + i);
    copies_end_group();
    copies_wait<0>();
    __syncwarp();
}

// The outcome of a window.
struct gzip_window {
    unsigned lanes; // those whose content is in the unit; 0: one has too much for a unit
    unsigned end;   // bits of the input, after what they have decoded
    gzip_lane_stop stop;
    unsigned content, sequences, literals; // of them
};

// Decodes the window from bit `from` of the input on, with regions of so many words. Each lane
// keeps what it has decoded in `own`.
DEVICE_INLINE gzip_window gzip_decode_window(gzip_parser &parser, const gzip_input &input,
                                             unsigned from, unsigned region, gzip_lane &own)
{
    const unsigned lane = threadIdx.x % 32, first = from / 128 * 4, shift = first * 32;
    const unsigned end = input.end - shift;
    gzip_load(parser, input, first, 32 * region + GZIP_WORDS_MORE);
    const unsigned begin = from - shift + lane * region * 32;
    const unsigned limit = min(begin + region * 32, end);
    // The first code in the region, if codes that begin before it fall into step.
    own.begin = lane == 0 ? begin : begin - GZIP_WARM_UP;
    for (const unsigned step = min(begin, end); lane > 0 && own.begin < step;) {
        gzip_count none;
        const gzip_lane_stop stop = gzip_decode(parser, own.begin, step, end, none);
        if (stop == GZIP_LANE_CUT)
            break;
        own.begin += stop == GZIP_LANE_BAD;
    }
    const unsigned head = begin + GZIP_WARM_UP;
    unsigned lanes; // up to the first one that stops; all of these are right in the end
    gzip_lane_decode(parser, own, head, limit, end, true);
    for (;;) {
        const unsigned before = __shfl_up_sync(all_lanes, own.end, 1);
        const unsigned stops = __ballot_sync(all_lanes, own.stop != GZIP_LANE_GOES_ON);
        const bool is_stopped = lane > 0 && stops >> (lane - 1) & 1;
        const bool is_right = lane == 0 || (!is_stopped && before == own.begin);
        const unsigned wrong = __ballot_sync(all_lanes, !is_right);
        lanes = stops ? static_cast<unsigned>(__ffs(static_cast<int>(stops))) : 32;
        if ((wrong & ((lanes < 32 ? 1u << lanes : 0) - 1)) == 0)
            break;
        if (!is_right && !is_stopped) {
            own.begin = before;
            gzip_lane_decode(parser, own, head, limit, end, false);
        }
    }
    const gzip_count count = own.count();
    const unsigned content = warp_sum(lane < lanes ? count.literals + count.copied : 0);
    const bool fits = lane < lanes && content <= GZIP_UNIT_CONTENT;
    const unsigned max = static_cast<unsigned>(__popc(__ballot_sync(all_lanes, fits)));
    const int last = static_cast<int>(max) - 1;
    gzip_window window = {max, from, GZIP_LANE_GOES_ON, 0, 0, 0};
    if (max == 0)
        return window;
    window.end = shift + __shfl_sync(all_lanes, own.end, last);
    window.stop =
        static_cast<gzip_lane_stop>(__shfl_sync(all_lanes, static_cast<unsigned>(own.stop), last));
    window.content = __shfl_sync(all_lanes, content, last);
    window.sequences = __shfl_sync(all_lanes, warp_sum(lane < max ? count.sequences : 0), last);
    window.literals = __shfl_sync(all_lanes, warp_sum(lane < max ? count.literals : 0), last);
    return window;
}

// --- parts ---

// The most blocks of a part. Content that is not compressed has some hundred in a batch.
constexpr unsigned GZIP_PART_BLOCKS = 2048;

// Returns the number of candidates.
DEVICE_INLINE unsigned gzip_candidate_count(const gzip_batch &gzip)
{
    return min(gzip.counters->candidates, gzip.candidates_max);
}

// Returns the candidate that begins at this bit, or the number of them.
DEVICE_INLINE unsigned gzip_find_candidate(const gzip_batch &gzip, unsigned bit)
{
    const unsigned count = gzip_candidate_count(gzip);
    const unsigned index =
        warp_search(count, [&](unsigned i) { return gzip.candidates[i] <= bit; });
    return count > 0 && gzip.candidates[index] == bit ? index : count;
}

// Adds to a counter, by one lane. Returns what it was before.
DEVICE_INLINE unsigned gzip_count_up(unsigned *counter, unsigned by)
{
    unsigned before = 0;
    if (threadIdx.x % 32 == 0)
        before = atomicAdd(counter, by);
    return __shfl_sync(all_lanes, before, 0);
}

// Takes some of `max` elements. Returns where they begin, or DECODE_NONE if there are not so many.
DEVICE_INLINE unsigned gzip_take(unsigned *taken, unsigned count, unsigned max)
{
    const unsigned at = gzip_count_up(taken, count);
    return at <= max && count <= max - at ? at : DECODE_NONE;
}

// What was parsed of a part so far. All lanes of a warp call its functions, and get the same.
struct gzip_parsing {
    gzip_parser &parser;
    const decode_batch &batch;
    const gzip_input input;
    unsigned number; // of the part
    gzip_position position;
    unsigned blocks; // that have begun, at most GZIP_PART_BLOCKS
    gzip_part part = {};
    unsigned region = GZIP_REGION_LARGE; // words of a window's regions, in this block

    // Adds a unit. False if memory is short.
    __device__ bool add_unit(gzip_unit unit)
    {
        const gzip_batch &gzip = batch.gzip;
        const unsigned at = gzip_take(&gzip.counters->units, 1, gzip.units_max);
        if (at == DECODE_NONE)
            return false;
        unit.part = number;
        unit.ordinal = part.units++;
        part.content += unit.content; // there are fewer units than 2^15
        if (threadIdx.x % 32 == 0)
            gzip.units[at] = unit;
        return true;
    }

    __device__ bool add_window(const gzip_window &window, const gzip_lane &own)
    {
        const gzip_batch &gzip = batch.gzip;
        if (window.content == 0)
            return true;
        gzip_unit unit = {};
        unit.content = window.content;
        unit.sequences = window.sequences;
        unit.sequences_at =
            gzip_take(&gzip.counters->sequences, window.sequences + 1, gzip.sequences_max);
        unit.literals = window.literals;
        unit.literals_at = gzip_take(&gzip.counters->literals, window.literals, gzip.literals_max);
        if (unit.sequences_at == DECODE_NONE || unit.literals_at == DECODE_NONE)
            return false;
        // The sequences are written, and one more that has the literals after them.
        const unsigned lane = threadIdx.x % 32;
        const gzip_count count = lane < window.lanes ? own.count() : gzip_count();
        const unsigned sequence_end = warp_sum(count.sequences);
        const unsigned literal_end = warp_sum(count.literals);
        const unsigned content_end = warp_sum(count.literals + count.copied);
        const bool has_match = count.sequences > 0;
        // The next sequence begins after the last match of the lanes before, as positions do not go
        // back.
        const auto max_before = [=](unsigned value) {
            value = warp_before(has_match ? value : 0, 1);
            return warp_max(lane > 0 ? value : 0);
        };
        const unsigned literal_begin = literal_end - count.literals;
        gzip_write write = {batch.sequences + unit.sequences_at + (sequence_end - count.sequences),
                            batch.literals + unit.literals_at + literal_begin,
                            content_end - count.literals - count.copied,
                            literal_begin,
                            max_before(content_end - count.after),
                            max_before(literal_end - count.after)};
        if (lane < window.lanes) {
            unsigned bit = own.begin;
            (void)gzip_decode(parser, bit, own.end, own.end, write);
        }
        if (lane + 1 == window.lanes)
            *write.sequences = write.begin | static_cast<decode_sequence>(write.first)
                                                 << DECODE_LITERALS_SHIFT;
        return add_unit(unit);
    }

    // Reads the codes of the block that begins at `bit` of `from` and is not stored, and sets *end
    // to where they end.
    __device__ gzip_read load_codes(const gzip_input &from, unsigned bit, unsigned *end)
    {
        const unsigned first = bit / 128 * 4, shift = first * 32;
        gzip_load(parser, from, first, GZIP_HEADER_MAX / 4 + GZIP_WORDS_MORE);
        const gzip_input header = {parser.words, from.end - shift};
        unsigned at = bit - shift + 3;
        gzip_read read = GZIP_READ;
        if ((gzip_bits(header.words, bit - shift) >> 1 & 3) == 2)
            read = gzip_read_codes(parser.codes, header, &at);
        else
            gzip_fixed_codes(parser.codes);
        *end = at + shift;
        return read;
    }

    __device__ gzip_stop begin_block()
    {
        const unsigned bit = position.bit;
        if (bit + 3 > input.end)
            return GZIP_STOP_CUT;
        if (blocks++ >= GZIP_PART_BLOCKS)
            return GZIP_STOP_MANY;
        const unsigned header = gzip_bits(input.words, bit), type = header >> 1 & 3;
        if (type == 3)
            return GZIP_STOP_BAD;
        if (type == 0) { // stored: its size begins with the next byte
            const unsigned at = (bit + 3 + 7) / 8 * 8;
            if (at + 32 > input.end)
                return GZIP_STOP_CUT;
            const unsigned sizes = gzip_bits(input.words, at);
            if ((sizes & 0xffff) != (~sizes >> 16))
                return GZIP_STOP_BAD;
            position = {at + 32, GZIP_IN_STORED, 0, sizes & 0xffff, header & 1};
            return GZIP_STOP_NONE;
        }
        unsigned end;
        const gzip_read read = load_codes(input, bit, &end);
        if (read != GZIP_READ)
            return read == GZIP_SHORT ? GZIP_STOP_CUT : GZIP_STOP_BAD;
        position = {end, GZIP_IN_CODES, bit, 0, header & 1};
        region = GZIP_REGION_LARGE;
        return GZIP_STOP_NONE;
    }

    // Ends a block, which may be the last one of the member.
    __device__ gzip_stop end_block()
    {
        const bool is_last = position.is_last;
        position = {position.bit, GZIP_AT_BLOCK, 0, 0, 0};
        if (is_last)
            return GZIP_STOP_ENDED;
        part.next = gzip_find_candidate(batch.gzip, position.bit);
        return part.next < gzip_candidate_count(batch.gzip) ? GZIP_STOP_FOUND : GZIP_STOP_NONE;
    }

    // Goes on with a stored block.
    __device__ gzip_stop take_stored()
    {
        const unsigned size = min(position.left, (input.end - position.bit) / 8);
        if (position.left == 0)
            return end_block();
        if (size == 0)
            return GZIP_STOP_CUT;
        gzip_unit unit = {};
        unit.content = unit.literals = size;
        unit.literals_at = DECODE_CARRY + position.bit / 8;
        unit.is_stored = 1;
        if (!add_unit(unit))
            return GZIP_STOP_FULL;
        position.bit += 8 * size;
        position.left -= size;
        return GZIP_STOP_NONE;
    }

    // Goes on with the codes of a block, by a window.
    __device__ gzip_stop take_codes()
    {
        gzip_lane own;
        if (position.bit >= input.end)
            return GZIP_STOP_CUT;
        const gzip_window window = gzip_decode_window(parser, input, position.bit, region, own);
        if (window.lanes == 0) {
            region = GZIP_REGION_SMALL;
            return GZIP_STOP_NONE;
        }
        if (window.stop == GZIP_LANE_BAD) // mostly of wrong candidates: they take no memory
            return GZIP_STOP_BAD;
        if (!add_window(window, own))
            return GZIP_STOP_FULL;
        position.bit = window.end;
        return window.stop == GZIP_LANE_GOES_ON ? GZIP_STOP_NONE
               : window.stop == GZIP_LANE_END   ? end_block()
                                                : GZIP_STOP_CUT;
    }

    // Parses blocks until something stops that.
    __device__ void parse()
    {
        gzip_stop stop = GZIP_STOP_NONE;
        if (position.inside == GZIP_IN_CODES) { // the header was read before, so it can be read
            const gzip_carry &carry = *gzip_carry_of(&batch);
            const bool is_carried = position.header == GZIP_CARRIED;
            const gzip_input from = {is_carried ? carry.header : input.words,
                                     is_carried ? 8 * GZIP_HEADER_MAX : input.end};
            unsigned end;
            (void)load_codes(from, is_carried ? carry.shift : position.header, &end);
        }
        while (stop == GZIP_STOP_NONE) {
            const gzip_position before = position;
            unsigned bits = 0;
            if (before.inside == GZIP_AT_BLOCK)
                stop = begin_block();
            else if (before.inside == GZIP_IN_STORED)
                stop = take_stored();
            else {
                stop = take_codes();
                bits = position.bit - before.bit;
            }
            // The smallest batches, which cannot be decoded again as smaller ones, have as much of
            // the budget as they need; so have parts of the chain, which are few.
            if (number >= gzip_candidate_count(batch.gzip))
                continue;
            const unsigned size = batch.in_size - DECODE_CARRY;
            const unsigned spent =
                gzip_count_up(&batch.gzip.counters->work, GZIP_STEP_WORK + bits / 8);
            if (spent > GZIP_WORK * size && size > 2 * GZIP_MARGIN && stop == GZIP_STOP_NONE)
                stop = GZIP_STOP_MANY;
        }
        part.stop = stop;
        part.end = position;
    }
};

// --- the stage ---

constexpr unsigned GZIP_PARSE_THREADS = 32;

static __global__ void __launch_bounds__(GZIP_PARSE_THREADS) gzip_parse(decode_batch batch)
{
    __shared__ gzip_parser parser;
    const gzip_batch &gzip = batch.gzip;
    const unsigned count = gzip_candidate_count(gzip);
    for (unsigned i; (i = gzip_count_up(&gzip.counters->next, 1)) < count;) {
        const gzip_position begin = {gzip.candidates[i], GZIP_AT_BLOCK, 0, 0, 0};
        gzip_parsing parsing = {parser, batch, gzip_input_of(batch), i, begin, 0};
        parsing.parse();
        if (threadIdx.x == 0)
            gzip.parts[i] = parsing.part;
    }
}

#endif

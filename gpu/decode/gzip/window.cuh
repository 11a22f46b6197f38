// SPDX-License-Identifier: MIT
// A window: some compressed bits of a block, which the lanes of a warp decode together.
//
// The beginning of a code is only known by decoding the one before. But a lane that begins at a
// wrong bit soon falls into step with the codes by chance, and stays there. So each lane has a
// region of the window, and begins to decode some hundred bits before it, and so mostly knows where
// the first code of its region begins:
//
//     lane 0   |=================|=                 = decoded; ends with a code that begins in its
//     lane 1            ~~~~~~~~~|=================|==                               own region
//     lane 2                              ~~~~~~~~~|=================|           ~ to fall into
//     step
//
// Lane 0 begins where the block before was left, so it is right. A lane is right if the one before
// is and ends where it begins. Other lanes are decoded again, from where the one before has ended,
// until all are right: once in most windows, and 32 times if codes never fall into step.
//
// First codes are only counted. Then each lane knows where its literals and sequences go, decodes
// once more and writes them. Where it comes from: decoding self-synchronising codes side by side
// (Klein and Wiseman, 2003; on GPUs Weissenberger and Schmidt, 2018).
#ifndef GPUHISTO_GZIP_WINDOW_CUH
#define GPUHISTO_GZIP_WINDOW_CUH

#include "gpu/decode/gzip/codes.cuh"

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

// --- one lane ---

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

// These return the entry of the literal or the length that these bits begin with, and of the
// distance.
static __device__ __forceinline__ gzip_entry gzip_literal_at(const gzip_codes &codes, unsigned bits)
{
    gzip_entry entry = codes.literal_table[bits & ((1u << GZIP_LITERAL_BITS) - 1)];
    if (entry == 0)
        entry = gzip_find_code<GZIP_LITERAL_BITS + 1, GZIP_CODE_MAX>(codes.literals,
                                                                     codes.literals.limit, bits);
    return entry ? entry : GZIP_NO_CODE;
}

static __device__ __forceinline__ gzip_entry gzip_distance_at(const gzip_codes &codes,
                                                              unsigned bits)
{
    gzip_entry entry = codes.distance_table[bits & ((1u << GZIP_DISTANCE_BITS) - 1)];
    if (entry == 0)
        entry = gzip_find_code<GZIP_DISTANCE_BITS + 1, GZIP_CODE_MAX>(codes.distances,
                                                                      codes.distances.limit, bits);
    return entry ? entry : GZIP_NO_CODE;
}

// Takes a literal. False if it is cut.
template <typename Sink>
static __device__ __forceinline__ bool gzip_take_literal(gzip_entry entry, unsigned &bit,
                                                         unsigned end, Sink &sink)
{
    if (bit + (entry & 15) > end)
        return false;
    sink.literal(entry >> GZIP_VALUE_SHIFT);
    bit += entry & 15;
    return true;
}

constexpr unsigned GZIP_MATCH_BITS = 48; // of a length, a distance and what is added to them

// Takes a length and the distance after it, or the end of the block. `low` and `high` have the bits
// from it on, GZIP_MATCH_BITS of which are valid.
template <typename Sink>
static __device__ __forceinline__ gzip_lane_stop gzip_take_match(const gzip_codes &codes,
                                                                 gzip_entry entry, unsigned low,
                                                                 unsigned high, unsigned &bit,
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
    const gzip_entry distance = gzip_distance_at(codes, rest);
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
static __device__ __forceinline__ gzip_lane_stop gzip_decode(const gzip_parser &parser,
                                                             unsigned &bit, unsigned limit,
                                                             unsigned end, Sink &sink)
{
    gzip_lane_stop stop = GZIP_LANE_GOES_ON;
    while (stop == GZIP_LANE_GOES_ON && bit < limit) {
        const unsigned *const words = parser.words + bit / 32;
        const unsigned low = __funnelshift_r(words[0], words[1], bit);
        const gzip_entry entry = gzip_literal_at(parser.codes, low);
        if (gzip_entry_kind(entry) != GZIP_LITERAL)
            stop = gzip_take_match(parser.codes, entry, low,
                                   __funnelshift_r(words[1], words[2], bit), bit, end, sink);
        else if (!gzip_take_literal(entry, bit, end, sink))
            stop = GZIP_LANE_CUT;
    }
    return stop;
}

// Returns the first code at `limit` or later, if codes that begin with `bit` fall into step before.
static __device__ inline unsigned gzip_fall_into_step(const gzip_parser &parser, unsigned bit,
                                                      unsigned limit, unsigned end)
{
    while (bit < limit) {
        gzip_count none;
        const gzip_lane_stop stop = gzip_decode(parser, bit, limit, end, none);
        if (stop == GZIP_LANE_CUT)
            return bit;
        bit += stop == GZIP_LANE_BAD;
    }
    return bit;
}

// --- the window ---

// The part of its region that a lane has decoded: the head, and the rest. A lane that begins
// elsewhere has mostly fallen into step with the codes before the rest, which then need not be
// decoded again.
struct gzip_lane {
    unsigned begin, middle, end; // bits of parser.words
    gzip_lane_stop stop;
    gzip_count head, rest;
};

static __device__ __forceinline__ gzip_count gzip_count_of(const gzip_lane &lane)
{
    gzip_count sum;
    sum.sequences = lane.head.sequences + lane.rest.sequences;
    sum.literals = lane.head.literals + lane.rest.literals;
    sum.copied = lane.head.copied + lane.rest.copied;
    sum.after = lane.rest.sequences > 0 ? lane.rest.after : lane.head.after + lane.rest.after;
    return sum;
}

// Decodes the codes that begin before `limit`; those of the head before `head`. Unless it is the
// first time, the rest is not decoded again if the head ends where it did before.
static __device__ __forceinline__ void gzip_lane_decode(const gzip_parser &parser, gzip_lane &lane,
                                                        unsigned head, unsigned limit, unsigned end,
                                                        bool is_first)
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

// The outcome of a window.
struct gzip_window {
    unsigned lanes; // those whose content is in the unit; 0: one has too much for a unit
    unsigned end;   // bits of the input, after what they have decoded
    gzip_lane_stop stop;
    unsigned content, sequences, literals; // of them
};

// Returns the sum of a value over the lanes up to and with this one.
static __device__ __forceinline__ unsigned gzip_sum(unsigned value)
{
    UNROLL for (unsigned by = 1; by < 32; by *= 2)
    {
        const unsigned other = __shfl_up_sync(GZIP_ALL_LANES, value, by);
        value += threadIdx.x % 32 >= by ? other : 0;
    }
    return value;
}

// Copies words of the input from a multiple of four on, as far as there are some. The bytes after
// the end of the input may be anything.
static __device__ inline void gzip_load(gzip_parser &parser, const gzip_input &input,
                                        unsigned first, unsigned words)
{
    const unsigned there = (input.end + 31) / 32;
    __syncwarp(); // whoever still uses the words before
    for (unsigned i = threadIdx.x % 32 * 4; i < words && first + i < there; i += 128)
        copy_16(parser.words + i, input.words + first + i);
    copies_end_group();
    copies_wait<0>();
    __syncwarp();
}

// Decodes the regions of all lanes, until those up to the first that stops are right. Returns that
// lane, or 32.
static __device__ inline unsigned gzip_decode_regions(const gzip_parser &parser, gzip_lane &own,
                                                      unsigned head, unsigned limit, unsigned end)
{
    const unsigned lane = threadIdx.x % 32;
    gzip_lane_decode(parser, own, head, limit, end, true);
    for (;;) {
        const unsigned before = __shfl_up_sync(GZIP_ALL_LANES, own.end, 1);
        const unsigned stops = __ballot_sync(GZIP_ALL_LANES, own.stop != GZIP_LANE_GOES_ON);
        const bool is_stopped = lane > 0 && stops >> (lane - 1) & 1;
        const bool is_right = lane == 0 || (!is_stopped && before == own.begin);
        const unsigned wrong = __ballot_sync(GZIP_ALL_LANES, !is_right);
        const unsigned stopped = stops ? static_cast<unsigned>(__ffs(static_cast<int>(stops))) : 32;
        if ((wrong & ((stopped < 32 ? 1u << stopped : 0) - 1)) == 0)
            return stopped;
        if (!is_right && !is_stopped) {
            own.begin = before;
            gzip_lane_decode(parser, own, head, limit, end, false);
        }
    }
}

// Decodes the window from bit `from` of the input on, with regions of so many words. Each lane
// keeps what it has decoded in `own`.
static __device__ inline gzip_window gzip_decode_window(gzip_parser &parser,
                                                        const gzip_input &input, unsigned from,
                                                        unsigned region, gzip_lane &own)
{
    const unsigned lane = threadIdx.x % 32, first = from / 128 * 4, shift = first * 32;
    const unsigned end = input.end - shift;
    gzip_load(parser, input, first, 32 * region + GZIP_WORDS_MORE);
    const unsigned begin = from - shift + lane * region * 32;
    const unsigned limit = min(begin + region * 32, end);
    own.begin =
        lane == 0 ? begin : gzip_fall_into_step(parser, begin - GZIP_WARM_UP, min(begin, end), end);
    const unsigned lanes = gzip_decode_regions(parser, own, begin + GZIP_WARM_UP, limit, end);
    const gzip_count count = gzip_count_of(own);
    const unsigned content = gzip_sum(lane < lanes ? count.literals + count.copied : 0);
    const bool fits = lane < lanes && content <= GZIP_UNIT_CONTENT;
    const unsigned max = static_cast<unsigned>(__popc(__ballot_sync(GZIP_ALL_LANES, fits)));
    const int last = static_cast<int>(max) - 1;
    gzip_window window = {max, from, GZIP_LANE_GOES_ON, 0, 0, 0};
    if (max == 0)
        return window;
    window.end = shift + __shfl_sync(GZIP_ALL_LANES, own.end, last);
    window.stop = static_cast<gzip_lane_stop>(
        __shfl_sync(GZIP_ALL_LANES, static_cast<unsigned>(own.stop), last));
    window.content = __shfl_sync(GZIP_ALL_LANES, content, last);
    window.sequences =
        __shfl_sync(GZIP_ALL_LANES, gzip_sum(lane < max ? count.sequences : 0), last);
    window.literals = __shfl_sync(GZIP_ALL_LANES, gzip_sum(lane < max ? count.literals : 0), last);
    return window;
}

// Returns the largest value of the lanes before this one, or 0.
static __device__ __forceinline__ unsigned gzip_max_before(unsigned value)
{
    const unsigned lane = threadIdx.x % 32;
    value = __shfl_up_sync(GZIP_ALL_LANES, value, 1);
    value = lane > 0 ? value : 0;
    UNROLL for (unsigned by = 1; by < 32; by *= 2)
    {
        const unsigned other = __shfl_up_sync(GZIP_ALL_LANES, value, by);
        value = lane >= by ? max(value, other) : value;
    }
    return value;
}

// Writes the sequences of a window, and one more that has the literals after them.
static __device__ inline void gzip_write_window(const gzip_parser &parser,
                                                const gzip_window &window, const gzip_lane &own,
                                                decode_sequence *sequences, unsigned char *literals)
{
    const unsigned lane = threadIdx.x % 32;
    const gzip_count count = lane < window.lanes ? gzip_count_of(own) : gzip_count();
    const unsigned sequence_end = gzip_sum(count.sequences);
    const unsigned literal_end = gzip_sum(count.literals);
    const unsigned content_end = gzip_sum(count.literals + count.copied);
    const bool has_match = count.sequences > 0;
    // The place where the next sequence begins after this lane, as positions do not go back.
    const unsigned begin = has_match ? content_end - count.after : 0;
    const unsigned first = has_match ? literal_end - count.after : 0;
    const unsigned literal_begin = literal_end - count.literals;
    gzip_write write = {sequences + (sequence_end - count.sequences),
                        literals + literal_begin,
                        content_end - count.literals - count.copied,
                        literal_begin,
                        gzip_max_before(begin),
                        gzip_max_before(first)};
    if (lane < window.lanes) {
        unsigned bit = own.begin;
        (void)gzip_decode(parser, bit, own.end, own.end, write);
    }
    if (lane + 1 == window.lanes)
        *write.sequences = write.begin | static_cast<decode_sequence>(write.first)
                                             << DECODE_LITERALS_SHIFT;
}

#endif

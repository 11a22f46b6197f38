// SPDX-License-Identifier: MIT
// The stages that put the units of a batch of gzip in order: chain finds out which parts are
// content, and order makes blocks of their units.
//
// chain goes from where the batch before has ended. Takes parts, candidates and the carry; marks
// the parts that are content, and gives frames, which are members, what these state at their ends,
// counts of frames and blocks, and the carry of the next batch. Or it refuses the batch, if it is
// corrupt, does not fit, or ends with the file too early.
//
// One warp goes from one part to the next, 32 parts in a row at a time: each lane knows where its
// own part goes on, so the way is a few shuffles, and where each part is in the content a sum. It
// parses blocks itself that begin at no candidate: those that are cut by the batch, stored and
// fixed ones. It is one warp, though, and a core is faster: so files of very many members, or with
// very many blocks that cannot be found, are left to the cores.
//
// A batch has at least one frame, and a frame at least one unit, which may be empty.
//
// Shared memory: 20 KiB, to parse.
#ifndef GPUHISTO_GPU_DECODE_GZIP_CHAIN_CUH
#define GPUHISTO_GPU_DECODE_GZIP_CHAIN_CUH

#include "gpu/decode/gzip/parse.cuh"
#include "gpu/decode/zstd/tables.cuh"

// --- the header of a member (RFC 1952) ---
//
// It is read by all lanes, which get the same, and refused where src/codec/gzip.c refuses it.

constexpr unsigned GZIP_FIXED_BYTES = 10, GZIP_TRAILER_BYTES = 8; // of a member
constexpr unsigned GZIP_MAGIC = 0x088b1f;                         // with the only method

enum gzip_flag {
    GZIP_HAS_CHECKSUM = 2,
    GZIP_HAS_EXTRA = 4,
    GZIP_HAS_NAME = 8,
    GZIP_HAS_COMMENT = 16,
    GZIP_FLAGS_UNKNOWN = 0xe0
};

// Returns up to 4 bytes, the first one lowest.
DEVICE_INLINE unsigned gzip_bytes(const gzip_input &input, unsigned at)
{
    return gzip_bits(input.words, 8 * at);
}

// Returns the first byte from this one on that is zero, or that is not; the end of the input if
// none is.
DEVICE_INLINE unsigned gzip_find_byte(const gzip_input &input, unsigned at, bool zero)
{
    const unsigned end = input.end / 8, lane = threadIdx.x % 32;
    for (; at < end; at = (at / 4 + 32) * 4) {
        const unsigned first = (at / 4 + lane) * 4; // the byte with which the lane's word begins
        const unsigned before = lane == 0 ? (1u << 8 * (at % 4)) - 1 : 0; // bits not asked for
        const unsigned word = first < end ? input.words[first / 4] : 0;
        const unsigned zeros = ((word | before) - 0x01010101) & ~(word | before) & 0x80808080;
        const unsigned marks = zero ? zeros : word & ~before; // the lowest one is right
        const unsigned found = __ballot_sync(all_lanes, marks != 0);
        if (found) {
            const int which = __ffs(static_cast<int>(found)) - 1;
            const unsigned own =
                first + static_cast<unsigned>(__ffs(static_cast<int>(marks)) - 1) / 8;
            return min(end, __shfl_sync(all_lanes, own, which));
        }
    }
    return end;
}

// Reads the header of the member that begins at a byte of the input, and sets *end to where it
// ends.
DEVICE_INLINE gzip_read gzip_read_member(const gzip_input &input, unsigned begin, unsigned *end)
{
    const unsigned size = input.end / 8, left = size - begin;
    const unsigned fixed = gzip_bytes(input, begin), flags = fixed >> 24;
    const unsigned magic_bits = left < 3 ? 8 * left : 24;
    unsigned at = begin + GZIP_FIXED_BYTES;
    if ((fixed ^ GZIP_MAGIC) & ((1u << magic_bits) - 1))
        return GZIP_WRONG;
    if (left > 3 && (flags & GZIP_FLAGS_UNKNOWN))
        return GZIP_WRONG;
    // If the input ends before the flags, the result is the same with any flags.
    if (flags & GZIP_HAS_EXTRA) {
        if (at + 2 > size)
            return GZIP_SHORT;
        at += 2 + (gzip_bytes(input, at) & 0xffff);
    }
    for (unsigned flag = GZIP_HAS_NAME; flag <= GZIP_HAS_COMMENT; flag *= 2)
        if (flags & flag)
            at = gzip_find_byte(input, at, true) + 1;
    if (at + (flags & GZIP_HAS_CHECKSUM) > size)
        return GZIP_SHORT;
    if (flags & GZIP_HAS_CHECKSUM) {
        unsigned crc = 0xffffffff; // of which the lower half is there
        for (unsigned i = begin; i < at; i++) {
            crc ^= gzip_bytes(input, i) & 255;
            for (unsigned bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
        }
        if ((gzip_bytes(input, at) ^ ~crc) & 0xffff)
            return GZIP_WRONG;
        at += 2;
    }
    *end = at;
    return GZIP_READ;
}

// --- the chain ---

constexpr unsigned GZIP_CHAIN_THREADS = 32;

// The most units that the chain itself adds to a batch. In incompressible content each is a stored
// block, which takes some microseconds; one of a few codes takes ten times that.
constexpr unsigned GZIP_CHAIN_UNITS = 2048;

// The chain, and how far it has come. All lanes know the same.
struct gzip_chainer {
    const decode_batch &batch;
    const gzip_batch &gzip;
    const gzip_input input;
    gzip_parser &parser;

    gzip_state state;
    gzip_position position;
    unsigned long long before;                   // bytes of content of the member before the batch
    unsigned units = 0, content = 0;             // so far, of all frames
    unsigned frames = 0;                         // before the one that is open
    unsigned frame_first = 0;                    // the unit and
    unsigned frame_content = 0;                  // the byte of content with which the frame begins
    bool begins = false;                         // that is in this batch
    unsigned parts = gzip_candidate_count(gzip); // that there are
    unsigned own_units = 0;                      // of parts that are not of candidates
    unsigned own_blocks = 0;                     // of these parts: GZIP_PART_BLOCKS at most of all
    bool is_over = false;                        // the batch has no more, or is refused
    decode_refusal refusal = DECODE_TAKEN;

    __device__ void refuse(decode_refusal why)
    {
        refusal = why;
        is_over = true;
    }

    // Refuses the batch because no more units, parts or members can be added.
    __device__ void refuse_full()
    {
        refuse(own_units < GZIP_CHAIN_UNITS ? DECODE_NO_ROOM : DECODE_TOO_MANY);
    }

    __device__ bool is_in_member() const
    {
        return state == GZIP_BLOCKS || state == GZIP_TRAILER;
    }

    // --- parts ---

    // Adds units with so much content. Refuses the batch, and returns false, if there is no room.
    __device__ bool add(unsigned more_units, unsigned more_content)
    {
        if (more_units > gzip.blocks_max - units || more_content > batch.room - content) {
            refuse(DECODE_NO_ROOM);
            return false;
        }
        units += more_units;
        content += more_content;
        return true;
    }

    // Records what ended the chain of parts, and where.
    __device__ void stop_at(unsigned stop, const gzip_position &end)
    {
        position = end;
        if (stop == GZIP_STOP_ENDED) {
            state = GZIP_TRAILER;
            position.bit = (end.bit + 7) / 8 * 8;
        } else if (stop == GZIP_STOP_CUT)
            is_over = true;
        else if (stop == GZIP_STOP_FULL)
            refuse_full();
        else
            refuse(stop == GZIP_STOP_MANY ? DECODE_TOO_MANY : DECODE_BAD);
    }

    // Takes the part of a candidate and those after it.
    __device__ void take_parts(unsigned index)
    {
        const unsigned lane = threadIdx.x % 32, count = gzip_candidate_count(gzip);
        for (;;) {
            gzip_part own = {};
            if (index + lane < count)
                own = gzip.parts[index + lane];
            // The lane after this one on the way, if any; most are followed by their neighbour.
            const unsigned after = own.stop == GZIP_STOP_FOUND ? min(own.next - index, 32u) : 32;
            const unsigned steps = __ballot_sync(all_lanes, after == lane + 1) & 0x7fffffff;
            unsigned way = 0, last = 0; // the lanes on it, and the last one of them
            for (unsigned at = 0; at < 32;) {
                const unsigned run =
                    static_cast<unsigned>(__ffs(static_cast<int>(~(steps >> at)))) - 1;
                last = at + run;
                way |= (0xffffffffu >> (31 - run)) << at;
                at = __shfl_sync(all_lanes, after, static_cast<int>(last));
            }
            const bool is_on_way = way >> lane & 1;
            const unsigned unit_sum = warp_sum(is_on_way ? own.units : 0);
            const unsigned content_sum = warp_sum(is_on_way ? own.content : 0);
            const unsigned first = units + unit_sum - own.units;
            if (!add(warp_last(unit_sum), warp_last(content_sum)))
                return;
            if (is_on_way) {
                gzip_part &part = gzip.parts[index + lane];
                part.is_chained = 1;
                part.first = first;
                part.frame = frames;
            }
            const unsigned stop = __shfl_sync(all_lanes, own.stop, static_cast<int>(last));
            if (stop != GZIP_STOP_FOUND)
                return stop_at(stop, gzip.parts[index + last].end);
            index = __shfl_sync(all_lanes, own.next, static_cast<int>(last));
        }
    }

    // Adds a part that is not of a candidate.
    __device__ bool add_own(gzip_part part)
    {
        part.is_chained = 1;
        part.first = units;
        part.frame = frames;
        if (threadIdx.x % 32 == 0)
            gzip.parts[parts] = part;
        parts++;
        own_units += part.units;
        return add(part.units, part.content);
    }

    // Goes on with blocks of a member.
    __device__ void take_blocks()
    {
        const unsigned count = gzip_candidate_count(gzip);
        unsigned index = count;
        if (position.inside == GZIP_AT_BLOCK)
            index = gzip_find_candidate(gzip, position.bit);
        if (index == count) {
            if (parts >= gzip.parts_max)
                return refuse_full();
            gzip_parsing parsing = {parser, batch, input, parts, position, own_blocks};
            parsing.parse();
            own_blocks = parsing.blocks;
            const gzip_part &part = parsing.part;
            if (!add_own(part))
                return;
            if (part.stop != GZIP_STOP_FOUND)
                return stop_at(part.stop, part.end);
            index = part.next;
        }
        take_parts(index);
    }

    // --- members ---

    // Opens a frame, with a member that begins.
    __device__ void open()
    {
        if (frames >= gzip.frames_max)
            return refuse(DECODE_TOO_MANY);
        frame_first = units;
        frame_content = content;
        before = 0;
        begins = true;
    }

    // Ends the open frame; `member` has what it states; ends: the member ends, too.
    __device__ void close(bool ends, const gzip_member &member)
    {
        if (units == frame_first) { // an empty unit
            gzip_parsing parsing = {parser, batch, input, parts, {}, 0};
            gzip_unit unit = {};
            unit.is_stored = 1;
            unit.literals_at = DECODE_CARRY;
            if (parts >= gzip.parts_max || !parsing.add_unit(unit))
                refuse_full();
            else
                (void)add_own(parsing.part);
        }
        if (threadIdx.x % 32 == 0) {
            put_frame(frames, frame_first, units - frame_first, begins, ends);
            gzip.members[frames] = member;
        }
        frames++;
    }

    __device__ void put_frame(unsigned index, unsigned first, unsigned blocks, bool is_begun,
                              bool ends) const
    {
        decode_frame frame = {};
        frame.content = DECODE_CONTENT_UNKNOWN;
        frame.window = GZIP_WINDOW;
        frame.first = first;
        frame.blocks = blocks;
        frame.begins = is_begun;
        frame.ends = ends;
        const_cast<decode_frame *>(batch.frame)[index] = frame;
    }

    // Goes on with the bytes between members.
    __device__ void take_between()
    {
        const unsigned begin = position.bit / 8;
        unsigned end = begin;
        if (8 * begin >= input.end) {
            is_over = true;
            return;
        }
        if (state != GZIP_FIRST)
            end = gzip_find_byte(input, begin, false);
        if (state == GZIP_ZEROS || end > begin) {
            state = GZIP_ZEROS;
            position.bit = 8 * end;
            if (end == begin)
                refuse(DECODE_BAD);
            return;
        }
        const gzip_read read = gzip_read_member(input, begin, &end);
        is_over = read != GZIP_READ;
        if (read == GZIP_WRONG)
            refuse(DECODE_BAD);
        if (is_over)
            return;
        position = {8 * end, GZIP_AT_BLOCK, 0, 0, 0};
        state = GZIP_BLOCKS;
        open();
    }

    __device__ void take_trailer()
    {
        const unsigned at = position.bit / 8;
        if (at + GZIP_TRAILER_BYTES > input.end / 8) {
            is_over = true;
            return;
        }
        close(true, {gzip_bytes(input, at), gzip_bytes(input, at + 4), 0});
        position.bit += 8 * GZIP_TRAILER_BYTES;
        state = GZIP_NEXT;
    }

    // --- the end of the batch ---

    // Closes the last frame, or makes one if there is none. Refuses a file that is cut, and a batch
    // if the next one does not begin early enough.
    __device__ void end_batch()
    {
        const unsigned bits = 8 * (batch.in_size - DECODE_CARRY);
        const bool in_member = is_in_member(), is_left = in_member || position.bit < bits;
        if (gzip.is_end ? is_left : position.bit + 8 * GZIP_MARGIN < bits)
            return refuse(DECODE_BAD);
        if (!in_member && frames > 0)
            return;
        if (!in_member)
            open();
        if (refusal == DECODE_TAKEN)
            close(!in_member, {0, 0, 0});
    }

    // Leaves for the next batch where it goes on, and the header of the block around, if a code of
    // that comes next.
    __device__ void keep() const
    {
        gzip_carry *const next = reinterpret_cast<gzip_carry *>(batch.next + GZIP_CARRY_AT);
        const unsigned gone = batch.in_size - DECODE_CARRY - GZIP_MARGIN; // bytes before the next
        const unsigned lane = threadIdx.x % 32;
        gzip_position kept = position;
        kept.bit -= 8 * gone;
        if (kept.inside == GZIP_IN_CODES) {
            const gzip_carry &carry = *gzip_carry_of(&batch);
            const bool is_carried = kept.header == GZIP_CARRIED;
            const unsigned first = kept.header / 32, words = (input.end + 31) / 32;
            for (unsigned i = lane; i < GZIP_HEADER_MAX / 4; i += 32) {
                const unsigned word = first + i < words && !is_carried ? input.words[first + i] : 0;
                next->header[i] = is_carried ? carry.header[i] : word;
            }
            if (lane == 0)
                next->shift = is_carried ? carry.shift : kept.header % 32;
            kept.header = GZIP_CARRIED;
        }
        if (lane > 0)
            return;
        next->state = refusal == DECODE_TAKEN ? state : GZIP_REFUSED;
        next->position = kept;
        next->before = is_in_member() ? before + content - frame_content : 0;
    }
};

static __global__ void __launch_bounds__(GZIP_CHAIN_THREADS) gzip_chain(decode_batch batch)
{
    __shared__ gzip_parser parser;
    const gzip_carry &carry = *gzip_carry_of(&batch);
    // One lane reads it, as that adds units later.
    const unsigned units =
        __shfl_sync(all_lanes, threadIdx.x == 0 ? batch.gzip.counters->units : 0, 0);
    batch.gzip.units_max = min(batch.gzip.units_max, units + GZIP_CHAIN_UNITS);
    gzip_chainer chain = {batch,
                          batch.gzip,
                          gzip_input_of(batch),
                          parser,
                          static_cast<gzip_state>(carry.state),
                          carry.position,
                          carry.before};
    if (chain.state == GZIP_REFUSED)
        chain.refuse(DECODE_BAD);
    while (!chain.is_over) {
        if (chain.state == GZIP_BLOCKS)
            chain.take_blocks();
        else if (chain.state == GZIP_TRAILER)
            chain.take_trailer();
        else
            chain.take_between();
    }
    if (chain.refusal == DECODE_TAKEN)
        chain.end_batch();
    chain.keep();
    if (threadIdx.x > 0)
        return;
    batch.gzip.counters->refusal = chain.refusal;
    *batch.counts = {chain.units, chain.frames};
    if (chain.refusal != DECODE_TAKEN) { // one frame of one block
        chain.put_frame(0, 0, 1, true, true);
        batch.gzip.members[0] = {0, 0, 0};
        *batch.counts = {1, 1};
    }
}

// --- order ---
//
// Takes units and the parts that are chained; gives what the stages after it need of each block, in
// the order of the content: block, heading and outcome. If the chain refuses the batch, it has one
// block, which is refused. A thread takes a unit.

constexpr unsigned GZIP_ORDER_THREADS = 256;

// Makes the index-th block of a unit. The host makes blocks only where stages do not count them, so
// others may not write them.
DEVICE_INLINE void gzip_order_unit(const decode_batch &batch, unsigned index, unsigned frame,
                                   const gzip_unit &unit, unsigned refusal)
{
    decode_block *const block = const_cast<decode_block *>(batch.block) + index;
    decode_heading *const heading = batch.heading + index;
    decode_outcome *const outcome = batch.outcome + index;
    *block = {};
    block->room = unit.content;
    block->room_at = unit.literals_at; // of literals that are packed
    block->frame = frame;
    block->sequences_at = unit.sequences_at;
    heading->literals_type = unit.is_stored ? DECODE_LITERALS_RAW : DECODE_LITERALS_PACKED;
    heading->literals = unit.literals;
    heading->literals_at = unit.literals_at;
    heading->sequences = unit.sequences;
    outcome->refusal = refusal;
    outcome->content = unit.content;
    outcome->after = offsets_map_same(); // no offset of deflate is repeated
    for (unsigned i = 0; i < 3; i++)
        outcome->before[i] = 0; // nor looked at, but loaded
}

static __global__ void __launch_bounds__(GZIP_ORDER_THREADS) gzip_order(decode_batch batch)
{
    const gzip_batch &gzip = batch.gzip;
    const gzip_counters &counters = *gzip.counters;
    const unsigned thread = blockIdx.x * GZIP_ORDER_THREADS + threadIdx.x;
    if (counters.refusal != DECODE_TAKEN) {
        if (thread == 0)
            gzip_order_unit(batch, 0, 0, {}, counters.refusal);
        return;
    }
    const unsigned units = min(counters.units, gzip.units_max);
    for (unsigned i = thread; i < units; i += gridDim.x * GZIP_ORDER_THREADS) {
        const gzip_unit unit = gzip.units[i];
        const gzip_part &part = gzip.parts[unit.part];
        if (part.is_chained)
            gzip_order_unit(batch, part.first + unit.ordinal, part.frame, unit, DECODE_TAKEN);
    }
}

#endif

// SPDX-License-Identifier: MIT
// The stages that copy matches (place, link and follow or copy, keep), launched in the emulation:
// fed with literals and sequences of real frames, as the naive decoder finds them, and with such as
// no compressor writes, in batches that are cut anywhere, against the content.
#include "tests/device/emulation.h"

#include "gpu/decode/keep.cuh"
#include "gpu/decode/matches.cuh"
#include "gpu/decode/zstd/headers.cuh"

#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

extern "C" {
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace
{

unsigned long cases, wrong;

using bytes = std::vector<unsigned char>;

// A block: what the stages before give of it.
struct test_block {
    unsigned literals_type = DECODE_LITERALS_RAW;
    bytes literals;
    std::vector<naive_sequence> sequences;
    size_t content_at = 0; // in the stream
    uint32_t content = 0;
    uint32_t refusal = DECODE_TAKEN; // by a stage before
    uint32_t repeat_offsets[3] = {}; // after it
};

struct test_frame {
    uint32_t window;
    uint64_t stated;
    std::vector<test_block> blocks;
};

// Frames one after the other, and all they decode to.
struct stream {
    std::vector<test_frame> frames;
    bytes content;
};

// A block's place in a stream.
struct position {
    size_t frame, block;
};

std::vector<position> positions_of(const stream &stream)
{
    std::vector<position> positions;
    for (size_t frame = 0; frame < stream.frames.size(); frame++)
        for (size_t block = 0; block < stream.frames[frame].blocks.size(); block++)
            positions.push_back({frame, block});
    return positions;
}

void fail(const char *what, size_t block, size_t at)
{
    if (wrong++ < 20)
        std::fprintf(stderr, "FAIL: case %lu: %s (block %zu, %zu)\n", cases, what, block, at);
}

//===--- The form of batch.h -----------------------------------------------------------------===//

// One of the last three offsets, while what they were before the block is not known.
struct unknown_offset {
    uint32_t which, value; // as in struct zstd_offsets_map
    uint32_t code() const
    {
        return which == ZSTD_CONSTANT
                   ? value
                   : ZSTD_REPEAT_OFFSETS | which << ZSTD_REPEAT_OFFSETS_WHICH | value;
    }
};

// Which of the three an offset value means; 3: the first less one; 4: none of them.
unsigned repeat_of(const naive_sequence &sequence)
{
    return sequence.offset_value > 3 ? 4 : sequence.offset_value - 1 + (sequence.literals == 0);
}

// Writes a block's sequences as the stage before does. The map of its offsets.
zstd_offsets_map write_sequences(const test_block &block, decode_sequence *out)
{
    unknown_offset last[3] = {{0, 0}, {1, 0}, {2, 0}};
    uint64_t begin = 0, literals = 0;
    for (const naive_sequence &sequence : block.sequences) {
        const unsigned repeat = repeat_of(sequence);
        unknown_offset offset = {ZSTD_CONSTANT, sequence.offset_value - 3};
        if (repeat < 3)
            offset = last[repeat];
        else if (repeat == 3)
            offset = {last[0].which, last[0].which == ZSTD_CONSTANT
                                         ? last[0].value - std::min(last[0].value, 1u)
                                         : last[0].value + 1};
        *out++ = begin | literals << DECODE_LITERALS_SHIFT |
                 static_cast<uint64_t>(offset.code()) << DECODE_OFFSET_SHIFT;
        if (repeat >= 2)
            last[2] = last[1];
        if (repeat >= 1) {
            last[1] = last[0];
            last[0] = offset;
        }
        begin += sequence.literals + sequence.match;
        literals += sequence.literals;
    }
    *out = begin | literals << DECODE_LITERALS_SHIFT;
    zstd_offsets_map after;
    for (unsigned i = 0; i < 3; i++) {
        after.position[i] = last[i].which << ZSTD_WHICH_SHIFT | last[i].value;
    }
    return after;
}

// A table that some block describes, as the next batch has to find it.
struct described {
    uint32_t mode = ZSTD_ABSENT;
    bytes description;
};

// A batch in memory that ends where it may be touched, so that a sanitizer sees what goes beyond.
struct memory {
    bytes in;
    std::vector<decode_block> block;
    std::vector<decode_frame> frame;
    std::vector<decode_heading> heading;
    std::vector<decode_outcome> outcome;
    bytes literals;
    std::vector<decode_sequence> sequences;
    std::unique_ptr<unsigned[], decltype(&std::free)> links{nullptr, std::free};
    std::unique_ptr<unsigned char[], decltype(&std::free)> out{nullptr, std::free};
    size_t before = 0; // bytes of memory before the content
    decode_verdict verdict;
    std::vector<uint32_t> frame_ends;
    decode_batch batch = {};
};

template <typename T> std::unique_ptr<T[], decltype(&std::free)> aligned_memory(size_t size)
{
    void *memory = std::aligned_alloc(256, (size * sizeof(T) + 256) / 256 * 256);
    if (!memory)
        std::abort();
    std::memset(memory, 0xa5, size * sizeof(T));
    return {static_cast<T *>(memory), std::free};
}

// Where blocks [first, last) of the stream go: the parts that a test may vary.
struct shape {
    bool small_tiles;
    bool by_frames; // copy, instead of link and follow
    unsigned grid;  // of what takes any
    uint32_t keep_min;
    unsigned no_table; // of so many blocks, all but one repeat a table
};

void add_tables(memory &memory, decode_heading &heading, unsigned no_table,
                std::vector<described> &tables)
{
    for (unsigned table = 0; table < ZSTD_TABLES; table++) {
        decode_source &source = heading.tables[table];
        source = {ZSTD_ABSENT, 0, 0};
        if (no_table == 0 || random_below(no_table))
            continue;
        source.mode = random_below(3); // predefined, one symbol or coded
        tables[table].mode = source.mode;
        tables[table].description.clear();
        if (source.mode == ZSTD_PREDEFINED)
            continue;
        source.at = static_cast<uint32_t>(memory.in.size());
        source.size = source.mode == ZSTD_ONE_SYMBOL ? 1 : 1 + random_below(129);
        for (uint32_t i = 0; i < source.size; i++)
            tables[table].description.push_back(static_cast<unsigned char>(random_word()));
        memory.in.insert(memory.in.end(), tables[table].description.begin(),
                         tables[table].description.end());
    }
}

void add_block(memory &memory, const test_block &block, uint32_t frame, unsigned no_table,
               std::vector<described> &tables)
{
    decode_block header = {};
    decode_heading heading = {};
    decode_outcome outcome = {};
    const bool is_raw = block.sequences.empty() && random_below(2);
    header.frame = frame;
    header.type = is_raw ? DECODE_RAW : DECODE_COMPRESSED;
    header.room = std::min(block.content + random_below(3) * random_below(1000),
                           uint32_t{DECODE_BLOCK_CONTENT});
    header.room_at =
        memory.block.empty() ? 0 : memory.block.back().room_at + memory.block.back().room;
    heading.literals_type = block.literals_type;
    heading.literals = static_cast<uint32_t>(block.literals.size());
    heading.sequences = static_cast<uint32_t>(block.sequences.size());
    heading.literals_at = static_cast<uint32_t>(memory.in.size());
    const size_t inside = block.literals_type == DECODE_LITERALS_RLE      ? 1
                          : block.literals_type == DECODE_LITERALS_PACKED ? 0
                                                                          : block.literals.size();
    memory.in.insert(memory.in.end(), block.literals.begin(),
                     block.literals.begin() + static_cast<std::ptrdiff_t>(inside));
    add_tables(memory, heading, is_raw ? 0 : no_table, tables);
    memory.literals.resize(header.room_at + header.room);
    if (block.literals_type == DECODE_LITERALS_PACKED)
        std::copy(block.literals.begin(), block.literals.end(),
                  memory.literals.begin() + header.room_at);
    const size_t index = memory.block.size();
    header.sequences_at = decode_sequences_at(header.room_at, static_cast<uint32_t>(index));
    memory.sequences.resize((header.room_at + header.room) / DECODE_MATCH_MIN + 2 * (index + 1));
    outcome.after = write_sequences(block, memory.sequences.data() + header.sequences_at);
    outcome.content = block.content;
    outcome.refusal = block.refusal;
    memory.block.push_back(header);
    memory.heading.push_back(heading);
    memory.outcome.push_back(outcome);
}

//===--- Running a stream --------------------------------------------------------------------===//

struct result {
    size_t refused; // index of the block, or all of them
    uint32_t refusal;
};

class run
{
  public:
    run(const stream &stream_, const shape &shape_) : source(stream_), like(shape_)
    {
        tables.resize(ZSTD_TABLES);
        next_in.assign(sizeof(decode_carry), 0);
    }

    // Decodes the stream, so many blocks a batch; says which block was refused.
    result all(const std::function<size_t()> &blocks_a_batch)
    {
        const std::vector<position> positions = positions_of(source);
        cases++;
        for (size_t first = 0; first < positions.size();) {
            const size_t last = std::min(positions.size(), first + blocks_a_batch());
            memory memory;
            make(memory, positions, first, last);
            launch(memory.batch);
            if (memory.verdict.refused < last - first) {
                if (memory.verdict.refusal != memory.outcome[memory.verdict.refused].refusal)
                    fail("another refusal", first, memory.verdict.refusal);
                return {first + memory.verdict.refused, memory.verdict.refusal};
            }
            check(memory, positions, first, last);
            first = last;
        }
        return {positions.size(), DECODE_TAKEN};
    }

  private:
    static constexpr unsigned small = 4096, few = 32; // a tile, and threads

    void make(memory &memory, const std::vector<position> &positions, size_t first, size_t last)
    {
        memory.in = next_in;
        memory.in.resize(DECODE_CARRY, 0xa5);
        for (size_t i = first; i < last; i++) {
            const test_frame &frame = source.frames[positions[i].frame];
            const bool begins = positions[i].block == 0;
            if (begins)
                tables.assign(ZSTD_TABLES, described());
            if (i == first || begins) {
                decode_frame header = {};
                header.content = frame.stated;
                header.window = frame.window;
                header.first = static_cast<uint32_t>(i - first);
                header.begins = begins;
                memory.frame.push_back(header);
            }
            memory.frame.back().blocks++;
            memory.frame.back().ends = positions[i].block + 1 == frame.blocks.size();
            add_block(memory, frame.blocks[positions[i].block],
                      static_cast<uint32_t>(memory.frame.size() - 1), like.no_table, tables);
        }
        memory.in.resize(memory.in.size() + DECODE_PADDING);
        point(memory, positions, last);
    }

    // Sets the batch's pointers, and what lies before its content.
    void point(memory &memory, const std::vector<position> &positions, size_t last)
    {
        decode_batch &batch = memory.batch;
        const decode_block &end = memory.block.back();
        batch.room = end.room_at + end.room;
        memory.before = (kept.size() + 255) / 256 * 256;
        memory.links = aligned_memory<unsigned>(batch.room);
        memory.out = aligned_memory<unsigned char>(memory.before + batch.room + DECODE_PADDING);
        std::copy(kept.begin(), kept.end(), memory.out.get() + memory.before - kept.size());
        next_in.assign(sizeof(decode_carry), 0xa5);
        const size_t window =
            std::max<size_t>(source.frames[positions[last - 1].frame].window, like.keep_min);
        next_before = (window + 255) / 256 * 256;
        next_out = aligned_memory<unsigned char>(next_before);
        batch.in = memory.in.data();
        batch.in_size = static_cast<uint32_t>(memory.in.size() - DECODE_PADDING);
        batch.blocks = static_cast<uint32_t>(memory.block.size());
        batch.frames = static_cast<uint32_t>(memory.frame.size());
        batch.block = memory.block.data();
        batch.frame = memory.frame.data();
        batch.heading = memory.heading.data();
        batch.outcome = memory.outcome.data();
        batch.literals = memory.literals.data();
        batch.sequences = memory.sequences.data();
        batch.links = memory.links.get();
        batch.out = memory.out.get() + memory.before;
        batch.verdict = &memory.verdict;
        memory.frame_ends.assign(batch.frames, 0);
        batch.frame_ends = memory.frame_ends.data();
        batch.keep_min = like.keep_min;
        batch.next = next_in.data();
        batch.next_out = next_out.get() + next_before;
    }

    void launch(const decode_batch &batch)
    {
        emulate_launch(1, keep_tables_threads, 0, [=] { zstd_keep_tables(batch); });
        emulate_launch(1, like.small_tiles ? 64 : DECODE_PLACE_THREADS, 0,
                       [=] { decode_place<DECODE_ZSTD>(batch); });
        if (like.by_frames)
            launch_copy(batch);
        else
            launch_link(batch);
        emulate_launch(like.grid, DECODE_KEEP_THREADS, 0, [=] { decode_keep(batch); });
    }

    void launch_copy(const decode_batch &batch)
    {
        if (like.small_tiles)
            emulate_launch(batch.frames, few, decode_tile_shared(small),
                           [=] { decode_copy<small, few, 32>(batch); });
        else
            emulate_launch(
                batch.frames, DECODE_COPY_THREADS, decode_tile_shared(DECODE_COPY_TILE), [=] {
                    decode_copy<DECODE_COPY_TILE, DECODE_COPY_THREADS, DECODE_COPY_EACH>(batch);
                });
    }

    void launch_link(const decode_batch &batch)
    {
        if (like.small_tiles)
            emulate_launch(batch.blocks * decode_link_tiles(small), few, decode_tile_shared(small),
                           [=] { decode_link<small, few, 32>(batch); });
        else
            emulate_launch(
                batch.blocks * decode_link_tiles(DECODE_TILE), DECODE_LINK_THREADS,
                decode_tile_shared(DECODE_TILE),
                [=] { decode_link<DECODE_TILE, DECODE_LINK_THREADS, DECODE_LINK_EACH>(batch); });
        emulate_launch(like.grid, DECODE_FOLLOW_THREADS, 0, [=] { decode_follow(batch); });
    }

    void check(const memory &memory, const std::vector<position> &positions, size_t first,
               size_t last)
    {
        const test_block &begin = block_at(positions[first]), &end = block_at(positions[last - 1]);
        const size_t size = end.content_at + end.content - begin.content_at;
        const unsigned char *due = source.content.data() + begin.content_at;
        if (memory.verdict.content != size)
            fail("content of another size", first, memory.verdict.content);
        for (size_t i = 0; i < memory.frame.size(); i++) {
            const decode_outcome &last_of =
                memory.outcome[memory.frame[i].first + memory.frame[i].blocks - 1];
            if (memory.frame_ends[i] != last_of.content_at + last_of.content)
                fail("a frame that ends elsewhere", first, memory.frame_ends[i]);
        }
        for (size_t i = 0; i < size; i++)
            if (memory.batch.out[i] != due[i]) {
                fail("another byte", first, i);
                break;
            }
        for (size_t i = first; i < last; i++)
            if (memory.outcome[i - first].content_at !=
                block_at(positions[i]).content_at - begin.content_at)
                fail("it begins elsewhere", i, memory.outcome[i - first].content_at);
        check_kept(memory, positions[last - 1]);
    }

    // What the next batch is given, which this one goes on from.
    void check_kept(const memory &memory, const position &last)
    {
        const test_frame &frame = source.frames[last.frame];
        const test_block &block = block_at(last);
        const bool ends = last.block + 1 == frame.blocks.size();
        const size_t at = block.content_at + block.content;
        const size_t begun = at - frame.blocks[0].content_at; // bytes of the frame
        const size_t window = ends ? 0 : std::min<size_t>(frame.window, begun);
        const size_t size =
            std::max(window, std::min<size_t>(like.keep_min, kept.size() + memory.verdict.content));
        decode_carry carry;
        std::memcpy(&carry, next_in.data(), sizeof carry);
        if (carry.kept != size)
            fail("another number of bytes is kept", last.block, carry.kept);
        kept.assign(source.content.begin() + static_cast<std::ptrdiff_t>(at - size),
                    source.content.begin() + static_cast<std::ptrdiff_t>(at));
        if (!std::equal(kept.begin(), kept.end(), next_out.get() + next_before - size))
            fail("other bytes are kept", last.block, size);
        if (ends)
            return;
        if (carry.before != begun)
            fail("another length so far", last.block, carry.before);
        for (unsigned i = 0; i < 3; i++)
            if (carry.repeat_offsets[i] != block.repeat_offsets[i])
                fail("other repeat offsets", last.block, i);
        check_tables(carry, last);
    }

    void check_tables(const decode_carry &carry, const position &last)
    {
        for (unsigned i = 0; i < ZSTD_TABLES; i++) {
            const decode_source &source_of = carry.tables[i];
            const bytes &due = tables[i].description;
            if (source_of.mode != tables[i].mode)
                fail("a table of another mode", last.block, i);
            else if (source_of.size != due.size() && source_of.mode != ZSTD_ABSENT)
                fail("a description of another size", last.block, i);
            else if (!due.empty() &&
                     std::memcmp(next_in.data() + source_of.at, due.data(), due.size()) != 0)
                fail("another description", last.block, i);
        }
    }

    const test_block &block_at(const position &at) const
    {
        return source.frames[at.frame].blocks[at.block];
    }

    const stream &source;
    const shape like;
    std::vector<described> tables;
    bytes next_in, kept;
    size_t next_before = 0;
    std::unique_ptr<unsigned char[], decltype(&std::free)> next_out{nullptr, std::free};
};

shape random_shape()
{
    return {random_below(8) != 0, random_below(2) != 0, 1 + random_below(3),
            random_below(2) ? random_below(3000) : 0, random_below(3) ? 3u : 60u};
}

void check_taken(const stream &stream, const std::function<size_t()> &blocks_a_batch)
{
    const result is = run(stream, random_shape()).all(blocks_a_batch);
    if (is.refusal != DECODE_TAKEN)
        fail("refused", is.refused, is.refusal);
}

void check_refused(const stream &stream, size_t block, uint32_t refusal)
{
    const unsigned max = 1 + random_below(6);
    const result is =
        run(stream, random_shape()).all([=] { return size_t{1} + random_below(max); });
    if (is.refused != block || is.refusal != refusal)
        fail("not refused there, or for that", is.refused, is.refusal);
}

// In one batch, a block a batch, and some.
void check_cuts(const stream &stream)
{
    check_taken(stream, [] { return size_t{1000000}; });
    check_taken(stream, [] { return size_t{1}; });
    check_taken(stream, [] { return size_t{1} + random_below(5); });
}

//===--- Streams -----------------------------------------------------------------------------===//

// What the naive decoder finds in compressed bytes.
stream stream_of(const naive_zstd &naive)
{
    stream stream;
    stream.content.assign(naive.content, naive.content + naive.content_size);
    for (size_t i = 0; i < naive.frames_count; i++) {
        const naive_frame &frame = naive.frames[i];
        stream.frames.push_back({static_cast<uint32_t>(frame.window), frame.stated, {}});
        for (size_t k = 0; k < frame.blocks; k++) {
            const naive_block &from = naive.blocks[frame.first_block + k];
            test_block block;
            const unsigned char *literals = naive.literals + from.first_literal;
            size_t count = from.literals;
            if (from.type != NAIVE_COMPRESSED) {
                literals = naive.content + from.first_content;
                count = from.content;
            }
            block.literals.assign(literals, literals + count);
            const bool is_same = count > 0 && std::count(literals, literals + count, *literals) ==
                                                  static_cast<std::ptrdiff_t>(count);
            block.literals_type = is_same           ? DECODE_LITERALS_RLE
                                  : random_below(2) ? DECODE_LITERALS_RAW
                                                    : DECODE_LITERALS_PACKED;
            block.sequences.assign(naive.sequences + from.first_sequence,
                                   naive.sequences + from.first_sequence + from.sequences);
            block.content_at = from.first_content;
            block.content = static_cast<uint32_t>(from.content);
            std::copy(from.repeat_offsets, from.repeat_offsets + 3, block.repeat_offsets);
            stream.frames.back().blocks.push_back(block);
        }
    }
    return stream;
}

// Makes sequences as it likes, and the content, a byte at a time.
struct maker {
    stream made;
    uint32_t repeat_offsets[3] = {};

    void begin_frame(uint32_t window)
    {
        made.frames.push_back({window, DECODE_CONTENT_UNKNOWN, {}});
        repeat_offsets[0] = 1, repeat_offsets[1] = 4, repeat_offsets[2] = 8;
    }

    void begin_block()
    {
        test_block block;
        block.literals_type = random_below(3) ? DECODE_LITERALS_PACKED : DECODE_LITERALS_RAW;
        block.content_at = made.content.size();
        made.frames.back().blocks.push_back(block);
        end_block();
    }

    test_block &last()
    {
        return made.frames.back().blocks.back();
    }

    void end_block()
    {
        last().content = static_cast<uint32_t>(made.content.size() - last().content_at);
        std::copy(repeat_offsets, repeat_offsets + 3, last().repeat_offsets);
    }

    // Literals of the next sequence, or at the end of the block.
    void put_literals(uint32_t count)
    {
        for (uint32_t i = 0; i < count; i++) {
            const unsigned char byte = static_cast<unsigned char>(random_word());
            last().literals.push_back(byte);
            made.content.push_back(byte);
        }
        end_block();
    }

    // How far back a match may reach that begins after so many literals.
    uint32_t reach(uint32_t literals)
    {
        const test_frame &frame = made.frames.back();
        const size_t begun = made.content.size() - frame.blocks[0].content_at + literals;
        return static_cast<uint32_t>(std::min<size_t>(frame.window, begun));
    }

    // The offset that a value means after so many literals.
    uint32_t meant(uint32_t value, uint32_t literals) const
    {
        const unsigned repeat = repeat_of({literals, 0, value, 0});
        return repeat == 4   ? value - 3
               : repeat == 3 ? repeat_offsets[0] - 1
                             : repeat_offsets[repeat];
    }

    void put(uint32_t literals, uint32_t match, uint32_t value)
    {
        const naive_sequence sequence = {literals, match, value, meant(value, literals)};
        put_literals(literals);
        for (uint32_t i = 0; i < match; i++) // a bad offset gives anything
            made.content.push_back(sequence.offset - 1 < made.content.size()
                                       ? made.content[made.content.size() - sequence.offset]
                                       : 0);
        const unsigned repeat = repeat_of(sequence);
        if (repeat >= 2)
            repeat_offsets[2] = repeat_offsets[1];
        if (repeat >= 1) {
            repeat_offsets[1] = repeat_offsets[0];
            repeat_offsets[0] = sequence.offset;
        }
        last().sequences.push_back(sequence);
        end_block();
    }

    // A valid offset value: near, far, as far as can be, or repeated.
    uint32_t any_value(uint32_t literals)
    {
        const uint32_t max = reach(literals);
        const unsigned kind = random_below(8);
        if (kind < 3) {
            const uint32_t value = 1 + random_below(3);
            if (meant(value, literals) - 1 < max)
                return value;
        }
        const uint32_t offset = kind == 3   ? max
                                : kind == 4 ? 1 + random_below(std::min(max, 40u))
                                : kind == 5 ? max - random_below(std::min(max, 40u))
                                            : 1 + random_below(max);
        return offset + 3;
    }

    uint32_t any_length(uint32_t max)
    {
        const unsigned kind = random_below(20);
        const uint32_t length = kind == 0  ? random_below(max + 1)
                                : kind < 4 ? random_below(300)
                                           : random_below(12);
        return std::min(length, max);
    }

    // Fills a block up to `size` bytes or a few less.
    void any_block(uint32_t size)
    {
        begin_block();
        while (last().content + 3 <= size && random_below(2000)) {
            const uint32_t left = size - last().content - 3;
            uint32_t literals = random_below(3) ? any_length(left) : 0;
            if (made.content.size() == made.frames.back().blocks[0].content_at)
                literals = std::max(literals, 1u); // there is nothing yet to copy
            if (literals > left)
                break;
            put(literals, 3 + any_length(left - literals), any_value(literals));
        }
        if (random_below(4))
            put_literals(random_below(2) ? size - last().content
                                         : random_below(size - last().content + 1));
    }
};

//===--- Cases -------------------------------------------------------------------------------===//

void check_real()
{
    const unsigned rounds = scale_of(10, 40, 120);
    for (unsigned round = 0; round < rounds; round++) {
        bytes frames;
        const unsigned count = random_below(3) ? 1 : 1 + random_below(12);
        for (unsigned i = 0; i < count; i++) {
            bytes data(random_below(count > 1 ? 20000 : 400000));
            frame_content(static_cast<enum frame_content>((round + i) % CONTENT_KINDS), data.data(),
                          data.size());
            frame_settings settings = {};
            settings.level = static_cast<int>(random_below(20)) - 3;
            settings.window_log = random_below(2) ? 0 : 10 + static_cast<int>(random_below(8));
            settings.is_unsized = random_below(2);
            settings.flush = random_below(2) ? 0 : 500 + random_below(30000);
            bytes frame(frame_bound(&settings, data.size()));
            frame.resize(
                frame_compress(frame.data(), frame.size(), &settings, data.data(), data.size()));
            frames.insert(frames.end(), frame.begin(), frame.end());
        }
        naive_zstd naive;
        if (!naive_zstd_decode(&naive, frames.data(), frames.size()))
            fail("the naive decoder refuses it", 0, frames.size());
        check_cuts(stream_of(naive));
        naive_zstd_free(&naive);
    }
}

// Every offset up to 40 with matches up to a few times as long, at every alignment.
void check_overlaps()
{
    maker maker;
    maker.begin_frame(1 << 17);
    maker.begin_block();
    maker.put(41, 3, 41 + 3);
    for (uint32_t offset = 1; offset <= 40; offset++)
        for (uint32_t match = 3; match < 3 * offset + 8; match += 1 + random_below(5)) {
            if (maker.last().content + 200 > DECODE_BLOCK_CONTENT)
                maker.begin_block();
            maker.put(random_below(2), match, offset + 3);
        }
    for (uint32_t offset = 1; offset <= 40; offset++) { // each a block, over tiles
        maker.begin_block();
        maker.put(random_below(50), 5000 + random_below(3000), offset + 3);
    }
    check_cuts(maker.made);
}

// A copy of a copy of a copy, as long a chain as there are bytes.
void check_chains()
{
    for (unsigned kind = 0; kind < 3; kind++) {
        maker maker;
        maker.begin_frame(1 << 17);
        for (unsigned block = 0; block < 4; block++) {
            maker.begin_block();
            if (block == 0)
                maker.put(8, 3, 7 + 3);
            while (maker.last().content + 10 < 40000)
                maker.put(kind == 2 ? random_below(2) : 0, kind ? 3 : 3 + random_below(5),
                          kind == 0 ? 7 + 3 : 4 + random_below(4) + 3);
        }
        check_cuts(maker.made);
    }
}

void check_made()
{
    const unsigned rounds = scale_of(12, 80, 300);
    for (unsigned round = 0; round < rounds; round++) {
        maker maker;
        const unsigned frames = random_below(3) ? 1 : 1 + random_below(40);
        for (unsigned frame = 0; frame < frames; frame++) {
            maker.begin_frame(random_below(3) ? 1024 + random_below(60000)
                                              : 1 + random_below(2000));
            const unsigned blocks = 1 + random_below(frames > 1 ? 4 : 30);
            for (unsigned block = 0; block < blocks; block++)
                maker.any_block(std::min(random_below(4) ? random_below(3000) : random_below(60000),
                                         maker.made.frames.back().window));
            const test_block &begin = maker.made.frames.back().blocks[0];
            if (random_below(2))
                maker.made.frames.back().stated = maker.made.content.size() - begin.content_at;
        }
        check_cuts(maker.made);
    }
}

// More blocks, of a byte or none, than `place` goes through at a time.
void check_tiny()
{
    maker maker;
    for (unsigned frame = 0; frame < 300; frame++) {
        maker.begin_frame(1024);
        for (unsigned block = random_below(8) ? random_below(4) : random_below(40);; block--) {
            maker.begin_block();
            if (random_below(3))
                maker.put_literals(1);
            else if (maker.reach(0) > 0 && random_below(2))
                maker.put(0, 3, maker.any_value(0));
            if (block == 0)
                break;
        }
    }
    check_taken(maker.made, [] { return size_t{1000000}; });
    check_taken(maker.made, [] { return size_t{1} + random_below(50); });
}

// Tables that were last described many blocks ago.
void check_tables_far_back()
{
    maker maker;
    maker.begin_frame(1024);
    for (unsigned block = 0; block < 400; block++) {
        maker.begin_block();
        maker.put_literals(random_below(3));
    }
    for (unsigned round = 0; round < 6; round++)
        check_taken(maker.made, [] { return size_t{1} + random_below(120); });
}

// One sequence reaches a byte too far, or means an offset of 0; all before it is as it may be.
void check_bad_offsets()
{
    const unsigned rounds = scale_of(60, 500, 1500);
    for (unsigned round = 0; round < rounds; round++) {
        maker maker;
        size_t bad = 0;
        const unsigned frames = random_below(4);
        for (unsigned frame = 0; frame <= frames; frame++) {
            maker.begin_frame(1 + random_below(3000));
            const unsigned blocks = 1 + random_below(5);
            for (unsigned block = 0; block < blocks; block++, bad++)
                maker.any_block(std::min(random_below(3000), maker.made.frames.back().window));
        }
        maker.begin_block();
        const uint32_t literals = random_below(3);
        const unsigned kind = random_below(3);
        if (kind == 2 && maker.reach(1) > 0) { // the offset 1 again, less one
            maker.put(1, 3, 1 + 3);
            maker.put(0, 3, 3);
        } else {
            maker.put(literals, 3 + random_below(9),
                      maker.reach(literals) + 1 + (kind ? 0 : random_below(1u << 26)) + 3);
        }
        for (unsigned i = random_below(3); i > 0; i--)
            maker.any_block(std::min(random_below(3000), maker.made.frames.back().window));
        check_refused(maker.made, bad, DECODE_BAD);
    }
}

// What stages before refuse, and what frames state.
void check_other_refusals()
{
    for (unsigned round = 0; round < 60; round++) {
        maker maker;
        std::vector<size_t> ends;
        size_t blocks = 0;
        for (unsigned frame = 0; frame < 4; frame++) {
            maker.begin_frame(2000);
            for (unsigned block = 1 + random_below(4); block > 0; block--, blocks++)
                maker.any_block(random_below(2000));
            ends.push_back(blocks);
            maker.made.frames.back().stated =
                maker.made.content.size() - maker.made.frames.back().blocks[0].content_at;
        }
        stream stream = maker.made;
        const std::vector<position> positions = positions_of(stream);
        const size_t index = random_below(static_cast<unsigned>(blocks));
        const position at = positions[index];
        stream.frames[at.frame].blocks[at.block].refusal = DECODE_BAD;
        stream.frames[at.frame].blocks[at.block].content = static_cast<uint32_t>(random_word());
        check_refused(stream, index, DECODE_BAD);
        stream = maker.made;
        const size_t frame = random_below(4);
        stream.frames[frame].stated++;
        check_refused(stream, ends[frame] - 1, DECODE_BAD);
    }
}

// A frame that goes on is refused as soon as it holds more than it states.
void check_too_much()
{
    for (unsigned round = 0; round < 30; round++) {
        maker maker;
        maker.begin_frame(2000);
        for (unsigned block = 2 + random_below(8); block > 0; block--)
            maker.any_block(random_below(2000));
        test_frame &frame = maker.made.frames[0];
        frame.stated = random_below(static_cast<unsigned>(maker.made.content.size()) + 1);
        size_t due = 0;
        while (due < frame.blocks.size() &&
               frame.blocks[due].content_at + frame.blocks[due].content <= frame.stated)
            due++;
        due = std::min(due, frame.blocks.size() - 1); // or it is too little
        const bool is_right = frame.stated == maker.made.content.size();
        const result is = run(maker.made, random_shape()).all([] { return size_t{1}; });
        if (!is_right && (is.refused != due || is.refusal != DECODE_BAD))
            fail("too much is not refused there", is.refused, due);
    }
}

} // namespace

int main()
{
    check_overlaps();
    check_chains();
    check_tiny();
    check_tables_far_back();
    check_bad_offsets();
    check_other_refusals();
    check_too_much();
    check_made();
    check_real();
    emulate_seed(3);
    check_made();
    std::printf("%lu streams, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

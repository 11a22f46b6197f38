// SPDX-License-Identifier: MIT
#include "tests/device/emulation.h"

#include "tests/device/zstd_serial.h"

extern "C" {
#include "tests/helpers/random.h"
}

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace
{

// Blocks and frames of an input, as the host finds them. Positions count from its first byte;
// frames' first blocks from its first one.
struct walked {
    std::vector<decode_block> blocks;
    std::vector<decode_frame> frames;
};

// Reads an input from its beginning, and knows where it ends.
class reader
{
  public:
    explicit reader(const byte_vector &input) : input_(input)
    {
    }
    bool has(size_t bytes) const
    {
        return input_.size() - at_ >= bytes;
    }
    uint64_t take(size_t bytes)
    {
        uint64_t value = 0;
        for (size_t i = 0; i < bytes; i++)
            value |= static_cast<uint64_t>(input_[at_ + i]) << 8 * i;
        at_ += bytes;
        return value;
    }
    void skip(size_t bytes)
    {
        at_ += bytes;
    }
    size_t at() const
    {
        return at_;
    }

  private:
    const byte_vector &input_;
    size_t at_ = 0;
};

bool walk_header(reader &from, decode_frame &frame, bool *checksum)
{
    static const size_t content_bytes[] = {0, 2, 4, 8}, dictionary_bytes[] = {0, 1, 2, 4};
    if (!from.has(1))
        return false;
    const unsigned flags = static_cast<unsigned>(from.take(1));
    const bool single = flags >> 5 & 1;
    const size_t size = flags >> 6 || !single ? content_bytes[flags >> 6] : 1;
    const size_t dictionary = dictionary_bytes[flags & 3];
    uint64_t window = 0;
    if ((flags & 8) != 0 || !from.has(!single + dictionary + size))
        return false;
    if (!single) {
        const unsigned byte = static_cast<unsigned>(from.take(1));
        window = (uint64_t{1} << (10 + (byte >> 3))) / 8 * (8 + (byte & 7));
    }
    if (from.take(dictionary) != 0) // 0 is none
        return false;
    frame.content = size ? from.take(size) + (size == 2 ? 256 : 0) : DECODE_CONTENT_UNKNOWN;
    if (single)
        window = frame.content;
    frame.window = static_cast<uint32_t>(std::min<uint64_t>(window, ZSTD_WINDOW_MAX));
    *checksum = flags >> 2 & 1;
    return window <= ZSTD_WINDOW_MAX;
}

bool walk_blocks(reader &from, walked &to, decode_frame &frame)
{
    for (bool last = false; !last;) {
        if (!from.has(3))
            return false;
        const uint32_t header = static_cast<uint32_t>(from.take(3));
        decode_block block = {};
        last = header & 1;
        block.type = header >> 1 & 3;
        block.at = static_cast<uint32_t>(from.at());
        block.size = block.type == DECODE_RLE ? 1 : header >> 3;
        const uint32_t max = std::min(frame.window, DECODE_BLOCK_CONTENT);
        block.room = block.type == DECODE_COMPRESSED ? max : header >> 3;
        if (block.type > DECODE_COMPRESSED || header >> 3 > max || !from.has(block.size))
            return false;
        from.skip(block.size);
        to.blocks.push_back(block);
        frame.blocks++;
    }
    return true;
}

// False if anything is not a frame, or is a frame that these stages are never given.
bool walk(const byte_vector &input, walked &to)
{
    reader from(input);
    while (from.has(1)) {
        if (!from.has(4))
            return false;
        const uint64_t magic = from.take(4);
        if ((magic & ~uint64_t{15}) == 0x184d2a50) {
            const uint64_t size = from.has(4) ? from.take(4) : UINT64_MAX;
            if (!from.has(size))
                return false;
            from.skip(size);
            continue;
        }
        decode_frame frame = {};
        bool checksum;
        frame.first = static_cast<uint32_t>(to.blocks.size());
        frame.begins = frame.ends = 1;
        if (magic != 0xfd2fb528 || !walk_header(from, frame, &checksum) ||
            !walk_blocks(from, to, frame) || !from.has(checksum ? 4 : 0))
            return false;
        from.skip(checksum ? 4 : 0);
        to.frames.push_back(frame);
    }
    return true;
}

// Memory of just its size, so that a sanitizer sees each access outside, full of what means
// nothing.
template <typename T> class exact_memory
{
  public:
    explicit exact_memory(size_t count)
    {
        void *memory;
        if (posix_memalign(&memory, 16, count ? count * sizeof(T) : 1) != 0)
            std::abort();
        std::memset(memory, 0xa5, count * sizeof(T));
        memory_.reset(static_cast<T *>(memory));
    }
    T *get() const
    {
        return memory_.get();
    }
    T &operator[](size_t index) const
    {
        return memory_.get()[index];
    }

  private:
    std::unique_ptr<T, decltype(&std::free)> memory_{nullptr, std::free};
};

// A batch, and the memory of the first stages.
class built_batch
{
  public:
    built_batch(const std::vector<decode_block> &blocks, const std::vector<decode_frame> &frames,
                const byte_vector &bytes, const decode_carry &carry)
        : blocks_(blocks), frames_(frames), in_(DECODE_CARRY + bytes.size() + DECODE_PADDING),
          heading_(blocks.size()), outcome_(blocks.size()), literals_(room()),
          sequences_(room() / DECODE_MATCH_MIN + 2 * blocks.size())
    {
        uint32_t room_at = 0;
        for (decode_block &block : blocks_) {
            block.room_at = room_at;
            block.sequences_at =
                decode_sequences_at(room_at, static_cast<uint32_t>(&block - blocks_.data()));
            block.at += DECODE_CARRY;
            room_at += block.room;
        }
        std::memcpy(in_.get(), &carry, sizeof carry);
        std::copy(bytes.begin(), bytes.end(), in_.get() + DECODE_CARRY);
        for (size_t i = 0; i < DECODE_PADDING; i++)
            in_[DECODE_CARRY + bytes.size() + i] = static_cast<unsigned char>(random_below(256));
        batch_.in = in_.get();
        batch_.in_size = static_cast<uint32_t>(DECODE_CARRY + bytes.size());
        batch_.blocks = static_cast<uint32_t>(blocks_.size());
        batch_.frames = static_cast<uint32_t>(frames_.size());
        batch_.room = room_at;
        batch_.block = blocks_.data();
        batch_.frame = frames_.data();
        batch_.heading = heading_.get();
        batch_.outcome = outcome_.get();
        batch_.next = next_.get();
        batch_.literals = literals_.get();
        batch_.sequences = sequences_.get();
    }

    void run() const
    {
        const decode_stage_list &list = decode_stages[DECODE_ZSTD];
        for (unsigned i = 0; i < list.count && batch_.blocks; i++) {
            const decode_stage &stage = list.stage[i];
            const decode_batch batch = batch_;
            emulate_launch(stage.grid(&batch, 1), stage.block, stage.shared,
                           [=] { stage.kernel(batch); });
            if (std::strcmp(stage.name, "sequences") == 0)
                return;
        }
    }

    const decode_batch &batch() const
    {
        return batch_;
    }

  private:
    size_t room() const
    {
        size_t sum = 0;
        for (const decode_block &block : blocks_)
            sum += block.room;
        return sum;
    }

    std::vector<decode_block> blocks_;
    std::vector<decode_frame> frames_;
    exact_memory<unsigned char> in_;
    exact_memory<decode_heading> heading_;
    exact_memory<decode_outcome> outcome_;
    exact_memory<unsigned char> literals_;
    exact_memory<decode_sequence> sequences_;
    exact_memory<unsigned char> next_{DECODE_CARRY};
    decode_batch batch_ = {};
};

// What goes on from block to block, as the format has it: the content of the frame, and the three
// offsets last used.
struct execution {
    byte_vector content;
    uint32_t repeat_offsets[3] = {1, 4, 8};
};

uint32_t offset_of(const uint32_t before[3], uint64_t packed)
{
    const uint32_t offset = static_cast<uint32_t>(packed);
    if (!(offset & ZSTD_REPEAT_OFFSETS))
        return offset;
    const uint32_t base = before[offset >> ZSTD_REPEAT_OFFSETS_WHICH & 3];
    const uint32_t less = offset & ZSTD_REPEAT_OFFSETS_LESS;
    return base > less ? base - less : 0;
}

void compose_repeat_offsets(execution &to, const zstd_offsets_map &after)
{
    uint32_t next[3];
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t which = after.position[i] >> ZSTD_WHICH_SHIFT,
                       value = after.position[i] & ((1u << ZSTD_WHICH_SHIFT) - 1);
        next[i] = which == ZSTD_CONSTANT             ? value
                  : to.repeat_offsets[which] > value ? to.repeat_offsets[which] - value
                                                     : 0;
    }
    std::copy(next, next + 3, to.repeat_offsets);
}

enum decode_refusal execute_block(const decode_batch &batch, uint32_t index, execution &to)
{
    const decode_block &block = batch.block[index];
    const decode_heading &heading = batch.heading[index];
    const decode_outcome &outcome = batch.outcome[index];
    const decode_frame &frame = batch.frame[block.frame];
    const bool packed = heading.literals_type == DECODE_LITERALS_PACKED;
    const unsigned char *const literals =
        packed ? batch.literals + block.room_at : batch.in + heading.literals_at;
    const size_t step = heading.literals_type == DECODE_LITERALS_RLE ? 0 : 1;
    const decode_sequence *const sequences = batch.sequences + block.sequences_at;
    const uint32_t mask = (1u << DECODE_LITERALS_SHIFT) - 1;
    const size_t begin = to.content.size();
    size_t used = 0;
    if (outcome.refusal != DECODE_TAKEN)
        return static_cast<enum decode_refusal>(outcome.refusal);
    for (uint32_t i = 0; i < heading.sequences; i++) {
        const decode_sequence sequence = sequences[i], next = sequences[i + 1];
        const uint32_t size = static_cast<uint32_t>(next & mask) - (sequence & mask);
        const uint32_t length = (next >> DECODE_LITERALS_SHIFT & (mask >> 1)) -
                                (sequence >> DECODE_LITERALS_SHIFT & (mask >> 1));
        const uint32_t offset = offset_of(to.repeat_offsets, sequence >> DECODE_OFFSET_SHIFT);
        for (uint32_t k = 0; k < length; k++)
            to.content.push_back(literals[step * used++]);
        if (offset == 0 || offset > to.content.size() || offset > frame.window)
            return DECODE_BAD;
        for (uint32_t k = length; k < size; k++)
            to.content.push_back(to.content[to.content.size() - offset]);
    }
    for (; used < heading.literals; used++)
        to.content.push_back(literals[step * used]);
    if (to.content.size() - begin != outcome.content)
        std::abort();
    compose_repeat_offsets(to, outcome.after);
    return DECODE_TAKEN;
}

// Goes on with a frame; gives its content to `int128` when it ends.
enum decode_refusal execute_frame(const decode_batch &batch, const decode_frame &frame,
                                  execution &to, byte_vector &whole)
{
    if (frame.begins)
        to = {};
    for (uint32_t i = 0; i < frame.blocks; i++) {
        const enum decode_refusal refusal = execute_block(batch, frame.first + i, to);
        if (refusal != DECODE_TAKEN)
            return refusal;
    }
    if (!frame.ends)
        return DECODE_TAKEN;
    whole.insert(whole.end(), to.content.begin(), to.content.end());
    return frame.content == DECODE_CONTENT_UNKNOWN || frame.content == to.content.size()
               ? DECODE_TAKEN
               : DECODE_BAD;
}

void forget_tables(decode_carry &carry)
{
    carry = {};
    for (decode_source &table : carry.tables)
        table.mode = ZSTD_ABSENT;
}

// Takes over the tables of the batch's last frame, into the carry of the next batch.
void carry_tables(const decode_batch &batch, decode_carry &carry)
{
    const decode_frame &frame = batch.frame[batch.frames - 1];
    if (frame.begins)
        forget_tables(carry);
    for (unsigned table = 0; table < ZSTD_TABLES; table++)
        for (uint32_t i = 0; i < frame.blocks; i++) {
            decode_source source = batch.heading[frame.first + i].tables[table];
            if (source.mode == ZSTD_ABSENT)
                continue;
            if (source.size > sizeof carry.described[table])
                std::abort();
            std::memmove(carry.described[table], batch.in + source.at, source.size);
            source.at = static_cast<uint32_t>(offsetof(decode_carry, described) +
                                              table * sizeof carry.described[table]);
            carry.tables[table] = source;
        }
}

} // namespace

std::vector<zstd_decoding> zstd_decode_together(const std::vector<byte_vector> &inputs)
{
    std::vector<zstd_decoding> decodings(inputs.size());
    std::vector<decode_block> blocks;
    std::vector<decode_frame> frames;
    std::vector<size_t> input_of; // a frame
    byte_vector bytes;
    for (size_t i = 0; i < inputs.size(); i++) {
        walked found;
        if (!walk(inputs[i], found)) {
            decodings[i].refusal = DECODE_BAD;
            continue;
        }
        for (decode_frame &frame : found.frames) {
            for (uint32_t k = 0; k < frame.blocks; k++) {
                decode_block block = found.blocks[frame.first + k];
                block.at += static_cast<uint32_t>(bytes.size());
                block.frame = static_cast<uint32_t>(frames.size());
                blocks.push_back(block);
            }
            frame.first = static_cast<uint32_t>(blocks.size()) - frame.blocks;
            frames.push_back(frame);
            input_of.push_back(i);
        }
        bytes.insert(bytes.end(), inputs[i].begin(), inputs[i].end());
    }
    decode_carry carry;
    forget_tables(carry);
    const built_batch built(blocks, frames, bytes, carry);
    built.run();
    for (size_t i = 0; i < frames.size(); i++) {
        zstd_decoding &decoding = decodings[input_of[i]];
        execution state;
        if (decoding.refusal == DECODE_TAKEN)
            decoding.refusal = execute_frame(built.batch(), frames[i], state, decoding.content);
    }
    return decodings;
}

zstd_decoding zstd_decode_in_batches(const byte_vector &input, size_t blocks)
{
    zstd_decoding decoding;
    walked found;
    execution state;
    decode_carry carry;
    forget_tables(carry);
    if (!walk(input, found))
        decoding.refusal = DECODE_BAD;
    for (size_t frame = 0, first = 0; first < found.blocks.size() && !decoding.refusal;) {
        const size_t end = std::min(first + blocks, found.blocks.size());
        const byte_vector bytes(input.begin() + found.blocks[first].at,
                                input.begin() + found.blocks[end - 1].at +
                                    found.blocks[end - 1].size);
        std::vector<decode_block> own(found.blocks.begin() + static_cast<std::ptrdiff_t>(first),
                                      found.blocks.begin() + static_cast<std::ptrdiff_t>(end));
        std::vector<decode_frame> frames;
        const size_t first_frame = frame;
        for (decode_block &block : own)
            block.at -= found.blocks[first].at;
        for (; frame < found.frames.size() && found.frames[frame].first < end; frame++) {
            decode_frame part = found.frames[frame];
            const size_t begin = std::max<size_t>(part.first, first);
            const size_t stop = std::min<size_t>(part.first + part.blocks, end);
            part.begins = begin == part.first;
            part.ends = stop == part.first + part.blocks;
            part.first = static_cast<uint32_t>(begin - first);
            part.blocks = static_cast<uint32_t>(stop - begin);
            for (size_t i = begin; i < stop; i++)
                own[i - first].frame = static_cast<uint32_t>(frame - first_frame);
            frames.push_back(part);
            if (!part.ends)
                break;
        }
        const built_batch built(own, frames, bytes, carry);
        built.run();
        for (const decode_frame &part : frames)
            if (decoding.refusal == DECODE_TAKEN)
                decoding.refusal = execute_frame(built.batch(), part, state, decoding.content);
        if (decoding.refusal == DECODE_TAKEN)
            carry_tables(built.batch(), carry);
        first = end;
    }
    return decoding;
}

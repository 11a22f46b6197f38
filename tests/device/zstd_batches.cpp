// SPDX-License-Identifier: MIT
#include "tests/device/emulation.h"

#include "gpu/decode/matches.cuh"
#include "gpu/decode/plan.h"
#include "gpu/decode/stages.h"

#include "tests/device/batch_memory.h"
#include "tests/device/zstd_batches.h"

#include <algorithm>
#include <cstring>

namespace
{

constexpr uint32_t in_max = 1u << 20;

class planned_decoder
{
  public:
    explicit planned_decoder(const zstd_cut &cut)
        : like_(cut), next_in_(memory_of(sizeof(decode_carry))), next_out_(memory_of(0))
    {
        std::memset(next_in_.get(), 0, sizeof(decode_carry));
        walk_.window_max = ZSTD_WINDOW_MAX;
        plan_.capacity = {in_max, cut.blocks, cut.blocks, 1u << 22, 0};
        blocks_.resize(cut.blocks);
        frames_.resize(cut.blocks);
        frame_ends_.resize(cut.blocks);
        plan_.block = blocks_.data();
        plan_.frame = frames_.data();
        plan_.frame_end = frame_ends_.data();
    }

    zstd_decoded all(const unsigned char *in, size_t len)
    {
        size_t at = 0, there = 0;
        while (result_.refusal == DECODE_TAKEN && !result_.broken) {
            decode_plan_clear(&plan_);
            const decode_planned planned = zstd_plan_blocks(&walk_, &plan_, in + at, there - at);
            if (planned == DECODE_LEFT)
                return result_;
            if (planned == DECODE_PLANNED)
                decode(in + at);
            at += plan_.taken;
            if (at > len)
                return result_;
            if (planned == DECODE_NEEDS_MORE && at + plan_.need > there && there == len)
                break;
            there = std::max(at, std::min(len, there + like_.at_once));
        }
        result_.is_taken =
            result_.refusal == DECODE_TAKEN && at == len && walk_.parts.next == ZSTD_HEADER;
        return result_;
    }

  private:
    owned_memory memory_of(size_t size) const
    {
        return batch_memory_of(size, like_.fill);
    }

    void require(bool holds, const char *what)
    {
        if (!holds && !result_.broken)
            result_.broken = what;
    }

    void decode(const unsigned char *in)
    {
        decode_batch batch = {};
        // As the host plans it, in memory of its own for each array that has an end.
        decode_capacity capacity = plan_.capacity;
        capacity.in = plan_.in_size;
        capacity.blocks = plan_.blocks;
        capacity.frames = plan_.frames;
        capacity.room = plan_.room;
        capacity.window = kept_;
        const owned_memory own = memory_of(decode_own_memory(nullptr, &capacity, nullptr));
        const owned_memory stage = memory_of(decode_stage_memory(nullptr, &capacity, nullptr));
        decode_own_memory(&batch, &capacity, own.get());
        decode_stage_memory(&batch, &capacity, stage.get());
        const owned_memory exact_in = memory_of(DECODE_CARRY + plan_.in_size + DECODE_PADDING);
        const owned_memory exact_literals = memory_of(plan_.room + DECODE_PADDING);
        batch.in = exact_in.get();
        batch.literals = exact_literals.get();
        std::memcpy(batch.in, next_in_.get(), sizeof(decode_carry));
        std::memcpy(batch.in + DECODE_CARRY, in, plan_.in_size);
        std::memcpy(const_cast<decode_block *>(batch.block), plan_.block,
                    plan_.blocks * sizeof *plan_.block);
        std::memcpy(const_cast<decode_frame *>(batch.frame), plan_.frame,
                    plan_.frames * sizeof *plan_.frame);
        std::copy(result_.content.end() - kept_, result_.content.end(), batch.out - kept_);
        decode_batch_set_plan(&batch, &plan_);
        if (like_.way != ZSTD_AS_SHIPPED)
            batch.frame_room = like_.way == ZSTD_BY_FRAMES ? 0 : UINT32_MAX;
        batch.keep_min = like_.keep_min;
        run(batch);
    }

    // The window of a frame that goes on, which the next batch needs.
    uint32_t window_after() const
    {
        const bool goes_on = walk_.parts.next == ZSTD_BLOCK && walk_.has_begun;
        return goes_on ? static_cast<uint32_t>(walk_.parts.header.window) : 0;
    }

    void run(decode_batch &batch)
    {
        const uint32_t max = std::max(window_after(), like_.keep_min);
        const size_t before = (max + size_t{255}) / 256 * 256;
        next_in_ = memory_of(sizeof(decode_carry));
        next_out_ = memory_of(before);
        batch.next = next_in_.get();
        batch.next_out = next_out_.get() + before;
        const decode_stage_list &list = decode_stages[batch.format];
        for (unsigned i = 0; i < list.count; i++)
            if (list.stage[i].part != DECODE_PART_END)
                launch_unseeing(list.stage[i], batch);
        for (unsigned i = 0; i < list.count; i++)
            if (list.stage[i].part == DECODE_PART_END)
                launch(list.stage[i], batch);
        result_.batches++;
        result_.alone += batch.room > 0 && decode_stands_alone(&batch);
        if (batch.verdict->refused == DECODE_NONE) {
            take(batch);
            return;
        }
        result_.refusal = batch.verdict->refusal;
        require(result_.refusal != DECODE_TAKEN, "refused for no reason");
    }

    // Launches a stage; where the batch stands alone, without what the one before has left for it,
    // which may not be there yet.
    void launch_unseeing(const decode_stage &stage, const decode_batch &batch) const
    {
        if (!decode_stands_alone(&batch)) {
            launch(stage, batch);
            return;
        }
        const std::vector<unsigned char> carry(batch.in, batch.in + sizeof(decode_carry)),
            content(batch.out - kept_, batch.out);
        std::memset(batch.in, like_.fill, carry.size());
        std::memset(batch.out - kept_, like_.fill, content.size());
        launch(stage, batch);
        std::copy(carry.begin(), carry.end(), batch.in);
        std::copy(content.begin(), content.end(), batch.out - kept_);
    }

    // Takes the content of a batch, and what is left for the next one.
    void take(const decode_batch &batch)
    {
        const decode_verdict &verdict = *batch.verdict;
        require(verdict.content <= batch.room, "more content than room");
        if (result_.broken)
            return;
        std::vector<unsigned char> &content = result_.content;
        content.insert(content.end(), batch.out, batch.out + verdict.content);
        check_ends(batch);
        kept_ = reinterpret_cast<decode_carry *>(next_in_.get())->kept;
        const uint64_t window =
            std::min<uint64_t>(window_after(), walk_.parts.next == ZSTD_BLOCK ? before_ : 0);
        require(kept_ ==
                    std::max<uint64_t>(window, std::min<uint64_t>(like_.keep_min, content.size())),
                "more or less is kept than is needed");
        if (!result_.broken)
            require(std::equal(batch.next_out - kept_, batch.next_out, content.end() - kept_),
                    "something else is kept");
    }

    // Where frames end, and how long the last one is so far.
    void check_ends(const decode_batch &batch)
    {
        const decode_verdict &verdict = *batch.verdict;
        uint32_t end = 0;
        for (uint32_t i = 0; i < batch.frames; i++) {
            const decode_frame &frame = batch.frame[i];
            const uint64_t size = batch.frame_ends[i] - uint64_t{end} + (i == 0 ? before_ : 0);
            require(batch.frame_ends[i] >= end, "a frame that ends before it begins");
            require(!frame.ends || frame.content == DECODE_CONTENT_UNKNOWN || frame.content == size,
                    "a frame that does not hold what it states");
            end = batch.frame_ends[i];
            before_ = frame.ends ? 0 : size;
        }
        require(end == verdict.content, "frames that do not hold all content");
        require(batch.frame[batch.frames - 1].ends ||
                    reinterpret_cast<decode_carry *>(next_in_.get())->before == before_,
                "a frame of another length so far");
    }

    template <unsigned Tile> static void launch_link(const decode_batch &batch)
    {
        emulate_launch(batch.blocks * decode_link_tiles(Tile), 32, decode_tile_shared(Tile),
                       [=] { decode_link<Tile, 32, Tile / 64>(batch); });
    }

    template <unsigned Tile> static void launch_copy(const decode_batch &batch)
    {
        emulate_launch(batch.frames, 32, decode_tile_shared(Tile),
                       [=] { decode_copy<Tile, 32, Tile / 64>(batch); });
    }

    void launch(const decode_stage &stage, const decode_batch &batch) const
    {
        const decode_kernel kernel = stage.kernel;
        const unsigned grid = stage.grid(&batch, like_.tile ? 1 : 3);
        const bool is_link = std::strcmp(stage.name, "link") == 0;
        const bool is_copy = std::strcmp(stage.name, "copy") == 0;
        if (grid == 0)
            return;
        if (is_link && like_.tile == 4096)
            launch_link<4096>(batch);
        else if (is_link && like_.tile)
            launch_link<32768>(batch);
        else if (is_copy && like_.tile == 4096)
            launch_copy<4096>(batch);
        else if (is_copy && like_.tile)
            launch_copy<32768>(batch);
        else if (like_.tile && std::strcmp(stage.name, "place") == 0)
            emulate_launch(1, 64, stage.shared, [=] { kernel(batch); });
        else
            emulate_launch(grid, stage.block, stage.shared, [=] { kernel(batch); });
    }

    const zstd_cut like_;
    zstd_walk walk_ = {};
    decode_plan plan_ = {};
    std::vector<decode_block> blocks_;
    std::vector<decode_frame> frames_;
    std::vector<decode_frame_end> frame_ends_;
    owned_memory next_in_, next_out_;
    uint32_t kept_ = 0;   // bytes of content before the batch
    uint64_t before_ = 0; // bytes of the frame before the batch
    zstd_decoded result_;
};

} // namespace

zstd_decoded zstd_decode_all(const unsigned char *in, size_t len, const zstd_cut &cut)
{
    return planned_decoder(cut).all(in, len);
}

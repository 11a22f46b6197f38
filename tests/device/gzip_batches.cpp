// SPDX-License-Identifier: MIT
#include "tests/device/emulation.h"

#include "gpu/decode/plan.h"
#include "gpu/decode/stages.h"

#include "tests/device/batch_memory.h"
#include "tests/device/gzip_batches.h"

#include <algorithm>
#include <cstring>

namespace
{

constexpr unsigned grid = 3; // CUDA blocks that stay

class batch_decoder
{
  public:
    explicit batch_decoder(const gzip_cut &cut)
        : like_(cut), window_(std::max(GZIP_WINDOW, (cut.keep_min + 255) / 256 * 256)),
          next_in_(memory_of(DECODE_CARRY)), next_out_(memory_of(window_))
    {
        std::memset(next_in_.get(), 0, DECODE_CARRY);
        plan_.format = DECODE_GZIP;
        plan_.capacity = {cut.size, cut.blocks, cut.frames, cut.room, window_};
    }

    gzip_decoded all(const unsigned char *in, size_t len)
    {
        while (!plan_.is_end) {
            const size_t at = static_cast<size_t>(walk_.at);
            decode_plan_clear(&plan_);
            if (gzip_plan_piece(&walk_, &plan_, len - at, true) != DECODE_PLANNED)
                return result_;
            decode(in + at);
            if (result_.refusal != DECODE_TAKEN || result_.broken)
                return result_;
        }
        result_.is_taken = true;
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
        const owned_memory own = memory_of(decode_own_memory(nullptr, &plan_.capacity, nullptr));
        // In memory of its own, which ends where what may be read does.
        const owned_memory exact_in = memory_of(DECODE_CARRY + plan_.in_size + DECODE_PADDING);
        decode_own_memory(&batch, &plan_.capacity, own.get());
        batch.in = exact_in.get();
        std::memcpy(batch.in, next_in_.get(), DECODE_CARRY);
        std::memcpy(batch.in + DECODE_CARRY, in, plan_.in_size);
        std::memset(batch.gzip.counters, 0, sizeof *batch.gzip.counters);
        std::copy(result_.content.end() - kept_, result_.content.end(), batch.out - kept_);
        decode_batch_set_plan(&batch, &plan_);
        batch.keep_min = like_.keep_min;
        next_in_ = memory_of(DECODE_CARRY);
        next_out_ = memory_of(window_);
        batch.next = next_in_.get();
        batch.next_out = next_out_.get() + window_;
        const decode_stage_list &list = decode_stages[DECODE_GZIP];
        for (unsigned i = 0; i < list.count; i++)
            launch(list.stage[i], batch);
        take(batch);
    }

    static void launch(const decode_stage &stage, const decode_batch &batch)
    {
        const decode_kernel kernel = stage.kernel;
        const unsigned blocks = stage.grid(&batch, grid);
        if (blocks > 0)
            emulate_launch(blocks, stage.block, stage.shared, [=] { kernel(batch); });
    }

    // What parts of candidates may come to: once the budget is spent, each of them takes a step.
    static uint64_t work_max(const decode_batch &batch)
    {
        constexpr uint32_t step = GZIP_STEP_WORK + 32 * 65 * 4; // of the largest windows
        const uint32_t size = batch.in_size - DECODE_CARRY;
        const uint64_t steps = GZIP_STEP_WORK * uint64_t{batch.gzip.counters->candidates};
        return size > 2 * GZIP_MARGIN ? GZIP_WORK * uint64_t{size} + grid * step + steps
                                      : UINT64_MAX;
    }

    // Takes the content of a batch, and what is left for the next one.
    void take(const decode_batch &batch)
    {
        const decode_verdict &verdict = *batch.verdict;
        result_.batches++;
        require(batch.gzip.counters->work <= work_max(batch), "more work than a batch may take");
        if (verdict.refused != DECODE_NONE) {
            result_.refusal = verdict.refusal;
            require(result_.refusal != DECODE_TAKEN, "refused for no reason");
            return;
        }
        require(verdict.content <= batch.room, "more content than room");
        if (result_.broken)
            return;
        std::vector<unsigned char> &content = result_.content;
        content.insert(content.end(), batch.out, batch.out + verdict.content);
        kept_ = reinterpret_cast<decode_carry *>(next_in_.get())->kept;
        const uint64_t before =
            reinterpret_cast<gzip_carry *>(next_in_.get() + GZIP_CARRY_AT)->before;
        require(before <= content.size(), "a member longer than the content");
        const uint64_t min = std::max<uint64_t>(std::min<uint64_t>(GZIP_WINDOW, before),
                                                std::min<uint64_t>(like_.keep_min, content.size()));
        require(kept_ == min, "more or less is kept than is needed");
        if (!result_.broken)
            require(std::equal(batch.next_out - kept_, batch.next_out, content.end() - kept_),
                    "something else is kept");
    }

    const gzip_cut like_;
    const uint32_t window_;
    gzip_walk walk_ = {};
    decode_plan plan_ = {};
    owned_memory next_in_, next_out_;
    uint32_t kept_ = 0; // bytes of content before the batch
    gzip_decoded result_;
};

} // namespace

gzip_decoded gzip_decode_all(const unsigned char *in, size_t len, const gzip_cut &cut)
{
    return batch_decoder(cut).all(in, len);
}

// All stages that decompress zstd, launched in the emulation on batches that the host lays: frames
// of every kind, cut into batches anywhere, against libzstd; and small frames that are cut short or
// altered, of which they take what the format allows, and nothing that libzstd refuses or decodes
// to something else.
#include "tests/device/emulation.h"

#include "gpu/zstd/lay.h"
#include "gpu/zstd/link.cuh"
#include "gpu/zstd/stages.h"

#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

extern "C" {
#include "tests/helpers/compressed.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace
{

unsigned long cases, batches, wrong, refused_cases;
std::map<std::string, unsigned long> stricter; // what libzstd takes and the stages refuse, and why

using bytes = std::vector<unsigned char>;
using owned = std::unique_ptr<unsigned char[], decltype(&std::free)>;

owned memory_of(size_t size)
{
    unsigned char *memory =
        static_cast<unsigned char *>(std::aligned_alloc(256, (size / 256 + 1) * 256));
    if (!memory)
        std::abort();
    std::memset(memory, 0xa5, size);
    return {memory, std::free};
}

void fail(const char *what, size_t at)
{
    if (wrong++ < 20)
        std::fprintf(stderr, "FAIL: case %lu: %s (%zu)\n", cases, what, at);
}

// How a stream is cut into batches, and kernels are launched.
struct shape {
    uint32_t blocks;  // of a batch
    size_t at_once;   // compressed bytes that arrive at a time
    bool small_tiles; // link tiles so small that fewer threads are needed
};

// What became of a stream.
struct decoded {
    bool is_taken = false;
    uint32_t refusal = ZSTD_TAKEN; // of the stages; otherwise the host refuses it
    bytes content;
};

constexpr uint32_t in_most = 1u << 20;

class decoder
{
  public:
    explicit decoder(const shape &shape_)
        : like(shape_), next_in(memory_of(sizeof(zstd_carry))), next_out(memory_of(0))
    {
        std::memset(next_in.get(), 0, sizeof(zstd_carry));
        walk.window_max = ZSTD_WINDOW_MOST;
        plan.capacity = {in_most, like.blocks, like.blocks, 1u << 22, 0};
        blocks.resize(like.blocks);
        frames.resize(like.blocks);
        frame_ends.resize(like.blocks);
        plan.block = blocks.data();
        plan.frame = frames.data();
        plan.frame_end = frame_ends.data();
    }

    decoded all(const unsigned char *in, size_t len)
    {
        size_t at = 0, there = 0;
        while (result.refusal == ZSTD_TAKEN) {
            const zstd_laid laid = zstd_lay(&walk, &plan, in + at, there - at);
            if (laid == ZSTD_LEFT)
                return result;
            if (laid == ZSTD_LAID)
                decode(in + at);
            at += plan.taken;
            if (at > len)
                return result;
            if (laid == ZSTD_NEEDS_MORE && at + plan.need > there && there == len)
                break;
            there = std::max(at, std::min(len, there + like.at_once));
        }
        result.is_taken = result.refusal == ZSTD_TAKEN && at == len && !walk.in_frame;
        return result;
    }

  private:
    void decode(const unsigned char *in)
    {
        zstd_batch batch = {};
        // As the host lays it, in memory of its own for each array that has an end.
        zstd_capacity capacity = plan.capacity;
        capacity.in = plan.in_size;
        capacity.blocks = plan.blocks;
        capacity.frames = plan.frames;
        capacity.room = plan.room;
        capacity.window = kept;
        const owned own = memory_of(zstd_own_memory(nullptr, &capacity, nullptr));
        const owned stage = memory_of(zstd_stage_memory(nullptr, &capacity, nullptr));
        zstd_own_memory(&batch, &capacity, own.get());
        zstd_stage_memory(&batch, &capacity, stage.get());
        const owned exact_in = memory_of(ZSTD_CARRY + plan.in_size + ZSTD_PADDING);
        const owned exact_literals = memory_of(plan.room + ZSTD_PADDING);
        batch.in = exact_in.get();
        batch.literals = exact_literals.get();
        std::memcpy(batch.in, next_in.get(), sizeof(zstd_carry));
        std::memcpy(batch.in + ZSTD_CARRY, in, plan.in_size);
        std::memcpy(const_cast<zstd_block *>(batch.block), plan.block,
                    plan.blocks * sizeof *plan.block);
        std::memcpy(const_cast<zstd_frame *>(batch.frame), plan.frame,
                    plan.frames * sizeof *plan.frame);
        std::copy(result.content.end() - kept, result.content.end(), batch.out - kept);
        batch.in_size = ZSTD_CARRY + plan.in_size;
        batch.blocks = plan.blocks;
        batch.frames = plan.frames;
        batch.room = plan.room;
        run(batch);
    }

    void run(zstd_batch &batch)
    {
        const uint32_t window = zstd_window_after(&walk);
        const size_t before = (window + 255) / 256 * 256;
        next_in = memory_of(sizeof(zstd_carry));
        next_out = memory_of(before);
        batch.next = next_in.get();
        batch.next_out = next_out.get() + before;
        for (unsigned i = 0; i < zstd_stage_count; i++)
            launch(zstd_stages[i], batch);
        batches++;
        if (batch.verdict->refused < batch.blocks) {
            result.refusal = batch.verdict->refusal;
            if (result.refusal == ZSTD_TAKEN || batch.verdict->refused >= batch.blocks)
                fail("refused for no reason", batch.verdict->refused);
            return;
        }
        result.content.insert(result.content.end(), batch.out, batch.out + batch.verdict->content);
        kept = reinterpret_cast<zstd_carry *>(next_in.get())->kept;
        if (kept > window || kept > result.content.size()) {
            fail("more is kept than there is", kept);
            kept = 0;
        } else if (!std::equal(batch.next_out - kept, batch.next_out,
                               result.content.end() - kept)) {
            fail("something else is kept", kept);
        }
    }

    void launch(const zstd_stage &stage, const zstd_batch &batch) const
    {
        constexpr unsigned small = 4096, threads = 32;
        const zstd_kernel kernel = stage.kernel;
        if (like.small_tiles && std::strcmp(stage.name, "link") == 0)
            emulate_launch(batch.blocks * zstd_link_tiles(small), threads, zstd_link_shared(small),
                           [=] { zstd_link<small, threads>(batch); });
        else if (like.small_tiles && std::strcmp(stage.name, "place") == 0)
            emulate_launch(1, 64, stage.shared, [=] { kernel(batch); });
        else
            emulate_launch(stage.grid(&batch, 3), stage.block, stage.shared,
                           [=] { kernel(batch); });
    }

    const shape like;
    zstd_walk walk = {};
    zstd_plan plan = {};
    std::vector<zstd_block> blocks;
    std::vector<zstd_frame> frames;
    std::vector<zstd_frame_end> frame_ends;
    owned next_in, next_out;
    uint32_t kept = 0; // bytes of content before the batch
    decoded result;
};

shape random_shape()
{
    shape shape;
    shape.blocks = random_below(3) ? 1 + random_below(6) : 1000;
    shape.at_once = random_below(3) ? 1 + random_below(300000) : 1u << 30;
    shape.small_tiles = random_below(4);
    return shape;
}

// What a compressor wrote is taken, however it is cut.
void check_taken(const bytes &in, const bytes &due, const shape &shape)
{
    cases++;
    const decoded is = decoder(shape).all(in.data(), in.size());
    if (!is.is_taken)
        fail("refused", is.refusal);
    else if (is.content != due)
        fail("other content", is.content.size());
}

// Anything: what is taken is what libzstd takes, and what the naive decoder refuses is refused.
void check_any(const unsigned char *in, size_t len)
{
    cases++;
    const decoded is = decoder({1000, 1u << 30, true}).all(in, len);
    unsigned char *due;
    size_t size;
    naive_zstd naive;
    const bool naively = naive_zstd_decode(&naive, in, len);
    const bool right = frame_reference(in, len, &due, &size);
    if (is.is_taken && !right)
        fail("libzstd refuses it", len);
    else if (is.is_taken &&
             (is.content.size() != size || !std::equal(is.content.begin(), is.content.end(), due)))
        fail("altered: other content", len);
    else if (!is.is_taken && naively)
        fail("the format allows it, and it is refused", is.refusal);
    refused_cases += !is.is_taken;
    if (!is.is_taken && right)
        stricter[naively ? "?" : naive.why]++;
    if (is.is_taken && !naively)
        stricter[std::string("taken, but not by the naive decoder: ") + naive.why]++;
    naive_zstd_free(&naive);
    std::free(due);
}

bytes make_content(unsigned kind, size_t size)
{
    bytes data(size);
    frame_content(static_cast<enum frame_content>(kind % CONTENT_KINDS), data.data(), size);
    return data;
}

void append_frame(bytes &frames, const bytes &data, const frame_settings &settings)
{
    bytes frame(frame_bound(&settings, data.size()));
    const size_t size =
        frame_compress(frame.data(), frame.size(), &settings, data.data(), data.size());
    frames.insert(frames.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
}

frame_settings random_settings()
{
    frame_settings settings = {};
    settings.level = static_cast<int>(random_below(28)) - 5;
    settings.window_log = random_below(2) ? 0 : 10 + static_cast<int>(random_below(10));
    settings.is_long = random_below(4) == 0;
    settings.checksum = random_below(2);
    settings.is_unsized = random_below(2);
    settings.flush = random_below(3) ? 0 : 300 + random_below(60000);
    return settings;
}

// One frame of some blocks: with a batch that ends after each.
void check_frames()
{
    const unsigned rounds = scale_is_small_or_slow() ? 12 : 70;
    for (unsigned round = 0; round < rounds; round++) {
        const bytes data = make_content(round, random_below(round % 3 ? 400000 : 3000));
        bytes frame;
        append_frame(frame, data, random_settings());
        check_taken(frame, data, random_shape());
        check_taken(frame, data, {1, 1u << 30, true});
        check_taken(frame, data, {1 + random_below(4), 1u << 30, false});
    }
}

// Each size from 0.
void check_sizes()
{
    for (size_t size = 0; size < 300; size += scale_is_small_or_slow() ? 17 : 1) {
        const bytes data = make_content(CONTENT_TEXT, size);
        bytes frame;
        append_frame(frame, data, random_settings());
        check_taken(frame, data, random_shape());
    }
}

// Many frames, with skippable ones between them.
void check_many()
{
    const unsigned rounds = scale_is_small_or_slow() ? 4 : 20;
    for (unsigned round = 0; round < rounds; round++) {
        bytes frames, content;
        for (unsigned i = 0; i < 30; i++) {
            const bytes data = make_content(i, random_below(random_below(4) ? 2000 : 60000));
            if (random_below(4) == 0) {
                bytes skipped(COMPRESSED_MAX(1000));
                skipped.resize(skippable_put(skipped.data(), random_below(1000)));
                frames.insert(frames.end(), skipped.begin(), skipped.end());
            }
            append_frame(frames, data, random_settings());
            content.insert(content.end(), data.begin(), data.end());
        }
        check_taken(frames, content, {1000, 1u << 30, true});
        check_taken(frames, content, random_shape());
    }
}

// Small frames cut at every byte, and with every byte altered.
void check_altered()
{
    const unsigned rounds = scale_is_small_or_slow() ? 5 : 24;
    for (unsigned round = 0; round < rounds; round++) {
        frame_settings settings = random_settings();
        settings.flush = random_below(2) ? 0 : 50 + random_below(300);
        const size_t size = 1 + random_below(random_below(4) ? 400 : 2000);
        bytes frame;
        append_frame(frame, make_content(CONTENT_TEXT + random_below(4), size), settings);
        if (scale_is_small_or_slow() && frame.size() > 400)
            continue;
        for (size_t cut = 0; cut < frame.size(); cut++)
            check_any(frame.data(), cut);
        bytes altered = frame;
        for (size_t at = 0; at < frame.size(); at++) {
            for (unsigned k = 0; k < (scale_is_small_or_slow() ? 2u : 4u); k++) {
                altered[at] = static_cast<unsigned char>(k % 2 ? random_word()
                                                               : frame[at] ^ 1u << random_below(8));
                check_any(altered.data(), altered.size());
            }
            altered[at] = frame[at];
        }
    }
}

} // namespace

int main()
{
    check_sizes();
    check_frames();
    check_many();
    check_altered();
    if (std::getenv("VERBOSE"))
        for (const auto &why : stricter)
            std::printf("%lu: %s\n", why.second, why.first.c_str());
    std::printf("%lu cases, %lu of them refused, %lu batches, %lu wrong\n", cases, refused_cases,
                batches, wrong);
    return wrong != 0;
}

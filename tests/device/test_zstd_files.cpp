// SPDX-License-Identifier: MIT
// zstd files that the emulated GPU decompresses: those of libzstd, frames of all that the format
// allows and no compressor writes, and files that are cut, changed or wrong in one thing. Each goes
// to engines with batches of a block, of a few, and of thousands.
//
// The oracles are libzstd, which says what a file holds, and a decoder by the letter of the format
// (naive_zstd.h), which says whether it is right: the GPU takes those files, and no others. Content
// is compared by its counts, and exactly where a checksum is added.
#include "tests/device/emulation.h"
#include "tests/device/gpu_files.h"
#include "tests/device/zstd_made.h"

extern "C" {
#include "src/hash/xxh64.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"
}

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

namespace
{

using bytes = std::vector<unsigned char>;

unsigned long cases, taken, wrong;
bool quick;

//===--- Files -------------------------------------------------------------------------------===//

struct zstd_file {
    const char *what;
    bytes file, content;
    bool has_content;  // as libzstd has it; and
    bool must_be_left; // whatever the decoders say: a checksum is wrong
    bool may_be_left;  // a window is larger than the device has memory for
    std::string why;   // it is not by the letter of the format; "": it is
};

std::vector<zstd_file> files; // of one part of the test

void add_any(const char *what, const bytes &file, bool must_be_left = false)
{
    zstd_file made = {what, file, {}, false, must_be_left, false, ""};
    unsigned char *content;
    size_t size;
    struct naive_zstd naive;
    made.has_content = frame_reference(file.data(), file.size(), &content, &size);
    if (made.has_content)
        made.content.assign(content, content + size);
    std::free(content);
    naive_zstd_decode(&naive, file.data(), file.size());
    made.why = naive.why ? naive.why : "";
    for (size_t i = 0; i < naive.frames_count; i++)
        made.may_be_left |= naive.frames[i].window > 2u << 20;
    naive_zstd_free(&naive);
    if (must_be_left)
        made.why = "a wrong checksum";
    files.push_back(made);
}

// A file that is right; how the test makes it is wrong if an oracle refuses it.
void add_right(const char *what, const bytes &file)
{
    add_any(what, file);
    if (files.back().has_content && files.back().why.empty())
        return;
    std::fprintf(stderr, "FAIL: %s: not made right: %s\n", what, files.back().why.c_str());
    wrong++;
}

// A frame with a checksum added; if there is time, without it, too; now and then with a wrong one.
void add_frame(const char *what, bytes frame)
{
    add_right(what, frame);
    const bytes content = files.back().content;
    if (quick)
        files.pop_back();
    struct xxh64 hash;
    xxh64_begin(&hash);
    xxh64_add(&hash, content.data(), content.size());
    const uint64_t sum = xxh64_value(&hash);
    frame[4] |= 4;
    for (unsigned i = 0; i < 4; i++)
        frame.push_back(static_cast<unsigned char>(sum >> 8 * i));
    add_right(what, frame);
    frame[frame.size() - 1 - random_below(4)] ^= static_cast<unsigned char>(1 << random_below(8));
    if (random_below(quick ? 8 : 2) == 0)
        add_any(what, frame, true);
}

//===--- The engines -------------------------------------------------------------------------===//

void report(const zstd_file &file, const char *batch, const char *why)
{
    if (wrong++ >= 10)
        return;
    std::fprintf(stderr, "FAIL: %s, %zu bytes, batches of %s: %s%s:", file.what, file.file.size(),
                 batch ? batch : "any size", why, file.why.c_str());
    for (size_t i = 0; i < file.file.size() && i < 200; i++)
        std::fprintf(stderr, " %02x", file.file[i]);
    std::fputc('\n', stderr);
}

void count_all(const char *batch, bool some_wait)
{
    emulate_seed(random_below(4) ? 1 + random_below(1000) : 0); // the order of threads
    struct gpu_files *const engine = gpu_files_open(&codec_zstd, batch, false);
    gpu_file_result is = GPU_FILE_LEFT;
    for (size_t i = 0; i < files.size() && is != GPU_FILE_WRONG;
         i++) { // what comes after it need not be right
        const zstd_file &file = files[i];
        static const unsigned char empty[1] = {};
        const unsigned char *const content = file.content.empty() ? empty : file.content.data();
        is = gpu_files_count(engine, file.file.data(), file.file.size(),
                             some_wait && random_below(3) ? 1 + random_below(300000) : 0,
                             file.has_content && !file.must_be_left ? content : nullptr,
                             file.content.size());
        cases++;
        taken += is == GPU_FILE_TAKEN;
        if (is == GPU_FILE_WRONG)
            report(file, batch, "other content, or taken although it is wrong: ");
        else if (is == GPU_FILE_TAKEN && !file.why.empty())
            report(file, batch, "taken: ");
        else if (is == GPU_FILE_LEFT && file.why.empty() && !file.may_be_left)
            report(file, batch, "left");
    }
    gpu_files_close(engine);
}

// Joins files that are right and follow each other: frames of one file, which take no more time
// than one.
void join()
{
    std::vector<zstd_file> joined;
    for (const zstd_file &file : files) {
        zstd_file *const last = joined.empty() ? nullptr : &joined.back();
        if (last && last->why.empty() && file.why.empty() && !last->may_be_left &&
            !file.may_be_left && last->content.size() + file.content.size() < 100000) {
            last->file.insert(last->file.end(), file.file.begin(), file.file.end());
            last->content.insert(last->content.end(), file.content.begin(), file.content.end());
        } else {
            joined.push_back(file);
        }
    }
    files = joined;
}

// Compressed bytes, blocks, frames, bytes of content.
const char *const one_block = "524288,1,1,131072", *const few_blocks = "524288,3,2,393216",
                  *const many_blocks = "2097152,2000,1500,4194304";

using cuts = std::vector<const char *>;

// Has engines count the files, and forgets them.
void flush(const cuts &batches)
{
    join();
    for (const char *batch : batches)
        count_all(batch, batch != few_blocks);
    files.clear();
}

//===--- What libzstd makes ------------------------------------------------------------------===//

bytes content_of(unsigned kind, size_t size)
{
    bytes content(size + 1);
    frame_content(static_cast<enum frame_content>(kind % CONTENT_KINDS), content.data(), size);
    content.resize(size);
    return content;
}

bytes compress(const frame_settings &settings, const bytes &content)
{
    bytes frame(frame_bound(&settings, content.size()));
    frame.resize(
        frame_compress(frame.data(), frame.size(), &settings, content.data(), content.size()));
    return frame;
}

frame_settings random_settings()
{
    frame_settings settings = {};
    settings.level = static_cast<int>(random_below(28)) - 5;
    settings.is_long = random_below(4) == 0;
    settings.is_unsized = random_below(2);
    settings.checksum = random_below(4) != 0;
    // Larger ones the device has no memory for.
    if (settings.is_long || settings.is_unsized || random_below(2))
        settings.window_log = 10 + static_cast<int>(random_below(11));
    settings.flush = random_below(3) ? 0 : 300 + random_below(60000);
    return settings;
}

// With parameters that are for experiments only.
bytes compress_as(int level, ZSTD_paramSwitch_e literals, int block, const bytes &content)
{
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    bytes frame(2 * content.size() + 1000);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, literals);
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetCBlockSize, block);
    const size_t size =
        ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size))
        std::abort();
    frame.resize(size);
    return frame;
}

void of_libzstd()
{
    for (unsigned round = 0; round < scale_of(10, 100, 500); round++)
        add_right("a frame", compress(random_settings(),
                                      content_of(round, random_below(round % 3 ? 300000 : 3000))));
    for (size_t size = 0; size < 300; size += quick ? 17 : 1)
        add_right("a size", compress(random_settings(), content_of(CONTENT_TEXT, size)));
    for (size_t block = 1; block <= 3; block++)
        for (int near = quick ? -1 : -3; near <= (quick ? 1 : 3); near++)
            add_right(
                "a size near blocks'",
                compress(random_settings(), content_of(near % 2 ? CONTENT_MIXED : CONTENT_RANDOM,
                                                       (block << 17) + static_cast<size_t>(near))));
    for (unsigned round = 0; round < scale_of(6, 72, 300); round++)
        add_right("experimental",
                  compress_as(static_cast<int>(1 + random_below(12)),
                              static_cast<ZSTD_paramSwitch_e>(round % 3),
                              round / 3 % 3 * 2500 +
                                  (round / 3 % 3 == 1 ? 0 : 1400) * (round / 3 % 3 != 0),
                              content_of(round, random_below(100000))));
    flush({many_blocks, one_block, few_blocks});
}

// Frames one after the other, of which many are alike, skippable ones between them.
void of_frames()
{
    for (unsigned round = 0; round < scale_of(2, 16, 60); round++) {
        bytes file;
        const bool are_alike = round % 2; // then batches stand alone
        for (unsigned i = 0; i < (are_alike ? 330u : 30u); i++) {
            frame_settings settings = random_settings();
            if (are_alike)
                settings.window_log = 10, settings.flush = 0;
            else if (random_below(4) == 0) {
                bytes skipped(COMPRESSED_MAX(1000));
                skipped.resize(skippable_put(skipped.data(), random_below(1000)));
                file.insert(file.end(), skipped.begin(), skipped.end());
            }
            const size_t size =
                are_alike ? 2100 + random_below(900) : random_below(random_below(4) ? 2000 : 60000);
            const bytes frame =
                compress(settings, content_of(are_alike ? unsigned{CONTENT_TEXT} : i, size));
            file.insert(file.end(), frame.begin(), frame.end());
        }
        add_right("many frames", file);
    }
    flush({many_blocks, nullptr});
}

//===--- Frames assembled by hand ------------------------------------------------------------===//

std::vector<made_block> blocks_of(size_t count,
                                  const std::function<void(made_block &, size_t)> &make)
{
    std::vector<made_block> blocks(count);
    for (size_t i = 0; i < count; i++) {
        blocks[i].type = 2;
        make(blocks[i], i);
    }
    return blocks;
}

void made_right()
{
    // All ways in which a block can come by its tables, after blocks that have none, and others.
    for (int modes = 0; modes < 64; modes++)
        for (int literals = 0; literals < (quick ? 1 : 4); literals++)
            add_frame("modes", zstd_made_frame(blocks_of(6, [=](made_block &block, size_t at) {
                          block.type = at % 2 ? 2 : at == 4;
                          block.literals = quick ? modes % 4 : literals;
                          block.literals_max = 300;
                          for (int table = 0; table < 3 && at > 1; table++)
                              block.modes[table] = modes >> 2 * table & 3;
                          block.most_accurate = at == 5;
                      })));
    for (size_t max : {0u, 5u, 6u, 7u, 9u, 20u, 1023u, 1030u, 16400u, 130000u})
        for (int kind = 0; kind < (quick && max > 2000 ? 1 : 4); kind++)
            for (unsigned round = 0; round < (quick ? 1 : 8); round++)
                add_frame("literals", zstd_made_frame(blocks_of(3, [=](made_block &block, size_t) {
                              block.literals = 2 + static_cast<int>(random_below(2));
                              block.streams = kind % 2 ? 1 : 4;
                              block.weights = kind / 2;
                              block.literals_max = max;
                              block.sequences_max = round % 2 ? 0 : 10;
                          })));
    for (unsigned round = 0; round < scale_of(20, 600, 2000); round++)
        add_frame("made",
                  zstd_made_frame(blocks_of(1 + random_below(7), [=](made_block &block, size_t) {
                      block.type = any_kind;
                      block.most_accurate = random_below(4) == 0;
                      block.literals_max = random_below(2) ? 100 : 10000;
                      block.sequences_max = random_below(2) ? 20 : 3000;
                  })));
    for (made_offsets offsets : {NEAR_OFFSETS, FAR_OFFSETS})
        for (unsigned round = 0; round < scale_of(6, 60, 300); round++)
            add_frame(
                "near and far offsets",
                zstd_made_frame(blocks_of(1 + random_below(7), [=](made_block &block, size_t at) {
                    block.type = at == 0 ? 0 : 2;
                    block.literals_max = random_below(2) ? 20 : 3000;
                    block.sequences_max = random_below(2) ? 100 : quick ? 1500 : 6000;
                    block.modes[0] = block.modes[1] = block.modes[2] = 0;
                    block.offsets = offsets;
                })));
    for (size_t half : {32768u, 65536u, 131072u})
        add_frame("one byte over and over",
                  zstd_made_frame(blocks_of(2, [=](made_block &block, size_t) {
                      block.type = 1;
                      block.plain = half;
                  })));
    flush(quick ? cuts{many_blocks, one_block} : cuts{many_blocks, one_block, few_blocks});
    // Small blocks, so many that they fill several tiles of whatever goes through blocks: of a byte
    // or none; and most of which repeat tables that were last described far before.
    const auto small = [](made_block &block) {
        block.type = random_below(3) ? 2 : static_cast<int>(random_below(2));
        block.plain = random_below(2);
        block.literals_max = 4;
        block.sequences_max = 2;
    };
    add_frame("tiny blocks", zstd_made_frame(blocks_of(1100,
                                                       [=](made_block &block, size_t at) {
                                                           small(block);
                                                           block.plain = at == 0 ? 1 : block.plain;
                                                       }),
                                             10, 10));
    for (size_t before : quick ? std::vector<size_t>{40} : std::vector<size_t>{40, 300})
        add_frame("tables far back",
                  zstd_made_frame(blocks_of(quick ? 600 : 1900,
                                            [=](made_block &block, size_t at) {
                                                const bool describes = at == 0 || at == before;
                                                small(block);
                                                block.type = describes ? 2 : block.type;
                                                block.literals = describes ? 2 : 3;
                                                block.literals_max = block.sequences_max =
                                                    describes ? 100 : 4;
                                                block.modes[0] = block.modes[1] = block.modes[2] =
                                                    describes ? 2 : 3;
                                            }),
                                  10, 10));
    flush({many_blocks, "524288,400,100,1048576"});
}

// Blocks of a frame with a header of its own, without a size; `window_log` is that of
// zstd_made_frame.
bytes frame_of(const bytes &block)
{
    const size_t header = 1 | 2 << 1 | block.size() << 3;
    bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0, (20 - 10) << 3};
    for (size_t i = 0; i < 3; i++)
        frame.push_back(static_cast<unsigned char>(header >> 8 * i));
    frame.insert(frame.end(), block.begin(), block.end());
    return frame;
}

size_t first_block_of(const bytes &frame)
{
    return (frame[4] & 0xc0) ? 14 : 6;
}

size_t size_of_block(const bytes &frame, size_t at)
{
    return (frame[at] | static_cast<size_t>(frame[at + 1]) << 8 |
            static_cast<size_t>(frame[at + 2]) << 16) >>
           3;
}

void made_wrong()
{
    // Reaches a byte too far, or an offset of 0: in the last sequence, all before is as it may be.
    for (unsigned round = 0; round < scale_of(60, 500, 2000); round++)
        add_any("a bad offset",
                zstd_made_frame(blocks_of(1 + random_below(5), [=](made_block &block, size_t at) {
                    block.literals_max = 30;
                    block.sequences_max = 6;
                    block.modes[0] = block.modes[1] = block.modes[2] = 0;
                    block.type = at == 0 ? 0 : 2;
                    if (at > 0 && random_below(2))
                        block.offsets = round % 2 ? BEYOND_OFFSETS : ZERO_OFFSET;
                    if (block.offsets == ZERO_OFFSET)
                        block.sequences_max = 1;
                })));
    // Sequences that take a literal more than there are.
    for (unsigned round = 0; round < scale_of(12, 100, 500); round++)
        add_any("too few literals",
                zstd_made_frame(blocks_of(1 + round % 3, [=](made_block &block, size_t at) {
                    block.literals = round % 2 ? 0 : 2;
                    block.literals_max = 60;
                    block.sequences_max = 20;
                    block.lacks_a_literal = at == round % 3;
                })));
    // Another size than the header states, by one.
    for (unsigned round = 0; round < scale_of(40, 200, 1000); round++) {
        bytes frame = zstd_made_frame(blocks_of(
            1 + random_below(4), [](made_block &block, size_t) { block.type = any_kind; }));
        for (size_t i = 6; (frame[4] & 0xc0) && i < 14; i++)
            if (round % 2 ? ++frame[i] != 0 : frame[i]-- != 0)
                break;
        add_any("a size that is stated", frame);
    }
    // A frame, and the same without its first block: it must not take the tables of that one.
    for (unsigned round = 0; round < scale_of(30, 200, 400); round++) {
        const bytes whole = zstd_made_frame(blocks_of(2, [=](made_block &block, size_t at) {
            block.literals = at ? 3 : 2;
            block.sequences_max = round % 2 ? 3 : 0;
            for (int &mode : block.modes)
                mode = at && random_below(2) ? 3 : 0;
        }));
        const size_t at = first_block_of(whole);
        bytes file = whole, second = frame_of({});
        second.resize(6);
        file.insert(file.end(), second.begin(), second.end());
        file.insert(file.end(),
                    whole.begin() + static_cast<long>(at + 3 + size_of_block(whole, at)),
                    whole.end());
        add_any("tables of the frame before", file);
    }
    // More literals, or more content, than the window leaves room for.
    for (unsigned round = 0; round < scale_of(30, 500, 1000); round++)
        add_any("a window", zstd_made_frame(blocks_of(1 + random_below(3),
                                                      [](made_block &block, size_t) {
                                                          block.literals_max =
                                                              random_below(2) ? 1000 : 1100;
                                                          block.sequences_max = random_below(5);
                                                      }),
                                            10 + random_below(2)));
    flush({many_blocks, one_block});
}

// Trees of weights that are and are not complete, coded weights of any bytes; headers of any bytes.
void any_headers()
{
    const auto tree = [](const bytes &weights) {
        const size_t header = 2 | (weights.size() + 1) << 14;
        bytes block;
        for (size_t i = 0; i < 3; i++)
            block.push_back(static_cast<unsigned char>(header >> 8 * i));
        block.insert(block.end(), weights.begin(), weights.end());
        block.insert(block.end(), {1, 0}); // a stream of no literals, no sequences
        add_any("a tree", frame_of(block));
    };
    const auto byte = [](unsigned value) { return static_cast<unsigned char>(value); };
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < 16; b++) {
            tree({129, byte(a << 4 | b)});
            for (unsigned c = 0; c < (quick ? 1 : 16); c++)
                tree({130, byte(a << 4 | b), byte(c << 4)});
        }
    for (unsigned round = 0; round < scale_of(150, 20000, 100000); round++) {
        bytes weights(2 + random_below(round % 2 ? 4 : 20));
        for (unsigned char &one : weights)
            one = byte(random_below(256));
        weights[0] = byte(static_cast<unsigned>(weights.size()) - 1);
        weights[1] = byte((weights[1] & 0xf0) | random_below(2));
        tree(weights);
    }
    for (unsigned count = 0; count < 256; count += quick ? 17 : 1)
        for (unsigned second : {0u, 1u, 128u})
            for (size_t size = 0; size <= 5; size++) {
                const bytes sequences = {byte(count), byte(second), 0, 0, 1};
                bytes block = {1 << 3, 'a'}; // one raw literal
                block.insert(block.end(), sequences.begin(),
                             sequences.begin() + static_cast<long>(size));
                add_any("a number of sequences", frame_of(block));
            }
    for (unsigned round = 0; round < scale_of(200, 20000, 60000); round++) {
        bytes block = {1 << 3, 'a', 1, byte(round)}; // modes
        if (round % 3 == 0)
            block.clear();
        for (size_t size = random_below(14); size > 0; size--)
            block.push_back(byte(random_below(2) ? random_below(64) : random_below(256)));
        add_any("any header", frame_of(block));
    }
    flush({nullptr});
}

//===--- Cut and changed files ---------------------------------------------------------------===//

void altered()
{
    for (unsigned round = 0; round < scale_of(6, 36, 120); round++) {
        frame_settings settings = random_settings();
        settings.flush = random_below(2) ? 0 : 50 + random_below(300);
        settings.checksum = false;
        const bytes frame =
            round % 2
                ? zstd_made_frame(blocks_of(1 + round % 3,
                                            [=](made_block &block, size_t) {
                                                block.type = round % 4 ? 2 : any_kind;
                                                block.literals_max = 60 + 200 * (round / 2 % 2);
                                                block.sequences_max = 10;
                                            }))
                : compress(settings,
                           content_of(CONTENT_TEXT + random_below(4), 1 + random_below(700)));
        if (quick && frame.size() > 250)
            continue;
        for (size_t size = 0; size < frame.size(); size += quick && size > 20 ? 5 : 1)
            add_any("cut", {frame.begin(), frame.begin() + static_cast<long>(size)});
        for (size_t at = 0; at < frame.size(); at++)
            for (unsigned k = 0; k < (quick ? 1 + at % 2 : 8); k++) {
                bytes changed = frame;
                changed[at] = static_cast<unsigned char>(k % 2 ? random_word()
                                                               : frame[at] ^ 1u << random_below(8));
                add_any("changed", changed);
            }
        // Its first block is the last one, and ends earlier than it should.
        const size_t at = first_block_of(frame);
        for (size_t size = 0; round % 2 && size < size_of_block(frame, at); size += quick ? 4 : 1) {
            bytes cut(frame.begin(), frame.begin() + static_cast<long>(at + 3 + size));
            const size_t header = 1 | 2 << 1 | size << 3;
            for (size_t i = 0; i < 3; i++)
                cut[at + i] = static_cast<unsigned char>(header >> 8 * i);
            add_any("a block that is cut", cut);
        }
    }
    flush({nullptr});
}

// Files that are full of work.
void hostile()
{
    hostile_file file;
    for (size_t i = 0; (file = hostile_make("zstd-", i, scale_of(1500, 20000, 100000))).bytes;
         i++) {
        add_any(file.name, {file.bytes, file.bytes + file.len});
        std::free(file.bytes);
    }
    flush({many_blocks});
}

} // namespace

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)();
    } parts[] = {{"libzstd", of_libzstd}, {"frames", of_frames},    {"made", made_right},
                 {"wrong", made_wrong},   {"headers", any_headers}, {"altered", altered},
                 {"hostile", hostile}};
    quick = scale_is_small_or_slow();
    for (const auto &part : parts) {
        const unsigned long before = cases, taken_before = taken;
        random_seed(20261129);
        if (argc > 1 && std::strcmp(argv[1], part.name) != 0)
            continue;
        part.check();
        std::printf("%s: %lu cases, %lu taken\n", part.name, cases - before, taken - taken_before);
    }
    std::printf("%lu cases, %lu taken, %lu wrong\n", cases, taken, wrong);
    return wrong != 0 || taken == 0;
}

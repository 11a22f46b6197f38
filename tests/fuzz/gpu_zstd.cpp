// SPDX-License-Identifier: MIT
// For libFuzzer: all emulated stages of the GPU's zstd decoder, on batches that the host plans,
// against libzstd. What the stages take decodes to what libzstd gives; what they refuse, libzstd
// refuses too, or it is one of the cases that doc/zstd.md lists. A decoder by the letter of the
// format says which.
//
// The first byte's highest bit says what the others are. Not set: zstd data, as they are. Set:
// decisions, from which frames are made, well-formed ones with strange but legal contents, frames
// of libzstd's and skippable ones, of which some bytes are then altered. `make fuzz` builds it.
#include "tests/device/emulation.h"

#include "tests/device/zstd_batches.h"
#include "tests/device/zstd_made.h"

extern "C" {
#include "tests/helpers/compressed.h"
#include "tests/helpers/random.h"
}
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using byte_vector = std::vector<unsigned char>;

constexpr size_t size_most = 20000;
constexpr size_t content_most = 1 << 19; // larger is left alone: it takes too long
constexpr size_t blocks_most = 200;

// What libzstd takes and this does not: doc/zstd.md, "What is refused".
static bool is_listed(const char *why)
{
    static const char *const listed[] = {
        "a block larger than the window",
        "an empty block",
        "reserved bits of the modes",
        "no sequences, in two bytes",
        "a weight that is too large",
        "an FSE table of too many symbols",
        "an FSE table that is cut short",
        "bits are left in a stream of literals",
        "a stream of bits without an end",
        "a stream of bits is too short",
        "bits are left after the sequences",
        "more content than a block may have",
        "more literals than a block may have",
        "an offset to before the frame or its window",
        "content of another size than is stated",
    };
    return std::any_of(std::begin(listed), std::end(listed),
                       [=](const char *one) { return std::strcmp(one, why) == 0; });
}

// --- inputs ---

static byte_vector made_frame()
{
    static const size_t literals[] = {0, 20, 300, 2000}, sequences[] = {0, 1, 10, 100};
    std::vector<made_block> blocks(1 + random_below(5));
    const unsigned window_log = random_below(4) ? 20 : 10 + random_below(11);
    for (made_block &block : blocks) {
        block.literals_most = literals[random_below(4)];
        block.sequences_most = sequences[random_below(4)];
        block.most_accurate = random_below(8) == 0;
        if (random_below(64) == 0)
            block.plain = random_below((1u << 17) + 1);
    }
    return zstd_made_frame(blocks, window_log);
}

static byte_vector compressed_frame()
{
    frame_settings settings = {};
    byte_vector data(random_below(16) ? random_below(4000) : random_below(100000));
    frame_content(static_cast<enum frame_content>(random_below(CONTENT_KINDS)), data.data(),
                  data.size());
    settings.level = static_cast<int>(random_below(28)) - 5;
    settings.window_log = random_below(2) ? 0 : 10 + static_cast<int>(random_below(10));
    settings.is_long = random_below(4) == 0;
    settings.checksum = random_below(2);
    // For a frame of unknown size the highest levels take a gigabyte, without which the fuzzer
    // ends.
    settings.is_unsized = random_below(2) && settings.level <= 19;
    settings.flush = random_below(3) ? 0 : 100 + random_below(10000);
    byte_vector frame(frame_bound(&settings, data.size()));
    frame.resize(frame_compress(frame.data(), frame.size(), &settings, data.data(), data.size()));
    return frame;
}

static byte_vector skippable_frame()
{
    byte_vector frame(COMPRESSED_MAX(1000));
    frame.resize(skippable_put(frame.data(), random_below(1000)));
    return frame;
}

// Alters a byte, takes one out, or cuts the input short.
static void alter(byte_vector &input, const unsigned how[3])
{
    if (input.empty())
        return;
    // Most positions count from the beginning, where headers are; others are anywhere.
    const size_t at = (how[0] & 1 ? how[1] * input.size() >> 16 : how[1] % 512) % input.size();
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    if (how[0] / 2 % 8 == 0)
        input.resize(at);
    else if (how[0] / 2 % 8 == 1)
        input.erase(place);
    else if (how[0] / 2 % 8 < 5)
        *place = static_cast<unsigned char>(*place ^ 1u << how[2] % 8);
    else
        *place = static_cast<unsigned char>(how[2]);
}

static byte_vector made_input()
{
    unsigned alterations[3][3], count = random_below(2) ? 0 : random_below(4);
    for (unsigned i = 0; i < count; i++) {
        alterations[i][0] = random_below(256);
        alterations[i][1] = random_below(1 << 16);
        alterations[i][2] = random_below(256);
    }
    byte_vector input;
    const unsigned frames = 1 + random_below(8) / 6;
    for (unsigned i = 0; i < frames; i++) {
        const unsigned kind = random_below(16);
        const byte_vector frame = kind < 12   ? made_frame()
                                  : kind < 15 ? compressed_frame()
                                              : skippable_frame();
        input.insert(input.end(), frame.begin(), frame.end());
    }
    for (unsigned i = 0; i < count; i++)
        alter(input, alterations[i]);
    return input;
}

// --- decoding ---

static void check(const byte_vector &input, const naive_zstd &naive, const byte_vector *due,
                  const zstd_cut &cut)
{
    const zstd_decoded is = zstd_decode_all(input.data(), input.size(), cut);
    fuzz_require(!is.broken, is.broken);
    fuzz_require(!is.is_taken || due, "taken, and libzstd refuses it");
    fuzz_require(!is.is_taken || is.content == *due, "other content than libzstd's");
    fuzz_require(!is.is_taken || !naive.why, "taken, and the naive decoder refuses it");
    fuzz_require(is.is_taken || naive.why, "refused, and the naive decoder takes it");
    if (!is.is_taken && due && !is_listed(naive.why)) {
        std::fprintf(stderr, "%s: libzstd takes it, and it is not listed\n", naive.why);
        std::abort();
    }
}

static int decode(const byte_vector &input, zstd_cut cut)
{
    naive_zstd naive;
    const bool taken = naive_zstd_decode(&naive, input.data(), input.size());
    const bool large = naive.content_size > content_most || naive.blocks_count > blocks_most;
    if (large) {
        naive_zstd_free(&naive);
        return -1;
    }
    unsigned char *content;
    size_t content_size;
    const bool by_libzstd = frame_reference(input.data(), input.size(), &content, &content_size);
    const byte_vector due(content, content + content_size);
    std::free(content);
    fuzz_require(by_libzstd || !taken, "the naive decoder takes what libzstd refuses");
    check(input, naive, by_libzstd ? &due : nullptr, cut);
    cut.blocks = blocks_most;
    if (naive.blocks_count > 1)
        check(input, naive, by_libzstd ? &due : nullptr, cut);
    naive_zstd_free(&naive);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > size_most)
        return -1;
    zstd_cut cut = {1 + data[0] % 5u};
    cut.keep_least = data[0] / 5 % 4 * 100u;
    cut.fill = static_cast<unsigned char>(data[0] * 73);
    cut.tile = data[0] % 7 ? 32768 : 4096;
    cut.way = data[0] % 2 ? ZSTD_BY_FRAMES : ZSTD_BY_BYTES;
    emulate_seed(data[0] % 3u);
    random_seed(size);
    if (data[0] < 128) {
        random_take_from(nullptr, 0);
        return decode(byte_vector(data + 1, data + size), cut);
    }
    random_take_from(data + 1, size - 1);
    const byte_vector input = made_input();
    random_take_from(nullptr, 0);
    return decode(input, cut);
}

// SPDX-License-Identifier: MIT
#include "tests/fuzz/made_zstd.h"

#include "tests/device/zstd_made.h"

extern "C" {
#include "tests/helpers/compressed.h"
#include "tests/helpers/random.h"
}
#include "tests/helpers/zstd_frames.h"

static byte_vector made_frame()
{
    static const size_t literals[] = {0, 20, 300, 2000}, sequences[] = {0, 1, 10, 100};
    std::vector<made_block> blocks(1 + random_below(5));
    const unsigned window_log = random_below(4) ? 20 : 10 + random_below(11);
    for (made_block &block : blocks) {
        block.literals_max = literals[random_below(4)];
        block.sequences_max = sequences[random_below(4)];
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
    const auto position = input.begin() + static_cast<std::ptrdiff_t>(at);
    if (how[0] / 2 % 8 == 0)
        input.resize(at);
    else if (how[0] / 2 % 8 == 1)
        input.erase(position);
    else if (how[0] / 2 % 8 < 5)
        *position = static_cast<unsigned char>(*position ^ 1u << how[2] % 8);
    else
        *position = static_cast<unsigned char>(how[2]);
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

byte_vector fuzz_zstd(const uint8_t *data, size_t size)
{
    random_seed(size);
    random_take_from(nullptr, 0);
    if (data[0] < 128)
        return byte_vector(data + 1, data + size);
    random_take_from(data + 1, size - 1);
    byte_vector input = made_input();
    random_take_from(nullptr, 0);
    return input;
}

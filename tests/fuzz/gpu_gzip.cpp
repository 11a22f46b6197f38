// SPDX-License-Identifier: MIT
// For libFuzzer: gzip files, on any bytes, decoded by all emulated stages of the GPU, against zlib.
// What the stages take is what zlib gives. What they refuse may be right: whoever decodes it then
// has the last word.
//
// The first two bytes say where batches end, and how the rest is meant: as a file; or as the blocks
// of a member, with a header before them and the right checksum and length after them, which no
// fuzzer would guess. A stored member may come before, so that the first batch ends within what is
// fuzzed; more members and zero bytes may follow. `make fuzz` builds it if there is zlib.
#include "tests/device/gzip_batches.h"

extern "C" {
#include "gpu/decode/batch.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/deflate_oracle.h"
#include "tests/helpers/gzip_members.h"
}

#include <algorithm>
#include <cstring>
#include <vector>
#include <zlib.h>

using byte_vector = std::vector<unsigned char>;

constexpr size_t input_max = 1 << 15, content_max = 1 << 20;

// The blocks that data[0..size) begins with, as a member.
static byte_vector member_of(const uint8_t *data, size_t size)
{
    const deflate_verdict blocks = inflate_by_zlib(data, size);
    byte_vector member = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    member.insert(member.end(), data, data + blocks.taken);
    const uint64_t trailer = crc32(0, blocks.made.bytes, static_cast<unsigned>(blocks.made.len)) |
                             static_cast<uint64_t>(blocks.made.len) << 32;
    for (int i = 0; i < 8; i++)
        member.push_back(static_cast<unsigned char>(trailer >> 8 * i));
    return member;
}

// A member that takes so many bytes, all of them but 23 stored.
static byte_vector filler_of(size_t size)
{
    const size_t content = size - 23;
    byte_vector blocks = {
        1, static_cast<unsigned char>(content), static_cast<unsigned char>(content >> 8),
        static_cast<unsigned char>(~content), static_cast<unsigned char>(~content >> 8)};
    for (size_t i = 0; i < content; i++)
        blocks.push_back(static_cast<unsigned char>(i % 251));
    return member_of(blocks.data(), blocks.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char due[content_max];
    if (size < 3 || size > input_max)
        return -1;
    const unsigned how = data[0];
    byte_vector file = how & 1 ? member_of(data + 2, size - 2) : byte_vector(data + 2, data + size);
    if (how & 2)
        file.insert(file.end(), file.begin(), file.end());
    file.resize(file.size() + (how & 4 ? 3 : 0));
    if (how & 8) {
        const byte_vector filler = filler_of(2 * GZIP_MARGIN - data[1]);
        file.insert(file.begin(), filler.begin(), filler.end());
    }
    size_t due_size = 0;
    const bool is_right = gzip_reference(file.data(), file.size(), due, sizeof due, &due_size);
    gzip_cut cut;
    cut.size = 2 * GZIP_MARGIN + (how & 8 ? 0 : data[1]);
    cut.room = how & 16 ? 1 << 18 : 1 << 20;
    cut.blocks = how & 32 ? 8 : 64;
    cut.keep_min = how & 64 ? 1000 : 0;
    const gzip_decoded is = gzip_decode_all(file.data(), file.size(), cut);
    fuzz_require(!is.broken, is.broken);
    // zlib stops where there is no room for more.
    const bool is_more = is.content.size() > due_size && due_size == sizeof due;
    const size_t known = std::min(is.content.size(), due_size);
    fuzz_require(is.content.size() <= due_size || is_more, "more content than zlib's");
    fuzz_require(std::equal(due, due + known, is.content.begin()), "other content than zlib's");
    fuzz_require(!is.is_taken || is_right || is_more, "taken, and zlib refuses it");
    fuzz_require(!is.is_taken || is.content.size() >= due_size, "less content than zlib's");
    return 0;
}

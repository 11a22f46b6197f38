// SPDX-License-Identifier: MIT
// For libFuzzer: gzip files, on any bytes, that the emulated GPU decompresses, against zlib. What
// it takes is what zlib gives. What it refuses may be right: whoever decodes it then has the last
// word.
//
// The first two bytes say how the file arrives, and how the rest is meant: as a file; or as the
// blocks of a member, with a header before them and the right checksum and length after them, which
// no fuzzer would guess. A stored member may come before, so that the first batch ends within what
// is fuzzed; more members and zero bytes may follow. `make fuzz` builds it if there is zlib.
#include "tests/device/gpu_files.h"

extern "C" {
#include "gpu/decode/batch.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/deflate_oracle.h"
#include "tests/helpers/gzip_members.h"
}

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
    static struct gpu_files *const engine =
        gpu_files_open(&codec_gzip, "524288,4000,4000,393216", false);
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
    const size_t at_once = how & 16 ? 0 : 1 + data[1] * (how & 32 ? 1u : 100u);
    if (due_size < sizeof due) // zlib stops where there is no room for more
        fuzz_require(gpu_files_count(engine, file.data(), file.size(), at_once,
                                     is_right ? due : nullptr, due_size) != GPU_FILE_WRONG,
                     "other content than zlib's, or it refuses it");
    return 0;
}

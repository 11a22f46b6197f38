// For libFuzzer: the emulated stages of the GPU's zstd decoder, up to sequences, on any bytes. They
// refuse what a decoder by the letter of the format refuses, and nothing else; what they take is
// what libzstd gives. The first byte says how many blocks a batch has; the rest is zstd data.
// `make fuzz` builds it.
#include "tests/device/emulation.h"

#include "tests/device/zstd_serial.h"

extern "C" {
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"
}

#include <cstdio>
#include <cstdlib>

constexpr size_t size_most = 20000;
constexpr size_t content_most = 1 << 20; // larger is left alone: it takes too long

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

static void check(const zstd_decoding &is, bool taken, const byte_vector &due)
{
    require(taken || is.refusal != ZSTD_TAKEN, "taken, and should be refused");
    require(!taken || is.refusal == ZSTD_TAKEN, "refused, and should be taken");
    require(!taken || is.content == due, "other content than libzstd's");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > size_most)
        return -1;
    const byte_vector input(data + 1, data + size);
    struct naive_zstd naive;
    const bool taken = naive_zstd_decode(&naive, input.data(), input.size());
    const bool large = naive.content_size > content_most;
    const size_t blocks = naive.blocks_count;
    naive_zstd_free(&naive);
    if (large || blocks > 200)
        return -1;
    unsigned char *content;
    size_t content_size;
    const bool by_libzstd = frame_reference(input.data(), input.size(), &content, &content_size);
    const byte_vector due(content, content + content_size);
    std::free(content);
    require(by_libzstd || !taken, "the naive decoder takes what libzstd refuses");
    check(zstd_decode_together({input})[0], taken, due);
    if (blocks > 1)
        check(zstd_decode_in_batches(input, 1 + data[0] % 5u), taken, due);
    return 0;
}

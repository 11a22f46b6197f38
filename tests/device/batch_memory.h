/* SPDX-License-Identifier: MIT */
// Memory of batches that the emulated stages decode.
#ifndef GPUHISTO_TESTS_BATCH_MEMORY_H
#define GPUHISTO_TESTS_BATCH_MEMORY_H

#include <cstdlib>
#include <cstring>
#include <memory>

using owned_memory = std::unique_ptr<unsigned char[], decltype(&std::free)>;

// Returns memory aligned as a device's, each byte of it `fill`. Ends the process if there is none.
inline owned_memory batch_memory_of(size_t size, unsigned char fill)
{
    const size_t all = (size / 256 + 1) * 256;
    unsigned char *memory = static_cast<unsigned char *>(std::aligned_alloc(256, all));
    if (!memory)
        std::abort();
    std::memset(memory, fill, size);
    return {memory, std::free};
}

#endif

// SPDX-License-Identifier: MIT
// What fuzzers of zstd decoders decode.
#ifndef GPUHISTO_TESTS_MADE_ZSTD_H
#define GPUHISTO_TESTS_MADE_ZSTD_H

#include <cstddef>
#include <cstdint>
#include <vector>

using byte_vector = std::vector<unsigned char>;

// The input that data[0..size) means, size > 0. The first byte's highest bit says what the others
// are. Not set: zstd data, as they are. Set: decisions, from which frames are made, well-formed
// ones with strange but legal contents, frames of libzstd's and skippable ones, of which some bytes
// are then altered. Random numbers then begin anew.
byte_vector fuzz_zstd(const uint8_t *data, size_t size);

#endif

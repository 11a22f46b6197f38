/* SPDX-License-Identifier: MIT */
// zstd decoded by the emulated stages up to sequences, laid out as batches and executed by the
// test: what is wrong in what these stages give shows as other content.
#ifndef GPUHISTO_TESTS_ZSTD_SERIAL_H
#define GPUHISTO_TESTS_ZSTD_SERIAL_H

#include "gpu/decode/stages.h"

#include <cstddef>
#include <vector>

using byte_vector = std::vector<unsigned char>;

// What an input decodes to. A refusal may be a stage's, or of what comes after these stages, or be
// found while the batch is laid out: then it is DECODE_BAD.
struct zstd_decoding {
    enum decode_refusal refusal = DECODE_TAKEN;
    byte_vector content; // if nothing is refused
};

// Decodes inputs, each of whole frames, in one batch.
std::vector<zstd_decoding> zstd_decode_together(const std::vector<byte_vector> &inputs);

// Decodes one input in batches of so many blocks: frames go on from one to the next.
zstd_decoding zstd_decode_in_batches(const byte_vector &input, size_t blocks);

#endif

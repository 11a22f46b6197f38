/* SPDX-License-Identifier: MIT */
/* The codec for zstd (RFC 8878), through libzstd. Its frames are frames, skippable ones included.
 */
#ifndef GPUHISTO_CODEC_ZSTD_H
#define GPUHISTO_CODEC_ZSTD_H

#include "codec.h"

extern const struct codec codec_zstd;

#endif

/* SPDX-License-Identifier: MIT */
/* The codec for gzip (RFC 1952), through ISA-L. Its frames are members. Only in builds with ISA-L.
 */
#ifndef GPUHISTO_CODEC_GZIP_H
#define GPUHISTO_CODEC_GZIP_H

#include "codec.h"

extern const struct codec codec_gzip;

#endif

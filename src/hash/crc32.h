/* SPDX-License-Identifier: MIT */
/* CRC-32 of gzip (RFC 1952, section 8), of pieces that were computed apart. */
#ifndef GPUHISTO_CRC32_H
#define GPUHISTO_CRC32_H

#include <stdint.h>

/* Returns the CRC-32 of some bytes and second_len more, given that of the former and that of the
 * latter alone. That of no bytes is 0. Pure; any thread. Takes about a microsecond. */
uint32_t crc32_join(uint32_t first, uint32_t second, uint64_t second_len);

#endif

/* SPDX-License-Identifier: MIT */
/* For libFuzzer: gzip files, on any bytes, decoded by runs and their chain, against zlib. The first
 * byte says how the rest is meant: as a file; or as the blocks of a member, with a header before
 * them and the right checksum and length after them, which no fuzzer would guess. More members and
 * zero bytes may follow. `make fuzz` builds it if there is zlib. */
#include "src/parallel/gzip_pieces.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/deflate_oracle.h"
#include "tests/helpers/gzip_runs.h"

#include <string.h>
#include <zlib.h>

#define INPUT_MAX ((size_t)1 << 16)

static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

/* Puts the blocks at in[0..len) as a member. Returns its size. */
static size_t put_member(unsigned char *to, const unsigned char *in, size_t len)
{
    const struct deflate_verdict blocks = inflate_by_zlib(in, len);
    const uint64_t trailer =
        crc32(0, blocks.made.bytes, (unsigned)blocks.made.len) | (uint64_t)blocks.made.len << 32;
    memcpy(to, header, sizeof header);
    memcpy(to + sizeof header, in, blocks.taken);
    for (int i = 0; i < 8; i++)
        to[sizeof header + blocks.taken + (size_t)i] = (unsigned char)(trailer >> 8 * i);
    return sizeof header + blocks.taken + 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char in[4 * INPUT_MAX];
    size_t len = size - 1;
    unsigned percent;
    if (size < 2 || size > INPUT_MAX)
        return 0;
    if (data[0] & 1)
        len = put_member(in, data + 1, size - 1);
    else
        memcpy(in, data + 1, len);
    for (unsigned more = data[0] >> 1 & 1; more > 0; more--, len *= 2)
        memcpy(in + len, in, len);
    memset(in + len, 0, data[0] >> 2 & 15);
    len += data[0] >> 2 & 15;
    const char *fault = gunzip_compare(in, len, GZIP_PIECE_MIN, &percent);
    fuzz_require(!fault, fault);
    return 0;
}

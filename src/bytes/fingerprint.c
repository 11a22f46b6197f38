/* SPDX-License-Identifier: MIT */
#include "fingerprint.h"
#include "src/hash/xxh64.h"

#include <string.h>

static void hash_size(struct xxh64 *hash, uint64_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(size >> 8 * i);
    xxh64_add(hash, bytes, sizeof bytes);
}

/* Adds len bytes from `offset` on. 0, or -1 with the error set. */
static int hash_bytes(struct xxh64 *hash, const struct bytes *bytes, uint64_t offset, size_t len,
                      struct error *error)
{
    unsigned char data[FINGERPRINT_END];
    ssize_t got = bytes_read_at(bytes, data, len, offset, error);
    xxh64_add(hash, data, got > 0 ? (size_t)got : 0);
    return got < 0 ? -1 : 0;
}

int fingerprint_file(const struct bytes *bytes, uint64_t size, uint64_t *fingerprint,
                     struct error *error)
{
    const size_t len = size < FINGERPRINT_END ? (size_t)size : FINGERPRINT_END;
    struct xxh64 hash;
    xxh64_begin(&hash);
    hash_size(&hash, size);
    if (hash_bytes(&hash, bytes, 0, len, error) != 0 ||
        hash_bytes(&hash, bytes, size - len, len, error) != 0)
        return -1;
    *fingerprint = xxh64_value(&hash);
    return 0;
}

uint64_t fingerprint_list(char *const *names, const uint64_t *sizes, size_t count)
{
    struct xxh64 hash;
    xxh64_begin(&hash);
    for (size_t i = 0; i < count; i++) {
        xxh64_add(&hash, names[i], strlen(names[i]) + 1);
        hash_size(&hash, sizes[i]);
    }
    return xxh64_value(&hash);
}

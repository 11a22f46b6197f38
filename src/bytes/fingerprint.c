/* SPDX-License-Identifier: MIT */
#include "fingerprint.h"
#include "src/hash/xxh64.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void hash_size(struct xxh64 *hash, uint64_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(size >> 8 * i);
    xxh64_add(hash, bytes, sizeof bytes);
}

/* Reads len bytes from `offset` on. 0; 1: there are fewer; or -1 with errno. */
static int read_all(int fd, unsigned char *data, size_t len, uint64_t offset)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = pread(fd, data + done, len - done, (off_t)(offset + done));
        if (got == 0)
            return 1;
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int fingerprint_file(int fd, uint64_t size, uint64_t *fingerprint)
{
    size_t len = size < FINGERPRINT_END ? (size_t)size : FINGERPRINT_END;
    unsigned char data[FINGERPRINT_END];
    struct xxh64 hash;
    xxh64_begin(&hash);
    hash_size(&hash, size);
    int rc = read_all(fd, data, len, 0);
    xxh64_add(&hash, data, rc == 0 ? len : 0);
    if (rc == 0 && size > len) /* otherwise the last bytes are the first ones */
        rc = read_all(fd, data, len, size - len);
    xxh64_add(&hash, data, rc == 0 ? len : 0);
    *fingerprint = xxh64_value(&hash);
    return rc;
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

#include "fingerprint.h"

#ifdef HAVE_XXHASH

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const bool fingerprint_supported = true;

static void hash_size(XXH64_state_t *state, uint64_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(size >> 8 * i);
    XXH64_update(state, bytes, sizeof bytes);
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
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    hash_size(&state, size);
    int rc = read_all(fd, data, len, 0);
    XXH64_update(&state, data, rc == 0 ? len : 0);
    if (rc == 0 && size > len) /* otherwise the last bytes are the first ones */
        rc = read_all(fd, data, len, size - len);
    XXH64_update(&state, data, rc == 0 ? len : 0);
    *fingerprint = XXH64_digest(&state);
    return rc;
}

uint64_t fingerprint_list(char *const *names, const uint64_t *sizes, size_t count)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    for (size_t i = 0; i < count; i++) {
        XXH64_update(&state, names[i], strlen(names[i]) + 1);
        hash_size(&state, sizes[i]);
    }
    return XXH64_digest(&state);
}

#else

#include <errno.h>

const bool fingerprint_supported = false;

int fingerprint_file(int fd, uint64_t size, uint64_t *fingerprint)
{
    (void)fd, (void)size;
    *fingerprint = 0;
    errno = ENOSYS;
    return -1;
}

uint64_t fingerprint_list(char *const *names, const uint64_t *sizes, size_t count)
{
    (void)names, (void)sizes, (void)count;
    return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* zstd_only [FILE]: decompresses standard input or FILE, frame after frame, in one thread by
 * libzstd alone, and does nothing else: what one core can decompress. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

int main(int argc, char **argv)
{
    static char raw[128 << 10], bytes[256 << 10];
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    (void)fcntl(fd, F_SETPIPE_SZ, 1 << 20);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    unsigned long long total = 0;
    ssize_t got;
    while ((got = read(fd, raw, sizeof raw)) > 0) {
        ZSTD_inBuffer in = {raw, (size_t)got, 0};
        ZSTD_outBuffer out = {bytes, sizeof bytes, sizeof bytes};
        while (in.pos < in.size || out.pos == out.size) {
            out.pos = 0;
            if (ZSTD_isError(ZSTD_decompressStream(context, &out, &in))) {
                fprintf(stderr, "zstd_only: not zstd data\n");
                return 1;
            }
            total += out.pos;
        }
    }
    if (got < 0)
        perror("zstd_only");
    printf("%llu\n", total);
    return got < 0;
}

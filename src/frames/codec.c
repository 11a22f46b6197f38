/* SPDX-License-Identifier: MIT */
#include "codec.h"

const struct codec *const codecs[] = {
    &codec_zstd,
#if HAVE_ISAL
    &codec_gzip,
#endif
    NULL,
};

enum codec_magic codec_recognise(const unsigned char *head, size_t len, const struct codec **codec)
{
    enum codec_magic result = MAGIC_OTHER;
    for (size_t i = 0; codecs[i]; i++) {
        enum codec_magic magic = codecs[i]->magic(head, len);
        if (magic == MAGIC_OTHER)
            continue;
        result = magic;
        if (magic == MAGIC_MATCH) {
            *codec = codecs[i];
            break;
        }
    }
    return result;
}

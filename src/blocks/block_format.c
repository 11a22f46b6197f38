/* SPDX-License-Identifier: MIT */
#include "block_format.h"

#include <string.h>

static const struct block_format *const formats[] = {
    &block_format_zstd,
#if HAVE_ISAL
    &block_format_gzip,
#endif
};

const struct block_format *block_format_find(const struct codec *codec)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->codec, codec->name) == 0)
            return formats[i];
    return NULL;
}

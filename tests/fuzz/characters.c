/* SPDX-License-Identifier: MIT */
/* For libFuzzer: characters of UTF-8 by all kernels that this processor can run, on any bytes,
 * against table 3-7 of the Unicode Standard. The first byte says where they are cut. */
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/check_characters.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t len = size - 1;
    unsigned char *text = fuzz_copy(data + 1, len);
    fuzz_require(check_characters(text, len, len * data[0] / 255), "characters differ");
    free(text);
    return 0;
}

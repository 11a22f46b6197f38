/* For libFuzzer: characters of UTF-8 by every counter that this processor can run, on any bytes,
 * against table 3-7 of the Unicode Standard. The first byte says where they are cut. */
#include "tests/helpers/check_characters.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t len = size - 1;
    unsigned char *text = malloc(len ? len : 1); /* of that size, for the sanitizer */
    if (!text)
        abort();
    memcpy(text, data + 1, len);
    if (!check_characters(text, len, len * data[0] / 255))
        abort();
    free(text);
    return 0;
}

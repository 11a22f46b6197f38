/* SPDX-License-Identifier: MIT */
/* For libFuzzer: the header of .npy files: whatever is cut off its end, the same is said of it, and
 * what it says of sizes can be true. Nothing past what is given is read. */
#include "src/input/npy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/guarded.h"

#include <string.h>

#define FUZZ_MAX ((size_t)1 << 17)

/* Looks at data[0..len) where a page that faults follows. */
static enum npy_status look(const uint8_t *data, size_t len, size_t *wanted,
                            struct npy_header *header, struct reason *fault)
{
    static unsigned char *memory;
    if (!memory)
        memory = guarded_memory(FUZZ_MAX);
    unsigned char *copy = memory + FUZZ_MAX - len;
    if (len > 0)
        memcpy(copy, data, len);
    return npy_look(copy, len, wanted, header, fault);
}

static void check_header(const struct npy_header *header)
{
    static const char *const types[] = {"u8", "u16be", "i32", "f64", "f32"};
    struct reason fault;
    fuzz_require(header->bytes <= INT64_MAX, "more bytes than a file has");
    fuzz_require(header->type[0] || header->bytes == 0, "bytes without a type");
    fuzz_require(!header->type[0] || header->values == 0 || header->bytes % header->values == 0,
                 "values are not whole");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool same = strcmp(types[i], header->type) == 0;
        fault.text[0] = '\0';
        fuzz_require(npy_fits(header, types[i], 1, &fault) == same, "another type fits");
        fuzz_require((fault.text[0] == '\0') == same, "a reason, or none");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_header header;
    struct reason fault = {""};
    enum npy_status status = NPY_PART;
    size_t wanted = 0, len = 0;
    if (size > FUZZ_MAX)
        return 0;
    while (status == NPY_PART && len <= size) { /* as many bytes as are wanted at a time */
        status = look(data, len, &wanted, &header, &fault);
        fuzz_require(status != NPY_PART || (wanted > len && wanted <= NPY_HEADER_MAX),
                     "what is wanted next makes no sense");
        if (status == NPY_PART)
            len = wanted;
    }
    fuzz_require(status != NPY_HEADER || header.size == len, "a header of another size");
    if (status == NPY_WRONG)
        fuzz_require_reason(&fault);
    if (status == NPY_HEADER)
        check_header(&header);
    enum npy_status of_all = look(data, size, &wanted, &header, &fault);
    bool is_short = status == NPY_PART && size < NPY_MAGIC_SIZE;
    fuzz_require(of_all == status || (is_short && of_all == NPY_NONE),
                 "all of the header says something else than its parts");
    return 0;
}

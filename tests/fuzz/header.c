/* SPDX-License-Identifier: MIT */
/* For libFuzzer: headers of all formats: whatever is cut off the end, the same is said of one, and
 * what it says of sizes can be true. Nothing past what is given is read. */
#include "src/input/input.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/guarded.h"

#include <string.h>

#define FUZZ_MAX (HEADER_MAX + 4096)

/* Looks at data[0..len) where a page that faults follows. */
static enum header_status peek(const uint8_t *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault)
{
    static unsigned char *memory;
    if (!memory)
        memory = guarded_memory(FUZZ_MAX);
    unsigned char *copy = memory + FUZZ_MAX - len;
    if (len > 0)
        memcpy(copy, data, len);
    return header_peek(copy, len, wanted, header, fault);
}

static void check_header(const struct header *header)
{
    static const char *const types[] = {"u8", "u16be", "i32", "f64", "f32"};
    struct error fault;
    bool is_open = header->bytes == HEADER_TO_END;
    fuzz_require(is_open || header->bytes <= INT64_MAX, "more bytes than a file has");
    fuzz_require(!is_open || header->extent != HEADER_EXACT, "bytes that are not known are exact");
    fuzz_require(header->holds[0] || header->type[0], "a header that says nothing");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool same = strcmp(types[i], header->type) == 0;
        fault.text[0] = '\0';
        fuzz_require(header_fits(header, types[i], 1, &fault) == same, "another type fits");
        fuzz_require((fault.text[0] == '\0') == same, "a reason, or none");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct header header, unused;
    struct error fault = {""};
    enum header_status status = HEADER_PART;
    size_t wanted = 0, len = 0;
    if (size > FUZZ_MAX)
        return 0;
    while (status == HEADER_PART && len <= size) { /* as many bytes as are wanted at a time */
        status = peek(data, len, &wanted, &header, &fault);
        fuzz_require(status != HEADER_PART || (wanted > len && wanted <= HEADER_MAX),
                     "what is wanted next makes no sense");
        if (status == HEADER_PART)
            len = wanted;
    }
    fuzz_require(status != HEADER_FOUND || header.size == len, "a header of another size");
    if (status == HEADER_WRONG)
        fuzz_require_error(&fault);
    if (status == HEADER_FOUND)
        check_header(&header);
    bool is_short = size < HEADER_MAGIC_MAX; /* the first bytes that differ may not be looked at */
    enum header_status of_all = peek(data, size, &wanted, &unused, &fault);
    fuzz_require(of_all == status || (status == HEADER_PART && is_short && of_all == HEADER_NONE),
                 "all of the header says something else than its parts");
    of_all = header_peek(data, size, NULL, &unused, &fault);
    bool is_cut = of_all == HEADER_WRONG || (of_all == HEADER_NONE && is_short);
    fuzz_require(status == HEADER_PART ? is_cut : of_all == status,
                 "a content that ends there is something else");
    return 0;
}

/* Fuzzes the header of .npy files: whatever is cut off its end, the same is said of it, and what it
 * says of sizes can be true. Nothing past what is given is read. */
#include "src/input/npy.h"
#include "tests/helpers/guarded.h"

#include <stdlib.h>
#include <string.h>

#define FUZZ_MAX ((size_t)1 << 17)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    if (header->bytes > INT64_MAX || (!header->type[0] && header->bytes > 0))
        abort();
    if (header->type[0] && header->values > 0 && header->bytes % header->values != 0)
        abort();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool same = strcmp(types[i], header->type) == 0;
        fault.text[0] = '\0';
        if (npy_fits(header, types[i], 1, &fault) != same || (fault.text[0] == '\0') != same)
            abort();
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
        if (status == NPY_PART && (wanted <= len || wanted > NPY_HEADER_MAX))
            abort();
        if (status == NPY_PART)
            len = wanted;
    }
    if (status == NPY_HEADER && header.size != len)
        abort();
    if (status == NPY_WRONG && (fault.text[0] == '\0' || strchr(fault.text, '\n')))
        abort();
    if (status == NPY_HEADER)
        check_header(&header);
    enum npy_status of_all = look(data, size, &wanted, &header, &fault);
    bool is_short = status == NPY_PART && size < NPY_MAGIC_SIZE;
    if (of_all != status && !(is_short && of_all == NPY_NONE))
        abort();
    return 0;
}

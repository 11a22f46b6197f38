/* SPDX-License-Identifier: MIT */
/* Gathers fields in plain C, or with SSE2 where every processor has it. */
#include "field_parser.h"
#include "src/base/byte_masks.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    return byte_mask_equal(at, byte);
}

INLINE uint64_t bytes_low(const unsigned char *at)
{
    return byte_mask_up_to(at, ' ');
}

INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    for (unsigned i = 0; i < 32; i++)
        to[i] = from[i];
}

INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    return (struct json_bytes){
        .quotes = byte_mask_equal(at, '"'),
        .backslashes = byte_mask_equal(at, '\\'),
        .marks = byte_mask_equal(at, '{') | byte_mask_equal(at, '}') | byte_mask_equal(at, '[') |
                 byte_mask_equal(at, ']') | byte_mask_equal(at, ':') | byte_mask_equal(at, ','),
        .spaces = byte_mask_equal(at, ' ') | byte_mask_equal(at, '\t') | byte_mask_equal(at, '\r'),
        .controls = byte_mask_up_to(at, 0x1f)};
}

INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    mask_positions(bits, offset, to);
}

#include "field_tokenizer.h"
#include "find_string.h"

void fields_tokenize_portable(const struct field *field, struct record_text *text,
                              struct field_tokens *tokens)
{
    tokenize_fields(field, text, tokens);
}

const unsigned char *find_string_portable(const struct line_string *string, const unsigned char *at,
                                          const unsigned char *limit)
{
    return find_string(string, at, limit);
}

size_t fields_find_portable(const struct field *field, struct record_text *text,
                            struct key_span *keys, size_t cap)
{
    return find_fields(field, text, keys, cap);
}

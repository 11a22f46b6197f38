#include "records.h"
#include "src/histogram/number_token.h"

#include <string.h>

size_t records_resume(struct records *records, unsigned char *data)
{
    size_t len = records->cut_len;
    memcpy(data, records->cut, len);
    records->cut_len = 0;
    return len;
}

size_t records_head(const unsigned char *data, size_t len)
{
    return (size_t)(number_token_end(data, data + len) - data);
}

/* Blanks data[0..len) up to the first white space. Returns the length of what was blanked. */
static size_t blank_end_of_token(unsigned char *data, size_t len)
{
    size_t end = records_head(data, len);
    memset(data, ' ', end);
    return end;
}

/* The length of the token that data[0..len) ends with. */
static size_t last_token(const unsigned char *data, size_t len)
{
    size_t begin = len;
    while (begin > 0 && !number_is_space(data[begin - 1]))
        begin--;
    return len - begin;
}

size_t records_tail(struct records *records, const unsigned char *data, size_t len)
{
    if (records->size != RECORD_TOKENS)
        return len % records->size;
    size_t tail = last_token(data, len);
    if (tail <= NUMBER_MAX)
        return tail;
    records->too_long = true;
    return 0;
}

size_t records_cut(struct records *records, unsigned char *data, size_t len, bool at_end)
{
    if (records->too_long)
        records->too_long = blank_end_of_token(data, len) == len;
    if (at_end && records->size == RECORD_TOKENS)
        return len;
    records->cut_len = records_tail(records, data, len);
    memcpy(records->cut, data + len - records->cut_len, records->cut_len);
    return len - records->cut_len;
}

size_t records_of_piece(unsigned char *data, size_t piece, size_t len)
{
    size_t end = 1 + piece < len ? 1 + piece : len;
    if (!number_is_space(data[0]))
        blank_end_of_token(data, end);
    data[0] = ' ';
    if (number_is_space(data[end - 1]))
        return end;
    return (size_t)(number_token_end(data + end, data + len) - data);
}

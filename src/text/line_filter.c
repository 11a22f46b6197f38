/* SPDX-License-Identifier: MIT */
#include "line_filter.h"
#include "field.h"

#include <string.h>

static int compare_strings(const struct line_string *a, const struct line_string *b)
{
    return a->is_unwanted != b->is_unwanted ? (int)a->is_unwanted - (int)b->is_unwanted
                                            : strcmp(a->text, b->text);
}

bool line_filter_add(struct line_filter *filter, const char *text, bool is_unwanted)
{
    const struct line_string added = {text, strlen(text), is_unwanted};
    struct line_string *strings = filter->strings;
    size_t at = 0;
    while (at < filter->count && compare_strings(&strings[at], &added) < 0)
        at++;
    if (at < filter->count && compare_strings(&strings[at], &added) == 0)
        return true;
    if (filter->count == LINE_STRINGS_MAX)
        return false;
    memmove(&strings[at + 1], &strings[at], (filter->count - at) * sizeof strings[0]);
    strings[at] = added;
    filter->count++;
    return true;
}

bool line_filter_keeps(const struct line_filter *filter, const unsigned char *begin,
                       const unsigned char *end)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct line_string *string = &filter->strings[i];
        const bool has = memmem(begin, (size_t)(end - begin), string->text, string->len) != NULL;
        if (has == string->is_unwanted)
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/* The key of a record, by what defines it. */
#ifndef GPUHISTO_FIND_KEY_H
#define GPUHISTO_FIND_KEY_H

#include "src/text/field.h"

/* Finds the key of the record [begin, end), as field_find. If it is FIELD_FOUND, sets *name;
 * `scratch` has key_scratch_size(end - begin) bytes. */
static inline enum field_found find_key(const struct key *key, const unsigned char *begin,
                                        const unsigned char *end, unsigned char *scratch,
                                        struct key_name *name)
{
    const unsigned char *from, *to;
    const enum field_found found = field_find(&key->field, begin, end, &from, &to);
    if (found != FIELD_FOUND || to - from > (ptrdiff_t)KEY_SIZE_MAX)
        return found == FIELD_FOUND ? FIELD_TOO_LONG : found;
    const struct key_name made = key_of_field(key, from, to, scratch, NULL);
    *name = made.bytes ? made : *name;
    return made.bytes ? FIELD_FOUND : FIELD_NO_TIME;
}

#endif

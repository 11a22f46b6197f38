/* SPDX-License-Identifier: MIT */
/* What the string of --after was probably meant to be. */
#ifndef GPUHISTO_FIELD_HINT_H
#define GPUHISTO_FIELD_HINT_H

#include <stddef.h>

#define FIELD_HINT_SIZE 96

/* Looks in a line for a name that a number follows after quotes, blanks and a ':' or '=': a member
 * of JSON, or the like. Sets the hint to the name with what is between, as --after takes it; to an
 * empty string if there is none that can be shown. */
void field_hint_after(const unsigned char *begin, const unsigned char *end, const char *name,
                      size_t len, char hint[FIELD_HINT_SIZE]);

#endif

/* SPDX-License-Identifier: MIT */
/* The route of a path: without its query and fragment, that is up to the first '?' or '#', and with
 * '*' for each segment that is an id. Segments are what stands between slashes. An id is
 *
 *     digits only
 *     a UUID, 8-4-4-4-12 hexadecimal digits
 *     eight and more hexadecimal digits, one of which is a digit from 0 to 9
 *     sixteen and more of letters, digits, '-' and '_', with both a letter and a digit
 *
 * Letters are those of ASCII, in either case. Nothing is decoded. */
#ifndef GPUHISTO_ROUTE_H
#define GPUHISTO_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the segment [begin, end) is an id. Any thread. */
bool route_is_id(const unsigned char *begin, const unsigned char *end);

/* Returns the route of path[0..*len), and sets *len to its length: the path itself if it has no id,
 * or written to `scratch`, which has *len bytes and may begin before the path and overlap it. */
const unsigned char *route_of(const unsigned char *path, size_t *len, unsigned char *scratch);

#endif

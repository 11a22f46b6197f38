/* SPDX-License-Identifier: MIT */
/* The first bytes of a compressed FILE's content, which are looked at before they are counted: they
 * may be a header. */
#ifndef GPUHISTO_HEADING_H
#define GPUHISTO_HEADING_H

#include "content.h"
#include "src/base/reason.h"

struct heading {
    bool is_sought;      /* not known yet whether there is a header: what is decoded comes here */
    unsigned char *data; /* owned; NULL before the first bytes */
    size_t len, given;   /* bytes: decoded, and of these given out as content */
    size_t wanted;       /* that must be seen to know more */
};

/* Expects the beginning of a content, which may be a header. */
void heading_seek(struct heading *heading);

/* Makes room for the bytes that are wanted. Where they go, with *cap set to how many; or NULL: out
 * of memory. */
unsigned char *heading_room(struct heading *heading, size_t *cap);

/* So many more bytes were put there. Sets the range if they complete a header. 0; or -1 with the
 * fault of a header that does not fit the options. */
int heading_add(struct heading *heading, size_t len, const struct content_options *options,
                struct content_range *range, struct reason *fault);

/* The content has ended. 0; or -1 with the fault that a header is not whole, or missing. */
int heading_end(struct heading *heading, const struct content_options *options,
                struct reason *fault);

/* Whether bytes wait to be given out, as they turned out not to be a header. */
bool heading_waits(const struct heading *heading);

/* Gives out those, up to out[0..cap), and up to the end of the range. Returns how many. */
size_t heading_give(struct heading *heading, const struct content_range *range, unsigned char *out,
                    size_t cap);

/* Frees the memory. */
void heading_free(struct heading *heading);

#endif

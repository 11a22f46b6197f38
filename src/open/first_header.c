/* SPDX-License-Identifier: MIT */
/* The header of the first file, before any file is read: where the options need its type. */
#include "beginning.h"
#include "input.h"
#include "src/frames/peek.h"

/* The fault of a file whose header says no type. -1. */
static int refuse(const struct input *input, enum header_status status, const struct header *header,
                  struct reason *why)
{
    const struct foreign *foreign = input->plan.foreign;
    if (status == HEADER_FOUND)
        reason_of(why, input->bytes.name, "holds %s, which --values cannot count", header->holds);
    else if (status == HEADER_NONE && foreign && !foreign->is_text)
        reason_of(why, input->bytes.name, "looks like %s data; use '%s FILE | gpuhisto'",
                  foreign->name, foreign->command);
    else if (status == HEADER_NONE)
        reason_of(why, input->bytes.name, "has no .npy, WAV or PNM header; use --values=TYPE");
    return -1;
}

int input_find_header(struct held *file, const struct input_options *options, struct header *header,
                      struct reason *why)
{
    struct input input;
    struct peek peek;
    if (input_recognise(&input, file, options, NULL, why) != 0)
        return -1;
    int rc = peek_begin(&peek, &input.bytes, input.frames.codec, &options->decoding, why);
    if (rc == 0) {
        enum header_status status = beginning_header(&peek, header, why);
        if (status != HEADER_FOUND || !header->type[0])
            rc = refuse(&input, status, header, why);
        peek_end(&peek);
    }
    if (rc == 0 && bytes_give_back(&input.bytes, file) != 0) {
        reason_of(why, input.bytes.name, "out of memory");
        rc = -1;
    }
    input_close(&input);
    return rc;
}

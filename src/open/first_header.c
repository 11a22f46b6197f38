/* SPDX-License-Identifier: MIT */
/* The header of the first file, before any file is read: where the options need its type. */
#include "beginning.h"
#include "src/frames/peek.h"
#include "src/work/worker.h"

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

int source_find_header(struct source *source, struct header *header, struct reason *why)
{
    struct operand *first = source->operands;
    struct input input;
    for (size_t i = 0; i < source->count; i++)
        if (source->operands[i].number == 0)
            first = &source->operands[i];
    if (input_recognise(&input, &first->file, &source->options, NULL, why) != 0)
        return -1;
    struct peek peek;
    int rc = peek_begin(&peek, &input.bytes, input.frames.codec, &source->options.decoding, why);
    if (rc == 0) {
        enum header_status status = beginning_header(&peek, header, why);
        if (status != HEADER_FOUND || !header->type[0])
            rc = refuse(&input, status, header, why);
        peek_end(&peek);
    }
    if (bytes_give_back(&input.bytes, &first->file) != 0)
        rc = source_fail_for_memory(source, input.bytes.name);
    input_close(&input);
    return rc;
}

void source_set_options(struct source *source, const struct input_options *options)
{
    source->options = *options;
}

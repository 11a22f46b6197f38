/* SPDX-License-Identifier: MIT */
/* The header of the first file, before any file is read: where the options need its type. */
#include "src/bytes/enter.h"
#include "src/work/source_internal.h"

#include <stdlib.h>
#include <unistd.h>

#define STEP_SIZE UNITS_SIZE_FIRST    /* compressed bytes that are read at a time */
#define STORED_MAX ((size_t)16 << 20) /* of these, before the header is seen */

/* The beginning of a compressed file, on its way through a decoder. */
struct beginning {
    struct input *input; /* whose `units` have all that was read */
    struct decoder *decoder;
    size_t pos;          /* units->data[pos..len) was not decoded yet */
    size_t unit;         /* where the unit begins that is being decoded */
    unsigned char *data; /* what was decoded, owned: */
    size_t len, wanted;  /* bytes of it, and of those that must be seen */
    bool is_dry;         /* the decoder gives nothing more without being fed */
};

static int failed(const struct input *input, const char *fault, struct reason *why)
{
    reason_of(why, input->name, "%s", fault);
    return -1;
}

/* Reads on. The bytes, 0 at the end, or -1 with the reason set. */
static ssize_t read_on(struct beginning *beginning, struct reason *why)
{
    struct input *input = beginning->input;
    struct units *units = &input->units;
    if (units->len >= STORED_MAX)
        return failed(input, "has no header in its first 16 MiB; use --values=TYPE", why);
    if (units_reserve(units, units->len + STEP_SIZE) != 0)
        return failed(input, "out of memory", why);
    unsigned char *room = units->data + units->len;
    ssize_t got = input->regular ? input_read_at(input, room, STEP_SIZE, units->len, why)
                                 : input_take(input, room, STEP_SIZE, why);
    units->len += got > 0 ? (size_t)got : 0;
    return got;
}

/* Takes one step of decoding. 0, or -1 with the reason set. */
static int step_on(struct beginning *beginning, struct reason *why)
{
    const struct codec *codec = beginning->input->codec;
    const struct units *units = &beginning->input->units;
    struct reason fault;
    unsigned char *data = realloc(beginning->data, beginning->wanted);
    if (!data)
        return failed(beginning->input, "out of memory", why);
    beginning->data = data;
    struct decode_step step = {.in = units->data + beginning->pos,
                               .in_len = units->len - beginning->pos,
                               .out = data + beginning->len,
                               .cap = beginning->wanted - beginning->len};
    if (codec->complete(beginning->decoder))
        beginning->unit = beginning->pos;
    switch (codec->decode(beginning->decoder, &step, &fault)) {
    case DECODE_NO_MEMORY:
        return failed(beginning->input, "out of memory", why);
    case DECODE_FAULT:
        reason_of(why, beginning->input->name, "%s, at byte %zu", fault.text, beginning->unit);
        return -1;
    default:
        beginning->pos += step.used;
        beginning->len += step.made;
        beginning->is_dry = step.made == 0;
        return 0;
    }
}

/* Sees as many bytes as are wanted. 1; 0: the content has fewer; or -1 with the reason set. */
static int see_wanted(struct beginning *beginning, struct reason *why)
{
    struct input *input = beginning->input;
    while (beginning->len < beginning->wanted) {
        bool is_complete = input->codec->complete(beginning->decoder);
        if (beginning->pos == input->units.len && (is_complete || beginning->is_dry)) {
            ssize_t got = read_on(beginning, why);
            if (got < 0)
                return -1;
            if (got == 0 && is_complete)
                return 0;
            if (got == 0) {
                reason_of(why, input->name, "truncated %s data, at byte %zu", input->codec->name,
                          input->units.len);
                return -1;
            }
        }
        if (step_on(beginning, why) != 0)
            return -1;
    }
    return 1;
}

/* As enter_read_header, of a compressed file. */
static enum header_status decode_header(struct input *input, const struct codec_options *options,
                                        struct header *header, struct reason *why)
{
    struct beginning beginning = {
        .input = input, .decoder = input->codec->open(options), .wanted = 1};
    enum header_status status = HEADER_PART;
    struct reason fault;
    if (!beginning.decoder) {
        failed(input, "out of memory", why);
        return HEADER_WRONG;
    }
    while (status == HEADER_PART) {
        int seen = see_wanted(&beginning, why);
        if (seen < 0)
            break;
        status = seen
                     ? header_look(beginning.data, beginning.len, &beginning.wanted, header, &fault)
                     : header_look_at_all(beginning.data, beginning.len, header, &fault);
    }
    if (status == HEADER_WRONG)
        failed(input, fault.text, why);
    decoder_close(beginning.decoder);
    free(beginning.data);
    return status == HEADER_PART ? HEADER_WRONG : status;
}

/* Gives the file back, with what was read of it if it is a stream. */
static void give_back(struct input *input, struct held *file)
{
    if (!input->regular) {
        file->head = input->units.data;
        file->head_len = input->units.len;
        input->units = (struct units){.data = NULL};
    }
    if (input->fd != STDIN_FILENO) {
        file->fd = input->fd;
        file->is_open = true;
        input->fd = -1;
    }
    input_close(input);
}

/* The fault of a file whose header says no type. -1. */
static int refuse(const struct input *input, enum header_status status, const struct header *header,
                  struct reason *why)
{
    const struct foreign *foreign = input->foreign;
    if (status == HEADER_FOUND)
        reason_of(why, input->name, "holds %s, which --values cannot count", header->holds);
    else if (status == HEADER_NONE && foreign && !foreign->is_text)
        reason_of(why, input->name, "looks like %s data; use '%s FILE | gpuhisto'", foreign->name,
                  foreign->command);
    else if (status == HEADER_NONE)
        reason_of(why, input->name, "has no .npy, WAV or PNM header; use --values=TYPE");
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
    enum header_status status = input.codec
                                    ? decode_header(&input, &source->options.decoding, header, why)
                                    : enter_read_header(&input, header, why);
    int rc = 0;
    if (status != HEADER_FOUND || !header->type[0])
        rc = refuse(&input, status, header, why);
    give_back(&input, &first->file);
    return rc;
}

void source_set_options(struct source *source, const struct input_options *options)
{
    source->options = *options;
}

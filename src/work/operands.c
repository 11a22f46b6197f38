/* SPDX-License-Identifier: MIT */
/* The operands before they are opened: what they are, and the order in which they are read. */
#include "src/input/input.h"
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_standard(const struct operand *operand)
{
    return strcmp(operand->file.name, "-") == 0;
}

/* Returns the operand of a shard's file, which is a regular one. */
static struct operand shard_operand(struct file_shard *shard)
{
    return (struct operand){.file = {.name = shard->name, .is_regular = true, .fd = -1},
                            .shard = shard,
                            .size = shard->end - shard->begin};
}

static struct operand whole_operand(const char *name, const struct content_range *range)
{
    const struct preopened file = preopened_inspect(name);
    return (struct operand){.file = file, .size = content_before(range, file.size)};
}

static int compare_operands(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Orders operands: the longest first, so that no worker is left alone with it at the end; but in
 * the order given if one is not regular, as its writer may rely on that order. */
static void order_operands(struct source *source)
{
    bool all_regular = true;
    size_t standard = 0;
    for (size_t i = 0; i < source->count; i++)
        standard += is_standard(&source->operands[i]);
    for (size_t i = 0; i < source->count; i++) {
        struct operand *operand = &source->operands[i];
        const bool regular = operand->file.is_regular;
        operand->is_alone = !regular || (standard > 1 && is_standard(operand));
        all_regular &= regular;
        source->remaining.plain += operand->size;
        source->remaining.compressed.unopened += operand->size;
    }
    source->remaining.size = all_regular ? atomic_load(&source->remaining.plain) : 0;
    if (all_regular)
        qsort(source->operands, source->count, sizeof source->operands[0], compare_operands);
}

/* Looks at all operands; with a shard, only at the files that have a part in it. */
static void peek_at_operands(struct source *source, char *const *operands, size_t count)
{
    const struct content_range range = content_range_of(&source->options.content);
    struct shard *shard = source->options.shard;
    source->count = shard ? shard->count : count ? count : 1;
    for (size_t i = 0; i < source->count; i++) {
        source->operands[i] = shard ? shard_operand(&shard->list[i])
                                    : whole_operand(count ? operands[i] : "-", &range);
        source->operands[i].number = i;
    }
}

void operands_peek(struct source *source, char *const *names, size_t count)
{
    peek_at_operands(source, names, count);
    order_operands(source);
    size_t left = preopened_max(source->count);
    for (size_t i = 0; i < source->count && left > 0; i++)
        left -= preopened_acquire(&source->operands[i].file);
}

size_t source_files(const struct source *source)
{
    return source->count ? source->count : 1;
}

struct preopened *source_file(struct source *source, size_t i)
{
    return i < source->count ? &source->operands[i].file : NULL;
}

/* Reads the first bytes of a file that is open. Returns how many could be read. */
static size_t read_head(const struct preopened *file, unsigned char head[CODEC_MAGIC_MAX])
{
    const bool is_input = strcmp(file->name, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : file->fd;
    const off_t begin = is_input ? lseek(fd, 0, SEEK_CUR) : 0;
    size_t len = 0;
    ssize_t got;
    do {
        got = pread(fd, head + len, CODEC_MAGIC_MAX - len, begin + (off_t)len);
        len += got > 0 ? (size_t)got : 0;
    } while (len < CODEC_MAGIC_MAX && (got > 0 || (got < 0 && errno == EINTR)));
    return len;
}

/* Loads the library for the format that a regular file begins with. False if the format is not
 * known. */
static bool load_codec_of(const struct preopened *file)
{
    unsigned char head[CODEC_MAGIC_MAX];
    const struct codec *codec = NULL;
    struct error unused;
    if (!file->is_regular || (file->fd < 0 && strcmp(file->name, "-") != 0))
        return false;
    const enum codec_magic magic = codec_recognise(head, read_head(file, head), &codec);
    if (magic == MAGIC_MATCH)
        (void)codec->load(&unused);
    return magic != MAGIC_PART;
}

void source_load_codecs(struct source *source)
{
    struct error unused;
    bool any = false; /* whichever there is */
    if (source->options.codec)
        (void)source->options.codec->load(&unused);
    if (source->options.codec || source->options.is_as_stored)
        return;
    for (size_t i = 0; i < source->count && !any; i++) {
        const struct preopened *file = &source->operands[i].file;
        any = file->error == 0 && !load_codec_of(file);
    }
    for (size_t i = 0; any && codecs[i]; i++)
        (void)codecs[i]->load(&unused);
}

int source_find_header(struct source *source, struct header *header, struct error *error)
{
    struct operand *first = source->operands;
    for (size_t i = 0; i < source->count; i++)
        if (source->operands[i].number == 0)
            first = &source->operands[i];
    return input_find_header(&first->file, &source->options, header, error);
}

void source_set_options(struct source *source, const struct input_options *options)
{
    source->options = *options;
}

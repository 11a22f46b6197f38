/* SPDX-License-Identifier: MIT */
/* The FILEs, the turn, and what happened. */
#include "src/open/share.h"
#include "source_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that all readers together may reserve for decoding. */
#define DECODING_SIZE ((size_t)256 << 20)

static bool is_standard(const struct operand *operand)
{
    return strcmp(operand->file.name, "-") == 0;
}

/* A FILE that was cut into shares, and so is regular. */
static struct operand cut_operand(struct share_cut *cut)
{
    return (struct operand){.file = {.name = cut->name, .is_regular = true, .fd = -1},
                            .cut = cut,
                            .size = cut->end - cut->begin};
}

static struct operand whole_operand(const char *name, const struct content_range *range)
{
    const struct held file = held_look(name);
    return (struct operand){.file = file, .size = content_before(range, file.size)};
}

static int compare_operands(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Puts operands into the order in which they are read: regular files the longest first, so that no
 * reader is left alone with that one; but if one is not regular, as they are given, because whoever
 * writes to it may count on that. */
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
        source->left += operand->size;
        source->compressed.unopened += operand->size;
    }
    source->size = all_regular ? atomic_load(&source->left) : 0;
    if (all_regular)
        qsort(source->operands, source->count, sizeof source->operands[0], compare_operands);
}

/* Looks at all operands; of a share, only at the FILEs that it has something of. */
static void look_at_operands(struct source *source, char *const *operands, size_t count)
{
    const struct content_range range = content_range_of(&source->options.content);
    struct share *share = source->options.share;
    source->count = share ? share->count : count ? count : 1;
    for (size_t i = 0; i < source->count; i++) {
        source->operands[i] =
            share ? cut_operand(&share->cuts[i]) : whole_operand(count ? operands[i] : "-", &range);
        source->operands[i].number = i;
    }
}

/* Holds the first ones that are read. */
static void hold_operands(struct source *source)
{
    size_t left = held_most(source->count);
    for (size_t i = 0; i < source->count && left > 0; i++)
        left -= held_begin(&source->operands[i].file);
}

struct held *source_file(struct source *source, size_t i)
{
    return i < source->count ? &source->operands[i].file : NULL;
}

struct source *source_open(char *const *operands, size_t count, const struct input_options *options)
{
    struct source *source = calloc(1, sizeof *source);
    struct operand *all = calloc(count ? count : 1, sizeof *all);
    if (!source || !all) {
        free(source);
        free(all);
        return NULL;
    }
    source->operands = all;
    source->options = *options;
    look_at_operands(source, operands, count);
    order_operands(source);
    hold_operands(source);
    source->admission.limit = DECODING_SIZE;
    pthread_mutex_init(&source->turn, NULL);
    pthread_mutex_init(&source->lock, NULL);
    helpers_open(&source->helpers);
    return source;
}

int source_fail(struct source *source, const struct reason *why)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed)
        source->why = *why;
    source->failed = true;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
    return -1;
}

int source_fail_for_memory(struct source *source, const char *name)
{
    struct reason why;
    reason_of(&why, name, "out of memory");
    return source_fail(source, &why);
}

bool source_has_failed(struct source *source)
{
    return atomic_load(&source->failed);
}

void source_set_current(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    source->current = open;
    source->changes++;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
}

void source_use(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    open->users++;
    pthread_mutex_unlock(&source->lock);
}

void source_leave(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    bool last = --open->users == 0;
    pthread_mutex_unlock(&source->lock);
    if (!last)
        return;
    input_close(&open->input);
    seams_close(&open->seams);
    free(open);
    admission_close(source);
}

void source_note_one_line(struct source *source, const char *name, size_t number)
{
    struct one_line *seen = &source->one_line;
    pthread_mutex_lock(&source->lock);
    if (seen->count++ == 0 || number < seen->number) {
        seen->name = name;
        seen->number = number;
    }
    pthread_mutex_unlock(&source->lock);
}

int source_retire(struct source *source, struct open_input *open)
{
    struct reason why;
    if (open->input.is_one_line)
        source_note_one_line(source, open->input.name, open->at.file);
    int rc = input_check_end(&open->input, &why);
    if (rc != 0)
        source_fail(source, &why);
    else
        input_settle(&open->input);
    source_leave(source, open);
    return rc;
}

void source_park(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    open->next = source->parked;
    source->parked = open;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
}

static struct open_input *take_parked(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    struct open_input *open = source->parked;
    if (open)
        source->parked = open->next;
    pthread_mutex_unlock(&source->lock);
    return open;
}

/* What came of looking for an input to read. */
enum found {
    FOUND_INPUT,
    FOUND_NONE,     /* all FILEs were opened */
    FOUND_SHORTAGE, /* the reader should help */
    FOUND_FAILURE,
};

/* Opens the next operand, for which admission has been given. */
static enum found open_operand(struct reader *reader, struct operand *operand)
{
    struct source *source = reader->source;
    struct open_input *open = calloc(1, sizeof *open);
    struct reason why;
    bool opened =
        open && input_open(&open->input, &operand->file, &source->options, operand->cut, &why) == 0;
    bool is_short = open && !opened && (open->input.error == EMFILE || open->input.error == ENFILE);
    if (is_short && admission_refuse_file(reader)) {
        free(open);
        return FOUND_SHORTAGE;
    }
    bool has_seams = opened && open->input.codec && open->input.records.size != 1;
    const struct part_edges *edges = opened ? &open->input.edges : NULL;
    bool is_first = opened && (edges->is_first || !operand->cut);
    if (has_seams && seams_open(&open->seams, is_first, edges->goes_on) != 0) {
        input_close(&open->input);
        opened = false;
        reason_of(&why, operand->file.name, "out of memory");
    }
    if (!open)
        reason_of(&why, operand->file.name, "out of memory");
    if (!opened) {
        free(open);
        source_fail(source, &why);
        return FOUND_FAILURE;
    }
    open->at.file = operand->number;
    open->content = edges->content;
    takeover_note_opened(source, open);
    source_use(source, open);
    source_set_current(source, open);
    source->has_decoded |= open->input.codec != NULL;
    foreign_note(&source->foreign, open->input.foreign, open->input.name, operand->number);
    return FOUND_INPUT;
}

/* Makes `current` an open input, in turn. */
static enum found find_input(struct reader *reader)
{
    struct source *source = reader->source;
    if (source_has_failed(source))
        return FOUND_FAILURE;
    struct open_input *parked = source->current ? NULL : take_parked(source);
    if (parked)
        source_set_current(source, parked);
    if (source->current)
        return FOUND_INPUT;
    if (source->opened == source->count)
        return FOUND_NONE;
    struct operand *operand = &source->operands[source->opened];
    if (!admission_open(reader, operand->is_alone))
        return FOUND_SHORTAGE;
    enum found found = open_operand(reader, operand);
    if (found == FOUND_SHORTAGE)
        return found;
    pthread_mutex_lock(&source->lock);
    source->opened++;
    pthread_mutex_unlock(&source->lock);
    atomic_fetch_sub(&source->left, operand->size);
    atomic_fetch_sub(&source->compressed.unopened, operand->size);
    if (found != FOUND_INPUT)
        return found;
    const struct input *input = &source->current->input;
    if (input_parallel(input))
        atomic_fetch_add(&source->left, input->end - input->taken);
    if (input->codec && content_is_partial(&input->range))
        atomic_store(&source->is_unsized, true);
    return found;
}

void source_begin_chunk(const struct open_input *open, struct position *at, struct chunk *chunk)
{
    chunk->origin = (struct origin){.at = *at,
                                    .name = open->input.name,
                                    .counted_from = open->input.counted_from,
                                    .column = open->input.column};
    at->index++;
}

size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited)
{
    return chunk->cap + (records_are_text(input->records.size) ? waited : 0);
}

/* --- readers --- */

struct reader *reader_open(struct source *source)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->source = source;
    helper_open(&reader->helper);
    return reader;
}

void reader_close(struct reader *reader)
{
    if (!reader)
        return;
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    if (reader->busy) { /* after a failure: what is left of the batch is not read */
        admission_end(reader);
        source_leave(source, decoding->open);
    }
    span_close(decoding->span);
    while (reader->seams) {
        struct span *next = reader->seams->next;
        span_close(reader->seams);
        reader->seams = next;
    }
    helpers_leave(&source->helpers, &reader->helper);
    admission_release(reader, 0);
    decoding_drop(decoding);
    helper_close(&reader->helper);
    free(reader);
}

/* In turn: takes something of a compressed FILE, for an engine or to decode it here. 1 or -1; 0:
 * the reader ends instead, and whoever waits looks again. */
static int take_compressed(struct reader *reader, const struct source_sink *sink)
{
    int rc = undecoded_take(reader, sink);
    if (rc != 0)
        return rc;
    if (!sink->is_surplus || !sink->is_surplus(sink->arg))
        return decoding_take(reader, sink);
    helpers_tell(&reader->source->helpers);
    return 0;
}

/* In turn: reads a chunk of plain bytes, which ends the turn, or takes a batch to decode. */
static int take_turn(struct reader *reader, const struct source_sink *sink, struct chunk **chunk,
                     enum flow *flow)
{
    struct source *source = reader->source;
    int more = 1;
    reader->shortage = SHORT_OF_NOTHING;
    pthread_mutex_lock(&source->turn);
    switch (find_input(reader)) {
    case FOUND_INPUT:
        if (!source->current->input.codec) {
            helpers_leave(&source->helpers, &reader->helper);
            admission_release(reader, DECODER_KEPT);
            return plain_read(source, sink, chunk, flow);
        }
        more = take_compressed(reader, sink);
        break;
    case FOUND_NONE:
        more = admission_remains(reader);
        break;
    case FOUND_SHORTAGE:
        break;
    case FOUND_FAILURE:
        more = -1;
        break;
    }
    pthread_mutex_unlock(&source->turn);
    return more;
}

int source_read(struct reader *reader, const struct source_sink *sink, struct chunk **chunk,
                enum flow *flow)
{
    struct helpers *helpers = &reader->source->helpers;
    int more = 1;
    *flow = FLOW_DECODED;
    *chunk = NULL;
    while (more > 0 && !*chunk) {
        if (reader->seams) {
            more = decoding_give_seam(reader, sink, chunk);
        } else if (reader->busy) {
            more = decoding_read(reader, sink, chunk);
            if (*chunk && more > 0 && (*chunk)->give && helpers_give(helpers, *chunk))
                *chunk = NULL;
        } else {
            more = take_turn(reader, sink, chunk, flow);
            if (*flow != FLOW_DECODED)
                break;
            if (more > 0 && !reader->busy && !reader->seams)
                *chunk = admission_help(reader);
        }
    }
    return more;
}

size_t source_files(const struct source *source)
{
    return source->count ? source->count : 1;
}

/* The first bytes of a file that is open; how many could be read. */
static size_t read_head(const struct held *file, unsigned char head[CODEC_MAGIC_MAX])
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

/* Loads the library for what a regular file begins with. False if it may begin with anything: it is
 * not open, or so short that it may still be written. */
static bool load_codec_of(const struct held *file)
{
    unsigned char head[CODEC_MAGIC_MAX];
    const struct codec *codec = NULL;
    struct reason unused;
    if (!file->is_regular || (file->fd < 0 && strcmp(file->name, "-") != 0))
        return false;
    const enum codec_magic magic = codec_recognise(head, read_head(file, head), &codec);
    if (magic == MAGIC_MATCH)
        (void)codec->load(&unused);
    return magic != MAGIC_PART;
}

void source_load_codecs(struct source *source)
{
    struct reason unused;
    bool any = false; /* whichever there is */
    if (source->options.decompress == DECOMPRESS_CODEC)
        (void)source->options.codec->load(&unused);
    if (source->options.decompress != DECOMPRESS_AUTO)
        return;
    for (size_t i = 0; i < source->count && !any; i++) {
        const struct held *file = &source->operands[i].file;
        any = file->error == 0 && !load_codec_of(file);
    }
    for (size_t i = 0; any && codecs[i]; i++)
        (void)codecs[i]->load(&unused);
}

bool source_is_regular(const struct source *source)
{
    return source->size > 0;
}

bool source_has_work(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool has = source->current || source->parked || source->opened < source->count;
    pthread_mutex_unlock(&source->lock);
    return has;
}

uint64_t source_left(struct source *source)
{
    return atomic_load(&source->left);
}

double source_share(struct source *source)
{
    if (source->size == 0 || atomic_load(&source->is_unsized))
        return 0;
    double share = (double)atomic_load(&source->read) / (double)source->size;
    return share < 1 ? share : 1;
}

const char *source_error(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool told = source->failed && source->why.text[0];
    pthread_mutex_unlock(&source->lock);
    return told ? source->why.text : NULL;
}

void source_foreign(struct source *source, struct reason *warning)
{
    foreign_warn(&source->foreign, warning);
}

void source_one_line(const struct source *source, struct reason *warning)
{
    const struct one_line *seen = &source->one_line;
    char more[64] = "";
    warning->text[0] = '\0';
    if (seen->count == 0)
        return;
    if (seen->count > 1)
        snprintf(more, sizeof more, "; so %s %zu more file%s", seen->count == 2 ? "is" : "are",
                 seen->count - 1, seen->count == 2 ? "" : "s");
    reason_of(warning, seen->name,
              "has carriage returns instead of newlines, so all of it is one line; use "
              "tr '\\r' '\\n' <FILE | gpuhisto%s",
              more);
}

bool source_has_decoded(const struct source *source)
{
    return source->has_decoded;
}

void source_close(struct source *source)
{
    struct open_input *open;
    while ((open = take_parked(source)))
        source_leave(source, open);
    if (source->current)
        source_leave(source, source->current);
    for (size_t i = 0; i < source->count; i++)
        held_end(&source->operands[i].file);
    helpers_close(&source->helpers);
    pthread_mutex_destroy(&source->turn);
    pthread_mutex_destroy(&source->lock);
    free(source->operands);
    free(source);
}

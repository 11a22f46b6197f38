/* SPDX-License-Identifier: MIT */
/* All files of a run: the order in which they are read, which are open, and how much is left. */
#include "worker.h"
#include "src/input/input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of content to compressed bytes, before anything was decoded. */
#define CONTENT_RATIO 3

/* Bytes of regular files below which a second GPU has ended nothing before the first one has. */
#define GPU_WORK_MIN ((uint64_t)256 << 20)

/* --- the operands before they are opened: what they are, and in which order they are read --- */

static int compare_operands(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Fills source->operands, which has room, with the `count` that are named, or with the files that
 * have a part in the shard, which are regular: the longest first, so that no worker is left alone
 * with it at the end; but in the order given if one is not regular, as its writer may rely on that
 * order. */
static void order_operands(struct source *source, char *const *names, size_t count)
{
    const struct content_range range = content_range_of(&source->options.content);
    const struct shard *shard = source->options.shard;
    struct remaining *remaining = &source->remaining;
    bool all_regular = true;
    size_t standard = 0;
    source->count = shard ? shard->count : count ? count : 1;
    for (size_t i = 0; i < source->count; i++) {
        struct operand *operand = &source->operands[i];
        operand->number = i;
        if (shard) {
            operand->shard = &shard->list[i];
            operand->file =
                (struct preopened){.name = operand->shard->name, .is_regular = true, .fd = -1};
            operand->size = operand->shard->end - operand->shard->begin;
        } else {
            operand->file = preopened_inspect(count ? names[i] : "-");
            operand->size = content_before(&range, operand->file.size);
        }
        standard += strcmp(operand->file.name, "-") == 0;
        all_regular &= operand->file.is_regular;
        remaining->unopened += operand->size;
    }
    for (size_t i = 0; i < source->count; i++) {
        const struct preopened *file = &source->operands[i].file;
        source->operands[i].is_alone =
            !file->is_regular || (standard > 1 && strcmp(file->name, "-") == 0);
    }
    remaining->size = all_regular ? atomic_load(&remaining->unopened) : 0;
    if (all_regular)
        qsort(source->operands, source->count, sizeof source->operands[0], compare_operands);
}

/* --- opening it --- */

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
    order_operands(source, operands, count);
    size_t left = preopened_max(source->count); /* held from now on */
    for (size_t i = 0; i < source->count && left > 0; i++)
        left -= preopened_acquire(&source->operands[i].file);
    source->memory.limit = SIZE_MAX;
    pthread_mutex_init(&source->read_lock, NULL);
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->wake, NULL);
    source->queue.last_job = &source->queue.jobs;
    return source;
}

size_t source_files(const struct source *source)
{
    return source->count ? source->count : 1;
}

struct preopened *source_file(struct source *source, size_t i)
{
    return i < source->count ? &source->operands[i].file : NULL;
}

/* Finds the codec of the format that a regular file begins with, as codec_recognise, and what the
 * first frame states. MAGIC_PART if it is not known: the file is not open yet. */
static enum codec_magic codec_of(const struct preopened *file, const struct codec **codec,
                                 struct codec_frame *frame)
{
    const bool is_input = strcmp(file->name, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : file->fd;
    unsigned char head[STATED_WITHIN];
    size_t len = 0;
    ssize_t got;
    *frame = (struct codec_frame){.content = FRAME_UNSIZED};
    if (!file->is_regular || fd < 0)
        return MAGIC_PART;
    const off_t begin = is_input ? lseek(fd, 0, SEEK_CUR) : 0;
    do {
        got = pread(fd, head + len, sizeof head - len, begin + (off_t)len);
        len += got > 0 ? (size_t)got : 0;
    } while (len < sizeof head && (got > 0 || (got < 0 && errno == EINTR)));
    const enum codec_magic magic =
        codec_recognise(head, len < CODEC_MAGIC_MAX ? len : CODEC_MAGIC_MAX, codec);
    if (magic == MAGIC_MATCH)
        (void)(*codec)->peek(head, len, frame);
    return magic;
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
        const struct codec *codec = NULL;
        struct codec_frame frame;
        const enum codec_magic magic =
            file->error == 0 ? codec_of(file, &codec, &frame) : MAGIC_OTHER;
        if (magic == MAGIC_MATCH)
            (void)codec->load(&unused);
        any = magic == MAGIC_PART;
    }
    for (size_t i = 0; any && codecs[i]; i++)
        (void)codecs[i]->load(&unused);
}

double source_gpu_rate(const struct source *source, const struct codec *codec,
                       const struct codec_frame *frame)
{
    const bool is_checked = !source->options.decoding.no_check && frame->trailer > 0;
    return is_checked ? codec->gpu_rate : codec->gpu_rate_unchecked;
}

struct gpu_work source_gpu_work(struct source *source)
{
    const struct input_options *options = &source->options;
    const struct content_range range = content_range_of(&options->content);
    const bool decodes = /* as source_is_offloadable */
        options->record.type != RECORD_CSV && !content_is_partial(&range) &&
        !(options->lines && options->lines->field.has_header);
    struct gpu_work work = {.gpu_rate = 0};
    if (source->remaining.unopened < GPU_WORK_MIN)
        return work;
    for (size_t i = 0; i < source->count; i++) {
        const struct operand *operand = &source->operands[i];
        const double size = (double)operand->size;
        const struct codec *codec = NULL;
        struct codec_frame frame = {.content = FRAME_UNSIZED};
        if (!options->is_as_stored && operand->file.error == 0)
            (void)codec_of(&operand->file, &codec, &frame);
        if (options->codec)
            codec = options->codec;
        if (!codec || codec->gpu_rate == 0) {
            work.plain += size;
        } else if (decodes) {
            const double stated = frame.content == FRAME_UNSIZED ? 0 : (double)frame.content;
            const double rate = source_gpu_rate(source, codec, &frame);
            work.content += fmax(size * CONTENT_RATIO, fmin(stated, size * STATED_RATIO));
            work.files++;
            work.gpu_rate = work.gpu_rate > 0 ? fmin(work.gpu_rate, rate) : rate;
        }
    }
    return work;
}

void source_share(struct source *source)
{
    atomic_store(&source->remaining.is_shared, true);
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

/* --- how much is left --- */

/* Returns the bytes of a file that are to be decoded. */
static uint64_t size_of(const struct input *input)
{
    return input->bytes.opened_size - input->bytes.begin - input->plan.edges.first;
}

void remaining_assign(struct source *source, struct file *file, bool to_gpu)
{
    const int64_t size = (int64_t)size_of(&file->input);
    if (file->is_offloadable) {
        atomic_fetch_sub(&source->remaining.left[file->is_on_gpu], size);
        atomic_fetch_add(&source->remaining.left[to_gpu], size);
    }
    file->is_on_gpu = to_gpu;
}

void remaining_add_read(struct source *source, const struct file *file, int64_t in, uint64_t out)
{
    struct remaining *remaining = &source->remaining;
    atomic_fetch_add(&remaining->read, (uint64_t)in);
    if (!file->is_offloadable)
        return;
    atomic_fetch_sub(&remaining->left[file->is_on_gpu], in);
    if (out == 0)
        return;
    atomic_fetch_add(&remaining->in, (uint64_t)in);
    atomic_fetch_add(&remaining->out, out);
}

double remaining_content_ratio(struct source *source)
{
    struct remaining *remaining = &source->remaining;
    uint64_t in = atomic_load(&remaining->in), out = atomic_load(&remaining->out);
    return in > 0 ? (double)out / (double)in : CONTENT_RATIO;
}

uint64_t source_size(const struct source *source)
{
    return source->remaining.size;
}

uint64_t source_remaining(struct source *source)
{
    return atomic_load(&source->remaining.unopened) + atomic_load(&source->remaining.plain);
}

double source_fraction(struct source *source)
{
    struct remaining *remaining = &source->remaining;
    if (remaining->size == 0 || atomic_load(&remaining->is_unsized))
        return 0;
    double fraction = (double)atomic_load(&remaining->read) / (double)remaining->size;
    return fraction < 1 ? fraction : 1;
}

struct source_content source_content(struct source *source)
{
    struct remaining *remaining = &source->remaining;
    const double opened = (double)atomic_load(&remaining->opened);
    const double offloadable = (double)atomic_load(&remaining->offloadable);
    const double ratio = remaining_content_ratio(source);
    double left[2];
    if (offloadable == 0)
        return (struct source_content){.gpu_rate = 0};
    for (int i = 0; i < 2; i++) /* a file may grow */
        left[i] = fmax((double)atomic_load(&remaining->left[i]), 0) * ratio;
    return (struct source_content){.unopened = (double)atomic_load(&remaining->unopened) *
                                               offloadable / opened * ratio,
                                   .on_cores = left[false],
                                   .on_gpus = left[true],
                                   .gpu_rate = atomic_load(&remaining->gpu_rate)};
}

/* --- files --- */

void source_set_current(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    source->current = file;
    source->changes++;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

/* A file was closed, or not opened. */
static void release_file(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    if (--source->memory.files == 0 || source->memory.files_max > 0)
        pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

void source_use(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    file->users++;
    pthread_mutex_unlock(&source->lock);
}

void source_leave(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    bool last = --file->users == 0;
    pthread_mutex_unlock(&source->lock);
    if (!last)
        return;
    input_close(&file->input);
    record_joiner_close(&file->joiner);
    free(file);
    release_file(source);
}

void source_add_one_line(struct source *source, const struct file *file)
{
    struct one_line *seen = &source->one_line;
    pthread_mutex_lock(&source->lock);
    if (seen->count++ == 0 || file->at.file < seen->number) {
        seen->name = file->input.bytes.name;
        seen->number = file->at.file;
    }
    pthread_mutex_unlock(&source->lock);
}

int source_retire(struct worker *worker, struct file *file)
{
    struct source *source = worker->source;
    const struct records *records = &file->input.records;
    const bool is_cut = records->cut_len > 0 && !record_is_text(&records->kind);
    struct error error;
    if (file->input.is_one_line)
        source_add_one_line(source, file);
    int rc = is_cut ? input_cut_off(&file->input, records->cut_len, &error) : 0;
    if (rc != 0)
        source_fail_at_end(worker, file, &error);
    else
        bytes_finish(&file->input.bytes);
    source_leave(source, file);
    return rc;
}

void source_park(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    file->next = source->parked;
    source->parked = file;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

/* Makes the first file that is parked the current one if there is none; or, after a failure, if it
 * comes before that one. */
static void acquire_parked(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    struct file **first = &source->parked, *current = source->current;
    for (struct file **link = first; *link; link = &(*link)->next)
        if ((*link)->order < (*first)->order)
            first = link;
    struct file *parked = *first;
    const bool takes = parked && (!current || (source->failed && parked->order < current->order));
    if (takes)
        *first = parked->next;
    pthread_mutex_unlock(&source->lock);
    if (!takes)
        return;
    source_set_current(source, parked);
    if (current)
        source_park(source, current);
}

/* --- opening files --- */

bool source_is_offloadable(const struct input *input)
{
    return input->frames.codec && input->frames.codec->gpu_rate > 0 && !input->bytes.may_be_short &&
           !input_is_serial(input) && !content_is_partial(&input->plan.range) && !input->has_header;
}

/* Makes a file that was opened the current one, and adds it to what is left. */
static void begin_file(struct source *source, const struct operand *operand, struct file *file)
{
    struct remaining *remaining = &source->remaining;
    const struct input *input = &file->input;
    const struct codec *codec = input->frames.codec;
    const uint64_t size = size_of(input);
    file->at.file = operand->number;
    file->order = source->opened;
    file->content = input->plan.edges.content;
    file->is_offloadable = input->bytes.regular && source_is_offloadable(input);
    file->users = 1;
    source->has_decoded |= codec != NULL;
    unsupported_format_record(&source->unsupported, input->plan.unsupported, input->bytes.name,
                              operand->number);
    pthread_mutex_lock(&source->lock);
    source->opened++;
    source->current = file;
    source->changes++;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
    atomic_fetch_sub(&remaining->unopened, operand->size);
    atomic_fetch_add(&remaining->opened, size);
    if (input_parallel(input))
        atomic_fetch_add(&remaining->plain, input->plan.end - input->bytes.taken);
    if (codec && content_is_partial(&input->plan.range))
        atomic_store(&remaining->is_unsized, true);
    if (!file->is_offloadable)
        return;
    const double slowest = atomic_load(&remaining->gpu_rate);
    if (slowest == 0 || codec->gpu_rate < slowest)
        atomic_store(&remaining->gpu_rate, codec->gpu_rate);
    atomic_fetch_add(&remaining->offloadable, size);
    atomic_fetch_add(&remaining->left[false], (int64_t)size);
}

/* Opens the next operand, which decode memory allows. 1, 0 or -1, as source_find. */
static int open_operand(struct worker *worker)
{
    struct source *source = worker->source;
    struct decode_memory *memory = &source->memory;
    struct operand *operand = &source->operands[source->opened];
    struct file *file = calloc(1, sizeof *file);
    struct error error;
    error_of(&error, operand->file.name, "out of memory");
    if (file &&
        input_open(&file->input, &operand->file, &source->options, operand->shard, &error) == 0) {
        const struct shard_edges *edges = &file->input.plan.edges;
        /* What a compressed file is cut into is joined, if its records can be cut. */
        if (!file->input.frames.codec || record_is_byte(&file->input.records.kind) ||
            record_joiner_open(&file->joiner, edges->is_first || !operand->shard, edges->goes_on) ==
                0) {
            begin_file(source, operand, file);
            return 1;
        }
        input_close(&file->input);
        error_of(&error, operand->file.name, "out of memory");
    }
    bool waits = file && (file->input.bytes.error == EMFILE || file->input.bytes.error == ENFILE);
    free(file);
    pthread_mutex_lock(&source->lock);
    waits = waits && memory->files > 1; /* for one beside that which was to be opened */
    if (waits)
        memory->files_max = memory->files - 1;
    pthread_mutex_unlock(&source->lock);
    release_file(source);
    return waits ? 0 : source_fail(worker, &error);
}

int source_find(struct worker *worker)
{
    struct source *source = worker->source;
    acquire_parked(source);
    if (!source_begin_work(worker))
        return -1;
    if (source->current || source->opened == source->count)
        return 1;
    pthread_mutex_lock(&source->lock);
    const bool opens = source_may_open(source);
    source->memory.files += opens;
    pthread_mutex_unlock(&source->lock);
    return opens ? open_operand(worker) : 0;
}

void source_locate_chunk(const struct file *file, struct position *at, struct chunk *chunk)
{
    chunk->origin = (struct origin){.at = *at,
                                    .name = file->input.bytes.name,
                                    .counted_from = file->input.plan.counted_from,
                                    .columns = file->input.plan.columns,
                                    .content_first = file->input.plan.range.begin};
    at->index++;
}

size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited)
{
    return chunk->cap + (record_is_text(&input->records.kind) ? waited : 0);
}

/* --- what is told of it --- */

bool source_has_work(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool has =
        source->current || source->parked || source->in_pieces || source->opened < source->count;
    pthread_mutex_unlock(&source->lock);
    return has;
}

void source_unsupported(struct source *source, struct error *warning)
{
    unsupported_format_warn(&source->unsupported, warning);
}

void source_one_line(const struct source *source, struct error *warning)
{
    const struct one_line *seen = &source->one_line;
    char more[64] = "";
    warning->text[0] = '\0';
    if (seen->count == 0)
        return;
    if (seen->count > 1)
        snprintf(more, sizeof more, "; so %s %zu more file%s", seen->count == 2 ? "is" : "are",
                 seen->count - 1, seen->count == 2 ? "" : "s");
    error_of(warning, seen->name,
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
    struct file *file;
    while ((file = source->parked)) {
        source->parked = file->next;
        source_leave(source, file);
    }
    if (source->current)
        source_leave(source, source->current);
    for (size_t i = 0; i < source->count; i++)
        preopened_release(&source->operands[i].file);
    pthread_mutex_destroy(&source->read_lock);
    pthread_mutex_destroy(&source->lock);
    pthread_cond_destroy(&source->wake);
    free(source->operands);
    free(source);
}

/* Who may decode, and who helps: memory for decoders and descriptors are bounded, and may be short.
 */
#include "source_internal.h"

/* Takes what the reader has reserved. Under the lock. */
static void give_back(struct reader *reader)
{
    decoding_drop(&reader->decoding);
    reader->source->admission.used -= reader->reserved;
    reader->reserved = 0;
}

/* Whether the reader may reserve so much. One alone may have any amount. Under the lock. */
static bool fits(const struct reader *reader, size_t size)
{
    const struct admission *admission = &reader->source->admission;
    size_t others = admission->used - reader->reserved;
    return others == 0 || (others <= admission->limit && size <= admission->limit - others);
}

/* Whether the reader is still short of what it was short of. Under the lock. */
static bool is_short(const struct reader *reader)
{
    const struct source *source = reader->source;
    const struct admission *admission = &source->admission;
    switch (reader->shortage) {
    case SHORT_OF_MEMORY:
        return !fits(reader, reader->wanted);
    case SHORT_OF_FILES:
        return !source->parked && admission->inputs >= admission->inputs_max;
    case SHORT_OF_INPUT:
        return !source->parked && admission->busy > 0;
    default:
        return false;
    }
}

bool admission_reserve(struct reader *reader, size_t size)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    pthread_mutex_lock(&source->lock);
    bool gives_back = reader->reserved > size && !fits(reader, reader->reserved);
    bool has_enough = reader->reserved >= size && !gives_back;
    bool reserved = has_enough || fits(reader, size);
    if (gives_back || !reserved)
        give_back(reader);
    if (reserved && !has_enough) {
        admission->used += size - reader->reserved;
        reader->reserved = size;
    }
    reader->shortage = reserved ? SHORT_OF_NOTHING : SHORT_OF_MEMORY;
    reader->wanted = size;
    pthread_mutex_unlock(&source->lock);
    if (gives_back || !reserved)
        helpers_tell(&source->helpers);
    return reserved;
}

bool admission_refuse(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    pthread_mutex_lock(&source->lock);
    give_back(reader);
    if (admission->used < admission->limit)
        admission->limit = admission->used;
    bool others = admission->used > 0;
    reader->shortage = SHORT_OF_MEMORY;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
    return others;
}

void admission_release(struct reader *reader, size_t most)
{
    struct source *source = reader->source;
    if (reader->reserved <= most) /* written by this reader's thread alone */
        return;
    pthread_mutex_lock(&source->lock);
    give_back(reader);
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
}

void admission_begin(struct reader *reader)
{
    struct source *source = reader->source;
    reader->busy = true;
    pthread_mutex_lock(&source->lock);
    source->admission.busy++;
    pthread_mutex_unlock(&source->lock);
}

void admission_end(struct reader *reader)
{
    struct source *source = reader->source;
    reader->busy = false;
    pthread_mutex_lock(&source->lock);
    bool last = --source->admission.busy == 0;
    pthread_mutex_unlock(&source->lock);
    if (last)
        helpers_tell(&source->helpers);
}

bool admission_open(struct reader *reader, bool regular)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    pthread_mutex_lock(&source->lock);
    bool has_room = admission->inputs_max == 0 || admission->inputs < admission->inputs_max;
    bool comes_back = !regular && (source->parked || admission->streams > 0);
    bool opens = has_room && !comes_back;
    if (opens)
        admission->inputs++;
    else
        reader->shortage = comes_back ? SHORT_OF_INPUT : SHORT_OF_FILES;
    pthread_mutex_unlock(&source->lock);
    return opens;
}

void admission_close(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->admission.inputs--;
    bool awaited = source->admission.inputs_max > 0;
    pthread_mutex_unlock(&source->lock);
    if (awaited)
        helpers_tell(&source->helpers);
}

bool admission_refuse_file(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    pthread_mutex_lock(&source->lock);
    bool others = admission->inputs > 1; /* beside the one that was to be opened */
    if (others) {
        admission->inputs_max = admission->inputs - 1;
        reader->shortage = SHORT_OF_FILES;
    }
    pthread_mutex_unlock(&source->lock);
    admission_close(source);
    return others;
}

/* A batch is no longer busy once all its chunks were given or are in its reader's hands, so what
 * was given is looked at last. */
bool admission_remains(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    bool busy = source->parked || source->admission.busy > 0;
    reader->shortage = SHORT_OF_INPUT;
    pthread_mutex_unlock(&source->lock);
    return busy || helpers_pending(&source->helpers);
}

struct chunk *admission_help(struct reader *reader)
{
    struct source *source = reader->source;
    struct chunk *given = NULL;
    for (bool waits = true; waits && !given;) {
        uint64_t ticket = helpers_news(&source->helpers);
        pthread_mutex_lock(&source->lock);
        waits = !source->failed && is_short(reader);
        pthread_mutex_unlock(&source->lock);
        if (waits)
            admission_release(reader, 0); /* others may want it */
        given = waits ? helpers_wait(&source->helpers, &reader->helper, ticket)
                      : helpers_take(&source->helpers, &reader->helper);
    }
    reader->shortage = SHORT_OF_NOTHING;
    return given;
}

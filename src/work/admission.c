/* SPDX-License-Identifier: MIT */
/* Who may decode, and who helps: memory for decoders and descriptors are bounded, and may be short.
 */
#include "source_internal.h"

/* Takes what the reader has reserved. Memory is freed before the lock is taken. */
static void give_back(struct reader *reader)
{
    struct source *source = reader->source;
    decoding_drop(&reader->decoding);
    pthread_mutex_lock(&source->lock);
    source->admission.used -= reader->reserved;
    reader->reserved = 0;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
}

/* Notes what the reader is short of. Under the lock, in turn. */
static void set_short(struct reader *reader, enum shortage shortage)
{
    reader->shortage = shortage;
    reader->changes = reader->source->changes;
}

/* Whether the reader may reserve so much. One alone may have any amount. Under the lock. */
static bool fits(const struct reader *reader, size_t size)
{
    const struct admission *admission = &reader->source->admission;
    size_t others = admission->used - reader->reserved;
    return others == 0 || (others <= admission->limit && size <= admission->limit - others);
}

/* Whether the reader may open an input. Under the lock. */
static bool may_open(const struct reader *reader, bool is_alone)
{
    const struct admission *admission = &reader->source->admission;
    if (is_alone)
        return admission->inputs == 0;
    return admission->inputs_max == 0 || admission->inputs < admission->inputs_max;
}

/* Whether the reader is still short of what it was short of. Under the lock. */
static bool is_short(const struct reader *reader)
{
    const struct source *source = reader->source;
    const struct admission *admission = &source->admission;
    if (reader->changes != source->changes)
        return false; /* it has looked at another input */
    switch (reader->shortage) {
    case SHORT_OF_MEMORY:
        return !fits(reader, reader->wanted);
    case SHORT_OF_FILES:
        return !source->parked && !may_open(reader, reader->wants_alone);
    case SHORT_OF_INPUT:
        return !source->parked && admission->busy > 0;
    default:
        return false;
    }
}

bool admission_reserve(struct reader *reader, size_t size)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    size_t total = reader->reserved > size ? reader->reserved : size;
    bool reserved = fits(reader, total);
    if (reserved) {
        source->admission.used += total - reader->reserved;
        reader->reserved = total;
    } else {
        reader->wanted = size;
        set_short(reader, SHORT_OF_MEMORY);
    }
    pthread_mutex_unlock(&source->lock);
    if (reserved || reader->reserved == 0)
        return reserved;
    give_back(reader);
    return admission_reserve(reader, size); /* less may do than it had */
}

bool admission_refuse(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    give_back(reader);
    pthread_mutex_lock(&source->lock);
    if (admission->used < admission->limit)
        admission->limit = admission->used;
    bool others = admission->used > 0;
    set_short(reader, SHORT_OF_MEMORY);
    pthread_mutex_unlock(&source->lock);
    return others;
}

void admission_release(struct reader *reader, size_t most)
{
    if (reader->reserved > most) /* written by this reader's thread alone */
        give_back(reader);
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
    pthread_mutex_lock(&source->lock);
    bool last = --source->admission.busy == 0;
    pthread_mutex_unlock(&source->lock);
    if (last)
        helpers_tell(&source->helpers);
}

bool admission_open(struct reader *reader, bool is_alone)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    bool opens = may_open(reader, is_alone);
    if (opens)
        source->admission.inputs++;
    else
        set_short(reader, SHORT_OF_FILES);
    reader->wants_alone = is_alone;
    pthread_mutex_unlock(&source->lock);
    return opens;
}

void admission_close(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->admission.inputs--;
    bool awaited = source->admission.inputs == 0 || source->admission.inputs_max > 0;
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
        set_short(reader, SHORT_OF_FILES);
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
    set_short(reader, SHORT_OF_INPUT);
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
    return given;
}

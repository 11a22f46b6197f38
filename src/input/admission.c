/* Who may decode, and who helps: decoders take memory, which is bounded, and may be short. */
#include "source_internal.h"

/* Decoders are kept by as many readers as this allows, in bytes: for what they keep at hand, and
 * for compressed bytes. */
#define DECODERS_SIZE ((size_t)48 << 20)
#define DECODER_SIZE ((size_t)256 << 10) /* without those two */

/* Whether there is nothing to read or decode for this reader now; under the lock. */
static bool must_wait(const struct reader *reader)
{
    const struct admission *admission = &reader->source->admission;
    size_t size = (admission->decoders + 1) * admission->decoder_size;
    bool crowded = admission->decoders > 0 && size > DECODERS_SIZE;
    bool full = admission->decoders_max > 0 && admission->decoders >= admission->decoders_max;
    if (reader->stalled)
        return admission->decoders > 0 && (crowded || full);
    return admission->stalled > 0 || admission->in_order ||
           (admission->ended && admission->busy > 0) ||
           (admission->compressed && !reader->has_decoder && (crowded || full));
}

/* Under the lock. */
static void give_up_decoder(struct reader *reader)
{
    decoding_drop(&reader->decoding);
    reader->has_decoder = false;
    reader->source->admission.decoders--;
}

bool admission_enter(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    if (helpers_pending(&source->helpers))
        return false;
    pthread_mutex_lock(&source->lock);
    if (reader->has_decoder && admission->decoders > 1 &&
        admission->decoders * admission->decoder_size > DECODERS_SIZE)
        give_up_decoder(reader);
    bool admitted = !must_wait(reader);
    if (admitted && !reader->has_decoder) {
        reader->has_decoder = true;
        admission->decoders++;
    }
    pthread_mutex_unlock(&source->lock);
    if (admitted)
        helpers_leave(&source->helpers, &reader->helper);
    return admitted;
}

/* The reader, which found no memory, has given up its decoder: from now on there will be no more
 * than the others have. Whether any of them holds memory. Under the lock. */
static bool limit_decoders(struct admission *admission)
{
    admission->decoders_max = admission->decoders > 0 ? admission->decoders : 1;
    return admission->decoders > 0 || admission->stalled > 0;
}

bool admission_refuse(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    give_up_decoder(reader);
    bool others = limit_decoders(&source->admission);
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
    return others;
}

bool admission_stall(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    reader->has_decoder = false;
    source->admission.decoders--;
    bool others = limit_decoders(&source->admission);
    reader->stalled = true;
    source->admission.stalled++;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
    return others;
}

bool admission_resume(struct reader *reader)
{
    struct source *source = reader->source;
    if (!reader->stalled)
        return true;
    pthread_mutex_lock(&source->lock);
    bool resumes = source->failed || !must_wait(reader);
    if (resumes) {
        reader->stalled = false;
        reader->has_decoder = true;
        source->admission.stalled--;
        source->admission.decoders++;
    }
    pthread_mutex_unlock(&source->lock);
    if (resumes)
        helpers_leave(&source->helpers, &reader->helper);
    return resumes;
}

void admission_begin(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    const struct units *units = &reader->decoding.units;
    bool in_order = reader->decoding.in_order;
    size_t size = DECODER_SIZE + units->cap + (size_t)(in_order ? 0 : units->memory);
    reader->busy = true;
    pthread_mutex_lock(&source->lock);
    admission->busy++;
    admission->in_order = in_order;
    if (size > admission->decoder_size)
        admission->decoder_size = size;
    pthread_mutex_unlock(&source->lock);
}

void admission_end(struct reader *reader)
{
    struct source *source = reader->source;
    struct admission *admission = &source->admission;
    bool in_order = reader->decoding.in_order;
    reader->busy = false;
    pthread_mutex_lock(&source->lock);
    admission->busy--;
    if (in_order)
        admission->in_order = false;
    bool news = in_order || admission->ended;
    pthread_mutex_unlock(&source->lock);
    if (news)
        helpers_tell(&source->helpers);
}

void admission_set_input(struct source *source, bool compressed)
{
    pthread_mutex_lock(&source->lock);
    source->admission.compressed = compressed;
    pthread_mutex_unlock(&source->lock);
    if (!compressed)
        helpers_tell(&source->helpers);
}

/* A batch is no longer busy once all its chunks were given or are in its reader's hands, so what
 * was given is looked at last. */
bool admission_remains(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->admission.ended = true;
    bool busy = source->admission.busy > 0;
    pthread_mutex_unlock(&source->lock);
    return busy || helpers_pending(&source->helpers);
}

/* A reader that waits keeps no decoder whose memory another one waits for. Under the lock. */
static bool yield_decoder(struct reader *reader)
{
    bool yields = reader->source->admission.stalled > 0 && reader->has_decoder && !reader->busy;
    if (yields)
        give_up_decoder(reader);
    return yields;
}

struct chunk *admission_help(struct reader *reader)
{
    struct source *source = reader->source;
    struct chunk *given = NULL;
    for (bool waits = true; waits && !given;) {
        uint64_t ticket = helpers_news(&source->helpers);
        pthread_mutex_lock(&source->lock);
        bool yielded = yield_decoder(reader);
        waits = !source->failed && must_wait(reader);
        pthread_mutex_unlock(&source->lock);
        if (yielded)
            helpers_tell(&source->helpers);
        given = waits ? helpers_wait(&source->helpers, &reader->helper, ticket)
                      : helpers_take(&source->helpers, &reader->helper);
    }
    return given;
}

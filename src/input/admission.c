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
    if (admission->stalled && reader->has_decoder)
        return false;
    return admission->in_order || (admission->ended && admission->busy > 0) ||
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
    bool admitted = !must_wait(reader) && !admission->stalled;
    if (admitted && !reader->has_decoder) {
        reader->has_decoder = true;
        admission->decoders++;
    }
    pthread_mutex_unlock(&source->lock);
    if (admitted)
        helpers_leave(&source->helpers, &reader->helper);
    return admitted;
}

/* Whether another reader keeps a decoder; from now on there will be one less. Under the lock. */
static bool limit_decoders(struct admission *admission)
{
    if (admission->decoders < 2)
        return false;
    admission->decoders_max = admission->decoders - 1;
    return true;
}

bool admission_refuse(struct reader *reader)
{
    pthread_mutex_lock(&reader->source->lock);
    bool others = limit_decoders(&reader->source->admission);
    if (others)
        give_up_decoder(reader);
    pthread_mutex_unlock(&reader->source->lock);
    return others;
}

bool admission_stall(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    bool others = limit_decoders(&reader->source->admission);
    if (others) {
        reader->busy = reader->has_decoder = false;
        reader->next_stalled = source->admission.stalled;
        source->admission.stalled = reader;
        source->admission.decoders--;
    }
    pthread_mutex_unlock(&source->lock);
    if (others)
        helpers_tell(&source->helpers);
    return others;
}

bool admission_take_over(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    struct reader *from = reader->has_decoder ? source->admission.stalled : NULL;
    if (from) {
        source->admission.stalled = from->next_stalled;
        decoding_drop(&reader->decoding);
        reader->decoding = from->decoding;
        from->decoding = (struct decoding){.decoder = NULL};
        reader->busy = true;
    }
    pthread_mutex_unlock(&source->lock);
    if (from)
        helpers_leave(&source->helpers, &reader->helper);
    return from != NULL;
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

struct chunk *admission_help(struct reader *reader)
{
    struct source *source = reader->source;
    struct chunk *given = NULL;
    for (bool waits = true; waits && !given;) {
        uint64_t ticket = helpers_news(&source->helpers);
        pthread_mutex_lock(&source->lock);
        waits = !source->failed && must_wait(reader);
        pthread_mutex_unlock(&source->lock);
        given = waits ? helpers_wait(&source->helpers, &reader->helper, ticket)
                      : helpers_take(&source->helpers, &reader->helper);
    }
    return given;
}

void admission_leave(struct reader *reader)
{
    struct source *source = reader->source;
    helpers_leave(&source->helpers, &reader->helper);
    pthread_mutex_lock(&source->lock);
    struct reader **link = &source->admission.stalled;
    while (*link && *link != reader)
        link = &(*link)->next_stalled;
    if (*link)
        *link = reader->next_stalled;
    pthread_mutex_unlock(&source->lock);
}

#include "file_tallies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS 64        /* each guards every LOCKS-th FILE, so that threads hardly ever meet */
#define INTEGER_MAX 10  /* bytes of an integer of 64 bits */
#define PACKED_FIRST 64 /* bytes of memory for packed counts, at first */

struct file_tally {
    uint64_t samples;
    struct moments *moments; /* NULL: none were moved */
    unsigned char *packed;   /* counts that are not 0, in the order of rows; NULL: all are 0 */
    size_t len;              /* bytes */
};

struct file_tallies {
    atomic_bool lost;
    pthread_mutex_t locks[LOCKS];
    size_t count;
    struct file_tally of[];
};

struct file_tallies *file_tallies_open(size_t files)
{
    struct file_tallies *all = calloc(1, sizeof *all + files * sizeof all->of[0]);
    if (!all)
        return NULL;
    all->count = files;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_init(&all->locks[i], NULL);
    return all;
}

void file_tallies_close(struct file_tallies *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++) {
        free(files->of[i].packed);
        free(files->of[i].moments);
    }
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&files->locks[i]);
    free(files);
}

/* --- packed counts --- */

/* Memory that packed counts are written to. */
struct packing {
    unsigned char *bytes; /* NULL: there is none yet, or memory is short */
    size_t len, room;
    bool failed;
};

static void put_integer(struct packing *packing, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        packing->bytes[packing->len++] = (unsigned char)(0x80 | (value & 0x7f));
    packing->bytes[packing->len++] = (unsigned char)value;
}

static uint64_t get_integer(const unsigned char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* Makes room for a row. Whether there is. */
static bool make_room(struct packing *packing)
{
    if (packing->room - packing->len >= 2 * INTEGER_MAX)
        return true;
    size_t room = packing->room ? 2 * packing->room : PACKED_FIRST;
    unsigned char *bytes = realloc(packing->bytes, room);
    if (!bytes) {
        packing->failed = true;
        return false;
    }
    packing->bytes = bytes;
    packing->room = room;
    return true;
}

/* Packs counts, and leaves them all zeros. */
static struct packing pack_counts(struct tally *tally)
{
    struct packing packing = {NULL, 0, 0, false};
    size_t after = 0; /* the last row that was packed */
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++) {
        if (make_room(&packing)) {
            put_integer(&packing, row - after);
            put_integer(&packing, tally->counts[row]);
        }
        after = row + 1;
        tally->counts[row] = 0;
    }
    unsigned char *fitting = packing.len ? realloc(packing.bytes, packing.len) : NULL;
    packing.bytes = fitting ? fitting : packing.bytes;
    return packing;
}

/* Adds packed counts. Returns the row after the last one, 0 if there is none; and the first one. */
static size_t add_packed(const struct file_tally *file, uint64_t *counts, size_t *first)
{
    const unsigned char *at = file->packed, *end = at + file->len;
    size_t row = 0;
    for (*first = SIZE_MAX; at && at < end; row++) {
        row += (size_t)get_integer(&at);
        counts[row] += get_integer(&at);
        *first = *first < row ? *first : row;
    }
    return row;
}

/* --- tallies --- */

/* Moves moments, and leaves zeros. Whether there was memory. */
static bool move_moments(struct file_tally *own, struct moments *moments)
{
    if (!moments || !moments->any)
        return true;
    if (!own->moments)
        own->moments = calloc(1, sizeof *own->moments);
    if (own->moments)
        moments_merge(own->moments, moments);
    memset(moments, 0, sizeof *moments);
    return own->moments != NULL;
}

void file_tallies_move(struct file_tallies *files, size_t file, struct tally *tally)
{
    struct file_tally *own = &files->of[file];
    pthread_mutex_t *lock = &files->locks[file % LOCKS];
    size_t first;
    pthread_mutex_lock(lock);
    own->samples += tally->samples;
    add_packed(own, tally->counts, &first);
    free(own->packed);
    struct packing packing = pack_counts(tally);
    own->packed = packing.bytes;
    own->len = packing.len;
    bool has_moments = move_moments(own, tally->moments);
    pthread_mutex_unlock(lock);
    tally->samples = 0;
    if (packing.failed || !has_moments)
        file_tallies_lose(files);
}

void file_tallies_load(const struct file_tallies *files, size_t file, struct tally *tally)
{
    const struct file_tally *own = &files->of[file];
    if (tally->end > 0)
        memset(tally->counts + tally->begin, 0,
               (tally->end - tally->begin) * sizeof tally->counts[0]);
    tally->samples = own->samples;
    if (tally->moments)
        *tally->moments = own->moments ? *own->moments : (struct moments){0};
    tally->end = add_packed(own, tally->counts, &tally->begin);
    if (tally->end == 0) { /* an end of 0 would mean any row; row 0, which is 0, stands for none */
        tally->begin = 0;
        tally->end = 1;
    }
}

void file_tallies_lose(struct file_tallies *files)
{
    atomic_store(&files->lost, true);
}

bool file_tallies_complete(const struct file_tallies *files)
{
    return !atomic_load(&files->lost);
}

size_t file_tallies_count(const struct file_tallies *files)
{
    return files->count;
}

/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "src/base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_SIZE ((size_t)1 << 20)    /* the most an ordinary user may ask for */
#define AHEAD_SIZE ((size_t)128 << 10) /* bytes read at once to look ahead in a stream */

/* Of the window. What is dropped goes back to the system, but for a few pieces: memory that was not
 * touched yet is slow. */
#define PIECE_SIZE ((size_t)256 << 10) /* bytes */
#define SPARES_MAX 4

/* --- the window of a stream --- */

struct window_piece {
    struct window_piece *next;
    uint64_t begin, end; /* of the stream: begin is that of data[0] */
    unsigned char data[PIECE_SIZE];
};

static struct window_piece *append_piece(struct replay_window *kept)
{
    struct window_piece *piece = kept->spare ? kept->spare : malloc(sizeof *piece);
    if (!piece)
        return NULL;
    if (piece == kept->spare) {
        kept->spare = piece->next;
        kept->spares--;
    }
    piece->next = NULL;
    piece->begin = piece->end = kept->end;
    if (kept->last)
        kept->last->next = piece;
    else
        kept->first = piece;
    kept->last = piece;
    return piece;
}

int window_add(struct replay_window *kept, const unsigned char *data, size_t len)
{
    while (len > 0) {
        struct window_piece *piece = kept->last;
        if ((!piece || piece->end - piece->begin == PIECE_SIZE) && !(piece = append_piece(kept)))
            return -1;
        size_t used = (size_t)(piece->end - piece->begin), space = PIECE_SIZE - used;
        size_t part = len < space ? len : space;
        memcpy(piece->data + used, data, part);
        piece->end = kept->end += part;
        data += part;
        len -= part;
    }
    return 0;
}

size_t window_copy(const struct replay_window *kept, uint64_t at, unsigned char *out, size_t cap)
{
    size_t done = 0;
    for (const struct window_piece *piece = kept->first; piece && done < cap; piece = piece->next) {
        if (piece->end <= at)
            continue;
        size_t left = (size_t)(piece->end - at), part = left < cap - done ? left : cap - done;
        memcpy(out + done, piece->data + (at - piece->begin), part);
        done += part;
        at += part;
    }
    return done;
}

void window_drop(struct replay_window *kept, uint64_t at)
{
    if (at > kept->begin)
        kept->begin = at < kept->end ? at : kept->end;
    while (kept->first && kept->first->end <= kept->begin) {
        struct window_piece *dropped = kept->first;
        kept->first = dropped->next;
        if (kept->spares == SPARES_MAX) {
            free(dropped);
            continue;
        }
        dropped->next = kept->spare;
        kept->spare = dropped;
        kept->spares++;
    }
    if (!kept->first)
        kept->last = NULL;
}

int window_prepend(struct replay_window *kept, const unsigned char *data, size_t len)
{
    struct replay_window before = {0};
    if (len == 0)
        return 0;
    before.begin = before.end = kept->begin - len;
    if (window_add(&before, data, len) != 0) {
        window_restart(&before, 0);
        return -1;
    }
    /* The next piece may have bytes before begin, which were dropped. */
    before.last->next = kept->first;
    kept->first = before.first;
    kept->last = kept->last ? kept->last : before.last;
    kept->begin = before.begin;
    return 0;
}

void window_restart(struct replay_window *kept, uint64_t at)
{
    window_drop(kept, UINT64_MAX);
    for (struct window_piece *next; kept->spare; kept->spare = next) {
        next = kept->spare->next;
        free(kept->spare);
    }
    kept->spares = 0;
    kept->begin = kept->end = at;
}

/* --- opening --- */

static int read_failed(const struct bytes *bytes, uint64_t offset, struct error *error)
{
    return error_of(error, bytes->name, "%s, at byte %llu", strerror(errno),
                    (unsigned long long)offset);
}

/* Finds what kind of file it is, and what follows from that. 0 or -1. */
static int inspect_file(struct bytes *bytes, struct error *error)
{
    struct stat status;
    if (fstat(bytes->fd, &status) != 0)
        return read_failed(bytes, 0, error);
    if (S_ISDIR(status.st_mode))
        return error_of(error, bytes->name, "%s", strerror(EISDIR));
    if (S_ISFIFO(status.st_mode)) {
        int size = fcntl(bytes->fd, F_GETPIPE_SZ);
        if (size >= 0 && (size_t)size < PIPE_SIZE)
            fcntl(bytes->fd, F_SETPIPE_SZ, (int)PIPE_SIZE); /* only faster: may fail */
    }
    off_t base = S_ISREG(status.st_mode) ? lseek(bytes->fd, 0, SEEK_CUR) : -1;
    bytes->regular = base >= 0;
    bytes->base = bytes->regular ? base : 0;
    if (bytes->regular && status.st_size > base)
        bytes->opened_size = (uint64_t)(status.st_size - base);
    bytes->may_be_short = bytes->regular && status.st_blocks == 0;
    return 0;
}

int bytes_open(struct bytes *bytes, struct preopened *file, struct error *error)
{
    const bool standard = strcmp(file->name, "-") == 0;
    *bytes = (struct bytes){.name = standard ? "standard input" : file->name, .limit = UINT64_MAX};
    bytes->fd = standard ? STDIN_FILENO : preopened_open(file);
    if (bytes->fd < 0) {
        bytes->error = errno;
        return error_of(error, bytes->name, "%s", strerror(bytes->error));
    }
    int rc = window_add(&bytes->window, file->head, file->head_len);
    free(file->head);
    file->head = NULL;
    file->head_len = 0;
    rc = rc != 0 ? error_of(error, bytes->name, "out of memory") : inspect_file(bytes, error);
    if (rc != 0)
        bytes_close(bytes);
    return rc;
}

void bytes_close(struct bytes *bytes)
{
    window_restart(&bytes->window, 0);
    if (bytes->fd > STDIN_FILENO)
        close(bytes->fd);
    bytes->fd = -1;
}

int bytes_give_back(struct bytes *bytes, struct preopened *file)
{
    const size_t len = (size_t)(bytes->window.end - bytes->window.begin);
    unsigned char *head = len > 0 ? malloc(len) : NULL;
    if (len > 0 && !head)
        return -1;
    file->head = head;
    file->head_len = window_copy(&bytes->window, bytes->window.begin, head, len);
    if (bytes->fd != STDIN_FILENO) {
        file->fd = bytes->fd;
        file->is_open = true;
        bytes->fd = -1;
    }
    return 0;
}

/* --- reading --- */

/* read or pread, waiting for a non-blocking descriptor and through signals. */
static ssize_t read_patiently(const struct bytes *bytes, void *buf, size_t len, uint64_t offset)
{
    const uint64_t at = (uint64_t)bytes->base + offset;
    if (bytes->regular && at >= BYTES_MAX)
        return 0;
    if (bytes->regular && len > BYTES_MAX - at)
        len = (size_t)(BYTES_MAX - at);
    for (;;) {
        ssize_t got =
            bytes->regular ? pread(bytes->fd, buf, len, (off_t)at) : read(bytes->fd, buf, len);
        if (got >= 0)
            return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = bytes->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return -1;
    }
}

/* Judges a file that has ended at byte `at`, before the size that it had when it was opened: it was
 * truncated, as logrotate's copytruncate does. Only one that has no blocks, and still claims the
 * same size, may never have had so many bytes. 0 or -1. */
static int check_short(const struct bytes *bytes, uint64_t at, struct error *error)
{
    struct stat status;
    if (!bytes->regular || at >= bytes->opened_size)
        return 0;
    if (fstat(bytes->fd, &status) != 0)
        return read_failed(bytes, bytes->opened_size, error);
    const uint64_t size =
        status.st_size > bytes->base ? (uint64_t)(status.st_size - bytes->base) : 0;
    if (bytes->may_be_short && size >= bytes->opened_size)
        return 0;
    return error_of(error, bytes->name, "was truncated while it was read");
}

ssize_t bytes_read_at(const struct bytes *bytes, void *buf, size_t len, uint64_t offset,
                      struct error *error)
{
    size_t done = 0;
    while (done < len) {
        ssize_t got = read_patiently(bytes, (char *)buf + done, len - done, offset + done);
        if (got < 0)
            return read_failed(bytes, offset + done, error);
        if (got == 0 && check_short(bytes, offset + done, error) != 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* True if the window has something to be handed out. */
static bool has_ahead(const struct bytes *bytes)
{
    const struct replay_window *window = &bytes->window;
    return window->begin < window->end && bytes->taken < window->end;
}

/* Reads the next bytes of the descriptor. The bytes, 0 at the end, or -1 with the error set. */
static ssize_t read_next(struct bytes *bytes, void *buf, size_t cap, struct error *error)
{
    const uint64_t at = bytes->regular ? bytes->taken : bytes->window.end;
    ssize_t got = read_patiently(bytes, buf, cap, at);
    if (got < 0)
        return read_failed(bytes, at, error);
    if (got == 0 && check_short(bytes, at, error) != 0)
        return -1;
    bytes->ended = got == 0;
    return got;
}

/* Reads on in a stream, into its window. A whole buffer is asked for, so that the reads that follow
 * begin at a page of the pipe again; but beyond the limit, where the stream is left, single bytes.
 * 0 or -1. */
static int read_ahead(struct bytes *bytes, struct error *error)
{
    const uint64_t end = bytes->window.end, left = end < bytes->limit ? bytes->limit - end : 1;
    const size_t cap = left < AHEAD_SIZE ? (size_t)left : AHEAD_SIZE;
    unsigned char *buf = malloc(cap);
    if (!buf)
        return error_of(error, bytes->name, "out of memory");
    ssize_t got = read_next(bytes, buf, cap, error);
    if (got > 0 && window_add(&bytes->window, buf, (size_t)got) != 0) {
        window_restart(&bytes->window, end + (uint64_t)got);
        got = error_of(error, bytes->name, "out of memory");
    }
    free(buf);
    return got < 0 ? -1 : 0;
}

ssize_t bytes_peek(struct bytes *bytes, void *buf, size_t cap, uint64_t offset, struct error *error)
{
    struct replay_window *kept = &bytes->window;
    if (bytes->regular)
        return bytes_read_at(bytes, buf, cap, offset, error);
    while (kept->end <= offset && !bytes->ended)
        if (read_ahead(bytes, error) != 0)
            return -1;
    return (ssize_t)window_copy(kept, offset, buf, cap);
}

ssize_t bytes_read(struct bytes *bytes, void *buf, size_t cap, struct error *error)
{
    const uint64_t left = bytes->taken < bytes->limit ? bytes->limit - bytes->taken : 0;
    const size_t len = left < cap ? (size_t)left : cap;
    if (len == 0) {
        window_restart(&bytes->window, bytes->window.end);
        bytes->ended = true;
    }
    if (has_ahead(bytes)) {
        const size_t some = window_copy(&bytes->window, bytes->taken, buf, len);
        bytes->taken += some;
        if (!bytes->keeps)
            window_drop(&bytes->window, bytes->taken);
        return (ssize_t)some;
    }
    ssize_t got = bytes->ended ? 0 : read_next(bytes, buf, len, error);
    if (got <= 0)
        return got;
    bytes->taken += (uint64_t)got;
    if (!bytes->keeps)
        window_restart(&bytes->window, bytes->taken);
    else if (window_add(&bytes->window, buf, (size_t)got) != 0) {
        window_restart(&bytes->window, bytes->taken);
        bytes->has_lost = true;
        if (bytes->needs_kept)
            return error_of(error, bytes->name, "out of memory");
    }
    return got;
}

int bytes_keep(struct bytes *bytes, const unsigned char *data, size_t len, bool is_needed)
{
    window_drop(&bytes->window, bytes->taken);
    if (window_prepend(&bytes->window, data, len) != 0)
        return -1;
    bytes->keeps = true;
    bytes->needs_kept = is_needed;
    bytes->has_lost = false;
    return 0;
}

void bytes_keep_no_more(struct bytes *bytes)
{
    bytes->keeps = false;
    window_drop(&bytes->window, bytes->taken);
}

int bytes_rewind(struct bytes *bytes, uint64_t offset)
{
    if (offset < bytes->window.begin)
        return -1;
    bytes->taken = offset;
    bytes_keep_no_more(bytes);
    return 0;
}

bool bytes_are_over(const struct bytes *bytes)
{
    return bytes->ended && !has_ahead(bytes);
}

bool bytes_ready(const struct bytes *bytes, int milliseconds)
{
    struct pollfd poller = {.fd = bytes->fd, .events = POLLIN};
    return bytes->regular || bytes->ended || has_ahead(bytes) ||
           poll(&poller, 1, milliseconds) != 0;
}

/* --- where it begins and ends --- */

int bytes_select(struct bytes *bytes, uint64_t begin, uint64_t end, struct error *error)
{
    bytes->begin = bytes->taken = begin;
    bytes->limit = end;
    bytes->ended |= begin == end;
    if (bytes->opened_size > end)
        bytes->opened_size = end;
    if (bytes->opened_size < begin)
        bytes->opened_size = begin;
    window_drop(&bytes->window, begin);
    while (!bytes->regular && !bytes->ended && bytes->window.end < begin) {
        if (read_ahead(bytes, error) != 0)
            return -1;
        window_drop(&bytes->window, begin);
    }
    return 0;
}

void bytes_finish(const struct bytes *bytes)
{
    struct stat status;
    if (!bytes->regular || bytes->fd != STDIN_FILENO || fstat(bytes->fd, &status) != 0)
        return;
    const uint64_t base = (uint64_t)bytes->base, size = (uint64_t)status.st_size;
    uint64_t at = base + bytes->taken;
    if (bytes->begin > 0 && at > size) /* the range begins after the end */
        at = size > base ? size : base;
    (void)lseek(bytes->fd, (off_t)at, SEEK_SET);
}

/* --- long parts of a file, read by several threads --- */

#define PARALLEL_PIECE ((size_t)512 << 10) /* bytes that a thread reads at a time */
#define PARALLEL_MIN (4 * PARALLEL_PIECE)  /* shorter parts are not worth waking others for */
#define PARALLEL_THREADS 7 /* beside the caller: eight fill more than the link to a GPU */
#define PARALLEL_STACK ((size_t)128 << 10) /* of a thread: it only reads */

struct parallel_read {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t begun, ended;
    pthread_t thread[PARALLEL_THREADS];
    unsigned threads;
    bool is_closing;

    /* The part that is read. */
    const struct bytes *bytes;
    unsigned char *buf;
    uint64_t offset;
    size_t len;
    size_t given;     /* bytes, from its beginning, that threads have taken to read */
    unsigned reading; /* threads, the caller too */
    bool is_short;    /* some could not be read, or are not there */
};

struct parallel_read *parallel_read_open(void)
{
    struct parallel_read *wide = calloc(1, sizeof *wide);
    if (!wide)
        return NULL;
    pthread_mutex_init(&wide->lock, NULL);
    pthread_cond_init(&wide->begun, NULL);
    pthread_cond_init(&wide->ended, NULL);
    return wide;
}

/* Reads pieces until all are taken, or one ended early. Under the lock, which is let go while a
 * piece is read. */
static void read_pieces(struct parallel_read *wide)
{
    wide->reading++;
    while (wide->given < wide->len && !wide->is_short) {
        const size_t begin = wide->given, left = wide->len - begin;
        const size_t len = left < PARALLEL_PIECE ? left : PARALLEL_PIECE;
        struct error unused;
        wide->given += len;
        pthread_mutex_unlock(&wide->lock);
        ssize_t got =
            bytes_read_at(wide->bytes, wide->buf + begin, len, wide->offset + begin, &unused);
        pthread_mutex_lock(&wide->lock);
        wide->is_short |= got != (ssize_t)len;
    }
    if (--wide->reading == 0)
        pthread_cond_signal(&wide->ended);
}

static void *read_thread(void *arg)
{
    struct parallel_read *wide = arg;
    pthread_mutex_lock(&wide->lock);
    while (!wide->is_closing) {
        read_pieces(wide);
        pthread_cond_wait(&wide->begun, &wide->lock);
    }
    pthread_mutex_unlock(&wide->lock);
    return NULL;
}

/* Starts as many threads beside the caller as there should be, and can be. */
static void start_threads(struct parallel_read *wide)
{
    const unsigned processors = system_limits_processors(sched_getaffinity);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, PARALLEL_STACK); /* refused only if too small to run */
    while (wide->threads < PARALLEL_THREADS && wide->threads + 1 < processors &&
           pthread_create(&wide->thread[wide->threads], &attributes, read_thread, wide) == 0)
        wide->threads++;
    pthread_attr_destroy(&attributes);
}

ssize_t parallel_read(struct parallel_read *wide, const struct bytes *bytes, void *buf, size_t len,
                      uint64_t offset, struct error *error)
{
    if (!wide || len < PARALLEL_MIN)
        return bytes_read_at(bytes, buf, len, offset, error);
    if (wide->threads == 0)
        start_threads(wide);
    pthread_mutex_lock(&wide->lock);
    wide->bytes = bytes;
    wide->buf = buf;
    wide->offset = offset;
    wide->len = len;
    wide->given = 0;
    wide->is_short = false;
    pthread_cond_broadcast(&wide->begun);
    read_pieces(wide);
    while (wide->reading > 0)
        pthread_cond_wait(&wide->ended, &wide->lock);
    const bool is_short = wide->is_short;
    wide->given = wide->len = 0;
    pthread_mutex_unlock(&wide->lock);
    /* Reading it in order tells where it ends, or why. */
    return is_short ? bytes_read_at(bytes, buf, len, offset, error) : (ssize_t)len;
}

void parallel_read_close(struct parallel_read *wide)
{
    if (!wide)
        return;
    pthread_mutex_lock(&wide->lock);
    wide->is_closing = true;
    pthread_cond_broadcast(&wide->begun);
    pthread_mutex_unlock(&wide->lock);
    for (unsigned i = 0; i < wide->threads; i++)
        pthread_join(wide->thread[i], NULL);
    pthread_cond_destroy(&wide->ended);
    pthread_cond_destroy(&wide->begun);
    pthread_mutex_destroy(&wide->lock);
    free(wide);
}

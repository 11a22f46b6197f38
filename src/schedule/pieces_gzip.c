/* SPDX-License-Identifier: MIT */
/* The pieces of a gzip file: all its members from one of them on. A match reaches back 32 KiB, so
 * all that a piece needs of those before it is the last 32 KiB of content: its window. While that
 * is not known, a piece can be executed all the same, on symbols: a symbol is a byte, or says which
 * byte of the window it is. The last 32 KiB of these are a map from the window before the piece to
 * that after it. In file order only maps are applied, and the ends of pieces are compared with the
 * beginnings that were found. Then every worker executes its pieces once more, on bytes. */
#include "pieces.h"
#include "src/parallel/gzip_pieces.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW ((size_t)DEFLATE_WINDOW)

/* Content that is executed, verified and counted at a time: a cache has it. */
#define STRIDE ((size_t)256 << 10)

/* Symbols below are bytes; this one and those after it, the bytes of the window. */
#define SYMBOL_WINDOW 256

/* A window behind all bytes, so that symbols can be looked up. */
struct symbol_table {
    unsigned char bytes[SYMBOL_WINDOW + DEFLATE_WINDOW];
};

/* Content of a member, perhaps up to its end. */
struct check {
    uint32_t crc;
    uint64_t len;
    bool is_end;                 /* the member ends with it; if so: */
    uint64_t trailer;            /* that the member states */
    struct piece_restart member; /* where it begins */
};

/* Slots of the ring, beside two for each worker. */
#define SLOTS_MORE 2

/* With fewer slots, workers would wait for each other. */
#define SLOTS_MIN 3

/* With more gaps in a piece, and members that are chained one by one, ISA-L is faster. */
#define CHECKS_MAX (GZIP_ENDS_MAX + 32)

struct gzip_piece {
    struct piece piece; /* first */
    struct gzip_run run;
    bool is_read; /* its bytes are there */
    struct check checks[CHECKS_MAX];
    unsigned checks_len, own;  /* the first of the own content; one more for each end in it */
    struct symbol_table table; /* the window before the own content */
    uint16_t map[DEFLATE_WINDOW];
};

struct gzip_pieces {
    struct pieces pieces; /* first */
    struct gzip_piece *of_slots;
    const struct block_loops *loops;
    uint64_t begin;            /* byte of the file with which the first piece begins */
    uint64_t again;            /* compressed bytes after which ISA-L cannot begin a member anew */
    struct gzip_cutter cutter; /* `piece` under the lock */
    uint32_t crc;              /* of the member, as far as it is verified */
    uint64_t len;
    /* Of the worker that chains. */
    struct gzip_chain chain;
    struct symbol_table table;   /* the window */
    struct piece_restart member; /* the chain is in it, or before it */
    bool waits; /* what the chain has parsed is to be counted, once all before it was */
};

/* Memory of a worker. */
struct buffers {
    uint16_t symbols[DEFLATE_WINDOW + STRIDE + EXECUTE_SLACK];
    unsigned char bytes[DEFLATE_WINDOW + DEFLATE_RUN_CONTENT_MAX + EXECUTE_SLACK];
    /* Of a run that is executed to `bytes`. */
    struct run_cursor cursor;
    unsigned char *begin, *end;   /* content that is to be counted */
    struct gzip_piece *uncounted; /* the piece, if it was executed while it was chained */
};

/* --- opening and closing --- */

static void close_pieces(struct pieces *pieces)
{
    struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    for (unsigned i = 0; i < pieces->count; i++)
        gzip_run_close(&all->of_slots[i].run);
    free(all->of_slots);
    for (unsigned i = 0; i < pieces->scratch_count; i++)
        free(pieces->scratch[i]);
    gzip_chain_close(&all->chain);
    free(pieces->scratch);
    free(pieces->slots);
    free(pieces);
}

/* Opens the buffers of another worker. False: out of memory. */
static bool open_buffers(struct pieces *pieces)
{
    struct buffers *buffers = malloc(sizeof *buffers);
    if (!buffers)
        return false;
    buffers->uncounted = NULL;
    pieces->scratch[pieces->scratch_count++] = buffers;
    return true;
}

static struct pieces *open_pieces(struct worker *worker, struct file *file, unsigned workers)
{
    struct source *source = worker->source;
    const struct frame_batch *pending = &file->input.frames.pending;
    const size_t asked = source->options.piece_size;
    const unsigned max = 2 * workers + SLOTS_MORE;
    const size_t slot = sizeof(struct gzip_piece) + gzip_run_memory();
    if (pending->len < GZIP_MAGIC_SIZE || memcmp(pending->data, gzip_magic, GZIP_MAGIC_SIZE) != 0)
        return NULL; /* ISA-L says what is wrong */
    struct gzip_pieces *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    struct pieces *pieces = &all->pieces;
    *pieces = (struct pieces){.slots = calloc(max, sizeof *pieces->slots),
                              .scratch = calloc(workers, sizeof *pieces->scratch),
                              .ahead = pending->data,
                              .ahead_len = pending->len};
    all->of_slots = calloc(max, sizeof *all->of_slots); /* large: not touched here */
    all->loops = block_loops_find(source->options.decoding.instructions);
    all->begin = pending->offset;
    all->member = (struct piece_restart){pending->offset, file->content, false};
    all->cutter.piece = asked > 0 && asked < GZIP_PIECE ? asked : GZIP_PIECE;
    for (unsigned i = 0; i < SYMBOL_WINDOW; i++)
        all->table.bytes[i] = (unsigned char)i;
    bool opens = gzip_chain_open(&all->chain, all->loops) == 0 && pieces->slots &&
                 pieces->scratch && all->of_slots;
    while (opens && pieces->scratch_count < workers)
        opens = open_buffers(pieces);
    while (opens && pieces->count < max && decode_memory_reserve_shared(source, slot, workers)) {
        struct gzip_piece *piece = &all->of_slots[pieces->count];
        pieces->memory += slot;
        opens = gzip_run_open(&piece->run, all->loops) == 0;
        if (opens)
            pieces->slots[pieces->count++] = &piece->piece;
    }
    const uint64_t ahead = pieces->count * (uint64_t)GZIP_PIECE + GZIP_RUN_MAX;
    all->again = UINT64_MAX;
    if (!file->input.bytes.regular)
        all->again = ahead < PIECES_KEPT_MAX ? PIECES_KEPT_MAX - ahead : 0;
    if (pieces->count >= SLOTS_MIN)
        return pieces;
    decode_memory_release_shared(source, pieces->memory);
    close_pieces(pieces);
    return NULL;
}

/* --- preparing --- */

/* Fills a run with the next bytes of a stream. True if another one follows. */
static bool fill(struct gzip_pieces *all, struct gzip_run *run)
{
    while (run->len < run->len_max) {
        unsigned char *to = run->in + run->len;
        const size_t space = run->len_max - run->len;
        ssize_t got = pieces_read(&all->pieces, to, space, false);
        if (got == PIECES_DRY && gzip_cutter_cut(&all->cutter, run))
            return true;
        if (got == PIECES_DRY)
            got = pieces_read(&all->pieces, to, space, true);
        if (got <= 0)
            break;
        run->len += (size_t)got;
    }
    return gzip_cutter_end(&all->cutter, run);
}

static bool cut(struct pieces *pieces, struct piece *own)
{
    struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    struct gzip_piece *piece = (struct gzip_piece *)own;
    struct gzip_run *run = &piece->run;
    bool goes_on = true;
    piece->is_read = pieces_are_of_stream(pieces);
    pthread_mutex_lock(&pieces->lock); /* chain changes the size of pieces */
    if (piece->is_read)
        gzip_cutter_begin(&all->cutter, run);
    else
        goes_on = gzip_cutter_claim(&all->cutter, run, pieces->end - all->begin);
    pthread_mutex_unlock(&pieces->lock);
    if (piece->is_read)
        goes_on = fill(all, run);
    own->offset = all->begin + run->at;
    own->compressed = (size_t)(all->cutter.at - run->at);
    return goes_on;
}

static void prepare(struct worker *worker, struct pieces *pieces, struct piece *own)
{
    struct gzip_piece *piece = (struct gzip_piece *)own;
    struct error unused; /* ISA-L meets it again */
    (void)worker;
    piece->checks_len = 0;
    piece->own = CHECKS_MAX; /* none */
    piece->is_read =
        piece->is_read || bytes_read_at(&pieces->file->input.bytes, piece->run.in, piece->run.len,
                                        own->offset, &unused) == (ssize_t)piece->run.len;
    if (piece->is_read)
        gzip_run_parse(&piece->run);
}

static struct run_cursor cursor_of(const struct parsed_run *parsed)
{
    return (struct run_cursor){.next = parsed->operations,
                               .end = parsed->operations + parsed->operations_len,
                               .literals = parsed->literals};
}

/* Executes the piece on symbols, to its map. */
static void map(struct worker *worker, struct pieces *pieces, struct piece *own, bool is_behind)
{
    (void)is_behind;
    const struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    struct gzip_piece *piece = (struct gzip_piece *)own;
    if (!piece->is_read || piece->run.begin == DEFLATE_NONE)
        return;
    struct buffers *buffers = worker->scratch;
    uint16_t *const symbols = buffers->symbols, *at = symbols + WINDOW;
    struct run_cursor cursor = cursor_of(&piece->run.parsed);
    for (unsigned i = 0; i < WINDOW; i++)
        symbols[i] = (uint16_t)(SYMBOL_WINDOW + i);
    while ((at = all->loops->execute_symbols(&cursor, at, symbols + WINDOW + STRIDE)),
           cursor.next < cursor.end) {
        memmove(symbols, at - WINDOW, WINDOW * sizeof *symbols);
        at = symbols + WINDOW;
    }
    memcpy(piece->map, at - WINDOW, sizeof piece->map);
}

/* --- executing and counting --- */

/* Begins to execute what was parsed, after a window. Each call of execute then goes on. */
static void begin_executing(struct buffers *buffers, const struct parsed_run *parsed,
                            const struct symbol_table *table)
{
    buffers->cursor = cursor_of(parsed);
    buffers->begin = buffers->end = buffers->bytes + WINDOW;
    memcpy(buffers->bytes, table->bytes + SYMBOL_WINDOW, WINDOW);
}

/* Executes so many bytes, or a few more, after the window before them. */
static void execute(const struct gzip_pieces *all, struct buffers *buffers, size_t len)
{
    memmove(buffers->bytes, buffers->end - WINDOW, WINDOW);
    buffers->begin = buffers->bytes + WINDOW;
    buffers->end = all->loops->execute_some(&buffers->cursor, buffers->begin, buffers->begin + len);
}

/* Sets the window to the end of what was executed. */
static void take_window(const struct buffers *buffers, struct symbol_table *table)
{
    memcpy(table->bytes + SYMBOL_WINDOW, buffers->end - WINDOW, WINDOW);
}

static void add_to_check(struct check *check, const unsigned char *data, size_t len)
{
    check->crc = gzip_checksum(check->crc, data, len);
    check->len += len;
}

/* Adds content of a run, after `done` bytes of it, to the checks of its members. */
static void add_to_checks(struct check *checks, const struct gzip_end *ends, unsigned ends_len,
                          uint32_t done, const unsigned char *data, size_t len)
{
    for (unsigned i = 0; i < ends_len && len > 0; i++) {
        const size_t left = ends[i].content > done ? ends[i].content - done : 0,
                     some = left < len ? left : len;
        add_to_check(&checks[i], data, some);
        data += some;
        len -= some;
        done += (uint32_t)some;
    }
    add_to_check(&checks[ends_len], data, len);
}

/* Counts all content of a run that is being executed, as a segment. `run` is NULL if the chain has
 * parsed it. 0, or -1: the run has failed. */
static int count_executed(struct worker *worker, const struct gzip_pieces *all, uint64_t segment,
                          uint64_t position, const struct gzip_run *run, struct check *checks)
{
    struct buffers *buffers = worker->scratch;
    struct segment counting;
    uint32_t done = 0;
    bool is_last = false;
    if (piece_count_begin(&counting, worker, all->pieces.file, segment, position) != 0)
        return -1;
    while (!is_last) {
        if (buffers->begin == buffers->end)
            execute(all, buffers, STRIDE);
        const size_t left = (size_t)(buffers->end - buffers->begin),
                     some = left < 2 * STRIDE ? left : STRIDE;
        is_last = some == left && buffers->cursor.next == buffers->cursor.end;
        add_to_checks(checks, run ? run->ends : NULL, run ? run->ends_len : 0, done, buffers->begin,
                      some);
        done += (uint32_t)some;
        if (piece_count(&counting, buffers->begin, some, (size_t)(buffers->begin - buffers->bytes),
                        is_last) != 0)
            break;
        buffers->begin += some;
    }
    return piece_count_end(&counting) == 0 && is_last ? 0 : -1;
}

/* Counts a piece. If it was executed while it was chained, a gap may have needed the buffers since,
 * and it was counted then. */
static int count(struct worker *worker, struct pieces *pieces, struct piece *own, bool at_once)
{
    const struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    struct gzip_piece *piece = (struct gzip_piece *)own;
    struct buffers *buffers = worker->scratch;
    if (at_once && !buffers->uncounted)
        return 0;
    if (!at_once)
        begin_executing(buffers, &piece->run.parsed, &piece->table);
    buffers->uncounted = NULL;
    return count_executed(worker, all, own->segment, own->position, &piece->run,
                          &piece->checks[piece->own]);
}

/* --- chaining --- */

/* Returns a new check of a piece; there is room for one. */
static struct check *add_check(struct gzip_piece *piece)
{
    struct check *check = &piece->checks[piece->checks_len++];
    *check = (struct check){.crc = 0};
    return check;
}

/* Returns the check of the member that goes on. `is_gap`: of content that the chain has parsed, as
 * the own content may be counted later. */
static struct check *open_check(struct gzip_piece *piece, bool is_gap)
{
    const unsigned last = piece->checks_len - 1;
    if (piece->checks_len == 0 || piece->checks[last].is_end ||
        (is_gap && last == piece->own + piece->run.ends_len))
        return add_check(piece);
    return &piece->checks[last];
}

/* Ends the member that goes on; another one begins at a byte of the file. */
static void chain_end(struct gzip_pieces *all, struct check *check, uint64_t trailer, uint64_t next,
                      uint64_t position)
{
    check->is_end = true;
    check->trailer = trailer;
    check->member = all->member;
    all->member = (struct piece_restart){all->begin + next, position, false};
}

/* Chains the piece's own content, and the ends of members in it. */
static void chain_own(struct worker *worker, struct gzip_pieces *all, struct gzip_piece *piece,
                      bool at_once)
{
    const struct gzip_run *run = &piece->run;
    struct buffers *buffers = worker->scratch;
    piece->own = piece->checks_len;
    for (unsigned i = 0; i < run->ends_len; i++) {
        const struct gzip_end *end = &run->ends[i];
        chain_end(all, add_check(piece), end->trailer, run->at + end->next,
                  all->pieces.position + end->content);
    }
    (void)add_check(piece);
    if (run->parsed.content == 0)
        return;
    piece->table = all->table;
    piece->piece.has_content = true;
    piece->piece.segment = pieces_next_segment(&all->pieces);
    piece->piece.position = all->pieces.position;
    if (at_once) {
        begin_executing(buffers, &piece->run.parsed, &all->table);
        execute(all, buffers, DEFLATE_RUN_CONTENT_MAX);
        buffers->uncounted = piece;
        take_window(buffers, &all->table);
    } else {
        for (size_t i = 0; i < WINDOW; i++)
            all->table.bytes[SYMBOL_WINDOW + i] = piece->table.bytes[piece->map[i]];
    }
}

/* Executes and counts what the chain has parsed itself. 0, or -1: the run has failed. */
static int count_gap(struct worker *worker, struct gzip_pieces *all, struct gzip_piece *piece,
                     const struct parsed_run *parsed)
{
    struct buffers *buffers = worker->scratch;
    const uint64_t segment = pieces_next_segment(&all->pieces);
    const bool is_counted = buffers->uncounted == piece;
    if (buffers->uncounted && count(worker, &all->pieces, &buffers->uncounted->piece, true) != 0)
        return -1;
    if (all->pieces.in_order && piece->piece.has_content) { /* it comes before the gap */
        piece->piece.has_content = false;
        if (!is_counted && count(worker, &all->pieces, &piece->piece, false) != 0)
            return -1;
    }
    begin_executing(buffers, parsed, &all->table);
    const int rc =
        count_executed(worker, all, segment, all->pieces.position, NULL, open_check(piece, true));
    take_window(buffers, &all->table);
    return rc;
}

/* Adds content that the chain goes on with. 0, or -1: the run has failed. */
static int chain_content(struct worker *worker, struct gzip_pieces *all, struct gzip_piece *piece,
                         const struct parsed_run *parsed, bool at_once)
{
    struct pieces *pieces = &all->pieces;
    int rc = 0;
    if (parsed == &piece->run.parsed)
        chain_own(worker, all, piece, at_once);
    else
        rc = count_gap(worker, all, piece, parsed);
    piece->piece.content += parsed->content;
    pieces->position += parsed->content;
    if (rc == 0)
        return 0;
    pthread_mutex_lock(&pieces->lock);
    pieces->has_failed = true;
    pthread_mutex_unlock(&pieces->lock);
    return -1;
}

static enum piece_chained chain(struct worker *worker, struct pieces *pieces, struct piece *own,
                                bool at_once, bool is_next)
{
    struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    struct gzip_piece *piece = (struct gzip_piece *)own;
    const struct parsed_run *parsed = &all->chain.parsed; /* if it waits */
    enum gzip_chained chained = GZIP_CHAINED;
    if (!piece->is_read)
        return PIECE_STOP;
    while (all->waits ||
           (chained = gzip_chain_next(&all->chain, &piece->run, &parsed)) != GZIP_PASSED) {
        const bool is_own = chained == GZIP_CHAINED && parsed == &piece->run.parsed;
        const unsigned checks = is_own ? piece->run.ends_len + 1 : 1;
        if (chained == GZIP_WRONG || piece->checks_len + checks > CHECKS_MAX ||
            !gzip_chain_is_worth_it(&all->chain, all->again))
            return PIECE_STOP;
        const bool has_content =
            chained == GZIP_CHAINED && (parsed->content > 0 || (is_own && checks > 1));
        if (has_content && !pieces_go_on(pieces))
            return PIECE_ENOUGH;
        all->waits = has_content && pieces->in_order && !is_next && parsed != &piece->run.parsed;
        if (all->waits)
            return PIECE_LATER;
        if (chained == GZIP_ENDED)
            chain_end(all, open_check(piece, false), all->chain.members.number,
                      all->chain.position.bit / 8, pieces->position);
        else if (has_content && chain_content(worker, all, piece, parsed, at_once) != 0)
            return PIECE_STOP;
        if (pieces_are_beyond(pieces))
            return PIECE_ENOUGH;
    }
    pthread_mutex_lock(&pieces->lock);
    gzip_cutter_learn(&all->cutter, &piece->run, &all->chain.uses_run);
    pthread_mutex_unlock(&pieces->lock);
    return gzip_chain_is_worth_it(&all->chain, all->again) ? PIECE_ALL : PIECE_STOP;
}

/* --- the end --- */

static bool retire(struct pieces *pieces, struct piece *own, struct piece_restart *restart)
{
    struct gzip_pieces *all = (struct gzip_pieces *)pieces;
    const struct gzip_piece *piece = (struct gzip_piece *)own;
    for (unsigned i = 0; i < piece->checks_len; i++) {
        const struct check *check = &piece->checks[i];
        all->crc = all->len > 0 ? gzip_checksum_join(all->crc, check->crc, check->len) : check->crc;
        all->len += check->len;
        if (!check->is_end)
            continue;
        if (check->trailer != gzip_trailer(all->len, all->crc)) {
            *restart = check->member;
            return false;
        }
        all->crc = 0;
        all->len = 0;
    }
    return true;
}

static struct piece_restart restart(const struct pieces *pieces, bool at_end)
{
    const struct gzip_pieces *all = (const struct gzip_pieces *)pieces;
    if (at_end && gzip_members_are_complete(&all->chain.members)) /* perhaps after zeros */
        return (struct piece_restart){all->begin + all->chain.position.bit / 8, pieces->position,
                                      false};
    return all->member;
}

const struct piece_format piece_format_gzip = {
    .open = open_pieces,
    .close = close_pieces,
    .cut = cut,
    .prepare = prepare,
    .map = map,
    .chain = chain,
    .count = count,
    .retire = retire,
    .restart = restart,
};

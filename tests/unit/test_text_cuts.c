/* SPDX-License-Identifier: MIT */
/* Numbers in text through source, workers and CPU engine, wherever chunks cut them: every chunk
 * size for a text of 1 KiB, and long tokens at boundaries; from files that several threads read,
 * pipes, small packets, and zstd frames. The counts and the line of the first token that is no
 * number must be those of a naive loop. */
#include "src/schedule/schedule.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/texts.h"
#include "src/input/input.h"
#include "src/tally/histogram_spec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define FILES_MAX 4
#define PACKET                                                                                     \
    7 /* bytes that a read of the pipe in packets gives; or loses, if it asks for less             \
       */

enum form {
    FORM_FILE,
    FORM_PIPE,
    FORM_PACKETS,
    FORM_ZSTD,
    FORMS,
};
static const char *const form_names[] = {"file", "pipe", "packets", "zstd"};

struct scenario {
    const struct text *texts;
    size_t count; /* of texts, each of which is a FILE */
    enum form form;
    size_t chunk_size;
    unsigned threads;
    enum invalid_choice invalid;
};

static char directory[] = "/tmp/gpuhisto-test-text-XXXXXX";
static char names[FILES_MAX][64];
static unsigned runs, wrong;

/* --- ways in --- */

static void write_all(int fd, const void *data, size_t len)
{
    if (fd < 0 || write(fd, data, len) != (ssize_t)len)
        abort();
}

static void write_file(const char *name, const struct text *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write_all(fd, text->data, text->len);
    close(fd);
}

/* Frames of a few bytes to a few thousand. */
static void write_zstd(const char *name, const struct text *text)
{
    static unsigned char frame[ZSTD_COMPRESSBOUND(4096)];
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t at = 0;
    do {
        size_t len = 1 + random_below(text->len < 4000 ? 200 : 4000);
        len = len < text->len - at ? len : text->len - at;
        write_all(fd, frame, ZSTD_compress(frame, sizeof frame, text->data + at, len, 1));
        at += len;
    } while (at < text->len);
    close(fd);
}

/* A pipe that holds all of the text, and its end. The end to read from. */
static int fill_pipe(const struct text *text, bool packets)
{
    int ends[2];
    if (pipe2(ends, packets ? O_DIRECT : 0) != 0)
        abort();
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    for (size_t at = 0, step; at < text->len; at += step) {
        step = packets && text->len - at > PACKET ? PACKET : text->len - at;
        write_all(ends[1], text->data + at, step);
    }
    close(ends[1]);
    return ends[0];
}

/* Closes our end of a pipe. A run that was refused keeps its own, so the pipe stays; what it holds
 * counts against the user's limit, beyond which pipes become too small for fill_pipe. So it is made
 * small. */
static void close_pipe(int end)
{
    static char unread[1 << 16];
    (void)fcntl(end, F_SETFL, O_NONBLOCK);
    while (read(end, unread, sizeof unread) > 0)
        ;
    (void)fcntl(end, F_SETPIPE_SZ, 1);
    close(end);
}

/* Makes the texts' files; only pipes have to be made again for every run. */
static void prepare(const struct text *texts, size_t count, enum form form)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu", directory, i);
        if (form == FORM_FILE)
            write_file(names[i], &texts[i]);
        else if (form == FORM_ZSTD)
            write_zstd(names[i], &texts[i]);
    }
}

/* --- one run --- */

static void complain(const struct scenario *scenario, const char *what, const char *more)
{
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %s (%s): %s, %zu FILEs of %zu bytes, chunk %zu, threads %u\n", what,
                more, form_names[scenario->form], scenario->count, scenario->texts[0].len,
                scenario->chunk_size, scenario->threads);
}

static void judge(const struct scenario *scenario, int rc, const struct tally *tally,
                  const struct pool_outcome *outcome, const struct error *error,
                  const struct binning *binning)
{
    struct text_expectation expected = {.samples = 0};
    char invalid[1024] = "";
    uint64_t bytes = 0;
    for (size_t i = 0; i < scenario->count; i++) {
        text_expect(&scenario->texts[i], binning, &expected);
        if (expected.invalid[0] && !invalid[0])
            snprintf(invalid, sizeof invalid, "%s: %s", names[i], expected.invalid);
        bytes += scenario->texts[i].len;
    }
    if (scenario->invalid == INVALID_ERROR && invalid[0]) {
        if (rc == 0 || strcmp(error->text, invalid) != 0)
            complain(scenario, "not refused", error->text);
        return;
    }
    if (rc != 0)
        complain(scenario, "refused", error->text);
    else if (tally->samples != expected.samples || tally->newlines != expected.newlines ||
             memcmp(tally->counts, expected.counts, tally->bins * sizeof tally->counts[0]) != 0)
        complain(scenario, "wrong counts", "");
    else if (tally->bytes != bytes)
        complain(scenario, "wrong bytes", "");
    else if (strcmp(outcome->invalid.text, scenario->invalid == INVALID_SKIP ? "" : invalid) != 0)
        complain(scenario, "wrong message", outcome->invalid.text);
}

/* After a failure threads may still be there: what they use is left to them. */
static void run(const struct scenario *scenario)
{
    if (scenario->form == FORM_PACKETS && scenario->chunk_size < PACKET)
        return;
    struct histogram_spec *spec = malloc(sizeof *spec);
    char **operands = calloc(FILES_MAX, sizeof *operands);
    int pipes[FILES_MAX];
    struct binning binning;
    struct error error = {""};
    bool piped = scenario->form == FORM_PIPE || scenario->form == FORM_PACKETS;
    if (!spec || !operands || binning_equal(&binning, 0, 100, 10) != 0)
        abort();
    histogram_spec_numbers(spec, &binning);
    for (size_t i = 0; i < scenario->count; i++) {
        if (piped)
            pipes[i] = fill_pipe(&scenario->texts[i], scenario->form == FORM_PACKETS);
        if (piped)
            snprintf(names[i], sizeof names[i], "/dev/fd/%d", pipes[i]);
        operands[i] = strdup(names[i]);
    }
    struct pool_options options = {.device = DEVICE_CPU,
                                   .chunk_size = scenario->chunk_size,
                                   .threads = scenario->threads,
                                   .invalid = scenario->invalid};
    struct source *source =
        source_open(operands, scenario->count,
                    &(struct input_options){.decoding.memlimit = 1 << 27, .record = record_tokens});
    struct tally tally;
    struct pool_outcome outcome;
    if (!source || tally_open(&tally, spec) != 0)
        abort();
    int rc = pool_run(&options, &(struct pool_task){spec, source, &tally}, &outcome, &error);
    runs++;
    judge(scenario, rc, &tally, &outcome, &error, &binning);
    for (size_t i = 0; piped && i < scenario->count; i++)
        close_pipe(pipes[i]);
    tally_close(&tally);
    if (rc != 0)
        return;
    source_close(source);
    for (size_t i = 0; i < scenario->count; i++)
        free(operands[i]);
    free(operands);
    free(spec);
}

/* --- all of it --- */

static const struct text nothing;

/* Which chunk size comes after this one. */
static size_t larger(size_t size)
{
    if (scale_is_slow())
        return size + (size > 10 ? 67 : 1);
    return size + (size > 40 && scale_is_small() ? 23 : 1);
}

static void all_chunk_sizes(const struct text *texts, size_t count, size_t max)
{
    for (enum form form = FORM_FILE; form < FORMS; form++) {
        prepare(texts, count, form);
        for (size_t size = 1; size <= max; size = larger(size))
            for (unsigned threads = 1 + size % 2; threads <= 4; threads += 2)
                run(&(struct scenario){texts, count, form, size, threads,
                                       size % 5 == 4 ? INVALID_SKIP : INVALID_COUNT});
    }
}

static void some_chunk_sizes(const struct text *texts, size_t count)
{
    static const size_t sizes[] = {1, 7, 1000, 4095, 4096, 4097, 4098, 8192, 8193, 65536};
    for (enum form form = FORM_FILE; form < FORMS; form++) {
        prepare(texts, count, form);
        size_t first = scale_is_slow() && texts[0].len > 10000 ? 2 : texts[0].len > 100000;
        for (size_t i = first; i < sizeof sizes / sizeof sizes[0];
             i += scale_is_slow() ? 1 + texts[0].len % 4 : 1)
            for (unsigned threads = 1; threads <= 4; threads += scale_is_small() ? 3 : 1)
                if (form != FORM_PACKETS)
                    run(&(struct scenario){texts, count, form, sizes[i], threads, INVALID_COUNT});
    }
}

static void errors(const struct text *texts, size_t count)
{
    for (enum form form = FORM_FILE; form < FORMS; form++) {
        prepare(texts, count, form);
        for (size_t size = 1; size <= 1100; size = size * 3 / 2 + 1)
            for (unsigned threads = 1; threads <= 4; threads++)
                run(&(struct scenario){texts, count, form, size, threads, INVALID_ERROR});
    }
}

static void long_tokens(struct text *text)
{
    static const size_t lens[] = {4095, 4096, 4097, 4098, 5000, 8191, 8192, 8193, 100000};
    static const char *const endings[] = {"", "\n", " 5\n6 abc"};
    static const size_t before[] = {0, 1, 2, 4096};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (size_t j = 0; j < sizeof before / sizeof before[0]; j++) {
            text->len = 0;
            for (size_t k = 0; k < before[j]; k++)
                text_append(text, k % 2 == before[j] % 2 ? "3" : "\n", 1);
            text_append_digits(text, lens[i]);
            text_append(text, endings[(i + j) % 3], strlen(endings[(i + j) % 3]));
            some_chunk_sizes(text, 1);
        }
}

int main(void)
{
    static struct text texts[3];
    if (!mkdtemp(directory))
        return 99;
    text_fill(&texts[0], 1024, 600);
    all_chunk_sizes(texts, 1, 1100);
    text_fill(&texts[0], 1024, 0);
    all_chunk_sizes(texts, 1, 40);
    text_fill(&texts[0], 500, 500);
    text_fill(&texts[1], 1, 1);
    text_fill(&texts[2], 700, 333);
    all_chunk_sizes(texts, 3, 100);
    errors(texts, 3);
    errors(texts, 1); /* none is invalid */
    texts[1] = nothing;
    all_chunk_sizes(texts, 3, 10);
    texts[0].len = 0;
    text_append(&texts[0], " \n \n\n  \r\n", 9);
    all_chunk_sizes(texts, 2, 12);
    text_append(&texts[0],
                "1\0"
                "2 \0\0 3",
                9);
    all_chunk_sizes(texts, 1, 20);
    text_fill(&texts[0], 200000, 150000);
    some_chunk_sizes(texts, 1);
    long_tokens(&texts[0]);
    for (size_t i = 0; i < FILES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu", directory, i);
        unlink(names[i]);
    }
    rmdir(directory);
    printf("%u runs, %u wrong\n", runs, wrong);
    /* What runs that were refused used is left as it is: no leak check. */
    fflush(stdout);
    _exit(wrong != 0);
}

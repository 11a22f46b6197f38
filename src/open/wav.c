/* SPDX-License-Identifier: MIT */
/* RIFF/WAVE: "RIFF", 4 bytes of size, "WAVE", then chunks: 4 bytes of name, 4 of size and that many
 * bytes, padded to an even number. Others may come before "fmt ", the samples' type, and "data". In
 * RIFX, all is big-endian. In RF64 and BW64, a chunk "ds64" has the size of the data. */
#include "header.h"

#include <stdio.h>
#include <string.h>

#define WAV "WAV"
#define RIFF_SIZE 12         /* bytes before the first chunk */
#define CHUNK_HEAD 8         /* bytes of a chunk's name and size */
#define CHUNKS_MAX 1000      /* read before the data */
#define FMT_MIN 16           /* bytes of a fmt chunk, at least */
#define FMT_EXTENSIBLE 40    /* bytes of it that are read, if it has them */
#define DS64_MIN 16          /* bytes of a ds64 chunk up to and with the size of the data */
#define NOT_KNOWN 0xFFFFFFFF /* the size, if the writer could not seek back to set it */

/* sox and arecord write sizes in this range to a pipe, whatever comes. */
#define GUESSED_MIN (0x7FFFF000 - 0xFFFF)
#define GUESSED_MAX 0x80000000

/* Encodings of a sample. */
enum {
    CODED_PCM = 1,
    CODED_FLOAT = 3,
    CODED_EXTENSIBLE = 0xFFFE, /* the first bytes of a GUID are the encoding */
};

struct wav {
    const unsigned char *data;
    bool is_big;         /* RIFX */
    size_t at;           /* of the chunk that is read: where its content begins, */
    uint64_t chunk_size; /* and its bytes */
    bool has_fmt;        /* the fields below are set */
    unsigned coding, channels, frame, bits;
    bool has_size; /* a ds64 chunk has set the next field */
    uint64_t size; /* of the data */
};

static uint64_t read_number(const struct wav *wav, size_t at, size_t len)
{
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++)
        number = number << 8 | wav->data[at + (wav->is_big ? i : len - 1 - i)];
    return number;
}

/* Returns whether the chunk has this name. */
static bool is_named(const struct wav *wav, const char *name)
{
    return memcmp(wav->data + wav->at - CHUNK_HEAD, name, 4) == 0;
}

/* --- the samples --- */

/* Returns the encoding that the GUID of an extensible format stands for; 0 if it is unknown. */
static unsigned coding_of_guid(const struct wav *wav, size_t at)
{
    const uint64_t coding = read_number(wav, at, 4);
    bool is_known = coding <= UINT16_MAX && read_number(wav, at + 4, 2) == 0 &&
                    read_number(wav, at + 6, 2) == 0x10 &&
                    memcmp(wav->data + at + 8, "\x80\x00\x00\xaa\x00\x38\x9b\x71", 8) == 0;
    return is_known ? (unsigned)coding : 0;
}

/* Reads the fmt chunk. Its bytes up to FMT_EXTENSIBLE are there. */
static void read_fmt(struct wav *wav)
{
    wav->has_fmt = true;
    wav->coding = (unsigned)read_number(wav, wav->at, 2);
    wav->channels = (unsigned)read_number(wav, wav->at + 2, 2);
    wav->frame = (unsigned)read_number(wav, wav->at + 12, 2);
    wav->bits = (unsigned)read_number(wav, wav->at + 14, 2);
    if (wav->coding == CODED_EXTENSIBLE)
        wav->coding = wav->chunk_size < FMT_EXTENSIBLE ? 0 : coding_of_guid(wav, wav->at + 24);
}

/* Describes samples that --values does not count. */
static void describe_coding(unsigned coding, char holds[HEADER_HOLDS_MAX])
{
    static const struct {
        unsigned coding;
        const char *name;
    } names[] = {{2, "ADPCM"},  {6, "A-law"}, {7, "mu-law"},
                 {17, "ADPCM"}, {49, "GSM"},  {85, "MP3"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].coding == coding) {
            snprintf(holds, HEADER_HOLDS_MAX, "%s samples", names[i].name);
            return;
        }
    snprintf(holds, HEADER_HOLDS_MAX, "samples in an unknown encoding (%u)", coding);
}

/* Fills in what the samples are. A sample with fewer bits than its bytes have is counted as it is
 * stored. False if the format makes no sense. */
static bool find_type(const struct wav *wav, struct header *header)
{
    bool is_float = wav->coding == CODED_FLOAT;
    header->channels = wav->channels;
    if (wav->coding != CODED_PCM && !is_float) {
        describe_coding(wav->coding, header->holds);
        return true;
    }
    unsigned size = (wav->bits + 7) / 8;
    if (size == 0 || wav->channels == 0 || wav->frame != size * wav->channels)
        return false;
    snprintf(header->holds, HEADER_HOLDS_MAX, "%u-bit %ssamples", wav->bits,
             is_float ? "floating-point " : "");
    bool is_size = size == 4 || size == 8 || (!is_float && size <= 4);
    if (is_size)
        header_set_type(header, is_float ? 'f' : size == 1 ? 'u' : 'i', size, wav->is_big);
    return true;
}

/* Sets the number of bytes of the data. A size of 0 was not set yet, unless the size of the file
 * shows that chunks follow. */
static void find_size(const struct wav *wav, struct header *header)
{
    const uint64_t whole = read_number(wav, 4, 4), stated = wav->chunk_size;
    bool is_set = whole != NOT_KNOWN && whole + CHUNK_HEAD > wav->at;
    header->extent = HEADER_LEADING;
    header->bytes = stated;
    if (stated == NOT_KNOWN && wav->has_size)
        header->bytes = wav->size;
    else if (stated == NOT_KNOWN || (stated == 0 && !is_set))
        header->bytes = HEADER_TO_END;
    else if (stated >= GUESSED_MIN && stated <= GUESSED_MAX)
        header->extent = HEADER_OPEN;
}

/* --- the chunks --- */

/* Reads a chunk before the data, of a file of which *wanted bytes are there. Raises *wanted if more
 * of the chunk is needed. Returns what is wrong with it, or NULL. */
static const char *read_chunk(struct wav *wav, size_t *wanted)
{
    bool is_fmt = is_named(wav, "fmt "), is_size = is_named(wav, "ds64");
    size_t max = is_fmt ? FMT_EXTENSIBLE : DS64_MIN, min = is_fmt ? FMT_MIN : DS64_MIN;
    if (!is_fmt && !is_size)
        return NULL;
    if (wav->chunk_size < min)
        return is_fmt ? "its fmt chunk" : "its ds64 chunk";
    size_t end = wav->at + (wav->chunk_size < max ? (size_t)wav->chunk_size : max);
    if (end > *wanted) {
        *wanted = end;
    } else if (is_fmt) {
        read_fmt(wav);
    } else {
        wav->has_size = true;
        wav->size = read_number(wav, wav->at + 8, 8);
    }
    return is_size && wav->size > (uint64_t)INT64_MAX ? "its ds64 chunk" : NULL;
}

static enum header_status read_data(const struct wav *wav, struct header *header,
                                    struct error *fault)
{
    if (!wav->has_fmt)
        return header_wrong(WAV, "its data come before its format", fault);
    *header = (struct header){.size = wav->at};
    if (!find_type(wav, header))
        return header_wrong(WAV, "its fmt chunk", fault);
    find_size(wav, header);
    return HEADER_FOUND;
}

static enum header_status read_chunks(struct wav *wav, size_t len, size_t *wanted,
                                      struct header *header, struct error *fault)
{
    uint64_t next = RIFF_SIZE;
    for (unsigned chunks = 0; chunks < CHUNKS_MAX; chunks++) {
        wav->at = (size_t)next + CHUNK_HEAD;
        if (len < wav->at)
            return header_need(wav->at, wanted);
        wav->chunk_size = read_number(wav, wav->at - 4, 4);
        if (is_named(wav, "data"))
            return read_data(wav, header, fault);
        *wanted = len;
        const char *wrong = read_chunk(wav, wanted);
        if (wrong)
            return header_wrong(WAV, wrong, fault);
        if (*wanted > len)
            return HEADER_PART;
        next = wav->at + wav->chunk_size + (wav->chunk_size & 1);
        if (next > HEADER_MAX - FMT_EXTENSIBLE - CHUNK_HEAD)
            return header_wrong(WAV, "more than 1 MiB comes before its data", fault);
    }
    return header_wrong(WAV, "too many chunks come before its data", fault);
}

static enum header_status wav_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    static const char *const magics[] = {"RIFF", "RIFX", "RF64", "BW64"};
    const size_t magic = sizeof(uint32_t), seen = len < magic ? len : magic;
    struct wav wav = {.data = data, .is_big = len >= magic && memcmp(data, "RIFX", magic) == 0};
    bool is_wav = false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        is_wav |= memcmp(data, magics[i], seen) == 0;
    if (!is_wav || (len >= RIFF_SIZE && memcmp(data + 8, "WAVE", 4) != 0))
        return HEADER_NONE;
    if (len < RIFF_SIZE)
        return header_need(RIFF_SIZE, wanted);
    return read_chunks(&wav, len, wanted, header, fault);
}

const struct header_format header_wav = {WAV, RIFF_SIZE, wav_peek};

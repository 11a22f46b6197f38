/* SPDX-License-Identifier: MIT */
/* Reads the headers of .npy, WAV and PNM. */
#include "input.h"

#include <stdio.h>
#include <string.h>

/* Asks for `size` bytes. Returns HEADER_PART. */
static enum header_status need(size_t size, size_t *wanted)
{
    *wanted = size;
    return HEADER_PART;
}

/* Sets the type to integers ('u', 'i') or floating-point numbers ('f') of `size` bytes. */
static void set_type(struct header *header, char kind, unsigned size, bool is_big_endian)
{
    snprintf(header->type, sizeof header->type, "%c%u%s", kind, 8 * size,
             is_big_endian && size > 1 ? "be" : "");
}

/* Sets the fault to what is wrong with a header of this format. Returns HEADER_WRONG. */
static enum header_status wrong(const char *format, const char *what, struct error *fault)
{
    error_set(fault, "invalid %s header (%s)", format, what);
    return HEADER_WRONG;
}

/* The rest of a header that is text. */
struct text {
    const unsigned char *at, *end;
};

/* Reads digits, perhaps none, up to `max`. False if the number is larger. */
static bool read_digits(struct text *text, uint64_t max, uint64_t *number)
{
    for (*number = 0; text->at < text->end && number_is_digit(*text->at); text->at++) {
        const unsigned digit = *text->at - '0';
        if (*number > (max - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* --- NumPy's .npy: "\x93NUMPY", two bytes of version, a little-endian length of 2 bytes (version
 * 1) or 4 (versions 2 and 3), and that many bytes of text: a Python dictionary with keys in any
 * order, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", spaces and a newline --- */

#define NPY ".npy"
#define NPY_MAGIC_SIZE 6
#define NPY_PREFIX_SIZE 8          /* bytes of magic and version */
#define NPY_MAX ((size_t)64 << 10) /* bytes of the longest header that is read */
#define NPY_NAME_MAX 16            /* size of a type or a key with its NUL */

/* The content of the dictionary. */
struct npy_array {
    char descr[NPY_NAME_MAX]; /* type, as "<f4" */
    bool is_fortran;          /* the first index varies fastest */
    unsigned dimensions;
    uint64_t values;
    bool has_fields; /* descr is a list, and was not read */
    unsigned keys;   /* bits of those that were read */
};

static void npy_skip_blanks(struct text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
}

/* Skips blanks and reads the word, if that is next. */
static bool npy_word(struct text *text, const char *word)
{
    size_t len = strlen(word);
    npy_skip_blanks(text);
    if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
        return false;
    text->at += len;
    return true;
}

/* Reads a quoted string of less than NPY_NAME_MAX printable characters, without escapes. */
static bool npy_string(struct text *text, char string[NPY_NAME_MAX])
{
    size_t len = 0;
    const char *quote = npy_word(text, "'") ? "'" : npy_word(text, "\"") ? "\"" : NULL;
    if (!quote)
        return false;
    for (; text->at < text->end && *text->at != (unsigned char)*quote; text->at++) {
        if (len == NPY_NAME_MAX - 1 || *text->at < ' ' || *text->at > '~' || *text->at == '\\')
            return false;
        string[len++] = (char)*text->at;
    }
    string[len] = '\0';
    return npy_word(text, quote);
}

static const char *const npy_keys[] = {"descr", "fortran_order", "shape"};
#define NPY_KEYS (sizeof npy_keys / sizeof npy_keys[0])

/* Reads a whole number. Python 2 appended an L to some. */
static bool npy_number(struct text *text, uint64_t *number)
{
    npy_skip_blanks(text);
    const unsigned char *begin = text->at;
    if (!read_digits(text, UINT64_MAX, number) || text->at == begin)
        return false;
    if (text->at < text->end && *text->at == 'L')
        text->at++;
    return true;
}

/* Reads (), (N,), (N, N) and so on, and multiplies the numbers. Returns what is wrong, or NULL, as
 * the functions below. */
static const char *npy_shape(struct text *text, struct npy_array *array)
{
    uint64_t number, product = 1;
    bool is_huge = false, is_empty = false, has_comma = true;
    if (!npy_word(text, "("))
        return "its shape";
    while (!npy_word(text, ")")) {
        if (!has_comma || !npy_number(text, &number))
            return "its shape";
        has_comma = npy_word(text, ",");
        array->dimensions++;
        is_empty |= number == 0;
        is_huge |= number > 0 && product > (uint64_t)INT64_MAX / number;
        product = is_huge ? 1 : product * number;
    }
    if (array->dimensions == 1 && !has_comma)
        return "its shape";
    array->values = is_empty ? 0 : product;
    return is_huge && !is_empty ? "its shape has too many values" : NULL;
}

/* Reads a key and its value. */
static const char *npy_item(struct text *text, struct npy_array *array)
{
    char key[NPY_NAME_MAX];
    unsigned i = 0;
    if (!npy_string(text, key) || !npy_word(text, ":"))
        return "its keys";
    while (i < NPY_KEYS && strcmp(key, npy_keys[i]) != 0)
        i++;
    if (i == NPY_KEYS || (array->keys >> i & 1))
        return "its keys";
    array->keys |= 1U << i;
    if (i == 2)
        return npy_shape(text, array);
    if (i == 1) {
        array->is_fortran = npy_word(text, "True");
        return array->is_fortran || npy_word(text, "False") ? NULL : "its order";
    }
    array->has_fields = npy_word(text, "[") || npy_word(text, "(");
    return !array->has_fields && npy_string(text, array->descr) ? NULL : "its type";
}

static const char *npy_dictionary(struct text text, struct npy_array *array)
{
    bool has_comma = true;
    if (!npy_word(&text, "{"))
        return "it is not a dictionary";
    while (!npy_word(&text, "}")) {
        const char *what = has_comma ? npy_item(&text, array) : "it is not a dictionary";
        if (what)
            return what;
        has_comma = npy_word(&text, ",");
    }
    npy_skip_blanks(&text);
    if (text.at < text.end)
        return "something follows its dictionary";
    return array->keys == (1U << NPY_KEYS) - 1 ? NULL : "its keys";
}

/* Sets the header's type to the TYPE of --values. Returns its size in bytes; 0 if there is none. */
static unsigned npy_find_type(const char *descr, struct header *header)
{
    const char order = descr[0], kind = order ? descr[1] : '\0';
    const char digit = kind ? descr[2] : '\0';
    bool is_integer = kind == 'u' || kind == 'i';
    bool is_size = (is_integer && (digit == '1' || digit == '2')) || digit == '4' || digit == '8';
    if ((!is_integer && kind != 'f') || !is_size || descr[3])
        return 0;
    if (order != '<' && order != '>' && !(order == '|' && digit == '1'))
        return 0;
    unsigned size = (unsigned)(digit - '0');
    set_type(header, kind, size, order == '>');
    return size;
}

/* Describes a type that --values does not count; its name is printable ASCII. */
static const char *npy_describe(const char *descr)
{
    static const char *const names[128] = {
        ['b'] = "booleans", ['c'] = "complex numbers",
        ['M'] = "dates",    ['m'] = "durations",
        ['O'] = "objects",  ['S'] = "text",
        ['a'] = "text",     ['U'] = "text",
        ['V'] = "records",  ['f'] = "floating-point numbers of another size"};
    const char *name = descr[0] ? names[(unsigned char)descr[1]] : NULL;
    return name ? name : "unknown";
}

static enum header_status npy_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    if (memcmp(data, "\x93NUMPY", len < NPY_MAGIC_SIZE ? len : NPY_MAGIC_SIZE) != 0)
        return HEADER_NONE;
    if (len < NPY_PREFIX_SIZE)
        return need(len < NPY_MAGIC_SIZE ? NPY_MAGIC_SIZE : NPY_PREFIX_SIZE, wanted);
    unsigned major = data[6], minor = data[7];
    if (major < 1 || major > 3 || minor != 0) {
        error_set(fault, "version %u.%u of .npy is not supported", major, minor);
        return HEADER_WRONG;
    }
    size_t length_size = major == 1 ? 2 : 4, begin = NPY_PREFIX_SIZE + length_size, length = 0;
    if (len < begin)
        return need(begin, wanted);
    for (size_t i = length_size; i > 0; i--)
        length = length << 8 | data[NPY_PREFIX_SIZE + i - 1];
    if (length > NPY_MAX - begin)
        return wrong(NPY, "it is too long", fault);
    if (len < begin + length)
        return need(begin + length, wanted);
    struct npy_array array = {.values = 0};
    const struct text text = {data + begin, data + begin + length};
    const char *what = npy_dictionary(text, &array);
    if (array.has_fields)
        error_set(fault, "holds records of several fields, which --values cannot count");
    else if (what)
        wrong(NPY, what, fault);
    if (what)
        return HEADER_WRONG;
    *header = (struct header){.size = begin + length};
    unsigned size = npy_find_type(array.descr, header);
    if (size > 0 && array.values > (uint64_t)INT64_MAX / size)
        return wrong(NPY, "its shape has too many values", fault);
    if (size > 0)
        strcpy(header->holds, array.descr);
    else
        snprintf(header->holds, sizeof header->holds, "%s (%s)", array.descr,
                 npy_describe(array.descr));
    header->bytes = array.values * size;
    header->is_planar = array.is_fortran && array.dimensions > 1;
    header->extent = HEADER_EXACT;
    return HEADER_FOUND;
}

/* --- RIFF/WAVE: "RIFF", 4 bytes of size, "WAVE", then chunks: 4 bytes of name, 4 of size and that
 * many bytes, padded to an even number. Others may come before "fmt ", the samples' type, and
 * "data". In RIFX, all is big-endian. In RF64 and BW64, a chunk "ds64" has the size of the data ---
 */

#define WAV "WAV"
#define WAV_RIFF_SIZE 12       /* bytes before the first chunk */
#define WAV_CHUNK_HEAD 8       /* bytes of a chunk's name and size */
#define WAV_CHUNKS_MAX 1000    /* read before the data */
#define WAV_FMT_MIN 16         /* bytes of a fmt chunk, at least */
#define WAV_FMT_EXTENSIBLE 40  /* bytes of it that are read, if it has them */
#define WAV_DS64_MIN 16        /* bytes of a ds64 chunk up to and with the size of the data */
#define WAV_UNKNOWN 0xFFFFFFFF /* the size, if the writer could not seek back to set it */

/* sox and arecord write sizes in this range to a pipe, whatever comes. */
#define WAV_GUESSED_MIN (0x7FFFF000 - 0xFFFF)
#define WAV_GUESSED_MAX 0x80000000

/* Encodings of a sample. */
enum {
    WAV_PCM = 1,
    WAV_FLOAT = 3,
    WAV_EXTENSIBLE = 0xFFFE, /* the first bytes of a GUID are the encoding */
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

static uint64_t wav_number(const struct wav *wav, size_t at, size_t len)
{
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++)
        number = number << 8 | wav->data[at + (wav->is_big ? i : len - 1 - i)];
    return number;
}

/* True if the chunk has this name. */
static bool wav_is_named(const struct wav *wav, const char *name)
{
    return memcmp(wav->data + wav->at - WAV_CHUNK_HEAD, name, 4) == 0;
}

/* Reads the fmt chunk. Its bytes up to WAV_FMT_EXTENSIBLE are there. */
static void wav_read_fmt(struct wav *wav)
{
    const size_t at = wav->at;
    wav->has_fmt = true;
    wav->coding = (unsigned)wav_number(wav, at, 2);
    wav->channels = (unsigned)wav_number(wav, at + 2, 2);
    wav->frame = (unsigned)wav_number(wav, at + 12, 2);
    wav->bits = (unsigned)wav_number(wav, at + 14, 2);
    if (wav->coding != WAV_EXTENSIBLE)
        return;
    wav->coding = 0; /* unless the GUID is a known one */
    if (wav->chunk_size < WAV_FMT_EXTENSIBLE)
        return;
    const uint64_t coding = wav_number(wav, at + 24, 4);
    if (coding <= UINT16_MAX && wav_number(wav, at + 28, 2) == 0 &&
        wav_number(wav, at + 30, 2) == 0x10 &&
        memcmp(wav->data + at + 32, "\x80\x00\x00\xaa\x00\x38\x9b\x71", 8) == 0)
        wav->coding = (unsigned)coding;
}

/* Describes samples that --values does not count. */
static void wav_describe(unsigned coding, char holds[HEADER_HOLDS_MAX])
{
    static const char *const names[] = {
        [2] = "ADPCM", [6] = "A-law", [7] = "mu-law", [17] = "ADPCM", [49] = "GSM", [85] = "MP3"};
    const char *name = coding < sizeof names / sizeof names[0] ? names[coding] : NULL;
    if (name)
        snprintf(holds, HEADER_HOLDS_MAX, "%s samples", name);
    else
        snprintf(holds, HEADER_HOLDS_MAX, "samples in an unknown encoding (%u)", coding);
}

/* Fills in what the samples are. A sample with fewer bits than its bytes have is counted as it is
 * stored. False if the format makes no sense. */
static bool wav_find_type(const struct wav *wav, struct header *header)
{
    bool is_float = wav->coding == WAV_FLOAT;
    header->channels = wav->channels;
    if (wav->coding != WAV_PCM && !is_float) {
        wav_describe(wav->coding, header->holds);
        return true;
    }
    unsigned size = (wav->bits + 7) / 8;
    if (size == 0 || wav->channels == 0 || wav->frame != size * wav->channels)
        return false;
    snprintf(header->holds, HEADER_HOLDS_MAX, "%u-bit %ssamples", wav->bits,
             is_float ? "floating-point " : "");
    bool is_size = size == 4 || size == 8 || (!is_float && size <= 4);
    if (is_size)
        set_type(header, is_float ? 'f' : size == 1 ? 'u' : 'i', size, wav->is_big);
    return true;
}

/* Fills the header at the data chunk. A size of 0 was not set yet, unless the size of the file
 * shows that chunks follow. */
static enum header_status wav_read_data(const struct wav *wav, struct header *header,
                                        struct error *fault)
{
    const uint64_t of_file = wav_number(wav, 4, 4), stated = wav->chunk_size;
    const bool is_set = of_file != WAV_UNKNOWN && of_file + WAV_CHUNK_HEAD > wav->at;
    if (!wav->has_fmt)
        return wrong(WAV, "its data come before its format", fault);
    *header = (struct header){.size = wav->at, .bytes = stated, .extent = HEADER_LEADING};
    if (!wav_find_type(wav, header))
        return wrong(WAV, "its fmt chunk", fault);
    if (stated == WAV_UNKNOWN && wav->has_size)
        header->bytes = wav->size;
    else if (stated == WAV_UNKNOWN || (stated == 0 && !is_set))
        header->bytes = HEADER_TO_END;
    else if (stated >= WAV_GUESSED_MIN && stated <= WAV_GUESSED_MAX)
        header->extent = HEADER_OPEN;
    return HEADER_FOUND;
}

/* Reads a chunk before the data, of a file of which *wanted bytes are there. Raises *wanted if more
 * of the chunk is needed. Returns what is wrong with it, or NULL. */
static const char *wav_read_chunk(struct wav *wav, size_t *wanted)
{
    bool is_fmt = wav_is_named(wav, "fmt "), is_size = wav_is_named(wav, "ds64");
    size_t max = is_fmt ? WAV_FMT_EXTENSIBLE : WAV_DS64_MIN;
    if (!is_fmt && !is_size)
        return NULL;
    if (wav->chunk_size < (is_fmt ? WAV_FMT_MIN : WAV_DS64_MIN))
        return is_fmt ? "its fmt chunk" : "its ds64 chunk";
    size_t end = wav->at + (wav->chunk_size < max ? (size_t)wav->chunk_size : max);
    if (end > *wanted) {
        *wanted = end;
    } else if (is_fmt) {
        wav_read_fmt(wav);
    } else {
        wav->has_size = true;
        wav->size = wav_number(wav, wav->at + 8, 8);
    }
    return is_size && wav->size > (uint64_t)INT64_MAX ? "its ds64 chunk" : NULL;
}

static enum header_status wav_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    static const char *const magics[] = {"RIFF", "RIFX", "RF64", "BW64"};
    struct wav wav = {.data = data, .is_big = len >= 4 && memcmp(data, "RIFX", 4) == 0};
    bool is_wav = false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        is_wav |= memcmp(data, magics[i], len < 4 ? len : 4) == 0;
    if (!is_wav || (len >= WAV_RIFF_SIZE && memcmp(data + 8, "WAVE", 4) != 0))
        return HEADER_NONE;
    if (len < WAV_RIFF_SIZE)
        return need(WAV_RIFF_SIZE, wanted);
    uint64_t next = WAV_RIFF_SIZE;
    for (unsigned chunks = 0; chunks < WAV_CHUNKS_MAX; chunks++) {
        wav.at = (size_t)next + WAV_CHUNK_HEAD;
        if (len < wav.at)
            return need(wav.at, wanted);
        wav.chunk_size = wav_number(&wav, wav.at - 4, 4);
        if (wav_is_named(&wav, "data"))
            return wav_read_data(&wav, header, fault);
        *wanted = len;
        const char *what = wav_read_chunk(&wav, wanted);
        if (what)
            return wrong(WAV, what, fault);
        if (*wanted > len)
            return HEADER_PART;
        next = wav.at + wav.chunk_size + (wav.chunk_size & 1);
        if (next > HEADER_MAX - WAV_FMT_EXTENSIBLE - WAV_CHUNK_HEAD)
            return wrong(WAV, "more than 1 MiB comes before its data", fault);
    }
    return wrong(WAV, "too many chunks come before its data", fault);
}

/* --- binary PNM images: "P5" (PGM) or "P6" (PPM), then width, height and largest sample in
 * decimal, each after white space; a # in it begins a comment up to the end of the line. After one
 * more white space come samples of one byte, or of two, big-endian, if the largest is above 255 ---
 */

#define PNM "PNM"
#define PNM_MAGIC_SIZE 3           /* with the white space after it */
#define PNM_MAX ((size_t)16 << 10) /* bytes of the longest header that is read */
#define PNM_SIDE_MAX INT32_MAX     /* largest width or height */
#define PNM_SAMPLE_MAX 65535

static const char *const pnm_numbers[] = {"its width", "its height", "its largest sample"};
#define PNM_NUMBERS (sizeof pnm_numbers / sizeof pnm_numbers[0])

static bool pnm_is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips one character of white space; a comment and its newline count as one. HEADER_WRONG: there
 * is none. */
static enum header_status pnm_skip_blank(struct text *text)
{
    if (text->at < text->end && *text->at == '#') {
        const unsigned char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        text->at = newline ? newline : text->end;
    }
    if (text->at == text->end)
        return HEADER_PART;
    if (!pnm_is_blank(*text->at))
        return HEADER_WRONG;
    text->at++;
    return HEADER_FOUND;
}

/* Reads a number from 1 to `max` and the white space before it. */
static enum header_status pnm_number(struct text *text, uint64_t max, uint64_t *number)
{
    enum header_status blank = HEADER_FOUND;
    while (blank == HEADER_FOUND)
        blank = pnm_skip_blank(text);
    if (blank == HEADER_PART)
        return HEADER_PART;
    if (!read_digits(text, max, number))
        return HEADER_WRONG;
    if (text->at == text->end)
        return HEADER_PART;
    bool is_ended = pnm_is_blank(*text->at) || *text->at == '#';
    return *number > 0 && is_ended ? HEADER_FOUND : HEADER_WRONG;
}

static enum header_status pnm_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    uint64_t number[PNM_NUMBERS];
    struct text text = {data + PNM_MAGIC_SIZE - 1, data + (len < PNM_MAX ? len : PNM_MAX)};
    if (data[0] != 'P' || (len > 1 && data[1] != '5' && data[1] != '6') ||
        (len > 2 && !pnm_is_blank(data[2]) && data[2] != '#'))
        return HEADER_NONE;
    if (len < PNM_MAGIC_SIZE)
        return need(PNM_MAGIC_SIZE, wanted);
    enum header_status status = HEADER_FOUND;
    size_t i = 0;
    for (; i < PNM_NUMBERS && status == HEADER_FOUND; i++)
        status = pnm_number(&text, i < 2 ? PNM_SIDE_MAX : PNM_SAMPLE_MAX, &number[i]);
    if (status == HEADER_FOUND)
        status = pnm_skip_blank(&text);
    if (status == HEADER_PART && len >= PNM_MAX)
        return wrong(PNM, "it is too long", fault);
    if (status == HEADER_PART)
        return need(len + 1, wanted);
    if (status == HEADER_WRONG)
        return wrong(PNM, pnm_numbers[i - 1], fault);
    const unsigned channels = data[1] == '5' ? 1 : 3, size = number[2] > UINT8_MAX ? 2 : 1;
    const uint64_t pixels = number[0] * number[1]; /* below 2^62 */
    if (pixels > (uint64_t)INT64_MAX / (channels * size))
        return wrong(PNM, "its sides are too long", fault);
    *header = (struct header){.size = (size_t)(text.at - data),
                              .channels = channels,
                              .bytes = pixels * channels * size,
                              .extent = HEADER_EXACT};
    snprintf(header->holds, sizeof header->holds, "%u-bit samples", 8 * size);
    set_type(header, 'u', size, true);
    return HEADER_FOUND;
}

/* --- all formats --- */

/* No two of them begin with the same byte. */
static const struct {
    const char *name;
    size_t magic_size; /* with this many bytes, HEADER_PART means that the format is certain */
    /* Reads a header as header_peek, with len > 0 and `wanted`. */
    enum header_status (*peek)(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault);
} formats[] = {{NPY, NPY_MAGIC_SIZE, npy_peek},
               {WAV, WAV_RIFF_SIZE, wav_peek},
               {PNM, PNM_MAGIC_SIZE, pnm_peek}};

enum header_status header_peek(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault)
{
    const size_t count = sizeof formats / sizeof formats[0];
    enum header_status status = len > 0 ? HEADER_NONE : HEADER_PART;
    size_t min = 1, format = 0;
    for (size_t i = 0; i < count && status == HEADER_NONE; i++) {
        format = i;
        status = formats[i].peek(data, len, &min, header, fault);
    }
    if (status == HEADER_FOUND)
        header->format = formats[format].name;
    if (status == HEADER_PART && wanted)
        *wanted = min;
    if (status != HEADER_PART || wanted)
        return status;
    if (len < formats[format].magic_size)
        return HEADER_NONE;
    error_set(fault, "ends inside its %s header", formats[format].name);
    return HEADER_WRONG;
}

bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct error *fault)
{
    if (!header->type[0])
        error_set(fault, "holds %s, which --values cannot count", header->holds);
    else if (strcmp(header->type, type) != 0)
        error_set(fault, "holds %s; use --values=%s", header->holds, header->type);
    else if (channels > 1 && header->is_planar)
        error_set(fault, "is in Fortran order, so its channels are not interleaved");
    else if (channels > 1 && header->channels == 1)
        error_set(fault, "has one channel; leave out --channels");
    else if (channels > 1 && header->channels > 0 && header->channels != channels)
        error_set(fault, "has %u channels; use --channels=%u", header->channels, header->channels);
    else
        return true;
    return false;
}

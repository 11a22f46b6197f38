/* SPDX-License-Identifier: MIT */
/* Headers of WAV and PNM files (tests/cli/npy.sh has those of .npy): what each says, that the same
 * is said however much of it is there, and that no byte past what is there is read. */
#include "src/input/input.h"
#include "tests/helpers/guarded.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY ((size_t)2 << 20)

static unsigned cases, failures;
static unsigned char made[CAPACITY]; /* the file of a case */
static size_t made_len;
static bool is_big; /* its numbers are big-endian */

static void check(bool holds, const char *name, const char *what)
{
    cases++;
    failures += !holds;
    if (!holds)
        printf("FAILED: %s: %s\n", name, what);
}

/* --- making files --- */

static void add(const void *bytes, size_t len)
{
    memcpy(made + made_len, bytes, len);
    made_len += len;
}

static void add_number(uint64_t number, unsigned len)
{
    for (unsigned i = 0; i < len; i++)
        made[made_len++] = (unsigned char)(number >> 8 * (is_big ? len - 1 - i : i));
}

static void begin_wav(const char *magic, uint32_t size)
{
    made_len = 0;
    is_big = strcmp(magic, "RIFX") == 0;
    add(magic, 4);
    add_number(size, 4);
    add("WAVE", 4);
}

/* A chunk whose bytes are zeros, with the one that pads it. */
static void add_chunk(const char *name, uint32_t size)
{
    add(name, 4);
    add_number(size, 4);
    memset(made + made_len, 0, size + 1);
    made_len += size + (size & 1);
}

struct format {
    unsigned coding, channels, bits;
    unsigned guid; /* coding is the extensible one: that of the GUID */
};

static void add_fmt(const struct format *format)
{
    const unsigned size = format->channels * ((format->bits + 7) / 8);
    add("fmt ", 4);
    add_number(format->coding == 0xFFFE ? 40 : 16, 4);
    add_number(format->coding, 2);
    add_number(format->channels, 2);
    add_number(44100, 4);
    add_number(44100 * size, 4);
    add_number(size, 2);
    add_number(format->bits, 2);
    if (format->coding != 0xFFFE)
        return;
    add_number(22, 2);
    add_number(format->bits - 4, 2); /* bits that count */
    add_number(3, 4);
    add_number(format->guid, 4);
    add_number(0, 2);
    add_number(0x10, 2);
    add("\x80\0\0\xaa\0\x38\x9b\x71", 8);
}

static void add_data(uint32_t size)
{
    add("data", 4);
    add_number(size, 4);
}

/* --- looking --- */

/* Looks at the first len bytes of the file, after which a page faults. */
static enum header_status peek(size_t len, size_t *wanted, struct header *header,
                               struct error *fault)
{
    static unsigned char *memory;
    if (!memory)
        memory = guarded_memory(CAPACITY);
    memcpy(memory + CAPACITY - len, made, len);
    return header_peek(memory + CAPACITY - len, len, wanted, header, fault);
}

/* Looks at as many bytes as are wanted at a time. The same must be said of all there are. */
static enum header_status look_on(const char *name, struct header *header, struct error *fault)
{
    struct header again;
    size_t wanted = 0, len = 0;
    enum header_status status = HEADER_PART;
    while (status == HEADER_PART && wanted <= made_len) {
        len = wanted;
        status = peek(len, &wanted, header, fault);
        check(status != HEADER_PART || (wanted > len && wanted <= HEADER_MAX), name,
              "what is wanted next makes no sense");
    }
    if (status == HEADER_FOUND)
        check(header->size == len, name, "more bytes were wanted than the header has");
    check(peek(made_len, &wanted, &again, fault) == status, name,
          "the whole says something else than its beginning");
    return status;
}

/* The file has a header that says this, and nothing of it may be missing. */
static void found(const char *name, const char *type, unsigned channels, uint64_t bytes,
                  enum header_extent extent)
{
    struct header header = {.size = 0};
    struct error fault = {""};
    if (look_on(name, &header, &fault) != HEADER_FOUND) {
        check(false, name, fault.text[0] ? fault.text : "no header");
        return;
    }
    check(strcmp(header.type, type) == 0, name, header.type);
    check(header.channels == channels, name, "channels");
    check(header.bytes == bytes, name, "bytes");
    check(header.extent == extent, name, "what may follow");
    for (size_t len = 0; len < header.size; len += len < 300 ? 1 : 997) {
        struct header unused;
        enum header_status status = header_peek(made, len, NULL, &unused, &fault);
        check(status == HEADER_NONE ||
                  (status == HEADER_WRONG && strstr(fault.text, "ends inside")),
              name, "a header that is cut is taken");
        check(status == HEADER_WRONG || len < HEADER_MAGIC_MAX, name, "a cut header is overlooked");
    }
}

/* The file is refused, with this in the message. */
static void refused(const char *name, const char *text)
{
    struct header header;
    struct error fault = {""};
    check(look_on(name, &header, &fault) == HEADER_WRONG && strstr(fault.text, text), name,
          fault.text);
}

static void none(const char *name)
{
    struct header header;
    struct error fault;
    check(look_on(name, &header, &fault) == HEADER_NONE, name, "a header is found");
}

/* --- WAV --- */

static void test_types(void)
{
    static const struct {
        const char *magic;
        struct format format;
        const char *type;
    } rows[] = {
        {"RIFF", {1, 1, 8, 0}, "u8"},
        {"RIFF", {1, 2, 16, 0}, "i16"},
        {"RIFF", {1, 6, 24, 0}, "i24"},
        {"RIFF", {1, 2, 32, 0}, "i32"},
        {"RIFF", {1, 2, 12, 0}, "i16"},
        {"RIFF", {1, 1, 20, 0}, "i24"},
        {"RIFF", {3, 2, 32, 0}, "f32"},
        {"RIFF", {3, 1, 64, 0}, "f64"},
        {"RIFF", {0xFFFE, 2, 16, 1}, "i16"},
        {"RIFF", {0xFFFE, 8, 24, 1}, "i24"},
        {"RIFF", {0xFFFE, 2, 32, 3}, "f32"},
        {"RIFF", {0xFFFE, 2, 32, 1}, "i32"},
        {"RIFX", {1, 2, 16, 0}, "i16be"},
        {"RIFX", {1, 2, 24, 0}, "i24be"},
        {"RIFX", {3, 1, 64, 0}, "f64be"},
        {"RIFX", {1, 1, 8, 0}, "u8"},
        {"RIFX", {0xFFFE, 1, 32, 3}, "f32be"},
        {"RF64", {1, 2, 16, 0}, "i16"},
        {"BW64", {1, 2, 16, 0}, "i16"},
        {"RIFF", {1, 65535, 8, 0}, "u8"},
        {"RIFF", {6, 1, 8, 0}, ""},
        {"RIFF", {0x55, 2, 0, 0}, ""},
        {"RIFF", {1, 2, 40, 0}, ""},
        {"RIFF", {3, 2, 16, 0}, ""},
        {"RIFF", {0xFFFE, 2, 16, 6}, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        const struct format *format = &rows[i].format;
        snprintf(name, sizeof name, "%s, coding %u, %u bits", rows[i].magic, format->coding,
                 format->bits);
        begin_wav(rows[i].magic, 36 + 480);
        add_fmt(format);
        add_data(480);
        found(name, rows[i].type, format->channels, 480, HEADER_LEADING);
    }
}

static void test_chunks(void)
{
    const struct format format = {1, 2, 16, 0};
    begin_wav("RIFF", 5000);
    add_chunk("JUNK", 28);
    add_chunk("bext", 603); /* odd: padded */
    add_fmt(&format);
    add_chunk("LIST", 1);
    add_chunk("fact", 4);
    add_chunk("none", 0);
    add_data(400);
    found("chunks before the data", "i16", 2, 400, HEADER_LEADING);
    begin_wav("RIFF", 5000);
    add_fmt(&format);
    add_chunk("id3 ", (1 << 20) - 200);
    add_data(400);
    found("a chunk of nearly 1 MiB", "i16", 2, 400, HEADER_LEADING);
    begin_wav("RIFF", 5000);
    add_fmt(&format);
    add_chunk("id3 ", 1 << 20);
    add_data(400);
    refused("a chunk of 1 MiB", "more than 1 MiB comes before its data");
    begin_wav("RIFF", 5000);
    for (unsigned i = 0; i < 1001; i++)
        add_chunk("none", 0);
    refused("many chunks", "too many chunks");
    begin_wav("RIFF", 5000);
    add("huge\xff\xff\xff\xff", 8);
    refused("a huge chunk", "more than 1 MiB comes before its data");
    begin_wav("RIFF", 5000);
    add_data(400);
    refused("no format", "its data come before its format");
    made_len = 0;
    add("RIFF\x10\0\0\0AVI LIST", 16);
    none("AVI");
    made_len = 0;
    add("RIFT\x10\0\0\0WAVE", 12);
    none("RIFT");
}

static void test_sizes(void)
{
    static const struct {
        uint32_t whole, stated;
        uint64_t bytes;
        enum header_extent extent;
    } rows[] = {
        {36, 0, HEADER_TO_END, HEADER_LEADING}, /* not set yet */
        {0, 0, HEADER_TO_END, HEADER_LEADING},
        {0xFFFFFFFF, 0, HEADER_TO_END, HEADER_LEADING},
        {0xFFFFFFFF, 0xFFFFFFFF, HEADER_TO_END, HEADER_LEADING},
        {36 + 20, 0, 0, HEADER_LEADING},                   /* nothing, and then another chunk */
        {0x7FFFF024, 0x7FFFF000, 0x7FFFF000, HEADER_OPEN}, /* sox */
        {0x80000024, 0x80000000, 0x80000000, HEADER_OPEN}, /* arecord */
        {0x7FFF0024, 0x7FFE0000, 0x7FFE0000, HEADER_LEADING},
        {0x80000030, 0x80000004, 0x80000004, HEADER_LEADING},
        {36 + 1, 1, 1, HEADER_LEADING},
    };
    const struct format format = {1, 1, 16, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "a size of %#x", rows[i].stated);
        begin_wav("RIFF", rows[i].whole);
        add_fmt(&format);
        add_data(rows[i].stated);
        found(name, "i16", 1, rows[i].bytes, rows[i].extent);
    }
    for (unsigned i = 0; i < 2; i++) {
        begin_wav("RF64", 0xFFFFFFFF);
        add("ds64\x1c\0\0\0", 8);
        add_number(0, 8);
        add_number(i ? (uint64_t)1 << 63 : (uint64_t)1 << 40, 8);
        add("\0\0\0\0\0\0\0\0\0\0\0", 12);
        add_fmt(&format);
        add_data(0xFFFFFFFF);
        if (i == 0)
            found("RF64 of 1 TiB", "i16", 1, (uint64_t)1 << 40, HEADER_LEADING);
        else
            refused("RF64 of 2^63 bytes", "its ds64 chunk");
    }
}

static void test_wrong_formats(void)
{
    const struct format good = {1, 2, 16, 0};
    const struct {
        size_t at;
        unsigned char byte;
    } spoilt[] = {{16, 15}, {22, 0}, {22, 3}, {32, 3}, {32, 0}, {34, 0}, {34, 17}};
    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "byte %zu is %u", spoilt[i].at, spoilt[i].byte);
        begin_wav("RIFF", 36 + 400);
        add_fmt(&good);
        add_data(400);
        made[spoilt[i].at] = spoilt[i].byte;
        refused(name, "invalid WAV header (its fmt chunk)");
    }
    begin_wav("RIFF", 36 + 400);
    add_fmt(&(struct format){0xFFFE, 2, 16, 1});
    made[20 + 24 + 15] ^= 1; /* the GUID's last byte */
    add_data(400);
    found("another GUID", "", 2, 400, HEADER_LEADING);
}

/* --- PNM --- */

static void text(const char *header)
{
    made_len = 0;
    add(header, strlen(header));
}

static void test_images(void)
{
    static const struct {
        const char *header, *type;
        unsigned channels;
        uint64_t bytes;
    } good[] = {
        {"P5\n100 50\n255\n", "u8", 1, 5000},
        {"P6\n100 50\n255\n", "u8", 3, 15000},
        {"P5 1 1 1 ", "u8", 1, 1},
        {"P5\n100 50\n256\n", "u16be", 1, 10000},
        {"P6\r\n100\t50\v65535\f", "u16be", 3, 30000},
        {"P5\n# made by hand\n100 #width\n\n50\n#\n# x\n255\n", "u8", 1, 5000},
        {"P5#\n100 50 255#c\n", "u8", 1, 5000},
        {"P5\n00100 050 0255\n", "u8", 1, 5000},
        {"P6 2147483647 429496729 255\n", "u8", 3, 3 * (uint64_t)2147483647 * 429496729},
    };
    static const struct {
        const char *header, *text;
    } bad[] = {
        {"P5\nx", "its width"},
        {"P5\n0 50\n255\n", "its width"},
        {"P5\n-1 50\n255\n", "its width"},
        {"P5\n2147483648 50\n255\n", "its width"},
        {"P5\n100 50.0\n255\n", "its height"},
        {"P5\n100\n\n65535\n65536\n", "its largest sample"},
        {"P5\n100 50\n255x", "its largest sample"},
        {"P5\n100 50\n0\n", "its largest sample"},
        {"P6 2147483647 2147483647 65535\n", "its sides are too long"},
    };
    static const char *const others[] = {"P4\n1 1\n", "P2\n1 1 1\n", "P7\n", "P50 ", "P", "Q5\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        text(good[i].header);
        found(good[i].header, good[i].type, good[i].channels, good[i].bytes, HEADER_EXACT);
        add("abc", 3);
        struct header header;
        struct error fault;
        size_t wanted;
        check(peek(made_len, &wanted, &header, &fault) == HEADER_FOUND &&
                  header.size + 3 == made_len,
              good[i].header, "its size, if samples follow");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        text(bad[i].header);
        refused(bad[i].header, bad[i].text);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct header header;
        struct error fault;
        text(others[i]);
        check(header_peek(made, made_len, NULL, &header, &fault) == HEADER_NONE, others[i],
              "a header is found");
    }
    memset(made, '#', 20000);
    memcpy(made, "P5\n", 3);
    made_len = 20000;
    refused("a comment without an end", "it is too long");
}

int main(void)
{
    test_types();
    test_chunks();
    test_sizes();
    test_wrong_formats();
    test_images();
    printf("%u cases, %u wrong\n", cases, failures);
    return failures > 0;
}

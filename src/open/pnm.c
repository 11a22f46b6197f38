/* SPDX-License-Identifier: MIT */
/* Binary PNM images: "P5" (PGM) or "P6" (PPM), then width, height and largest sample in decimal,
 * each after white space; a # in it begins a comment up to the end of the line. After one more
 * white space come samples of one byte, or of two, big-endian, if the largest is above 255. */
#include "header.h"

#include <stdio.h>
#include <string.h>

#define PNM "PNM"
#define PNM_MAGIC_SIZE 3           /* with the white space after it */
#define PNM_MAX ((size_t)16 << 10) /* bytes of the longest header that is read */
#define SIDE_MAX INT32_MAX         /* largest width or height */
#define SAMPLE_MAX 65535

static const char *const numbers[] = {"its width", "its height", "its largest sample"};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

/* The text so far. */
struct pnm_text {
    const unsigned char *at, *end;
};

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips one character of white space; a comment and its newline count as one. HEADER_WRONG: there
 * is none. */
static enum header_status skip_blank(struct pnm_text *text)
{
    if (text->at < text->end && *text->at == '#') {
        const unsigned char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        text->at = newline ? newline : text->end;
    }
    if (text->at == text->end)
        return HEADER_PART;
    if (!is_blank(*text->at))
        return HEADER_WRONG;
    text->at++;
    return HEADER_FOUND;
}

/* Reads a number from 1 to `max` and the white space before it. */
static enum header_status read_number(struct pnm_text *text, uint64_t max, uint64_t *number)
{
    enum header_status blank = HEADER_FOUND;
    while (blank == HEADER_FOUND)
        blank = skip_blank(text);
    if (blank == HEADER_PART)
        return HEADER_PART;
    for (*number = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        *number = *number * 10 + (uint64_t)(*text->at - '0');
        if (*number > max)
            return HEADER_WRONG;
    }
    if (text->at == text->end)
        return HEADER_PART;
    return *number > 0 && (is_blank(*text->at) || *text->at == '#') ? HEADER_FOUND : HEADER_WRONG;
}

/* Fills the header. */
static enum header_status describe_image(const uint64_t number[NUMBERS], unsigned channels,
                                         struct header *header, struct error *fault)
{
    const unsigned size = number[2] > UINT8_MAX ? 2 : 1;
    const uint64_t pixels = number[0] * number[1]; /* below 2^62 */
    if (pixels > (uint64_t)INT64_MAX / (channels * size))
        return header_wrong(PNM, "its sides are too long", fault);
    snprintf(header->holds, sizeof header->holds, "%u-bit samples", 8 * size);
    strcpy(header->type, size == 1 ? "u8" : "u16be");
    header->channels = channels;
    header->bytes = pixels * channels * size;
    header->extent = HEADER_EXACT;
    return HEADER_FOUND;
}

static enum header_status pnm_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    uint64_t number[NUMBERS];
    struct pnm_text text = {data + PNM_MAGIC_SIZE - 1, data + (len < PNM_MAX ? len : PNM_MAX)};
    if (data[0] != 'P' || (len > 1 && data[1] != '5' && data[1] != '6') ||
        (len > 2 && !is_blank(data[2]) && data[2] != '#'))
        return HEADER_NONE;
    if (len < PNM_MAGIC_SIZE)
        return header_need(PNM_MAGIC_SIZE, wanted);
    enum header_status status = HEADER_FOUND;
    size_t i = 0;
    for (; i < NUMBERS && status == HEADER_FOUND; i++)
        status = read_number(&text, i < 2 ? SIDE_MAX : SAMPLE_MAX, &number[i]);
    if (status == HEADER_FOUND)
        status = skip_blank(&text);
    if (status == HEADER_PART && len >= PNM_MAX)
        return header_wrong(PNM, "it is too long", fault);
    if (status == HEADER_PART)
        return header_need(len + 1, wanted);
    if (status == HEADER_WRONG)
        return header_wrong(PNM, numbers[i - 1], fault);
    *header = (struct header){.size = (size_t)(text.at - data)};
    return describe_image(number, data[1] == '5' ? 1 : 3, header, fault);
}

const struct header_format header_pnm = {PNM, PNM_MAGIC_SIZE, pnm_peek};

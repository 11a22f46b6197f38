/* SPDX-License-Identifier: MIT */
#include "characters.h"

#include <stdio.h>
#include <string.h>

size_t characters_head(const unsigned char *data, size_t len)
{
    size_t head = 0;
    while (head < CHARACTER_SIZE_MAX - 1 && head < len && character_continues(data[head]))
        head++;
    return head;
}

size_t characters_tail(const unsigned char *data, size_t len)
{
    size_t tail = 1;
    uint32_t row;
    while (tail < CHARACTER_SIZE_MAX && tail <= len && character_continues(data[len - tail]))
        tail++;
    if (tail >= CHARACTER_SIZE_MAX || tail > len || data[len - tail] < 0xc2)
        return 0;
    /* The character is cut off if all of its bytes are the beginning of a longer one. */
    const unsigned char *begin = data + len - tail;
    const size_t size = begin[0] < 0xe0 ? 2 : begin[0] < 0xf0 ? 3 : 4;
    const size_t used = character_decode(begin, tail, &row);
    return row == CHARACTER_INVALID && used == tail && tail < size && begin[0] <= 0xf4 ? tail : 0;
}

static unsigned encode(uint32_t character, unsigned char bytes[CHARACTER_SIZE_MAX])
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const unsigned size = character_size(character);
    for (unsigned i = size - 1; i > 0; i--, character >>= 6)
        bytes[i] = (unsigned char)(0x80 | (character & 0x3f));
    bytes[0] = (unsigned char)(marks[size] | character);
    return size;
}

bool character_is_hidden(uint32_t character)
{
    const char *category =
        character_categories.names[character_group(&character_categories, character)];
    return category[0] == 'Z' || strcmp(category, "Cc") == 0 || strcmp(category, "Cf") == 0;
}

void character_show(uint32_t character, char text[ROW_TEXT])
{
    unsigned char bytes[CHARACTER_SIZE_MAX];
    if (character < 0x80) {
        byte_show(character, text);
        return;
    }
    const unsigned size = encode(character, bytes);
    const bool hidden = character_is_hidden(character);
    char *end = text;
    for (unsigned i = 0; i < size; i++)
        if (hidden)
            end += snprintf(end, 5, "\\x%02x", bytes[i]);
        else
            *end++ = (char)bytes[i];
    *end = '\0';
}

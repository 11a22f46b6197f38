/* SPDX-License-Identifier: MIT */
#include "format.h"

#include "src/tally/characters.h"
#include "src/tally/file_tallies.h"
#include "src/tally/key_tallies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- files or keys --- */

struct groups groups_of_files(const struct file_groups *files)
{
    const bool are_blocks = file_tallies_block_size(files->tallies) > 0;
    return (struct groups){
        .columns = {are_blocks && files->count <= 1 ? NULL : "file", are_blocks ? "offset" : NULL},
        .files = files,
        .count = file_tallies_count(files->tallies),
        .all = file_tallies_count(files->tallies),
        .rest = SIZE_MAX,
        .missing = SIZE_MAX,
    };
}

struct groups groups_of_keys(const struct key_tallies *keys, size_t top, const char *column,
                             bool skip_invalid)
{
    const size_t all = key_tallies_count(keys);
    struct groups groups = {
        .columns = {column},
        .keys = keys,
        .parts = key_tallies_parts(keys),
        .count = all > top ? top + 1 : all,
        .all = all,
        .rest = all > top ? top : SIZE_MAX,
        .missing = SIZE_MAX,
        .skip_invalid = skip_invalid,
    };
    if (key_tallies_samples(keys, all) > 0 && !skip_invalid)
        groups.missing = groups.count++;
    return groups;
}

/* Returns the name of a group as it was found. It is neither `rest` nor `missing`. */
static struct key_name groups_name(const struct groups *groups, size_t group)
{
    if (groups->keys)
        return key_tallies_name(groups->keys, group);
    const struct file_groups *files = groups->files;
    const char *name =
        files->count > 0 ? files->names[file_tallies_position(files->tallies, group).file] : "-";
    return (struct key_name){(const unsigned char *)name, strlen(name)};
}

int group_tally_open(struct group_tally *memory, const struct histogram_spec *spec)
{
    if (tally_open(&memory->tally, spec) != 0)
        return -1;
    row_blocks_clear(&memory->blocks, memory->tally.bins);
    memory->tally.blocks = &memory->blocks;
    return 0;
}

uint64_t groups_samples(const struct groups *groups, size_t group)
{
    const size_t first = group == groups->missing ? groups->all : group;
    const size_t end = group == groups->rest ? groups->all : first + 1;
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += key_tallies_samples(groups->keys, i);
    return sum;
}

void groups_load(const struct groups *groups, size_t group, const struct histogram_spec *spec,
                 struct tally *tally)
{
    if (!groups->keys)
        file_tallies_load(groups->files->tallies, group, tally);
    else if (group == groups->rest)
        key_tallies_load_from(groups->keys, group, tally);
    else
        key_tallies_load(groups->keys, group == groups->missing ? groups->all : group, tally);
    if (groups->skip_invalid)
        tally_skip_invalid(tally, spec);
}

/* --- names as text --- */

/* True if all bytes are characters of ASCII that are written as they are. */
static bool is_plain(const unsigned char *name, size_t len)
{
    unsigned char others = 0;
    for (size_t i = 0; i < len; i++)
        others |= name[i] < ' ' || name[i] >= 0x7f || name[i] == '\\';
    return !others;
}

size_t name_text(const unsigned char *name, size_t len, bool is_ascii, char *text)
{
    char *end = text;
    size_t size;
    if (is_plain(name, len)) {
        memcpy(text, name, len);
        text[len] = '\0';
        return len;
    }
    for (size_t at = 0; at < len; at += size) {
        uint32_t character;
        size = character_decode(name + at, len - at, &character);
        if (character == CHARACTER_INVALID || (is_ascii && character >= 0x80) ||
            (character != ' ' && character_is_hidden(character))) {
            for (size_t i = 0; i < size; i++, end += SHOW_ESCAPE)
                show_escape(name[at + i], end);
        } else {
            if (character == '\\')
                *end++ = '\\';
            memcpy(end, name + at, size);
            end += size;
        }
    }
    *end = '\0';
    return (size_t)(end - text);
}

/* Returns the length of the character or escape that begins a text. */
static size_t unit_length(const char *text, size_t len)
{
    uint32_t character;
    if (*text == '\\')
        return text[1] == 'x' ? NAME_TEXT_BYTE : 2;
    return character_decode((const unsigned char *)text, len, &character);
}

/* Shortens a text of name_text to at most `max` bytes: leaves out the middle, but no part of a
 * character or escape, and puts `gap` there, all of it even if it is longer. Does nothing if the
 * text is not longer. */
static void name_text_shorten(char *text, size_t max, const char *gap)
{
    const size_t len = strlen(text), gap_len = strlen(gap);
    max = max > gap_len ? max : gap_len;
    if (len <= max)
        return;
    /* The end is kept as well as the beginning: names often differ there. */
    const size_t head_max = (max - gap_len) / 2, tail_max = max - gap_len - head_max;
    size_t head = 0, at = 0;
    while (at < len - tail_max) {
        head = at <= head_max ? at : head;
        at += unit_length(text + at, len - at);
    }
    memcpy(text + head, gap, gap_len);
    memmove(text + head + gap_len, text + at, len - at + 1);
}

#define GAP_CAPACITY 16 /* "~4294967295~" */

struct key_name groups_part(const struct groups *groups, size_t group, unsigned i)
{
    const struct key_name name = groups_name(groups, group);
    return groups->parts > 1 ? key_parts_get(name, groups->parts, i) : name;
}

static const char *special_name(const struct groups *groups, size_t group)
{
    return group == groups->rest ? GROUP_REST : group == groups->missing ? GROUP_MISSING : NULL;
}

/* Replaces the byte at `at` in a text of `len` bytes by its escape. */
static void put_escape(char *text, size_t at, size_t len, const char *escape)
{
    memmove(text + at + NAME_TEXT_BYTE, text + at + 1, len - at);
    memcpy(text + at, escape, NAME_TEXT_BYTE);
}

/* Replaces all blanks of a text by escapes. Returns its length. */
static size_t escape_blanks(char *text, size_t len)
{
    size_t longer = len;
    for (size_t i = 0; i < len; i++)
        longer += text[i] == ' ' ? NAME_TEXT_BYTE - 1 : 0;
    for (size_t i = len, at = longer; at > i;) {
        const char c = text[--i];
        at -= c == ' ' ? NAME_TEXT_BYTE : 1;
        memcpy(text + at, c == ' ' ? "\\x20" : &c, c == ' ' ? NAME_TEXT_BYTE : 1);
    }
    return longer;
}

/* Writes part i of a name, and returns its length. In a picture no part ends with a blank, and if
 * there are several, none has one. */
static size_t write_part(const struct groups *groups, size_t group, unsigned i, char *text)
{
    const char *special = special_name(groups, group);
    if (special) {
        strcpy(text, i == 0 ? special : "");
        return strlen(text);
    }
    const struct key_name part = groups_part(groups, group, i);
    size_t len = name_text(part.bytes, part.len, groups->is_ascii, text);
    if (groups->keys && i == 0 &&
        (strcmp(text, GROUP_REST) == 0 || strcmp(text, GROUP_MISSING) == 0)) {
        put_escape(text, 0, len, "\\x28");
        len += NAME_TEXT_BYTE - 1;
    }
    if (groups->shown_max[0] > 0 && groups->parts > 1) {
        len = escape_blanks(text, len);
    } else if (groups->shown_max[0] > 0 && len > 0 && text[len - 1] == ' ') {
        put_escape(text, len - 1, len, "\\x20");
        len += NAME_TEXT_BYTE - 1;
    }
    text[len] = '\0';
    return len;
}

/* Writes the name of a group as it is shown. True if a part of it is shortened. */
static bool write_name(const struct groups *groups, size_t group, char *text)
{
    const bool is_picture = groups->shown_max[0] > 0;
    bool is_shorter = false;
    char gap[GAP_CAPACITY] = "...";
    if (is_picture && groups->gaps[group] > 0)
        snprintf(gap, sizeof gap, "~%" PRIu32 "~", groups->gaps[group]);
    for (unsigned i = 0; i == 0 || i < groups->parts; i++) {
        if (i > 0)
            *text++ = GROUP_SEPARATOR;
        const size_t len = write_part(groups, group, i, text);
        if (is_picture && len > groups->shown_max[i]) {
            name_text_shorten(text, groups->shown_max[i], gap);
            is_shorter = true;
        }
        text += strlen(text);
    }
    return is_shorter;
}

void groups_show_name(const struct groups *groups, size_t group, char *text)
{
    (void)write_name(groups, group, text);
}

size_t groups_name_capacity(const struct groups *groups)
{
    size_t longest = sizeof GROUP_MISSING + KEY_PARTS_MAX;
    for (size_t group = 0; groups->columns[GROUP_NAME] && group < groups->count; group++) {
        const size_t len = special_name(groups, group) ? 0 : groups_name(groups, group).len;
        longest = len > longest ? len : longest;
    }
    return NAME_TEXT_BYTE * longest + 1;
}

/* --- names in a picture --- */

#define NAME_OTHERS 2  /* each part of names takes at most half of a line's rest, */
#define NAME_WANTED 15 /* but not fewer characters than these, if there is room, */
#define NAME_MIN 6     /* and never fewer than these */
#define PART_MIN 4     /* of several parts none is cut that has fewer */

/* Adds the name of a group to a table. Returns whether it is a new one, or -1: memory is short. */
static int add_name(struct key_table *names, const struct groups *groups, size_t group, char *text)
{
    const size_t count = names->count;
    groups_show_name(groups, group, text);
    const unsigned char *name = (const unsigned char *)text;
    const size_t len = strlen(text);
    if (key_table_find(names, key_hash(&names->seed, name, len), name, len) == KEY_FAILED)
        return -1;
    return names->count > count;
}

/* Gives names gaps that tell them apart. Those that fit come first, as they stay what they are. No
 * number is tried twice, so few tries are in vain. 0, or -1: memory is short. */
static int number_gaps(struct key_table *names, const struct groups *groups, char *text)
{
    uint32_t last = 1;
    for (int is_longer = 0; is_longer <= 1; is_longer++)
        for (size_t group = 0; group < groups->count; group++) {
            if (write_name(groups, group, text) != is_longer)
                continue;
            int rc;
            while ((rc = add_name(names, groups, group, text)) == 0)
                groups->gaps[group] = ++last;
            if (rc < 0)
                return -1;
        }
    return 0;
}

/* Gives each part of names as many bytes as the longest one takes, or fewer where all that takes
 * more than `max`: the longest parts are cut first, but none to less than a gap. */
static void share_width(struct groups *groups, size_t max, char *text)
{
    size_t longest[KEY_PARTS_MAX] = {1, 1, 1, 1}, sum = 0, widest = 0;
    groups->shown_max[0] = max;
    for (unsigned i = 0; groups->parts > 1 && i < groups->parts; i++) {
        for (size_t group = 0; group < groups->count; group++) {
            const size_t len = write_part(groups, group, i, text);
            longest[i] = len > longest[i] ? len : longest[i];
        }
        longest[i] = longest[i] < max ? longest[i] : max;
        sum += longest[i] + (i > 0 ? PICTURE_GAP : 0);
    }
    for (; sum > max; sum--) {
        for (unsigned i = 0; i < groups->parts; i++)
            widest = longest[i] > longest[widest] ? i : widest;
        if (longest[widest]-- < PART_MIN)
            break;
    }
    if (groups->parts > 1)
        memcpy(groups->shown_max, longest, sizeof longest);
}

int groups_shorten_names(struct groups *groups, const struct screen *screen, size_t beside)
{
    const size_t parts = groups->parts > 0 ? groups->parts : 1;
    size_t max = screen->columns * parts / (parts + NAME_OTHERS);
    max = max > NAME_WANTED * parts ? max : NAME_WANTED * parts;
    max = max + beside <= screen->columns ? max : screen->columns - beside;
    max = beside + NAME_MIN <= screen->columns ? max : NAME_MIN;
    const struct key_seed seed = key_tallies_seed(groups->keys);
    struct key_table names;
    int rc = key_table_open(&names, &seed, false);
    char *text = malloc(groups_name_capacity(groups));
    groups->is_ascii = !screen->utf8;
    groups->gaps = calloc(groups->count + 1, sizeof groups->gaps[0]);
    rc = rc == 0 && text && groups->gaps ? 0 : -1;
    if (rc == 0) {
        share_width(groups, max, text);
        rc = number_gaps(&names, groups, text);
    }
    free(text);
    key_table_close(&names);
    return rc;
}

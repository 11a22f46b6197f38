/* SPDX-License-Identifier: MIT */
#include "groups.h"

#include "src/base/show.h"

#include <string.h>

#define SHOWN_BYTE 4 /* characters of a byte that is not printable: \xNN */

static struct key_name name_of(const char *text)
{
    return (struct key_name){(const unsigned char *)text, strlen(text)};
}

/* --- files --- */

static struct key_name file_name(const void *of, size_t result)
{
    const struct file_groups *files = of;
    if (files->count == 0)
        return name_of("-");
    return name_of(files->names[file_tallies_place(files->tallies, result).file]);
}

static uint64_t offset_of_block(const void *of, size_t result)
{
    const struct file_groups *files = of;
    return file_tallies_place(files->tallies, result).offset;
}

static void load_file(const void *of, size_t result, struct tally *tally)
{
    const struct file_groups *files = of;
    file_tallies_load(files->tallies, result, tally);
}

struct groups groups_of_files(const struct file_groups *files)
{
    const bool are_blocks = file_tallies_block_size(files->tallies) > 0;
    return (struct groups){
        .columns = {are_blocks && files->count <= 1 ? NULL : "file", are_blocks ? "offset" : NULL},
        .count = file_tallies_count(files->tallies),
        .all = file_tallies_count(files->tallies),
        .rest = SIZE_MAX,
        .missing = SIZE_MAX,
        .of = files,
        .name = file_name,
        .offset = offset_of_block,
        .load = load_file,
    };
}

/* --- keys --- */

static struct key_name name_of_key(const void *of, size_t key)
{
    return key_tallies_name(of, key);
}

static uint64_t samples_of_key(const void *of, size_t key)
{
    return key_tallies_samples(of, key);
}

static void load_key(const void *of, size_t key, struct tally *tally)
{
    key_tallies_load(of, key, tally);
}

static void load_keys_from(const void *of, size_t key, struct tally *tally)
{
    key_tallies_load_from(of, key, tally);
}

struct groups groups_of_keys(const struct key_tallies *keys, size_t top, const char *column,
                             bool skip_invalid)
{
    const size_t all = key_tallies_count(keys);
    struct groups groups = {
        .columns = {column},
        .are_keys = true,
        .count = all > top ? top + 1 : all,
        .all = all,
        .rest = all > top ? top : SIZE_MAX,
        .missing = SIZE_MAX,
        .skip_invalid = skip_invalid,
        .of = keys,
        .name = name_of_key,
        .samples = samples_of_key,
        .load = load_key,
        .load_from = load_keys_from,
    };
    if (key_tallies_samples(keys, all) > 0 && !skip_invalid)
        groups.missing = groups.count++;
    return groups;
}

/* --- either --- */

struct key_name groups_name(const struct groups *groups, size_t group)
{
    if (group == groups->rest)
        return name_of(GROUP_REST);
    return group == groups->missing ? name_of(GROUP_MISSING) : groups->name(groups->of, group);
}

uint64_t groups_samples(const struct groups *groups, size_t group)
{
    const size_t first = group == groups->missing ? groups->all : group;
    const size_t end = group == groups->rest ? groups->all : first + 1;
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += groups->samples(groups->of, i);
    return sum;
}

void groups_load(const struct groups *groups, size_t group, const struct histogram *histogram,
                 struct tally *tally)
{
    if (group == groups->rest)
        groups->load_from(groups->of, group, tally);
    else
        groups->load(groups->of, group == groups->missing ? groups->all : group, tally);
    if (groups->skip_invalid)
        tally_skip_invalid(tally, histogram);
}

void groups_show_name(const struct groups *groups, size_t group, char *text, size_t room)
{
    const struct key_name name = groups_name(groups, group);
    show_text((const char *)name.bytes, name.len, text, room);
}

uint64_t groups_offset(const struct groups *groups, size_t group)
{
    return groups->offset(groups->of, group);
}

size_t groups_name_room(const struct groups *groups)
{
    size_t longest = 0;
    for (size_t group = 0; groups->columns[GROUP_NAME] && group < groups->count; group++) {
        const size_t len = groups_name(groups, group).len;
        longest = len > longest ? len : longest;
    }
    return SHOWN_BYTE * longest + SHOW_TEXT_MIN;
}

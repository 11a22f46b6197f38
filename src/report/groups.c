/* SPDX-License-Identifier: MIT */
#include "groups.h"

#include <string.h>

static struct group_name file_name(const void *of, size_t file)
{
    const struct file_groups *files = of;
    const char *name = files->names ? files->names[file] : "-";
    return (struct group_name){name, strlen(name)};
}

static void load_file(const void *of, size_t file, struct tally *tally)
{
    const struct file_groups *files = of;
    file_tallies_load(files->tallies, file, tally);
}

struct groups groups_of_files(const struct file_groups *files)
{
    return (struct groups){
        .column = "file",
        .count = file_tallies_count(files->tallies),
        .of = files,
        .name = file_name,
        .load = load_file,
    };
}

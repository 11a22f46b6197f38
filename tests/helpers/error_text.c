/* SPDX-License-Identifier: MIT */
/* error_text NAME: prints what this C library calls an error. They have words of their own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EINVAL", EINVAL},
    {"EIO", EIO},       {"ELOOP", ELOOP},   {"ENAMETOOLONG", ENAMETOOLONG},
    {"ENOENT", ENOENT},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, argv[1]) == 0)
            return puts(strerror(errors[i].number)) < 0;
    fprintf(stderr, "usage: error_text NAME, of an error that is in its table\n");
    return 2;
}

/* SPDX-License-Identifier: MIT */
/* Files that are right, and full of work: make_hostile KIND SIZE (hostile.h) */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const struct hostile_file file = hostile_make(argv[1], 0, strtoul(argv[2], NULL, 10));
    return file.bytes && fwrite(file.bytes, 1, file.len, stdout) == file.len ? 0 : 1;
}

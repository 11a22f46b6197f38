/* SPDX-License-Identifier: MIT */
/* channel N SIZE K <data: the values of channel K, from 0, where values of SIZE bytes are those of
 * N channels in turn. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned char value[8];
    if (argc != 4)
        return 2;
    size_t channels = strtoul(argv[1], NULL, 10), size = strtoul(argv[2], NULL, 10);
    size_t wanted = strtoul(argv[3], NULL, 10);
    for (size_t i = 0; size <= sizeof value && fread(value, size, 1, stdin) == 1; i++)
        if (i % channels == wanted)
            fwrite(value, size, 1, stdout);
    return 0;
}

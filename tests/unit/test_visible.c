/* Which device CUDA is left to see, by what it was allowed to see before. */
#include "gpu/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "CUDA_VISIBLE_DEVICES"

static const struct {
    const char *before; /* NULL: not set */
    int ordinal;
    const char *after;
    int known_as;
} cases[] = {
    {NULL, 0, "0", 0},
    {NULL, 7, "7", 0},
    {"", 0, "", 0},
    {"", 1, "", 1},
    {"3", 0, "3", 0},
    {"3", 1, "3", 1},
    {"3,1,2", 0, "3", 0},
    {"3,1,2", 1, "1", 0},
    {"3,1,2", 2, "2", 0},
    {"3,1,2", 3, "3,1,2", 3},
    {"3,,2", 1, "3,,2", 1}, /* CUDA stops at what is no device */
    {"GPU-5ea1,MIG-0badcafe", 1, "MIG-0badcafe", 0},
    {"-1", 0, "-1", 0},
    {"-1,0", 1, "-1,0", 1},
    {"0,-1,1", 2, "0,-1,1", 2},
    {"0,-1,1", 0, "0", 0},
    {"0,,1", 2, "0,,1", 2},
    {"0,", 1, "0,", 1},
};

int main(void)
{
    unsigned wrong = 0, count = sizeof cases / sizeof cases[0];
    for (unsigned i = 0; i < count; i++) {
        unsetenv(VARIABLE);
        if (cases[i].before)
            setenv(VARIABLE, cases[i].before, 1);
        int known_as = visible_only(cases[i].ordinal);
        const char *after = getenv(VARIABLE);
        if (known_as == cases[i].known_as && after && strcmp(after, cases[i].after) == 0)
            continue;
        printf("FAIL: case %u: '%s', device %d\n", i, after ? after : "(unset)", known_as);
        wrong++;
    }
    printf("%u cases, %u wrong\n", count, wrong);
    return wrong != 0;
}

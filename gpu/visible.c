#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "CUDA_VISIBLE_DEVICES"

/* The ordinal-th entry of a list with commas, and its length; NULL if there are fewer. */
static const char *find_entry(const char *list, int ordinal, size_t *len)
{
    for (; ordinal > 0; ordinal--) {
        list = strchr(list, ',');
        if (!list)
            return NULL;
        list++;
    }
    *len = strcspn(list, ",");
    return *len > 0 ? list : NULL;
}

int visible_only(int ordinal)
{
    const char *list = getenv(VARIABLE);
    char number[16];
    if (!list) {
        snprintf(number, sizeof number, "%d", ordinal);
        return setenv(VARIABLE, number, 1) == 0 ? 0 : ordinal;
    }
    size_t len = 0;
    const char *entry = find_entry(list, ordinal, &len);
    char *only = entry ? strndup(entry, len) : NULL;
    int rc = only ? setenv(VARIABLE, only, 1) : -1;
    free(only);
    return rc == 0 ? 0 : ordinal;
}

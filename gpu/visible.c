#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "CUDA_VISIBLE_DEVICES"

/* The ordinal-th entry of a list with commas, and its length; NULL if there are fewer. The list
 * ends at what can be no device, such as -1: what stands behind that is hidden. */
static const char *find_entry(const char *list, int ordinal, size_t *len)
{
    for (;; ordinal--, list += *len + 1) {
        *len = strcspn(list, ",");
        if (*len == 0 || *list == '-')
            return NULL;
        if (ordinal == 0)
            return list;
        if (!list[*len])
            return NULL;
    }
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

/* SPDX-License-Identifier: MIT */
/* The options that a table in JSON has, read again. */
#include "option.h"

#include <stdlib.h>
#include <string.h>

int options_lay(const struct words *words, struct histogram *histogram, bool *is_coarse,
                struct reason *why)
{
    static char name[] = "gpuhisto", end[] = "--";
    char **argv = calloc(words->count + 3, sizeof *argv);
    struct words typed = {.list = NULL};
    struct options options;
    int rc = argv ? 0 : -1;
    for (size_t i = 0; i < words->count && rc == 0; i++) {
        rc = words_add(&typed, words->list[i], strlen(words->list[i]));
        if (rc == 0)
            words_unescape(argv[1 + i] = typed.list[i]);
    }
    if (rc != 0) {
        reason_set(why, "out of memory");
    } else {
        argv[0] = name;
        argv[1 + words->count] = end;
        rc = options_parse((int)words->count + 2, argv, &options, why);
    }
    free(argv);
    if (rc != 0) {
        words_free(&typed);
        return -1;
    }
    const bool is_same = options.action == ACTION_COUNT && words_same(words, &options.words);
    words_free(&typed); /* which the options refer to */
    if (!is_same) {
        reason_set(why, "\"options\" are not what gpuhisto writes");
        if (options.action == ACTION_COUNT)
            options_free(&options);
        return -1;
    }
    *histogram = options.histogram;
    /* What these refer to goes away, and counting alone needs it. */
    histogram->field = (struct field){.kind = FIELD_NONE};
    *is_coarse = options.report.most_bins > 0;
    words_free(&options.words);
    return 0;
}

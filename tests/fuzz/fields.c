/* SPDX-License-Identifier: MIT */
/* For libFuzzer: fields of lines by every parser that this processor can run, on any text, against
 * the definition. The first bytes say which field, how many values are asked for at a time, and
 * where CSV is cut. `make fuzz` builds it. FUZZ_FIELDS=blanks, separated, csv or after in the
 * environment keeps it to fields of that kind. */
#include "src/text/number.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/check_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 5

static enum field_kind only_kind; /* FIELD_NONE: all of them in turn */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = {[FIELD_BLANKS] = "blanks",
                                        [FIELD_SEPARATED] = "separated",
                                        [FIELD_CSV] = "csv",
                                        [FIELD_AFTER] = "after"};
    const char *wanted = getenv("FUZZ_FIELDS");
    (void)argc;
    (void)argv;
    for (int kind = FIELD_BLANKS; wanted && kind <= FIELD_AFTER; kind++)
        if (strcmp(wanted, names[kind]) == 0)
            only_kind = (enum field_kind)kind;
    if (wanted && only_kind == FIELD_NONE) {
        fprintf(stderr, "FUZZ_FIELDS=%s: use blanks, separated, csv or after\n", wanted);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char after[8];
    if (size < HEAD)
        return 0;
    struct field field = {.kind = only_kind ? only_kind : (enum field_kind)(1 + data[0] % 4),
                          .separator = data[1],
                          .has_units = data[0] >= 128};
    field.number = (int8_t)data[2] ? (int8_t)data[2] : 1;
    if (field.separator == '\n' || (field.kind == FIELD_CSV && field.separator == '"'))
        field.separator = ',';
    size_t cap = data[3] + (size_t)1, at = HEAD;
    if (field.kind == FIELD_AFTER) {
        size_t len = 1 + data[1] % 5;
        if (size - at < len || memchr(data + at, '\n', len) || memchr(data + at, '\0', len))
            return 0;
        memcpy(after, data + at, len);
        after[len] = '\0';
        field.after = after;
        field.after_len = len;
        at += len;
    }
    size_t len = size - at;
    unsigned char *text = fuzz_copy(data + at, len);
    number_prepare();
    fuzz_require(check_fields(&field, text, len, cap, len * data[4] / 256), "fields differ");
    free(text);
    return 0;
}

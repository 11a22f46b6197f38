/* SPDX-License-Identifier: MIT */
/* oracle_fields [-k N] [-t C] [-c] [-a STRING] [-H] FILE...: the fields of all lines, a token a
 * line,
 * "?" for a record that is invalid; and on standard error the message about the first such record,
 * and the warning if all are.
 * -c: CSV. -H: the first record is a header; then -k may be a column's name. A FILE's name is what
 * messages call it, but "standard input" is read as such. */
#include "src/base/error.h"
#include "tests/helpers/naive_field.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN 40

static struct naive_fields fields = {.separator = ','};
static const char *name; /* of a column */
static bool has_header, told, has_number;
static unsigned long records;

static unsigned char *read_all(const char *path, size_t *len)
{
    FILE *file = strcmp(path, "standard input") == 0 ? stdin : fopen(path, "rb");
    unsigned char *text = NULL;
    size_t capacity = 0, got;
    *len = 0;
    if (!file)
        exit(2);
    do {
        capacity += 1 << 20;
        if (!(text = realloc(text, capacity)))
            abort();
        got = fread(text + *len, 1, capacity - *len, file);
        *len += got;
    } while (got > 0);
    return text;
}

static void tell(const char *path, const unsigned char *text, const struct naive_record *record)
{
    size_t line = 1, len = record->to - record->from, head = len;
    char shown[4 * SHOWN + 4];
    if (told)
        return;
    told = true;
    for (size_t i = 0; i < record->begin; i++)
        line += text[i] == '\n';
    fprintf(stderr, "gpuhisto: %s: line %zu: ", path, line);
    if (record->what == NAIVE_TOO_LONG) {
        fprintf(stderr, "longer than 1048576 bytes\n");
    } else if (record->what == NAIVE_MISSING && fields.way == NAIVE_AFTER) {
        show_text(fields.after, strlen(fields.after), shown, sizeof shown);
        fprintf(stderr, "no number after '%s'\n", shown);
    } else if (record->what == NAIVE_MISSING) {
        fprintf(stderr, "no field %ld\n", fields.number);
    } else {
        if (len > SHOWN)
            for (head = SHOWN; head > SHOWN - 3 && (text[record->from + head] & 0xc0) == 0x80;)
                head--;
        show_text((const char *)text + record->from, head, shown, sizeof shown);
        fprintf(stderr, "'%s%s' is not a number%s\n", shown, len > SHOWN ? "..." : "",
                naive_advice(text + record->from, len));
    }
}

static void list(const char *path)
{
    size_t len, at = 0;
    unsigned char *text = read_all(path, &len);
    struct naive_record record;
    if (has_header && naive_record(&fields, text, len, &at, &record) && name) {
        fields.number = naive_column(&fields, text, &record, name);
        if (fields.number == 0)
            exit(3);
    }
    while (naive_record(&fields, text, len, &at, &record)) {
        if (record.what == NAIVE_EMPTY)
            continue;
        records++;
        has_number |= !isnan(record.value);
        if (isnan(record.value)) {
            tell(path, text, &record);
            puts("?");
        } else if (memchr(text + record.from, '"', record.to - record.from)) {
            printf("%.17g\n", record.value); /* its text is in two parts */
        } else {
            fwrite(text + record.from, 1, record.to - record.from, stdout);
            putchar('\n');
        }
    }
    free(text);
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "k:t:ca:H")) != -1;) {
        switch (option) {
        case 'k':
            fields.number = atol(optarg);
            name = fields.number ? NULL : optarg;
            break;
        case 't':
            fields.separator = (unsigned char)(strcmp(optarg, "\\t") == 0 ? '\t' : *optarg);
            fields.way = fields.way == NAIVE_CSV ? NAIVE_CSV : NAIVE_SEPARATED;
            break;
        case 'c':
            fields.way = NAIVE_CSV;
            break;
        case 'a':
            fields.way = NAIVE_AFTER;
            fields.after = optarg;
            break;
        case 'H':
            has_header = true;
            break;
        default:
            return 2;
        }
    }
    for (; optind < argc; optind++)
        list(argv[optind]);
    if (records > 1 && !has_number)
        fprintf(stderr, "gpuhisto: warning: all %lu lines are invalid, so no number was counted\n",
                records);
    return fflush(stdout) != 0;
}

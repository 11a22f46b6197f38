/* SPDX-License-Identifier: MIT */
/* The options about input: --decompress, --memlimit, --no-check, --skip, --length, --part. */
#include "option.h"
#include "parse.h"
#include "src/report/report.h"

#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define GIB ((uint64_t)1 << 30)

/* "auto", a codec's name, or "none". */
int option_decompress(struct draft *draft, const char *value, struct error *error)
{
    struct input_options *input = &draft->options->input;
    const char *choices[CODECS_MAX + 3] = {"auto"};
    int count = 0;
    for (; codecs[count]; count++)
        choices[1 + count] = codecs[count]->name;
    choices[1 + count] = "none";
    const struct unsupported_format *unsupported = unsupported_format_find(value);
    if (unsupported)
        return error_of_option(error, "--decompress", value,
                               "cannot be decompressed here; use '%s FILE | gpuhisto'",
                               unsupported->command);
    int choice = parse_word("--decompress", value, choices, error);
    input->is_as_stored = choice > count;
    input->codec = choice > 0 ? codecs[choice - 1] : NULL;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

int option_memlimit(struct draft *draft, const char *value, struct error *error)
{
    uint64_t *memlimit = &draft->options->input.decoding.memlimit;
    static const struct size_range range = {KIB, 2 * GIB, "1K to 2G"};
    return parse_size("--memlimit", value, &range, memlimit, error);
}

int option_no_check(struct draft *draft, const char *value, struct error *error)
{
    (void)value;
    (void)error;
    draft->options->input.decoding.no_check = true;
    draft->options->pool.no_check = true;
    return 0;
}

/* Reads a size of content, from 0. */
static int parse_content_size(const char *option, const char *value, uint64_t *size,
                              struct error *error)
{
    static const struct size_range range = {0, CONTENT_MAX, "0 to 9223372036854775807"};
    return parse_size(option, value, &range, size, error);
}

int option_skip(struct draft *draft, const char *value, struct error *error)
{
    return parse_content_size("--skip", value, &draft->options->input.content.skip, error);
}

int option_length(struct draft *draft, const char *value, struct error *error)
{
    draft->options->input.content.has_length = true;
    return parse_content_size("--length", value, &draft->options->input.content.length, error);
}

/* Reads K of K/N, and sets *of to where the N begins. 0 if this is not a number. */
static uint64_t parse_part(const char *value, const char **of)
{
    char digits[24];
    uint64_t part;
    const char *slash = strchr(value, '/');
    size_t len = slash ? (size_t)(slash - value) : 0;
    if (len == 0 || len >= sizeof digits)
        return 0;
    memcpy(digits, value, len);
    digits[len] = '\0';
    *of = slash + 1;
    return parse_digits(digits, SHARDS_MAX, &part) ? part : 0;
}

int option_part(struct draft *draft, const char *value, struct error *error)
{
    struct shard_choice *choice = &draft->options->part;
    const char *of;
    choice->part = parse_part(value, &of);
    if (choice->part > 0 && parse_digits(of, SHARDS_MAX, &choice->of) && choice->part <= choice->of)
        return 0;
    return error_of_option(error, "--part", value,
                           "must be K/N, such as 1/4, with K from 1 to N, and N up to %d",
                           SHARDS_MAX);
}

int part_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    if (options->part.of == 0)
        return 0;
    if (options->report.bins.max > 0)
        return error_set(error, "--part: each share would get different bins; use --min and --max "
                                "with --bins, or --digits");
    options->part.wants_fingerprints = options->report.format == &format_json;
    options->part.is_whole = options->spec.lines.field.kind == FIELD_CSV;
    return 0;
}

/* A header is searched for, unless an option says where the values begin, or that bytes are read as
 * they are. */
void content_finish(const struct draft *draft)
{
    struct input_options *input = &draft->options->input;
    bool is_raw = draft_gave(draft, "skip") || input->is_as_stored;
    input->content.header_type = draft->type && !is_raw ? draft->type->name : NULL;
    input->content.needs_header = draft->type_is_found;
    input->content.channels = histogram_spec_channels(&draft->options->spec);
    for (const struct histogram_spec *at = &draft->options->spec; at; at = at->also)
        input->content.has_pairs |= at->mode->has_pairs;
}

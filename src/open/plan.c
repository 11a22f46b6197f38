/* SPDX-License-Identifier: MIT */
/* What follows from the plan of a file. */
#include "input.h"

bool input_needs_positions(const struct input *input)
{
    const struct record_kind *kind = &input->records.kind;
    bool has_values = !record_is_text(kind) && !record_is_byte(kind);
    return has_values || content_is_partial(&input->plan.range);
}

bool input_parallel(const struct input *input)
{
    return input->bytes.regular && !input->frames.codec && input->bytes.taken < input->plan.end;
}

bool input_is_serial(const struct input *input)
{
    const struct field *field = input->records.field;
    const bool is_sought = field && field->name && input->frames.codec && input->plan.column == 0;
    return is_sought || input->records.kind.type == RECORD_CSV;
}

int input_cut_off(const char *name, const struct content_options *options, size_t len, size_t size,
                  struct reason *why)
{
    if (options->channels > 1)
        reason_of(why, name, "ends inside a record of %u channels, after %zu of its %zu bytes",
                  options->channels, len, size);
    else if (options->has_pairs)
        reason_of(why, name, "ends inside a pair: its number of bytes is odd");
    else
        reason_of(why, name, "ends inside a value, after %zu of its %zu bytes", len, size);
    return -1;
}

int input_check_end(const struct input *input, struct reason *why)
{
    const struct records *records = &input->records;
    if (records->cut_len == 0 || record_is_text(&records->kind))
        return 0;
    return input_cut_off(input->bytes.name, input->plan.content, records->cut_len,
                         records->kind.size, why);
}

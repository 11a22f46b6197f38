/* SPDX-License-Identifier: MIT */
/* Several histograms of one input: --also. */
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OPTION_FLAG(option_also, draft->ends = true)

/* True if two fields are found in the same records. */
static bool have_same_records(const struct field *one, const struct field *other)
{
    const bool is_csv = one->kind == FIELD_CSV || other->kind == FIELD_CSV;
    return one->has_header == other->has_header &&
           (!is_csv || (one->kind == other->kind && one->separator == other->separator));
}

/* True if a stream can be cut so that what both count is whole. Bytes may be cut anywhere, but a
 * token that is too long to be a number is handed out in part. */
static bool go_together(const struct histogram_spec *one, const struct histogram_spec *other)
{
    const struct record_kind kind = record_kind_of(one), other_kind = record_kind_of(other);
    const bool is_same = kind.type == other_kind.type && kind.size == other_kind.size;
    if (one->mode != other->mode && (one->mode->is_binned || other->mode->is_binned))
        return false;
    if (!one->mode->is_binned)
        return record_is_byte(&kind) || record_is_byte(&other_kind) || is_same;
    return is_same && strcmp(one->type.name, other->type.name) == 0 &&
           have_same_records(&one->lines.field, &other->lines.field) &&
           !line_spec_has_names(&one->lines) && !line_spec_has_names(&other->lines);
}

/* Names two histograms by their modes, as they were typed. */
static int refuse_pass(const struct draft *one, const struct draft *other, struct error *error)
{
    const struct mode *mode = one->options->spec.mode;
    const struct mode *other_mode = other->options->spec.mode;
    const char *detail = mode != other_mode ? ""
                         : mode->is_text    ? ", as they read lines differently"
                                            : ", as their records differ";
    char name[32], first[TYPED_SHOWN], second[TYPED_SHOWN];
    snprintf(name, sizeof name, "%s=", mode->name);
    option_show_typed(one, name, first);
    snprintf(name, sizeof name, "%s=", other_mode->name);
    option_show_typed(other, name, second);
    return error_set(error, "%s and %s cannot be counted in one pass%s", first, second, detail);
}

int also_finish(const struct draft *drafts, unsigned count, struct error *error)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++)
            if (!go_together(&drafts[i].options->spec, &drafts[k].options->spec))
                return refuse_pass(&drafts[i], &drafts[k], error);
    return 0;
}

int also_add(struct draft *draft, struct options *common, struct options *before,
             struct error *error)
{
    struct options *options = malloc(sizeof *options);
    if (!options)
        return option_no_memory(error);
    *options = *common;
    draft->options = options;
    int rc = mode_finish(draft, error);
    if (rc == 0)
        rc = words_finish(draft, error);
    if (rc != 0) {
        binning_free(&options->spec.binning);
        free(options);
        return rc;
    }
    before->also = options;
    before->spec.also = &options->spec;
    return 0;
}

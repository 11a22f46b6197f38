/* SPDX-License-Identifier: MIT */
/* Several histograms of one input: --also. */
#include "option.h"
#include "src/report/format.h"

#include <stdlib.h>
#include <string.h>

int option_also(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->ends = true;
    return 0;
}

/* Whether two fields are found in the same records. */
static bool have_same_records(const struct field *one, const struct field *other)
{
    const bool is_csv = one->kind == FIELD_CSV || other->kind == FIELD_CSV;
    return !one->name && !other->name && one->has_header == other->has_header &&
           (!is_csv || (one->kind == other->kind && one->separator == other->separator));
}

/* Whether a stream can be cut so that what both count is whole. Bytes may be cut anywhere, but a
 * token that is too long to be a number is given out in part. */
static bool go_together(const struct histogram *one, const struct histogram *other)
{
    const size_t size = records_of(one), other_size = records_of(other);
    if (one->mode != other->mode && (one->mode->is_binned || other->mode->is_binned))
        return false;
    if (!one->mode->is_binned)
        return size == 1 || other_size == 1 || size == other_size;
    return size == other_size && strcmp(one->type.name, other->type.name) == 0 &&
           have_same_records(&one->field, &other->field);
}

static int check_histograms(const struct options *options, struct reason *why)
{
    for (const struct histogram *one = &options->histogram; one; one = one->also)
        for (const struct histogram *other = one->also; other; other = other->also)
            if (!go_together(one, other)) {
                reason_set(why, "--also: --%s and --%s cannot be counted in one pass%s",
                           one->mode->name, other->mode->name,
                           one->mode == other->mode ? ", as their records differ" : "");
                return OPTIONS_WRONG;
            }
    return 0;
}

int also_settle(struct options *options, struct reason *why)
{
    if (!options->also)
        return 0;
    if (format_table[options->report.format]->is_image)
        return option_wrong(why, "--also: cannot be combined with --format=pgm");
    return check_histograms(options, why);
}

int also_add(struct draft *draft, struct options *common, struct options *before,
             struct reason *why)
{
    struct options *options = malloc(sizeof *options);
    if (!options) {
        reason_set(why, "out of memory");
        return OPTIONS_FAILED;
    }
    *options = *common;
    draft->options = options;
    int rc = mode_settle(draft, why);
    if (rc == 0)
        rc = words_settle(draft, why);
    if (rc != 0) {
        binning_free(&options->histogram.binning);
        free(options);
        return rc;
    }
    before->also = options;
    before->histogram.also = &options->histogram;
    return 0;
}

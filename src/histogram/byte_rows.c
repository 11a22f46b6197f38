#include "byte_rows.h"

#include <stdio.h>

size_t byte_sample_size(const struct histogram *histogram)
{
    (void)histogram;
    return 1;
}

uint64_t byte_samples_most(const struct histogram *histogram, size_t len)
{
    (void)histogram;
    return len;
}

enum row_kind byte_row_kind(const struct histogram *histogram, size_t row)
{
    (void)histogram, (void)row;
    return ROW_KIND_BIN;
}

void byte_label_row(unsigned lo, unsigned hi, struct row_label *label)
{
    label->kind = ROW_KIND_BIN;
    snprintf(label->lo, sizeof label->lo, "%u", lo);
    snprintf(label->hi, sizeof label->hi, "%u", hi);
    label->name[0] = label->note[0] = '\0';
}

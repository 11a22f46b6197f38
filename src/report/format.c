/* SPDX-License-Identifier: MIT */
#include "format.h"

const struct format *const format_table[] = {
#define FORMAT(name) &format_##name,
#include "src/report/formats.def"
#undef FORMAT
};

const char *const format_names[] = {
#define FORMAT(name) #name,
#include "src/report/formats.def"
#undef FORMAT
    NULL,
};

void format_counts(struct table *table, const struct row *row, char separator)
{
    const struct tally *tally = table->shown.tally;
    const size_t step = histogram_rows(table->shown.histogram);
    for (size_t at = row->index; at < tally->bins; at += step) {
        if (at > row->index)
            writer_char(table->out, separator);
        writer_count(table->out, tally->counts[at]);
    }
}

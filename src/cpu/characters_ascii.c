/* SPDX-License-Identifier: MIT */
#include "characters_ascii.h"

void characters_add_ascii(const struct character_groups *groups,
                          const struct character_bytes *bytes, struct tally *tally,
                          struct paged_counts *paged)
{
    for (uint32_t row = 0; row < ASCII_VALUES; row++) {
        tally->samples += bytes->counts[row];
        if (paged)
            paged_count_times(paged, row, bytes->counts[row]);
        else
            tally->counts[groups ? character_group(groups, row) : row] += bytes->counts[row];
    }
}

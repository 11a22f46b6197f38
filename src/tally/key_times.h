/* SPDX-License-Identifier: MIT */
/* Keys that are beginnings of buckets of time, as in --by=FIELD:5m. While counting, each offset
 * from UTC has keys of its own, as fine as buckets in UTC need (time_grain). Once all is counted,
 * they are joined: to buckets in the offset of all times if it is the same, and otherwise in UTC.
 * So a result does not depend on what a thread, a share or a table has seen. */
#ifndef GPUHISTO_KEY_TIMES_H
#define GPUHISTO_KEY_TIMES_H

#include "key_tallies.h"

enum key_times {
    KEY_TIMES_SAME,   /* the keys are what is shown */
    KEY_TIMES_JOINED, /* *joined is; close it */
    KEY_TIMES_IN_UTC, /* as well, as there were several offsets */
    KEY_TIMES_COARSE, /* as there are several, no key says in which bucket of UTC its samples are */
    KEY_TIMES_NO_MEMORY,
};

/* True if there may be keys to join. */
bool key_times_are_used(const struct histogram_spec *spec);

/* Joins keys, which are sorted and stay as they are. `are_fine`: they were not joined before. The
 * tally is worked with. */
enum key_times key_times_join(const struct key_tallies *keys, const struct histogram_spec *spec,
                              bool are_fine, struct tally *tally, struct key_tallies **joined);

#endif

/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "src/histogram/coarsen.h"

static struct coarse_rows coarse;

int run_refuse_bins(const struct options *options, size_t bins, unsigned digits, struct reason *why)
{
    const bool are_tables = options->action != ACTION_COUNT;
    reason_set(why,
               "--bins=%zu: the values are too close together for %u digit%s; %s %s--min and --max",
               bins, digits, digits == 1 ? "" : "s", are_tables ? "count again with" : "use",
               digits < DIGITS_MAX ? "--digits=5, or " : "");
    return -1;
}

int run_coarsen(struct options *options, const struct tally *tally, struct constant *constant,
                struct reason *why)
{
    const unsigned digits = options->histogram.binning.digits.digits;
    if (options->report.most_bins == 0)
        return 0;
    if (options->report.coarse) { /* of --interval's last table */
        binning_free(&coarse.histogram.binning);
        tally_close(&coarse.tally);
        options->report.coarse = NULL;
    }
    switch (coarsen(&options->histogram, tally, options->report.most_bins, &coarse.histogram,
                    &coarse.tally)) {
    case COARSEN_NO_MEMORY:
        reason_set(why, "out of memory");
        return -1;
    case COARSEN_LIMITED:
        if (constant && constant_holds(constant))
            break; /* narrower bins would tell no more */
        binning_free(&coarse.histogram.binning);
        tally_close(&coarse.tally);
        return run_refuse_bins(options, options->report.most_bins, digits, why);
    case COARSEN_DONE:
        break;
    default: /* COARSEN_EMPTY */
        return 0;
    }
    options->report.coarse = &coarse;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "src/cli/diag.h"

int run_failed(const struct reason *why)
{
    diag("%s", why->text);
    return STATUS_FAILED;
}

int run_end_output(struct output *output, enum verbosity verbosity)
{
    struct reason warning, why;
    if (output_close(output, &warning, &why) != 0)
        return run_failed(&why);
    if (warning.text[0] && verbosity >= NORMAL)
        diag("warning: %s", warning.text);
    return STATUS_COUNTED;
}

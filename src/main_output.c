/* SPDX-License-Identifier: MIT */
/* Ends a run, and prints its texts that are no table. */
#include "main.h"

#include "gpu/count/strategy.h"
#include "src/base/signals.h"
#include "src/cli/diag.h"

#include <unistd.h>

int main_failed(const struct error *error)
{
    diag("%s", error->text);
    return STATUS_FAILED;
}

int main_no_memory(void)
{
    diag("out of memory");
    return STATUS_FAILED;
}

int main_end_output(struct output *output, enum verbosity verbosity)
{
    struct error warning, error;
    if (output_close(output, &warning, &error) != 0)
        return main_failed(&error);
    if (warning.text[0] && verbosity >= NORMAL)
        diag("warning: %s", warning.text);
    return STATUS_COUNTED;
}

static void write_kernels(struct writer *out)
{
    writer_format(out, "%-12s the fastest for the mode (the default)\n", "auto");
    for (unsigned i = 0; i < strategy_count; i++)
        writer_format(out, "%-12s %s\n", strategies[i].name, strategies[i].about);
}

static void write_version(struct writer *out)
{
    writer_format(out, "%s %s\nbuilt with %s\n", PACKAGE_NAME, PACKAGE_VERSION, BUILT_WITH);
    if (*BUILT_WITHOUT)
        writer_format(out, "built without %s\n", BUILT_WITHOUT);
}

int main_print_text(const struct options *options, struct output *output)
{
    struct error unused; /* standard output is always there */
    output_prepare(output, NULL, &unused);
    struct writer *out = output_open(output, &unused);
    if (options->action == ACTION_HELP)
        options_write_help(out);
    else if (options->action == ACTION_BRIEF_HELP)
        options_write_brief_help(out);
    else if (options->action == ACTION_VERSION)
        write_version(out);
    else
        write_kernels(out);
    return main_end_output(output, options->verbosity);
}

/* A thread that is stuck in the GPU's driver may hold up the end of the process, so the descriptors
 * are closed first: whoever reads the output learns that there is no more. */
_Noreturn void main_leave(int status)
{
    signals_remove_now();
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (signals_interrupted())
        signals_end_interrupted();
    _exit(status);
}

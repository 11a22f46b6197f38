/* SPDX-License-Identifier: MIT */
/* The sandbox of a run: whether there is one, and what it allows. */
#include "run.h"

#include "gpu/device.h"
#include "src/cli/diag.h"
#include "src/report/format.h"
#include "src/report/screen.h"
#include "src/sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Whether there is a driver, whose devices CUDA may only make once it is called. */
static bool has_driver(void)
{
#ifdef HAVE_CUDA
    return access("/proc/driver/nvidia", F_OK) == 0;
#else
    return false;
#endif
}

/* Why there is to be no sandbox; or NULL. */
static const char *reason_against(const struct options *options)
{
    if (options->no_sandbox)
        return "--no-sandbox";
    if (options->action != ACTION_COUNT || options->pool.device == DEVICE_CPU)
        return NULL;
    if (options->pool.device == DEVICE_GPU)
        return "a GPU is used, and CUDA needs what it would refuse";
    return device_may_be_there() || has_driver()
               ? "a GPU may be used, and CUDA needs what it would refuse; see --device=cpu"
               : NULL;
}

/* What tells later how much memory there is, and how many threads there should be. */
static void allow_limits(struct sandbox *sandbox, const struct options *options)
{
    const bool memory =
        options->action == ACTION_COUNT && pool_looks_for_memory(&options->histogram);
    if (memory)
        sandbox_allow_path(sandbox, "/proc/meminfo");
    if (!memory && options->pool.threads > 0)
        return;
    sandbox_allow_path(sandbox, "/proc/self/cgroup");
    sandbox_allow_path(sandbox, "/sys/fs/cgroup");
}

/* Whether the name of a FILE is allowed, and leads to it in the sandbox. */
static bool allow_name(struct sandbox *sandbox, const struct held *file)
{
    return file->is_regular ? sandbox_allow_regular(sandbox, file->name)
                            : sandbox_allow_name(sandbox, file->name);
}

/* Holds a FILE that must be: `more` of them, beside those that are held already, but no more than
 * these may be. 0, or an errno. */
static int hold_more(struct held *file, size_t *more)
{
    if (*more == held_most())
        return EMFILE;
    if (held_begin(file) != 0)
        return errno;
    ++*more;
    return 0;
}

/* Allows to open a FILE in its turn. One that is not held yet may have to be. */
static void allow_file(struct sandbox *sandbox, struct held *file, size_t *more)
{
    if (strcmp(file->name, "-") == 0)
        return;
    if (file->fd < 0 && !allow_name(sandbox, file))
        sandbox_missed(sandbox, hold_more(file, more));
    if (file->fd >= 0 && !file->is_regular)
        sandbox_allow(sandbox, file->fd, SANDBOX_OPEN);
}

static void allow_files(struct sandbox *sandbox, struct source *source,
                        const struct held_list *tables)
{
    size_t more = 0;
    struct held *file;
    for (size_t i = 0; source && (file = source_file(source, i)); i++)
        allow_file(sandbox, file, &more);
    for (size_t i = 0; tables && i < tables->count; i++)
        allow_file(sandbox, &tables->list[i], &more);
}

static void allow_output(struct sandbox *sandbox, const struct output *output)
{
    const struct target *target = &output->target;
    if (!output->name)
        return;
    if (target->kind == TARGET_REPLACED)
        sandbox_allow(sandbox, target->directory, SANDBOX_REPLACE);
    else if (target->kind == TARGET_DIRECT)
        sandbox_allow(sandbox, target->file, SANDBOX_WRITE);
}

void run_enter_sandbox(const struct options *options, const struct output *output,
                       struct source *source, const struct held_list *tables)
{
    const char *against = reason_against(options);
    struct sandbox sandbox;
    struct reason text;
    if (against) {
        reason_set(&text, "none: %s", against);
    } else {
        if (format_table[options->report.format]->is_picture)
            screen_prepare();
        sandbox_begin(&sandbox);
        allow_limits(&sandbox, options);
        allow_files(&sandbox, source, tables);
        allow_output(&sandbox, output);
        sandbox_enter(&sandbox);
        sandbox_describe(&sandbox, &text);
    }
    if (options->verbosity >= VERBOSE)
        diag("sandbox: %s", text.text);
}

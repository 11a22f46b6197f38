/* SPDX-License-Identifier: MIT */
/* The sandbox of a run: whether there is one, and what it allows. */
#include "main.h"

#include "gpu/engine/gpu_engine.h"
#include "src/cli/diag.h"
#include "src/report/report.h"
#include "src/sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Bytes of input, as stored, that are counted faster than quotas are read. */
#define SMALL ((uint64_t)64 << 10)

/* True if there is a driver, whose devices CUDA may create only when it is called. */
static bool has_driver(void)
{
#ifdef HAVE_CUDA
    return access("/proc/driver/nvidia", F_OK) == 0;
#else
    return false;
#endif
}

/* Returns why there is to be no sandbox; or NULL. */
static const char *error_against(const struct options *options)
{
    if (options->sandbox == SANDBOX_NONE)
        return "--no-sandbox";
    if (options->action != ACTION_COUNT || options->pool.device == DEVICE_CPU)
        return NULL;
    if (options->pool.device == DEVICE_GPU)
        return "a GPU is used, and CUDA needs what a sandbox forbids";
    return !device_missing() || has_driver()
               ? "a GPU may be used, and CUDA needs what a sandbox forbids; see --device=cpu"
               : NULL;
}

/* The files that a run reads: those of a source, or tables. */
struct main_files {
    struct source *source;
    const struct preopened_list *tables;
};

/* Returns file i; NULL after the last one. */
static const struct preopened *main_file(const struct main_files *files, size_t i)
{
    if (files->source)
        return source_file(files->source, i);
    return files->tables && i < files->tables->count ? &files->tables->list[i] : NULL;
}

/* True if one thread is enough, unless the files decompress to much more than they are. */
static bool are_small(const struct main_files *files)
{
    uint64_t size = 0;
    const struct preopened *file;
    for (size_t i = 0; (file = main_file(files, i)) && size <= SMALL; i++)
        size += file->is_regular ? file->size : SMALL + 1;
    return size <= SMALL;
}

/* Allows reading how much memory there is, and how many threads there should be. */
static void allow_limits(struct sandbox *sandbox, const struct options *options,
                         const struct main_files *files)
{
    const bool memory = options->action == ACTION_COUNT &&
                        (options->pending || pool_looks_for_memory(&options->spec));
    if (memory)
        sandbox_allow_path(sandbox, "/proc/meminfo");
    if (!memory && (options->pool.threads > 0 || are_small(files)))
        return;
    sandbox_allow_path(sandbox, "/proc/self/cgroup");
    sandbox_allow_path(sandbox, "/sys/fs/cgroup");
}

/* Allows opening a file in its turn, unless it is open. */
static void allow_file(struct sandbox *sandbox, const struct preopened *file)
{
    if (strcmp(file->name, "-") == 0 || file->error != 0)
        return;
    if (file->fd >= 0 && !file->is_regular)
        sandbox_allow(sandbox, file->fd, SANDBOX_READ);
    if (file->fd >= 0)
        return;
    sandbox_allow_path(sandbox, file->name);
    sandbox->named++;
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

int main_enter_sandbox(const struct options *options, const struct output *output,
                       struct source *source, const struct preopened_list *tables)
{
    const char *against = error_against(options);
    const struct main_files files = {source, tables};
    const struct preopened *file;
    struct sandbox sandbox = {.rules = -1, .seccomp_error = ENOSYS};
    struct error text;
    if (against) {
        error_set(&text, "none: %s", against);
    } else {
        if (options->report.format->prepare)
            options->report.format->prepare();
        if (source) /* while libraries can be opened */
            source_load_codecs(source);
        sandbox_begin(&sandbox);
        allow_limits(&sandbox, options, &files);
        for (size_t i = 0; (file = main_file(&files, i)); i++)
            allow_file(&sandbox, file);
        allow_output(&sandbox, output);
        sandbox_enter(&sandbox);
        sandbox_describe(&sandbox, &text);
    }
    if (options->sandbox == SANDBOX_REQUIRED && !sandbox_is_whole(&sandbox)) {
        diag("--sandbox=require: %s", text.text);
        return -1;
    }
    if (options->verbosity >= VERBOSE)
        diag("sandbox: %s", text.text);
    return 0;
}

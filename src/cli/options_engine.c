/* SPDX-License-Identifier: MIT */
/* Who counts: --device, --kernel, --chunk-size, --buffers, --threads; --sandbox, --no-sandbox. */
#include "option.h"
#include "parse.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/count/strategy.h"
#include "src/cpu/count.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MAX ((uint64_t)1 << 30) /* a kernel's 32-bit counters hold nearly four times that */
#define BUFFERS_MAX 64
#define THREADS_MAX 1024
#define KERNELS_MAX 8

/* Adds a GPU to the list. False if it is there already. */
static bool add_gpu(struct gpu_list *gpus, int number)
{
    for (unsigned i = 0; i < gpus->count; i++)
        if (gpus->gpu[i].asked == number)
            return false;
    gpus->gpu[gpus->count++] = (struct cuda_device){.asked = number, .ordinal = number};
    return true;
}

/* Reads numbers of GPUs, separated by commas, each once. False if they are wrong. */
static bool parse_gpus(const char *text, struct gpu_list *gpus)
{
    *gpus = (struct gpu_list){0};
    for (size_t len; gpus->count < GPUS_MAX; text += len + 1) {
        char number[16];
        uint64_t value;
        len = strcspn(text, ",");
        if (len >= sizeof number)
            return false;
        memcpy(number, text, len);
        number[len] = '\0';
        if (!parse_digits(number, INT_MAX, &value) || !add_gpu(gpus, (int)value))
            return false;
        if (text[len] == '\0')
            return true;
    }
    return false;
}

int option_device(struct draft *draft, const char *value, struct error *error)
{
    static const struct {
        const char *name;
        enum device_choice choice;
        unsigned gpus; /* 0: all */
        bool grows;
    } choices[] = {{"auto", DEVICE_AUTO, 1, true},
                   {"cpu", DEVICE_CPU, 1, false},
                   {"gpu", DEVICE_GPU, 1, false},
                   {"all", DEVICE_AUTO, 0, false}};
    struct pool_options *pool = &draft->options->pool;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (strcmp(value, choices[i].name) == 0) {
            pool->device = choices[i].choice;
            pool->gpus = (struct gpu_list){.count = choices[i].gpus, .grows = choices[i].grows};
            return 0;
        }
    pool->device = DEVICE_GPU;
    if (strncmp(value, "gpu:", 4) == 0 && parse_gpus(value + 4, &pool->gpus))
        return 0;
    return error_of_option(
        error, "--device", value,
        "must be auto, cpu, gpu, all, or numbers of GPUs, such as gpu:0 or gpu:0,2");
}

int option_kernel(struct draft *draft, const char *value, struct error *error)
{
    if (strcmp(value, "help") == 0)
        draft->options->action = ACTION_LIST_KERNELS;
    const struct strategy *strategy = strategy_find(value);
    draft->options->pool.strategy = strategy;
    if (strategy || strcmp(value, "auto") == 0 || strcmp(value, "help") == 0)
        return 0;
    return error_of_option(error, "--kernel", value, "no such strategy; --kernel=help lists them");
}

int option_chunk_size(struct draft *draft, const char *value, struct error *error)
{
    uint64_t size;
    static const struct size_range range = {1, CHUNK_MAX, "1 to 1G"};
    if (parse_size("--chunk-size", value, &range, &size, error) != 0)
        return OPTIONS_WRONG;
    draft->options->pool.chunk_size = (size_t)size;
    return 0;
}

int option_buffers(struct draft *draft, const char *value, struct error *error)
{
    return parse_count("--buffers", value, BUFFERS_MAX, &draft->options->pool.buffers, error);
}

int option_threads(struct draft *draft, const char *value, struct error *error)
{
    return parse_count("--threads", value, THREADS_MAX, &draft->options->pool.threads, error);
}

int option_sandbox(struct draft *draft, const char *value, struct error *error)
{
    const int choice = option_word("sandbox", value, error);
    draft->options->sandbox = (enum sandbox_choice)choice;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

OPTION_FLAG(option_no_sandbox, draft->options->sandbox = SANDBOX_NONE)

/* GPUHISTO_CPU names the kernels, for tests and measurements. */
static int finish_kernels(struct options *options, struct error *error)
{
    const char *name = getenv("GPUHISTO_CPU"), *here[KERNELS_MAX + 1] = {NULL};
    size_t count = 0;
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if (count < KERNELS_MAX && (*kernels)->runs_here())
            here[count++] = (*kernels)->name;
    if (name && *name && parse_word("GPUHISTO_CPU", name, here, error) < 0)
        return OPTIONS_WRONG;
    options->pool.kernels = cpu_kernels_find(name && *name ? name : NULL);
    options->input.decoding.instructions = options->pool.kernels->name;
    return 0;
}

static int finish_strategy(const struct draft *draft, struct error *error)
{
    struct pool_options *pool = &draft->options->pool;
    const struct histogram_spec *spec = &draft->options->spec;
    const struct mode *mode = spec->mode;
    const char *cannot = strategy_cannot(spec);
    if (pool->device == DEVICE_GPU && cannot)
        return error_set(error, "--device=gpu: the GPU cannot %s; leave out --device", cannot);
    if (pool->device == DEVICE_GPU && !strategy_best(spec, 0))
        return error_set(error, "--device=gpu: the GPU cannot count %s%s; leave out --device",
                         mode->is_binned ? "values of " : mode->name,
                         mode->is_binned ? spec->type.name : "");
    if (!pool->strategy)
        return 0;
    int rc = option_conflict(draft, "kernel=", "device=cpu", "", error);
    if (rc == 0 && spec->has_moments)
        rc = option_conflict(draft, "kernel=", "stats quantiles", "", error);
    if (rc != 0)
        return rc;
    if (!strategy_counts(pool->strategy, spec))
        return error_of_option(error, "--kernel", pool->strategy->name,
                               "cannot count in this mode; see --kernel=help");
    pool->device = DEVICE_GPU;
    return 0;
}

/* Samples that are cut by what they contain would be in two blocks. */
static int refuse_text(const struct draft *draft, const struct mode *mode, struct error *error)
{
    if (mode->has_pairs)
        return option_needs(draft, "each=", "--pairs=aligned, as other pairs are in two blocks",
                            error);
    return option_needs(draft, "each=",
                        mode->is_text ? "--bytes, --letters or --values, as blocks cut lines; use "
                                        "--each without a SIZE, or --by"
                                      : "--bytes, --letters or --values, as blocks cut characters; "
                                        "use --each without a SIZE",
                        error);
}

/* Blocks of a file, which hold whole samples. Only the CPU counts them. */
static int finish_blocks(const struct draft *draft, const struct record_kind *kind,
                         struct error *error)
{
    struct options *options = draft->options;
    const uint64_t size = options->each_size;
    char typed[TYPED_SHOWN];
    if (size == 0)
        return 0;
    for (const struct histogram_spec *at = &options->spec; at; at = at->also) {
        const struct record_kind own = record_kind_of(at);
        if (record_is_text(&own))
            return refuse_text(draft, at->mode, error);
    }
    option_show_typed(draft, "each=", typed);
    if (size % kind->size != 0)
        return error_set(error,
                         "%s: blocks must hold whole values of %zu bytes; use --each=%" PRIu64,
                         typed, kind->size, (size / kind->size + 1) * kind->size);
    if (options->pool.device == DEVICE_GPU)
        return error_set(error, "%s: the GPU cannot count blocks separately; use --device=cpu",
                         typed);
    options->pool.device = DEVICE_CPU;
    options->input.wants_positions = true;
    return 0;
}

/* On a GPU, each file needs a snapshot after its last chunk. */
static int finish_each(struct options *options, struct error *error)
{
    struct pool_options *pool = &options->pool;
    if (!options->each || pool->device == DEVICE_CPU || snapshot_is_of_chunk(&options->spec))
        return 0;
    if (pool->device == DEVICE_GPU)
        return error_set(
            error, "--each: the GPU cannot count files separately with %zu bins; use --device=cpu",
            options->spec.bins);
    pool->device = DEVICE_CPU;
    return 0;
}

/* Tables before the end need a snapshot of the GPU's counts after each chunk. */
static int finish_interval(struct options *options, struct error *error)
{
    struct pool_options *pool = &options->pool;
    if (options->interval == 0)
        return 0;
    if (pool->device == DEVICE_CPU || snapshot_is_small(&options->spec))
        return 0;
    if (pool->device == DEVICE_GPU)
        return error_set(
            error,
            "--interval: with %zu bins the GPU reports counts only at the end of input; "
            "use --device=cpu",
            options->spec.bins);
    pool->device = DEVICE_CPU;
    return 0;
}

/* Without a snapshot after each chunk of text, the CPU would search it for what is not a number,
 * which takes longer than counting it there. */
static void finish_text(struct options *options)
{
    const struct histogram_spec *spec = &options->spec;
    if (options->pool.device == DEVICE_AUTO && spec->mode->is_text && !snapshot_is_small(spec))
        options->pool.device = DEVICE_CPU;
}

/* A GPU does not count by key, and without counting there it would have nothing to decompress for.
 */
static void finish_keys(struct options *options)
{
    if (options->pool.device == DEVICE_AUTO && options->spec.lines.key_count > 0)
        options->pool.device = DEVICE_CPU;
}

/* True if a byte order mark may stand before records with this field, and is left out. */
static bool may_have_bom(const struct field *field)
{
    return field->kind == FIELD_CSV || field->kind == FIELD_JSON;
}

int devices_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    const struct record_kind kind = record_kind_of_all(&options->spec);
    size_t *chunk = &options->pool.chunk_size;
    options->input.record = kind;
    options->input.lines = record_is_text(&kind) ? &options->spec.lines : NULL;
    for (const struct histogram_spec *at = &options->spec; at; at = at->also)
        options->input.skips_bom |=
            may_have_bom(&at->lines.field) || may_have_bom(&at->lines.keys[0].field);
    if (!record_is_text(&kind))
        *chunk = (*chunk + kind.size - 1) / kind.size * kind.size; /* whole samples */
    int rc = finish_strategy(draft, error);
    if (rc == 0)
        rc = finish_blocks(draft, &kind, error);
    if (rc == 0)
        rc = finish_each(options, error);
    if (rc == 0)
        rc = finish_interval(options, error);
    finish_text(options);
    finish_keys(options);
    return rc == 0 ? finish_kernels(options, error) : rc;
}

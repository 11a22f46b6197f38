#include "options.h"
#include "src/cpu/count.h"
#include "gpu/strategy.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define K ((uint64_t)1 << 10)
#define M ((uint64_t)1 << 20)
#define G ((uint64_t)1 << 30)

#define CHUNK_DEFAULT (8 * M)
#define CHUNK_MAX G /* a kernel's 32-bit counters hold nearly four times as much of one value */
#define BUFFERS_MAX 64
#define THREADS_MAX 1024
#define MEMLIMIT_DEFAULT (128 * M)
#define WIDTH_DEFAULT 4
#define QUANTILES_DEFAULT "0.5,0.9,0.99,0.999"

const char options_help[] =
    "Usage: gpuhisto [MODE] [OPTION]... [FILE]...\n"
    "Count the bytes, letters or numbers of FILEs, or of standard input, exactly; on the GPU\n"
    "where that is faster. With no FILE, or when FILE is -, read standard input. zstd is "
    "recognised.\n"
    "\n"
    "Modes:\n"
    "  -b, --bytes              each of the 256 byte values (the default)\n"
    "  -l, --letters[=WIDTH]    lower-case letters in ranges of WIDTH, 1 to 26 (4)\n"
    "  -f, --fold-case          with --letters: upper case counts as lower case\n"
    "  -n, --numbers            decimal numbers in text, separated by white space\n"
    "      --values=TYPE        binary numbers: u8 u16 u24 u32 u64 i8 i16 i24 i32 i64 f32 f64;\n"
    "                           big-endian with 'be' appended, as in u32be\n"
    "Bins of numbers and values:\n"
    "  -B, --bins=N             N equal bins over --min to --max, or whole values 0 to N-1\n"
    "      --min=X --max=Y      from X up to, but not, Y\n"
    "      --edges=A,B,...      bins between these\n"
    "      --log[=BASE]         bins between powers of BASE (10) that cover --min to --max\n"
    "                           with none of these, --numbers cuts each power of two into 32\n"
    "      --quantiles[=Q,...]  of numbers: these, too, behind the bins (0.5,0.9,0.99,0.999)\n"
    "      --invalid=HOW        what is no number: count (and name the first), skip or error\n"
    "Input:\n"
    "  -d, --decompress=HOW     auto (by its first bytes), zstd or none\n"
    "      --memlimit=SIZE      largest zstd window accepted (128M)\n"
    "Output:\n"
    "  -F, --format=FORMAT      tsv, csv or json\n"
    "      --header             name the columns in a first row\n"
    "  -o, --output=FILE        write FILE, whole or not at all\n"
    "Engine:\n"
    "      --device=DEVICE      auto, cpu, gpu or gpu:N\n"
    "      --kernel=NAME        GPU counting strategy; 'help' lists them\n"
    "      --chunk-size=SIZE    bytes counted at a time (8M)\n"
    "      --buffers=N          chunks in flight to the GPU\n"
    "      --threads=N          workers (one per processor)\n"
    "Messages:\n"
    "      --progress[=WHEN]    show how far it is: auto (on a terminal), always, never\n"
    "      --timing             then print speed, and what each engine counted\n"
    "  -q, --quiet              no warnings\n"
    "  -v, --verbose            say which engine was chosen, and why\n"
    "  -h, --help               this\n"
    "  -V, --version            the version\n"
    "\n"
    "SIZE takes K, M or G (powers of 1024). Exit status: 0 all counted, 1 failure, 2 usage.\n";

enum {
    OPT_VALUES = 256,
    OPT_MIN,
    OPT_MAX,
    OPT_EDGES,
    OPT_LOG,
    OPT_QUANTILES,
    OPT_INVALID,
    OPT_MEMLIMIT,
    OPT_HEADER,
    OPT_DEVICE,
    OPT_KERNEL,
    OPT_CHUNK_SIZE,
    OPT_BUFFERS,
    OPT_THREADS,
    OPT_PROGRESS,
    OPT_TIMING,
};

static const char short_options[] = ":bl::fnB:d:F:o:qvhV";

static const struct option long_options[] = {
    {"bytes", no_argument, NULL, 'b'},
    {"letters", optional_argument, NULL, 'l'},
    {"fold-case", no_argument, NULL, 'f'},
    {"numbers", no_argument, NULL, 'n'},
    {"values", required_argument, NULL, OPT_VALUES},
    {"bins", required_argument, NULL, 'B'},
    {"min", required_argument, NULL, OPT_MIN},
    {"max", required_argument, NULL, OPT_MAX},
    {"edges", required_argument, NULL, OPT_EDGES},
    {"log", optional_argument, NULL, OPT_LOG},
    {"quantiles", optional_argument, NULL, OPT_QUANTILES},
    {"invalid", required_argument, NULL, OPT_INVALID},
    {"decompress", required_argument, NULL, 'd'},
    {"memlimit", required_argument, NULL, OPT_MEMLIMIT},
    {"format", required_argument, NULL, 'F'},
    {"header", no_argument, NULL, OPT_HEADER},
    {"output", required_argument, NULL, 'o'},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"chunk-size", required_argument, NULL, OPT_CHUNK_SIZE},
    {"buffers", required_argument, NULL, OPT_BUFFERS},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"progress", optional_argument, NULL, OPT_PROGRESS},
    {"timing", no_argument, NULL, OPT_TIMING},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* What is gathered option by option, and only makes sense together. */
struct draft {
    bool bytes, letters, fold, numbers, invalid;
    unsigned width;
    const struct value_type *type; /* NULL: no values */
    unsigned bins;                 /* 0: not said */
    const char *min, *max, *edges, *log;
};

/* A whole number, all of text: digits alone, so that "-1" is not 2^64 - 1. */
static bool parse_number(const char *text, uint64_t max, char **end, uint64_t *value)
{
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, end, 10);
    *value = number;
    return errno == 0 && number <= max;
}

static int parse_count(const char *option, const char *text, unsigned max, unsigned *value,
                       struct reason *why)
{
    uint64_t number;
    char *end;
    if (!parse_number(text, max, &end, &number) || *end || number < 1) {
        reason_set(why, "%s=%s: must be a whole number from 1 to %u", option, text, max);
        return -1;
    }
    *value = (unsigned)number;
    return 0;
}

static bool parse_size(const char *text, uint64_t *value)
{
    static const char units[] = "KMGkmg";
    uint64_t number;
    char *end;
    if (!parse_number(text, UINT64_MAX, &end, &number))
        return false;
    unsigned shift = 0;
    if (*end) {
        const char *unit = strchr(units, *end);
        if (!unit || end[1])
            return false;
        shift = 10 * ((unsigned)(unit - units) % 3 + 1);
    }
    *value = number << shift;
    return *value >> shift == number;
}

static int parse_bytes(const char *option, const char *text, uint64_t min, uint64_t max,
                       const char *range, uint64_t *value, struct reason *why)
{
    if (parse_size(text, value) && *value >= min && *value <= max)
        return 0;
    reason_set(why, "%s=%s: must be a size from %s, such as 64M", option, text, range);
    return -1;
}

/* The index of text in a list of words that ends with NULL, or -1 with a reason that lists them. */
static int parse_word(const char *option, const char *text, const char *const *words,
                      struct reason *why)
{
    char allowed[200] = "";
    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        size_t len = strlen(allowed);
        strncat(allowed + len, i ? ", " : "", sizeof allowed - len - 1);
        len = strlen(allowed);
        strncat(allowed + len, words[i], sizeof allowed - len - 1);
    }
    reason_set(why, "%s=%s: must be one of %s", option, text, allowed);
    return -1;
}

static int parse_letters(const char *text, struct draft *draft, struct reason *why)
{
    draft->letters = true;
    draft->width = WIDTH_DEFAULT;
    return text ? parse_count("--letters", text, LETTERS, &draft->width, why) : 0;
}

static int parse_values(const char *text, struct draft *draft, struct reason *why)
{
    draft->type = value_type_find(text);
    if (draft->type)
        return 0;
    char types[128];
    value_types_show(types, sizeof types);
    reason_set(why, "--values=%s: must be %s; append be for big-endian", text, types);
    return -1;
}

static int parse_quantiles(const char *list, struct report_options *report, struct reason *why)
{
    const char *at = list;
    for (report->quantile_count = 0;; at++) {
        size_t len = strspn(at, "0123456789.eE+-");
        char *end;
        double quantile = strtod(at, &end);
        if (len == 0 || end != at + len || (*end && *end != ',') || !(quantile >= 0) ||
            quantile > 1 || report->quantile_count == QUANTILES_MAX)
            break;
        report->quantiles[report->quantile_count++] = quantile;
        if (!*end)
            return 0;
        at = end;
    }
    reason_set(why, "--quantiles=%s: must be numbers from 0 to 1, %d at most, separated by commas",
               list, QUANTILES_MAX);
    return -1;
}

static int parse_invalid(const char *text, struct options *options, struct reason *why)
{
    static const char *const choices[] = {"count", "skip", "error", NULL};
    int word = parse_word("--invalid", text, choices, why);
    options->pool.invalid = (enum invalid_choice)word;
    return word < 0 ? -1 : 0;
}

static int parse_progress(const char *text, struct options *options, struct reason *why)
{
    static const char *const whens[] = {"never", "auto", "always", NULL};
    int word = text ? parse_word("--progress", text, whens, why) : PROGRESS_AUTO;
    options->progress = (enum progress_when)word;
    return word < 0 ? -1 : 0;
}

static int parse_device(const char *text, struct options *options, struct reason *why)
{
    uint64_t ordinal = 0;
    char *end;
    options->pool.ordinal = 0;
    if (strcmp(text, "auto") == 0) {
        options->pool.device = DEVICE_AUTO;
    } else if (strcmp(text, "cpu") == 0) {
        options->pool.device = DEVICE_CPU;
    } else if (strcmp(text, "gpu") == 0) {
        options->pool.device = DEVICE_GPU;
    } else if (strncmp(text, "gpu:", 4) == 0 && parse_number(text + 4, INT_MAX, &end, &ordinal) &&
               !*end) {
        options->pool.device = DEVICE_GPU;
        options->pool.ordinal = (int)ordinal;
    } else {
        reason_set(why, "--device=%s: must be auto, cpu, gpu or gpu:N, such as gpu:0", text);
        return -1;
    }
    return 0;
}

static int parse_kernel(const char *text, struct options *options, struct reason *why)
{
    if (strcmp(text, "help") == 0)
        options->action = ACTION_LIST_KERNELS;
    options->pool.strategy = strategy_find(text);
    if (options->pool.strategy || strcmp(text, "auto") == 0 || strcmp(text, "help") == 0)
        return 0;
    reason_set(why, "--kernel=%s: no such strategy; --kernel=help lists them", text);
    return -1;
}

/* The options that choose how to read and write. 0, -1, or 1: not one of them. */
static int parse_io_option(int option, const char *text, struct options *options,
                           struct reason *why)
{
    static const char *const decompress[] = {"auto", "zstd", "none", NULL};
    static const char *const formats[] = {"tsv", "csv", "json", NULL};
    int word;
    switch (option) {
    case 'd':
        word = parse_word("--decompress", text, decompress, why);
        options->input.decompress = (enum decompress)word;
        return word < 0 ? -1 : 0;
    case OPT_MEMLIMIT:
        return parse_bytes("--memlimit", text, K, 2 * G, "1K to 2G", &options->input.memlimit, why);
    case 'F':
        word = parse_word("--format", text, formats, why);
        options->report.format = (enum format)word;
        return word < 0 ? -1 : 0;
    case OPT_HEADER:
        options->report.header = true;
        return 0;
    case 'o':
        options->output = text;
        if (*text)
            return 0;
        reason_set(why, "--output: must name a FILE");
        return -1;
    default:
        return 1;
    }
}

/* The options that choose who counts. 0, -1, or 1: not one of them. */
static int parse_engine_option(int option, const char *text, struct options *options,
                               struct reason *why)
{
    uint64_t size;
    switch (option) {
    case OPT_DEVICE:
        return parse_device(text, options, why);
    case OPT_KERNEL:
        return parse_kernel(text, options, why);
    case OPT_CHUNK_SIZE:
        if (parse_bytes("--chunk-size", text, 1, CHUNK_MAX, "1 to 1G", &size, why) != 0)
            return -1;
        options->pool.chunk_size = (size_t)size;
        return 0;
    case OPT_BUFFERS:
        return parse_count("--buffers", text, BUFFERS_MAX, &options->pool.buffers, why);
    case OPT_THREADS:
        return parse_count("--threads", text, THREADS_MAX, &options->pool.threads, why);
    default:
        return 1;
    }
}

/* What getopt_long could not make sense of; `word` is what was typed. */
static int refuse(int code, const char *word, struct reason *why)
{
    const char *hint = "'gpuhisto --help' lists the options";
    bool is_long = word && strncmp(word, "--", 2) == 0;
    size_t len = is_long ? strcspn(word + 2, "=") : 0;
    unsigned matches = 0;
    for (const struct option *option = long_options; is_long && option->name; option++)
        matches += strncmp(option->name, word + 2, len) == 0;
    if (code == ':' && is_long)
        reason_set(why, "%s: needs a value, as in %s=VALUE; %s", word, word, hint);
    else if (code == ':')
        reason_set(why, "-%c: needs a value; %s", optopt, hint);
    else if (is_long && matches > 1)
        reason_set(why, "%s: ambiguous, %u options begin so; %s", word, matches, hint);
    else if (is_long && matches == 1)
        reason_set(why, "%s: takes no value; %s", word, hint);
    else if (is_long)
        reason_set(why, "%s: no such option; %s", word, hint);
    else
        reason_set(why, "-%c: no such option; %s", optopt, hint);
    return -1;
}

/* The options that lay bins. 0, -1, or 1: not one of them. */
static int parse_bins_option(int option, const char *text, struct draft *draft, struct reason *why)
{
    switch (option) {
    case OPT_VALUES:
        return parse_values(text, draft, why);
    case 'B':
        return parse_count("--bins", text, BINS_MAX, &draft->bins, why);
    case OPT_MIN:
        draft->min = text;
        return 0;
    case OPT_MAX:
        draft->max = text;
        return 0;
    case OPT_EDGES:
        draft->edges = text;
        return 0;
    case OPT_LOG:
        draft->log = text ? text : "10";
        return 0;
    default:
        return 1;
    }
}

static int parse_option(int code, const char *word, struct options *options, struct draft *draft,
                        struct reason *why)
{
    switch (code) {
    case 'b':
        draft->bytes = true;
        return 0;
    case 'l':
        return parse_letters(optarg, draft, why);
    case 'f':
        draft->fold = true;
        return 0;
    case 'n':
        draft->numbers = true;
        return 0;
    case OPT_QUANTILES:
        return parse_quantiles(optarg ? optarg : QUANTILES_DEFAULT, &options->report, why);
    case OPT_INVALID:
        draft->invalid = true;
        return parse_invalid(optarg, options, why);
    case OPT_PROGRESS:
        return parse_progress(optarg, options, why);
    case OPT_TIMING:
        options->timing = options->pool.timing = true;
        return 0;
    case 'q':
        options->verbosity = QUIET;
        return 0;
    case 'v':
        options->verbosity = VERBOSE;
        return 0;
    case 'h':
        options->action = ACTION_HELP;
        return 0;
    case 'V':
        options->action = ACTION_VERSION;
        return 0;
    default:
        break;
    }
    int rc = parse_io_option(code, optarg, options, why);
    if (rc == 1)
        rc = parse_bins_option(code, optarg, draft, why);
    if (rc == 1)
        rc = parse_engine_option(code, optarg, options, why);
    return rc == 1 ? refuse(code, word, why) : rc;
}

static int usage(const char *text, struct reason *why)
{
    reason_set(why, "%s", text);
    return -1;
}

/* What is counted without a word about bins: values that are their own, or log-linear bins. */
static int settle_own(struct binning *binning, const struct draft *draft, struct reason *why)
{
    if (draft->numbers && draft->bins)
        return usage("--bins: goes with --min and --max", why);
    if (draft->numbers) {
        binning_log_linear(binning);
        return 0;
    }
    unsigned all =
        draft->type->kind == 'u' && draft->type->size <= 2 ? 1u << 8 * draft->type->size : 0;
    if (draft->type->kind == 'f')
        return usage("--values: needs --bins, --min and --max; or --edges, or --log", why);
    if (!draft->bins && !all)
        return usage("--values: needs --bins, or --edges, or --log", why);
    binning_own(binning, draft->bins ? draft->bins : all);
    return 0;
}

static int settle_binning(struct binning *binning, const struct draft *draft, struct reason *why)
{
    bool is_whole = !draft->numbers && draft->type->kind != 'f', range = draft->min && draft->max;
    if (!range && (draft->min || draft->max))
        return usage("--min, --max: give both, or neither", why);
    if (draft->edges && (range || draft->bins || draft->log))
        return usage("--edges: says it all; leave --bins, --min, --max and --log out", why);
    if (draft->edges)
        return binning_edges(binning, is_whole, draft->edges, why);
    if (draft->log && (!range || draft->bins))
        return usage("--log: goes with --min and --max, and without --bins", why);
    if (draft->log)
        return binning_log(binning, is_whole, draft->min, draft->max, draft->log, why);
    if (!range)
        return settle_own(binning, draft, why);
    if (!draft->bins)
        return usage("--min, --max: say how many --bins", why);
    return binning_equal(binning, is_whole, draft->min, draft->max, draft->bins, why);
}

/* Values, or numbers. */
static int settle_bins(struct options *options, const struct draft *draft, struct reason *why)
{
    struct binning binning;
    if (settle_binning(&binning, draft, why) != 0)
        return -1;
    if (draft->numbers)
        histogram_numbers(&options->histogram, &binning);
    else
        histogram_values(&options->histogram, draft->type, &binning);
    return 0;
}

static int settle_mode(struct options *options, const struct draft *draft, struct reason *why)
{
    bool binned = draft->type || draft->numbers;
    if (draft->bytes + draft->letters + draft->numbers + !!draft->type > 1)
        return usage("--bytes, --letters, --numbers, --values: only one mode at a time", why);
    if (draft->fold && !draft->letters)
        return usage("--fold-case: goes with --letters, as in --letters --fold-case", why);
    if (!binned && (draft->bins || draft->min || draft->max || draft->edges || draft->log))
        return usage("--bins, --min, --max, --edges, --log: go with --numbers or --values=TYPE",
                     why);
    if (!draft->numbers && (draft->invalid || options->report.quantile_count))
        return usage("--quantiles, --invalid: go with --numbers", why);
    if (binned)
        return settle_bins(options, draft, why);
    if (draft->letters)
        histogram_letters(&options->histogram, draft->width, draft->fold);
    else
        histogram_bytes(&options->histogram);
    return 0;
}

/* What only the whole command line can tell. */
static int settle(struct options *options, const struct draft *draft, struct reason *why)
{
    if (settle_mode(options, draft, why) != 0)
        return -1;
    size_t size = histogram_sample_size(&options->histogram), *chunk = &options->pool.chunk_size;
    options->input.record_size = size ? size : RECORD_TOKENS;
    if (size)
        *chunk = (*chunk + size - 1) / size * size; /* whole samples */

    const struct strategy *strategy = options->pool.strategy;
    if (options->pool.device == DEVICE_GPU && !strategy_best(&options->histogram)) {
        reason_set(why, "--device=gpu: does not count values of %s; leave it out",
                   options->histogram.type.name);
        return -1;
    }
    if (!strategy)
        return 0;
    if (options->pool.device == DEVICE_CPU) {
        reason_set(why, "--kernel=%s: runs on a GPU; leave --device=cpu out", strategy->name);
        return -1;
    }
    if (!strategy_counts(strategy, &options->histogram)) {
        reason_set(why, "--kernel=%s: does not count in this mode; see --kernel=help",
                   strategy->name);
        return -1;
    }
    options->pool.device = DEVICE_GPU;
    return 0;
}

/* GPUHISTO_CPU names the counter, for tests and measurements. */
static int choose_counter(struct options *options, struct reason *why)
{
    const char *name = getenv("GPUHISTO_CPU"), *here[8] = {NULL};
    size_t count = 0;
    for (const struct counter *const *counter = counters; *counter; counter++)
        if ((*counter)->runs_here())
            here[count++] = (*counter)->name;
    if (name && *name && parse_word("GPUHISTO_CPU", name, here, why) < 0)
        return -1;
    options->pool.counter = counter_find(name && *name ? name : NULL);
    return 0;
}

int options_parse(int argc, char **argv, struct options *options, struct reason *why)
{
    *options = (struct options){
        .input = {.decompress = DECOMPRESS_AUTO, .memlimit = MEMLIMIT_DEFAULT},
        .pool = {.device = DEVICE_AUTO, .chunk_size = CHUNK_DEFAULT, .tuning = pool_tuning},
        .verbosity = NORMAL,
    };
    struct draft draft = {0};
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (;;) {
        /* The word an option is read from, for messages: getopt names a long one only by number. */
        int at = optind ? optind : 1;
        int code = getopt_long(argc, argv, short_options, long_options, NULL);
        if (code == -1)
            break;
        const char *word = argv[optind > at ? optind - 1 : at];
        if (parse_option(code, word, options, &draft, why) != 0)
            return -1;
        if (options->action == ACTION_HELP || options->action == ACTION_VERSION)
            return 0; /* whatever else is there, as everywhere */
    }
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    if (options->action != ACTION_COUNT)
        return 0;
    return choose_counter(options, why) == 0 ? settle(options, &draft, why) : -1;
}

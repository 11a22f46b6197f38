/* SPDX-License-Identifier: MIT */
/* For libFuzzer: the command line. The lines of the input are the arguments. Whatever they are,
 * options_parse takes them, or gives an error that is one printable line. `make fuzz` builds it. */
#include "src/cli/cli.h"
#include "src/tally/characters.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

static void check_spec(const struct histogram_spec *spec)
{
    bool binned = spec->mode->is_binned;
    unsigned channels = histogram_spec_channels(spec);
    fuzz_require(spec->bins >= 1 && channels >= 1, "nothing to count");
    fuzz_require(binned ? spec->bins == channels * ROWS(&spec->binning)
                        : spec->bins <= CHARACTER_ROWS,
                 "another number of bins than the mode has");
}

/* Checks what must hold of options that were taken. */
static void check_options(const struct options *options)
{
    if (options->action != ACTION_COUNT)
        return;
    for (const struct options *at = options; at; at = at->also) {
        check_spec(&at->spec);
        fuzz_require((at->also ? &at->also->spec : NULL) == at->spec.also,
                     "histograms of --also are not linked as their options are");
    }
    fuzz_require(options->pool.chunk_size >= 1 && options->pool.kernels, "no pool");
    fuzz_require(options->report.quantile_count <= QUANTILES_MAX, "too many quantiles");
    fuzz_require(!options->report.stats || options->report.quantile_count >= 1, "no quantiles");
    fuzz_require(record_is_text(&options->input.record) ||
                     options->pool.chunk_size % options->input.record.size == 0,
                 "chunks that do not hold whole records");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "gpuhisto";
    char *words[WORDS_MAX + 2] = {name}, *text = malloc(size + 1);
    int count = 1;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word = text, *end; word < text + size && count <= WORDS_MAX; word = end + 1) {
        end = word + strcspn(word, "\n");
        *end = '\0';
        words[count++] = word;
    }
    static struct options options;
    struct error error = {""};
    int rc = options_parse(count, words, &options, &error);
    if (rc == 0 && options.pending)
        rc = options_finish_type(&options, size % 2 ? "f64" : "i16be", &error);
    if (rc == 0) {
        check_options(&options);
        options_free(&options);
    } else {
        fuzz_require(rc == OPTIONS_WRONG || rc == OPTIONS_FAILED, "another error");
        fuzz_require_error(&error);
    }
    free(text);
    return 0;
}

/* For libFuzzer: the command line. Words of the input, which ends each by a newline, are arguments;
 * whatever they are, options_parse takes them or gives one line that says why not. `make fuzz`
 * builds it. */
#include "src/cli/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MAX 64

/* What must hold of options that were taken. */
static void check_options(const struct options *options)
{
    const struct histogram *histogram = &options->histogram;
    if (options->action != ACTION_COUNT)
        return;
    bool binned = histogram->mode->is_binned;
    if (histogram->bins < 1 || options->pool.chunk_size < 1 || !options->pool.counter ||
        options->report.quantile_count > QUANTILES_MAX || (!binned && histogram->bins > 256) ||
        (binned && histogram->bins != ROWS(&histogram->binning)) ||
        (options->input.record_size && options->pool.chunk_size % options->input.record_size))
        abort();
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
    struct reason why = {""};
    if (options_parse(count, words, &options, &why) == 0) {
        check_options(&options);
        binning_free(&options.histogram.binning);
    } else if (!why.text[0] || strlen(why.text) >= sizeof why.text) {
        abort();
    }
    free(text);
    return 0;
}

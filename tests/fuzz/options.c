/* For libFuzzer: the command line. The lines of the input are the arguments. Whatever they are,
 * options_parse takes them, or gives a reason that is one printable line. `make fuzz` builds it. */
#include "src/cli/options.h"
#include "src/histogram/characters.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MAX 64

static void check_histogram(const struct histogram *histogram)
{
    bool binned = histogram->mode->is_binned;
    unsigned channels = histogram_channels(histogram);
    if (histogram->bins < 1 || channels < 1 || (!binned && histogram->bins > CHARACTER_ROWS) ||
        (binned && histogram->bins != channels * ROWS(&histogram->binning)))
        abort();
}

/* Checks what must hold of options that were taken. */
static void check_options(const struct options *options)
{
    if (options->action != ACTION_COUNT)
        return;
    for (const struct options *at = options; at; at = at->also) {
        check_histogram(&at->histogram);
        if ((at->also ? &at->also->histogram : NULL) != at->histogram.also)
            abort();
    }
    if (options->pool.chunk_size < 1 || !options->pool.counter ||
        options->report.quantile_count > QUANTILES_MAX ||
        (options->report.stats && options->report.quantile_count < 1) ||
        (!records_are_text(options->input.record_size) &&
         options->pool.chunk_size % options->input.record_size))
        abort();
}

static void check_reason(int rc, const struct reason *why)
{
    size_t len = strnlen(why->text, sizeof why->text);
    if ((rc != OPTIONS_WRONG && rc != OPTIONS_FAILED) || len == 0 || len == sizeof why->text)
        abort();
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)why->text[i] < 0x20 || why->text[i] == 0x7f)
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
    int rc = options_parse(count, words, &options, &why);
    if (rc == 0) {
        check_options(&options);
        options_free(&options);
    } else {
        check_reason(rc, &why);
    }
    free(text);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "made_tables.h"
#include "src/report/writer.h"

#include "random.h"
#include "src/cli/cli.h"
#include "src/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const made_layouts[MADE_LAYOUTS][MADE_WORDS] = {
    {"--bytes"},
    {"--letters=13"},
    {"--numbers", "--digits=2"},
    {"--numbers", "--log=2:32"},
    {"--numbers", "--edges=-100,0,1.5,200"},
    {"--numbers", "--log=1.5", "--min=1", "--max=500"},
    {"--values=u16be", "--bins=9"},
    {"--values=i8", "--edges=0,40,50,99"},
    {"--values=u16", "--bins=10", "--min=0", "--max=5"},
    {"--values=f32", "--digits=3"},
    {"--values=f64be", "--bins=4000", "--min=-1", "--max=1"},
    {"--values=u64", "--bins=7", "--min=0", "--max=18446744073709551616"},
    {"--values=u8", "--channels=2"},
};

void made_file_open(struct memory_file *file)
{
    file->fd = memfd_create("table", 0);
    if (file->fd < 0)
        abort();
    snprintf(file->name, sizeof file->name, "/proc/self/fd/%d", file->fd);
}

void made_file_add_text(struct memory_file *file, const char *text, size_t len)
{
    if (write(file->fd, text, len) != (ssize_t)len)
        abort();
}

char *made_file_text(const struct memory_file *file, size_t *len)
{
    *len = (size_t)lseek(file->fd, 0, SEEK_END);
    char *text = malloc(*len + 1);
    if (!text || pread(file->fd, text, *len, 0) != (ssize_t)*len)
        abort();
    text[*len] = '\0';
    return text;
}

void made_build(const char *const *words, struct words *options, struct histogram_spec *spec)
{
    struct error error;
    *options = (struct words){.list = NULL};
    for (size_t i = 0; i < MADE_WORDS && words[i]; i++)
        words_format(options, "%s", words[i]);
    if (options_build(options, spec, NULL, &error) != 0) {
        printf("%s: %s\n", words[0], error.text);
        abort();
    }
}

/* True if a table can have counts in this row, which is not a bin that no number can be in. */
static bool can_count(const struct histogram_spec *spec, size_t row)
{
    struct row_label label = {.next = 0};
    if (!spec->mode->is_binned || histogram_spec_channels(spec) > 1)
        return true;
    histogram_spec_label_row(spec, row, &label);
    return label.kind != ROW_KIND_BIN || strcmp(label.lo, label.hi) != 0 ||
           strcmp(label.lo, "0") == 0;
}

void made_fill_tally(struct tally *tally, const struct histogram_spec *spec, unsigned sparse)
{
    const unsigned channels = histogram_spec_channels(spec);
    const size_t rows = histogram_spec_rows(spec);
    tally->samples = 0;
    for (size_t row = 0; row < rows; row++) {
        uint64_t count = random_word() >> 16 >> random_below(48);
        if (random_below(sparse) != 0 || !can_count(spec, row))
            count = 0;
        for (unsigned channel = 0; channel < channels; channel++) /* which are equally long */
            tally->counts[channel * rows + row] = count;
        tally->samples += channels * count;
    }
}

void made_write_table(struct memory_file *file, const struct histogram_spec *spec,
                      const struct words *options, const struct tally *tally)
{
    static struct writer out;
    struct report_options report = {.format = &format_json, .words = options};
    writer_begin(&out, file->fd);
    report_write(&out, &report, spec, tally);
    if (writer_flush(&out) != 0)
        abort();
}

/* How input is read: --decompress, --memlimit, --no-check, --skip, --length. */
#include "option.h"
#include "parse.h"

#define KIB ((uint64_t)1 << 10)
#define GIB ((uint64_t)1 << 30)

/* "auto", a codec's name, or "none". */
int option_decompress(struct draft *draft, const char *value, struct reason *why)
{
    struct input_options *input = &draft->options->input;
    const char *choices[CODECS_MAX + 3] = {"auto"};
    int count = 0;
    for (; codecs[count]; count++)
        choices[1 + count] = codecs[count]->name;
    choices[1 + count] = "none";
    const struct foreign *foreign = foreign_find(value);
    if (foreign) {
        reason_of_option(why, "--decompress", value,
                         "cannot be decompressed here; use '%s FILE | gpuhisto'", foreign->command);
        return OPTIONS_WRONG;
    }
    int choice = parse_word("--decompress", value, choices, why);
    input->decompress = choice == 0       ? DECOMPRESS_AUTO
                        : choice <= count ? DECOMPRESS_CODEC
                                          : DECOMPRESS_NONE;
    input->codec = choice > 0 ? codecs[choice - 1] : NULL;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

int option_memlimit(struct draft *draft, const char *value, struct reason *why)
{
    uint64_t *memlimit = &draft->options->input.decoding.memlimit;
    return parse_size("--memlimit", value, KIB, 2 * GIB, "1K to 2G", memlimit, why);
}

int option_no_check(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->input.decoding.no_check = true;
    draft->options->pool.no_check = true;
    return 0;
}

/* A size of content, from 0. */
static int parse_content_size(const char *option, const char *value, uint64_t *size,
                              struct reason *why)
{
    return parse_size(option, value, 0, CONTENT_MAX, "0 to 9223372036854775807", size, why);
}

int option_skip(struct draft *draft, const char *value, struct reason *why)
{
    draft->skip = true;
    return parse_content_size("--skip", value, &draft->options->input.content.skip, why);
}

int option_length(struct draft *draft, const char *value, struct reason *why)
{
    draft->options->input.content.has_length = true;
    return parse_content_size("--length", value, &draft->options->input.content.length, why);
}

/* A header is looked for unless something says where the values begin, or that bytes are taken as
 * they are. */
void content_settle(const struct draft *draft)
{
    struct input_options *input = &draft->options->input;
    bool is_raw = draft->skip || input->decompress == DECOMPRESS_NONE;
    input->content.npy_type = draft->type && !is_raw ? draft->type->name : NULL;
    input->content.channels = histogram_channels(&draft->options->histogram);
}

/* How input is read: --decompress, --memlimit. */
#include "option.h"
#include "parse.h"

#define KIB ((uint64_t)1 << 10)
#define GIB ((uint64_t)1 << 30)

int option_decompress(struct draft *draft, const char *value, struct reason *why)
{
    static const char *const choices[] = {"auto", "zstd", "none", NULL};
    int choice = parse_word("--decompress", value, choices, why);
    draft->options->input.decompress = (enum decompress)choice;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

int option_memlimit(struct draft *draft, const char *value, struct reason *why)
{
    uint64_t *memlimit = &draft->options->input.memlimit;
    return parse_size("--memlimit", value, KIB, 2 * GIB, "1K to 2G", memlimit, why);
}

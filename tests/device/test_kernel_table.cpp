// SPDX-License-Identifier: MIT
// Every strategy has a kernel for every mode that it counts, of its own, and a name that is its
// index; and refuses what the device does not have.
#include "tests/device/emulation.h"

#include "gpu/count/launch.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace
{

unsigned cases, wrong;

void fail(unsigned strategy, const char *what, const struct histogram_spec &spec)
{
    std::fprintf(stderr, "FAIL: %s: %s: mode %d, width %u, type %s\n", strategies[strategy].name,
                 what, static_cast<int>(spec.mode->id), spec.width,
                 spec.type.name ? spec.type.name : "-");
    wrong++;
}

void check_spec(const struct histogram_spec &spec)
{
    for (unsigned i = 0; i < strategy_count; i++) {
        const auto strategy = static_cast<enum strategy_id>(i);
        if (!strategy_counts(&strategies[i], &spec))
            continue;
        cases++;
        const struct launch how = launch_with(strategy, &spec, {227 * 1024, 1 << 20, 1});
        if (!how.kernel)
            fail(i, "no kernel", spec);
        if (!how.second != !how.second_block)
            fail(i, "a second kernel or threads for one, but not both", spec);
    }
}

void check_modes()
{
    struct histogram_spec spec;
    struct binning binning;
    histogram_spec_bytes(&spec);
    check_spec(spec);
    for (unsigned width = 1; width <= LETTERS; width++) {
        histogram_spec_letters(&spec, width, false);
        check_spec(spec);
    }
    for (const struct value_type *type = value_types; type->name; type++) {
        if (type->kind == 'f')
            binning_equal(&binning, 0, 1, 100);
        else
            binning_equal_whole(&binning, 0, 100, 100);
        histogram_spec_values(&spec, type, &binning);
        check_spec(spec);
    }
    binning_equal(&binning, 0, 1, 100);
    histogram_spec_numbers(&spec, &binning);
    check_spec(spec);
    for (const auto build :
         {histogram_spec_characters, histogram_spec_categories, histogram_spec_blocks}) {
        build(&spec);
        check_spec(spec);
    }
    for (const bool is_aligned : {false, true}) {
        histogram_spec_pairs(&spec, is_aligned);
        check_spec(spec);
    }
}

// Expects a launch of `clusters` over so many bins on a device with clusters of up to `max` blocks.
void check_cluster(size_t bins, unsigned max, unsigned blocks, const char *message)
{
    struct histogram_spec spec;
    struct binning binning;
    struct error error = {""};
    const struct launch_limits limits = {227 * 1024, 1 << 20, max};
    binning_own(&binning, bins);
    histogram_spec_values(&spec, value_type_find("u32"), &binning);
    const struct launch how = launch_with(STRATEGY_clusters, &spec, limits);
    const bool fits = launch_fits(&how, limits, &error);
    cases++;
    if (how.cluster != blocks || fits != !*message || !std::strstr(error.text, message))
        fail(STRATEGY_clusters, error.text, spec);
    if (grid_for(&how, 264, 1ull << 30) % how.cluster)
        fail(STRATEGY_clusters, "a grid that is no multiple of the cluster", spec);
}

} // namespace

int main()
{
    check_modes();
    check_cluster(1000, 0, 1, "compute capability 9.0");
    check_cluster(58000, 1, 1, "");
    check_cluster(59000, 1, 1, "of a block's shared memory");
    check_cluster(59000, 16, 2, "");
    check_cluster(1 << 18, 16, 8, "");
    check_cluster(900000, 16, 16, "");
    check_cluster(1 << 20, 16, 16, "of a block's shared memory");
    std::printf("%u launches, %u wrong\n", cases, wrong);
    return wrong != 0;
}

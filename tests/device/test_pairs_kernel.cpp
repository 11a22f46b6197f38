// SPDX-License-Identifier: MIT
// The kernels that count pairs of bytes, launched in the emulation: data of any length at any
// alignment, by any number of blocks, in the shared memory that any GPU gives a block, in memory
// that ends where the data do.
#include "tests/device/emulation.h"

#include "gpu/count/pairs.cuh"
#include "gpu/count/launch.h"

extern "C" {
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

unsigned long cases, wrong;

using counts_of_pairs = std::vector<unsigned long long>;

counts_of_pairs expect(const unsigned char *data, std::size_t len, std::size_t step)
{
    counts_of_pairs counts(PAIR_ROWS);
    for (std::size_t i = 0; i + 1 < len; i += step)
        counts[data[i] * 256u + data[i + 1]]++;
    return counts;
}

// Random bytes: any, or few of them, so that pairs come again; or, now and then, a run.
void fill(unsigned char *data, std::size_t len)
{
    const unsigned of = random_below(2) ? 256 : 1 + random_below(8);
    const unsigned first = random_below(256);
    for (std::size_t i = 0; i < len;) {
        const std::size_t run = random_below(200) ? 1 : random_below(300);
        const auto byte = static_cast<unsigned char>(first + random_below(of) * (256 / of));
        for (std::size_t k = 0; k < run && i < len; k++)
            data[i++] = byte;
    }
}

void check(bool aligned, std::size_t len, unsigned alignment, unsigned shared, unsigned blocks)
{
    struct histogram_spec spec;
    histogram_spec_pairs(&spec, aligned);
    const struct launch how = launch_with(STRATEGY_pairs, &spec, {shared, 0, 0});
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[alignment + len]);
    unsigned char *const data = memory.get() + alignment;
    fill(data, len);
    counts_of_pairs counts(PAIR_ROWS);
    struct count_args args = {};
    args.map = sample_map_of(&spec);
    args.shape = how.shape;
    args.data = data;
    args.len = len;
    args.counts = counts.data();
    cases++;
    emulate_launch(how.shape.passes * blocks, how.block, how.shared, [&] { how.kernel(args); });
    if (counts != expect(data, len, aligned ? 2 : 1) && wrong++ < 20)
        std::fprintf(stderr, "FAIL: %zu bytes%s at %u, %u bytes of shared memory, %u blocks\n", len,
                     aligned ? ", aligned" : "", alignment, shared, blocks);
}

// The least that a GPU gives a block, what others do, and what all pairs need.
const unsigned shared_sizes[] = {48 << 10, 64 << 10, 99 << 10, 163 << 10, 227 << 10};

void check_all(bool aligned)
{
    const unsigned step = aligned ? 2 : 1;
    for (unsigned shared : shared_sizes)
        for (unsigned blocks = 1; blocks < 4; blocks++)
            check(aligned, 70000 * step, random_below(8) * step, shared, blocks);
    for (unsigned alignment = 0; alignment < 16; alignment += step)
        for (std::size_t len : {0u, 2u, 16u, 30u, 1024u, 1040u, 1056u, 2100u})
            check(aligned, len + random_below(aligned ? 1 : 4), alignment, shared_sizes[4], 1);
    const unsigned more = scale_of(20, 300, 3000);
    for (unsigned i = 0; i < more; i++)
        check(aligned, random_below(100000) * step, random_below(8) * step,
              shared_sizes[random_below(5)], 1 + random_below(3));
}

} // namespace

int main()
{
    random_seed(1);
    check_all(false);
    check_all(true);
    std::printf("%lu launches, %lu wrong\n", cases, wrong);
    return wrong != 0;
}

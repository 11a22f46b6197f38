// SPDX-License-Identifier: MIT
// What the benchmarks of zstd begin with: a file as it is.
#ifndef GPUHISTO_BENCH_READ_FILE_CUH
#define GPUHISTO_BENCH_READ_FILE_CUH

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

using byte_vector = std::vector<unsigned char>;

[[noreturn]] static void die(const char *why)
{
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    std::exit(1);
}

// All bytes of a file; ends the process if it cannot be read.
static byte_vector read_file(const char *name)
{
    byte_vector bytes;
    FILE *const file = std::fopen(name, "rb");
    if (!file)
        die("cannot open FILE");
    static unsigned char part[1 << 20];
    for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;)
        bytes.insert(bytes.end(), part, part + got);
    if (std::ferror(file))
        die("cannot read FILE");
    std::fclose(file);
    return bytes;
}

#endif

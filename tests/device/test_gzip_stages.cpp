// SPDX-License-Identifier: MIT
// test_gzip_stages: gzip files decoded by all stages of the GPU, on a CPU, against zlib. Files of
// members of all kinds, in batches that end anywhere, cut short, and with bytes that are changed.
#include "tests/device/gzip_batches.h"

extern "C" {
#include "gpu/decode/batch.h"
#include "tests/helpers/gzip_members.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace
{

constexpr size_t cap = size_t{6} << 20;

unsigned long cases, taken, refused, wrong, batches;
std::vector<unsigned char> due(cap);

void fail(const char *what, const char *why, size_t at)
{
    if (wrong++ < 20)
        std::printf("%s: %s, at %zu\n", what, why, at);
}

struct owned_file {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(cap),
                               content = std::vector<unsigned char>(cap);
    gzip_file file = {};

    owned_file()
    {
        file.bytes = bytes.data();
        file.content = content.data();
        file.cap = file.content_cap = cap;
    }

    void add(size_t len, member_content kind, int level, bool is_flushed = false)
    {
        const gzip_member_settings settings = {len, kind, level, is_flushed};
        gzip_file_add(&file, &settings);
    }
};

// What is taken is what zlib gives. With `is_due`, what zlib takes must be taken.
void check(const char *what, const unsigned char *in, size_t len, const gzip_cut &cut, bool is_due)
{
    size_t size = 0;
    const bool is_right = gzip_reference(in, len, due.data(), due.size(), &size);
    const gzip_decoded is = gzip_decode_all(in, len, cut);
    cases++;
    batches += is.batches;
    taken += is.is_taken;
    refused += !is.is_taken;
    if (is.broken)
        fail(what, is.broken, len);
    if (is.is_taken && !is_right)
        fail(what, "taken, and zlib refuses it", len);
    if (is.content.size() > size || !std::equal(is.content.begin(), is.content.end(), due.begin()))
        fail(what, "other content", is.content.size());
    if (is.is_taken && is.content.size() != size)
        fail(what, "less content", is.content.size());
    if (is_due && is_right && !is.is_taken)
        fail(what, "refused", is.refusal);
}

gzip_cut random_cut(const gzip_file &file)
{
    gzip_cut cut;
    cut.size = 2 * GZIP_MARGIN + random_below(static_cast<unsigned>(file.len) + 1);
    cut.keep_min = random_below(2) ? 0 : random_below(70000);
    cut.room = 1u << 22;
    cut.fill = static_cast<unsigned char>(random_below(256));
    return cut;
}

// The file as it is, in batches of several sizes.
void check_file(const char *what, const gzip_file &file)
{
    gzip_cut cut;
    cut.room = 1u << 24; // a batch takes as much as a sixteenth of it
    check(what, file.bytes, file.len, cut, true);
    for (int i = 0; i < 3; i++) {
        cut = random_cut(file);
        cut.room = 16 * std::max<uint32_t>(cut.size, 1u << 18);
        check(what, file.bytes, file.len, cut, true);
    }
}

void check_kinds()
{
    for (int level : {0, 1, 6, 9})
        for (member_content kind : {MEMBER_TEXT, MEMBER_RANDOM, MEMBER_ZEROS}) {
            owned_file one;
            one.add(100000 + random_below(200000), kind, level, level == 6);
            check_file("kind", one.file);
        }
    for (size_t len : std::initializer_list<size_t>{0, 1, 2, 65535, 65536, 131072, 131073}) {
        owned_file one;
        one.add(len, MEMBER_TEXT, 6);
        one.add(0, MEMBER_TEXT, 6);
        one.add(len, MEMBER_RANDOM, 6);
        check_file("length", one.file);
        gzip_file_pad(&one.file, 0, 1 + random_below(30));
        check_file("padding", one.file);
        gzip_file_pad(&one.file, 'x', 1);
        check_file("rubbish", one.file);
    }
    owned_file many;
    for (unsigned i = 0; i < 8; i++)
        gzip_file_add_random(&many.file, random_below(60000));
    check_file("many", many.file);
}

// Files that are full of work. What is not taken is left because there is too much of it.
void check_hostile()
{
    hostile_file file;
    for (size_t i = 0; (file = hostile_make("gzip-", i, 40000)).bytes; i++) {
        gzip_cut cut;
        cut.room = 1u << 24;
        cut.blocks = 2048;
        check(file.name, file.bytes, file.len, cut, false);
        std::free(file.bytes);
    }
}

// Cut after each of some numbers of bytes; the beginning and the end in full.
void check_cuts(const gzip_file &file, size_t step)
{
    for (size_t len = 0; len <= file.len; len += len < 40 || len + 40 > file.len ? 1 : step)
        check("cut", file.bytes, len, random_cut(file), false);
}

void check_changes(gzip_file &file, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const size_t at = i < 40 ? i : random_below(static_cast<unsigned>(file.len));
        const unsigned char was = file.bytes[at];
        file.bytes[at] = static_cast<unsigned char>(was ^ (1 + random_below(255)));
        check("change", file.bytes, file.len, random_cut(file), false);
        file.bytes[at] = was;
    }
}

// Memory that is short is a refusal, and nothing worse.
void check_shortage(const gzip_file &file)
{
    for (unsigned i = 0; i < 20; i++) {
        gzip_cut cut = random_cut(file);
        cut.blocks = 1 + random_below(40);
        cut.frames = 1 + random_below(3);
        cut.room = 1u << (17 + random_below(5));
        check("shortage", file.bytes, file.len, cut, false);
    }
}

} // namespace

int main(int argc, char **argv)
{
    random_seed(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0);
    check_kinds();
    check_hostile();
    owned_file text, mixed;
    text.add(60000, MEMBER_TEXT, 6);
    for (unsigned i = 0; i < 5; i++)
        gzip_file_add_random(&mixed.file, 10000 + random_below(30000));
    check_cuts(text.file, scale_of(9973, 1499, 101));
    check_cuts(mixed.file, scale_of(20011, 9973, 997));
    check_changes(text.file, scale_of(60, 120, 120));
    check_changes(mixed.file, scale_of(60, 120, 120));
    check_shortage(mixed.file);
    std::printf("%lu cases in %lu batches, %lu taken, %lu refused, %lu wrong\n", cases, batches,
                taken, refused, wrong);
    return wrong ? 1 : 0;
}

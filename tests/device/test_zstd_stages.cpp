// SPDX-License-Identifier: MIT
// All stages that decompress zstd, launched in the emulation on batches that the host plans: frames
// of every kind, cut into batches anywhere, against libzstd; and small frames that are cut short or
// altered, of which they take what the format allows, and nothing that libzstd refuses or decodes
// to something else.
#include "tests/device/emulation.h"

#include "tests/device/zstd_batches.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/zstd_frames.h"

extern "C" {
#include "tests/helpers/compressed.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <string>
#include <vector>

namespace
{

unsigned long cases, batches, wrong, refused_cases;
std::map<std::string, unsigned long> stricter; // what libzstd takes and the stages refuse, and why

using bytes = std::vector<unsigned char>;

void fail(const char *what, size_t at)
{
    if (wrong++ < 20)
        std::fprintf(stderr, "FAIL: case %lu: %s (%zu)\n", cases, what, at);
}

zstd_cut random_cut()
{
    zstd_cut cut = {random_below(3) ? 1 + random_below(6) : 1000};
    cut.at_once = random_below(3) ? 1 + random_below(300000) : cut.at_once;
    cut.tile = random_below(4) ? random_below(4) ? 4096 : 32768 : 0;
    cut.way = static_cast<zstd_way>(random_below(3));
    cut.keep_min = random_below(2) ? 0 : random_below(5000);
    cut.fill = static_cast<unsigned char>(random_below(256));
    return cut;
}

// All threads of a CUDA block, and all CUDA blocks, in an order of their own each time.
zstd_decoded decode(const unsigned char *in, size_t len, const zstd_cut &cut)
{
    emulate_seed(random_below(4) ? 1 + random_below(1000) : 0);
    const zstd_decoded decoded = zstd_decode_all(in, len, cut);
    batches += decoded.batches;
    if (decoded.broken)
        fail(decoded.broken, len);
    return decoded;
}

// What a compressor wrote is taken, however it is cut.
void check_taken(const bytes &in, const bytes &due, const zstd_cut &cut)
{
    cases++;
    const zstd_decoded is = decode(in.data(), in.size(), cut);
    if (!is.is_taken)
        fail("refused", is.refusal);
    else if (is.content != due)
        fail("other content", is.content.size());
}

// Anything: what is taken is what libzstd takes, and what the naive decoder refuses is refused.
void check_any(const unsigned char *in, size_t len)
{
    cases++;
    zstd_cut cut = {1000};
    cut.fill = static_cast<unsigned char>(random_below(256));
    cut.way = random_below(2) ? ZSTD_BY_FRAMES : ZSTD_BY_BYTES;
    const zstd_decoded is = decode(in, len, cut);
    unsigned char *due;
    size_t size;
    naive_zstd naive;
    const bool naively = naive_zstd_decode(&naive, in, len);
    const bool right = frame_reference(in, len, &due, &size);
    if (is.is_taken && !right)
        fail("libzstd refuses it", len);
    else if (is.is_taken &&
             (is.content.size() != size || !std::equal(is.content.begin(), is.content.end(), due)))
        fail("altered: other content", len);
    else if (!is.is_taken && naively)
        fail("the format allows it, and it is refused", is.refusal);
    refused_cases += !is.is_taken;
    if (!is.is_taken && right)
        stricter[naively ? "?" : naive.why]++;
    if (is.is_taken && !naively)
        stricter[std::string("taken, but not by the naive decoder: ") + naive.why]++;
    naive_zstd_free(&naive);
    std::free(due);
}

bytes make_content(unsigned kind, size_t size)
{
    bytes data(size);
    frame_content(static_cast<enum frame_content>(kind % CONTENT_KINDS), data.data(), size);
    return data;
}

void append_frame(bytes &frames, const bytes &data, const frame_settings &settings)
{
    bytes frame(frame_bound(&settings, data.size()));
    const size_t size =
        frame_compress(frame.data(), frame.size(), &settings, data.data(), data.size());
    frames.insert(frames.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
}

frame_settings random_settings()
{
    frame_settings settings = {};
    settings.level = static_cast<int>(random_below(28)) - 5;
    settings.window_log = random_below(2) ? 0 : 10 + static_cast<int>(random_below(10));
    settings.is_long = random_below(4) == 0;
    settings.checksum = random_below(2);
    settings.is_unsized = random_below(2);
    settings.flush = random_below(3) ? 0 : 300 + random_below(60000);
    return settings;
}

// One frame of some blocks: with a batch that ends after each.
void check_frames()
{
    const unsigned rounds = scale_of(12, 32, 120);
    for (unsigned round = 0; round < rounds; round++) {
        const bytes data = make_content(round, random_below(round % 3 ? 400000 : 3000));
        bytes frame;
        append_frame(frame, data, random_settings());
        check_taken(frame, data, random_cut());
        check_taken(frame, data, {1});
        check_taken(frame, data, {1 + random_below(4), 1u << 30, 0, ZSTD_AS_SHIPPED, 0, 0});
    }
}

// Each size from 0.
void check_sizes()
{
    for (size_t size = 0; size < 300; size += scale_is_small_or_slow() ? 17 : 1) {
        const bytes data = make_content(CONTENT_TEXT, size);
        bytes frame;
        append_frame(frame, data, random_settings());
        check_taken(frame, data, random_cut());
    }
}

// Many frames, with skippable ones between them.
void check_many()
{
    const unsigned rounds = scale_of(4, 10, 40);
    for (unsigned round = 0; round < rounds; round++) {
        bytes frames, content;
        for (unsigned i = 0; i < 30; i++) {
            const bytes data = make_content(i, random_below(random_below(4) ? 2000 : 60000));
            if (random_below(4) == 0) {
                bytes skipped(COMPRESSED_MAX(1000));
                skipped.resize(skippable_put(skipped.data(), random_below(1000)));
                frames.insert(frames.end(), skipped.begin(), skipped.end());
            }
            append_frame(frames, data, random_settings());
            content.insert(content.end(), data.begin(), data.end());
        }
        check_taken(frames, content, {1000});
        check_taken(frames, content, random_cut());
    }
}

// Frames of much the same size, of three blocks each, of which a batch has 130, and no part of
// another: so each batch stands alone.
void check_alone()
{
    for (unsigned round = 0; round < scale_of(1, 3, 20); round++) {
        frame_settings settings = {};
        settings.level = 1 + static_cast<int>(random_below(9));
        settings.window_log = 10;
        const unsigned count = 300 + random_below(100);
        bytes frames, content;
        for (unsigned i = 0; i < count; i++) {
            const bytes data = make_content(CONTENT_TEXT, 2100 + random_below(900));
            append_frame(frames, data, settings);
            content.insert(content.end(), data.begin(), data.end());
        }
        zstd_cut cut = {3 * 130 + 2};
        cut.at_once = round % 2 ? 40000 : frames.size();
        const zstd_decoded decoded = zstd_decode_all(frames.data(), frames.size(), cut);
        cases++;
        batches += decoded.batches;
        const bool all_there = cut.at_once == frames.size();
        const char *fault = decoded.broken                   ? decoded.broken
                            : !decoded.is_taken              ? "refused"
                            : decoded.content != content     ? "other content"
                            : all_there && decoded.alone < 2 ? "a batch does not stand alone"
                                                             : nullptr;
        if (fault && wrong++ < 20)
            std::printf("FAIL: %u frames of the same size: %s\n", count, fault);
    }
}

// Files that are full of work.
void check_hostile()
{
    hostile_file file;
    for (size_t i = 0; (file = hostile_make("zstd-", i, 20000)).bytes; i++) {
        check_any(file.bytes, file.len);
        std::free(file.bytes);
    }
}

// Small frames cut at every byte, and with every byte altered.
void check_altered()
{
    const unsigned rounds = scale_of(5, 12, 60);
    for (unsigned round = 0; round < rounds; round++) {
        frame_settings settings = random_settings();
        settings.flush = random_below(2) ? 0 : 50 + random_below(300);
        const size_t size = 1 + random_below(random_below(4) ? 400 : 2000);
        bytes frame;
        append_frame(frame, make_content(CONTENT_TEXT + random_below(4), size), settings);
        if (scale_is_small_or_slow() && frame.size() > 400)
            continue;
        for (size_t cut = 0; cut < frame.size(); cut++)
            check_any(frame.data(), cut);
        bytes altered = frame;
        for (size_t at = 0; at < frame.size(); at++) {
            for (unsigned k = 0; k < (scale_is_small_or_slow() ? 2u : 4u); k++) {
                altered[at] = static_cast<unsigned char>(k % 2 ? random_word()
                                                               : frame[at] ^ 1u << random_below(8));
                check_any(altered.data(), altered.size());
            }
            altered[at] = frame[at];
        }
    }
}

} // namespace

int main()
{
#ifdef __GLIBC__ // memory of this size is taken thousands of times: it is not given back each time
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    check_sizes();
    check_frames();
    check_many();
    check_alone();
    check_hostile();
    check_altered();
    if (std::getenv("VERBOSE"))
        for (const auto &why : stricter)
            std::printf("%lu: %s\n", why.second, why.first.c_str());
    std::printf("%lu cases, %lu of them refused, %lu batches, %lu wrong\n", cases, refused_cases,
                batches, wrong);
    return wrong != 0;
}

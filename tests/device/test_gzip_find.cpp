// SPDX-License-Identifier: MIT
// Where the GPU finds that blocks of deflate may begin, emulated, against the host: in streams by
// zlib, in random bytes, and in headers that are made up, cut and changed.
#include "tests/device/emulation.h"

#include "gpu/decode/stages.h"
#include "gpu/decode/gzip/find.cuh"

extern "C" {
#include "src/parallel/block_loops.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>
#include <zlib.h>

namespace
{

using bytes = std::vector<unsigned char>;
using found = std::vector<unsigned>;

unsigned long cases, wrong;

void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        std::printf("wrong: %s (%zu)\n", what, where);
}

//===--- Both finders ------------------------------------------------------------------------===//

// By reading a header at every bit; and those that are not of last blocks by deflate_find, too.
found find_on_host(const bytes &stream)
{
    bytes slack = stream;
    slack.resize(stream.size() + DEFLATE_SLACK);
    const deflate_input input = {slack.data(), 8 * stream.size()};
    found result;
    uint64_t next = deflate_find(block_loops_find(nullptr), &input, 0, input.bits, nullptr);
    for (uint64_t at = 0; at < input.bits; at++) {
        deflate_header header;
        uint64_t end = at;
        if ((deflate_bits(&input, at) >> 1 & 3) != DEFLATE_DYNAMIC ||
            deflate_read_header(&input, &end, &header) != DEFLATE_ENDED)
            continue;
        result.push_back(static_cast<unsigned>(at));
        if (header.is_last)
            continue;
        expect(at == next, "both finders on the host", at);
        next = deflate_find(block_loops_find(nullptr), &input, at + 1, input.bits, nullptr);
    }
    return result;
}

// What the stage finds in a batch: `count` of them in all, and in order those there is room for.
struct emulated {
    found candidates;
    unsigned count;
};

emulated find_emulated(const bytes &stream, unsigned room)
{
    const size_t size = DECODE_CARRY + stream.size();
    const std::unique_ptr<unsigned char, decltype(&std::free)> in(
        static_cast<unsigned char *>(std::malloc(size + DECODE_PADDING)), std::free);
    emulated result = {found(room), 0};
    gzip_counters counters = {};
    decode_batch batch = {};
    std::memset(in.get(), 0xa5, size + DECODE_PADDING);
    std::copy(stream.begin(), stream.end(), in.get() + DECODE_CARRY);
    batch.in = in.get();
    batch.in_size = static_cast<uint32_t>(size);
    batch.gzip.candidates = result.candidates.data();
    batch.gzip.candidates_max = room;
    batch.gzip.counters = &counters;
    emulate_seed(random_below(3));
    emulate_launch(gzip_find_grid(&batch, 0), GZIP_FIND_THREADS, 0, [&] { gzip_find(batch); });
    emulate_launch(grid_of_one(&batch, 0), GZIP_SORT_THREADS, 0, [&] { gzip_sort(batch); });
    result.count = counters.candidates;
    result.candidates.resize(std::min(room, counters.candidates));
    return result;
}

unsigned long found_in_all;

void compare(const bytes &stream, const char *what, size_t where)
{
    const found due = find_on_host(stream);
    const emulated is = find_emulated(stream, GZIP_CANDIDATES_MAX);
    found_in_all += due.size();
    expect(is.candidates == due && is.count == due.size(), what, where);
}

//===--- Streams by zlib, and random ones ----------------------------------------------------===//

bytes random_bytes(size_t size, unsigned ands)
{
    bytes result(size);
    for (unsigned char &byte : result) {
        byte = static_cast<unsigned char>(random_word());
        for (unsigned i = 0; i < ands; i++)
            byte &= static_cast<unsigned char>(random_word());
    }
    return result;
}

bytes text(size_t size)
{
    bytes result;
    while (result.size() < size) {
        char line[64];
        const int len = std::snprintf(line, sizeof line, "10.0.%u.%u GET /%u/index.html %u\n",
                                      random_below(256), random_below(9), random_below(1000),
                                      random_below(100000));
        result.insert(result.end(), line, line + len);
    }
    return result;
}

bytes deflated(const bytes &content, int level, int memory)
{
    bytes result(compressBound(content.size()) + 1000);
    z_stream zlib = {};
    if (deflateInit2(&zlib, level, Z_DEFLATED, -15, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        std::abort();
    zlib.next_in = const_cast<unsigned char *>(content.data());
    zlib.avail_in = static_cast<unsigned>(content.size());
    zlib.next_out = result.data();
    zlib.avail_out = static_cast<unsigned>(result.size());
    if (deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        std::abort();
    result.resize(zlib.total_out);
    deflateEnd(&zlib);
    return result;
}

void streams()
{
    const size_t size = scale_of(200000, 1000000, 4000000);
    for (int level = 1; level <= 9; level += 4)
        for (int memory = 1; memory <= 8; memory += 7)
            compare(deflated(text(size), level, memory), "a stream by zlib", size);
    for (unsigned ands = 0; ands < 3; ands++)
        compare(random_bytes(size, ands), "random bytes", ands);
    for (size_t len = 0; len < 200; len++)
        compare(random_bytes(len, 0), "few random bytes", len);
    for (size_t more = 0; more < 12; more++)
        compare(random_bytes(4 * GZIP_FIND_PIECE - 6 + more, 0), "about a piece", more);
}

//===--- Headers that are made up ------------------------------------------------------------===//

class bit_writer
{
  public:
    void put(unsigned value, unsigned count)
    {
        for (unsigned i = 0; i < count; i++, bits_++) {
            if (bits_ % 8 == 0)
                stream.push_back(0);
            stream.back() =
                static_cast<unsigned char>(stream.back() | (value >> i & 1) << bits_ % 8);
        }
    }

    // A code, which begins with its highest bit.
    void put_code(unsigned code, unsigned count)
    {
        while (count-- > 0)
            put(code >> count, 1);
    }

    bytes stream;

  private:
    size_t bits_ = 0;
};

// Draws lengths of `codes` codes, among `count`: complete, by splitting codes at random.
std::vector<unsigned> draw_lengths(unsigned count, unsigned codes, unsigned max)
{
    std::vector<unsigned> lengths;
    if (codes > 0)
        lengths.push_back(random_below(16) ? 0 : 1);
    while (lengths.size() < codes) {
        const unsigned drawn = static_cast<unsigned>(lengths.size());
        unsigned split = random_below(drawn);
        for (unsigned i = 0; i < drawn && lengths[split] >= max; i++)
            split = (split + 1) % drawn;
        if (lengths[split] >= max)
            break;
        lengths.push_back(++lengths[split]);
    }
    lengths.resize(count);
    for (unsigned i = count - 1; i > 0; i--)
        std::swap(lengths[i], lengths[random_below(i + 1)]);
    return lengths;
}

// The codes of lengths, as RFC 1951 has them.
std::vector<unsigned> codes_of(const std::vector<unsigned> &lengths)
{
    std::vector<unsigned> codes(lengths.size());
    unsigned code = 0;
    for (unsigned length = 1; length < 16; length++, code *= 2)
        for (size_t i = 0; i < lengths.size(); i++)
            if (lengths[i] == length)
                codes[i] = code++;
    return codes;
}

constexpr unsigned order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

// Writes lengths in a precode, with repetitions where the precode has them: wrongly at the
// beginning, of a length before it.
void put_lengths(bit_writer &writer, const std::vector<unsigned> &lengths,
                 const std::vector<unsigned> &precode)
{
    const std::vector<unsigned> codes = codes_of(precode);
    for (size_t i = 0, times = 0; i < lengths.size(); i += times) {
        size_t run = 1;
        while (i + run < lengths.size() && lengths[i + run] == lengths[i])
            run++;
        unsigned symbol = lengths[i], extra = 0, min = 1;
        const bool repeats = lengths[i] == (i > 0 ? lengths[i - 1] : 0);
        if (repeats && run >= 3 && precode[16] && random_below(8) == 0)
            symbol = 16, extra = 2, min = 3;
        else if (lengths[i] == 0 && run >= 11 && precode[18])
            symbol = 18, extra = 7, min = 11;
        else if (lengths[i] == 0 && run >= 3 && precode[17])
            symbol = 17, extra = 3, min = 3;
        else if (repeats && run >= 3 && precode[16])
            symbol = 16, extra = 2, min = 3;
        times = extra ? std::min(run, size_t{min + (1u << extra) - 1}) : 1;
        writer.put_code(codes[symbol], precode[symbol]);
        writer.put(static_cast<unsigned>(times) - min, extra);
    }
}

// A dynamic header that is mostly right.
void put_header(bit_writer &writer)
{
    const unsigned literals = random_below(20) ? 257 + random_below(30) : 287 + random_below(2);
    const unsigned distances = random_below(20) ? 1 + random_below(30) : 31 + random_below(2);
    std::vector<unsigned> lengths =
        draw_lengths(literals, 1 + random_below(random_below(3) ? literals : 3), 15);
    const std::vector<unsigned> others =
        draw_lengths(distances, random_below(random_below(3) ? distances : 3), 15);
    if (random_below(8) && lengths[256] == 0)
        std::swap(lengths[256], *std::max_element(lengths.begin(), lengths.end()));
    lengths.insert(lengths.end(), others.begin(), others.end());
    if (random_below(10) == 0)
        lengths[random_below(literals + distances)] = random_below(16);
    const unsigned max = 5 + random_below(3);
    std::vector<unsigned> precode = draw_lengths(19, 19, max);
    if (random_below(10) == 0)
        precode[random_below(19)] = 0;
    writer.put(random_below(2), 1);
    writer.put(2, 2);
    writer.put(literals - 257, 5);
    writer.put(distances - 1, 5);
    writer.put(15, 4);
    for (unsigned symbol : order)
        writer.put(precode[symbol], 3);
    put_lengths(writer, lengths, precode);
}

void made_up()
{
    for (unsigned i = scale_of(30, 100, 1000); i > 0; i--) {
        bit_writer writer;
        for (unsigned k = 0; k < 300; k++) {
            put_header(writer);
            writer.put(static_cast<unsigned>(random_word()), random_below(32));
        }
        compare(writer.stream, "headers made up", i);
        for (unsigned k = 0; k < writer.stream.size() / 200; k++)
            writer.stream[random_below(static_cast<unsigned>(writer.stream.size()))] ^=
                static_cast<unsigned char>(1 << random_below(8));
        compare(writer.stream, "headers that are changed", i);
    }
}

// A header that is right, after some bits: it is found only if all of it is there.
void cut()
{
    for (unsigned i = 0; i < scale_of(10, 60, 200); i++) {
        bit_writer writer;
        writer.put(~0u, i % 32);
        do
            put_header(writer);
        while (find_on_host(writer.stream).empty());
        for (size_t len = writer.stream.size(); len > 0; len--)
            compare(bytes(writer.stream.begin(), writer.stream.begin() + static_cast<long>(len)),
                    "a cut header", len);
    }
}

// A header whose codes are right.
bytes right_header()
{
    for (;;) {
        bit_writer writer;
        put_header(writer);
        if (!find_on_host(writer.stream).empty())
            return writer.stream;
    }
}

// Every 80 bits a complete precode, for which the queue has no room, and among these headers that
// are right; or more of these than there is room for.
void crowded()
{
    bytes repeated;
    for (unsigned i = 0; i < 12000; i++) {
        const bytes header = right_header();
        repeated.insert(repeated.end(), header.begin(),
                        i % 100 ? header.begin() + 10 : header.end());
    }
    compare(repeated, "many precodes", 0);
    bit_writer headers;
    for (unsigned i = 0; i < 1000; i++)
        put_header(headers);
    const found due = find_on_host(headers.stream);
    for (unsigned room : {0u, 1u, 2u, 3u, 100u, static_cast<unsigned>(due.size()) - 1}) {
        const emulated is = find_emulated(headers.stream, room);
        expect(
            is.count == due.size() && is.candidates.size() == room &&
                std::includes(due.begin(), due.end(), is.candidates.begin(), is.candidates.end()) &&
                std::adjacent_find(is.candidates.begin(), is.candidates.end(),
                                   std::greater_equal<unsigned>()) == is.candidates.end(),
            "more candidates than room", room);
    }
}

} // namespace

int main()
{
    streams();
    made_up();
    cut();
    crowded();
    expect(found_in_all > 1000, "how this test makes headers", found_in_all);
    std::printf("%lu cases, %lu found, %lu wrong\n", cases, found_in_all, wrong);
    return wrong > 0;
}

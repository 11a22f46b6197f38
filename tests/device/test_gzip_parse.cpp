// SPDX-License-Identifier: MIT
// test_gzip_parse: the stage that parses deflate, on a CPU. Streams of zlib's, by all levels and
// strategies, are parsed from candidates that are all there, partly there or wrong, in batches that
// end anywhere, and what their units say is carried out and compared with the content.
#include "tests/device/emulation.h"

#include "gpu/decode/gzip/parse.cuh"

extern "C" {
#include "src/parallel/block_loops.h"
#include "tests/helpers/random.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <zlib.h>

namespace
{

using byte_vector = std::vector<unsigned char>;

unsigned long cases, failures, units_seen;

unsigned below(unsigned limit)
{
    return static_cast<unsigned>(random_below(limit));
}

void fail(const char *what, const char *kind, unsigned long at)
{
    if (failures++ < 20)
        std::printf("%s: %s, at %lu\n", kind, what, at);
}

//===--- Content -----------------------------------------------------------------------------===//

byte_vector text(size_t size)
{
    byte_vector content;
    while (content.size() < size) {
        char line[80];
        const int len =
            std::snprintf(line, sizeof line, "10.0.%u.%u GET /%x/%u HTTP/1.1 %u %u\n", below(8),
                          below(256), below(4096), below(50), 200 + below(3) * 100, below(100000));
        content.insert(content.end(), line, line + len);
    }
    content.resize(size);
    return content;
}

byte_vector noise(size_t size, unsigned values)
{
    byte_vector content(size);
    for (unsigned char &byte : content)
        byte = static_cast<unsigned char>(below(values));
    return content;
}

byte_vector mixture(size_t size)
{
    byte_vector content;
    while (content.size() < size) {
        const size_t some = 1 + below(30000);
        const unsigned kind = below(4);
        byte_vector part = kind == 0   ? text(some)
                           : kind == 1 ? noise(some, 256)
                           : kind == 2 ? noise(some, 2 + below(20))
                                       : byte_vector(some, static_cast<unsigned char>(below(256)));
        content.insert(content.end(), part.begin(), part.end());
    }
    content.resize(size);
    return content;
}

// Deflates content, with a flush now and then.
byte_vector deflate_of(const byte_vector &content, int level, int strategy, int memory, int flush)
{
    z_stream stream = {};
    if (deflateInit2(&stream, level, Z_DEFLATED, -15, memory, strategy) != Z_OK)
        std::abort();
    byte_vector out(deflateBound(&stream, content.size()) + content.size() / 50 + 4096);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    stream.next_in = const_cast<unsigned char *>(content.data());
    size_t left = content.size();
    while (left > 0) {
        const size_t some = flush == Z_NO_FLUSH ? left : std::min<size_t>(left, 1 + below(20000));
        stream.avail_in = static_cast<uInt>(some);
        left -= some;
        if (deflate(&stream, left > 0 ? flush : Z_NO_FLUSH) != Z_OK || stream.avail_in > 0)
            std::abort();
    }
    stream.avail_in = 0;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        std::abort();
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

//===--- A batch -----------------------------------------------------------------------------===//

constexpr unsigned units_max = 4096, parts_max = 8192;

struct carried {
    gzip_position position = {};
    byte_vector header; // of the block around; it begins with bit `shift`
    uint32_t shift = 0;
};

class batch
{
  public:
    batch(const unsigned char *bytes, size_t len, const carried &from)
        : in_(DECODE_CARRY + len + DECODE_PADDING, 0xa5), literals_(8 * len + 70000, 0xa5),
          sequences_(4 * len + 1000), candidates_(parts_max / 2), parts_(parts_max),
          units_(units_max), begin_(from.position)
    {
        std::copy(bytes, bytes + len, in_.begin() + DECODE_CARRY);
        gzip_carry carry = {};
        carry.shift = from.shift;
        const size_t size = std::min(from.header.size(), sizeof carry.header);
        std::copy(from.header.begin(), from.header.begin() + static_cast<std::ptrdiff_t>(size),
                  reinterpret_cast<unsigned char *>(carry.header));
        std::memcpy(in_.data() + GZIP_CARRY_AT, &carry, sizeof carry);
        batch_.in = in_.data();
        batch_.in_size = static_cast<uint32_t>(DECODE_CARRY + len);
        batch_.literals = literals_.data();
        batch_.sequences = sequences_.data();
        batch_.gzip.candidates = candidates_.data();
        batch_.gzip.parts = parts_.data();
        batch_.gzip.units = units_.data();
        batch_.gzip.counters = &counters_;
        batch_.gzip.candidates_max = static_cast<uint32_t>(candidates_.size());
        batch_.gzip.parts_max = parts_max;
        batch_.gzip.units_max = units_max;
        batch_.gzip.sequences_max = static_cast<uint32_t>(sequences_.size());
        batch_.gzip.literals_max = static_cast<uint32_t>(literals_.size());
    }

    // Finds candidates, but for some, and adds some that are none.
    void find(unsigned drop, unsigned add)
    {
        const size_t len = batch_.in_size - DECODE_CARRY;
        byte_vector bytes(in_.begin() + DECODE_CARRY, in_.end());
        bytes.resize(bytes.size() + DEFLATE_SLACK);
        const deflate_input input = {bytes.data(), 8 * len};
        std::vector<uint32_t> found;
        for (uint64_t at = 0; (at = deflate_find(block_loops_find(nullptr), &input, at, 8 * len,
                                                 nullptr)) != DEFLATE_NONE;
             at++)
            if (below(100) >= drop)
                found.push_back(static_cast<uint32_t>(at));
        for (unsigned i = 0; i < add && len > 0; i++)
            found.push_back(below(static_cast<unsigned>(8 * len)));
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        found.resize(std::min(found.size(), candidates_.size()));
        std::copy(found.begin(), found.end(), candidates_.begin());
        counters_.candidates = static_cast<uint32_t>(found.size());
    }

    // Follows the parts from where the batch begins; gives what stopped the last one.
    gzip_part run(byte_vector &content)
    {
        const decode_batch device = batch_;
        emulate_launch(3, GZIP_PARSE_THREADS, 0, [=] { gzip_parse(device); });
        unsigned number = counters_.candidates;
        gzip_position position = begin_;
        for (;;) {
            const auto end = candidates_.begin() + counters_.candidates;
            const auto found = std::lower_bound(candidates_.begin(), end, position.bit);
            unsigned index = static_cast<unsigned>(found - candidates_.begin());
            if (position.inside != GZIP_AT_BLOCK || found == end || *found != position.bit) {
                index = number++;
                if (number > parts_max)
                    std::abort();
                emulate_launch(1, 32, 0, [=] {
                    static gzip_parser parser;
                    gzip_parsing parsing = {parser, device,   gzip_input_of(device),
                                            index,  position, 0};
                    parsing.parse();
                    if (threadIdx.x == 0)
                        device.gzip.parts[index] = parsing.part;
                });
            }
            execute(index, content);
            const gzip_part &part = parts_[index];
            if (part.stop != GZIP_STOP_FOUND)
                return part;
            position = part.end;
        }
    }

  private:
    void execute(unsigned part, byte_vector &content)
    {
        std::vector<const gzip_unit *> order(parts_[part].units);
        for (unsigned i = 0; i < std::min(counters_.units, units_max); i++)
            if (units_[i].part == part)
                order.at(units_[i].ordinal) = &units_[i];
        for (const gzip_unit *unit : order)
            if (unit)
                execute(*unit, content);
            else
                fail("a unit is missing", "part", part);
    }

    void execute(const gzip_unit &unit, byte_vector &content)
    {
        units_seen++;
        const size_t begin = content.size();
        const unsigned char *literals =
            (unit.is_stored ? in_.data() : literals_.data()) + unit.literals_at;
        unsigned taken = 0;
        for (unsigned i = 0; !unit.is_stored && i < unit.sequences; i++) {
            const decode_sequence own = sequences_.at(unit.sequences_at + i),
                                  next = sequences_.at(unit.sequences_at + i + 1);
            if ((own & 0x3ffff) != content.size() - begin || (own >> 18 & 0x1ffff) != taken)
                fail("a sequence begins elsewhere", "unit", i);
            const unsigned count = static_cast<unsigned>(next >> 18 & 0x1ffff) - taken;
            const size_t end = begin + (next & 0x3ffff), offset = own >> 35;
            content.insert(content.end(), literals + taken, literals + taken + count);
            taken += count;
            if (offset == 0 || offset > content.size() || end > begin + GZIP_UNIT_CONTENT) {
                fail("a sequence that cannot be", "unit", i);
                return;
            }
            while (content.size() < end)
                content.push_back(content[content.size() - offset]);
        }
        content.insert(content.end(), literals + taken, literals + unit.literals);
        if (content.size() - begin != unit.content)
            fail("another length", "unit", unit.content);
    }

    byte_vector in_, literals_;
    std::vector<decode_sequence> sequences_;
    std::vector<uint32_t> candidates_;
    std::vector<gzip_part> parts_;
    std::vector<gzip_unit> units_;
    gzip_counters counters_ = {};
    gzip_position begin_;
    decode_batch batch_ = {};
};

//===--- Streams -----------------------------------------------------------------------------===//

// Parses a stream in batches of up to `size` bytes, each of which begins some bytes before the end
// of the one before.
void check(const char *kind, const byte_vector &stream, const byte_vector &content, size_t size,
           unsigned drop, unsigned add)
{
    byte_vector made;
    carried from;
    size_t at = 0;
    cases++;
    for (;;) {
        const size_t len = std::min(size, stream.size() - at);
        batch one(stream.data() + at, len, from);
        one.find(drop, add);
        const gzip_part part = one.run(made);
        if (made.size() > content.size() || !std::equal(made.begin(), made.end(), content.begin()))
            return fail("other content", kind, made.size());
        if (part.stop == GZIP_STOP_ENDED) {
            if (made != content || at + (part.end.bit + 7) / 8 != stream.size())
                fail("ended too early", kind, made.size());
            return;
        }
        if (part.stop != GZIP_STOP_CUT || at + len == stream.size())
            return fail("stopped for nothing", kind, part.stop);
        // What is left, from some byte before the place on.
        const size_t back = std::min<size_t>(part.end.bit / 8, below(4));
        const size_t next = at + part.end.bit / 8 - back;
        if (part.end.inside == GZIP_IN_CODES && part.end.header != GZIP_CARRIED) {
            const size_t header = at + part.end.header / 8;
            from.header.assign(stream.begin() + static_cast<std::ptrdiff_t>(header),
                               stream.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                    header + GZIP_HEADER_MAX, stream.size())));
            from.shift = part.end.header % 8;
        }
        from.position = part.end;
        from.position.header = GZIP_CARRIED;
        from.position.bit -= static_cast<uint32_t>(8 * (next - at));
        if (next == at && size >= stream.size())
            return fail("does not go on", kind, at);
        if (next == at)
            size *= 2;
        at = next;
    }
}

void check_all(const char *kind, const byte_vector &content, int level, int strategy, int memory,
               int flush)
{
    const byte_vector stream = deflate_of(content, level, strategy, memory, flush);
    check(kind, stream, content, SIZE_MAX / 2, 0, 0);
    check(kind, stream, content, SIZE_MAX / 2, 50, 10);
    check(kind, stream, content, SIZE_MAX / 2, 100, 3);
    check(kind, stream, content, 400 + below(static_cast<unsigned>(stream.size()) + 1), 20, 2);
}

} // namespace

int main(int argc, char **argv)
{
    emulate_seed(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0);
    check_all("empty", {}, 6, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH);
    check_all("one byte", {'x'}, 6, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH);
    check_all("zeros", byte_vector(3000000, 0), 9, Z_DEFAULT_STRATEGY, 9, Z_NO_FLUSH);
    for (int level : {0, 1, 6, 9})
        for (int memory : {1, 8, 9}) {
            check_all("text", text(200000), level, Z_DEFAULT_STRATEGY, memory, Z_NO_FLUSH);
            check_all("mixture", mixture(300000), level, Z_DEFAULT_STRATEGY, memory, Z_NO_FLUSH);
        }
    for (int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
        check_all("strategy", mixture(150000), 6, strategy, 8, Z_NO_FLUSH);
    for (int flush : {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK})
        check_all("flush", mixture(100000), 6, Z_DEFAULT_STRATEGY, 8, flush);
    check_all("two values", noise(100000, 2), 6, Z_HUFFMAN_ONLY, 9, Z_NO_FLUSH);
    check_all("all values", noise(100000, 256), 6, Z_HUFFMAN_ONLY, 9, Z_NO_FLUSH);
    check_all("four values", noise(100000, 4), 6, Z_DEFAULT_STRATEGY, 9, Z_NO_FLUSH);
    std::printf("%lu streams, %lu units, %lu failures\n", cases, units_seen, failures);
    return failures ? 1 : 0;
}

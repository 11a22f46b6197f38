// SPDX-License-Identifier: MIT
// The stages of gzip on the GPU, emulated, but for those that copy: files of members with all kinds
// of headers and blocks, in batches that end anywhere, against zlib. What the units say is carried
// out here. Files are also cut, changed and too large for the memory of a batch.
#include "tests/device/emulation.h"

#include "gpu/decode/stages.h"
#include "gpu/decode/gzip/chain.cuh"
#include "gpu/decode/gzip/crc.cuh"
#include "gpu/decode/gzip/find.cuh"

extern "C" {
#include "tests/helpers/gzip_members.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>
#include <zlib.h>

namespace
{

using bytes = std::vector<unsigned char>;

unsigned long cases, batches, refusals, wrong;

void fail(const char *what, const char *kind, size_t at)
{
    if (wrong++ < 20)
        std::printf("wrong: %s: %s (%zu)\n", kind, what, at);
}

//===--- Files -------------------------------------------------------------------------------===//

struct gzip_made {
    bytes file, content;
    std::vector<size_t> starts; // of members, and what follows the last one
};

bytes content_of(size_t size, unsigned kind)
{
    bytes content;
    while (content.size() < size) {
        char line[64];
        const int len =
            std::snprintf(line, sizeof line, "10.0.%u GET /%x/%u HTTP/1.1 %u\n", random_below(8),
                          random_below(256), random_below(4096), random_below(100000));
        if (kind < 2)
            content.insert(content.end(), line, line + len);
        else
            content.push_back(static_cast<unsigned char>(kind == 2 ? random_word() : 0));
    }
    content.resize(size);
    return content;
}

// Adds a member, of which the header has any fields.
void add(gzip_made &made, size_t size, int level, int memory, int strategy = Z_DEFAULT_STRATEGY,
         unsigned kind = random_below(4))
{
    const bytes content = content_of(size, kind);
    const unsigned long_max = random_below(20) == 0 ? 1500 : 20;
    bytes extra(random_below(long_max)), name(random_below(long_max) + 1, 'n'),
        comment(random_below(long_max) + 1, 'c');
    name.back() = comment.back() = 0;
    gz_header header = {};
    header.hcrc = static_cast<int>(random_below(2));
    header.extra = random_below(2) ? extra.data() : nullptr;
    header.extra_len = static_cast<uInt>(extra.size());
    header.name = random_below(2) ? name.data() : nullptr;
    header.comment = random_below(4) ? nullptr : comment.data();
    z_stream stream = {};
    if (deflateInit2(&stream, level, Z_DEFLATED, 31, memory, strategy) != Z_OK ||
        deflateSetHeader(&stream, &header) != Z_OK)
        std::abort();
    bytes out(deflateBound(&stream, size) + size / 50 + 8192);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    stream.next_in = const_cast<unsigned char *>(content.data());
    if (random_below(2)) {
        stream.avail_in = static_cast<uInt>(size / 2);
        if (deflate(&stream, random_below(2) ? Z_SYNC_FLUSH : Z_BLOCK) == Z_STREAM_ERROR)
            std::abort();
    }
    stream.avail_in =
        static_cast<uInt>(static_cast<size_t>(content.data() + size - stream.next_in));
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        std::abort();
    if (made.starts.empty())
        made.starts.push_back(0);
    made.file.insert(made.file.end(), out.data(), out.data() + stream.total_out);
    made.content.insert(made.content.end(), content.begin(), content.end());
    made.starts.push_back(made.file.size());
    deflateEnd(&stream);
}

void add_random(gzip_made &made, size_t max)
{
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE,
                                     Z_FIXED};
    const size_t size =
        random_below(static_cast<unsigned>(random_below(3) ? max : std::min<size_t>(max, 30)));
    add(made, size, static_cast<int>(random_below(10)), 1 + static_cast<int>(random_below(9)),
        strategies[random_below(5)]);
}

//===--- Batches -----------------------------------------------------------------------------===//

// How much memory a batch has, in things.
struct limits {
    unsigned candidates = 500, parts = 4000, units = 8000, blocks = 4000, frames = 4000;
    unsigned room = 40u << 20;
};

// What a file decodes to.
struct decoded {
    bool is_taken = false;
    unsigned refusal = 0;
    bytes content; // if it is taken
};

class decoder
{
  public:
    decoder(const gzip_made &made, const limits &like, const char *kind)
        : made_(made), like_(like), kind_(kind), carry_(DECODE_CARRY)
    {
    }

    // Decodes in pieces of these sizes, in turn.
    decoded all(const std::function<size_t()> &piece)
    {
        const size_t len = made_.file.size();
        for (size_t at = 0;;) {
            const size_t some = std::min(len - at, std::max<size_t>(piece(), 2 * GZIP_MARGIN));
            const bool is_end = at + some == len;
            if (!decode(at, some, is_end) || is_end)
                break;
            at += some - GZIP_MARGIN;
        }
        result_.is_taken = result_.refusal == DECODE_TAKEN;
        return result_;
    }

  private:
    // Content of a batch that is a batch's, in memory that is full of something.
    template <typename T> static std::vector<T> array(size_t count)
    {
        std::vector<T> result(count);
        if (count > 0)
            std::memset(static_cast<void *>(result.data()), 0xa5, count * sizeof(T));
        return result;
    }

    bool decode(size_t at, size_t len, bool is_end)
    {
        const unsigned room =
            static_cast<unsigned>(std::min<size_t>(like_.room, 1100 * len + 1000));
        auto in = array<uint4>((DECODE_CARRY + len + DECODE_PADDING) / 16 + 1);
        auto candidates = array<uint32_t>(like_.candidates);
        auto parts = array<gzip_part>(like_.parts);
        auto units = array<gzip_unit>(like_.units);
        auto members = array<gzip_member>(like_.frames);
        auto blocks = array<decode_block>(like_.blocks);
        auto frames = array<decode_frame>(like_.frames);
        auto headings = array<decode_heading>(like_.blocks);
        auto outcomes = array<decode_outcome>(like_.blocks);
        auto literals = array<unsigned char>(20 * len + 70000);
        auto sequences = array<decode_sequence>(6 * len + 70000);
        bytes next(DECODE_CARRY, 0xa5);
        gzip_counters counters = {};
        decode_counts counts = {};
        decode_verdict verdict = {};
        verdict.refused = DECODE_NONE;
        batch_ = {};
        batch_.format = DECODE_GZIP;
        batch_.in = reinterpret_cast<unsigned char *>(in.data());
        batch_.in_size = static_cast<uint32_t>(DECODE_CARRY + len);
        batch_.counts = &counts;
        batch_.room = room;
        batch_.block = blocks.data();
        batch_.frame = frames.data();
        batch_.heading = headings.data();
        batch_.outcome = outcomes.data();
        batch_.literals = literals.data();
        batch_.sequences = sequences.data();
        batch_.verdict = &verdict;
        batch_.next = next.data();
        batch_.gzip.candidates = candidates.data();
        batch_.gzip.parts = parts.data();
        batch_.gzip.units = units.data();
        batch_.gzip.members = members.data();
        batch_.gzip.counters = &counters;
        batch_.gzip.candidates_max = like_.candidates;
        batch_.gzip.parts_max = like_.parts;
        batch_.gzip.units_max = like_.units;
        batch_.gzip.blocks_max = like_.blocks;
        batch_.gzip.frames_max = like_.frames;
        batch_.gzip.sequences_max = static_cast<uint32_t>(sequences.size());
        batch_.gzip.literals_max = static_cast<uint32_t>(literals.size());
        batch_.gzip.is_end = is_end;
        std::copy(carry_.begin(), carry_.end(), batch_.in);
        std::copy(made_.file.begin() + static_cast<long>(at),
                  made_.file.begin() + static_cast<long>(at + len), batch_.in + DECODE_CARRY);
        batches++;
        parse();
        if (counts.blocks == 0 || counts.frames == 0)
            fail("no block or no frame", kind_, at);
        if (counts.blocks > like_.blocks || counts.frames > like_.frames)
            fail("more than there is room for", kind_, at);
        if (counters.refusal == DECODE_TAKEN && follow())
            verify();
        if (counters.refusal != DECODE_TAKEN) {
            if (counts.blocks != 1 || counts.frames != 1 || outcomes[0].refusal != counters.refusal)
                fail("refused otherwise", kind_, at);
            result_.refusal = counters.refusal;
        }
        if (verdict.refused != DECODE_NONE)
            result_.refusal = outcomes[verdict.refused].refusal;
        carry_ = next;
        return result_.refusal == DECODE_TAKEN;
    }

    void parse()
    {
        const decode_batch device = batch_;
        emulate_launch(gzip_find_grid(&device, 0), GZIP_FIND_THREADS, 0,
                       [=] { gzip_find(device); });
        emulate_launch(1, GZIP_SORT_THREADS, 0, [=] { gzip_sort(device); });
        emulate_launch(gzip_parse_grid(&device, 3), GZIP_PARSE_THREADS, 0,
                       [=] { gzip_parse(device); });
        emulate_launch(grid_of_one(&device, 1), GZIP_CHAIN_THREADS, 0, [=] { gzip_chain(device); });
        emulate_launch(gzip_order_grid(&device, 2), GZIP_ORDER_THREADS, 0,
                       [=] { gzip_order(device); });
    }

    // Carries out what units say; false if a distance is too far.
    bool follow()
    {
        bytes &content = result_.content;
        const size_t before = content.size();
        unsigned block = 0;
        for (unsigned i = 0; i < batch_.counts->frames; i++) {
            const decode_frame &frame = batch_.frame[i];
            if (frame.first != block || frame.blocks == 0 || frame.begins != (i > 0 || !goes_on_) ||
                (!frame.ends && i + 1 < batch_.counts->frames) || frame.window != GZIP_WINDOW)
                fail("a frame", kind_, i);
            if (frame.begins)
                member_ = content.size();
            for (; block < frame.first + frame.blocks; block++) {
                if (batch_.block[block].frame != i)
                    fail("a block of another frame", kind_, block);
                batch_.outcome[block].content_at = static_cast<uint32_t>(content.size() - before);
                if (!follow(block)) {
                    result_.refusal = DECODE_BAD;
                    return false;
                }
            }
            goes_on_ = !frame.ends;
        }
        if (block != batch_.counts->blocks || content.size() - before > batch_.room)
            fail("too many blocks or too much content", kind_, block);
        out_.assign(content.begin() + static_cast<long>(before), content.end());
        out_.resize(out_.size() + DECODE_PADDING);
        batch_.out = out_.data();
        return true;
    }

    bool follow(unsigned index)
    {
        bytes &content = result_.content;
        const decode_block &block = batch_.block[index];
        const decode_heading &heading = batch_.heading[index];
        const decode_sequence *sequences = batch_.sequences + block.sequences_at;
        const bool is_stored = heading.literals_type == DECODE_LITERALS_RAW;
        const unsigned char *literals =
            is_stored ? batch_.in + heading.literals_at : batch_.literals + block.room_at;
        const size_t begin = content.size();
        unsigned taken = 0;
        for (unsigned i = 0; i < heading.sequences; i++) {
            const unsigned end = static_cast<unsigned>(sequences[i + 1] >> 18 & 0x1ffff);
            const size_t offset = sequences[i] >> 35;
            content.insert(content.end(), literals + taken, literals + end);
            taken = end;
            if (offset > content.size() - member_)
                return false;
            while (content.size() < begin + (sequences[i + 1] & 0x3ffff))
                content.push_back(content[content.size() - offset]);
        }
        content.insert(content.end(), literals + taken, literals + heading.literals);
        if (content.size() - begin != batch_.outcome[index].content)
            fail("another length of a block", kind_, index);
        return true;
    }

    void verify()
    {
        const decode_batch device = batch_;
        const gzip_carry &next = *reinterpret_cast<gzip_carry *>(batch_.next + GZIP_CARRY_AT);
        emulate_launch(gzip_crc_grid(&device, 2), GZIP_CRC_THREADS, 0, [=] { gzip_crc(device); });
        emulate_launch(gzip_verify_grid(&device, 2), GZIP_VERIFY_THREADS, 0,
                       [=] { gzip_verify(device); });
        if (batch_.verdict->refused != DECODE_NONE)
            return;
        if (next.before != (goes_on_ ? result_.content.size() - member_ : 0) && !device.gzip.is_end)
            fail("content of a member so far", kind_, next.before);
    }

    const gzip_made &made_;
    const limits like_;
    const char *kind_;
    bytes carry_, out_;
    bool goes_on_ = false;
    size_t member_ = 0; // where in the content the member begins
    decode_batch batch_ = {};
    decoded result_;
};

//===--- Checks ------------------------------------------------------------------------------===//

size_t any_piece()
{
    return 2 * GZIP_MARGIN + random_below(random_below(2) ? 3000 : 30000);
}

// A file that is right.
void check(const char *kind, const gzip_made &made, const std::function<size_t()> &piece,
           const limits &like = {})
{
    emulate_seed(random_below(3));
    const decoded is = decoder(made, like, kind).all(piece);
    cases++;
    if (!is.is_taken)
        fail("refused", kind, is.refusal);
    else if (is.content != made.content)
        fail("other content", kind, is.content.size());
}

// A file of which zlib says what it is. Members begin where they did before it was altered, but
// for those after what is altered: nothing is said of these.
void compare(const char *kind, const bytes &file)
{
    gzip_made made = {file, bytes(8u << 20), {}};
    size_t size;
    const bool is_right =
        gzip_reference(file.data(), file.size(), made.content.data(), made.content.size(), &size);
    made.content.resize(size);
    for (size_t at = 0; at <= file.size(); at++)
        made.starts.push_back(at);
    emulate_seed(random_below(3));
    const decoded is = decoder(made, {}, kind).all(any_piece);
    cases++;
    refusals += !is.is_taken;
    if (is.is_taken != is_right)
        fail(is_right ? "refused" : "taken", kind, is.refusal);
    else if (is.is_taken && is.content != made.content)
        fail("other content", kind, is.content.size());
}

void whole_files()
{
    gzip_made many;
    add(many, 60000, 6, 3, Z_HUFFMAN_ONLY, 0);
    check("many blocks", many, [] { return size_t{1} << 30; });
    check("many blocks", many, any_piece);
    check("an empty file", {{}, {}, {0}}, any_piece);
    for (unsigned i = scale_of(12, 100, 2000); i > 0; i--) {
        gzip_made made;
        for (unsigned k = 1 + random_below(random_below(2) ? 3 : 40); k > 0; k--)
            add_random(made, random_below(4) ? 3000 : 150000);
        if (random_below(3) == 0)
            made.file.resize(made.file.size() + random_below(random_below(2) ? 9 : 20000));
        check("members", made, any_piece);
        check("members at once", made, [] { return size_t{1} << 30; });
        limits few;
        few.candidates = random_below(3);
        check("members, few of whose blocks are found", made, any_piece, few);
    }
}

// The first batch ends at each byte around the end of a member.
void cut_everywhere()
{
    for (unsigned i = scale_of(1, 10, 60); i > 0; i--) {
        gzip_made made;
        while (made.file.size() < 8500)
            add(made, 8500 + random_below(100) - made.file.size() % 8000, 0, 8);
        const size_t middle = made.file.size();
        for (unsigned k = 0; k < 3; k++)
            add(made, random_below(40), static_cast<int>(random_below(10)), 8);
        add(made, 30000, 6, 8);
        for (size_t cut = middle - 20; cut < middle + 150; cut++)
            check("a batch that ends there", made, [=] { return cut; });
    }
}

void altered_files()
{
    compare("no bytes", {});
    compare("zeros alone", bytes(100));
    for (unsigned i = scale_of(30, 600, 10000); i > 0; i--) {
        gzip_made made;
        for (unsigned k = 1 + random_below(4); k > 0; k--)
            add_random(made, random_below(4) ? 2000 : 60000);
        bytes file = made.file;
        const unsigned size = static_cast<unsigned>(file.size());
        compare("a file", file);
        file.resize(random_below(size));
        compare("a file that is cut", file);
        file = made.file;
        file.resize(size - random_below(std::min(size, 30u)));
        compare("a file that is cut at the end", file);
        file = made.file;
        for (unsigned k = 1 + random_below(3); k > 0; k--)
            file[random_below(random_below(2) ? size : std::min(size, 40u))] ^=
                static_cast<unsigned char>(1 << random_below(8));
        compare("a file that is changed", file);
        file = made.file;
        file[made.starts[random_below(static_cast<unsigned>(made.starts.size()) - 1)] + 3] ^=
            static_cast<unsigned char>(1 << random_below(8));
        compare("flags that are changed", file);
        file = made.file;
        file.insert(file.begin(), 0);
        compare("zeros first", file);
        file = made.file;
        file[size - 1 - random_below(8)] ^= static_cast<unsigned char>(1 << random_below(8));
        compare("a trailer that is changed", file);
        file = made.file;
        file.resize(size + random_below(random_below(2) ? 5 : 12000));
        if (random_below(2))
            file.push_back(static_cast<unsigned char>(random_word()));
        if (random_below(2))
            file.insert(file.end(), made.file.begin(), made.file.end());
        compare("padding and more", file);
    }
}

// A header that is longer than what a batch may have of it.
void long_header()
{
    for (unsigned size : {3000u, GZIP_MARGIN, GZIP_MARGIN + 1, 20000u}) {
        gzip_made made;
        add(made, 20000, 0, 8);
        add(made, 10000, 6, 8);
        bytes &file = made.file;
        const size_t at = made.starts[1] + 10;
        file[made.starts[1] + 3] = 8;
        file.resize(at);
        file.insert(file.end(), size, 'n');
        file.push_back(0);
        const bytes deflated = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        file.insert(file.end(), deflated.begin(), deflated.end());
        made.starts.back() = file.size();
        made.content.resize(20000);
        const size_t cut = made.starts[1] + size;
        unsigned turn = 0;
        const decoded is = decoder(made, {}, "a long header").all([&] {
            return turn++ == 0 ? cut : size_t{1} << 30;
        });
        cases++;
        if (is.is_taken != (size <= GZIP_MARGIN))
            fail("a header of this length", "a long header", size);
        check("a header that is there", made, [] { return size_t{1} << 30; });
    }
}

// Too much for the memory of a batch is refused, and nothing else.
void short_memory()
{
    for (unsigned i = scale_of(25, 300, 3000); i > 0; i--) {
        gzip_made made;
        const unsigned max = random_below(2) ? 20000 : 1;
        for (unsigned k = 1 + random_below(30); k > 0; k--)
            add_random(made, max);
        limits few;
        const unsigned which = random_below(5);
        few.candidates = random_below(2) ? 500 : random_below(10);
        few.parts = few.candidates + (which == 0 ? random_below(40) : 1000);
        if (which > 0 && which < 4)
            (which == 1 ? few.blocks : which == 2 ? few.units : few.frames) = 1 + random_below(40);
        if (which == 4)
            few.room = 1 + random_below(100000);
        const decoded is = decoder(made, few, "short memory").all(any_piece);
        cases++;
        if (is.is_taken
                ? is.content != made.content
                : is.refusal != DECODE_NO_ROOM && !(is.refusal == DECODE_TOO_MANY && which == 3))
            fail("other content, or refused for something else", "short memory", is.refusal);
        refusals += !is.is_taken;
    }
}

const bytes plain_header = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0};

// A member of so many stored blocks, each with these bytes.
gzip_made of_stored(unsigned blocks, const bytes &each)
{
    gzip_made made = {plain_header, {}, {0}};
    const unsigned char size = static_cast<unsigned char>(each.size());
    for (; blocks > 0; blocks--) {
        const bytes head = {blocks == 1, size, 0, static_cast<unsigned char>(~size), 0xff};
        made.file.insert(made.file.end(), head.begin(), head.end());
        made.file.insert(made.file.end(), each.begin(), each.end());
        made.content.insert(made.content.end(), each.begin(), each.end());
    }
    const unsigned len = static_cast<unsigned>(made.content.size());
    const uint32_t trailer[2] = {static_cast<uint32_t>(crc32(0, made.content.data(), len)), len};
    made.file.resize(made.file.size() + sizeof trailer);
    std::memcpy(made.file.data() + made.file.size() - sizeof trailer, trailer, sizeof trailer);
    made.starts.push_back(made.file.size());
    return made;
}

// So many members without content.
gzip_made of_members(unsigned members)
{
    const bytes rest = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    gzip_made made = {{}, {}, {0}};
    for (; members > 0; members--) {
        made.file.insert(made.file.end(), plain_header.begin(), plain_header.end());
        made.file.insert(made.file.end(), rest.begin(), rest.end());
        made.starts.push_back(made.file.size());
    }
    return made;
}

// Members, and blocks that cannot be found, as many as the stages take, and one more.
void too_many()
{
    limits large;
    large.parts = 3 * GZIP_CHAIN_UNITS;
    if (scale_is_slow())
        return;
    for (unsigned more = 0; more < 2; more++)
        for (const gzip_made &made :
             {of_stored(GZIP_PART_BLOCKS + more, {'x'}), of_stored(GZIP_PART_BLOCKS + more, {}),
              of_members(GZIP_CHAIN_UNITS + more)}) {
            const decoded is = decoder(made, large, "too many").all([] { return size_t{1} << 30; });
            cases++;
            if (more ? is.refusal != DECODE_TOO_MANY : !is.is_taken || is.content != made.content)
                fail(more ? "taken" : "refused", "many blocks or members", is.refusal);
        }
}

// What comes after a refused batch is refused.
void after_a_refusal()
{
    bytes in(DECODE_CARRY + 100 + DECODE_PADDING), next(DECODE_CARRY);
    gzip_counters counters = {};
    decode_counts counts = {};
    decode_frame frame = {};
    gzip_member member = {};
    decode_batch batch = {};
    reinterpret_cast<gzip_carry *>(in.data() + GZIP_CARRY_AT)->state = GZIP_REFUSED;
    batch.in = in.data();
    batch.in_size = DECODE_CARRY + 100;
    batch.counts = &counts;
    batch.frame = &frame;
    batch.next = next.data();
    batch.gzip.members = &member;
    batch.gzip.counters = &counters;
    emulate_launch(1, GZIP_CHAIN_THREADS, 0, [=] { gzip_chain(batch); });
    cases++;
    if (counters.refusal == DECODE_TAKEN ||
        reinterpret_cast<gzip_carry *>(next.data() + GZIP_CARRY_AT)->state != GZIP_REFUSED)
        fail("taken", "after a refusal", 0);
}

} // namespace

int main()
{
    whole_files();
    cut_everywhere();
    altered_files();
    long_header();
    short_memory();
    too_many();
    after_a_refusal();
    std::printf("%lu cases, %lu batches, %lu refused, %lu wrong\n", cases, batches, refusals,
                wrong);
    return wrong > 0;
}

// SPDX-License-Identifier: MIT
// gzip files that the emulated GPU decompresses: members with all kinds of headers, blocks and
// content, of compressors and assembled by hand; and files that are cut, changed, or wrong in one
// thing. They arrive in pieces of any size, so that batches end anywhere.
//
// zlib says what a file holds. The GPU takes those files, and no others; what is too much work for
// it, it may leave.
#include "tests/device/emulation.h"
#include "tests/device/gpu_files.h"

extern "C" {
#include "tests/helpers/gzip_members.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <zlib.h>

namespace
{

using bytes = std::vector<unsigned char>;

unsigned long cases, taken, wrong;
bool quick;

// Compressed bytes, blocks, frames, bytes of content: of some 20 KiB of a file each, and with
// content of several segments.
const char *const small_batches = "524288,4000,4000,393216", *const large_batches =
                                                                 "524288,4000,4000,12582912";

//===--- The engine --------------------------------------------------------------------------===//

struct gpu_files *engine;
const char *batches;

void open_engine(const char *batch)
{
    if (engine)
        gpu_files_close(engine);
    batches = batch;
    emulate_seed(random_below(4) ? 1 + random_below(1000) : 0); // the order of threads
    engine = gpu_files_open(&codec_gzip, batch, false);
}

// Gives the engine a file, `at_once` bytes at a time (0: all).
void check(const char *what, const bytes &file, size_t at_once, bool may_be_left = false)
{
    static bytes content(64u << 20);
    size_t size;
    const bool is_right =
        gzip_reference(file.data(), file.size(), content.data(), content.size(), &size);
    const gpu_file_result is = gpu_files_count(engine, file.data(), file.size(), at_once,
                                               is_right ? content.data() : nullptr, size);
    cases++;
    taken += is == GPU_FILE_TAKEN;
    const char *const why = is == GPU_FILE_WRONG ? "other content, or taken although it is wrong"
                            : is == GPU_FILE_LEFT && is_right && !may_be_left ? "left"
                                                                              : nullptr;
    if (why && wrong++ < 10)
        std::fprintf(stderr, "FAIL: %s, %zu bytes, %zu at a time: %s\n", what, file.size(), at_once,
                     why);
    if (is == GPU_FILE_WRONG)
        open_engine(batches); // whose counts are right
}

// All at once, and in pieces.
void check_both(const char *what, const bytes &file)
{
    check(what, file, 0);
    check(what, file, 1 + random_below(random_below(2) ? 3000 : 40000));
}

//===--- Members -----------------------------------------------------------------------------===//

enum content { LOG, MORE_LOG, NOISE, ZEROS, TWO_VALUES, MIXTURE, CONTENT_KINDS_HERE };

bytes content_of(size_t size, unsigned kind)
{
    bytes content;
    while (content.size() < size) {
        char line[64];
        const int len =
            std::snprintf(line, sizeof line, "10.0.%u GET /%x/%u HTTP/1.1 %u\n", random_below(8),
                          random_below(256), random_below(4096), random_below(100000));
        if (kind == MIXTURE && random_below(200) == 0) // also from as far back as may be
            for (size_t i = content.size() < 32768 ? 0 : content.size() - 32768 + random_below(3),
                        n = 300;
                 n > 0 && i < content.size(); n--)
                content.push_back(content[i++]);
        else if (kind <= MORE_LOG || (kind == MIXTURE && random_below(3)))
            content.insert(content.end(), line, line + len);
        else
            content.push_back(static_cast<unsigned char>(kind == ZEROS        ? 0
                                                         : kind == TWO_VALUES ? random_below(2)
                                                                              : random_word()));
    }
    content.resize(size);
    return content;
}

// How zlib is to make a member.
struct way {
    int level = 6, memory = 8, strategy = Z_DEFAULT_STRATEGY, flush = Z_NO_FLUSH;
    bool has_fields = true; // any of the header's
};

bytes member_of(const bytes &content, const way &how = {})
{
    const unsigned long_max = random_below(20) == 0 ? 1500 : 20;
    bytes extra(random_below(long_max)), name(random_below(long_max) + 1, 'n'),
        comment(random_below(long_max) + 1, 'c');
    name.back() = comment.back() = 0;
    gz_header header = {};
    header.hcrc = how.has_fields && random_below(2);
    header.extra = how.has_fields && random_below(2) ? extra.data() : nullptr;
    header.extra_len = static_cast<uInt>(extra.size());
    header.name = how.has_fields && random_below(2) ? name.data() : nullptr;
    header.comment = how.has_fields && random_below(4) == 0 ? comment.data() : nullptr;
    z_stream stream = {};
    if (deflateInit2(&stream, how.level, Z_DEFLATED, 31, how.memory, how.strategy) != Z_OK ||
        deflateSetHeader(&stream, &header) != Z_OK)
        std::abort();
    bytes out(deflateBound(&stream, content.size()) + content.size() / 8 + 8192);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    stream.next_in = const_cast<unsigned char *>(content.data());
    for (size_t left = content.size(); how.flush != Z_NO_FLUSH && left > 5000; left -= 5000) {
        stream.avail_in = 5000;
        if (deflate(&stream, how.flush) == Z_STREAM_ERROR)
            std::abort();
    }
    stream.avail_in = static_cast<uInt>(content.data() + content.size() - stream.next_in);
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        std::abort();
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

bytes random_member(size_t max)
{
    static const int strategies[] = {
        Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    static const int flushes[] = {Z_NO_FLUSH,   Z_NO_FLUSH,      Z_SYNC_FLUSH,
                                  Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
    way how;
    how.level = static_cast<int>(random_below(10));
    how.memory = 1 + static_cast<int>(random_below(9));
    how.strategy = strategies[random_below(6)];
    how.flush = flushes[random_below(6)];
    return member_of(content_of(random_below(static_cast<unsigned>(
                                    random_below(3) ? max : std::min<size_t>(max, 30))),
                                random_below(CONTENT_KINDS_HERE)),
                     how);
}

void append(bytes &to, const bytes &what)
{
    to.insert(to.end(), what.begin(), what.end());
}

//===--- Files that are right ----------------------------------------------------------------===//

void of_zlib()
{
    check_both("a member of nothing", member_of({}));
    for (int level : {0, 1, 6, 9})
        for (unsigned kind = 0; kind < CONTENT_KINDS_HERE; kind++)
            if (!quick || (static_cast<unsigned>(level) + kind) % 2)
                check_both(
                    "levels",
                    member_of(content_of(100000 + random_below(quick ? 50000 : 200000), kind),
                              {level, level ? 9 : 8}));
    for (int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
        check_both("strategies",
                   member_of(content_of(quick ? 60000 : 150000, MIXTURE), {6, 8, strategy}));
    for (int flush : {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK})
        check_both("flushes", member_of(content_of(quick ? 60000 : 100000, LOG),
                                        {6, 8, Z_DEFAULT_STRATEGY, flush}));
    check("many blocks",
          member_of(content_of(quick ? 100000 : 400000, LOG), {6, 1, Z_HUFFMAN_ONLY}), 0);
    for (size_t len : {size_t{1}, size_t{2}, size_t{65535}, size_t{65536}, size_t{131073}}) {
        bytes file = member_of(content_of(len, LOG));
        append(file, member_of({}));
        append(file, member_of(content_of(len, NOISE)));
        check_both("lengths", file);
        file.resize(file.size() + 1 + random_below(30));
        check("padding", file, random_below(3000));
        file.push_back('x');
        check("padding, and something", file, random_below(3000));
    }
    for (unsigned i = scale_of(8, 100, 1000); i > 0; i--) {
        bytes file;
        for (unsigned k = 1 + random_below(random_below(2) ? 3 : 40); k > 0; k--)
            append(file, random_member(random_below(4) ? 3000 : 150000));
        if (random_below(3) == 0)
            file.resize(file.size() + random_below(random_below(2) ? 9 : 20000));
        check_both("members", file);
    }
}

// Zeros between other content, of which a batch has no room; content of several segments, with
// distances as far as may be over their ends.
void large()
{
    bytes content = content_of(40000, LOG);
    for (unsigned i = 0; i < 3; i++) {
        append(content, content_of(quick ? 250000 : 1500000, ZEROS));
        append(content, content_of(9000, MIXTURE));
    }
    check("zeros, too many for a batch", member_of(content, {9}), 0, true);
    // As many as the smallest batches have room for, so that larger ones are decoded again, and
    // those after them, which are under way already, are dropped.
    bytes fits;
    for (unsigned i = 0; i < (quick ? 2 : 10); i++) {
        append(fits, content_of(30000 + random_below(20000), NOISE));
        append(fits, content_of(384000, ZEROS));
    }
    append(fits, content_of(100000, NOISE));
    setenv("GPUHISTO_FAULT", "late:40", 1); // so that several batches are under way
    open_engine(small_batches);
    for (unsigned i = 0; i < 3; i++)
        check_both("zeros that fit in small batches", member_of(fits, {9}));
    unsetenv("GPUHISTO_FAULT");
    open_engine(large_batches);
    for (unsigned kind : {unsigned{MIXTURE}, unsigned{ZEROS}, unsigned{LOG}})
        check_both("segments", member_of(content_of(quick ? 1200000 : 4000000, kind), {9}));
    check("zeros between other content, in large batches", member_of(content, {9}), 0);
    open_engine(small_batches);
}

// The first batch ends at each byte around the end of a member, or in the midst of codes.
void cut_everywhere()
{
    bytes file = member_of(content_of(8300, NOISE), {0});
    const size_t middle = file.size();
    for (unsigned k = 0; k < 3; k++)
        append(file, random_member(40));
    append(file, member_of(content_of(30000, LOG)));
    for (size_t cut = middle - 20; cut < middle + 150; cut += quick ? 7 : 1)
        check("a batch that ends there", file, cut);
    const bytes codes = member_of(content_of(120000, LOG), {6, 9});
    for (size_t cut = 8192; cut < 8192 + 300; cut += quick ? 23 : 1)
        check("a batch that ends in codes", codes, cut);
}

//===--- Members assembled by hand -----------------------------------------------------------===//

const bytes plain_header = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0};

bytes with_trailer(bytes file, const bytes &content)
{
    const uint64_t stated = crc32(0, content.data(), static_cast<uInt>(content.size())) |
                            static_cast<uint64_t>(content.size()) << 32;
    for (unsigned i = 0; i < 8; i++)
        file.push_back(static_cast<unsigned char>(stated >> 8 * i));
    return file;
}

struct bit_writer {
    bytes to;
    unsigned used = 0; // bits of the last byte

    // From the lowest bit on.
    void put(unsigned value, unsigned count)
    {
        for (; count > 0; count--, value >>= 1, used++) {
            if (used % 8 == 0)
                to.push_back(0);
            to.back() = static_cast<unsigned char>(to.back() | (value & 1) << used % 8);
        }
    }

    void put_code(unsigned code, unsigned count)
    {
        for (unsigned bit = count; bit-- > 0;)
            put(code >> bit & 1, 1);
    }

    // A literal of the fixed code, below 144.
    void put_fixed(unsigned literal)
    {
        put_code(0x30 + literal, 8);
    }
};

// A distance that reaches to the first byte of the member, or a byte further, after so many
// literals, in a block that begins at any bit.
bytes reaching(size_t literals, size_t beyond, unsigned empty_blocks)
{
    static const unsigned extra[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                       6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    bit_writer out;
    bytes content;
    for (; empty_blocks > 0; empty_blocks--)
        out.put(2, 10);
    out.put(3, 3);
    for (size_t i = 0; i < literals; i++) {
        content.push_back(static_cast<unsigned char>('a' + i * 7 % 23));
        out.put_fixed(content.back());
    }
    const size_t distance = literals + beyond;
    unsigned code = 0, base = 1;
    while (code < 29 && distance >= base + (1u << extra[code]))
        base += 1u << extra[code++];
    out.put_code(1, 7); // a match of 3 bytes
    out.put_code(code, 5);
    out.put(static_cast<unsigned>(distance) - base, extra[code]);
    for (size_t i = 0; i < 3; i++)
        content.push_back(beyond ? 'x' : content[content.size() - distance]);
    out.put_code(0, 7);
    bytes file = plain_header;
    append(file, out.to);
    return with_trailer(file, content);
}

// A member of so many stored blocks, each with these bytes.
bytes of_stored(unsigned blocks, const bytes &each)
{
    bytes file = plain_header, content;
    const unsigned char size = static_cast<unsigned char>(each.size());
    for (; blocks > 0; blocks--) {
        append(file, {static_cast<unsigned char>(blocks == 1), size, 0,
                      static_cast<unsigned char>(~size), 0xff});
        append(file, each);
        append(content, each);
    }
    return with_trailer(file, content);
}

void by_hand()
{
    for (size_t literals : {3u, 4u, 5u, 257u, 8193u, 24577u, 32767u, 32768u})
        for (unsigned bits = 0; bits < (quick ? 2 : 8); bits++)
            for (size_t beyond = 0; beyond < 2; beyond++)
                check(beyond ? "a distance that reaches too far" : "a distance to the first byte",
                      reaching(literals, beyond, bits), random_below(2) * 9000);
    for (unsigned blocks : {1u, 2u, 300u})
        for (const bytes &each : {bytes{}, bytes{'x'}, content_of(200, NOISE)})
            check_both("stored blocks", of_stored(blocks, each));
    bytes file = of_stored(2, {'x', 'y'});
    file[13] ^= 1; // the complement of a length
    check("a stored block of another complement", file, 0);
    for (bytes reserved : {of_stored(1, {}), reaching(300, 0, 0)}) {
        reserved[10] |= 6; // the type that is reserved, with a block of another one
        check("a block of the reserved type", reserved, 0);
    }
    // So many members, or blocks that cannot be found, that the device may leave them.
    bytes members;
    for (unsigned i = 0; i < (quick ? 300 : 3000); i++)
        append(members, with_trailer({0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 3, 0}, {}));
    check("members of nothing", members, 0, true);
    check("very many stored blocks", of_stored(quick ? 3000 : 30000, {'x'}), 0, true);
    // Headers that are longer than what a batch has of the bytes before.
    for (size_t size : {size_t{3000}, size_t{4096}, size_t{4097}, size_t{20000}}) {
        file = member_of(content_of(20000, NOISE), {0});
        const size_t cut = file.size() + size;
        append(file, {0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0});
        file.insert(file.end(), size, 'n');
        append(file, with_trailer({0, 3, 0}, {}));
        check("a long header", file, cut, true);
        check("a long header that is there", file, 0, size > 4096);
    }
}

//===--- Cut and changed files ---------------------------------------------------------------===//

// Flips a bit of one of the bytes [from, from + count).
void flip(bytes &file, size_t from, size_t count)
{
    if (from < file.size())
        file[from + random_below(static_cast<unsigned>(std::min(count, file.size() - from)))] ^=
            static_cast<unsigned char>(1 << random_below(8));
}

void altered()
{
    check("no bytes", {}, 0, true);
    check("zeros alone", bytes(100), 0, true);
    for (unsigned i = scale_of(14, 200, 4000); i > 0; i--) {
        bytes made;
        size_t last = 0;
        for (unsigned k = 1 + random_below(4); k > 0; k--) {
            last = made.size();
            append(made, random_member(random_below(4) ? 2000 : 60000));
        }
        const auto any_pieces = [] { return random_below(2) ? 0 : 1 + random_below(30000); };
        bytes file = made;
        file.resize(random_below(static_cast<unsigned>(made.size())));
        check("a file that is cut", file, any_pieces());
        file = made;
        file.resize(made.size() - 1 -
                    random_below(std::min<unsigned>(static_cast<unsigned>(made.size()), 30)));
        check("a file that is cut at the end", file, any_pieces());
        for (unsigned k = 0; k < 3; k++) {
            file = made;
            flip(file, 0, k == 0 ? 40 : made.size());
            check("a file that is changed", file, any_pieces());
        }
        file = made;
        flip(file, last + 3, 1);
        check("flags that are changed", file, any_pieces());
        for (size_t from : {size_t{8}, size_t{4}}) {
            file = made;
            flip(file, made.size() - from, 4);
            check(from == 8 ? "another CRC" : "another length", file, any_pieces());
        }
        file = member_of(content_of(100, LOG), {6, 8});
        file[3] |= 2; // the CRC of the header is what follows
        check("a header without its CRC", file, 0);
        file = made;
        file.insert(file.begin(), 0);
        check("zeros first", file, any_pieces());
        file = made;
        file.resize(made.size() + random_below(random_below(2) ? 5 : 12000));
        if (random_below(2))
            file.push_back(static_cast<unsigned char>(random_word()));
        if (random_below(2))
            append(file, made);
        check("padding and more", file, any_pieces());
    }
    const bytes text = member_of(content_of(40000, LOG));
    for (size_t len = 0; len <= text.size(); len += len < 40 || len + 40 > text.size()
                                                        ? (quick ? 7 : 1)
                                                    : quick ? 997
                                                            : 101)
        check("cut", {text.begin(), text.begin() + static_cast<long>(len)}, random_below(2) * 5000);
}

// Files that are full of work, which the device may leave.
void hostile()
{
    hostile_file file;
    for (size_t i = 0; (file = hostile_make("gzip-", i, scale_of(20000, 40000, 200000))).bytes;
         i++) {
        check(file.name, {file.bytes, file.bytes + file.len}, 0, true);
        std::free(file.bytes);
    }
}

} // namespace

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)();
    } parts[] = {{"zlib", of_zlib}, {"large", large},     {"cuts", cut_everywhere},
                 {"hand", by_hand}, {"altered", altered}, {"hostile", hostile}};
    quick = scale_is_small_or_slow();
    open_engine(small_batches);
    for (const auto &part : parts) {
        const unsigned long before = cases, taken_before = taken;
        random_seed(20261129);
        if (argc > 1 && std::strcmp(argv[1], part.name) != 0)
            continue;
        part.check();
        std::printf("%s: %lu cases, %lu taken\n", part.name, cases - before, taken - taken_before);
    }
    gpu_files_close(engine);
    std::printf("%lu cases, %lu taken, %lu wrong\n", cases, taken, wrong);
    return wrong != 0 || taken == 0;
}

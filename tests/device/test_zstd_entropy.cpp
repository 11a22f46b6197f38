// SPDX-License-Identifier: MIT
// The stages of the GPU's zstd decoder up to sequences, emulated: what they give is executed here
// and compared with libzstd's content. Frames are of libzstd's making, assembled by hand, cut and
// altered. True if something is refused is compared with a decoder by the letter of RFC 8878, too,
// which refuses a little more than libzstd does (tests/helpers/naive_zstd.h).
#include "tests/device/emulation.h"

#include "tests/device/zstd_made.h"
#include "tests/device/zstd_serial.h"

extern "C" {
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"
}

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <string>

namespace
{

// Three bytes, as a block's header has them.
size_t read_24(const unsigned char *bytes)
{
    return bytes[0] | static_cast<size_t>(bytes[1]) << 8 | static_cast<size_t>(bytes[2]) << 16;
}

unsigned long cases, wrong, refused;
std::map<std::string, unsigned long> stricter; // what libzstd takes and the stages refuse, and why
bool quick;

void fail(const char *what, const byte_vector &input, const char *why)
{
    if (wrong++ >= 10)
        return;
    std::fprintf(stderr, "FAIL: %s, %zu bytes: %s:", what, input.size(), why);
    for (size_t i = 0; i < input.size() && i < 600; i++)
        std::fprintf(stderr, " %02x", input[i]);
    std::fprintf(stderr, "\n");
}

//===--- libzstd -----------------------------------------------------------------------------===//

struct reference {
    bool taken = false;
    byte_vector content;
};

reference decode_streaming(const byte_vector &input)
{
    unsigned char *content;
    size_t size;
    reference result;
    result.taken = frame_reference(input.data(), input.size(), &content, &size);
    if (result.taken)
        result.content.assign(content, content + size);
    std::free(content);
    return result;
}

// With all of the content in one memory, libzstd decodes by other functions.
reference decode_at_once(const byte_vector &input, size_t size)
{
    static ZSTD_DCtx *const context = ZSTD_createDCtx();
    reference result;
    result.content.resize(size + 1);
    if (ZSTD_isError(
            ZSTD_DCtx_setParameter(context, ZSTD_d_forceIgnoreChecksum, ZSTD_d_ignoreChecksum)))
        std::abort();
    const size_t decoded = ZSTD_decompressDCtx(context, result.content.data(),
                                               result.content.size(), input.data(), input.size());
    result.taken = !ZSTD_isError(decoded);
    result.content.resize(result.taken ? decoded : 0);
    return result;
}

//===--- Checks ------------------------------------------------------------------------------===//

// Inputs that are yet to be decoded, many in a batch.
std::vector<byte_vector> pending;
const char *pending_what;

// Why an input is refused by the letter of the format; "" if it is not.
std::string why_refused(const byte_vector &input)
{
    struct naive_zstd naive;
    naive_zstd_decode(&naive, input.data(), input.size());
    const std::string why = naive.why ? naive.why : "";
    naive_zstd_free(&naive);
    return why;
}

void check_decoding(const byte_vector &input, const zstd_decoding &is, bool must_be_taken)
{
    const reference due = decode_streaming(input);
    cases++;
    if (must_be_taken && !due.taken)
        fail(pending_what, input, "libzstd refuses it");
    if (must_be_taken && is.refusal != DECODE_TAKEN)
        fail(pending_what, input, ("refused: " + std::to_string(is.refusal)).c_str());
    const std::string why = why_refused(input);
    if (why.empty() != (is.refusal == DECODE_TAKEN))
        fail(pending_what, input, is.refusal == DECODE_TAKEN ? "taken" : "refused");
    if (is.refusal != DECODE_TAKEN) {
        refused++;
        if (due.taken)
            stricter[why]++;
        return;
    }
    if (!due.taken)
        fail(pending_what, input, "taken, but libzstd refuses it");
    else if (due.content != is.content)
        fail(pending_what, input, "other content");
    const reference at_once = decode_at_once(input, is.content.size());
    if (!at_once.taken || at_once.content != is.content)
        fail(pending_what, input, "not what libzstd decodes at once");
}

void flush(bool must_be_taken)
{
    const std::vector<zstd_decoding> decodings = zstd_decode_together(pending);
    for (size_t i = 0; i < pending.size(); i++)
        check_decoding(pending[i], decodings[i], must_be_taken);
    pending.clear();
}

// A frame that libzstd takes: decoded beside others, and in batches of few blocks.
void check_taken(const char *what, const byte_vector &input)
{
    pending_what = what;
    for (size_t blocks = 1; blocks < (quick ? 3 : 5); blocks++)
        check_decoding(input, zstd_decode_in_batches(input, blocks), true);
    pending.push_back(input);
    if (pending.size() >= 16)
        flush(true);
}

void check_altered(const char *what, const byte_vector &input)
{
    pending_what = what;
    pending.push_back(input);
    if (pending.size() >= 200)
        flush(false);
}

//===--- Frames of libzstd's making ----------------------------------------------------------===//

byte_vector content_of(enum frame_content kind, size_t size)
{
    byte_vector content(size + 1);
    frame_content(kind, content.data(), size);
    content.resize(size);
    return content;
}

byte_vector compress(const struct frame_settings &settings, const byte_vector &content)
{
    byte_vector frame(frame_bound(&settings, content.size()));
    frame.resize(
        frame_compress(frame.data(), frame.size(), &settings, content.data(), content.size()));
    return frame;
}

// With parameters that are for experiments only.
byte_vector compress_as(int level, ZSTD_paramSwitch_e literals, int block,
                        const byte_vector &content)
{
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    byte_vector frame(2 * content.size() + 1000);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, literals);
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetCBlockSize, block);
    const size_t size =
        ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size());
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size))
        std::abort();
    frame.resize(size);
    return frame;
}

void check_levels()
{
    static const int levels[] = {-5, -1, 1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 18, 19, 22};
    for (int level : levels) {
        for (unsigned kind = 0; kind < CONTENT_KINDS; kind++) {
            if (quick && (kind + static_cast<unsigned>(level + 8)) % 4)
                continue;
            const size_t max = level > 12 ? 160000 : 300000;
            const size_t size = random_below(4) ? max - random_below(40000) : random_below(5000);
            struct frame_settings settings = {};
            settings.level = level;
            settings.checksum = random_below(2);
            settings.is_unsized = random_below(2);
            settings.window_log = random_below(3) ? 0 : static_cast<int>(10 + random_below(12));
            settings.flush = random_below(4) ? 0 : 1 + random_below(50000);
            check_taken("level", compress(settings,
                                          content_of(static_cast<enum frame_content>(kind), size)));
        }
    }
    flush(true);
}

void check_sizes()
{
    struct frame_settings settings = {};
    for (size_t size = 0; size < 700; size += quick ? 1 + size / 8 : 1)
        for (unsigned kind : {CONTENT_EQUAL, CONTENT_TEXT, CONTENT_RECORDS}) {
            settings.level = static_cast<int>(random_below(20));
            settings.is_unsized = random_below(2);
            check_taken("size", compress(settings,
                                         content_of(static_cast<enum frame_content>(kind), size)));
        }
    for (size_t size : {65536u, 131072u, 262144u}) {
        made_block block;
        block.type = 1;
        block.plain = size / 2; // two of them
        check_taken("size", zstd_made_frame({block, block}));
        settings.level = 1;
        check_taken("size", compress(settings, content_of(CONTENT_EQUAL, size)));
    }
    for (size_t block = 1; block <= 3; block++)
        for (int near = quick ? -1 : -3; near <= (quick ? 1 : 3); near++) {
            settings.level = static_cast<int>(random_below(8));
            settings.is_unsized = random_below(2);
            check_taken("blocks",
                        compress(settings, content_of(near % 2 ? CONTENT_MIXED : CONTENT_RANDOM,
                                                      block * DECODE_BLOCK_CONTENT +
                                                          static_cast<size_t>(near + 3) - 3)));
        }
    flush(true);
}

void check_experimental()
{
    for (unsigned kind = 0; kind < CONTENT_KINDS; kind++)
        for (int block : {0, 1400, 5000})
            for (ZSTD_paramSwitch_e literals : {ZSTD_ps_auto, ZSTD_ps_enable, ZSTD_ps_disable})
                if (!quick || random_below(2))
                    check_taken("experimental",
                                compress_as(static_cast<int>(1 + random_below(12)), literals, block,
                                            content_of(static_cast<enum frame_content>(kind),
                                                       random_below(100000))));
    flush(true);
}

//===--- Frames assembled by hand ------------------------------------------------------------===//

// All ways in which a block can come by its tables, after blocks that have none, and others.
void check_modes()
{
    for (int modes = 0; modes < 64; modes++)
        for (int literals = 0; literals < (quick ? 1 : 4); literals++) {
            std::vector<made_block> blocks(6);
            blocks[0].type = blocks[2].type = 0;
            blocks[4].type = 1;
            for (int at : {1, 3, 5}) {
                blocks[static_cast<size_t>(at)].type = 2;
                blocks[static_cast<size_t>(at)].literals = quick ? modes % 4 : literals;
                blocks[static_cast<size_t>(at)].literals_max = 300;
            }
            for (int table = 0; table < 3; table++)
                blocks[3].modes[table] = blocks[5].modes[table] = modes >> 2 * table & 3;
            blocks[5].most_accurate = true;
            check_taken("modes", zstd_made_frame(blocks));
        }
    flush(true);
}

void check_literals()
{
    for (size_t max : {0u, 5u, 6u, 7u, 9u, 20u, 1023u, 1030u, 16400u, 130000u})
        for (int streams : {1, 4})
            for (int weights : {0, 1})
                for (unsigned round = 0; round < (quick ? 1 : 8); round++) {
                    std::vector<made_block> blocks(3);
                    for (made_block &block : blocks) {
                        block.type = 2;
                        block.literals = 2 + static_cast<int>(random_below(2));
                        block.streams = streams;
                        block.weights = weights;
                        block.literals_max = max;
                        block.sequences_max = round % 2 ? 0 : 10;
                    }
                    check_taken("literals", zstd_made_frame(blocks));
                }
    flush(true);
}

void check_made()
{
    for (unsigned round = 0; round < scale_of(30, 600, 2000); round++) {
        std::vector<made_block> blocks(1 + random_below(7));
        for (made_block &block : blocks) {
            block.most_accurate = random_below(4) == 0;
            block.literals_max = random_below(2) ? 100 : 10000;
            block.sequences_max = random_below(2) ? 20 : 3000;
        }
        check_taken("made", zstd_made_frame(blocks));
    }
    flush(true);
}

// More blocks than several tiles of `repeat_offsets` have, nearly all of which repeat what is far
// before.
void check_far_repeat_offsets()
{
    std::vector<made_block> blocks(quick ? 900 : 3000);
    for (made_block &block : blocks) {
        block.type = random_below(3) ? 2 : static_cast<int>(random_below(2));
        block.literals = 3;
        block.literals_max = 20;
        block.sequences_max = 4;
        for (int &mode : block.modes)
            mode = 3;
    }
    pending_what = "far repeats";
    for (unsigned i = 0; i < 3; i++) {
        for (size_t at : {size_t{0}, size_t{40}, size_t{270 + random_below(60)}}) {
            blocks[at].type = 2;
            blocks[at].literals = 2;
            blocks[at].literals_max = blocks[at].sequences_max = 100;
            for (int &mode : blocks[at].modes)
                mode = 2;
        }
        pending.push_back(zstd_made_frame(blocks));
        check_decoding(pending.back(), zstd_decode_in_batches(pending.back(), 400), true);
    }
    flush(true);
}

// A frame, and the same without its first block: it must not take the tables of that block.
void check_false_repeat_offsets()
{
    for (unsigned round = 0; round < scale_of(20, 200, 400); round++) {
        std::vector<made_block> blocks(2);
        blocks[0].type = blocks[1].type = 2;
        blocks[0].literals = 2;
        blocks[1].literals = 3;
        blocks[1].sequences_max = round % 2 ? 3 : 0;
        for (int &mode : blocks[1].modes)
            mode = random_below(2) ? 3 : 0;
        const byte_vector whole = zstd_made_frame(blocks);
        const std::ptrdiff_t at = (whole[4] & 0xc0) ? 14 : 6;
        const size_t size = read_24(&whole[static_cast<size_t>(at)]) >> 3;
        byte_vector input = whole;
        input.insert(input.end(), {0x28, 0xb5, 0x2f, 0xfd, 0, (20 - 10) << 3});
        input.insert(input.end(), whole.begin() + at + 3 + static_cast<std::ptrdiff_t>(size),
                     whole.end());
        pending_what = "false repeats";
        check_decoding(input, zstd_decode_in_batches(input, 2), false);
        check_altered("false repeats", input);
    }
    flush(false);
}

// A frame of one compressed block.
byte_vector frame_of(const byte_vector &block)
{
    const size_t header = 1 | DECODE_COMPRESSED << 1 | block.size() << 3;
    byte_vector frame = {0x28, 0xb5, 0x2f, 0xfd, 0, (20 - 10) << 3};
    for (size_t i = 0; i < 3; i++)
        frame.push_back(static_cast<unsigned char>(header >> 8 * i));
    frame.insert(frame.end(), block.begin(), block.end());
    return frame;
}

// A tree alone: it is for one stream of no literals.
void check_tree(const char *what, const byte_vector &tree)
{
    const size_t size = tree.size() + 1, header = 2 | size << 14;
    byte_vector block;
    for (size_t i = 0; i < 3; i++)
        block.push_back(static_cast<unsigned char>(header >> 8 * i));
    block.insert(block.end(), tree.begin(), tree.end());
    block.push_back(1); // the stream
    block.push_back(0); // no sequences
    check_altered(what, frame_of(block));
}

// Trees that are and are not complete, by their weights; and coded weights of any bytes.
void check_trees()
{
    const unsigned max = quick ? 6 : 16;
    for (unsigned a = 0; a < 16; a++) {
        check_tree("tree of 1", {128, static_cast<unsigned char>(a << 4)});
        for (unsigned b = 0; b < 16; b++) {
            check_tree("tree of 2", {129, static_cast<unsigned char>(a << 4 | b)});
            for (unsigned c = 0; c < max; c++)
                check_tree("tree of 3", {130, static_cast<unsigned char>(a << 4 | b),
                                         static_cast<unsigned char>(c << 4)});
        }
    }
    for (unsigned round = 0; round < scale_of(1000, 30000, 100000); round++) {
        byte_vector tree(2 + random_below(round % 2 ? 4 : 20));
        for (unsigned char &byte : tree)
            byte = static_cast<unsigned char>(random_below(256));
        tree[0] = static_cast<unsigned char>(tree.size() - 1);
        tree[1] = static_cast<unsigned char>((tree[1] & 0xf0) | random_below(2));
        check_tree("coded tree", tree);
    }
    flush(false);
}

// Blocks of no literals and one sequence or none, whose headers have any bytes.
void check_headers()
{
    for (unsigned count = 0; count < 256; count++)
        for (unsigned second : {0u, 1u, 128u}) {
            const unsigned char bytes[] = {static_cast<unsigned char>(count),
                                           static_cast<unsigned char>(second), 0, 0, 1};
            for (size_t size = 0; size <= sizeof bytes; size++) {
                byte_vector block = {1 << 3, 'a'}; // one raw literal
                block.insert(block.end(), bytes, bytes + size);
                check_altered("sequence count", frame_of(block));
            }
        }
    for (unsigned modes = 0; modes < 256; modes++)
        for (unsigned round = 0; round < scale_of(4, 40, 100); round++) {
            byte_vector block = {1 << 3, 'a', 1, static_cast<unsigned char>(modes)};
            const size_t size = random_below(12);
            for (size_t i = 0; i < size; i++)
                block.push_back(static_cast<unsigned char>(random_below(2) ? random_below(64)
                                                                           : random_below(256)));
            check_altered("modes", frame_of(block));
        }
    for (unsigned round = 0; round < scale_of(500, 20000, 40000); round++) {
        byte_vector block(random_below(16));
        for (unsigned char &byte : block)
            byte = static_cast<unsigned char>(random_below(256));
        check_altered("literals' header", frame_of(block));
    }
    flush(false);
}

// Blocks with more literals, or more content, than the window leaves room for.
void check_windows()
{
    for (unsigned round = 0; round < scale_of(40, 500, 1000); round++) {
        std::vector<made_block> blocks(1 + random_below(3));
        for (made_block &block : blocks) {
            block.type = 2;
            block.literals_max = random_below(2) ? 1000 : 1100;
            block.sequences_max = random_below(5);
        }
        check_altered("window", zstd_made_frame(blocks, 10 + random_below(2)));
    }
    flush(false);
}

//===--- Cut and altered frames --------------------------------------------------------------===//

void check_cuts(const byte_vector &frame)
{
    for (size_t size = 0; size < frame.size(); size++)
        check_altered(
            "cut", byte_vector(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)));
    flush(false);
}

// A frame whose first block, at `at`, is the last one and ends earlier than it should.
void check_cut_block(const byte_vector &frame, size_t at)
{
    const size_t block = read_24(&frame[at]) >> 3;
    for (size_t size = 0; size < block; size++) {
        byte_vector cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(at + 3 + size));
        const size_t header = 1 | DECODE_COMPRESSED << 1 | size << 3;
        for (size_t i = 0; i < 3; i++)
            cut[at + i] = static_cast<unsigned char>(header >> 8 * i);
        const zstd_decoding alone = zstd_decode_together({cut})[0];
        pending_what = "cut block";
        check_decoding(cut, alone, false); // at the end of the memory
        check_altered("cut block", cut);
    }
    flush(false);
}

void check_changes(const byte_vector &frame)
{
    for (size_t at = 0; at < frame.size(); at++)
        for (unsigned change = 1; change < 256; change++) {
            const bool is_bit = (change & (change - 1)) == 0;
            if (is_bit ? quick && random_below(3) : quick || random_below(scale_of(1, 16, 6)))
                continue;
            byte_vector altered = frame;
            altered[at] = static_cast<unsigned char>(altered[at] ^ change);
            check_altered("changed", altered);
        }
    flush(false);
}

void check_altered_frames()
{
    for (unsigned round = 0; round < scale_of(8, 24, 60); round++) {
        byte_vector frame;
        std::vector<made_block> blocks(1 + round % 3);
        for (made_block &block : blocks) {
            block.type = round % 4 ? 2 : any_kind;
            block.literals_max = 60 + 200 * (round % 2);
            block.sequences_max = 10;
        }
        frame = zstd_made_frame(blocks);
        if (round % 2 == 0) {
            struct frame_settings settings = {};
            settings.level = static_cast<int>(round);
            frame = compress(settings, content_of(CONTENT_TEXT, 300 + random_below(600)));
        }
        check_changes(frame);
        check_cuts(frame);
        if (round % 2)
            check_cut_block(frame, (frame[4] & 0xc0) ? 14 : 6);
    }
}

} // namespace

int main()
{
    quick = scale_is_small_or_slow();
#ifdef __GLIBC__ // memory of this size is taken thousands of times: it is not given back each time
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    check_levels();
    check_sizes();
    check_experimental();
    check_modes();
    check_literals();
    check_made();
    check_far_repeat_offsets();
    check_false_repeat_offsets();
    check_trees();
    check_headers();
    check_windows();
    check_altered_frames();
    emulate_seed(7);
    check_modes();
    check_literals();
    for (const auto &why : stricter)
        std::printf("%lu refused, but not by libzstd: %s\n", why.second, why.first.c_str());
    std::printf("%lu cases, %lu refused, %lu wrong\n", cases, refused, wrong);
    return wrong != 0;
}

// SPDX-License-Identifier: MIT
#include "tests/device/zstd_made.h"

extern "C" {
#include "tests/helpers/naive_zstd_tables.h"
#include "tests/helpers/random.h"
}

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace
{

using byte_vector = std::vector<unsigned char>;

unsigned between(unsigned min, unsigned max)
{
    return min + random_below(max - min + 1);
}

unsigned highest(unsigned value)
{
    unsigned bit = 0;
    while (value >>= 1)
        bit++;
    return bit;
}

void append(byte_vector &to, const byte_vector &what)
{
    to.insert(to.end(), what.begin(), what.end());
}

void append_number(byte_vector &to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to.push_back(static_cast<unsigned char>(value >> 8 * i));
}

//===--- Bits --------------------------------------------------------------------------------===//

// Bits from the lowest of the first byte on.
class bit_writer
{
  public:
    void put(uint64_t value, unsigned bits)
    {
        for (unsigned i = 0; i < bits; i++, used_++) {
            if (used_ % 8 == 0)
                bytes_.push_back(0);
            bytes_.back() =
                static_cast<unsigned char>(bytes_.back() | (value >> i & 1) << used_ % 8);
        }
    }
    const byte_vector &bytes() const
    {
        return bytes_;
    }

  private:
    byte_vector bytes_;
    size_t used_ = 0;
};

// What is read from a stream that is read backwards, in the order of reading.
class backward_writer
{
  public:
    void put(uint64_t value, unsigned bits)
    {
        parts_.emplace_back(value, bits);
    }
    byte_vector bytes() const
    {
        bit_writer bits;
        for (size_t i = parts_.size(); i-- > 0;)
            bits.put(parts_[i].first, parts_[i].second);
        bits.put(1, 1);
        return bits.bytes();
    }

  private:
    std::vector<std::pair<uint64_t, unsigned>> parts_;
};

//===--- Finite state entropy ----------------------------------------------------------------===//

struct fse_row {
    unsigned symbol, bits, base;
};

struct fse_table {
    unsigned log = 0;
    std::vector<fse_row> rows;
    byte_vector description;

    bool has(unsigned symbol) const
    {
        return std::any_of(rows.begin(), rows.end(),
                           [=](const fse_row &row) { return row.symbol == symbol; });
    }
};

byte_vector describe(unsigned log, const std::vector<int> &counts)
{
    bit_writer to;
    unsigned left = (1u << log) + 1;
    to.put(log - 5, 4);
    for (size_t i = 0; i < counts.size(); i++) {
        const unsigned bits = highest(left) + 1, half = 1u << (bits - 1),
                       small = 2 * half - 1 - left;
        const unsigned value = static_cast<unsigned>(counts[i] + 1);
        if (value < small)
            to.put(value, bits - 1);
        else
            to.put(value < half ? value : value + small, bits);
        left -= static_cast<unsigned>(std::abs(counts[i]));
        if (counts[i] != 0)
            continue;
        unsigned zeros = 0;
        while (counts[i + 1 + zeros] == 0)
            zeros++;
        i += zeros;
        for (; zeros >= 3; zeros -= 3)
            to.put(3, 2);
        to.put(zeros, 2);
    }
    return to.bytes();
}

fse_table build(unsigned log, const std::vector<int> &counts)
{
    const unsigned size = 1u << log, step = size / 2 + size / 8 + 3;
    fse_table table;
    std::vector<unsigned> numbers;
    unsigned end = size, at = 0;
    table.log = log;
    table.rows.resize(size);
    for (size_t symbol = 0; symbol < counts.size(); symbol++) {
        numbers.push_back(static_cast<unsigned>(std::abs(counts[symbol])));
        if (counts[symbol] < 0)
            table.rows[--end].symbol = static_cast<unsigned>(symbol);
    }
    for (size_t symbol = 0; symbol < counts.size(); symbol++)
        for (int i = 0; i < counts[symbol]; i++) {
            table.rows[at].symbol = static_cast<unsigned>(symbol);
            do
                at = (at + step) % size;
            while (at >= end);
        }
    for (fse_row &row : table.rows) {
        const unsigned number = numbers[row.symbol]++;
        row.bits = log - highest(number);
        row.base = (number << row.bits) - size;
    }
    table.description = describe(log, counts);
    return table;
}

// Counts that add up to 2^log, each of the symbols having one.
std::vector<int> draw_counts(unsigned log, const std::vector<unsigned> &symbols)
{
    std::vector<int> counts(*std::max_element(symbols.begin(), symbols.end()) + 1);
    int left = 1 << log;
    std::vector<unsigned> grow;
    for (unsigned symbol : symbols) {
        counts[symbol] = random_below(4) ? 1 : -1;
        left--;
        if (counts[symbol] > 0)
            grow.push_back(symbol);
    }
    if (left > 0 && grow.empty()) {
        counts[symbols[0]] = 1;
        grow.push_back(symbols[0]);
    }
    while (left > 0) {
        const int more = static_cast<int>(between(1, static_cast<unsigned>(left)));
        const int some = random_below(2) ? more : std::min(left, 2);
        counts[grow[random_below(static_cast<unsigned>(grow.size()))]] += some;
        left -= some;
    }
    return counts;
}

fse_table draw_table(unsigned log, const std::vector<unsigned> &symbols)
{
    return build(log, draw_counts(log, symbols));
}

fse_table one_symbol(unsigned symbol)
{
    fse_table table;
    table.rows = {{symbol, 0, 0}};
    table.description = {static_cast<unsigned char>(symbol)};
    return table;
}

// The rows that a decoder goes through for these symbols; the last one is any of its symbol, with
// bits to be read for the next if `ends_with_bits`.
std::vector<unsigned> rows_for(const fse_table &table, const std::vector<unsigned> &symbols,
                               bool ends_with_bits = false)
{
    std::vector<unsigned> rows(symbols.size());
    for (size_t i = symbols.size(); i-- > 0;) {
        std::vector<unsigned> fit;
        for (unsigned k = 0; k < table.rows.size(); k++) {
            const fse_row &row = table.rows[k];
            const bool leads = i + 1 == rows.size() ? row.bits > 0 || !ends_with_bits
                                                    : rows[i + 1] >= row.base &&
                                                          rows[i + 1] - row.base < 1u << row.bits;
            if (row.symbol == symbols[i] && leads)
                fit.push_back(k);
        }
        rows[i] = fit.at(random_below(static_cast<unsigned>(fit.size())));
    }
    return rows;
}

void put_next(backward_writer &to, const fse_table &table, unsigned row, unsigned next)
{
    to.put(next - table.rows[row].base, table.rows[row].bits);
}

//===--- Huffman codes -----------------------------------------------------------------------===//

struct huffman_tree {
    std::vector<unsigned> symbols; // which have codes
    unsigned bits[256] = {}, code[256];
    byte_vector description;
};

byte_vector describe_direct(const std::vector<unsigned> &weights)
{
    byte_vector to = {static_cast<unsigned char>(127 + weights.size())};
    for (size_t i = 0; i < weights.size(); i += 2) {
        const unsigned second = i + 1 < weights.size() ? weights[i + 1] : random_below(16);
        to.push_back(static_cast<unsigned char>(weights[i] << 4 | second));
    }
    return to;
}

// Two states take turns, and the last symbol of each has no bits after it.
byte_vector describe_coded(const std::vector<unsigned> &weights)
{
    std::vector<unsigned> symbols = weights, turns[2];
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    if (symbols.size() == 1) // a state without bits would never end
        symbols.push_back(symbols[0] ? 0 : 1);
    const fse_table table = draw_table(between(5, 6), symbols);
    for (size_t i = 0; i < weights.size(); i++)
        turns[i % 2].push_back(weights[i]);
    std::vector<unsigned> rows[2];
    for (unsigned turn = 0; turn < 2; turn++)
        rows[turn] = rows_for(table, turns[turn], weights.size() % 2 == turn);
    backward_writer stream;
    stream.put(rows[0][0], table.log);
    stream.put(rows[1][0], table.log);
    for (size_t i = 0; i + 2 < weights.size(); i++)
        put_next(stream, table, rows[i % 2][i / 2], rows[i % 2][i / 2 + 1]);
    byte_vector to = {0};
    append(to, table.description);
    append(to, stream.bytes());
    to[0] = static_cast<unsigned char>(std::min<size_t>(to.size() - 1, 255));
    return to;
}

huffman_tree draw_tree(int kind)
{
    const unsigned max = kind == 0 ? 129 : 256, depth_max = between(1, 11);
    const unsigned count = std::min(between(2, random_below(2) ? 20 : max), 1u << depth_max);
    std::vector<unsigned> depths = {1, 1}, all;
    while (depths.size() < count) {
        unsigned &leaf = depths[random_below(static_cast<unsigned>(depths.size()))];
        if (leaf == depth_max)
            continue;
        leaf++;
        depths.push_back(leaf);
    }
    huffman_tree tree;
    const unsigned longest = *std::max_element(depths.begin(), depths.end());
    for (unsigned symbol = 0; symbol < max; symbol++)
        all.push_back(symbol);
    for (size_t i = 0; i < depths.size(); i++) {
        std::swap(all[i], all[i + random_below(static_cast<unsigned>(all.size() - i))]);
        tree.bits[all[i]] = depths[i];
        tree.symbols.push_back(all[i]);
    }
    std::vector<unsigned> weights;
    unsigned next = 0;
    for (unsigned bits = longest; bits > 0; bits--)
        for (unsigned symbol = 0; symbol < 256; symbol++)
            if (tree.bits[symbol] == bits) {
                tree.code[symbol] = next >> (longest - bits);
                next += 1u << (longest - bits);
            }
    const unsigned last = *std::max_element(tree.symbols.begin(), tree.symbols.end());
    for (unsigned symbol = 0; symbol < last; symbol++)
        weights.push_back(tree.bits[symbol] ? longest + 1 - tree.bits[symbol] : 0);
    if (kind == any_kind)
        kind = static_cast<int>(random_below(2));
    tree.description = weights.size() < 2 || (kind == 0 && weights.size() <= 128)
                           ? describe_direct(weights)
                           : describe_coded(weights);
    return tree.description.size() > 128 ? draw_tree(kind) : tree; // its first byte says how long
}

//===--- Literals ----------------------------------------------------------------------------===//

// What goes on from block to block.
struct made_state {
    bool has_tree = false, has_tables = false;
    huffman_tree tree;
    fse_table tables[3];
    uint64_t repeat_offsets[3] = {1, 4, 8}, content = 0, window = 1 << 20;
};

byte_vector put_stream(const huffman_tree &tree, const std::vector<unsigned> &literals,
                       size_t begin, size_t end)
{
    backward_writer to;
    for (size_t i = begin; i < end; i++)
        to.put(tree.code[literals[i]], tree.bits[literals[i]]);
    return to.bytes();
}

byte_vector put_streams(const huffman_tree &tree, const std::vector<unsigned> &literals,
                        unsigned streams)
{
    if (streams == 1)
        return put_stream(tree, literals, 0, literals.size());
    const size_t part = (literals.size() + 3) / 4;
    byte_vector sizes, bytes;
    for (size_t i = 0; i < 4; i++) {
        const byte_vector stream =
            put_stream(tree, literals, i * part, i < 3 ? (i + 1) * part : literals.size());
        if (i < 3)
            append_number(sizes, stream.size(), 2);
        append(bytes, stream);
    }
    append(sizes, bytes);
    return sizes;
}

byte_vector put_plain(unsigned type, size_t size)
{
    byte_vector to;
    const unsigned bytes = size > 4095 ? 3 : size > 31 ? between(2, 3) : between(1, 3);
    if (bytes == 1)
        append_number(to, type | size << 3, 1);
    else
        append_number(to, type | (bytes == 2 ? 1u : 3u) << 2 | size << 4, bytes);
    for (size_t i = 0; i < (type == 0 ? size : 1); i++)
        to.push_back(static_cast<unsigned char>(random_below(256)));
    return to;
}

byte_vector put_packed(const made_block &how, made_state &state, size_t size)
{
    const bool repeated =
        state.has_tree && (how.literals == 3 || (how.literals == any_kind && random_below(2)));
    unsigned streams =
        how.streams == any_kind ? random_below(2) * 3 + 1 : static_cast<unsigned>(how.streams);
    if (!repeated)
        state.tree = draw_tree(how.weights);
    state.has_tree = true;
    if (size < 6)
        streams = 1;
    std::vector<unsigned> literals;
    for (size_t i = 0; i < size; i++)
        literals.push_back(
            state.tree.symbols[random_below(static_cast<unsigned>(state.tree.symbols.size()))]);
    byte_vector body = repeated ? byte_vector() : state.tree.description;
    append(body, put_streams(state.tree, literals, streams));
    const size_t larger = std::max(size, body.size());
    if (streams == 1 && larger > 1023) { // only the shortest header has one stream
        body = repeated ? byte_vector() : state.tree.description;
        append(body, put_streams(state.tree, literals, streams = 4));
    }
    const unsigned min = larger > 16383 - 20 ? 3 : larger > 1023 - 20 ? 2 : 1;
    const unsigned format = streams == 1 ? 0 : between(min, 3);
    const unsigned bits = format == 3 ? 18 : format == 2 ? 14 : 10;
    byte_vector to;
    append_number(to,
                  (repeated ? 3u : 2u) | format << 2 | static_cast<uint64_t>(size) << 4 |
                      static_cast<uint64_t>(body.size()) << (4 + bits),
                  (4 + 2 * bits) / 8);
    append(to, body);
    return to;
}

byte_vector put_literals(const made_block &how, made_state &state, size_t size)
{
    const unsigned type =
        how.literals == any_kind ? random_below(4) : static_cast<unsigned>(how.literals);
    if (type < 2)
        return put_plain(type, size);
    return put_packed(how, state, size);
}

//===--- Sequences ---------------------------------------------------------------------------===//

// Of literal lengths, offsets and match lengths.
const naive_code *const codes[3] = {&naive_literal_lengths, &naive_offsets, &naive_match_lengths};

fse_table predefined(unsigned table)
{
    const short *const counts = codes[table]->predefined;
    fse_table made =
        build(codes[table]->predefined_log, {counts, counts + codes[table]->predefined_size});
    made.description.clear();
    return made;
}

// A code that is of use in any block: short lengths, and offsets that are there.
unsigned small_code(unsigned table, const made_state &state)
{
    const unsigned max = state.content < 20 ? 2 : highest(static_cast<unsigned>(state.content));
    return table == 1 ? random_below(std::min(max + 1, 20u)) : random_below(20);
}

// Sets a block's table of one kind, and adds its description. Returns its mode.
unsigned choose_table(const made_block &how, made_state &state, unsigned table, byte_vector &to)
{
    unsigned mode =
        how.modes[table] == any_kind ? random_below(4) : static_cast<unsigned>(how.modes[table]);
    if (mode == 3 && !state.has_tables)
        mode = 0;
    if (mode == 3)
        return mode;
    fse_table &made = state.tables[table];
    if (mode == 0)
        made = predefined(table);
    else if (mode == 1)
        made = one_symbol(small_code(table, state));
    else {
        const unsigned log =
            how.most_accurate ? codes[table]->log_max : between(5, codes[table]->log_max);
        std::vector<unsigned> symbols = {small_code(table, state)};
        for (unsigned code = 0; code < codes[table]->symbols && symbols.size() < 1u << log; code++)
            if (code != symbols[0] && random_below(3) == 0)
                symbols.push_back(code);
        if (random_below(8) == 0)
            symbols.resize(1); // all cells for one symbol: no bits lead to the next
        made = draw_table(log, symbols);
    }
    append(to, made.description);
    return mode;
}

// A sequence, as its codes and what is added to them.
struct made_sequence {
    unsigned codes[3];
    uint64_t extra[3];
    unsigned extra_bits[3];
};

// The offset that a value stands for, and what it leaves for later ones; 0 if there is none.
uint64_t use_offset(uint64_t repeat_offsets[3], uint64_t value, bool no_literals)
{
    if (value > 3) {
        repeat_offsets[2] = repeat_offsets[1];
        repeat_offsets[1] = repeat_offsets[0];
        return repeat_offsets[0] = value - 3;
    }
    const uint64_t at = value - 1 + no_literals;
    const uint64_t offset = at < 3 ? repeat_offsets[at] : repeat_offsets[0] - 1;
    if (at > 1)
        repeat_offsets[2] = repeat_offsets[1];
    if (at > 0)
        repeat_offsets[1] = repeat_offsets[0];
    return repeat_offsets[0] = offset;
}

// A code of a length from a table, for at most `max`; false if there is none.
bool choose_length(const made_state &state, unsigned table, uint64_t max, made_sequence &made,
                   uint64_t *length)
{
    const std::vector<fse_row> &rows = state.tables[table].rows;
    for (unsigned tries = 0; tries < 30; tries++) {
        const unsigned code = rows[random_below(static_cast<unsigned>(rows.size()))].symbol;
        const uint64_t base = codes[table]->base[code];
        if (base > max)
            continue;
        const unsigned bits = codes[table]->bits[code];
        const uint64_t extra = random_word() & ((uint64_t{1} << bits) - 1);
        made.codes[table] = code;
        made.extra_bits[table] = bits;
        made.extra[table] =
            std::min(extra, random_below(2) ? max - base : std::min<uint64_t>(max - base, 3));
        *length = base + made.extra[table];
        return true;
    }
    return false;
}

// Draws an offset value of a code that the table has; 0: none was found.
uint64_t draw_offset_value(const made_state &state, made_offsets offsets, uint64_t reach)
{
    const fse_table &table = state.tables[1];
    if (offsets == ZERO_OFFSET)
        return 3;
    const uint64_t value = offsets == BEYOND_OFFSETS                     ? reach + 4
                           : offsets == FAR_OFFSETS                      ? reach + 3
                           : offsets == NEAR_OFFSETS && random_below(10) ? between(1, 40) + 3
                                                                         : 0;
    if (value > 0)
        return table.has(highest(static_cast<unsigned>(value))) ? value : 0;
    const unsigned code = table.rows[random_below(static_cast<unsigned>(table.rows.size()))].symbol;
    return (uint64_t{1} << code) + (random_word() & ((uint64_t{1} << code) - 1));
}

bool draw_sequence(made_state &state, made_offsets offsets, uint64_t literals, uint64_t room,
                   made_sequence &made, uint64_t *length, uint64_t *match)
{
    if (room < 3 || !choose_length(state, 0, std::min(literals, room - 3), made, length) ||
        !choose_length(state, 2, room - *length, made, match))
        return false;
    const uint64_t reach = std::min(state.content + *length, state.window);
    for (unsigned tries = 0; tries < 60; tries++) {
        const uint64_t value = draw_offset_value(state, offsets, reach);
        uint64_t repeat_offsets[3] = {state.repeat_offsets[0], state.repeat_offsets[1],
                                      state.repeat_offsets[2]};
        if (value == 0)
            return false;
        const uint64_t offset = use_offset(repeat_offsets, value, *length == 0);
        const bool is_due = offsets == BEYOND_OFFSETS ? offset == reach + 1
                            : offsets == ZERO_OFFSET  ? offset == 0
                                                      : offset > 0 && offset <= reach;
        if (!is_due)
            continue;
        std::copy(repeat_offsets, repeat_offsets + 3, state.repeat_offsets);
        made.codes[1] = made.extra_bits[1] = highest(static_cast<unsigned>(value));
        made.extra[1] = value - (uint64_t{1} << made.codes[1]);
        return true;
    }
    return false;
}

byte_vector put_bits(const made_state &state, const std::vector<made_sequence> &sequences)
{
    std::vector<unsigned> rows[3];
    for (unsigned table = 0; table < 3; table++) {
        std::vector<unsigned> symbols;
        for (const made_sequence &sequence : sequences)
            symbols.push_back(sequence.codes[table]);
        rows[table] = rows_for(state.tables[table], symbols);
    }
    backward_writer to;
    for (unsigned table = 0; table < 3; table++)
        to.put(rows[table][0], state.tables[table].log);
    for (size_t i = 0; i < sequences.size(); i++) {
        for (unsigned table : {1u, 2u, 0u})
            to.put(sequences[i].extra[table], sequences[i].extra_bits[table]);
        for (unsigned table : {0u, 2u, 1u})
            if (i + 1 < sequences.size())
                put_next(to, state.tables[table], rows[table][i], rows[table][i + 1]);
    }
    return to.bytes();
}

byte_vector put_sequence_count(size_t count)
{
    byte_vector to;
    if (count < 128 && (count == 0 || random_below(4)))
        append_number(to, count, 1);
    else if (count < 0x7f00)
        append_number(to, 0x80 | count >> 8 | (count & 0xff) << 8, 2);
    else
        append_number(to, 0xff | (count - 0x7f00) << 8, 3);
    return to;
}

// The content of a compressed block.
byte_vector put_compressed(const made_block &how, made_state &state)
{
    const size_t room = std::min<size_t>(1u << 17, state.window),
                 literals = random_below(static_cast<unsigned>(how.literals_max) + 1);
    const size_t wanted = random_below(static_cast<unsigned>(how.sequences_max) + 1);
    made_state after = state;
    std::vector<made_sequence> sequences;
    byte_vector tables;
    unsigned modes = 0;
    uint64_t used = 0, content = 0;
    for (unsigned table = 0; table < 3; table++)
        modes |= choose_table(how, after, table, tables) << (6 - 2 * table);
    while (sequences.size() < wanted) {
        made_sequence made;
        uint64_t length, match;
        const bool is_bad = how.offsets >= BEYOND_OFFSETS;
        const bool is_last = sequences.size() + 1 == wanted;
        if (!draw_sequence(after, is_bad && !is_last ? ANY_OFFSETS : how.offsets, literals - used,
                           room - content - (literals - used), made, &length, &match))
            break;
        used += length;
        content += length + match;
        after.content += length + match;
        sequences.push_back(made);
    }
    byte_vector to =
        put_literals(how, state, how.lacks_a_literal && used > 0 ? used - 1 : literals);
    append(to, put_sequence_count(sequences.size()));
    if (sequences.empty()) {
        state.content += literals;
        return to;
    }
    after.has_tree = state.has_tree;
    after.tree = state.tree;
    state = after;
    state.has_tables = true;
    state.content += literals - used;
    to.push_back(static_cast<unsigned char>(modes));
    append(to, tables);
    append(to, put_bits(state, sequences));
    return to;
}

byte_vector put_block(const made_block &how, made_state &state, bool last)
{
    const unsigned type = how.type != any_kind  ? static_cast<unsigned>(how.type)
                          : random_below(4) > 0 ? 2
                                                : random_below(2);
    byte_vector body, to;
    size_t size = how.plain == any_size ? random_below(300) : how.plain;
    if (type == 2) {
        const made_state before = state;
        made_block less = how;
        body = put_compressed(less, state);
        for (; body.size() > 1u << 17; body = put_compressed(less, state)) { // too much for a block
            less.literals_max /= 2;
            state = before;
        }
        size = body.size();
    } else {
        for (size_t i = 0; i < (type == 0 ? size : 1); i++)
            body.push_back(static_cast<unsigned char>(random_below(256)));
        state.content += size;
    }
    append_number(to, last | type << 1 | size << 3, 3);
    append(to, body);
    return to;
}

} // namespace

std::vector<unsigned char> zstd_made_frame(const std::vector<made_block> &blocks,
                                           unsigned window_log, unsigned made_for)
{
    made_state state;
    state.window = uint64_t{1} << made_for;
    byte_vector body, to;
    for (size_t i = 0; i < blocks.size(); i++)
        append(body, put_block(blocks[i], state, i + 1 == blocks.size()));
    const bool sized = random_below(2);
    append_number(to, 0xfd2fb528, 4);
    append_number(to, sized ? 0xc0 : 0, 1);
    append_number(to, (window_log - 10) << 3, 1);
    if (sized)
        append_number(to, state.content, 8);
    append(to, body);
    return to;
}

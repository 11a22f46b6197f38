// SPDX-License-Identifier: MIT
// The CRC-32 of members that the GPU computes from units, emulated, against zlib's: members of any
// length, cut into units and batches anywhere. And the units that are ordered for that.
#include "tests/device/emulation.h"

#include "gpu/decode/gzip/chain.cuh"
#include "gpu/decode/gzip/crc.cuh"

extern "C" {
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>
#include <zlib.h>

namespace
{

using bytes = std::vector<unsigned char>;

unsigned long cases, wrong;

void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        std::printf("wrong: %s (%zu)\n", what, where);
}

bytes random_bytes(size_t size)
{
    bytes result(size);
    for (unsigned char &byte : result)
        byte = static_cast<unsigned char>(random_word());
    return result;
}

//===--- A batch -----------------------------------------------------------------------------===//

// What batches of a file hand on.
struct carried {
    bytes in = bytes(DECODE_CARRY); // the carry
    bool goes_on = false;
    bytes before; // the member that goes on, so far
};

gzip_carry *carry_of(bytes &in)
{
    return reinterpret_cast<gzip_carry *>(in.data() + GZIP_CARRY_AT);
}

struct member {
    bytes content;               // in the batch
    std::vector<unsigned> units; // bytes of each, at least one
};

// How a member's trailer is altered.
enum alteration { RIGHT, WRONG_CRC, WRONG_SIZE };

// Members in one batch, of which the first may go on from the batch before, and the last in the
// next one.
class batch
{
  public:
    batch(const std::vector<member> &members, carried &from, bool goes_on)
        : from_(from), goes_on_(goes_on), parts_(members.size()), frames_(members.size()),
          members_(members.size()), next_(DECODE_CARRY)
    {
        content_.assign(random_below(8), 0xa5);
        out_at_ = content_.size();
        for (size_t i = 0; i < members.size(); i++)
            add(members[i], static_cast<unsigned>(i));
        content_.resize(content_.size() + DECODE_PADDING, 0xa5);
        counts_ = {counters_.units, static_cast<uint32_t>(members.size())};
        blocks_.resize(counts_.blocks);
        headings_.resize(counts_.blocks);
        outcomes_.resize(counts_.blocks);
        // Units are there in any order.
        for (size_t i = units_.size(); i > 1; i--)
            std::swap(units_[i - 1], units_[random_below(static_cast<unsigned>(i))]);
        batch_.in = from.in.data();
        batch_.counts = &counts_;
        batch_.gzip.frames_max = counts_.frames;
        batch_.room = static_cast<uint32_t>(content_.size());
        batch_.block = blocks_.data();
        batch_.frame = frames_.data();
        batch_.heading = headings_.data();
        batch_.outcome = outcomes_.data();
        batch_.out = content_.data() + out_at_;
        batch_.verdict = &verdict_;
        batch_.next = next_.data();
        batch_.gzip.parts = parts_.data();
        batch_.gzip.units = units_.data();
        batch_.gzip.members = members_.data();
        batch_.gzip.counters = &counters_;
        batch_.gzip.units_max = counters_.units + random_below(3);
        verdict_.refused = DECODE_NONE;
    }

    // Alters what a member states that ends.
    void alter(size_t index, alteration how)
    {
        members_[index].stated_crc ^= how == WRONG_CRC ? 1u << random_below(32) : 0;
        members_[index].stated_size ^= how == WRONG_SIZE ? 1u << random_below(32) : 0;
    }

    // Sets what a member states.
    void state(size_t index, unsigned long crc, unsigned long long size)
    {
        members_[index].stated_crc = static_cast<uint32_t>(crc);
        members_[index].stated_size = static_cast<uint32_t>(size);
    }

    // Returns the block that is refused, or DECODE_NONE.
    unsigned run()
    {
        const decode_batch device = batch_;
        emulate_seed(random_below(3));
        emulate_launch(gzip_order_grid(&device, 2), GZIP_ORDER_THREADS, 0,
                       [=] { gzip_order(device); });
        check_order();
        position();
        emulate_launch(gzip_crc_grid(&device, 3), GZIP_CRC_THREADS, 0, [=] { gzip_crc(device); });
        emulate_launch(gzip_verify_grid(&device, 3), GZIP_VERIFY_THREADS, 0,
                       [=] { gzip_verify(device); });
        if (verdict_.refused == DECODE_NONE)
            hand_on();
        else
            expect(outcomes_.at(verdict_.refused).refusal == DECODE_BAD, "why", 0);
        return verdict_.refused;
    }

    const decode_frame &frame(size_t index) const
    {
        return frames_[index];
    }

  private:
    void add(const member &member, unsigned index)
    {
        const bool begins = index > 0 || !from_.goes_on;
        const bool ends = index + 1 < frames_.size() || !goes_on_;
        frames_[index] = {DECODE_CONTENT_UNKNOWN,
                          GZIP_WINDOW,
                          counters_.units,
                          static_cast<uint32_t>(member.units.size()),
                          begins,
                          ends,
                          {}};
        parts_[index].is_chained = true;
        parts_[index].first = counters_.units;
        parts_[index].frame = index;
        bytes &whole = from_.before;
        if (begins)
            whole.clear();
        whole.insert(whole.end(), member.content.begin(), member.content.end());
        const unsigned size = static_cast<unsigned>(whole.size());
        members_[index] = {static_cast<uint32_t>(crc32(0, whole.data(), size)), size, 0};
        content_.insert(content_.end(), member.content.begin(), member.content.end());
        for (unsigned i = 0; i < member.units.size(); i++) {
            const unsigned number = counters_.units++;
            units_.push_back({index, i, member.units[i], number, number + 7, number + 8, number + 9,
                              number % 2});
        }
    }

    void check_order() const
    {
        for (unsigned i = 0; i < counts_.blocks; i++) {
            const bool is_stored = i % 2;
            const decode_block &block = blocks_[i];
            const decode_heading &heading = headings_[i];
            expect(heading.sequences == i && block.sequences_at == i + 7 &&
                       heading.literals == i + 8 &&
                       (is_stored ? heading.literals_at : block.room_at) == i + 9 &&
                       heading.literals_type ==
                           (is_stored ? DECODE_LITERALS_RAW : DECODE_LITERALS_PACKED) &&
                       block.room == outcomes_[i].content && outcomes_[i].refusal == DECODE_TAKEN,
                   "an ordered unit", i);
        }
    }

    // As the stage of that name.
    void position()
    {
        for (unsigned i = 0, at = 0; i < counts_.blocks; at += outcomes_[i++].content)
            outcomes_[i].content_at = at;
    }

    void hand_on()
    {
        carry_of(next_)->before = goes_on_ ? from_.before.size() : 77;
        from_.in = next_;
        from_.goes_on = goes_on_;
    }

    carried &from_;
    bool goes_on_;
    bytes content_;
    size_t out_at_ = 0;
    std::vector<gzip_unit> units_;
    std::vector<gzip_part> parts_;
    std::vector<decode_frame> frames_;
    std::vector<gzip_member> members_;
    bytes next_;
    gzip_counters counters_ = {};
    decode_counts counts_ = {};
    std::vector<decode_block> blocks_;
    std::vector<decode_heading> headings_;
    std::vector<decode_outcome> outcomes_;
    decode_verdict verdict_ = {};
    decode_batch batch_ = {};
};

//===--- Cases -------------------------------------------------------------------------------===//

member member_of(std::vector<unsigned> units)
{
    size_t size = 0;
    for (unsigned unit : units)
        size += unit;
    return {random_bytes(size), units};
}

member random_member(unsigned max)
{
    std::vector<unsigned> units;
    for (unsigned i = random_below(6); i > 0; i--)
        units.push_back(random_below(random_below(3) ? max : 12));
    units.push_back(random_below(random_below(3) ? max : 12));
    return member_of(units);
}

void expect_taken(const std::vector<member> &members, carried &from, bool goes_on, size_t where)
{
    batch one(members, from, goes_on);
    expect(one.run() == DECODE_NONE, "members that are right", where);
}

void lengths()
{
    for (unsigned size = 0; size < 70; size++) {
        carried from;
        expect_taken({member_of({size})}, from, false, size);
    }
    for (unsigned row = 1; row < 4; row++)
        for (unsigned more = 0; more < 18; more++) {
            carried from;
            expect_taken({member_of({row * 4 * GZIP_CRC_THREADS - 9 + more})}, from, false, more);
        }
    carried from;
    expect_taken({member_of({GZIP_UNIT_CONTENT, 1, GZIP_UNIT_CONTENT, GZIP_UNIT_CONTENT - 1})},
                 from, false, 0);
}

// Batches of a file, of which members go on in the next one.
void batches()
{
    for (unsigned i = scale_of(60, 400, 3000); i > 0; i--) {
        carried from;
        for (unsigned count = 1 + random_below(6); count > 0; count--) {
            std::vector<member> members(1 + random_below(random_below(2) ? 3 : 20));
            for (member &one : members)
                one = random_member(random_below(2) ? 100 : 9000);
            expect_taken(members, from, count > 1 && random_below(4) > 0, i);
        }
    }
}

void altered()
{
    for (unsigned i = scale_of(100, 1000, 5000); i > 0; i--) {
        carried from;
        const bool is_size = random_below(2);
        if (random_below(2))
            expect_taken({random_member(1000), random_member(1000)}, from, true, i);
        std::vector<member> members(1 + random_below(6));
        for (member &one : members)
            one = random_member(1000);
        const size_t which = random_below(static_cast<unsigned>(members.size()));
        batch one(members, from, false);
        one.alter(which, is_size ? WRONG_SIZE : WRONG_CRC);
        const unsigned last = one.frame(which).first + one.frame(which).blocks - 1;
        expect(one.run() == last, "an altered trailer", i);
    }
}

// A batch that the chain refuses, and units of parts that it has not taken.
void refused()
{
    decode_block block = {};
    decode_heading heading = {};
    decode_outcome outcome = {};
    gzip_unit units[2] = {{0, 0, 10, 0, 0, 10, 0, 1}, {1, 0, 5, 0, 0, 5, 0, 1}};
    gzip_part parts[2] = {};
    gzip_counters counters = {};
    decode_batch batch = {};
    batch.block = &block;
    batch.heading = &heading;
    batch.outcome = &outcome;
    batch.gzip.units = units;
    batch.gzip.parts = parts;
    batch.gzip.counters = &counters;
    batch.gzip.units_max = 2;
    counters.units = 2;
    parts[1].is_chained = true;
    emulate_launch(1, GZIP_ORDER_THREADS, 0, [=] { gzip_order(batch); });
    expect(outcome.content == 5 && outcome.refusal == DECODE_TAKEN, "a part that is not taken", 0);
    counters.refusal = DECODE_BAD;
    emulate_launch(1, GZIP_ORDER_THREADS, 0, [=] { gzip_order(batch); });
    expect(outcome.content == 0 && outcome.refusal == DECODE_BAD, "a refused batch", 0);
}

// A member of more than 4 GiB, which begins with zeros: these alone leave a CRC of 0 in the carry.
void large()
{
    unsigned long long zeros = 1;
    unsigned long crc = crc32(0, reinterpret_cast<const unsigned char *>(""), 1);
    for (; zeros < 5ull << 30; zeros *= 2)
        crc = crc32_combine(crc, crc, static_cast<long>(zeros));
    carried from;
    from.goes_on = true;
    carry_of(from.in)->before = zeros;
    const member rest = member_of({900, 100});
    batch one({rest}, from, false);
    one.state(0, crc32_combine(crc, crc32(0, rest.content.data(), 1000), 1000), zeros + 1000);
    expect(one.run() == DECODE_NONE, "a large member", 0);
}

} // namespace

int main()
{
    lengths();
    batches();
    altered();
    refused();
    large();
    std::printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong > 0;
}

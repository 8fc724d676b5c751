#include "lib/match/program.hpp"

#include <algorithm>

namespace sluice {
namespace {

template <typename Range, typename Value>
bool in_ranges(const Range* ranges, std::uint32_t count, const Value& value) noexcept {
    const Range* end = ranges + count;
    // The first range that does not end before the value.
    const Range* at = std::lower_bound(
        ranges, end, value, [](const Range& range, const Value& v) { return range.last < v; });
    return at != end && at->first <= value;
}

bool address_passes(const Program& program, const Test& test,
                    const VersionedAddress& value) noexcept {
    const bool inside =
        value.version == IpVersion::V4
            ? in_ranges(program.v4.data() + test.start, test.count, value.address)
            : in_ranges(program.v6.data() + test.v6_start, test.v6_count, value.address);
    return inside != test.negated;
}

bool passes(const Program& program, const Test& test, const Flow& flow, ByteView frame) noexcept {
    if (!flow.fields.has(test.field)) {
        return false;
    }
    if (row_of(test.field).kind == FieldKind::Address) {
        return address_passes(program, test, read_address(test.field, flow, frame));
    }
    return in_ranges(program.numbers.data() + test.start, test.count,
                     read_number(test.field, flow, frame));
}

template <typename Range>
bool ranges_hold(const std::vector<Range>& table, std::uint32_t start,
                 std::uint32_t count) noexcept {
    if (start > table.size() || count > table.size() - start) {
        return false;
    }
    for (std::uint32_t i = start; i < start + count; ++i) {
        const bool ordered = table[i].first <= table[i].last;
        const bool after_last = i == start || table[i - 1].last < table[i].first;
        if (!ordered || !after_last) {
            return false;
        }
    }
    return true;
}

bool constants_hold(const Program& program, const Test& test) noexcept {
    if (static_cast<std::size_t>(test.field) >= kFieldCount) {
        return false;
    }
    if (row_of(test.field).kind == FieldKind::Address) {
        return ranges_hold(program.v4, test.start, test.count) &&
               ranges_hold(program.v6, test.v6_start, test.v6_count);
    }
    return !test.negated && ranges_hold(program.numbers, test.start, test.count);
}

bool jump_holds(std::uint16_t target, std::uint32_t from, std::uint32_t count) noexcept {
    return target == kMatch || target == kNoMatch || (target > from && target < count);
}

}  // namespace

bool matches(const Program& program, Condition condition, const Flow& flow,
             ByteView frame) noexcept {
    if (condition.count == 0) {
        return true;
    }
    const Test* tests = program.tests.data() + condition.first;
    std::uint16_t at = 0;
    do {
        at = passes(program, tests[at], flow, frame) ? tests[at].yes : tests[at].no;
    } while (at < kNoMatch);
    return at == kMatch;
}

bool check_program(const Program& program, Condition condition) noexcept {
    if (condition.first > program.tests.size() ||
        condition.count > program.tests.size() - condition.first || condition.count >= kNoMatch) {
        return false;
    }
    for (std::uint32_t i = 0; i < condition.count; ++i) {
        const Test& test = program.tests[condition.first + i];
        if (!jump_holds(test.yes, i, condition.count) || !jump_holds(test.no, i, condition.count) ||
            !constants_hold(program, test)) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice

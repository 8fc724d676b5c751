#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Other numbers, or none at all, for single keys of a rule: plain data, as it crosses the socket.
namespace sluice {

inline constexpr std::size_t kMaxOverrides = std::size_t{1} << 21;  // keys of a rule
inline constexpr Nanoseconds kForever = Nanoseconds::max();
// Networks of a rule that are banned, and how many lengths of prefixes they may have in each
// version of IP: each is one probe more for a key that has nothing of its own.
inline constexpr std::size_t kMaxBannedNetworks = std::size_t{1} << 16;
inline constexpr std::size_t kMaxNetworkLengths = 8;

// One limit's numbers for a key.
struct LimitOverride {
    std::uint8_t limit = 0;        // index in the rule
    Nanoseconds until = kForever;  // UTC; from then on the limit's own count again
    AnyLimit numbers;              // same algorithm and schema as the limit's
};

// The terms of a key instead of the rule's numbers. Many keys may share one.
struct OverridePlan {
    bool exempt = false;                  // packets of the key pass the rule uncharged
    Nanoseconds exempt_until = kForever;  // UTC
    bool banned = false;                  // the rule's on_exceed applies to each of them
    Nanoseconds banned_until = kForever;  // UTC
    std::uint32_t first = 0;              // its numbers in Overrides::numbers
    std::uint32_t count = 0;
};

// The overridden keys of one of a rule's grouping keys, by their canonical bytes, in their order.
struct KeyOverrides {
    struct Row {
        std::uint32_t end = 0;  // of its bytes
        std::uint32_t plan = 0;
    };
    std::vector<std::byte> bytes;  // one after the other
    std::vector<Row> rows;

    [[nodiscard]] ByteView key(std::size_t row) const noexcept {
        const std::size_t begin = row == 0 ? 0 : rows[row - 1].end;
        return ByteView{bytes}.subspan(begin, rows[row].end - begin);
    }
};

// Networks and ranges with terms of their own lie so deep in one another at most: a step each, for
// a key whose smallest ones have ended or say nothing of a limit.
inline constexpr std::size_t kMaxNestedRanges = 32;

// Terms for all keys of one address between two: a network, or a range. It holds whole keys.
struct OverrideRange {
    Wide first = 0;  // addresses as numbers
    Wide last = 0;
    std::uint32_t plan = 0;
    std::uint8_t version = 4;
};

struct Overrides {
    std::vector<LimitOverride> numbers;
    std::vector<OverridePlan> plans;
    std::vector<KeyOverrides> keys;  // by index of the rule's keys
    // Likewise, of keys that are one address: networks that are banned, each by the bytes that the
    // key would have if it had the network's length.
    std::vector<KeyOverrides> networks{};
    // Likewise: networks and ranges with other numbers, or exempt. By version and first address, of
    // several with one first address the larger before; of any two that overlap one holds the
    // other.
    std::vector<std::vector<OverrideRange>> ranges{};

    // Keys that are exempt or banned are charged nothing, so they need no numbers.
    [[nodiscard]] bool have_numbers() const noexcept { return !numbers.empty(); }
    [[nodiscard]] std::span<const LimitOverride> numbers_of(
        const OverridePlan& plan) const noexcept {
        return std::span{numbers}.subspan(plan.first, plan.count);
    }
};

}  // namespace sluice

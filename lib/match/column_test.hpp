#pragma once
#include "lib/base/wide.hpp"
#include "lib/match/column_compare.hpp"
#include "lib/packet/header_part.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// IPv6 addresses from `first` up to `last`.
struct V6Range {
    Wide first = 0;
    Wide last = 0;

    [[nodiscard]] constexpr bool operator==(const V6Range&) const noexcept = default;
};

// A test whether one field's value lies in a set: a condition that several clauses may share, which
// is decided for a whole burst at once.
struct ColumnTest {
    enum class Kind : std::uint8_t {
        Presence,  // any value will do, or none: what counts is whether the field is there
        Column8,   // ranges over a column of so many bits
        Column16,
        Column32,
        Column64,
        Gathered,  // ranges over a field that has no column
        FlagBit,   // one bit of tcp.flags
        Address,   // ranges over the addresses of both versions
        OuterAddress,
        LookUp,  // so many ranges that the field's value is looked up, and its row decides
    };
    Kind kind{};
    Field field{};
    bool absent = false;              // what the test is in rows that lack the field
    bool any_value = false;           // Presence: what it is in the others
    bool flag_set = false;            // FlagBit: which of the two is wanted
    bool only_networks = false;       // IPv6 ranges are of whole /64 networks
    std::uint16_t column = 0;         // offset in HeaderColumns
    std::uint32_t dimension = 0;      // LookUp
    std::vector<ColumnRange> ranges;  // numbers, or IPv4 addresses
    std::vector<V6Range> v6_ranges;
    std::vector<ColumnRange> v6_high_ranges;  // only_networks: of the first 64 bits
    std::vector<std::uint8_t> row_holds;      // LookUp: by row times stride of the dimension
    std::uint32_t cost = 0;                   // CPU cycles for a burst, estimated
};

}  // namespace sluice

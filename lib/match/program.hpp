#pragma once
#include "lib/packet/flow.hpp"

#include <cstdint>
#include <vector>

// A condition, compiled. Every test asks one field whether its value lies in a set of ranges, and
// says where to go then: forward to a later test of the same rule, or out.
//
//   ip.proto eq 17 and l4.dport in {53 123}
//
//     0: ip.proto  in [17,17]             yes -> 1        no -> no match
//     1: l4.dport  in [53,53] [123,123]   yes -> match    no -> no match
//
// A test of an absent field answers no, whatever the set; `ne` is the complement of the set.
// Invariant (checked once, by check_program): jumps go forward, ranges lie inside their tables and
// are sorted and disjoint. So every evaluation ends, after at most as many steps as there are
// tests.
namespace sluice {

inline constexpr std::uint16_t kMatch = 0xFFFF;
inline constexpr std::uint16_t kNoMatch = 0xFFFE;

struct NumberRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // inclusive
};

// Addresses of one version, first to last, inclusive, in network byte order.
struct AddressRange {
    IpAddress first;
    IpAddress last;
};

struct Test {
    Field field{};
    bool negated = false;     // address tests only: present and in none of the ranges
    std::uint32_t start = 0;  // into numbers, or into v4 for an address field
    std::uint32_t count = 0;
    std::uint32_t v6_start = 0;  // into v6, address fields only
    std::uint32_t v6_count = 0;
    std::uint16_t yes = kMatch;  // relative to the condition's first test
    std::uint16_t no = kNoMatch;
};

// The tests of one rule: [first, first + count). None: every packet.
struct Condition {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// All conditions of a rule set, with their constants.
struct Program {
    std::vector<Test> tests;
    std::vector<NumberRange> numbers;
    std::vector<AddressRange> v4;
    std::vector<AddressRange> v6;
};

[[nodiscard]] bool matches(const Program& program, Condition condition, const Flow& flow,
                           ByteView frame) noexcept;

// Whether the invariant above holds for `condition`; what comes over a socket is asked this once.
[[nodiscard]] bool check_program(const Program& program, Condition condition) noexcept;

}  // namespace sluice

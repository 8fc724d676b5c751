#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/flow.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/rules/verdict.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

inline constexpr std::size_t kMaxBurst = 32;
inline constexpr std::uint32_t kNoRule = 0xFFFF'FFFF;
// A wait that never ends: the cost is above the burst.
inline constexpr Nanoseconds kNever = Nanoseconds::max();

// What became of one packet, and why.
struct Decision {
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::NoRule;
    std::uint8_t key = 0;            // of that rule: the one whose limit refused, else the first
    std::uint32_t rule = kNoRule;    // index in the rule set, if a rule made the verdict
    Nanoseconds wait{};              // longest wait among the refusing enforcing limits; kNever
    const TagValues* tag = nullptr;  // what to write when the verdict is Tag; in the rule set
};

// One packet's row, filled left to right by the stages: parse, match, key, meter. What a stage has
// not come to yet is an earlier packet's.
struct Packet {
    FrameView frame;
    void* buffer = nullptr;  // what the frame lies in, for who received it
    Flow flow;
    Decision decision;
};

}  // namespace sluice

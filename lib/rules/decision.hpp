#pragma once
#include "lib/base/units.hpp"
#include "lib/rules/verdict.hpp"

#include <cstdint>

namespace sluice {

struct TagValues;

inline constexpr std::uint32_t kNoRule = 0xFFFF'FFFF;

// What became of one packet, and why.
struct Decision {
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::NoRule;
    std::uint8_t key = 0;            // of that rule: the one whose limit refused, else the first
    std::uint32_t rule = kNoRule;    // index in the rule set, if a rule made the verdict
    Nanoseconds wait{};              // longest wait among the refusing enforcing limits; kNever
    const TagValues* tag = nullptr;  // what to write when the verdict is Tag; in the rule set
};

}  // namespace sluice

#pragma once
#include "lib/respond/decision.hpp"

#include <cstdint>

namespace sluice {

// The acting rules that keep one packet from being forwarded, as far as it takes to know what would
// become of it without one of them: a candidate is judged in the place of its rule.
class BlockingRules {
public:
    void add(std::uint32_t rule) noexcept {
        several_ |= first_ != kNoRule && first_ != rule;
        first_ = first_ == kNoRule ? rule : first_;
    }
    [[nodiscard]] bool any_but(std::uint32_t rule) const noexcept {
        return several_ || (first_ != kNoRule && first_ != rule);
    }

private:
    std::uint32_t first_ = kNoRule;
    bool several_ = false;
};

}  // namespace sluice

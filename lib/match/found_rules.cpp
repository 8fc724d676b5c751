#include "lib/match/found_rules.hpp"

#include <algorithm>

namespace sluice {

void FoundRules::order_slow() noexcept {
    const std::uint32_t begin = begins_[packets_];
    if (!has_many_) {
        const std::span<std::uint32_t> few{&rules_[begin], &rules_[next_]};
        std::ranges::sort(few);
        next_ -= static_cast<std::uint32_t>(std::ranges::unique(few).size());
        return;
    }
    for (std::uint32_t at = begin; at != next_; ++at) {
        many_.mark(rules_[at]);
    }
    next_ = begin;
    many_.drain([&](std::uint32_t rule) { rules_[next_++] = rule; });
    has_many_ = false;
}

}  // namespace sluice

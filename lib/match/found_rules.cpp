#include "lib/match/found_rules.hpp"

#include <algorithm>

namespace sluice {

void FoundRules::settle(std::size_t packets, std::span<const std::uint32_t> always) noexcept {
    const std::uint32_t* hit = hits_.get();
    std::uint32_t* const rules = rules_.get();
    std::uint32_t next = 0;
    begins_[0] = 0;
    for (std::size_t packet = 0; packet < packets; ++packet) {
        const std::uint32_t count = counts_[packet];
        if (count > 2 || !always.empty()) {
            next += order_slow(rules + next, {hit, count}, always);
        } else {
            // Without a branch, which nothing could predict. What is not there is read, and
            // written over by the next.
            const std::uint32_t a = hit[0];
            const std::uint32_t b = count == 2 ? hit[1] : a;
            rules[next] = a < b ? a : b;
            rules[next + 1] = a < b ? b : a;
            next += count - (count == 2 && a == b ? 1U : 0U);
        }
        hit += count;
        begins_[packet + 1] = next;
    }
    packets_ = packets;
}

std::uint32_t FoundRules::order_slow(std::uint32_t* to, std::span<const std::uint32_t> hits,
                                     std::span<const std::uint32_t> always) noexcept {
    if (always.size() + hits.size() <= kFew) {
        std::uint32_t* const end = std::ranges::copy(hits, std::ranges::copy(always, to).out).out;
        std::sort(to, end);
        return static_cast<std::uint32_t>(std::unique(to, end) - to);
    }
    for (const std::uint32_t rule : always) {
        many_.mark(rule);
    }
    for (const std::uint32_t rule : hits) {
        many_.mark(rule);
    }
    std::uint32_t* end = to;
    many_.drain([&](std::uint32_t rule) { *end++ = rule; });
    return static_cast<std::uint32_t>(end - to);
}

}  // namespace sluice

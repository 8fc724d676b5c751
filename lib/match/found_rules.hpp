#pragma once
#include "lib/match/rule_bits.hpp"
#include "lib/match/subject.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice {

// The rules that match each packet of a burst, in the order of the file. There is room for all
// rules of all packets, of which pages that nobody needs are never touched.
class FoundRules {
public:
    // Of the packet that was ended as the `number`th.
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t number) const noexcept {
        return {&rules_[begins_[number]], &rules_[begins_[number + 1]]};
    }
    [[nodiscard]] std::size_t packets() const noexcept { return packets_; }

    void clear() noexcept {
        packets_ = 0;
        next_ = 0;
    }
    // One of the packet that is next; in any order, and more than once.
    void add(std::uint32_t rule) noexcept {
        if (next_ - begins_[packets_] < kFew) [[likely]] {
            rules_[next_++] = rule;
        } else {
            many_.mark(rule);
            has_many_ = true;
        }
    }
    // All of it have been added.
    void end_packet() noexcept {
        std::uint32_t* const first = &rules_[begins_[packets_]];
        const std::uint32_t count = next_ - begins_[packets_];
        if (count == 2 && !has_many_) {
            // Without a branch, which nothing could predict.
            const std::uint32_t a = first[0];
            const std::uint32_t b = first[1];
            first[0] = a < b ? a : b;
            first[1] = a < b ? b : a;
            next_ -= a == b ? 1U : 0U;
        } else if (count > 1) {
            order_slow();
        }
        begins_[++packets_] = next_;
    }

private:
    static constexpr std::uint32_t kFew = 16;

    // Few are put in order where they lie, many are taken out of their bits.
    [[gnu::noinline]] void order_slow() noexcept;

    std::unique_ptr<std::uint32_t[]> rules_ =
        std::make_unique_for_overwrite<std::uint32_t[]>(kMaxSubjects * RuleBits::kSize);
    std::array<std::uint32_t, kMaxSubjects + 1> begins_{};
    std::size_t packets_ = 0;
    std::uint32_t next_ = 0;
    bool has_many_ = false;
    RuleBits many_;
};

}  // namespace sluice

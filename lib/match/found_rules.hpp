#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/rule_bits.hpp"
#include "lib/match/subject.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice {

// The rules that match each packet of a burst, in the order of the file. There is room for all
// clauses of all packets, of which pages that nobody needs are never touched.
class FoundRules {
public:
    // Writes down what clauses find, packet by packet; of one packet in any order, and a rule more
    // than once. Nothing counts before done(): meanwhile all of it is kept in registers.
    class Adder {
    public:
        explicit Adder(FoundRules& found) noexcept
            : next_{found.hits_.get()}, counts_{found.counts_.data()} {}

        void add(std::size_t packet, std::uint32_t rule) noexcept { add_if(true, packet, rule); }
        // Without a branch.
        void add_if(bool holds, std::size_t packet, std::uint32_t rule) noexcept {
            *next_ = rule;
            next_ += holds ? 1 : 0;
            counts_[packet] += holds ? 1 : 0;
        }

    private:
        std::uint32_t* next_;
        std::uint32_t* counts_;
    };

    // Of one packet of the burst. Two more may be read behind them, whatever they are.
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t number) const noexcept {
        return {&rules_[begins_[number]], &rules_[begins_[number + 1]]};
    }
    // Calls use(packet, rule) for all that has been added since clear(), packet by packet, in any
    // order otherwise and a rule more than once: in the place of settle().
    template <typename Use>
    void each_added(std::size_t packets, Use&& use) const noexcept {
        const std::uint32_t* hit = hits_.get();
        for (std::size_t packet = 0; packet < packets; ++packet) {
            for (const std::uint32_t* const end = hit + counts_[packet]; hit != end; ++hit) {
                use(packet, *hit);
            }
        }
    }
    [[nodiscard]] std::size_t packets() const noexcept { return packets_; }

    // A new burst. One adder then adds.
    void clear() noexcept {
        packets_ = 0;
        counts_.fill(0);
    }
    // All have been added; each packet of the burst matches `always` too, which is in order.
    void settle(std::size_t packets, std::span<const std::uint32_t> always) noexcept;

private:
    static constexpr std::uint32_t kFew = 16;

    // Few are put in order where they lie, many are taken out of their bits. Gives how many.
    [[gnu::noinline]] std::uint32_t order_slow(std::uint32_t* to,
                                               std::span<const std::uint32_t> hits,
                                               std::span<const std::uint32_t> always) noexcept;

    std::unique_ptr<std::uint32_t[]> rules_ =
        std::make_unique_for_overwrite<std::uint32_t[]>(kMaxSubjects * RuleBits::kSize + 2);
    std::unique_ptr<std::uint32_t[]> hits_ =
        std::make_unique_for_overwrite<std::uint32_t[]>(kMaxSubjects * kMaxClauses + 2);
    std::array<std::uint32_t, kMaxSubjects> counts_{};  // of hits, by packet
    std::array<std::uint32_t, kMaxSubjects + 1> begins_{};
    std::size_t packets_ = 0;
    RuleBits many_;
};

}  // namespace sluice

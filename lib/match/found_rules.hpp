#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The rules of the clauses that the packets of a burst satisfy, packet by packet; of one packet in
// any order, and a rule once for each of its clauses. There is room for all clauses of all packets,
// of which unused pages are never touched.
class FoundRules {
public:
    // Writes them down. Where the next goes is kept in a register.
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

    // Calls use(packet, rule) for all that has been added since clear().
    template <typename Use>
    void each_added(std::size_t packets, Use&& use) const noexcept {
        const std::uint32_t* hit = hits_.get();
        for (std::size_t packet = 0; packet < packets; ++packet) {
            for (const std::uint32_t* const end = hit + counts_[packet]; hit != end; ++hit) {
                use(packet, *hit);
            }
        }
    }

    // A new burst. One adder then adds.
    void clear() noexcept { counts_.fill(0); }

private:
    // Behind the last is room for one that does not count.
    LazyArray<std::uint32_t> hits_ =
        uninitialized_array<std::uint32_t>(kMaxBurst * kMaxClauses + 1);
    std::array<std::uint32_t, kMaxBurst> counts_{};  // by packet
};

}  // namespace sluice

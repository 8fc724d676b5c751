#pragma once
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/gcra.hpp"

#include <optional>

namespace sluice {

// The three RFC meters, with tokens that flow in evenly instead of one by one.
//
//   RFC 2697  green out of C, else yellow out of E. E fills only while C is full, so its TAT is the
//             instant at which both are full: a green packet moves both TATs, a yellow one the
//             second, and E's debt is what lies between them.
//   RFC 2698  red if P has not enough, else yellow if C has not enough; yellow takes from P, green
//             from both. Two independent GCRAs.
//   RFC 4115  green out of C, else yellow out of E. Two independent GCRAs.
//
// Colour-aware: a packet never gets a better colour than it came with.
// Plain data that fits a pool line; zeroes are a fresh one.
class ColorMeter {
public:
    // Green, Yellow or Red.
    [[nodiscard]] Conformance check(const ColorLimit& limit, Instant now,
                                    Demand demand) const noexcept;
    // Charges a spending that check() has just admitted.
    void charge(const ColorLimit& limit, Instant now, Spending spending) noexcept;
    // Leaves at most `most` in either bucket.
    void leave_at_most(const ColorLimit& limit, Instant now, Units most) noexcept;

    // To both buckets, at most `units`; a coupled second one gets what the first has no room for.
    void give_back(const ColorLimit& limit, Instant now, Units units) noexcept;

    // Lets neither bucket owe more than its burst. False: neither does.
    [[nodiscard]] bool forgive_excess(const ColorLimit& limit, Instant now) noexcept;

    // The largest cost that would not be red for a green packet.
    [[nodiscard]] Units remaining(const ColorLimit& limit, Instant now) const noexcept;
    // The least time after which the demand would not be red; nullopt: never.
    [[nodiscard]] std::optional<Nanoseconds> wait(const ColorLimit& limit, Instant now,
                                                  Demand demand) const noexcept;
    // Units used of each bucket stay used, be they more than the new numbers allow.
    void renumber(const ColorLimit& from, const ColorLimit& to, Instant changed) noexcept;
    // When all buckets are full.
    [[nodiscard]] Instant fresh_from() const noexcept;

private:
    // The debt that the second bucket of RFC 2697 has alone, in 1/parts ns.
    [[nodiscard]] std::uint64_t excess_debt(const ColorLimit& limit, Instant now) const noexcept;
    [[nodiscard]] bool second_admits(const ColorLimit& limit, Instant now,
                                     Units cost) const noexcept;
    [[nodiscard]] Units second_remaining(const ColorLimit& limit, Instant now) const noexcept;
    [[nodiscard]] std::optional<Nanoseconds> second_wait(const ColorLimit& limit, Instant now,
                                                         Units cost) const noexcept;

    Gcra first_;
    Gcra second_;
};

}  // namespace sluice

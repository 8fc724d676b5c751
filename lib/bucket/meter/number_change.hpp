#pragma once
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/limit.hpp"

#include <cstdint>

namespace sluice {

// How the buckets of a token or leaky bucket come from its former numbers under those in force:
// renumber() (gcra), with what is the same for all of them worked out once. After a change of
// numbers there are millions.
struct NumberChange {
    NumberChange() = default;
    NumberChange(const Limit& from, const Limit& to) noexcept;

    // The bucket that has used as many units of `to` at `changed` as `bucket` of `from`.
    [[nodiscard]] Gcra of(const Gcra& bucket, Instant changed) const noexcept {
        if (bucket.fresh_from <= changed) {
            return {changed, 0};
        }
        const std::uint64_t before = debt_in_parts(bucket, from_parts, changed);
        return owing_parts(before <= narrow ? narrow_debt(before) : wide_debt(before), to_parts,
                           changed);
    }

    // A debt is to be multiplied by `times` and divided by `over`, rounded up; both without a
    // common divisor.
    std::uint64_t times = 1;
    std::uint64_t over = 1;
    std::uint64_t narrow = 0;  // debts up to this one take no more than 64 bits for it
    std::uint64_t most = 0;    // that may be owed afterwards
    std::uint32_t from_parts = 1;
    std::uint32_t to_parts = 1;

private:
    [[nodiscard]] std::uint64_t narrow_debt(std::uint64_t before) const noexcept {
        const std::uint64_t product = before * times;
        const std::uint64_t after = over == 1 ? product : (product + over - 1) / over;
        return after < most ? after : most;
    }
    [[nodiscard]] std::uint64_t wide_debt(std::uint64_t before) const noexcept;
};

}  // namespace sluice

#pragma once
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/engine/burst/limit_check.hpp"
#include "lib/engine/check/check_limit.hpp"

#include <cstdint>

// The numbers that a check is made by.
namespace sluice {

// The numbers that the key has in place of the limit's, if any: noted by apply_policy().
[[nodiscard]] inline OwnNumbers own_numbers(const LimitCheck& check,
                                            const LoadedLimit& limit) noexcept {
    return limit.overridden && check.own != nullptr
               ? OwnNumbers{&check.own->numbers, check.own->until}
               : OwnNumbers{};
}

// The limit's at an aggregation level; nullptr: it does not coarsen so far.
[[nodiscard]] inline const AnyLimit* numbers_of(const LoadedLimit& limit,
                                                std::uint8_t aggregation_level) noexcept {
    return numbers_at(limit.limit, limit.coarser, aggregation_level);
}

}  // namespace sluice

#pragma once
#include "control/simulation/course.hpp"
#include "lib/bucket/meter/any_limit.hpp"

#include <cstdint>

namespace sluice {

// The length of the windows that the limit counts in; nullopt: a bucket, which has none.
[[nodiscard]] std::optional<Nanoseconds> window_of(const AnyLimit& limit) noexcept;

// The most units that the limit admits in any stretch of course.window, whatever comes: as its text
// in `check` says, with the numbers put in. Of days of a zone within the run; `length` is its own.
[[nodiscard]] std::uint64_t promised_most(const AnyLimit& limit, const Course& course,
                                          Nanoseconds length) noexcept;

}  // namespace sluice

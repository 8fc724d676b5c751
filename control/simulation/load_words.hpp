#pragma once
#include "control/simulation/load.hpp"
#include "control/simulation/run_words.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kMostHits = 10'000;

// The names of all loads; the last one is that of a capture.
[[nodiscard]] std::span<const std::string_view> load_names() noexcept;

// True if the load ends without a duration.
[[nodiscard]] bool ends_by_itself(std::string_view load) noexcept;

// Any load but a capture. Errors: BadSyntax, and OutOfRange for a number that does not fit.
[[nodiscard]] Result<Load> draw_load(const RunWords& words, Per per, Spelling spelling);

}  // namespace sluice

#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/json.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace sluice {

// Counters of sluiced, and those of some seconds earlier; `before` nullptr: nothing is known of
// then, and there are no rates.
struct Sample {
    const Json& now;
    const Json* before = nullptr;
    double seconds = 0;

    [[nodiscard]] bool has_rates() const noexcept { return before != nullptr; }
};

// 0 where there is no object, or it has no such member.
[[nodiscard]] std::uint64_t count_in(const Json* object, const std::string& member);

// An item of a list in the sample before: the one that is the same in these members; nullptr: there
// is none.
[[nodiscard]] const Json* item_before(const Sample& sample, const char* list, const Json& item,
                                      std::initializer_list<const char*> same);

// How fast a counter grew, per second, and one of bytes, in bits; empty where it has shrunk, since
// who counts has begun anew.
[[nodiscard]] std::string rate_text(std::uint64_t now, std::uint64_t before, double seconds);
[[nodiscard]] std::string bit_rate_of(std::uint64_t now, std::uint64_t before, double seconds);

// The answer to GET `target` once, or each second with what it was before. `choose` takes out of
// an answer what is not asked for; false: it has told what is wrong, and the command is refused.
ExitCode show_with_rates(
    const Options& options, const std::string& target,
    const std::function<std::string(const Sample&)>& as_text,
    const std::function<bool(Json&)>& choose = [](Json&) { return true; });

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

struct LimitSummary;

// The most units that a limit admits of one key in any window of one length, wherever it begins.
struct Promise {
    std::uint64_t most = 0;
    Nanoseconds window{};  // 0: at once, of open connections

    [[nodiscard]] bool operator==(const Promise&) const noexcept = default;
};

// `written`: the rate of a bucket as people wrote it, whose period is the window; otherwise the
// window is the limit's own. nullopt: no one number says it, as of colour meters.
[[nodiscard]] std::optional<Promise> promise_of(const AnyLimit& limit,
                                                const std::optional<Rate>& written);

// "the most in any minute: 350", with what the limit's cost and scope add. Empty: there is no such
// number.
[[nodiscard]] std::string promise_text(const LimitSummary& limit);

}  // namespace sluice

#pragma once
#include "lib/rules/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// What the action `tag` writes; nullopt leaves the field as it came.
struct TagValues {
    std::optional<std::uint8_t> dscp;
    std::optional<std::uint8_t> pcp;

    [[nodiscard]] bool operator==(const TagValues&) const noexcept = default;
};

// What is done with a packet: a verdict and its parameters. One row of RuleSet::actions; rules and
// decisions name it by index, so an action may grow without making a decision larger.
struct Action {
    Verdict verdict = Verdict::Drop;
    TagValues tag;  // of Verdict::Tag; empty for the others

    [[nodiscard]] bool operator==(const Action&) const noexcept = default;
};

using ActionIndex = std::uint16_t;
inline constexpr std::size_t kMaxActions = 65'536;

// The first two rows of every table: decisions that no rule makes name these.
inline constexpr ActionIndex kPassAction = 0;
inline constexpr ActionIndex kDropAction = 1;
inline constexpr Action kPass{.verdict = Verdict::Pass, .tag = {}};
inline constexpr Action kDrop{.verdict = Verdict::Drop, .tag = {}};

}  // namespace sluice

#pragma once
#include "lib/base/longest_delay.hpp"
#include "lib/base/units.hpp"
#include "lib/rules/verdict.hpp"

#include <compare>
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

// The action `shape`: what has no room departs when there is, at most so much later; of what would
// depart later than that, or has no room to wait, `overflow` says what becomes.
struct ShapeValues {
    Nanoseconds max_delay{};
    Verdict overflow = Verdict::Drop;  // or Pass

    [[nodiscard]] auto operator<=>(const ShapeValues&) const noexcept = default;
};

// What is done with a packet: a verdict and its parameters. One row of RuleSet::actions; rules and
// decisions name it by index, so an action may grow without making a decision larger.
struct Action {
    Verdict verdict = Verdict::Drop;
    TagValues tag;  // of Verdict::Tag; empty for the others
    ShapeValues shape{};  // of Verdict::Shape

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

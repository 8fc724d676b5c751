#pragma once
#include "lib/base/longest_delay.hpp"
#include "lib/base/units.hpp"
#include "lib/packet/verdict.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// Fields that the action `tag` writes; nullopt leaves the field as it came.
struct TagValues {
    std::optional<std::uint8_t> dscp;
    std::optional<std::uint8_t> pcp;

    [[nodiscard]] auto operator<=>(const TagValues&) const noexcept = default;
};

using ActionIndex = std::uint16_t;
inline constexpr std::size_t kMaxActions = 65'536;

// The first two rows of every table: decisions that no rule makes name these.
inline constexpr ActionIndex kPassAction = 0;
inline constexpr ActionIndex kDropAction = 1;

inline constexpr std::uint32_t kDefaultSlip = 2;
inline constexpr std::uint32_t kMaxSlip = 1'000'000;

// How `reply`, `decoy` and `dns_truncate` answer. What cannot be answered goes by `then`.
struct AnswerTerms {
    // The response to a request of HTTP/1: a row of RuleSet::responses, counted from 1 on. 0: of
    // `dns_truncate`, which answers queries alone, with TC=1.
    std::uint16_t response = 0;
    // One of so many refused queries over UDP of a rule is answered on a worker; 0: none.
    std::uint32_t slip = kDefaultSlip;
    ActionIndex then = kDropAction;  // drops or resets
    // A ClientHello gets a TLS alert in clear; else its connection is reset.
    bool tls_alert = false;

    [[nodiscard]] auto operator<=>(const AnswerTerms&) const noexcept = default;
};

// The action `shape`: what has no room departs when there is, at most so much later; of what would
// depart later than that, or has no room to wait, `overflow` says what becomes.
struct ShapeValues {
    Nanoseconds max_delay{};
    Verdict overflow = Verdict::Drop;  // or Pass

    [[nodiscard]] auto operator<=>(const ShapeValues&) const noexcept = default;
};

// The treatment of a packet: a verdict and its parameters. One row of RuleSet::actions; rules and
// decisions name it by index, so an action may grow without making a decision larger.
struct Action {
    Verdict verdict = Verdict::Drop;
    TagValues tag{};       // of Verdict::Tag; empty for the others
    AnswerTerms answer{};  // of Verdict::Reply and Verdict::Decoy; as it is made for the others
    ShapeValues shape{};   // of Verdict::Shape; as it is made for the others

    [[nodiscard]] auto operator<=>(const Action&) const noexcept = default;
};

inline constexpr Action kPass{.verdict = Verdict::Pass};
inline constexpr Action kDrop{.verdict = Verdict::Drop};

}  // namespace sluice

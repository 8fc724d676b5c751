#pragma once
#include "lib/rules/edge_event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A notice to a webhook. Ban: a ban begins. Limit: a limit refuses a key that none refused before.
// Over: the rule has refused nothing for a while, after one of these. State: what keys owe will not
// outlive the dataplane.
enum class NotifyEvent : std::uint8_t { Ban, Limit, Over, State };
inline constexpr auto kNotifyEventNames =
    std::to_array<std::string_view>({"ban", "limit", "over", "state"});
inline constexpr std::size_t kNotifyEventCount = kNotifyEventNames.size();

// `notify` of a rule, for the process that sends notices: workers know nothing of it.
struct NotifyTerms {
    std::string to;  // a webhook of sluice.yaml
    std::array<bool, kNotifyEventCount> on{};

    [[nodiscard]] bool has(NotifyEvent event) const noexcept {
        return on[static_cast<std::size_t>(event)];
    }
    [[nodiscard]] bool operator==(const NotifyTerms&) const = default;
};

// Names of the webhooks that rules may name; nullopt: no sluice.yaml says. `required`: another name
// is an error, and else a warning. `required_of`: an error in this rule alone; empty: in all.
struct NotifyTargets {
    std::optional<std::vector<std::string>> names;
    bool required = true;
    std::string required_of{};

    [[nodiscard]] bool is_required_of(std::string_view rule) const {
        return required && (required_of.empty() || required_of == rule);
    }
    [[nodiscard]] bool have(std::string_view name) const {
        return names && std::find(names->begin(), names->end(), name) != names->end();
    }
};

// "ops: ban, limit, over, state"
[[nodiscard]] std::string text_of(const NotifyTerms& terms);

// The events of keys that notices are made of.
[[nodiscard]] EdgeEventSet events_for(const NotifyTerms& terms, bool bans) noexcept;

}  // namespace sluice

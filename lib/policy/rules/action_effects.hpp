#pragma once
#include "lib/rules/rule_set.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The effect of an action on packets of one protocol, in words.
struct ActionEffect {
    std::string_view
        protocol;      // "http" (HTTP/1 in clear), "tls", "quic", "dns" (over UDP), "other"
    std::string does;  // "429", "reset", "dropped", ...

    [[nodiscard]] bool operator==(const ActionEffect&) const = default;
};

// One row, of protocol "all", where the action makes no difference between them.
[[nodiscard]] std::vector<ActionEffect> effects_of(ActionIndex action, const RuleSet& set);

}  // namespace sluice

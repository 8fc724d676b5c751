#pragma once
#include "control/daemon/keeper/live_rules.hpp"

#include <optional>

namespace sluice {

// Brings the lists and databases of the rules in force up to their files.
class ListReload {
public:
    explicit ListReload(LiveRules& rules) noexcept : rules_{rules} {}

    // nullopt: the files hold what is in force. What cannot be read or does not compile leaves the
    // old ones in force, and the view says why.
    [[nodiscard]] std::optional<RuleChange> run();

private:
    [[nodiscard]] RuleChange push(StoredRules next, Compiled compiled);

    LiveRules& rules_;
};

}  // namespace sluice

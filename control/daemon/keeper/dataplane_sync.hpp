#pragma once
#include "control/daemon/keeper/live_rules.hpp"

#include <optional>

namespace sluice {

// Makes the rules that are kept and those that a dataplane runs the same again.
class DataplaneSync {
public:
    explicit DataplaneSync(LiveRules& rules) noexcept : rules_{rules} {}

    // A dataplane has just been connected: go on with what it runs, or bring it the rules in force.
    // False: it could not be done now, and is worth another try.
    [[nodiscard]] bool meet(const Welcome& dataplane);

    // The dataplane that is connected shares limits at another interval now: the view shows what it
    // makes of the rules, and where other limits are local, merged or at owners, it is brought them
    // anew. False: it has not taken them, and is worth another meeting.
    [[nodiscard]] bool follow_box();

    // With `changing` held. Sends a set, which is the kept one from then on.
    [[nodiscard]] std::optional<Refusal> bring(StoredRules rules, const RuleSet& set);
    // With `changing` held. False: worth another try.
    [[nodiscard]] bool bring_kept();

private:
    [[nodiscard]] bool show_for(const RssMapping& box);
    [[nodiscard]] bool adopt(const Welcome& dataplane);
    void follow_revert();

    LiveRules& rules_;
    RssMapping shown_for_ = usual_rss_mapping();  // the box whose local and merged limits are shown
};

}  // namespace sluice

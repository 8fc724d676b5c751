#include "control/daemon/rule_keeper.hpp"

#include "control/list_folder.hpp"
#include "lib/policy/services/stance_text.hpp"
#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>

namespace sluice {
namespace {

void warn_of_lost_lists(const StoredRules& rules) {
    for (const auto& [path, text] : rules.lists) {
        if (rules.sent.contains(path)) {
            continue;  // its file is another machine's
        }
        std::error_code error;
        const std::string whole = list_path(rules.directory, path);
        if (!std::filesystem::exists(whole, error)) {
            spdlog::warn("the list {} is gone; going on with the copy of it that was kept", whole);
        }
    }
}

// Rules anywhere may hold less than they did under an earlier version that was content with them.
void warn_of_rules_anywhere(const CompiledRules& compiled) {
    const std::vector<RuleAnywhere> weak = rules_anywhere(compiled.rules);
    if (const std::string ids = over_none_text(weak); !ids.empty()) {
        spdlog::warn("rules over no service, which connections that cannot be read go around: {}",
                     ids);
    }
    if (const std::string rules = beyond_text(weak); !rules.empty()) {
        spdlog::warn(
            "rules beyond their services, where connections that cannot be read go around them: {}",
            rules);
    }
}

}  // namespace

RuleKeeper::RuleKeeper(Store store, DataplaneLink& link, Audit& audit, BootClock clock,
                       WallClock now)
    : rules_{std::move(store), link, audit, std::move(clock), std::move(now)} {
    load();
    if (rules_.applied.current() == nullptr) {
        return;
    }
    warn_of_lost_lists(*rules_.applied.current());
    Compiled compiled = rules_.applied.compile_current(link.rss_mapping());
    if (!compiled.rules) {
        spdlog::error("the stored rules do not compile any more; the dataplane keeps what it has");
    } else {
        warn_of_rules_anywhere(*compiled.rules);
        rules_.is_behind = !rules_.applied.current()->tenants.empty() &&
                           generation_of(compiled.rules->set) != rules_.applied.generation();
    }
    rules_.board.show(rules_.applied, compiled.rules ? &*compiled.rules : nullptr);
    if (!compiled.rules) {
        rules_.board.set_problem(compiled.problems);
    }
}

// Loads what the last sluiced left, wherever it ended.
void RuleKeeper::load() {
    rules_.board.count_put_aside(rules_.applied.load());
    if (rules_.applied.trial_is_over()) {
        rules_.end_trial("was not confirmed in time");
    } else if (rules_.applied.trial()) {
        spdlog::info("generation {:016x} is still to be confirmed", rules_.applied.generation());
    }
}

}  // namespace sluice

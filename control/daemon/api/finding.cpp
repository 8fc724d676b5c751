#include "control/daemon/api/finding.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool has_something(const Json& bucket) {
    return bucket.at("bucket").get<bool>() || bucket.at("carried").get<bool>() ||
           bucket.at("step") != 0 || bucket.at("overridden").get<bool>() ||
           bucket.at("given_wider") != 0;
}

}  // namespace

Json finding_of(const RuleSummary& rule, std::string_view what) {
    return {{"what", what},
            {"rule", rule.id},
            {"kind", kRuleKindNames[static_cast<std::size_t>(rule.kind)]},
            {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]}};
}

Json counting_of(const RuleSummary& rule, std::size_t tier, Json key, std::string form) {
    Json finding = finding_of(rule, "counts");
    finding["tier"] = tier;
    finding["key"] = std::move(key);
    finding["form"] = std::move(form);
    return finding;
}

MetRules met_rules(const std::vector<RuleSummary>& rules,
                   const std::function<bool(const RuleSummary&)>& meets,
                   const std::function<bool()>& is_late) {
    MetRules met;
    for (const RuleSummary& rule : rules) {
        if (is_late()) {
            met.cut = true;
            break;
        }
        if (meets(rule)) {
            met.ids.push_back(rule.id);
        }
    }
    return met;
}

bool is_live(const Json& key) {
    if (key.at("banned").get<bool>() || key.at("exempt").get<bool>() || !key.at("set").empty() ||
        key.contains("rows") || key.contains("file_ban") || key.contains("networks")) {
        return true;
    }
    for (const Json& limit : key.at("limits")) {
        if (std::ranges::any_of(limit.at("workers"), has_something)) {
            return true;
        }
    }
    const auto ban = key.find("ban");
    return ban != key.end() && std::ranges::any_of(ban->at("workers"), [](const Json& worker) {
               return worker.at("refusals") != 0 || worker.at("left_ns") != 0;
           });
}

}  // namespace sluice

#include "lib/policy/rules/shape_check.hpp"

#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>

namespace sluice {

void check_shape(const MapReader& rule, const ActionText& on_exceed,
                 std::span<const MeteredLimit> limits, const ReadContext& context) {
    const bool wait = std::all_of(limits.begin(), limits.end(), [](const MeteredLimit& limit) {
        return gcra_of(limit.limit) != nullptr;
    });
    if (on_exceed.action.verdict == Verdict::Shape && !wait) {
        context.problems.error(rule.find("on_exceed")->at,
                               "the action shape needs limits that say when a packet may depart: "
                               "`token_bucket` or `leaky_bucket`");
    }
}

void refuse_shape(const ActionText& action, const std::string& what, const ReadContext& context) {
    if (action.action.verdict == Verdict::Shape) {
        context.problems.error(action.at,
                               what + " has no departures: `shape` stands in `on_exceed` alone");
    }
}

}  // namespace sluice

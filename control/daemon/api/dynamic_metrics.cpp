#include "control/daemon/api/dynamic_metrics.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string head_of_family(std::string_view name, std::string_view help, std::string_view type) {
    return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

std::string dynamic_metrics(const DynamicCount& count, const RefusedSets& refused) {
    constexpr std::string_view kDynamicKeysName = "sluice_rule_dynamic_keys";
    constexpr std::string_view kRefusedSetsName = "sluice_rule_dynamic_refused_total";
    if (count.by_rule.empty()) {
        return "";
    }
    std::string text = head_of_family(
        kDynamicKeysName, "Numbers of single keys that are set through `dynamic`.", "gauge");
    for (const auto& [rule, keys] : count.by_rule) {
        text += fmt::format("{}{{rule=\"{}\"}} {}\n", kDynamicKeysName, rule, keys);
    }
    text += head_of_family(kRefusedSetsName,
                           "Calls that would have set such numbers, and were refused.", "counter");
    for (const auto& [rule, keys] : count.by_rule) {
        text += fmt::format("{}{{rule=\"{}\"}} {}\n", kRefusedSetsName, rule, refused.of(rule));
    }
    return text;
}

}  // namespace sluice

#include "lib/policy/rules/rule_size.hpp"

#include "lib/policy/compile.hpp"

#include <vector>

namespace sluice {
namespace {

// The keys as they are sent, and the place of each in the table that packets are looked up in.
std::uint64_t size_of_overrides(const Overrides& overrides) {
    constexpr std::uint64_t kPlaceOfKey = 32;
    std::uint64_t size = overrides.numbers.size() * sizeof(LimitOverride) +
                         overrides.plans.size() * sizeof(OverridePlan);
    for (const auto* all : {&overrides.keys, &overrides.networks}) {
        for (const KeyOverrides& keys : *all) {
            size +=
                keys.bytes.size() + keys.rows.size() * (sizeof(KeyOverrides::Row) + kPlaceOfKey);
        }
    }
    constexpr std::uint64_t kPlaceOfRange = 96;  // two steps, and their part of a table
    for (const std::vector<OverrideRange>& ranges : overrides.ranges) {
        size += ranges.size() * (sizeof(OverrideRange) + kPlaceOfRange);
    }
    return size;
}

}  // namespace

std::uint64_t size_of(const Rule& rule) {
    std::uint64_t keys = 0;
    for (const GroupingKey& key : rule.keys) {
        keys += sizeof(GroupingKey) + key.size() * sizeof(KeyPart);
    }
    for (const MeteredLimit& limit : rule.limits) {
        keys += limit.of.size() * sizeof(KeyPart);
    }
    return sizeof(Rule) + rule.id.size() + keys +
           (rule.limits.size() + rule.ban.boxes.size()) * sizeof(MeteredLimit) +
           (rule.overrides != nullptr ? size_of_overrides(*rule.overrides) : 0);
}

void share_classifier_memory(CompiledRules& compiled) {
    const Classifier& classifier = compiled.set.classifier;
    const std::vector<std::uint32_t>& rule_of = classifier.parts().rule_of;
    if (rule_of.empty()) {
        return;
    }
    std::vector<std::uint64_t> clauses(compiled.set.rules.size());
    for (const std::uint32_t rule : rule_of) {
        ++clauses[rule];
    }
    std::size_t rule = 0;
    for (RuleSummary& summary : compiled.rules) {
        if (summary.mode != Mode::Off) {
            summary.memory += classifier.bytes() * clauses[rule++] / rule_of.size();
        }
    }
}

}  // namespace sluice

#include "lib/rules/load/memory_bound.hpp"

#include "lib/match/memory_bound.hpp"
#include "lib/respond/answer/tcp_answer.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/override_ranges.hpp"

#include <array>

namespace sluice {
namespace {

// A limit is in the loaded set, in the slots given out, in those of the set before and in a copy of
// each while the next is made; its numbers and those before take as much again.
constexpr std::uint64_t kCopies = 6;
constexpr std::uint64_t kNumbersOfLimit = 4 * sizeof(AnyLimit);  // by aggregation level
constexpr std::uint64_t kPerLimit =
    kCopies * (sizeof(LoadedLimit) + kNumbersOfLimit + 96) +
    2 * kGrowth * (sizeof(SlotRow) + sizeof(LimitPlan) + sizeof(KeySchema));

// By path: a copy of the list and its hash table, at most half full and a power of two.
constexpr std::uint64_t kPerPathCost = sizeof(PathCost) + 32 + 4 * 32;

// Texts that fit in one, its pieces, and the copy that it is compiled from.
constexpr std::uint64_t kPerResponse = 3 * kMostResponseBytes + 2048;

std::uint64_t key_bound(const GroupingKey& key) {
    return 128 + key.size() * (2 * sizeof(KeyPart) + kGrowth * sizeof(KeySchemaPart));
}

// Two steps each, and a level with its node in the tree of levels known.
std::uint64_t range_bound(const std::vector<OverrideRange>& ranges) {
    std::array<std::uint64_t, 2> steps{1, 1};
    for (const OverrideRange& range : ranges) {
        steps[range.version == 4 ? 0 : 1] += 2;
    }
    return ranges.size() * (kGrowth * sizeof(OverrideRanges::Level) + 96) +
           kGrowth * (steps[0] * sizeof(Step<std::uint64_t>) + steps[1] * sizeof(Step<Wide>)) +
           memory_bound_of_tables(steps[0], steps[1]) + 8192;
}

// An override lies in a line of two, of a table that is rounded up to huge pages.
std::uint64_t override_bound(const Rule& rule) {
    std::uint64_t bytes = 0;
    for (const auto* all : {&rule.overrides->keys, &rule.overrides->networks}) {
        for (const KeyOverrides& keys : *all) {
            bytes += keys.rows.size() * 32 + 8192;
            bytes += keys.rows.size() * 32 >= std::size_t{2} << 20 ? std::size_t{4} << 20 : 0;
        }
    }
    for (const std::vector<OverrideRange>& ranges : rule.overrides->ranges) {
        bytes += ranges.empty() ? 0 : range_bound(ranges);
    }
    return bytes;
}

std::uint64_t rule_bound(const Rule& rule) {
    std::uint64_t bytes =
        kGrowth * (sizeof(LoadedRule) + sizeof(RulePlan)) + 4 * rule.id.size() + 512;
    for (const GroupingKey& key : read_keys(rule)) {
        bytes += 2 * key_bound(key);
    }
    for_each_state(
        rule, [&](const MeteredLimit& limit) { bytes += kPerLimit + kCopies * limit.name.size(); });
    for (const PathCost& cost : rule.path_costs) {
        bytes += kGrowth * (kPerPathCost + 2 * cost.prefix.size());
    }
    return bytes + (rule.overrides == nullptr ? 0 : override_bound(rule));
}

// A copy of it, and the look-up of its proxies, made from two steps for each network.
std::uint64_t service_bound(const Service& service) {
    AddressSetParts steps;
    steps.steps.resize(service.proxies.empty() ? 0 : 2 * service.proxies.size() + 1);
    steps.v6_steps.resize(steps.steps.size());
    return kGrowth * (sizeof(Service) + sizeof(AddressSet)) + service.id.size() + 64 +
           kGrowth * service.proxies.size() * (sizeof(IpPrefix) + 2 * sizeof(Step<Wide>)) +
           (service.proxies.empty() ? 0 : memory_bound(steps));
}

}  // namespace

std::uint64_t memory_bound(const RuleSet& set, const ClassifiersParts& parts, std::size_t workers) {
    // Rows and slots that are free, and lists of them.
    std::uint64_t bytes = std::uint64_t{1} << 20;
    for (const Rule& rule : set.rules) {
        bytes += 2 * rule_bound(rule);
    }
    for (const ResponseSpec& response : set.responses) {
        bytes += kGrowth * (sizeof(ResponseSpec) + sizeof(MadeResponse)) + kPerResponse +
                 response.policy.size();
    }
    bytes += set.origins == nullptr ? 0 : memory_bound(*set.origins);
    bytes += set.clients == nullptr ? 0 : memory_bound(set.clients->proxies);
    bytes += set.suffixes == nullptr ? 0 : memory_bound(*set.suffixes);
    for (const Service& service : set.services) {
        bytes += 2 * service_bound(service);
    }
    return bytes + memory_bound(parts.rules) + memory_bound(parts.services) +
           2 * workers * scratch_bound(parts.rules.texts);
}

std::uint64_t memory_bound_of_former(std::size_t limits) {
    return 2 * limits * kPerLimit;
}

}  // namespace sluice

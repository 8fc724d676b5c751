#pragma once
#include "lib/policy/limits/limit_list_reader.hpp"
#include "lib/policy/rules/ban_reader.hpp"

#include <string>
#include <vector>

namespace sluice {

// The keys that a rule counts by, and its limits under each key.
struct ReadTiers {
    std::vector<GroupingKey> keys;
    std::string text;  // "ip.src, l4.dport"; of tiers one after the other: "ip.src; ip.dst"
    ReadLimits limits;
    std::vector<BanKey> ban_keys;  // of each key
    bool whole = true;             // every key is built
};

// `key` and `limits` of a rule, or its `tiers`.
[[nodiscard]] ReadTiers read_tiers(const MapReader& rule, const LimitOwner& owner,
                                   NamedLimits& named, const ReadContext& context);

}  // namespace sluice

#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/key_reader.hpp"
#include "lib/policy/limit_reader.hpp"
#include "lib/policy/named_limits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Whose limits they are: what their state belongs to, beside their own name.
struct LimitOwner {
    std::string_view rule;
    const KeyText& key;
    std::optional<PerWord> per;
    std::uint32_t cost = 1;
    std::string position = "";  // before the number of an unnamed limit: `t2.` in tiers
};

struct ReadLimits {
    std::vector<MeteredLimit> limits;  // those that are built
    std::vector<LimitSummary> summaries;
};

// `limits` of a rule or a tier: names and limits written out.
void read_limit_list(const MapReader& map, const LimitOwner& owner, NamedLimits& named,
                     const ReadContext& context, ReadLimits& limits);

}  // namespace sluice

#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/keys/key_reader.hpp"
#include "lib/policy/limits/candidate_reader.hpp"
#include "lib/policy/limits/limit_reader.hpp"
#include "lib/policy/limits/named_limits.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The settings that all limits of a rule have in common.
struct LimitOwner {
    std::string_view rule;
    std::optional<Per> per;
    std::uint32_t cost = 1;                 // the largest of any thing counted
    bool by_path = false;                   // most cost less
    std::uint64_t max_unsynced = 0;         // as given; 0: derived
    bool overridden = false;                // keys have numbers of their own
    const LimitChanges* changes = nullptr;  // what is other in them, for a candidate
    ScopeText scope{};                      // the boxes that share them, where they say nothing
    bool is_tenants = false;                // so that no other box has a part in them
};

// The key they are counted by.
struct LimitTier {
    const KeyText& key;
    std::uint8_t index = 0;     // of the key in the rule
    std::string position = "";  // before the number of an unnamed limit: `t2.` in tiers
};

struct ReadLimits {
    std::vector<MeteredLimit> limits;  // those that are built
    std::vector<LimitSummary> summaries;
    std::set<std::uint64_t> identities;  // of all of them
};

// Reads `limits` of a rule or a tier: names and limits written out.
class LimitListReader {
public:
    LimitListReader(const LimitOwner& owner, NamedLimits& named,
                    const ReadContext& context) noexcept
        : owner_{owner}, named_{named}, context_{context} {}

    void read(const MapReader& map, const LimitTier& tier, ReadLimits& limits) const;
    // One of them: a name, or a limit written out, which is called `name`.
    void read_one(const YamlNode& item, const std::string& name, const LimitTier& tier,
                  ReadLimits& limits) const;

private:
    LimitOwner owner_;
    NamedLimits& named_;
    const ReadContext& context_;
};

}  // namespace sluice

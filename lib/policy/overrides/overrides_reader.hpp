#pragma once
#include "lib/policy/keys/key_setting.hpp"
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/overrides/banned_keys.hpp"
#include "lib/policy/overrides/named_ranges.hpp"
#include "lib/policy/overrides/named_rows.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <memory>
#include <string>

namespace sluice {

class OverrideCache;
struct DynamicTerms;

// Settings of single keys of a rule from outside its own text.
struct OverrideSources {
    const ListReader* files = nullptr;      // nullptr: none can be read
    const KeySettings* set = nullptr;       // at run time, of all rules; nullptr: nothing
    Position rule;                          // where the rule stands
    OverrideCache* cache = nullptr;         // of files that were read before; nullptr: none was
    const DynamicTerms* dynamic = nullptr;  // that hold what was set; nullptr: the rule has none
};

struct ReadOverrides {
    std::shared_ptr<const Overrides> overrides;   // nullptr: none, or what is wrong was reported
    std::shared_ptr<const BannedKeys> banned{};   // by files; nullptr: none
    std::shared_ptr<const NamedRanges> ranges{};  // nullptr: none
    std::shared_ptr<const NamedRows> named{};     // nullptr: none of single keys
    std::string text{};  // "3 keys, sum 0123456789abcdef": another when anything is another
};

// Reads `overrides` of a rule, its file included: {file: FILE, inline: [{key: [part, ...], limits:
// {NAME: {rate, burst, count}}, exempt, until}]}, and adds what was set at run time. `node` is
// nullptr where the rule has none. The rule has its keys and limits already. A file that is missing
// is a warning, or an error where the context is strict.
[[nodiscard]] ReadOverrides read_overrides(const YamlNode* node, const Rule& rule,
                                           const OverrideSources& sources,
                                           const ReadContext& context);

// Only what is wrong inside the rule file itself, for a rule whose keys or limits are not built.
void check_overrides(const YamlNode& node, const ReadContext& context);

}  // namespace sluice

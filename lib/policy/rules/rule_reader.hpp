#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/keys/client_ip_reader.hpp"
#include "lib/policy/limits/named_limits.hpp"
#include "lib/policy/lists/named_lists.hpp"
#include "lib/policy/rules/action_pool.hpp"
#include "lib/policy/rules/on_full_reader.hpp"
#include "lib/policy/tenants/tenant_scope.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

namespace sluice {

class Databases;
class SuffixFile;
class OverrideCache;

// `defaults` of the file.
struct RuleDefaults {
    Mode mode = Mode::Monitor;
    MissingKey missing_key = MissingKey::Skip;
    WhenFull on_full;
    ClusterScope scope = ClusterScope::Box;
    OwnerDown owner_down = OwnerDown::LocalShare;
};
[[nodiscard]] RuleDefaults read_defaults(const YamlNode& node, const ReadContext& context);

// The surroundings that a rule is read with.
struct FileContext {
    const LineIndex& lines;
    Problems& problems;
    Purpose purpose = Purpose::Check;
    const ModeOverrides& modes;
    RuleDefaults defaults;
    NamedLimits& limits;
    NamedLists& lists;
    Databases& databases;
    ActionPool& actions;
    TextNames& text_names;  // that rules have named so far
    SuffixFile& suffixes;
    const ListReader* files = nullptr;       // nullptr: none can be read
    const KeySettings* keys = nullptr;       // set at run time; nullptr: none
    OverrideCache* overrides = nullptr;      // of files that were read before; nullptr: none
    const NotifyTargets* targets = nullptr;  // as in RuleText
    ClientIp client_ip{};
    const TenantScope* tenant = nullptr;  // whose rules they are; nullptr: the operator's
};

// For reading a rule, or what is like one: one that `acts` is enforced where the file is.
[[nodiscard]] ReadContext context_of(const FileContext& file, bool acts);

struct ReadRule {
    Rule rule;  // without its condition
    Expression when;
    bool everything = true;      // no `when`
    bool when_is_whole = false;  // it has been read, and all of it is built
    bool asks_client = false;    // its condition tests client.ip
    RuleSummary summary;
};

[[nodiscard]] ReadRule read_rule(const YamlNode& node, const FileContext& file);

// A rule's candidates: rules with the same condition and keys that only count, called `ID.NAME`.
[[nodiscard]] std::vector<ReadRule> read_candidates_of(const YamlNode& node,
                                                       const FileContext& file);

}  // namespace sluice

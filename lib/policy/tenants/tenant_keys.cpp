#include "lib/policy/tenants/tenant_keys.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace sluice {
namespace {

// A key that comes into the language is nobody's of the tenants until it is decided here.
template <std::size_t kKnown, std::size_t kDecided>
constexpr bool are_decided(const std::array<KeyRow, kKnown>& known,
                           const std::array<TenantKey, kDecided>& decided) {
    return std::ranges::all_of(known, [&](const KeyRow& key) {
        return std::ranges::find(decided, key.name, &TenantKey::name) != decided.end();
    });
}
static_assert(are_decided(rule_keys::kTop, kTenantTopKeys));
static_assert(are_decided(rule_keys::kRule, kTenantRuleKeys));
static_assert(are_decided(rule_keys::kOverrides, kTenantOverrideKeys));

class KeyChecker {
public:
    KeyChecker(const TenantOptions& tenant, Problems& problems)
        : tenant_{tenant}, problems_{problems} {}

    void check(const YamlNode& root) {
        check_keys(root, kTenantTopKeys, "");
        if (const YamlNode* limits = value_of(root, "limits"); is_map(limits)) {
            for (const YamlEntry& limit : limits->entries) {
                check_limit(limit.value);
            }
        }
        const YamlNode* rules = value_of(root, "rules");
        if (rules == nullptr || !rules->is_list()) {
            return;
        }
        std::size_t count = 0;
        for (const YamlNode& rule : rules->items) {
            check_rule(rule);
            const YamlNode* candidates = rule.is_map() ? value_of(rule, "candidates") : nullptr;
            count += 1 + (candidates == nullptr ? 0 : candidates->items.size());
        }
        if (count > tenant_.rules) {
            problems_.error(rules->at, "the tenant " + tenant_.name + " has " +
                                           std::to_string(count) +
                                           " rules, with their candidates, and may have " +
                                           std::to_string(tenant_.rules));
        }
    }

private:
    static bool is_map(const YamlNode* node) { return node != nullptr && node->is_map(); }

    void refuse(Position at, const std::string& what, std::string_view why) {
        problems_.error(at, what + " is not for tenants: it " + std::string{why});
    }

    // A name that no row has is told by who reads the map.
    void check_keys(const YamlNode& map, std::span<const TenantKey> rows,
                    const std::string& within) {
        for (const YamlEntry& entry : map.entries) {
            const auto row = std::ranges::find(rows, entry.key.text, &TenantKey::name);
            if (row != rows.end() && !row->refusal.empty()) {
                refuse(entry.key.at, "`" + within + entry.key.text + "`", row->refusal);
            }
        }
    }
    // A word of the language without a row is refused too: none of them is a tenant's by itself.
    void check_word(const YamlNode* word, std::span<const TenantKey> rows,
                    const std::string& what) {
        if (word == nullptr || !word->is_scalar()) {
            return;
        }
        const auto row = std::ranges::find(rows, word->text, &TenantKey::name);
        if (row == rows.end()) {
            problems_.error(word->at, what + " `" + word->text + "` is none of a tenant's");
        } else if (!row->refusal.empty()) {
            refuse(word->at, what + " " + word->text, row->refusal);
        }
    }

    void check_rule(const YamlNode& rule) {
        check_keys(rule, kTenantRuleKeys, "");
        check_action(value_of(rule, "on_exceed"));
        check_on_match(value_of(rule, "on_match"));
        check_limits(value_of(rule, "limits"));
        if (const YamlNode* tiers = value_of(rule, "tiers")) {
            for (const YamlNode& tier : tiers->items) {
                check_limits(value_of(tier, "limits"));
            }
        }
        check_candidates(value_of(rule, "candidates"));
        if (const YamlNode* overrides = value_of(rule, "overrides"); is_map(overrides)) {
            check_keys(*overrides, kTenantOverrideKeys, "overrides: ");
        }
        if (const YamlNode* ban = value_of(rule, "ban"); is_map(ban)) {
            check_action(ban);
            check_ban(*ban);
        }
    }

    void check_limits(const YamlNode* limits) {
        if (limits != nullptr) {
            for (const YamlNode& limit : limits->items) {
                check_limit(limit);
            }
        }
    }
    void check_limit(const YamlNode& limit) {
        if (limit.is_map()) {
            check_word(value_of(limit, "algorithm"), kTenantAlgorithms, "the algorithm");
        }
    }
    // A candidate may give a limit another algorithm.
    void check_candidates(const YamlNode* candidates) {
        for (std::size_t i = 0; candidates != nullptr && i < candidates->items.size(); ++i) {
            const YamlNode* limits = value_of(candidates->items[i], "limits");
            for (std::size_t j = 0; limits != nullptr && j < limits->entries.size(); ++j) {
                check_limit(limits->entries[j].value);
            }
        }
    }
    void check_action(const YamlNode* action) {
        if (is_map(action)) {
            check_word(value_of(*action, "action"), kTenantActions, "the action");
        }
    }

    // A packet that is let on or answered at once is past the operator's limits, whose rules stand
    // first.
    void check_on_match(const YamlNode* on_match) {
        constexpr std::string_view kPast = "would let packets past the operator's limits";
        constexpr std::string_view kAnswers =
            "would answer packets past the operator's limits: a limit's `on_exceed` may";
        if (on_match == nullptr) {
            return;
        }
        check_action(on_match);
        const YamlNode* word = is_map(on_match) ? value_of(*on_match, "action") : on_match;
        if (word != nullptr && (word->text == "allow" || word->text == "pass")) {
            refuse(word->at, "`on_match: allow`", kPast);
        } else if (word != nullptr && (word->text == "reply" || word->text == "decoy" ||
                                       word->text == "reset" || word->text == "dns_truncate")) {
            refuse(word->at, "`on_match: " + word->text + "`", kAnswers);
        }
    }
    void check_ban(const YamlNode& ban) {
        const YamlNode* scope = value_of(ban, "applies_to");
        if (scope != nullptr && !(scope->is_scalar() && scope->text == "key")) {
            refuse(scope->at, "a ban that `applies_to` more than the key", kNoneOfTenants);
        }
    }

    const TenantOptions& tenant_;
    Problems& problems_;
};

}  // namespace

void refuse_operators_keys(const YamlNode& root, const TenantOptions& tenant, Problems& problems) {
    if (root.is_map()) {
        KeyChecker{tenant, problems}.check(root);
    }
}

}  // namespace sluice

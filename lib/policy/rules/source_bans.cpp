#include "lib/policy/rules/source_bans.hpp"

#include "lib/l7/stream/service.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

// True of a limit that refuses nothing but packets before the end of a handshake, or without one.
bool refuses_unproven_only(const MeteredLimit& limit) {
    return algorithm_of(limit.limit) == Algorithm::Concurrency || limit.per == Per::Connection;
}

// True of a service that says of a packet whether its sender has completed a handshake.
bool proves_senders(const Service& service) {
    return runs_over_tcp(service.protocol) && service.path == ServicePath::Both &&
           service.mode == Mode::Enforce;
}

// True if all packets are counted by workers that get them from others, without such a word.
bool is_handed_over(const Rule& rule) {
    return !rule.limits.empty() && std::ranges::all_of(rule.limits, [](const MeteredLimit& limit) {
        return limit.scope == LimitScope::Owner;
    });
}

}  // namespace

void check_source_ban(const YamlNode& ban, Rule& rule, const ReadContext& context) {
    if (rule.ban.applies_to != BanScope::Source) {
        return;
    }
    const YamlNode* const word = value_of(ban, "applies_to");
    const Position at = word == nullptr ? ban.at : word->at;
    if (!std::ranges::all_of(rule.keys, is_source)) {
        context.problems.error(at,
                               "`applies_to: source` needs a key of nothing but `ip.src` or a "
                               "prefix of it: that is what sends the packets");
        rule.ban.applies_to = BanScope::Key;
        return;
    }
    if (!rule.ban.spoofable && !rule.limits.empty() &&
        std::ranges::all_of(rule.limits, refuses_unproven_only)) {
        context.problems.warning(
            at,
            "this ban never begins: it counts refusals on connections whose handshake is "
            "completed, and the rule's limits refuse what begins one; see `spoofable`");
    }
}

void check_source_bans(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                       Problems& problems) {
    const std::vector<Rule>& rules = compiled.set.rules;
    const bool proves = std::ranges::any_of(compiled.set.services, proves_senders);
    std::size_t count = 0;
    for (std::size_t i = 0; i < placed.size() && i < rules.size(); ++i) {
        if (!bans_sources(rules[i])) {
            continue;
        }
        if (++count == kMostSourceBans + 1) {
            problems.error(placed[i].at, "more than " + std::to_string(kMostSourceBans) +
                                             " rules have a ban with `applies_to: source`");
        }
        if (!rules[i].ban.spoofable && (!proves || is_handed_over(rules[i]))) {
            problems.warning(
                placed[i].at,
                std::string{"the ban of this rule never begins: it counts refusals on connections "
                            "of services over TCP with `mode: enforce` and `path: both`, "} +
                    (proves ? "and its packets are handed over to workers that do not know of them"
                            : "and none is declared"));
        }
    }
}

}  // namespace sluice

#include "lib/policy/rules/source_bans.hpp"

#include "lib/l7/stream/service.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/clauses/tcp_segments.hpp"
#include "lib/policy/rules/banned_proxies.hpp"

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

// Prefixes shorter than these are more than any one network's.
constexpr std::uint8_t kShortestV4 = 8;
constexpr std::uint8_t kShortestV6 = 16;

// A key of these bans so many at once; empty: it is no wider than a network.
std::string wide_prefix(const GroupingKey& key) {
    if (key[0].length(IpVersion::V4) < kShortestV4) {
        return "a /" + std::to_string(key[0].length(IpVersion::V4)) + " of IPv4";
    }
    if (key[0].length(IpVersion::V6) < kShortestV6) {
        return "a /" + std::to_string(key[0].length(IpVersion::V6)) + " of IPv6";
    }
    return {};
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
    for (const GroupingKey& key : rule.keys) {
        if (const std::string wide = wide_prefix(key); !wide.empty()) {
            context.problems.warning(at, "the refusals of one client ban " + wide +
                                             ", and with it everybody there: the key is a prefix "
                                             "that short");
        }
    }
    if (!rule.ban.spoofable && !rule.limits.empty() &&
        std::ranges::all_of(rule.limits, refuses_unproven_only)) {
        context.problems.warning(
            at,
            "this ban never begins: it counts refusals on connections whose handshake is "
            "completed, and the rule's limits refuse what begins one; see `spoofable`");
    }
}

namespace {

constexpr std::string_view kCounted =
    "the ban of this rule never begins: it counts refusals on connections of services over TCP "
    "with `mode: enforce` and `path: both`, ";

// The packets that prove their sender, and what a rule makes of them.
class ProofCheck {
public:
    ProofCheck(const std::vector<Service>& services, std::span<const PlacedService> placed,
               SetPool& pool)
        : segments_{segments_with(0, kTcpSyn | kTcpRst, pool)}, overlap_{pool} {
        for (std::size_t i = 0; i < placed.size() && i < services.size(); ++i) {
            if (proves_senders(services[i])) {
                proving_.push_back(&placed[i].clauses);
            }
        }
    }

    // Why none is ever counted; empty: some may be.
    [[nodiscard]] std::string text_of_none(const Rule& rule, const PlacedRule& placed) {
        if (proving_.empty()) {
            return "and none is declared";
        }
        if (is_handed_over(rule)) {
            return "and its packets are handed over to workers that do not know of them";
        }
        if (!meets(placed, segments_)) {
            return "by segments that are neither SYN nor RST, and its condition lets none of them "
                   "through; see `spoofable`";
        }
        if (std::ranges::none_of(proving_, [&](const auto* one) { return meets(placed, *one); })) {
            return "and its condition lets through no packet of one; see `spoofable`";
        }
        return {};
    }

private:
    // Yes too of a condition that is not known whole.
    [[nodiscard]] bool meets(const PlacedRule& placed, const std::vector<Clause>& packets) {
        return placed.clauses.empty() || packets.empty() ||
               overlap_.may_meet(placed.clauses, packets);
    }

    std::vector<Clause> segments_;
    ClauseOverlap overlap_;
    std::vector<const std::vector<Clause>*> proving_;
};

}  // namespace

void check_source_bans(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                       std::span<const PlacedService> services, SetPool& pool, Problems& problems) {
    const std::vector<Rule>& rules = compiled.set.rules;
    if (std::ranges::none_of(rules, bans_sources)) {
        return;
    }
    warn_of_banned_proxies(compiled, placed, services, pool, problems);
    ProofCheck proof{compiled.set.services, services, pool};
    std::size_t count = 0;
    for (std::size_t i = 0; i < placed.size() && i < rules.size(); ++i) {
        if (!bans_sources(rules[i])) {
            continue;
        }
        if (++count == kMostSourceBans + 1) {
            problems.error(placed[i].at, "more than " + std::to_string(kMostSourceBans) +
                                             " rules have a ban with `applies_to: source`");
        }
        const std::string none =
            rules[i].ban.spoofable ? "" : proof.text_of_none(rules[i], placed[i]);
        if (!none.empty()) {
            problems.warning(placed[i].at, std::string{kCounted} + none);
        }
    }
}

}  // namespace sluice

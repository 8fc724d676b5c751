#include "lib/policy/rules/banned_proxies.hpp"

#include "lib/l7/stream/service.hpp"
#include "lib/match/address_key.hpp"
#include "lib/policy/clauses/clause_cover.hpp"
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/values/range_set.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace sluice {
namespace {

// Packets from proxies, to a service of theirs if they are of one.
struct ProxiedPackets {
    std::vector<Clause> sources;                   // one for each range of addresses
    const std::vector<Clause>* clients = nullptr;  // nullptr: of no single service
    std::string name;
};

DomainSet sources_of(const std::vector<IpPrefix>& proxies) {
    DomainSet set;
    for (const IpPrefix& prefix : proxies) {
        const AddressRange range = range_of(prefix);
        const WideRange keys{wide_key(prefix.version, range.first),
                             wide_key(prefix.version, range.last)};
        DomainSet one;
        (prefix.version == IpVersion::V4 ? one.numbers : one.v6).push_back(keys);
        set = unite(set, one);
    }
    return set;
}

template <typename Key>
std::vector<WideRange> ranges_of(const std::vector<Step<Key>>& steps, Wide last) {
    std::vector<WideRange> ranges;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].row != 0) {
            ranges.push_back(
                {steps[i].first, i + 1 < steps.size() ? Wide{steps[i + 1].first} - 1 : last});
        }
    }
    return ranges;
}

DomainSet sources_of(const AddressSetParts& proxies) {
    return {.numbers = ranges_of(proxies.steps, largest(Field::IpSrc)),
            .v6 = ranges_of(proxies.v6_steps, std::numeric_limits<Wide>::max())};
}

class ProxyWarner {
public:
    ProxyWarner(const CompiledRules& compiled, std::span<const PlacedService> services,
                SetPool& pool)
        : overlap_{pool}, bypassed_{pool} {
        const std::vector<Service>& all = compiled.set.services;
        for (std::size_t i = 0; i < services.size() && i < all.size(); ++i) {
            add(sources_of(all[i].proxies), &services[i].clauses,
                "a proxy of service `" + all[i].id + "`", pool);
        }
        if (compiled.set.clients != nullptr) {
            add(sources_of(compiled.set.clients->proxies), nullptr,
                "the trusted proxies of `client_ip`", pool);
        }
    }

    void bypass(const PlacedRule& placed) {
        for (const Clause& clause : placed.clauses) {
            bypassed_.add(clause, 0);
        }
    }
    void warn(const PlacedRule& placed, Problems& problems) {
        const auto found = std::ranges::find_if(
            all_, [&](const ProxiedPackets& one) { return may_ban(placed, one); });
        if (found != all_.end()) {
            problems.warning(
                placed.at, "`applies_to: source` bans `ip.src`: of clients behind " + found->name +
                               " that is the proxy, and with it everybody behind it; let it be "
                               "in `bypass`, or leave it out of `when`");
        }
    }

private:
    void add(const DomainSet& sources, const std::vector<Clause>* clients, std::string name,
             SetPool& pool) {
        ProxiedPackets packets{{}, clients, std::move(name)};
        for (const WideRange& range : sources.numbers) {
            packets.sources.push_back(from({.numbers = {range}}, pool));
        }
        for (const WideRange& range : sources.v6) {
            packets.sources.push_back(from({.v6 = {range}}, pool));
        }
        if (!packets.sources.empty()) {
            all_.push_back(std::move(packets));
        }
    }
    static Clause from(const DomainSet& sources, SetPool& pool) {
        return {.fields = {{Field::IpSrc, pool.add(Field::IpSrc, sources)}}};
    }
    // Yes too of a condition that is not known whole.
    bool may_ban(const PlacedRule& placed, const ProxiedPackets& one) {
        if (std::ranges::all_of(one.sources, [&](const Clause& sources) {
                return bypassed_.first_owner(sources, 1).has_value();
            })) {
            return false;
        }
        return placed.clauses.empty() || (overlap_.may_meet(placed.clauses, one.sources) &&
                                          (one.clients == nullptr || one.clients->empty() ||
                                           overlap_.may_meet(placed.clauses, *one.clients)));
    }

    ClauseOverlap overlap_;
    ClauseCover bypassed_;
    std::vector<ProxiedPackets> all_;
};

}  // namespace

void warn_of_banned_proxies(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                            std::span<const PlacedService> services, SetPool& pool,
                            Problems& problems) {
    const std::vector<Rule>& rules = compiled.set.rules;
    ProxyWarner warner{compiled, services, pool};
    for (std::size_t i = 0; i < placed.size() && i < rules.size(); ++i) {
        if (rules[i].on_match == OnMatch::Bypass) {
            warner.bypass(placed[i]);
        }
    }
    for (std::size_t i = 0; i < placed.size() && i < rules.size(); ++i) {
        if (bans_sources(rules[i])) {
            warner.warn(placed[i], problems);
        }
    }
}

}  // namespace sluice

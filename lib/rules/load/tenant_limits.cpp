#include "lib/rules/load/limit_slots.hpp"
#include "lib/rules/tenant_name.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

// The slots that limits of tenants may hold.
namespace sluice {

// A tenant whose rules bring limits that were not there before may leave few behind whose buckets
// are in debt, and all tenants together half of the slots: the rest is the operator's.
Result<Done> LimitSlots::check_tenants(const LoadedSet& set) const {
    struct OfTenant {
        std::size_t in_rules = 0;
        std::size_t gone = 0;
        std::string_view rule{};  // one that brings a new limit
    };
    std::map<std::uint64_t, OfTenant> of_tenant;
    std::set<std::uint64_t> stay;
    for (const LoadedRule& rule : set.rules) {
        for_each_state(rule, [&](const LoadedLimit& limit) {
            if (limit.tenant != 0) {
                OfTenant& own = of_tenant[limit.tenant];
                ++own.in_rules;
                own.rule = limits_.contains(limit.identity) ? own.rule : std::string_view{rule.id};
                stay.insert(limit.identity);
            }
        });
    }
    for (const auto& [identity, kept] : limits_) {
        if (kept.limit.tenant != 0 && !stay.contains(identity)) {
            ++of_tenant[kept.limit.tenant].gone;
        }
    }
    for (const auto& [slot, limit] : moved_) {
        if (limit.tenant != 0) {
            ++of_tenant[limit.tenant].gone;
        }
    }
    std::size_t all = 0;
    for (const auto& [tenant, own] : of_tenant) {
        all += own.in_rules + own.gone;
    }
    for (const auto& [tenant, own] : of_tenant) {
        if (!own.rule.empty() && (own.gone > kMostGoneOfTenant || all > kSlots / 2)) {
            return Error{Errc::TooMany,
                         "too many limits have left the rules of " +
                             std::string{tenant_of(own.rule)} +
                             " while their buckets are in debt: new ones can come once these are "
                             "paid back"};
        }
    }
    return Done{};
}

}  // namespace sluice

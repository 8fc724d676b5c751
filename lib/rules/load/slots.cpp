#include "lib/rules/load/slots.hpp"

#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/peer/merge/cluster_terms.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace sluice {
namespace {

using namespace std::chrono_literals;

// A source that is refused most of the time is idle for the short while before each packet that it
// may send: emptying its entry then, and filing it anew, takes longer than to judge it.
constexpr Nanoseconds kLinger = 1s;

bool is_in_entry(const LoadedLimit& limit) {
    return counting_of(limit.limit) == Counting::Bucket;
}

// Not where idle entries keep others out: from a share of the table, or from the pool.
Nanoseconds linger_of(const LoadedRule& rule, const LoadedLimit& limit) {
    const bool alone = !limit.overridden && rule.table_share == kWholeTable;
    return alone && is_in_entry(limit) ? kLinger : Nanoseconds{0};
}

LatestChange latest_change(const LoadedLimit& limit) {
    LatestChange latest;
    const Limit* to = gcra_of(limit.limit);
    const Limit* from = limit.previous.empty() ? nullptr : gcra_of(limit.previous.front().limit);
    // Forgiven debts are counted, apart from the path of most entries.
    const bool forgiven = !limit.previous.empty() && limit.previous.front().forgiven;
    if (from != nullptr && to != nullptr && !forgiven) {
        latest = {.from = limit.previous.front().version,
                  .to = limit.version,
                  .change = limit.previous.front().change,
                  .numbers = {*from, *to}};
    }
    return latest;
}

bool has_leases(const LoadedLimit& limit) {
    const Limit* gcra = gcra_of(limit.limit);
    return limit.shared != 0 && gcra != nullptr && gcra->parts() == 1;
}

// Buckets of a limit whose numbers were lowered may have used more than those in force allow.
Units most_used_at(const LoadedLimit& limit, std::size_t level, const AnyLimit& numbers) {
    const Units now = most_used(numbers);
    return level < limit.most_used.size() ? std::max(limit.most_used[level], now) : now;
}

bool is_lowered(const LoadedLimit& limit) {
    bool lowered = most_used_at(limit, 0, limit.limit) > most_used(limit.limit);
    for (std::size_t level = 1; level <= limit.coarser.size(); ++level) {
        const AnyLimit& numbers = limit.coarser[level - 1];
        lowered = lowered || most_used_at(limit, level, numbers) > most_used(numbers);
    }
    return lowered;
}

LatestChange change_of(const LoadedLimit& limit) {
    LatestChange latest = latest_change(limit);
    latest.lowered = is_lowered(limit);
    latest.forgives_own = limit.forgives_own;
    return latest;
}

void list_limit(LoadedSet& set, const LoadedLimit& limit, Nanoseconds linger) {
    if (set.slots.size() <= limit.slot) {
        set.slots.resize(limit.slot + std::size_t{1});
    }
    set.slots[limit.slot] = {
        .limit = &limit.limit,
        .coarser = limit.coarser,
        .previous = limit.previous,
        .migrated_from = &limit.migrated_from,
        .version = limit.version,
        .overridden = limit.overridden,
        .in_entry = is_in_entry(limit),
        .leases = has_leases(limit),
        .max_unsynced = static_cast<std::uint32_t>(limit.shared),  // at most 2^30
        .linger = linger,
        .latest = change_of(limit)};
    if (limit.cluster.box_unsynced != 0) {
        set.cluster_bounds.resize(set.slots.size());
        set.cluster_bounds[limit.slot] = limit.cluster;
    }
    std::size_t level = 0;
    const auto note_debt = [&](const AnyLimit& numbers) {
        set.longest_debt = std::max(set.longest_debt,
                                    longest_debt(numbers, most_used_at(limit, level++, numbers)));
    };
    note_debt(limit.limit);
    std::for_each(limit.coarser.begin(), limit.coarser.end(), note_debt);
}

// The share that a tenant's rules have together, and the group of what it has.
struct TenantShare {
    ShareGroup group = 0;
    std::uint64_t share = 0;
};
using TenantShares = std::map<std::uint64_t, TenantShare>;  // by LoadedLimit::tenant

// Tenants beyond kMostShareGroups, which sluice.yaml never has, share the last group.
TenantShares tenant_shares(LoadedSet& set) {
    TenantShares shares;
    for (LoadedRule& rule : set.rules) {
        std::uint64_t tenant = 0;
        for_each_state(rule, [&](const LoadedLimit& limit) { tenant = limit.tenant; });
        if (tenant == 0) {
            continue;
        }
        const std::size_t next = std::min(shares.size() + 1, kMostShareGroups);
        TenantShare& own =
            shares.try_emplace(tenant, TenantShare{static_cast<ShareGroup>(next), 0}).first->second;
        own.share += rule.table_share;
        rule.share_group = own.group;
    }
    return shares;
}

void list_share_groups(LoadedSet& set) {
    const TenantShares shares = tenant_shares(set);
    set.share_groups.assign(shares.empty() ? 0 : set.slots.size(), 0);
    if (shares.empty()) {
        return;
    }
    const auto list = [&](const LoadedLimit& limit) {
        const auto of = shares.find(limit.tenant);
        set.share_groups[limit.slot] = of == shares.end() ? ShareGroup{0} : of->second.group;
    };
    std::for_each(set.gone.begin(), set.gone.end(), list);
    for (LoadedRule& rule : set.rules) {
        for_each_state(rule, [&](const LoadedLimit& limit) {
            list(limit);
            if (limit.tenant != 0) {
                rule.group_share = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(shares.at(limit.tenant).share, kWholeTable));
            }
        });
    }
}

}  // namespace

void list_slots(LoadedSet& set) {
    set.slots.clear();
    set.cluster_bounds.clear();
    set.cluster_limits = 0;
    set.counts_gauges = false;
    set.longest_debt = Nanoseconds{0};
    set.shared_limits = 0;
    set.syncs = false;
    set.hurries = false;
    for (const LoadedLimit& limit : set.gone) {
        list_limit(set, limit, Nanoseconds{0});
        set.syncs = set.syncs || limit.shared != 0;
    }
    for (LoadedRule& rule : set.rules) {
        rule.asks_keys = rule.overrides != nullptr || rule.bans();
        for_each_state(rule, [&](const LoadedLimit& limit) {
            list_limit(set, limit, linger_of(rule, limit));
            set.shared_limits += limit.shared != 0 ? 1 : 0;
            const bool of_cluster = limit.cluster.box_unsynced != 0;
            set.cluster_limits += of_cluster ? 1 : 0;
            set.counts_gauges = set.counts_gauges || (of_cluster && has_gauges(limit.limit));
            set.hurries = set.hurries || limit.migrating_to.has_value();
        });
    }
    set.syncs = set.syncs || set.shared_limits != 0 || set.counts_gauges;
    list_share_groups(set);
    const bool shapes =
        std::any_of(set.actions.begin(), set.actions.end(),
                    [](const Action& action) { return action.verdict == Verdict::Shape; });
    set.longest_debt += shapes ? kLongestDelay : Nanoseconds{0};
}

}  // namespace sluice

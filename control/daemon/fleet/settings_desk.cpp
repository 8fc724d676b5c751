#include "control/daemon/fleet/settings_desk.hpp"

#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

namespace sluice {
namespace {

constexpr int kTries = 8;
constexpr std::size_t kMostSteps = 100;  // of a transaction; etcd takes 128
constexpr std::size_t kActDigits = 20;
constexpr std::int64_t kLeaseSpare = 60;  // seconds that a record outlives its setting

Error no_room(const std::string& what) {
    return {Errc::TooMany, "the cluster has no room for it: " + what};
}

bool is_of_some_tenant(const KeySetting& setting) {
    return !tenant_of(setting.rule).empty();
}

std::optional<Error> find_no_room(const KeySettings& all, const FleetSettings& next) {
    if (all.size() > kMostFleetSettings) {
        return no_room(
            fmt::format("at most {} things can be set for single keys on all boxes; "
                        "put the others into an override file",
                        kMostFleetSettings));
    }
    if (std::ranges::count_if(all, is_of_some_tenant) >
        static_cast<std::ptrdiff_t>(kMostFleetTenantSettings)) {
        return no_room(
            fmt::format("at most {} of them are for keys of tenants", kMostFleetTenantSettings));
    }
    if (next.acts.size() > kMostFleetActs) {
        return no_room(fmt::format("at most {} acts on keys are taken in {} minutes",
                                   kMostFleetActs, kFleetActSeconds / 60));
    }
    return std::nullopt;
}

// The settings after the change. Errc::TooMany: there is no room for it.
Result<FleetSettings> settings_after(const FleetSettings& before, const FleetSettingsChange& change,
                                     std::uint64_t number) {
    FleetSettings next{.number = number, .by = change.by, .acts = before.acts};
    for (FleetAct act : change.acts) {
        act.number = number;
        act.by = change.by;
        next.acts.push_back(std::move(act));
    }
    const std::int64_t now = std::time(nullptr);
    KeySettings all;
    std::ranges::transform(before.set, std::back_inserter(all), &FleetSetting::setting);
    forget_ended(all, now);
    (void)remove_settings(all, change.gone);
    KeySettings put = change.put;
    for (KeySetting& one : put) {
        one.set_at = now;
        one.is_new = false;
    }
    if (!put_settings(all, put)) {
        return no_room("a tenant has as many settings as it may have");
    }
    if (const std::optional<Error> full = find_no_room(all, next);
        full && (!change.put.empty() || !change.acts.empty())) {
        return *full;
    }
    for (KeySetting& one : all) {
        const auto is_this = [&](const KeySetting& other) { return is_one_place(one, other); };
        const auto was = std::ranges::find_if(before.set, is_this, &FleetSetting::setting);
        const bool is_put = std::ranges::any_of(put, is_this);
        next.set.push_back(is_put || was == before.set.end()
                               ? FleetSetting{.number = number, .by = change.by, .setting = one}
                               : *was);
    }
    return next;
}

// A lease for what is to end; 0: it stays.
Result<std::int64_t> lease_until(FleetStore& store, std::int64_t until) {
    const std::int64_t now = std::time(nullptr);
    return until == 0 ? Result<std::int64_t>{0}
                      : store.etcd().grant(std::max<std::int64_t>(until - now, 0) + kLeaseSpare);
}

// Steps from what etcd has to what it is to have.
Result<std::vector<EtcdStep>> steps_between(FleetStore& store, const FleetSettings& in_etcd,
                                            const FleetSettings& next) {
    std::vector<EtcdStep> steps;
    const auto has_place = [](const FleetSettings& in, const KeySetting& setting) {
        return std::ranges::any_of(in.set, [&](const FleetSetting& other) {
            return is_one_place(setting, other.setting);
        });
    };
    for (const FleetSetting& one : in_etcd.set) {
        if (!has_place(next, one.setting)) {
            steps.emplace_back(EtcdDelete{.key = key_of_setting(store.keys(), one.setting)});
        }
    }
    std::int64_t lease = 0;
    std::optional<std::int64_t> leased_until;
    for (const FleetSetting& one : next.set) {
        if (std::ranges::find(in_etcd.set, one) != in_etcd.set.end()) {
            continue;
        }
        if (leased_until != one.setting.until) {
            const Result<std::int64_t> granted = lease_until(store, one.setting.until);
            if (!granted) {
                return granted.error();
            }
            lease = *granted;
            leased_until = one.setting.until;
        }
        steps.emplace_back(EtcdPut{.key = key_of_setting(store.keys(), one.setting),
                                   .value = text_of(one),
                                   .lease = lease});
    }
    return steps;
}

Result<Done> add_acts(FleetStore& store, const FleetSettings& next, std::vector<EtcdStep>& steps) {
    std::size_t place = 0;
    std::int64_t lease = 0;
    for (const FleetAct& act : next.acts) {
        if (act.number != next.number) {
            continue;
        }
        if (lease == 0) {
            const Result<std::int64_t> granted = store.etcd().grant(kFleetActSeconds);
            if (!granted) {
                return granted.error();
            }
            lease = *granted;
        }
        steps.emplace_back(EtcdPut{.key = fmt::format("{}{:0{}}-{:04}", store.keys().setting_acts(),
                                                      act.number, kActDigits, place++),
                                   .value = text_of(act),
                                   .lease = lease});
    }
    return Done{};
}

}  // namespace

Result<std::uint64_t> SettingsDesk::change(const FleetSettingsChange& change) {
    const Membership membership = board_.status().membership;
    if (membership != Membership::Member) {
        return Error{Errc::Unreachable, membership == Membership::Away
                                            ? "etcd does not answer"
                                            : "the box is no member of its cluster"};
    }
    const std::unique_lock lock{mutex_, std::try_to_lock};
    Pace& pace = change.of_tenant ? tenants_pace_ : pace_;
    if (!lock.owns_lock() || !pace.take(Clock::now())) {
        count_refused();
        return Error{Errc::Busy,
                     "other changes of single keys are on their way into the cluster; "
                     "try again in a second"};
    }
    FleetStore store = connect_();
    Result<std::uint64_t> number = write(store, change);
    if (!number && number.error().code == Errc::TooMany) {
        count_refused();
    }
    return number;
}

// The number is above all that boxes have followed, also where etcd has forgotten its own.
Result<std::uint64_t> SettingsDesk::write(FleetStore& store, const FleetSettingsChange& change) {
    for (int i = 0; i < kTries; ++i) {
        const Result<FleetSettingsView> view = read_fleet_settings(store);
        const Result<std::vector<NodeRecord>> nodes = view ? store.nodes() : view.error();
        if (!nodes) {
            return nodes.error();
        }
        const std::shared_ptr<const FleetSettings> own = board_.settings();
        const FleetSettings& before = view->settings.number < own->number ? *own : view->settings;
        std::vector<std::uint64_t> numbers{before.number};
        std::ranges::transform(*nodes, std::back_inserter(numbers), &NodeRecord::settings);
        const std::uint64_t number = std::max(before.number, newest_of(std::move(numbers))) + 1;
        const Result<FleetSettings> next = settings_after(before, change, number);
        Result<std::vector<EtcdStep>> steps =
            next ? steps_between(store, view->settings, *next) : next.error();
        const Result<Done> added = steps ? add_acts(store, *next, *steps) : steps.error();
        if (!added) {
            return added.error();
        }
        Result<std::uint64_t> done = commit(store, *next, *std::move(steps), view->modified);
        if (!done || *done != 0) {
            return done;
        }
    }
    return Error{Errc::Busy, "other operators were quicker; try again"};
}

// The number goes last: boxes look at nothing before it is another. 0: another change was quicker.
Result<std::uint64_t> SettingsDesk::commit(FleetStore& store, const FleetSettings& next,
                                           std::vector<EtcdStep> steps, std::int64_t modified) {
    const std::string number = store.keys().setting_number();
    steps.emplace_back(EtcdPut{.key = number, .value = text_of_number(next)});
    for (auto from = steps.begin(); from != steps.end();) {
        const auto end = from + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(kMostSteps),
                                                         steps.end() - from);
        const Result<EtcdOutcome> outcome =
            store.etcd().commit({.when = {is_unchanged(number, modified)}, .then = {from, end}});
        if (!outcome) {
            return outcome.error();
        }
        if (!outcome->held) {
            return 0;
        }
        from = end;
    }
    return next.number;
}

}  // namespace sluice

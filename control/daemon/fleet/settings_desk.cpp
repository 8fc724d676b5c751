#include "control/daemon/fleet/settings_desk.hpp"

#include "control/daemon/tenant_compile.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
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

// A tenant's part of the places for all tenants, so that none takes them from the others.
std::size_t share_of_tenant(std::size_t most) {
    return std::max<std::size_t>(most / std::max<std::size_t>(tenant_options().size(), 1), 1);
}

std::optional<Error> find_no_room(const KeySettings& all, const FleetSettingsChange& change) {
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
    std::map<std::string_view, std::size_t> of_tenant;
    for (const KeySetting& one : all) {
        ++of_tenant[tenant_of(one.rule)];
    }
    const std::size_t share = share_of_tenant(kMostFleetTenantSettings);
    for (const KeySetting& one : change.put) {
        if (is_of_some_tenant(one) && of_tenant[tenant_of(one.rule)] > share) {
            return no_room(fmt::format("at most {} of them are for keys of one tenant", share));
        }
    }
    return std::nullopt;
}

// Acts of the change for which there is room beside those of before.
std::vector<FleetAct> acts_with_room(const std::vector<FleetAct>& before,
                                     const std::vector<FleetAct>& wanted) {
    std::size_t of_all = 0;
    std::size_t of_tenants = 0;
    std::map<std::string_view, std::size_t> of_tenant;
    const auto count = [&](const FleetAct& act) {
        ++of_all;
        of_tenants += tenant_of(act.rule).empty() ? 0U : 1U;
        ++of_tenant[tenant_of(act.rule)];
    };
    std::ranges::for_each(before, count);
    const std::size_t share = share_of_tenant(kMostFleetTenantActs);
    std::vector<FleetAct> taken;
    for (const FleetAct& act : wanted) {
        const std::string_view tenant = tenant_of(act.rule);
        const bool has_room =
            of_all < kMostFleetActs &&
            (tenant.empty() || (of_tenants < kMostFleetTenantActs && of_tenant[tenant] < share));
        if (has_room) {
            count(act);
            taken.push_back(act);
        }
    }
    return taken;
}

Error no_room_for_acts() {
    return no_room(
        fmt::format("at most {} acts on keys are taken in {} minutes, {} of them for "
                    "keys of tenants, {} for those of one",
                    kMostFleetActs, kFleetActSeconds / 60, kMostFleetTenantActs,
                    share_of_tenant(kMostFleetTenantActs)));
}

// True of a change that only lets keys out: bans end even without room to tell all penalty boxes.
bool is_unban(const FleetSettingsChange& change) {
    return change.put.empty() && !change.gone.empty() &&
           std::ranges::all_of(change.acts,
                               [](const FleetAct& act) { return act.action == "unban"; });
}

struct AfterChange {
    FleetSettings next{};
    std::size_t left = 0;
    bool is_nothing = false;
};

// Settings after the change; Errc::TooMany: there is no room for them.
Result<KeySettings> set_after(const FleetSettings& before, const FleetSettingsChange& change,
                              std::int64_t now, bool& was_any) {
    KeySettings all;
    std::ranges::transform(before.set, std::back_inserter(all), &FleetSetting::setting);
    forget_ended(all, now);
    was_any = remove_settings(all, change.gone);
    KeySettings put = change.put;
    for (KeySetting& one : put) {
        one.set_at = now;
        one.is_new = false;
    }
    if (!put_settings(all, put)) {
        return no_room("a tenant has as many settings as it may have");
    }
    if (const std::optional<Error> full = find_no_room(all, change); full && !change.put.empty()) {
        return *full;
    }
    return all;
}

Result<AfterChange> settings_after(const FleetSettings& before, const FleetSettingsChange& change,
                                   std::uint64_t number) {
    bool was_any = false;
    const Result<KeySettings> all = set_after(before, change, std::time(nullptr), was_any);
    if (!all) {
        return all.error();
    }
    std::vector<FleetAct> acts = acts_with_room(before.acts, change.acts);
    AfterChange after{.next = {.number = number, .by = change.by, .acts = before.acts},
                      .left = change.acts.size() - acts.size(),
                      .is_nothing = change.needs_any && change.acts.empty() && !was_any};
    if (after.left != 0 && (!is_unban(change) || (acts.empty() && !was_any))) {
        return no_room_for_acts();
    }
    for (FleetAct& act : acts) {
        act.number = number;
        act.by = change.by;
        after.next.acts.push_back(std::move(act));
    }
    for (const KeySetting& one : *all) {
        const auto is_this = [&](const KeySetting& other) { return is_one_place(one, other); };
        const auto was = std::ranges::find_if(before.set, is_this, &FleetSetting::setting);
        const bool is_put = std::ranges::any_of(change.put, is_this);
        after.next.set.push_back(
            is_put || was == before.set.end()
                ? FleetSetting{.number = number, .by = change.by, .setting = one}
                : *was);
    }
    return after;
}

// Settings that hold: those of etcd, and those that the box has followed where etcd has lost them
// or a change that was refused half-way has taken them away.
FleetSettings settings_before(const FleetKeys& keys, const FleetSettingsView& view,
                              const FleetSettings& own) {
    if (view.settings.number < own.number) {
        return own;
    }
    FleetSettings before = view.settings;
    for (const FleetSetting& one : own.set) {
        if (find_place(view.settings, one.setting) == nullptr &&
            (own.number == view.settings.number || view.hides(keys, one.setting))) {
            before.set.push_back(one);
        }
    }
    return before;
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
    for (const FleetSetting& one : in_etcd.set) {
        if (find_place(next, one.setting) == nullptr) {
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

std::string key_of_acts(const FleetKeys& keys, std::uint64_t number) {
    return fmt::format("{}{:0{}}", keys.setting_acts(), number, kActDigits);
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
        steps.emplace_back(
            EtcdPut{.key = fmt::format("{}-{:04}", key_of_acts(store.keys(), act.number), place++),
                    .value = text_of(act),
                    .lease = lease});
    }
    return Done{};
}

// The steps of a change but the one that makes it count. Acts that were refused half-way go: their
// number would come to count with this one.
Result<std::vector<EtcdStep>> steps_of(FleetStore& store, const FleetSettingsView& view,
                                       const FleetSettings& next) {
    FleetSettings in_etcd = view.settings;
    std::ranges::copy(view.unfinished.set, std::back_inserter(in_etcd.set));
    Result<std::vector<EtcdStep>> steps = steps_between(store, in_etcd, next);
    if (steps && !view.unfinished.acts.empty()) {
        steps->emplace_back(EtcdDelete{.key = key_of_acts(store.keys(), view.settings.number + 1),
                                       .end = key_of_acts(store.keys(), next.number)});
    }
    const Result<Done> added = steps ? add_acts(store, next, *steps) : steps.error();
    return added ? std::move(steps) : added.error();
}

Error knows_less(const std::vector<NodeRecord>& nodes, std::uint64_t newest) {
    const auto found = std::ranges::find(nodes, newest, &NodeRecord::settings);
    return {
        Errc::Busy,
        fmt::format("etcd has lost changes of single keys, and this box does not know them; make "
                    "the change on box {}, which has followed all up to {}",
                    found == nodes.end() ? "?" : found->node, newest)};
}

// Nothing counts before the last step, so that an error of another one says that nothing is done.
Error not_done(Error error) {
    error.code = error.code == Errc::Busy ? Errc::Unreachable : error.code;
    return error;
}

// The last step had no answer. A step beside it, which only one that is not done lets through,
// keeps it from being done later.
Result<FleetChanged> look_after(FleetStore& store, const FleetSettings& next, std::int64_t modified,
                                const Error& error) {
    const std::string number = store.keys().setting_number();
    const Result<EtcdOutcome> outcome = store.etcd().commit(
        {.when = {is_unchanged(number, modified)},
         .then = {EtcdPut{.key = key_of_steps(store.keys()), .value = text_of_number(next)}},
         .otherwise = {EtcdGet{.key = number}}});
    if (!outcome) {
        return FleetChanged{.number = next.number, .is_unknown = true};
    }
    if (outcome->held) {
        return not_done(error);
    }
    const bool is_there = !outcome->read.empty() && !outcome->read.front().empty();
    const Result<FleetSettings> latest =
        fleet_number_from(is_there ? outcome->read.front().front().value : "");
    if (latest && latest->number == next.number) {
        return latest->by == next.by ? Result{FleetChanged{.number = next.number}}
                                     : not_done(error);
    }
    return FleetChanged{.number = next.number, .is_unknown = true};
}

// The number goes last: boxes look at nothing before it is another, and at nothing that is above
// it. 0: another change was quicker.
Result<FleetChanged> commit_steps(FleetStore& store, const FleetSettings& next,
                                  std::vector<EtcdStep> steps, const FleetSettingsView& view) {
    const std::string number = store.keys().setting_number();
    const std::string step = key_of_steps(store.keys());
    std::int64_t stepped = view.stepped;
    steps.emplace_back(EtcdPut{.key = number, .value = text_of_number(next)});
    for (auto from = steps.begin(); from != steps.end();) {
        const auto end = from + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(kMostSteps),
                                                         steps.end() - from);
        const bool is_last = end == steps.end();
        EtcdTransaction transaction{
            .when = {is_unchanged(number, view.modified), is_unchanged(step, stepped)},
            .then = {from, end}};
        if (!is_last) {
            transaction.then.emplace_back(EtcdPut{.key = step, .value = text_of_number(next)});
        }
        const Result<EtcdOutcome> outcome = store.etcd().commit(transaction);
        if (!outcome) {
            return is_last && outcome.error().code == Errc::Busy
                       ? look_after(store, next, view.modified, outcome.error())
                       : not_done(outcome.error());
        }
        if (!outcome->held) {
            return FleetChanged{};
        }
        stepped = outcome->revision;
        from = end;
    }
    return FleetChanged{.number = next.number};
}

}  // namespace

Result<FleetChanged> SettingsDesk::change(const FleetSettingsChange& change) {
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
    Result<FleetChanged> changed = write(store, change);
    if (!changed && changed.error().code == Errc::TooMany) {
        count_refused();
    }
    return changed;
}

// The number is above all that boxes have followed, also where etcd has forgotten its own. A box
// that knows less than others would take from all what it does not know.
Result<FleetChanged> SettingsDesk::write(FleetStore& store, const FleetSettingsChange& change) {
    Error last{Errc::Busy, "other operators were quicker; try again"};
    for (int i = 0; i < kTries; ++i) {
        const Result<FleetSettingsView> view = read_fleet_settings(store);
        const Result<std::vector<NodeRecord>> nodes = view ? store.nodes() : view.error();
        if (!nodes) {
            return not_done(nodes.error());
        }
        const FleetSettings before = settings_before(store.keys(), *view, *board_.settings());
        std::vector<std::uint64_t> numbers{before.number};
        std::ranges::transform(*nodes, std::back_inserter(numbers), &NodeRecord::settings);
        const std::uint64_t newest = newest_of(numbers);
        if (before.number < newest) {
            last = knows_less(*nodes, newest);
            continue;  // the change may have come in between
        }
        std::ranges::transform(view->unfinished.set, std::back_inserter(numbers),
                               &FleetSetting::number);
        std::ranges::transform(view->unfinished.acts, std::back_inserter(numbers),
                               &FleetAct::number);
        const Result<AfterChange> after = settings_after(
            before, change, std::max(before.number, newest_of(std::move(numbers))) + 1);
        if (!after || after->is_nothing) {
            return after ? Result{FleetChanged{}} : after.error();
        }
        Result<std::vector<EtcdStep>> steps = steps_of(store, *view, after->next);
        if (!steps) {
            return not_done(steps.error());
        }
        Result<FleetChanged> done = commit_steps(store, after->next, *std::move(steps), *view);
        if (!done || done->number != 0) {
            if (done) {
                done->left = after->left;
            }
            return done;
        }
    }
    return last;
}

}  // namespace sluice

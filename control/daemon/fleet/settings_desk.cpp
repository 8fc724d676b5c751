#include "control/daemon/fleet/settings_desk.hpp"

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
                                       const FleetSettings& before, const FleetSettings& next) {
    FleetSettings in_etcd = view.settings;
    std::ranges::copy(view.unfinished.set, std::back_inserter(in_etcd.set));
    // Records that cannot be read go where what they set is lifted.
    std::ranges::copy_if(before.set, std::back_inserter(in_etcd.set), [&](const auto& one) {
        return view.unread.contains(key_of_setting(store.keys(), one.setting)) &&
               find_place(next, one.setting) == nullptr;
    });
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

// Nobody knows of a transaction without an answer, or with one that says nothing.
bool may_be_done(const Error& error) {
    return error.code == Errc::Busy || error.code == Errc::BadSyntax;
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
            return is_last && may_be_done(outcome.error())
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
        const FleetSettings before =
            settings_before(store.keys(), *view, *board_.settings(), change);
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
        Result<std::vector<EtcdStep>> steps = steps_of(store, *view, before, after->next);
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

#include "control/daemon/fleet/settings_change.hpp"

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

// The place that a choice names: a ban, the numbers of one limit, or an exemption.
KeySetting place_of(const SettingChoice& choice) {
    return {.rule = choice.rule,
            .key = choice.key,
            .tier = choice.tier,
            .what = choice.bans            ? KeySetting::What::Banned
                    : choice.limit.empty() ? KeySetting::What::Exempt
                                           : KeySetting::What::Numbers,
            .limit = choice.limit};
}

// Adds what is to be lifted and stands in a record that nobody can read, so that it can be lifted.
void add_unread(const FleetKeys& keys, const FleetSettingsView& view,
                const FleetSettingsChange& change, FleetSettings& before) {
    for (const SettingChoice& choice : change.gone) {
        const KeySetting place = place_of(choice);
        if (view.unread.contains(key_of_setting(keys, place)) &&
            find_place(before, place) == nullptr) {
            before.set.push_back({.number = before.number, .by = change.by, .setting = place});
        }
    }
}

}  // namespace

FleetSettings settings_before(const FleetKeys& keys, const FleetSettingsView& view,
                              const FleetSettings& own, const FleetSettingsChange& change) {
    FleetSettings before = view.settings.number < own.number ? own : view.settings;
    for (const FleetSetting& one : own.set) {
        if (find_place(before, one.setting) == nullptr &&
            (own.number == view.settings.number || view.hides(keys, one.setting))) {
            before.set.push_back(one);
        }
    }
    add_unread(keys, view, change, before);
    return before;
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

}  // namespace sluice

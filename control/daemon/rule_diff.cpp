#include "control/daemon/rule_diff.hpp"

#include "control/daemon/rule_change.hpp"

#include "lib/policy/keys/client_ip_reader.hpp"
#include "lib/policy/values/named_value.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace sluice {
namespace {

// The parts that are not alike, of the second list and of the first.
std::vector<std::string_view> differing(const std::vector<NamedText>& before,
                                        const std::vector<NamedText>& after) {
    std::vector<std::string_view> names;
    const auto note = [&names](const std::vector<NamedText>& in, const std::vector<NamedText>& of) {
        for (const NamedText& part : of) {
            const bool same = std::find(in.begin(), in.end(), part) != in.end();
            if (!same && std::find(names.begin(), names.end(), part.name) == names.end()) {
                names.push_back(part.name);
            }
        }
    };
    note(before, after);
    note(after, before);
    return names;
}

// Another algorithm has other parameters; to name them too says nothing more.
std::vector<std::string_view> reasons(const LimitSummary& before, const LimitSummary& after) {
    std::vector<std::string_view> names = differing(before.schema, after.schema);
    if (std::find(names.begin(), names.end(), "algorithm") != names.end()) {
        std::erase_if(names, [](std::string_view name) {
            return name != "algorithm" && name != "key" && name != "per";
        });
    }
    return names;
}

const LimitSummary* find_limit(const RuleSummary& rule, const std::string& name) {
    const auto found = std::find_if(rule.limits.begin(), rule.limits.end(),
                                    [&](const LimitSummary& limit) { return limit.name == name; });
    return found == rule.limits.end() ? nullptr : &*found;
}

// True if the same workers share a key as before. Another owner starts its buckets anew.
bool meet_alike(const LimitSummary& before, const LimitSummary& after) {
    constexpr auto kOwner = kLimitScopeNames[static_cast<std::size_t>(LimitScope::Owner)];
    return before.scope == after.scope &&
           (before.scope != kOwner || before.scope_note == after.scope_note);
}

std::vector<LimitDiff> diff_limits(const RuleSummary& before, const RuleSummary& after) {
    std::vector<LimitDiff> list;
    for (const LimitSummary& limit : after.limits) {
        const LimitSummary* old = find_limit(before, limit.name);
        if (old == nullptr) {
            list.push_back({limit.name, LimitDiff::Kind::Added, "", limit.text, {}});
            continue;
        }
        std::vector<std::string_view> because = reasons(*old, limit);
        const bool same_scope = meet_alike(*old, limit);
        if (because.empty() && old->text == limit.text && same_scope) {
            continue;
        }
        const auto kind = because.empty() ? LimitDiff::Kind::Changed : LimitDiff::Kind::Reset;
        const bool same_boxes = old->cluster.has_value() == limit.cluster.has_value();
        const auto shown = [same_scope, same_boxes](const LimitSummary& one) {
            return one.text + (same_scope ? "" : ", " + one.scope + one.scope_note) +
                   (same_boxes || !one.cluster ? "" : one.cluster->note);
        };
        list.push_back({limit.name, kind, shown(*old), shown(limit), std::move(because)});
    }
    for (const LimitSummary& limit : before.limits) {
        if (find_limit(after, limit.name) == nullptr) {
            list.push_back({limit.name, LimitDiff::Kind::Removed, limit.text, "", {}});
        }
    }
    return list;
}

// In the largest unit that it is a whole number of.
std::string ttl_text(const std::optional<Nanoseconds>& ttl) {
    using namespace std::chrono_literals;
    constexpr std::array<std::pair<Nanoseconds, std::string_view>, 6> kUnits{
        {{24h, "d"}, {1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}, {1us, "us"}}};
    if (!ttl) {
        return "";
    }
    for (const auto& [unit, name] : kUnits) {
        if (*ttl % unit == Nanoseconds{0}) {
            return std::to_string(*ttl / unit) + std::string{name};
        }
    }
    return std::to_string(ttl->count()) + "ns";
}

std::string active_text(const RuleSummary& rule) {
    return rule.active ? rule.active->text : "";
}

RuleDiff diff_rule(const RuleSummary& before, const RuleSummary& after) {
    RuleDiff diff{.id = after.id, .settings = {}, .limits = diff_limits(before, after)};
    const auto note = [&diff](std::string_view what, std::string from, std::string to) {
        if (from != to) {
            diff.settings.push_back({what, std::move(from), std::move(to)});
        }
    };
    const auto word = [](Mode mode) {
        return std::string{kModeNames[static_cast<std::size_t>(mode)]};
    };
    note("description", before.description, after.description);
    note("mode", word(before.mode), word(after.mode));
    note("when", before.when, after.when);
    note("active", active_text(before), active_text(after));
    note("key", before.key, after.key);
    note("action", before.action, after.action);
    note("ban", before.ban, after.ban);
    note("dynamic", before.dynamic ? text_of(*before.dynamic) : "",
         after.dynamic ? text_of(*after.dynamic) : "");
    note("ttl", ttl_text(before.ttl), ttl_text(after.ttl));
    note(kClientSetting, value_of(before.settings, kClientSetting),
         value_of(after.settings, kClientSetting));
    // A rule that decides on sight has none of the others.
    if (before.limits.empty() == after.limits.empty()) {
        for (const NamedText& setting : after.settings) {
            if (setting.name != kClientSetting) {
                note(setting.name, value_of(before.settings, setting.name), setting.value);
            }
        }
    }
    return diff;
}

RuleDiff diff_service(const ServiceSummary& before, const ServiceSummary& after) {
    RuleDiff diff{.id = after.id, .settings = {}, .limits = {}};
    const auto note = [&diff](std::string_view what, const std::string& from,
                              const std::string& to) {
        if (from != to) {
            diff.settings.push_back({what, from, to});
        }
    };
    const auto protocol_of = [](const ServiceSummary& service) {
        return std::string{kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]};
    };
    const auto mode_of = [](const ServiceSummary& service) {
        return std::string{kModeNames[static_cast<std::size_t>(service.mode)]};
    };
    note("description", before.description, after.description);
    note("protocol", protocol_of(before), protocol_of(after));
    note("mode", mode_of(before), mode_of(after));
    note("when", before.when, after.when);
    if (before.protocol == after.protocol) {  // which has other keys otherwise
        for (const NamedText& setting : after.settings) {
            note(setting.name, value_of(before.settings, setting.name), setting.value);
        }
    }
    return diff;
}

RuleDiff diff_one(const RuleSummary& before, const RuleSummary& after) {
    return diff_rule(before, after);
}
RuleDiff diff_one(const ServiceSummary& before, const ServiceSummary& after) {
    return diff_service(before, after);
}

template <typename Diff, typename Summary>
Diff diff_lists(const std::vector<Summary>& before, const std::vector<Summary>& after) {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < before.size(); ++i) {
        places[before[i].id] = i;
    }
    Diff diff;
    std::size_t furthest = 0;
    for (const Summary& one : after) {
        const auto old = places.find(one.id);
        if (old == places.end()) {
            diff.added.push_back(one.id);
            continue;
        }
        diff.reordered |= old->second < furthest;
        furthest = std::max(furthest, old->second);
        RuleDiff changed = diff_one(before[old->second], one);
        places.erase(old);
        if (changed.settings.empty() && changed.limits.empty()) {
            ++diff.unchanged;
        } else {
            diff.changed.push_back(std::move(changed));
        }
    }
    for (const Summary& one : before) {
        if (places.contains(one.id)) {
            diff.removed.push_back(one.id);
        }
    }
    return diff;
}

}  // namespace

SetDiff diff_of(const std::vector<RuleSummary>& before, const std::vector<RuleSummary>& after) {
    return diff_lists<SetDiff>(before, after);
}

ServiceDiffs diff_of(const std::vector<ServiceSummary>& before,
                     const std::vector<ServiceSummary>& after) {
    return diff_lists<ServiceDiffs>(before, after);
}

SetDiff diff_of(const RuleView& before, const CompiledRules& after) {
    SetDiff diff = diff_of(before.rules, after.rules);
    diff.services = diff_of(before.services, after.services);
    return diff;
}

namespace {

constexpr std::size_t kMostNamed = 3;

// "added a, b and 3 more"; empty: none.
std::string named(std::string_view what, const std::vector<std::string>& ids) {
    std::string text;
    for (std::size_t i = 0; i < std::min(ids.size(), kMostNamed); ++i) {
        text += (i == 0 ? std::string{what} + " " : ", ") + ids[i];
    }
    return ids.size() <= kMostNamed
               ? text
               : text + " and " + std::to_string(ids.size() - kMostNamed) + " more";
}

std::vector<std::string> ids_of(const std::vector<RuleDiff>& changed) {
    std::vector<std::string> ids;
    for (const RuleDiff& one : changed) {
        ids.push_back(one.id);
    }
    return ids;
}

}  // namespace

std::string note_of(const std::string& call, const SetDiff& diff) {
    if (call.starts_with("rule ")) {
        return call;  // which names the only rule
    }
    const ServiceDiffs& services = diff.services;
    std::string text;
    for (const std::string& part :
         {named("added", diff.added), named("removed", diff.removed),
          named("changed", ids_of(diff.changed)),
          std::string{diff.reordered ? "another order" : ""},
          named("added services", services.added), named("removed services", services.removed),
          named("changed services", ids_of(services.changed)),
          std::string{services.reordered ? "another order of services" : ""}}) {
        text += part.empty() ? "" : (text.empty() ? ": " : "; ") + part;
    }
    return call + text;
}

}  // namespace sluice

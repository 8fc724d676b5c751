#include "lib/rules/load/loaded_set.hpp"

#include "lib/rules/load/early_drop.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

// FNV-1a, 64 bits, and never 0 but for none.
std::uint64_t number_of(std::string_view tenant) {
    std::uint64_t hash = 14'695'981'039'346'656'037U;
    for (const char letter : tenant) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1'099'511'628'211U;
    }
    return tenant.empty() ? 0 : std::max<std::uint64_t>(hash, 1);
}

std::vector<LoadedLimit> unloaded(const std::vector<MeteredLimit>& limits, std::uint64_t tenant) {
    std::vector<LoadedLimit> loaded;
    loaded.reserve(limits.size());
    for (const MeteredLimit& limit : limits) {
        loaded.push_back({limit});
        loaded.back().tenant = tenant;
    }
    return loaded;
}

// Proxies that name clients; nullptr: there are none, or no rule asks for clients.
std::shared_ptr<const ProxiedClients> proxied_clients_of(const RuleSet& rules) {
    if (rules.clients != nullptr) {
        return std::make_shared<const ProxiedClients>(*rules.clients);
    }
    const bool asks = std::any_of(rules.rules.begin(), rules.rules.end(),
                                  [](const Rule& rule) { return rule.asks_clients; });
    return asks ? std::make_shared<const ProxiedClients>() : nullptr;
}

void add_source_ban(const RuleSet& rules, std::uint32_t index, LoadedSet& set) {
    const Rule& rule = rules.rules[index];
    if (!rule.bans() || rule.ban.applies_to != BanScope::Source) {
        return;
    }
    set.proves_senders |= !rule.ban.spoofable;
    if (rule.mode != Mode::Enforce || rule.candidate) {
        return;
    }
    const bool bans_by_name =
        rule.overrides != nullptr &&
        std::any_of(rule.overrides->plans.begin(), rule.overrides->plans.end(),
                    [](const OverridePlan& plan) { return plan.banned; });
    set.source_bans.push_back({.rule = index, .bans_by_name = bans_by_name});
}

}  // namespace

LoadedSet unloaded(const RuleSet& rules) {
    LoadedSet set;
    set.classifier = &rules.classifier;
    set.services = loaded_services(rules.services, rules.service_classifier);
    set.actions = rules.actions;
    set.owner_groups = rules.owner_groups;
    set.schedules = rules.schedules;
    set.proxied_clients = proxied_clients_of(rules);
    set.named_texts = rules.named_texts;
    set.rules.reserve(rules.rules.size());
    for (const Rule& rule : rules.rules) {
        LoadedRule& loaded = set.rules.emplace_back();
        static_cast<RuleTerms&>(loaded) = rule;
        const auto index = static_cast<std::uint32_t>(set.rules.size() - 1);
        loaded.place = rule.candidate ? set.rules[index - 1].place : index;
        set.reports_limits |= rule.has_limits() && rule.events.has_limits();
        if (!rule.path_costs.empty()) {
            loaded.costs_by_path = std::make_shared<const PathCosts>(rule.path_costs, rule.cost);
        }
        const std::uint64_t tenant = number_of(tenant_of(rule.id));
        loaded.limits = unloaded(rule.limits, tenant);
        static_cast<BanTerms&>(loaded.ban) = rule.ban;
        loaded.ban.boxes = unloaded(rule.ban.boxes, tenant);
        loaded.boxes_sources = boxes_sources(rule);
        add_source_ban(rules, index, set);
    }
    return set;
}

}  // namespace sluice

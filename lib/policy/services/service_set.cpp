#include "lib/policy/services/service_set.hpp"

#include "lib/policy/clauses/classifier_compiler.hpp"
#include "lib/policy/placement/absent_pairs.hpp"
#include "lib/policy/rules/condition_compiler.hpp"
#include "lib/policy/services/missing_parts.hpp"
#include "lib/policy/services/service_warnings.hpp"
#include "lib/policy/services/stance.hpp"
#include "lib/policy/services/unit_warnings.hpp"
#include "lib/rules/service_rss_mapping.hpp"

#include <algorithm>

namespace sluice {
namespace {

// With the rules' most, a message has room for both.
constexpr std::size_t kMaxServicesSize = std::size_t{96} << 20;

Position place_of_id(const YamlNode& node) {
    const YamlNode* id = node.is_map() ? value_of(node, "id") : nullptr;
    return id == nullptr ? node.at : id->at;
}

Position place_of_condition(const YamlNode& node) {
    const YamlNode* when = node.is_map() ? value_of(node, "when") : nullptr;
    return when == nullptr ? node.at : when->at;
}

}  // namespace

void ServiceSet::check_id(const YamlNode& node, const std::string& id) {
    const Position at = place_of_id(node);
    const auto [first, is_new] = ids_.emplace(id, at);
    if (!id.empty() && !is_new) {
        problems_.error(at, "two services are called `" + id + "`" +
                                (problems_.is_split() ? "; the first stands at " +
                                                            problems_.place_text(first->second)
                                                      : ""));
    }
}

void ServiceSet::add(const YamlNode& node, ReadService read, SetPool& pool,
                     CompiledRules& compiled) {
    check_id(node, read.service.id);
    std::optional<std::vector<Clause>> clauses{std::in_place};
    if (read.has_condition) {
        const Position at = value_of(node, "when")->at;
        clauses = clauses_of(read.when, pool);
        if (!clauses) {
            problems_.error(at, too_many_alternatives(read.when));
        } else if (clauses->empty() && read.summary.is_known) {
            problems_.warning(at, "this service can never be reached");
        }
    }
    if (read.service.mode != Mode::Off && clauses) {
        placed_.push_back({place_of_id(node), place_of_condition(node), compiled.services.size(),
                           *std::move(clauses)});
        compiled.set.services.push_back(std::move(read.service));
    }
    compiled.services.push_back(std::move(read.summary));
}

void ServiceSet::finish(const RssMapping& box, SetPool& pool, const std::vector<PlacedRule>& rules,
                        CompiledRules& compiled) {
    compile(pool, compiled);
    warn_of_services(placed_, pool, compiled, problems_);
    warn_of_absent_pairs(box, compiled);
    check_rss_mapping(box, compiled);
    note_stances(placed_, rules, pool, compiled);
    warn_of_rules(rules, compiled);
    warn_of_units(compiled, rules, pool, problems_);
    warn_of_missing_parts(compiled, rules, pool, problems_);
}

void ServiceSet::compile(const SetPool& pool, CompiledRules& compiled) {
    std::vector<RuleClause> clauses;
    for (std::uint32_t service = 0; service < placed_.size(); ++service) {
        for (const Clause& clause : placed_[service].clauses) {
            clauses.push_back({service, clause});
        }
    }
    if (placed_.empty()) {
        return;
    }
    const Position at = placed_.front().at;
    if (clauses.size() > kMaxClauses) {
        problems_.error(at, "the conditions of services make " + std::to_string(clauses.size()) +
                                " alternatives together, and at most " +
                                std::to_string(kMaxClauses) + " can be held");
        return;
    }
    auto parts = compile_clauses(std::move(clauses), pool, kMaxServicesSize);
    if (!parts) {
        problems_.error(at,
                        "the conditions of services are too large together: compiled, they would "
                        "take more than " +
                            std::to_string(kMaxServicesSize >> 20) + " MiB");
        return;
    }
    compiled.set.service_classifier = Classifier{*std::move(parts), Lookups::Slim};
}

void ServiceSet::warn_of_absent_pairs(const RssMapping& box, const CompiledRules& compiled) {
    for (const PlacedService& service : placed_) {
        const auto warning = find_absent_pair(compiled.services[service.summary].condition, box);
        if (warning) {
            problems_.warning(service.at, *warning);
        }
    }
}

void ServiceSet::check_rss_mapping(const RssMapping& box, const CompiledRules& compiled) {
    const std::optional<std::string> split = find_split(box);
    if (!split) {
        return;
    }
    for (const PlacedService& service : placed_) {
        const ServiceSummary& summary = compiled.services[service.summary];
        if (summary.path == ServicePath::Both) {
            problems_.error(service.at, "this box cannot follow `" + summary.id + "`: " + *split);
        }
    }
}

void ServiceSet::warn_of_rules(const std::vector<PlacedRule>& rules,
                               const CompiledRules& compiled) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const RuleSummary& rule = compiled.rules[rules[i].summary];
        const bool is_called_alike = rule.kind == RuleKind::Rule && ids_.contains(rule.id);
        if (is_called_alike) {
            problems_.warning(rules[i].at, "a service is called `" + rule.id +
                                               "` too: a mode set at run time is that of both");
        }
        if (rule.mode == Mode::Enforce && rule.stance.kind != Stance::Kind::Nothing &&
            !rule.stance.monitored.empty()) {
            problems_.warning(rules[i].at,
                              "this rule enforces over `" + rule.stance.monitored.front() +
                                  "`, which is in monitor: what that service would refuse "
                                  "passes, and goes around the rule");
        }
    }
}

}  // namespace sluice

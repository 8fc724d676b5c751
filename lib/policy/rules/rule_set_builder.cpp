#include "lib/policy/rules/rule_set_builder.hpp"

#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/databases/databases.hpp"
#include "lib/policy/placement/absent_pairs.hpp"
#include "lib/policy/placement/box_scopes.hpp"
#include "lib/policy/placement/cluster_limits.hpp"
#include "lib/policy/rules/exceeding.hpp"
#include "lib/policy/rules/idle_limits.hpp"
#include "lib/policy/rules/rule_size.hpp"
#include "lib/policy/rules/source_bans.hpp"
#include "lib/policy/rules/unmet_handshakes.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

void add_field(Field field, FieldSet& from_databases) {
    if (is_from_database(field)) {
        from_databases.add(field);
    }
}

void add_fields(const Expression& condition, FieldSet& from_databases) {
    if (condition.kind == Expression::Kind::Leaf) {
        add_field(condition.leaf.field, from_databases);
    }
    for (const Expression& part : condition.parts) {
        add_fields(part, from_databases);
    }
}

void add_fields(const ReadRule& read, FieldSet& from_databases) {
    add_fields(read.when, from_databases);
    for (const GroupingKey& key : read_keys(read.rule)) {
        for (const KeyPart& part : key) {
            add_field(part.field, from_databases);  // of a text: a field of packets
        }
    }
}

bool has_named_text(const GroupingKey& key) {
    return std::any_of(key.begin(), key.end(),
                       [](const KeyPart& part) { return part.text && is_named(*part.text); });
}

// By the file, or by a setting of a single key at run time. With `dynamic` such settings come and
// go, and the limit is counted in one way all the time. A ban moves no limit.
void note_overrides(const Rule& rule, RuleSummary& summary) {
    const bool have_numbers = rule.overrides != nullptr && rule.overrides->have_numbers();
    for (LimitSummary& limit : summary.limits) {
        if (limit.numbers) {
            limit.numbers->overridden |= have_numbers || summary.dynamic.has_value();
        }
    }
}

}  // namespace

void RuleSetBuilder::add(const YamlNode& node, ReadRule read) {
    const bool is_on = read.rule.mode != Mode::Off;
    if (is_on && read.summary.active) {
        read.rule.schedule = number_of(read.summary.active->schedule, node);
    }
    names_.add(node, read.rule, problems_);
    conditions_.add(node, read, compiled_);
    if (is_on) {
        add_fields(read, from_databases_);
    }
    note_overrides(read.rule, read.summary);
    if (std::any_of(read.rule.keys.begin(), read.rule.keys.end(), has_named_text)) {
        read.summary.text_names = compiled_.set.named_texts;
    }
    read.summary.memory = size_of(read.rule);
    read.summary.sees_all = read.everything || !read.when_is_whole;
    read.summary.condition = std::move(read.when);
    compiled_.rules.push_back(std::move(read.summary));
    if (is_on) {
        compiled_.set.rules.push_back(std::move(read.rule));
    }
}

bool RuleSetBuilder::take(ActionPool actions) {
    if (!std::move(actions).fill(compiled_.set)) {
        return false;
    }
    note_exceeding(compiled_);
    return true;
}

// Rules with the same schedule share it.
std::uint8_t RuleSetBuilder::number_of(const Schedule& schedule, const YamlNode& rule) {
    std::vector<Schedule>& all = compiled_.set.schedules;
    const auto known = std::find(all.begin(), all.end(), schedule);
    if (known == all.end() && all.size() == kMaxSchedules) {
        problems_.error(rule.at, "a file has at most " + std::to_string(kMaxSchedules) +
                                     " different schedules (`active`)");
        return 0;
    }
    const auto number = static_cast<std::uint8_t>(known - all.begin() + 1);
    if (known == all.end()) {
        all.push_back(schedule);
    }
    return number;
}

void RuleSetBuilder::check_bounds(const YamlNode& rules) {
    if (compiled_.rules.size() > kMaxRules) {
        problems_.error(rules.at,
                        "the rules, their candidates and the items of `bypass` are more "
                        "than " +
                            std::to_string(kMaxRules) + " together");
    }
    if (names_.limit_count() > kMaxLimits) {
        problems_.error(rules.at, "the rules have more than " + std::to_string(kMaxLimits) +
                                      " limits together");
    }
}

void RuleSetBuilder::finish(const YamlNode& rules, const Use& use, PatternCache* patterns,
                            const Databases& databases) {
    const auto& [box, purpose] = use;
    warn_of_overlaps(compiled_, conditions_.placed(), conditions_.sets(), problems_);
    warn_of_unmet_handshakes(compiled_, conditions_.placed(), conditions_.sets(), problems_);
    warn_of_idle_limits(compiled_, conditions_.placed(), conditions_.sets(), problems_);
    for (const PlacedRule& placed : conditions_.placed()) {
        const auto warning = find_absent_pair(compiled_.rules[placed.summary].condition, box);
        if (warning) {
            problems_.warning(placed.at, *warning);
        }
    }
    services_.finish(box, conditions_.sets(), conditions_.placed(), compiled_);
    decide_scopes(compiled_, conditions_.placed(), conditions_.sets(), box);
    report_cluster_limits(compiled_.rules, purpose, problems_);
    check_source_bans(compiled_, conditions_.placed(), services_.placed(), conditions_.sets(),
                      problems_);
    conditions_.compile(rules, patterns, compiled_);
    compiled_.set.origins = databases.origins(from_databases_, problems_);
}

}  // namespace sluice

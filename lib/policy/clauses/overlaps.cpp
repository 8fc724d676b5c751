#include "lib/policy/clauses/overlaps.hpp"

#include "lib/policy/clauses/clause_cover.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace sluice {
namespace {

// Everything that two rules must have in common to be the same, in one spelling.
std::string spelling_of(const Rule& rule, const RuleSummary& summary,
                        const std::vector<Clause>& clauses) {
    std::string text = summary.action + "\n" + std::to_string(static_cast<int>(rule.mode)) + "\n" +
                       std::to_string(static_cast<int>(rule.schedule));
    for (const NamedText& setting : summary.settings) {
        text += "\n" + setting.value;
    }
    for (const LimitSummary& limit : summary.limits) {
        text += "\n" + limit.text;
        for (const NamedText& part : limit.schema) {
            text += " " + part.value;
        }
    }
    // A set is of one field, and each set and each test is kept once.
    std::set<std::string> conditions;
    for (const Clause& clause : clauses) {
        std::string condition;
        for (const ClauseTerm& term : clause.fields) {
            condition += std::to_string(term.set) + " ";
        }
        for (const TextTerm& term : clause.texts) {
            condition += (term.negated ? "not " : "test ") + std::to_string(term.test) + " ";
        }
        conditions.insert(std::move(condition));
    }
    for (const std::string& condition : conditions) {
        text += "\n" + condition;
    }
    return text;
}

class OverlapFinder {
public:
    OverlapFinder(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                  const SetPool& pool, Problems& problems)
        : rules_{compiled.set.rules},
          summaries_{compiled.rules},
          placed_{placed},
          problems_{problems},
          cover_{pool} {}

    void run() {
        for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
            if (rules_[rule].decides_on_sight()) {
                for (const Clause& clause : placed_[rule].clauses) {
                    cover_.add(clause, rule);
                }
            }
        }
        for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
            if (summary_of(rule).kind == RuleKind::Rule && !placed_[rule].clauses.empty() &&
                !warn_if_shadowed(rule) && rules_[rule].has_limits()) {
                warn_if_same(rule);
            }
        }
    }

private:
    [[nodiscard]] const RuleSummary& summary_of(std::uint32_t rule) const {
        return summaries_[placed_[rule].summary];
    }

    // A rule with limits is checked only when no rule with on_match has decided, wherever it
    // stands.
    bool warn_if_shadowed(std::uint32_t rule) {
        const auto all = static_cast<std::uint32_t>(rules_.size());
        const std::uint32_t before = rules_[rule].has_limits() ? all : rule;
        std::optional<std::uint32_t> first;
        bool others = false;
        for (const Clause& clause : placed_[rule].clauses) {
            const std::optional<std::uint32_t> owner = cover_.first_owner(clause, before);
            if (!owner) {
                return false;
            }
            others |= first && *first != *owner;
            first = std::min(first.value_or(*owner), *owner);
        }
        problems_.warning(placed_[rule].at, "this rule never judges a packet: `" +
                                                rules_[*first].id + "`" +
                                                (others ? " and others decide" : " decides") +
                                                " on all of its packets at once");
        return true;
    }

    void warn_if_same(std::uint32_t rule) {
        std::string spelling = spelling_of(rules_[rule], summary_of(rule), placed_[rule].clauses);
        const auto [same, fresh] = seen_.try_emplace(std::move(spelling), rule);
        if (!fresh) {
            problems_.warning(placed_[rule].at,
                              "this rule does all the same as `" + rules_[same->second].id + "`");
        }
    }

    const std::vector<Rule>& rules_;
    const std::vector<RuleSummary>& summaries_;
    const std::vector<PlacedRule>& placed_;
    Problems& problems_;
    ClauseCover cover_;
    std::map<std::string, std::uint32_t> seen_;
};

}  // namespace

void warn_of_overlaps(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                      const SetPool& pool, Problems& problems) {
    OverlapFinder{compiled, placed, pool, problems}.run();
}

}  // namespace sluice

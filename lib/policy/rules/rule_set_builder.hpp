#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/rules/action_pool.hpp"
#include "lib/policy/rules/condition_compiler.hpp"
#include "lib/policy/rules/rule_names.hpp"
#include "lib/policy/rules/rule_reader.hpp"
#include "lib/policy/services/service_set.hpp"

#include <utility>

namespace sluice {

// The rules of a file as one set, with their summaries beside it.
class RuleSetBuilder {
public:
    RuleSetBuilder(const LineIndex& lines, Problems& problems) noexcept
        : problems_{problems}, conditions_{lines, problems}, services_{problems} {}

    // Headers and cookies that rules name, to be added to while they are read.
    [[nodiscard]] TextNames& text_names() noexcept { return compiled_.set.named_texts; }
    // In the order of their decisions. What is off gets a summary and no rule.
    void add(const YamlNode& node, ReadRule read);
    // In the order of the file, before the rules.
    void add(const YamlNode& node, ReadService read) {
        services_.add(node, std::move(read), conditions_.sets(), compiled_);
    }
    // Takes what the rules name, before finish(). False: it is more than a set can hold.
    [[nodiscard]] bool take(ActionPool actions);
    // Proxies that name the clients of requests, before finish().
    void believe(std::shared_ptr<const ClientSource> source) {
        compiled_.set.clients = std::move(source);
    }
    // Alternatives of all conditions so far.
    [[nodiscard]] std::size_t clause_count() const noexcept { return conditions_.clause_count(); }
    // Reports, at `rules`, what is more than a set can hold.
    void check_bounds(const YamlNode& rules);

    // To be called once, when no error was found: overlaps, on which workers of this box the
    // packets of each key arrive, the classifier and the tables of origins.
    struct Use {
        const RssMapping& box;
        Purpose purpose;
    };
    void finish(const YamlNode& rules, const Use& use, PatternCache* patterns,
                const Databases& databases);
    [[nodiscard]] CompiledRules result() && { return std::move(compiled_); }

private:
    // The number of a schedule in the set; 0, which is reported at the rule: there is no room.
    [[nodiscard]] std::uint8_t number_of(const Schedule& schedule, const YamlNode& rule);

    Problems& problems_;
    RuleNames names_;
    ConditionCompiler conditions_;
    ServiceSet services_;
    FieldSet from_databases_;  // that rules which are not off test or group by
    CompiledRules compiled_;
};

}  // namespace sluice

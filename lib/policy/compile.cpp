#include "lib/policy/compile.hpp"

#include "lib/policy/condition.hpp"
#include "lib/policy/limit_reader.hpp"
#include "lib/policy/map_reader.hpp"
#include "lib/policy/rule_reader.hpp"
#include "lib/policy/yaml_tree.hpp"

#include <array>
#include <set>

namespace sluice {
namespace {

constexpr auto kTopKeys = std::to_array<KeyRow>({
    {"version"},
    {"defaults"},
    {"limits"},
    {"rules"},
    {"data"},  // lists and databases: an error where a rule uses one
    {"client_ip", false},
    {"bypass", false},
});
constexpr auto kDataKeys = std::to_array<KeyRow>({{"country_db"}, {"asn_db"}, {"lists"}});

// Bytes of the tests and constants of a program.
std::uint64_t size_of(const Program& program) {
    return program.tests.size() * sizeof(Test) + program.numbers.size() * sizeof(NumberRange) +
           (program.v4.size() + program.v6.size()) * sizeof(AddressRange);
}

// Bytes of a rule, without its condition.
std::uint64_t size_of(const Rule& rule) {
    return sizeof(Rule) + rule.id.size() + rule.key.size() * sizeof(KeyPart) +
           rule.limits.size() * sizeof(MeteredLimit);
}

// The whole file, top down.
class FileReader {
public:
    FileReader(const RuleText& source, Purpose purpose, const ModeOverrides& modes,
               Problems& problems)
        : context_{source.text, problems, purpose == Purpose::Enforce},
          relaxed_{source.text, problems, false},
          file_{source.text, problems, purpose, modes, {}, limits_} {}

    std::optional<CompiledRules> run(const YamlNode& root) {
        const MapReader top{root, kTopKeys, context_, "a rule file"};
        if (!top.is_map()) {
            return std::nullopt;
        }
        read_version(top);
        if (const YamlNode* defaults = top.find("defaults")) {
            file_.defaults = read_defaults(*defaults, context_);
        }
        if (const YamlNode* data = top.find("data")) {
            const MapReader known{*data, kDataKeys, relaxed_, "data"};
            relaxed_.not_enforced(top.place_of_key("data"), "`data`");
        }
        name_limits(top.find("limits"));
        read_rules(top);
        check_named_limits();
        if (file_.problems.has_errors()) {
            return std::nullopt;
        }
        return std::move(compiled_);
    }

private:
    void read_version(const MapReader& top) {
        const YamlNode* version = top.find("version");
        if (version == nullptr) {
            file_.problems.error(top.node().at, "a rule file begins with `version: 1`");
        } else if (!version->is_scalar() || !version->plain || version->text != "1") {
            file_.problems.error(version->at,
                                 "this version reads `version: 1`, found " + kind_name(*version));
        }
    }

    void name_limits(const YamlNode* limits) {
        if (limits == nullptr) {
            return;
        }
        if (!limits->is_map()) {
            file_.problems.error(
                limits->at, "`limits` is a map of names to limits, found " + kind_name(*limits));
            return;
        }
        for (const auto& [name, node] : limits->entries) {
            limits_.nodes.emplace(name.text, &node);
            limit_places_.emplace_back(name.text, name.at);
        }
    }

    void read_rules(const MapReader& top) {
        const YamlNode* rules = top.find("rules");
        if (rules == nullptr) {
            file_.problems.error(top.node().at, "a rule file has `rules`, a list");
            return;
        }
        if (!rules->is_list() && rules->kind != YamlNode::Kind::Null) {
            file_.problems.error(rules->at,
                                 "`rules` is a list of rules, found " + kind_name(*rules));
            return;
        }
        if (rules->items.size() > kMaxRules) {
            file_.problems.error(rules->at,
                                 "a file has at most " + std::to_string(kMaxRules) + " rules");
            return;
        }
        for (const YamlNode& node : rules->items) {
            add_rule(node);
        }
        if (limit_count_ > kMaxLimits) {
            file_.problems.error(rules->at, "the rules have more than " +
                                                std::to_string(kMaxLimits) + " limits together");
        }
    }

    void add_rule(const YamlNode& node) {
        ReadRule read = read_rule(node, file_);
        if (!read.rule.id.empty() && !ids_.insert(read.rule.id).second) {
            file_.problems.error(value_of(node, "id")->at,
                                 "two rules are called `" + read.rule.id + "`");
        }
        for (const MeteredLimit& limit : read.rule.limits) {
            ++limit_count_;
            if (!identities_.insert(limit.identity).second) {
                file_.problems.error(node.at,
                                     "the names of this rule's limits hash like another's; "
                                     "choose another id");
            }
        }
        const std::uint64_t before = size_of(compiled_.set.program);
        compile_condition(node, read);
        read.summary.memory = size_of(read.rule) + size_of(compiled_.set.program) - before;
        compiled_.rules.push_back(read.summary);
        if (read.rule.mode != Mode::Off) {
            compiled_.set.rules.push_back(std::move(read.rule));
        }
    }

    void compile_condition(const YamlNode& node, ReadRule& read) {
        if (read.everything || read.rule.mode == Mode::Off) {
            return;
        }
        const std::optional<Condition> when = append_condition(read.when, compiled_.set.program);
        if (!when) {
            file_.problems.error(
                value_of(node, "when")->at,
                "the condition has more than " + std::to_string(kMaxTestsPerRule) + " tests");
        }
        read.rule.when = when.value_or(Condition{});
    }

    // A limit that no rule uses is read all the same, so that its errors are seen.
    void check_named_limits() {
        for (const auto& [name, at] : limit_places_) {
            if (limits_.used.contains(name)) {
                continue;
            }
            (void)read_limit(*limits_.nodes.at(name), std::nullopt, relaxed_);
            file_.problems.warning(at, "no rule uses the limit `" + name + "`");
        }
    }

    ReadContext context_;
    ReadContext relaxed_;
    NamedLimits limits_;
    FileContext file_;
    std::vector<std::pair<std::string, Position>> limit_places_;
    std::set<std::string> ids_;
    std::set<std::uint64_t> identities_;
    std::size_t limit_count_ = 0;
    CompiledRules compiled_;
};

}  // namespace

std::optional<CompiledRules> compile_rules(const RuleText& source, Purpose purpose,
                                           const ModeOverrides& modes, Problems& problems) {
    const std::optional<YamlNode> root = read_yaml(source.text, problems);
    if (!root) {
        return std::nullopt;
    }
    return FileReader{source, purpose, modes, problems}.run(*root);
}

}  // namespace sluice

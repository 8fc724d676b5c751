#include "lib/policy/compile.hpp"

#include "lib/policy/bypass_reader.hpp"
#include "lib/policy/clauses/classifier_compiler.hpp"
#include "lib/policy/databases/databases.hpp"
#include "lib/policy/map_reader.hpp"
#include "lib/policy/named_limits.hpp"
#include "lib/policy/overlaps.hpp"
#include "lib/policy/rule_reader.hpp"
#include "lib/policy/scalar_places.hpp"
#include "lib/policy/scopes/box_scopes.hpp"
#include "lib/policy/text_check.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"
#include "lib/policy/texts/text_terms.hpp"
#include "lib/policy/yaml_tree.hpp"

#include <array>
#include <exception>
#include <set>

namespace sluice {
namespace {

constexpr auto kTopKeys = std::to_array<KeyRow>({
    {"version"},
    {"defaults"},
    {"limits"},
    {"rules"},
    {"data"},
    {"client_ip"},
    {"bypass"},
});
constexpr auto kDataKeys = std::to_array<KeyRow>({{"country_db"}, {"asn_db"}, {"lists"}});

// The keys as they are sent, and the place of each in the table that packets look into.
std::uint64_t size_of(const Overrides& overrides) {
    constexpr std::uint64_t kPlaceOfKey = 32;
    std::uint64_t size = overrides.numbers.size() * sizeof(LimitOverride) +
                         overrides.plans.size() * sizeof(OverridePlan);
    for (const KeyOverrides& keys : overrides.keys) {
        size += keys.bytes.size() + keys.rows.size() * (sizeof(KeyOverrides::Row) + kPlaceOfKey);
    }
    return size;
}

// Bytes of a rule, without its condition.
std::uint64_t size_of(const Rule& rule) {
    std::uint64_t keys = 0;
    for (const GroupingKey& key : rule.keys) {
        keys += sizeof(GroupingKey) + key.size() * sizeof(KeyPart);
    }
    return sizeof(Rule) + rule.id.size() + keys +
           (rule.limits.size() + rule.ban.boxes.size()) * sizeof(MeteredLimit) +
           (rule.overrides != nullptr ? size_of(*rule.overrides) : 0);
}

std::string count_text(std::uint64_t count) {
    return count == UINT64_MAX ? "more than 10^19" : std::to_string(count);
}

// The whole file, top down.
class FileReader {
public:
    FileReader(const LineIndex& lines, const RuleText& source, Purpose purpose,
               const ModeOverrides& modes, Problems& problems)
        : list_files_{source.lists},
          patterns_{source.patterns},
          box_{source.box == nullptr ? usual_spread() : *source.box},
          context_{lines, problems, purpose == Purpose::Enforce, &databases_},
          relaxed_{lines, problems, false, &databases_},
          file_{lines,  problems,   purpose,  modes,        {},          limits_,
                lists_, databases_, actions_, source.lists, source.keys, source.overrides} {}

    std::optional<CompiledRules> run(const YamlNode& root) {
        const MapReader top{root, kTopKeys, context_, "a rule file"};
        if (!top.is_map()) {
            return std::nullopt;
        }
        read_version(top);
        if (const YamlNode* defaults = top.find("defaults")) {
            file_.defaults = read_defaults(*defaults, context_);
        }
        if (const YamlNode* client = top.find("client_ip")) {
            file_.client_ip = read_client_ip(*client, relaxed_);
            compiled_.client = file_.client_ip.view;
        }
        if (const YamlNode* data = top.find("data")) {
            read_data(*data);
        }
        if (const YamlNode* limits = top.find("limits")) {
            limits_.read(*limits, context_);
        }
        if (const YamlNode* bypass = top.find("bypass")) {
            add_bypass(*bypass);
        }
        read_rules(top);
        limits_.warn_of_unused(relaxed_);
        lists_.warn_of_unused(relaxed_);
        if (!file_.problems.has_errors()) {
            warn_of_overlaps(compiled_, placed_, sets_, file_.problems);
            databases_.warn_of_unused(relaxed_);
            decide_scopes(compiled_, placed_, sets_, box_);
            compile_conditions(*top.find("rules"));
            compiled_.set.origins = databases_.origins(asked_, file_.problems);
        }
        if (file_.problems.has_errors()) {
            return std::nullopt;
        }
        compiled_.lists = lists_.summaries();
        compiled_.databases = databases_.summaries();
        compiled_.set.actions = std::move(actions_).table();
        return std::move(compiled_);
    }

private:
    void read_data(const YamlNode& data) {
        const MapReader map{data, kDataKeys, relaxed_, "data"};
        if (const YamlNode* lists = map.find("lists")) {
            lists_.read(*lists, list_files_, context_);
        }
        databases_.read(map, list_files_, context_);
    }

    void read_version(const MapReader& top) {
        const YamlNode* version = top.find("version");
        if (version == nullptr) {
            file_.problems.error(top.node().at, "a rule file begins with `version: 1`");
        } else if (!version->is_scalar() || !version->plain || version->text != "1") {
            file_.problems.error(version->at,
                                 "this version reads `version: 1`, found " + kind_name(*version));
        }
    }

    void read_rules(const MapReader& top) {
        const YamlNode* rules = top.find("rules");
        if (rules == nullptr) {
            file_.problems.error(top.node().at, "a rule file has `rules`, a list");
            return;
        }
        if (!rules->is_list()) {
            // Nothing may be all that is left of a file that was cut: no rules are written [].
            file_.problems.error(
                rules->at, "`rules` is a list of rules, [] for none; found " + kind_name(*rules));
            return;
        }
        if (rules->items.size() > kMaxRules) {
            file_.problems.error(rules->at,
                                 "a file has at most " + std::to_string(kMaxRules) + " rules");
            return;
        }
        for (const YamlNode& node : rules->items) {
            add_rule(node, read_rule(node, file_));
            for (ReadRule& candidate : read_candidates_of(node, file_)) {
                add_rule(node, std::move(candidate));
            }
        }
        if (compiled_.rules.size() > kMaxRules) {
            file_.problems.error(rules->at,
                                 "the rules, their candidates and the items of `bypass` are more "
                                 "than " +
                                     std::to_string(kMaxRules) + " together");
        }
        if (limit_count_ > kMaxLimits) {
            file_.problems.error(rules->at, "the rules have more than " +
                                                std::to_string(kMaxLimits) + " limits together");
        }
    }

    // Before all rules, since they are asked before them.
    void add_bypass(const YamlNode& bypass) {
        for (ReadBypass& budget : read_bypass(bypass, file_)) {
            add_rule(*budget.node, std::move(budget.rule));
        }
    }

    void add_rule(const YamlNode& node, ReadRule read) {
        check_names(node, read.rule);
        add_clauses(node, read);
        if (read.rule.mode != Mode::Off) {
            note_asked(read);
        }
        read.summary.memory = size_of(read.rule);
        read.summary.sees_all = read.everything || !read.when_is_whole;
        read.summary.condition = std::move(read.when);
        note_overridden(read);
        compiled_.rules.push_back(std::move(read.summary));
        nodes_.push_back(&node);
        if (read.rule.mode != Mode::Off) {
            compiled_.set.rules.push_back(std::move(read.rule));
        }
    }

    // By the file, or by what was said of single keys at run time.
    static void note_overridden(ReadRule& read) {
        for (LimitSummary& limit : read.summary.limits) {
            if (limit.numbers) {
                limit.numbers->overridden |= read.rule.overrides != nullptr;
            }
        }
    }

    // Which fields from databases a rule tests or groups by.
    void note_asked(const ReadRule& read) {
        note_asked(read.when);
        for (const GroupingKey& key : read.rule.keys) {
            for (const KeyPart& part : key) {
                note_asked(part.field);  // a text has none that is asked for
            }
        }
    }
    void note_asked(const Expression& condition) {
        if (condition.kind == Expression::Kind::Leaf) {
            note_asked(condition.leaf.field);
        }
        for (const Expression& part : condition.parts) {
            note_asked(part);
        }
    }
    void note_asked(Field field) {
        if (is_from_database(field)) {
            asked_.add(field);
        }
    }

    void check_names(const YamlNode& node, const Rule& rule) {
        limit_count_ += rule.limits.size() + rule.ban.boxes.size();
        if (rule.id.empty()) {
            return;
        }
        if (!ids_.insert(rule.id).second) {
            file_.problems.error(value_of(node, "id")->at,
                                 "two rules are called `" + rule.id + "`");
            return;
        }
        for_each_state(rule, [&](const MeteredLimit& limit) {
            if (!identities_.insert(limit.identity).second) {
                file_.problems.error(node.at,
                                     "the names of this rule's limits hash like another's; "
                                     "choose another id");
            }
        });
    }

    // A rule that is off is checked like the others, and leaves nothing in the set.
    void add_clauses(const YamlNode& node, const ReadRule& read) {
        std::optional<std::vector<Clause>> clauses{{Clause{}}};
        if (!read.everything) {
            clauses = clauses_of(read.when, sets_);
        }
        if (!clauses) {
            file_.problems.error(value_of(node, "when")->at,
                                 "the condition makes " +
                                     count_text(count_when_multiplied_out(read.when)) +
                                     " alternatives when it is written out, and at most " +
                                     std::to_string(kMaxClausesPerRule) +
                                     " can be held; split the rule, or name values of one field "
                                     "with `in {...}`");
            return;
        }
        if (clauses->empty() && read.when_is_whole) {
            file_.problems.warning(value_of(node, "when")->at, "this rule can never match");
        }
        if (read.rule.mode != Mode::Off) {
            const bool known = read.everything || read.when_is_whole;
            const YamlNode* id = value_of(node, "id");
            placed_.push_back({.at = id == nullptr ? node.at : id->at,
                               .summary = compiled_.rules.size(),
                               .clauses = known ? *clauses : std::vector<Clause>{}});
            for (Clause& clause : *clauses) {
                clauses_.push_back(
                    {static_cast<std::uint32_t>(compiled_.set.rules.size()), std::move(clause)});
            }
        }
    }

    void compile_conditions(const YamlNode& rules) {
        if (clauses_.size() > kMaxClauses) {
            file_.problems.error(rules.at, "the conditions make " +
                                               std::to_string(clauses_.size()) +
                                               " alternatives together, and at most " +
                                               std::to_string(kMaxClauses) + " can be held");
            return;
        }
        std::optional<ClassifierParts> parts = compile_clauses(std::move(clauses_), sets_);
        if (!parts) {
            file_.problems.error(rules.at,
                                 "the conditions are too large together: compiled, they "
                                 "would take more than " +
                                     std::to_string(kMaxCompiledSize >> 20) + " MiB");
            return;
        }
        if (const std::optional<std::string> excess = find_excess(parts->texts)) {
            file_.problems.error(rules.at, *excess);
            return;
        }
        PatternCache none;
        if (const auto refusal = (patterns_ == nullptr ? none : *patterns_).compile(parts->texts)) {
            file_.problems.error(place_of(rules, *refusal), refusal->what);
            return;
        }
        // Whoever has packets makes it fast.
        compiled_.set.classifier = Classifier{*std::move(parts), Lookups::Slim};
        share_memory();
    }

    // Where the pattern stands that was refused, if it was one.
    [[nodiscard]] Position place_of(const YamlNode& rules, const PatternRefusal& refusal) const {
        for (std::size_t i = 0; refusal.pattern && i < nodes_.size(); ++i) {
            const auto offset = sluice::place_of(*refusal.pattern, compiled_.rules[i].condition);
            if (offset) {
                return ScalarPlaces{file_.lines, *value_of(*nodes_[i], "when")}[*offset];
            }
        }
        return rules.at;
    }

    // What the compiled conditions take is told by rule: each has its part of the clauses.
    void share_memory() {
        const Classifier& classifier = compiled_.set.classifier;
        const std::vector<std::uint32_t>& rule_of = classifier.parts().rule_of;
        if (rule_of.empty()) {
            return;
        }
        std::vector<std::uint64_t> clauses(compiled_.set.rules.size());
        for (const std::uint32_t rule : rule_of) {
            ++clauses[rule];
        }
        std::size_t rule = 0;
        for (RuleSummary& summary : compiled_.rules) {
            if (summary.mode != Mode::Off) {
                summary.memory += classifier.bytes() * clauses[rule++] / rule_of.size();
            }
        }
    }

    const ListReader* list_files_;
    PatternCache* patterns_;
    const BoxSpread box_;
    ReadContext context_;
    ReadContext relaxed_;
    NamedLimits limits_;
    NamedLists lists_;
    Databases databases_;
    ActionPool actions_;
    FieldSet asked_;  // from databases, by rules that are not off
    FileContext file_;
    std::set<std::string> ids_;
    std::set<std::uint64_t> identities_;
    std::size_t limit_count_ = 0;
    SetPool sets_;
    std::vector<RuleClause> clauses_;
    std::vector<PlacedRule> placed_;      // beside the rules of the set
    std::vector<const YamlNode*> nodes_;  // that compiled_.rules were read from
    CompiledRules compiled_;
};

}  // namespace

std::string bound_text(const LimitSummary& limit) {
    return limit.bound + limit.scope_note;
}

std::optional<CompiledRules> compile_rules(const RuleText& source, Purpose purpose,
                                           const ModeOverrides& modes, Problems& problems) {
    if (source.text.size() > kMaxTextSize) {
        problems.error({}, "the file is larger than 64 MiB");
        return std::nullopt;
    }
    try {
        const LineIndex lines{source.text};
        if (const std::optional<YamlNode> root = read_yaml(lines, problems)) {
            return FileReader{lines, source, purpose, modes, problems}.run(*root);
        }
    } catch (const std::exception& error) {
        problems.error({}, error.what());
    }
    return std::nullopt;
}

}  // namespace sluice

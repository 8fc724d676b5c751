#include "lib/policy/compile.hpp"

#include "lib/policy/databases/databases.hpp"
#include "lib/policy/domains/suffix_file.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/files/joined_files.hpp"
#include "lib/policy/limits/named_limits.hpp"
#include "lib/policy/rules/bypass_reader.hpp"
#include "lib/policy/rules/rule_set_builder.hpp"
#include "lib/policy/services/service_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The keys of a rule file, top down.
class FileReader {
public:
    FileReader(const LineIndex& lines, const RuleText& source, Purpose purpose,
               const ModeOverrides& modes, Problems& problems)
        : only_{source.only},
          list_files_{source.lists},
          patterns_{source.patterns},
          box_{source.box == nullptr ? usual_rss_mapping() : *source.box},
          context_{lines, problems, purpose == Purpose::Enforce, &databases_},
          relaxed_{lines, problems, false, &databases_},
          rules_{lines, problems},
          suffixes_{source.lists},
          file_{lines,
                problems,
                purpose,
                modes,
                {},
                limits_,
                lists_,
                databases_,
                actions_,
                rules_.text_names(),
                suffixes_,
                source.lists,
                source.keys,
                source.overrides,
                source.targets} {}

    std::optional<CompiledRules> run(const YamlNode& root,
                                     const std::vector<TenantTree>& tenants = {}) {
        const MapReader top{root, rule_keys::kTop, context_, "a rule file"};
        if (!top.is_map()) {
            return std::nullopt;
        }
        read_version(top);
        if (const YamlNode* defaults = top.find("defaults")) {
            file_.defaults = read_defaults(*defaults, context_);
        }
        if (const YamlNode* data = top.find("data")) {
            read_data(*data);
        }
        if (const YamlNode* client = top.find("client_ip")) {
            file_.client_ip = read_client_ip(*client, lists_, context_);
        }
        if (const YamlNode* limits = top.find("limits")) {
            limits_.read(*limits, context_);
        }
        if (const YamlNode* services = top.find("services")) {
            read_services(*services);
        }
        if (const YamlNode* bypass = top.find("bypass"); bypass != nullptr && only_.empty()) {
            read_bypass(*bypass);
        }
        read_rules(top);
        for (const TenantTree& tenant : tenants) {
            read_tenant(tenant);
        }
        if (!rules_.take(std::move(actions_))) {
            file_.problems.error({}, "the rules name more than " + std::to_string(kMaxActions) +
                                         " different actions");
        }
        limits_.warn_of_unused(relaxed_);
        lists_.warn_of_unused(relaxed_);
        if (!file_.problems.are_interrupted() && !file_.problems.has_errors()) {
            databases_.warn_of_unused(relaxed_);
            rules_.believe(file_.client_ip.source);
            rules_.finish(*top.find("rules"), {box_, file_.purpose}, patterns_, databases_);
        }
        if (file_.problems.has_errors()) {
            return std::nullopt;
        }
        CompiledRules compiled = std::move(rules_).result();
        compiled.client = file_.client_ip.view;
        const std::vector<Rule>& rules = compiled.set.rules;
        if (std::none_of(rules.begin(), rules.end(),
                         [](const Rule& rule) { return rule.asks_clients; })) {
            compiled.set.clients = nullptr;
        }
        if (asks_for_domain(compiled.set)) {
            compiled.set.suffixes = suffixes_.rules();
        }
        compiled.lists = lists_.summaries();
        compiled.databases = databases_.summaries();
        return compiled;
    }

private:
    void read_data(const YamlNode& data) {
        const MapReader map{data, rule_keys::kData, relaxed_, "data"};
        if (const YamlNode* lists = map.find("lists")) {
            lists_.read(*lists, list_files_, context_);
        }
        databases_.read(map, list_files_, context_);
    }

    void read_version(const MapReader& top) {
        const YamlNode* version = top.find("version");
        if (version == nullptr) {
            file_.problems.error(top.node().at, "a rule file begins with `version: 1`");
        } else if (std::string fault = version_fault(*version); !fault.empty()) {
            file_.problems.error(version->at, std::move(fault));
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
        add_rules(*rules, file_);
    }

    void add_rules(const YamlNode& rules, const FileContext& file) {
        for (const YamlNode& node : rules.items) {
            if (file.problems.are_interrupted()) {
                return;
            }
            if (!only_.empty()) {
                if (const YamlNode* id = value_of(node, "id"); id != nullptr && id->text == only_) {
                    rules_.add(node, read_rule(node, file));
                }
                continue;
            }
            rules_.add(node, read_rule(node, file));
            for (ReadRule& candidate : read_candidates_of(node, file)) {
                rules_.add(node, std::move(candidate));
            }
        }
        rules_.check_bounds(rules);
    }

    // A tenant's text names nothing of an operator's file: it has limits and defaults of its own.
    void read_tenant(const TenantTree& tree) {
        const MapReader top{tree.root, rule_keys::kTop, context_, "a rule file"};
        const YamlNode* rules = top.find("rules");
        if (rules == nullptr || !rules->is_list()) {
            file_.problems.error(rules == nullptr ? tree.root.at : rules->at,
                                 "a rule file has `rules`, a list; [] for none");
            return;
        }
        const TenantScope scope = scope_of(tree, file_.problems);
        NamedLimits limits;
        NamedLists lists;
        FileContext file{
            file_.lines, file_.problems, file_.purpose, file_.modes,    {},
            limits,      lists,          databases_,    actions_,       rules_.text_names(),
            suffixes_,   nullptr,        file_.keys,    file_.overrides};
        file.tenant = &scope;
        if (const YamlNode* defaults = top.find("defaults")) {
            file.defaults = read_defaults(*defaults, context_);
        }
        if (const YamlNode* named = top.find("limits")) {
            limits.read(*named, context_);
        }
        const std::size_t clauses = rules_.clause_count();
        add_rules(*rules, file);
        limits.warn_of_unused(relaxed_);
        if (rules_.clause_count() - clauses > kTenantClausesPerRule * tree.tenant->rules) {
            file_.problems.error(
                rules->at,
                "the conditions make " + std::to_string(rules_.clause_count() - clauses) +
                    " alternatives, and a tenant of at most " + std::to_string(tree.tenant->rules) +
                    " rules has " + std::to_string(kTenantClausesPerRule) + " for each of these");
        }
    }

    void read_services(const YamlNode& services) {
        if (!services.is_list()) {
            file_.problems.error(
                services.at,
                "`services` is a list of services, [] for none; found " + kind_name(services));
            return;
        }
        if (services.items.size() > kMaxServices) {
            file_.problems.error(
                services.at, "a file has at most " + std::to_string(kMaxServices) + " services");
            return;
        }
        for (const YamlNode& node : services.items) {
            ReadService service = read_service(node, file_);
            if (service.service.mode != Mode::Off && !service.service.proxies.empty()) {
                file_.client_ip.view.proxied = true;
                file_.client_ip.services += " " + service.service.id;
            }
            rules_.add(node, std::move(service));
        }
    }

    // Before all rules, as packets are charged to them before any rule.
    void read_bypass(const YamlNode& bypass) {
        for (ReadBypass& budget : sluice::read_bypass(bypass, file_)) {
            rules_.add(*budget.node, std::move(budget.rule));
        }
    }

    std::string_view only_;
    const ListReader* list_files_;
    PatternCache* patterns_;
    const RssMapping box_;
    ReadContext context_;
    ReadContext relaxed_;
    NamedLimits limits_;
    NamedLists lists_;
    Databases databases_;
    ActionPool actions_;
    RuleSetBuilder rules_;
    SuffixFile suffixes_;
    FileContext file_;
};

}  // namespace

std::string bound_text(const LimitSummary& limit) {
    return limit.bound + limit.scope_note + (limit.cluster ? limit.cluster->note : "");
}

namespace {

// A place in the joined text as the place in its file.
void place_in_files(CompiledRules& compiled, const Problems& problems, bool are_several) {
    for (RuleSummary& rule : compiled.rules) {
        const Position at{rule.line, 1};
        const bool is_named = are_several || !tenant_of(rule.id).empty();
        rule.file = is_named ? problems.file_of(at) : "";
        rule.line = problems.in_file(at).line;
    }
    for (ListSummary& list : compiled.lists) {
        list.line = problems.in_file({list.line, 1}).line;
    }
    for (ServiceSummary& service : compiled.services) {
        const Position at{service.line, 1};
        service.file = are_several ? problems.file_of(at) : "";
        service.line = problems.in_file(at).line;
    }
}

std::optional<CompiledRules> compile_joined(const RuleText& source, Purpose purpose,
                                            const ModeOverrides& modes, Problems& problems) {
    std::size_t size = 0;
    std::size_t files_of_operator = 0;
    for (const RuleFilePart& part : source.parts) {
        size += part.text.size();
        files_of_operator += part.tenant == nullptr ? 1 : 0;
    }
    if (files_of_operator > kMaxRuleFiles || size > kMaxTextSize) {
        problems.error(
            {}, "a set is at most " + std::to_string(kMaxRuleFiles) + " files, of 64 MiB together");
        return std::nullopt;
    }
    try {
        const JoinedFiles files{source.parts};
        problems.split(files.starts());
        const std::optional<JoinedFiles::Trees> trees = files.read(problems);
        if (!trees || !trees->root.is_map()) {
            return std::nullopt;
        }
        const LineIndex lines{files.text()};
        auto compiled =
            FileReader{lines, source, purpose, modes, problems}.run(trees->root, trees->tenants);
        if (compiled) {
            place_in_files(*compiled, problems, files_of_operator > 1);
        }
        return compiled;
    } catch (const std::bad_alloc&) {
        problems.error({}, "there is too little memory to compile it");
    } catch (const std::exception& error) {
        problems.error({}, error.what());
    }
    return std::nullopt;
}

}  // namespace

std::optional<CompiledRules> compile_rules(const RuleText& source, Purpose purpose,
                                           const ModeOverrides& modes, Problems& problems) {
    auto compiled =
        source.parts.empty()
            ? read_file(source.text, problems,
                        [&](const LineIndex& lines, const YamlNode& root) {
                            return FileReader{lines, source, purpose, modes, problems}.run(root);
                        })
            : compile_joined(source, purpose, modes, problems);
    problems.sort_by_place();
    return compiled;
}

}  // namespace sluice

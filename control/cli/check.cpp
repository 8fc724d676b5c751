#include "control/active_json.hpp"
#include "control/cli/checked_data.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/tenant_check.hpp"
#include "control/cli/terminal.hpp"
#include "control/cluster_json.hpp"
#include "control/json.hpp"
#include "control/service_json.hpp"
#include "control/text_file.hpp"
#include "lib/policy/box/box.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/placement/rss_mapping.hpp"
#include "lib/policy/services/implied_services.hpp"
#include "lib/policy/services/stance_text.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// One file that was looked at, and what is wrong with it.
struct Checked {
    std::string name;
    std::string text;
    std::vector<Problem> problems;
    bool read = true;  // else its one problem says which file, and why not
};

bool has_error(const Checked& file) {
    return std::any_of(file.problems.begin(), file.problems.end(),
                       [](const Problem& problem) { return problem.severity == Severity::Error; });
}

// `look` reads the text and notes its problems.
template <typename Look>
Checked check_file(const std::string& path, bool strict, Look look) {
    Checked file{.name = path, .text = {}, .problems = {}};
    Problems problems{path};
    Result<std::string> text = read_text_file(path);
    if (text) {
        file.text = *std::move(text);
        look(RuleText{path, file.text}, problems);
    } else {
        problems.error({}, text.error().what);
        file.read = false;
    }
    file.problems = problems.list();
    if (strict) {
        make_warnings_errors(file.problems);
    }
    return file;
}

bool has_scope(const CompiledRules& compiled, LimitScope scope) {
    const std::string_view name = kLimitScopeNames[static_cast<std::size_t>(scope)];
    return std::any_of(compiled.rules.begin(), compiled.rules.end(), [&](const RuleSummary& rule) {
        return std::any_of(rule.limits.begin(), rule.limits.end(),
                           [&](const LimitSummary& limit) { return limit.scope == name; });
    });
}

bool is_for_assumed_cluster(const std::vector<RuleSummary>& rules) {
    return std::ranges::any_of(rules, [](const RuleSummary& rule) {
        return std::ranges::any_of(rule.limits, [](const LimitSummary& limit) {
            return limit.cluster && limit.cluster->cluster.kind == BoxCluster::Kind::Assumed;
        });
    });
}

// Prints the costs of limits whose packets are handed to the owners of their keys, or that those
// are asked about.
void print_owners(const CompiledRules& compiled) {
    if (has_scope(compiled, LimitScope::Asked)) {
        print(
            "asked: each packet of the rule that its other limits admit waits until the worker "
            "that owns its key has answered, which is exact, and later packets of its connection "
            "wait behind it; without an answer they are dropped as no_answer, or judged without "
            "that limit if on_full is open\n");
    }
    if (has_scope(compiled, LimitScope::Owner)) {
        print(
            "owner: every packet of the rule goes to the worker that owns its key, which is exact; "
            "most of them pass a ring between two workers, and are parsed and matched twice; where "
            "it is full they are dropped as ring_full, or judged without that limit if on_full is "
            "open\n");
    }
    if (is_for_assumed_cluster(compiled.rules)) {
        print(
            "cluster: its size is assumed, since no sluice.yaml was given: --config FILE or "
            "--cluster-size N says how many boxes share these limits\n");
    }
    for (const std::string& note : compiled.one_worker_notes) {
        print("note: " + note + "\n");
    }
}

void print_stances(const std::vector<RuleSummary>& rules) {
    Table table{{{"RULE"}, {"READS LAYER 7 OF"}}};
    bool some = false;
    for (const RuleSummary& rule : rules) {
        if (const std::string stance = text_of(rule.stance); !stance.empty()) {
            table.row({rule.id, stance});
            some = true;
        }
    }
    if (some) {
        print(table.text());
    }
}

// When rules that are active at times are so next.
void print_active(const std::vector<RuleSummary>& rules) {
    Table table{{{"RULE"}, {"ACTIVE"}, {"NEXT"}}};
    bool some = false;
    for (const RuleSummary& rule : rules) {
        if (rule.active) {
            table.row({rule.id, rule.active->text, next_text(*rule.active, utc_now())});
            some = true;
        }
    }
    if (some) {
        print(table.text());
    }
}

void print_services(const std::vector<ServiceSummary>& services) {
    Table table{{{"SERVICE"}, {"PROTOCOL"}, {"MODE"}, {"WHEN"}, {"SETTINGS"}}};
    for (const ServiceSummary& service : services) {
        std::string when = service.when;
        std::replace_if(
            when.begin(), when.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
        table.row({service.id,
                   std::string{kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]},
                   std::string{kModeNames[static_cast<std::size_t>(service.mode)]}, when,
                   text_of(service.settings)});
    }
    print(table.text());
}

void print_rules(const CompiledRules& compiled) {
    const std::vector<RuleSummary>& rules = compiled.rules;
    Table table{
        {{"RULE"}, {"MODE"}, {"MEMORY", kRight}, {"LIMIT"}, {"SCOPE"}, {"AT MOST, IN ANY TIME W"}}};
    for (const RuleSummary& rule : rules) {
        const std::string mode{kModeNames[static_cast<std::size_t>(rule.mode)]};
        std::vector<std::string> cells{rule.id, mode, memory_text(rule.memory)};
        if (rule.limits.empty()) {
            table.row({cells[0], cells[1], cells[2], "", "", ""});
        }
        for (const LimitSummary& limit : rule.limits) {
            table.row({cells[0], cells[1], cells[2], limit.name,
                       scope_text(limit.scope, limit.cluster.has_value()), bound_text(limit)});
            cells = {"", "", ""};
        }
        if (!rule.ban.empty()) {
            table.row({"", "", "", "ban", "", rule.ban});
        }
        if (rule.dynamic) {
            table.row({"", "", "", "dynamic", "", text_of(*rule.dynamic)});
        }
    }
    print(table.text());
    print_owners(compiled);
}

Json rules_json(const std::vector<RuleSummary>& rules) {
    Json list = Json::array();
    for (const RuleSummary& rule : rules) {
        Json limits = Json::array();
        for (const LimitSummary& limit : rule.limits) {
            limits.push_back({{"name", limit.name},
                              {"key", limit.key},
                              {"scope", limit.scope},
                              {"bound", bound_text(limit)}});
            add_cluster(limit, limits.back());
        }
        list.push_back({{"id", rule.id}, {"limits", limits}, {"memory", rule.memory}});
        if (rule.active) {
            list.back()["active"] = active_json(*rule.active, utc_now());
        }
        if (!rule.ban.empty()) {
            list.back()["ban"] = rule.ban;
        }
        if (rule.dynamic) {
            list.back()["dynamic"] = text_of(*rule.dynamic);
        }
        if (rule.stance.kind != Stance::Kind::None) {
            list.back()["stance"] = stance_json(rule.stance);
        }
    }
    return list;
}

Json implied_json(const ImpliedServices& implied) {
    Json services = Json::array();
    for (const ImpliedService& service : implied.services) {
        services.push_back(
            {{"id", service.id},
             {"protocol", kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]},
             {"when", service.when},
             {"mode", "monitor"},
             {"rules", service.rules}});
    }
    return {{"services", std::move(services)}, {"without_place", implied.without_place}};
}

// The first error of `apply` for rules that are sound; nullopt: it takes them. It wants all data
// files, and nothing that is not enforced yet in a rule that is on.
std::optional<std::string> refusal_of(const RuleText& source) {
    Problems problems{std::string{source.file}};
    const auto applied = compile_rules(source, Purpose::Enforce, {}, problems);
    if (applied) {
        return applied->set.rules.empty() ? std::optional<std::string>{"no rule in it is on"}
                                          : std::nullopt;
    }
    const auto error =
        std::find_if(problems.list().begin(), problems.list().end(),
                     [](const Problem& problem) { return problem.severity == Severity::Error; });
    return error == problems.list().end() ? "it does not compile" : error->message;
}

// Parts of sluice.yaml that rules are checked against.
struct BoxFacts {
    RssMapping mapping = usual_rss_mapping();
    NotifyTargets webhooks{};
};

Checked check_rules(const RuleFiles& input, bool strict, const BoxFacts& box, CompiledRules& rules,
                    std::optional<std::string>& refused) {
    const LongWork work{"check"};
    Problems problems{input.label};
    const ListReader lists = lists_of(input);
    const std::vector<RuleFilePart> parts = parts_of(input.text, input.slices);
    PatternCache patterns;
    const RuleText whole{.file = input.label,
                         .text = input.text,
                         .lists = &lists,
                         .patterns = &patterns,
                         .box = &box.mapping,
                         .parts = parts,
                         .targets = &box.webhooks};
    auto compiled = compile_rules(whole, Purpose::Check, {}, problems);
    if (compiled) {
        // Rules without a warning are applied as they are.
        const bool is_clean = problems.list().empty() && !compiled->set.rules.empty();
        refused = is_clean ? std::nullopt : refusal_of(whole);
        rules = *std::move(compiled);
    }
    Checked checked{.name = input.label, .text = {}, .problems = problems.list()};
    if (strict) {
        make_warnings_errors(checked.problems);
    }
    return checked;
}

// One line: whether the file is sound, and whether it can be applied as it is.
std::string verdict_text(const std::optional<std::string>& refused) {
    return refused ? "ok, but `sluicectl apply` refuses it: " + *refused + "\n" : "ok\n";
}

void print_json(const std::vector<Checked>& files, bool ok, bool applies,
                const CompiledRules& compiled) {
    Json problems = Json::array();
    for (const Checked& file : files) {
        for (Json& problem : to_json(file.problems)) {
            problems.push_back(std::move(problem));
        }
    }
    Json document{{"ok", ok},
                  {"applies", applies},
                  {"problems", problems},
                  {"rules", rules_json(compiled.rules)},
                  {"lists", lists_json(compiled.lists)},
                  {"databases", databases_json(compiled.databases)}};
    if (!compiled.services.empty()) {
        document["services"] = services_json(compiled.services);
    }
    print(dump_line(document));
}

std::vector<std::string> names_of(const std::vector<Webhook>& webhooks) {
    std::vector<std::string> names;
    for (const Webhook& webhook : webhooks) {
        names.push_back(webhook.name);
    }
    return names;
}

void note_box(const std::optional<BoxConfig>& read, BoxFacts& box) {
    if (read) {
        box.mapping = rss_mapping_of(*read);
        box.webhooks.names = names_of(read->notify);
    }
}

}  // namespace

ExitCode check_set(const Options& options) {
    std::vector<Checked> files;
    CompiledRules rules;
    std::optional<std::string> refused;
    BoxFacts box;
    if (!options.config_file.empty()) {
        files.push_back(check_file(options.config_file, options.strict,
                                   [&box](const RuleText& source, Problems& problems) {
                                       note_box(read_box(source, Purpose::Check, problems), box);
                                   }));
    }
    if (options.cluster_size != 0) {
        box.mapping.cluster.kind = BoxCluster::Kind::Member;
        box.mapping.cluster.size = options.cluster_size;
    }
    const Result<RuleFiles> read = read_rule_files(options.rules_files);
    const RuleFiles input = read ? *read : RuleFiles{.label = label_of(options.rules_files)};
    files.push_back(
        read ? check_rules(input, options.strict, box, rules, refused)
             : Checked{.name = input.label,
                       .text = {},
                       .problems = {{input.label, {}, Severity::Error, read.error().what}},
                       .read = false});
    const bool ok = std::none_of(files.begin(), files.end(), has_error);
    if (options.json && !(options.services && ok)) {
        print_json(files, ok, ok && !refused, rules);
        return ok ? ExitCode::Done : ExitCode::Refused;
    }
    for (const Checked& file : files) {
        if (!file.read) {
            say_error(file.problems.front().message);
        } else if (file.name == input.label) {
            say_file_problems(file.problems, input);
        } else {
            say_problems(file.problems, {file.name, file.text});
        }
    }
    if (ok && options.services) {
        const ImpliedServices implied = implied_services(rules);
        print_file(options.json ? dump_line(implied_json(implied)) : yaml_of(implied));
    } else if (ok) {
        print(verdict_text(refused));
        if (!rules.rules.empty()) {
            print_rules(rules);
            print_active(rules.rules);
            print_stances(rules.rules);
        }
        if (!rules.services.empty()) {
            print_services(rules.services);
        }
        if (!rules.lists.empty()) {
            print_lists(rules.lists);
        }
        if (!rules.databases.empty()) {
            print_databases(rules.databases);
        }
    }
    return ok ? ExitCode::Done : ExitCode::Refused;
}

}  // namespace sluice

#include "control/cli/tenant_check.hpp"

#include "control/cli/box_config.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/placement/rss_mapping.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

// nullptr: sluice.yaml has no such tenant, which was said.
const TenantOptions* find_in(const BoxConfig& box, const Options& options) {
    std::vector<std::string_view> names;
    for (const TenantOptions& tenant : box.tenants) {
        if (tenant.name == options.tenant) {
            return &tenant;
        }
        names.push_back(tenant.name);
    }
    say_error(fmt::format("{} has no tenant {}{}", options.config_file, options.tenant,
                          did_you_mean(options.tenant, names)));
    return nullptr;
}

std::string tenant_rules_text(const std::vector<RuleSummary>& rules) {
    Table table{{{"RULE"}, {"MODE"}, {"TABLE", kRight}, {"LIMIT"}, {"AT MOST, IN ANY TIME W"}}};
    for (const RuleSummary& rule : rules) {
        const auto share =
            std::ranges::find(rule.settings, std::string_view{"table_share"}, &NamedText::name);
        std::vector<std::string> cells{rule.id,
                                       std::string{kModeNames[static_cast<std::size_t>(rule.mode)]},
                                       share == rule.settings.end() ? "" : share->value};
        if (rule.limits.empty()) {
            table.row({cells[0], cells[1], "", "", rule.action});
        }
        for (const LimitSummary& limit : rule.limits) {
            table.row({cells[0], cells[1], cells[2], limit.name, bound_text(limit)});
            cells = {"", "", ""};
        }
    }
    return table.text();
}

void show_checked(const Options& options, const std::vector<Problem>& problems,
                  const std::optional<CompiledRules>& compiled, const RuleFiles& files) {
    if (options.json) {
        Json rules = Json::array();
        for (std::size_t i = 0; compiled && i < compiled->rules.size(); ++i) {
            rules.push_back({{"id", compiled->rules[i].id}});
        }
        print(dump_line({{"ok", compiled.has_value()},
                         {"tenant", options.tenant},
                         {"problems", to_json(problems)},
                         {"rules", std::move(rules)}}));
        return;
    }
    say_file_problems(problems, files);
    if (compiled) {
        print("ok\n" + (compiled->rules.empty() ? "" : tenant_rules_text(compiled->rules)));
    }
}

}  // namespace

ExitCode check_tenant(const Options& options) {
    if (options.config_file.empty()) {
        return refuse("--tenant needs --config SLUICE_YAML, which says what the tenant has",
                      ExitCode::Usage);
    }
    const std::optional<BoxConfig> box = read_box_file(options.config_file);
    const TenantOptions* tenant = box ? find_in(*box, options) : nullptr;
    const auto read = read_rules(options);
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto& files = std::get<RuleFiles>(read);
    if (tenant == nullptr) {
        return ExitCode::Refused;
    }
    if (!files.slices.empty()) {
        return refuse("the rules of a tenant are one file", ExitCode::Usage);
    }
    if (files.text.size() > tenant->text) {
        return refuse(fmt::format("{} has {} bytes, and the rules of {} may have {}", files.label,
                                  files.text.size(), tenant->name, tenant->text));
    }
    Problems problems{files.label};
    const RssMapping mapping = rss_mapping_of(*box);
    PatternCache patterns;
    const std::array parts{
        RuleFilePart{.file = "", .text = "version: 1\nrules: []\n", .folder = ""},
        RuleFilePart{.file = files.label, .text = files.text, .folder = "", .tenant = tenant}};
    std::optional<CompiledRules> compiled = compile_rules(
        {.file = files.label, .text = {}, .patterns = &patterns, .box = &mapping, .parts = parts},
        Purpose::Enforce, {}, problems);
    std::vector<Problem> found = problems.list();
    if (options.strict && !found.empty()) {
        make_warnings_errors(found);
        compiled.reset();
    }
    show_checked(options, found, compiled, files);
    return compiled ? ExitCode::Done : ExitCode::Refused;
}

ExitCode run_check(const Options& options) {
    return options.tenant.empty() ? check_set(options) : check_tenant(options);
}

}  // namespace sluice

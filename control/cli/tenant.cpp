#include "control/cli/alone_text.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>

// Tenants: what each may have, its rules, and changes of them.
namespace sluice {
namespace {

std::string trial_text(const Json& tenant) {
    const Json& trial = tenant.at("unconfirmed");
    return trial.is_null() ? ""
                           : fmt::format("on trial for {:.0f} s",
                                         std::ceil(trial.at("seconds_left").get<double>()));
}

std::string or_none(const Json& text) {
    return text.is_null() ? "" : text.get<std::string>();
}

std::string tenants_text(const Json& answer) {
    Table table{{{"TENANT"},
                 {"RULES", kRight},
                 {"OF", kRight},
                 {"TABLE", kRight},
                 {"NETWORKS", kRight},
                 {"SINCE"},
                 {"STATE"}}};
    for (const Json& tenant : answer.at("tenants")) {
        const std::string problem = or_none(tenant.at("problem"));
        table.row({text_at(tenant, "name"), grouped(count_at(tenant, "rules")),
                   grouped(count_at(tenant, "most_rules")), text_at(tenant, "table_share"),
                   grouped(tenant.at("networks").size()), or_none(tenant.at("changed_at")),
                   problem.empty() ? trial_text(tenant) : "STANDS ASIDE: " + problem});
    }
    std::string text = answer.at("tenants").empty()
                           ? "no tenants: `tenants` in sluice.yaml names them\n"
                           : table.text();
    for (const Json& gone : answer.at("gone")) {
        const auto name = gone.get<std::string>();
        text += fmt::format(
            "the rules of {} are kept, and sluice.yaml has no such tenant; "
            "`sluicectl tenant forget {}` ends that\n",
            name, name);
    }
    return text;
}

std::string networks_of(const Json& tenant) {
    std::string networks;
    for (const Json& network : tenant.at("networks")) {
        networks += (networks.empty() ? "" : " ") + network.get<std::string>();
    }
    return networks;
}

std::string tenant_text(const Json& tenant) {
    std::string text = fmt::format(
        "{}: {} of at most {}, {} of {} bytes, {} of the table\n", text_at(tenant, "name"),
        counted(tenant.at("rules").size(), "rule"), count_at(tenant, "most_rules"),
        count_at(tenant, "bytes"), count_at(tenant, "most_bytes"), text_at(tenant, "table_share"));
    text += "for what arrives at " + networks_of(tenant) + "\n";
    if (const std::string problem = or_none(tenant.at("problem")); !problem.empty()) {
        text += bold("STANDS ASIDE: " + problem) + "\n";
    }
    if (const std::string trial = trial_text(tenant); !trial.empty()) {
        text += bold("UNCONFIRMED: " + trial + "; `sluicectl tenant confirm` keeps it") + "\n";
    }
    Table table{{{"RULE"}, {"MODE"}, {"KEY"}, {"LIMITS"}}};
    for (const Json& rule : tenant.at("rules")) {
        std::string limits;
        for (const Json& limit : rule.at("limits")) {
            limits += (limits.empty() ? "" : "; ") + text_at(limit, "text");
        }
        table.row({text_at(rule, "id"), text_at(rule, "mode"), text_at(rule, "key"), limits});
    }
    return tenant.at("rules").empty() ? text : text + table.text();
}

std::string changed_text(const Json& answer) {
    const std::string trial = trial_text(answer);
    return fmt::format("{}: {}{}\n{}", text_at(answer, "tenant"),
                       counted(count_at(answer, "rules"), "rule"),
                       trial.empty() ? "" : ", " + trial, alone_text(answer));
}

// A difference as those of a whole set are shown, of which a tenant's have no generation.
Json as_set_diff(const Json& answer) {
    Json diff = answer;
    diff["from"] = diff["to"] = "";
    diff["reordered"] = false;
    return diff;
}

std::string target_of(const Options& options, std::string_view resource) {
    return fmt::format("/v1/tenants/{}/{}", url_escape(options.tenant), resource);
}

// The answer to the rules of a file, whose warnings have been said; or what the command ends with.
std::variant<Json, ExitCode> send_file(const Options& options, std::string_view method,
                                       const std::string& target) {
    const auto read = read_rules(options);
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto& files = std::get<RuleFiles>(read);
    if (!files.slices.empty()) {
        return refuse("the rules of a tenant are one file", ExitCode::Usage);
    }
    return answer_about(files, [&] {
        const LongWork work{"tenant"};
        return ask(options, {.method = method,
                             .target = fmt::format("{}file={}", target, url_escape(files.label)),
                             .content_type = "application/yaml",
                             .body = files.text,
                             .timeout = kCompilePatience,
                             .if_match = options.if_match});
    }());
}

ExitCode list_tenants(const Options& options) {
    return show(options, {.target = "/v1/tenants"}, tenants_text);
}

ExitCode show_tenant(const Options& options) {
    if (!options.source) {
        return show(options, {.target = target_of(options, "rules")}, tenant_text);
    }
    const auto answer = ask(options, {.target = target_of(options, "rules")});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    print_file(text_at(std::get<Json>(answer), "text"));
    return ExitCode::Done;
}

ExitCode apply_tenant(const Options& options) {
    const std::string confirm =
        options.confirm.empty() ? "" : "confirm=" + url_escape(options.confirm) + "&";
    const auto sent = send_file(options, "PUT", target_of(options, "rules") + "?" + confirm);
    if (const auto* exit = std::get_if<ExitCode>(&sent)) {
        return *exit;
    }
    const Json& document = std::get<Json>(sent);
    print(options.json ? dump_line(document) : changed_text(document));
    return ExitCode::Done;
}

ExitCode diff_tenant(const Options& options) {
    const auto sent = send_file(options, "POST", target_of(options, "check") + "?");
    if (const auto* exit = std::get_if<ExitCode>(&sent)) {
        return *exit;
    }
    const Json& document = std::get<Json>(sent);
    print(options.json ? dump_line(document) : diff_text(as_set_diff(document)));
    return ExitCode::Done;
}

ExitCode turn_tenant(const Options& options) {
    DaemonRequest request = post_json(target_of(options, options.word), {});
    request.timeout = kCompilePatience;
    request.if_match = options.if_match;
    return show(options, request, changed_text);
}

ExitCode forget_tenant(const Options& options) {
    return show(options,
                {.method = "DELETE",
                 .target = "/v1/tenants/" + url_escape(options.tenant),
                 .timeout = kCompilePatience},
                [](const Json& answer) {
                    return fmt::format("the rules of {} are forgotten\n",
                                       text_at(answer, "forgotten"));
                });
}

struct TenantAction {
    std::string_view word;
    ExitCode (*run)(const Options&);
    bool takes_name = true;
    bool takes_file = false;
};
constexpr auto kTenantCommands = std::to_array<TenantAction>({{"list", list_tenants, false},
                                                              {"show", show_tenant},
                                                              {"apply", apply_tenant, true, true},
                                                              {"diff", diff_tenant, true, true},
                                                              {"confirm", turn_tenant},
                                                              {"rollback", turn_tenant},
                                                              {"forget", forget_tenant}});

}  // namespace

ExitCode run_tenant(const Options& options) {
    const auto* const action =
        std::ranges::find(kTenantCommands, options.word, &TenantAction::word);
    if (action->takes_name == options.tenant.empty()) {
        return refuse(
            action->takes_name ? "this needs the NAME of a tenant" : "`tenant list` takes no name",
            ExitCode::Usage);
    }
    if (action->takes_file == options.rules_files.empty()) {
        return refuse(
            action->takes_file ? "this needs a FILE with the tenant's rules" : "this takes no file",
            ExitCode::Usage);
    }
    return action->run(options);
}

}  // namespace sluice

#include "control/cli/box_config.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/token_file.hpp"
#include "control/random_secret.hpp"
#include "control/visible_text.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>

namespace sluice {
namespace {

constexpr std::string_view kUsualConfig = "/etc/sluice/sluice.yaml";

std::string link_text(const Json& answer) {
    const std::string secret = text_at(answer, "secret");
    std::string text;
    const bool has_url = !answer.at("url").is_null();
    const bool is_of_tenant = answer.contains("tenant") && !answer.at("tenant").is_null();
    if (is_of_tenant) {
        return fmt::format(
            "for {}:\n  {}\nof the tenant {}; once, until {}\n",
            has_url ? "whoever opens" : "the page of the dashboard, behind its address",
            has_url ? text_at(answer, "url") : "#secret=" + secret, text_at(answer, "tenant"),
            text_at(answer, "expires"));
    }
    if (has_url) {
        text += "on this machine:\n  " + text_at(answer, "url") + "\n";
    }
    text += fmt::format(
        "from yours, by SSH:\n  ssh -N -L 8480:{} {}\n"
        "  http://localhost:8480/#secret={}\n",
        text_at(answer, "forward"), text_at(answer, "box"), secret);
    return text + fmt::format("role {}; once, until {}\n", text_at(answer, "role"),
                              text_at(answer, "expires"));
}

// The role that the options give away.
AssignedRole assigned_by(const Options& options) {
    return options.tenant.empty() ? AssignedRole{.role = *role_named(options.role)}
                                  : AssignedRole{.role = Role::Tenant, .tenant = options.tenant};
}

ExitCode print_link(const Options& options) {
    Json body{{"role", text_of(assigned_by(options))}};
    if (!options.lasts.empty()) {
        body["for"] = options.lasts;
    }
    return show(options, post_json("/v1/session/link", body), link_text);
}

// The file that --tokens-file names, or `web:` of sluice.yaml, and whose it is.
std::optional<TokenPlace> token_place(const Options& options) {
    if (!options.tokens_file.empty()) {
        return TokenPlace{options.tokens_file, ""};
    }
    const std::string config =
        options.config_file.empty() ? std::string{kUsualConfig} : options.config_file;
    const std::optional<BoxConfig> box = read_box_file(config);
    if (!box) {
        say_error("--config names the configuration of the box, --tokens-file the file of tokens");
        return std::nullopt;
    }
    if (!box->web || box->web->tokens_file.empty()) {
        say_error(config +
                  " has no `tokens_file` under `web:`; name one there, or give "
                  "--tokens-file");
        return std::nullopt;
    }
    if (!options.tenant.empty() && std::ranges::find(box->tenants, options.tenant,
                                                     &TenantOptions::name) == box->tenants.end()) {
        say_error(config + " has no tenant " + options.tenant + " under `tenants:`");
        return std::nullopt;
    }
    return TokenPlace{beside_config(config, box->web->tokens_file), box->user};
}

ExitCode add_token(const Options& options, const TokenPlace& place) {
    const AssignedRole assigned = assigned_by(options);
    NamedToken token{.name = options.token_name, .role = assigned.role, .tenant = assigned.tenant};
    if (!is_token_name(token.name)) {
        return refuse("a name has 1 to 64 letters, digits, `-`, `_`, `.` and `@`", ExitCode::Usage);
    }
    if (!options.lasts.empty()) {
        const Result<Nanoseconds> lasts = parse_duration(options.lasts);
        if (!lasts || *lasts < std::chrono::seconds{1}) {
            return refuse("`" + visible_line(options.lasts) + "` is no duration, such as 30d",
                          ExitCode::Usage);
        }
        token.end =
            std::time(nullptr) + std::chrono::duration_cast<std::chrono::seconds>(*lasts).count();
    }
    const Result<std::string> secret = random_secret();
    if (!secret) {
        return refuse(secret.error().what);
    }
    token.digest = digest_of(*secret);
    const Result<Done> done =
        change_tokens(place, [&](const std::string& text) { return with_token(text, token); });
    if (!done) {
        return refuse(done.error().what);
    }
    const std::string end = token_end_text(token.end);
    print(options.json ? dump_line({{"name", token.name},
                                    {"role", text_of(assigned)},
                                    {"end", end},
                                    {"token", *secret}})
                       : *secret + "\n");
    return ExitCode::Done;
}

ExitCode remove_token(const Options& options, const TokenPlace& place) {
    const Result<Done> done = change_tokens(
        place, [&](const std::string& text) { return without_token(text, options.token_name); });
    return done ? ExitCode::Done : refuse(done.error().what);
}

ExitCode list_tokens(const Options& options, const TokenPlace& place) {
    const Result<std::string> text = token_text(place);
    if (!text) {
        return refuse(text.error().what);
    }
    const TokenFile file = read_token_lines(*text);
    Json rows = Json::array();
    std::string lines;
    for (const NamedToken& token : file.tokens) {
        const bool is_over = token.end != 0 && token.end <= std::time(nullptr);
        const std::string role = text_of(AssignedRole{token.role, token.tenant});
        rows.push_back({{"name", token.name},
                        {"role", role},
                        {"end", token_end_text(token.end)},
                        {"over", is_over}});
        lines += fmt::format("{}  {}  {}{}\n", token.name, role, token_end_text(token.end),
                             is_over ? "  over" : "");
    }
    print(options.json ? dump_line({{"tokens", rows}}) : lines);
    return file.problems.empty() ? ExitCode::Done : refuse(problems_text(place.path, file));
}

}  // namespace

ExitCode run_dashboard(const Options& options) {
    if (!options.tenant.empty() && !is_tenant_name(options.tenant)) {
        return refuse("`" + visible_line(options.tenant) +
                          "` is no tenant: a small letter, then small letters, digits and `-`",
                      ExitCode::Usage);
    }
    if (options.word.empty()) {
        return print_link(options);
    }
    if (options.token_word.empty()) {
        return refuse("`dashboard token` is followed by add, list or remove", ExitCode::Usage);
    }
    const bool is_list = options.token_word == "list";
    if (is_list != options.token_name.empty()) {
        return refuse(is_list ? "`token list` takes no name" : "which token? give its NAME",
                      ExitCode::Usage);
    }
    const std::optional<TokenPlace> place = token_place(options);
    if (!place) {
        return ExitCode::Refused;
    }
    return is_list                       ? list_tokens(options, *place)
           : options.token_word == "add" ? add_token(options, *place)
                                         : remove_token(options, *place);
}

}  // namespace sluice

#include "control/daemon/settings.hpp"

#include "control/text_file.hpp"
#include "lib/policy/box/box.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

template <std::size_t kSize, typename E>
std::string_view name_in(const std::array<std::string_view, kSize>& names, E value) {
    return names[static_cast<std::size_t>(value)];
}

// A file that sluice.yaml names: relative to it.
std::string beside(const std::string& config, const std::string& file) {
    return file.empty() ? "" : (std::filesystem::path{config}.parent_path() / file).string();
}

void name_files_of_web(const std::string& config, WebOptions& web) {
    web.tokens_file = beside(config, web.tokens_file);
    for (WebProxy& proxy : web.behind_proxy) {
        proxy.secret_file = beside(config, proxy.secret_file);
    }
}

// The configuration's part of the settings; what this version does not build is refused.
bool take_config(const std::string& path, Settings& settings) {
    const Result<std::string> text = read_text_file(path);
    if (!text) {
        fmt::print(stderr, "sluiced: {}\n", text.error().what);
        return false;
    }
    Problems problems{path};
    const std::optional<BoxConfig> box = read_box({path, *text}, Purpose::Enforce, problems);
    for (const Problem& problem : problems.list()) {
        fmt::print(stderr, "{}\n", render(problem, *text));
    }
    if (!box) {
        return false;
    }
    settings.control = box->control;
    settings.read_only = box->read_only;
    settings.api = box->api;
    if (settings.api) {
        settings.api->token_file = beside(path, box->api->token_file);
    }
    settings.web = box->web;
    if (settings.web) {
        name_files_of_web(path, *settings.web);
    }
    settings.notify = box->notify;
    for (Webhook& webhook : settings.notify) {
        webhook.secret_file = beside(path, webhook.secret_file);
        webhook.ca_file = beside(path, webhook.ca_file);
    }
    settings.tenants = box->tenants;
    settings.cluster = box->cluster;
    if (settings.cluster) {
        resolve_files(path, *settings.cluster);
    }
    settings.dataplane_socket = box->dataplane.path;
    settings.state_dir = box->state_dir;
    settings.user = box->user;
    settings.database_key = box->database_key;
    settings.log_level = name_in(kLogLevelNames, box->log_level);
    settings.log_format = name_in(kLogFormatNames, box->log_format);
    settings.rules = box->rules.empty() ? settings.rules : beside(path, box->rules);
    return true;
}

// Octal, as chmod takes it.
mode_t mode_of(const std::string& text) {
    unsigned bits = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), bits, 8);
    return bits;
}

std::string check_mode(const std::string& text) {
    const bool octal = !text.empty() && text.size() <= 4 &&
                       text.find_first_not_of("01234567") == std::string::npos;
    return octal && mode_of(text) <= 0777 ? "" : "a mode is octal, such as 0660";
}

// CLI11 reads options in the order of these lines: --config first, so that the others win over it.
void add_options(CLI::App& app, Settings& settings, bool& refused) {
    app.add_option_function<std::string>(
        "--config",
        [&](const std::string& path) { refused = !path.empty() && !take_config(path, settings); },
        "sluice.yaml; what stands beside it here wins");
    const auto add = [&app](const std::string& name, std::string& value, const std::string& help) {
        return app.add_option_function<std::string>(
            name, [&value](const std::string& text) { value = text.empty() ? value : text; }, help);
    };
    add("--rules", settings.rules,
        "rule file, or a folder of them, to apply when none was ever applied");
    add("--socket", settings.control.path, "the API's socket");
    app.add_option_function<std::string>(
           "--socket-mode", [&](const std::string& text) { settings.control.mode = mode_of(text); },
           "its mode, 0660 if not given")
        ->check(check_mode);
    add("--socket-owner", settings.control.owner, "the user it belongs to");
    add("--socket-group", settings.control.group, "whose members may use it");
    add("--read-socket", settings.read_only.path, "the socket that changes nothing");
    add("--dataplane-socket", settings.dataplane_socket, "the dataplane's socket");
    add("--state-dir", settings.state_dir, "where the last applied rules are kept");
    add("--user", settings.user, "the user to run as, once started by root");
    add("--database-key", settings.database_key, "the key that vouches for patterns");
    add("--log-level", settings.log_level, "debug, info, warn or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    add("--log-format", settings.log_format, "text, json or journal")
        ->check(CLI::IsMember({"text", "json", "journal"}));
    app.set_version_flag("--version", "sluiced " SLUICE_VERSION);
    app.footer("Exit codes: 0 stopped when asked, 1 could not start, 2 wrong usage");
}

// The first word that looks like an option and is none, and which one may be meant; empty: none.
std::string unknown_option(const CLI::App& app, std::span<char* const> words) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    const std::vector<std::string_view> known{names.begin(), names.end()};
    for (const std::string_view word : words) {
        const std::string_view option = word.substr(0, word.find('='));
        if (option.starts_with("--") && std::ranges::find(known, option) == known.end()) {
            return fmt::format("no option '{}'{}", option, did_you_mean(option, known));
        }
    }
    return "";
}

}  // namespace

SocketOptions read_socket_of(const Settings& settings) {
    SocketOptions socket = settings.read_only;
    if (socket.path.empty()) {
        constexpr std::string_view kEnding = ".sock";
        const std::string& path = settings.control.path;
        const bool usual = path.ends_with(kEnding);
        socket = settings.control;
        socket.path = path.substr(0, path.size() - (usual ? kEnding.size() : 0)) + "-read.sock";
    }
    return socket;
}

std::optional<Settings> read_settings(int argc, char** argv, int& exit_code) {
    CLI::App app{"Keeps the rules of Sluice, and serves its API", "sluiced"};
    Settings settings;
    bool refused = false;
    add_options(app, settings, refused);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const std::string unknown =
            error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)
                ? unknown_option(app, std::span{argv, static_cast<std::size_t>(argc)}.subspan(1))
                : "";
        if (!unknown.empty()) {
            fmt::print(stderr, "sluiced: {}\nRun with --help for more information.\n", unknown);
            exit_code = kWrongUsage;
            return std::nullopt;
        }
        exit_code = app.exit(error) == 0 ? 0 : kWrongUsage;
        return std::nullopt;
    }
    if (refused) {
        exit_code = kRefused;
        return std::nullopt;
    }
    return settings;
}

}  // namespace sluice

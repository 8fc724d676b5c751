#include "control/daemon/settings.hpp"

#include "control/text_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <filesystem>

namespace sluice {
namespace {

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

// The configuration's part of the settings; what this version does not build is refused.
bool take_config(const std::string& path, Settings& settings) {
    const Result<std::string> text = read_text_file(path);
    if (!text) {
        fmt::print(stderr, "sluiced: {}\n", text.error().what);
        return false;
    }
    Problems problems{path};
    const std::optional<Box> box = read_box({path, *text}, Purpose::Enforce, problems);
    for (const Problem& problem : problems.list()) {
        fmt::print(stderr, "{}\n", render(problem, *text));
    }
    if (!box) {
        return false;
    }
    settings.control = box->control;
    settings.dataplane_socket = box->dataplane.path;
    settings.state_dir = box->state_dir;
    settings.log_level = box->log_level;
    settings.log_format = box->log_format;
    if (!box->rules.empty()) {
        settings.rules = (std::filesystem::path{path}.parent_path() / box->rules).string();
    }
    return true;
}

struct Given {
    std::string config;
    std::string rules;
    std::string socket;
    std::string socket_mode;
    std::string socket_owner;
    std::string socket_group;
    std::string dataplane_socket;
    std::string state_dir;
    std::string log_level;
    std::string log_format;
};

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

void add_options(CLI::App& app, Given& given) {
    app.add_option("--config", given.config, "sluice.yaml; what stands beside it here wins");
    app.add_option("--rules", given.rules, "rule file to apply when none was ever applied");
    app.add_option("--socket", given.socket, "the API's socket");
    app.add_option("--socket-mode", given.socket_mode, "its mode, 0660 if not given")
        ->check(check_mode);
    app.add_option("--socket-owner", given.socket_owner, "the user it belongs to");
    app.add_option("--socket-group", given.socket_group, "whose members may use it");
    app.add_option("--dataplane-socket", given.dataplane_socket, "the dataplane's socket");
    app.add_option("--state-dir", given.state_dir, "where the last applied rules are kept");
    app.add_option("--log-level", given.log_level, "debug, info, warn or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    app.add_option("--log-format", given.log_format, "text, json or journal")
        ->check(CLI::IsMember({"text", "json", "journal"}));
    app.set_version_flag("--version", "sluiced " SLUICE_VERSION);
    app.footer("Exit codes: 0 stopped when asked, 1 could not start, 2 wrong usage");
}

void override_with(const Given& given, Settings& settings) {
    const auto take = [](const std::string& from, std::string& into) {
        if (!from.empty()) {
            into = from;
        }
    };
    take(given.rules, settings.rules);
    take(given.socket, settings.control.path);
    take(given.socket_owner, settings.control.owner);
    take(given.socket_group, settings.control.group);
    take(given.dataplane_socket, settings.dataplane_socket);
    take(given.state_dir, settings.state_dir);
    take(given.log_level, settings.log_level);
    take(given.log_format, settings.log_format);
    if (!given.socket_mode.empty()) {
        settings.control.mode = mode_of(given.socket_mode);
    }
}

}  // namespace

std::optional<Settings> read_settings(int argc, char** argv, int& exit_code) {
    CLI::App app{"Keeps the rules of Sluice, and serves its API", "sluiced"};
    Given given;
    add_options(app, given);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        exit_code = app.exit(error) == 0 ? 0 : kWrongUsage;
        return std::nullopt;
    }
    Settings settings;
    if (!given.config.empty() && !take_config(given.config, settings)) {
        exit_code = kRefused;
        return std::nullopt;
    }
    override_with(given, settings);
    return settings;
}

}  // namespace sluice

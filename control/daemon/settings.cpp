#include "control/daemon/settings.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sluice {
namespace {

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

std::optional<std::string> read_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        fmt::print(stderr, "sluiced: cannot read {}\n", path);
        return std::nullopt;
    }
    return std::string{std::istreambuf_iterator<char>{file}, {}};
}

// The configuration's part of the settings; what this version does not build is refused.
bool take_config(const std::string& path, Settings& settings) {
    const std::optional<std::string> text = read_file(path);
    if (!text) {
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
    std::string socket_group;
    std::string dataplane_socket;
    std::string state_dir;
    std::string log_level;
};

void override_with(const Given& given, Settings& settings) {
    const auto take = [](const std::string& from, std::string& into) {
        if (!from.empty()) {
            into = from;
        }
    };
    take(given.rules, settings.rules);
    take(given.socket, settings.control.path);
    take(given.socket_group, settings.control.group);
    take(given.dataplane_socket, settings.dataplane_socket);
    take(given.state_dir, settings.state_dir);
    take(given.log_level, settings.log_level);
}

}  // namespace

std::optional<Settings> read_settings(int argc, char** argv, int& exit_code) {
    CLI::App app{"sluiced: keeps the rules, and serves the API"};
    Given given;
    app.set_version_flag("--version", "sluiced " SLUICE_VERSION);
    app.add_option("--config", given.config, "sluice.yaml");
    app.add_option("--rules", given.rules, "rule file to apply when none was ever applied");
    app.add_option("--socket", given.socket, "the API's socket");
    app.add_option("--socket-group", given.socket_group, "who may use it");
    app.add_option("--dataplane-socket", given.dataplane_socket, "the dataplane's socket");
    app.add_option("--state-dir", given.state_dir, "where the last applied rules are kept");
    app.add_option("--log-level", given.log_level, "debug, info, warn or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
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

#include "control/store/store_settings.hpp"

#include "control/text_file.hpp"
#include "lib/policy/box/box.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

namespace sluice {
namespace {

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

bool take_box_file(const std::string& path, StoreSettings& settings) {
    const Result<std::string> text = read_text_file(path);
    if (!text) {
        fmt::print(stderr, "sluice-store: {}\n", text.error().what);
        return false;
    }
    Problems problems{path};
    std::optional<BoxConfig> box = read_box({path, *text}, Purpose::Enforce, problems);
    for (const Problem& problem : problems.list()) {
        fmt::print(stderr, "{}\n", render(problem, *text));
    }
    if (!box) {
        return false;
    }
    if (box->cluster) {
        resolve_files(path, *box->cluster);
        settings.store = box->cluster->store;
    }
    settings.socket = store_socket_beside(box->dataplane.path);
    settings.user = box->user;
    settings.log_level = kLogLevelNames[static_cast<std::size_t>(box->log_level)];
    settings.log_format = kLogFormatNames[static_cast<std::size_t>(box->log_format)];
    return true;
}

void add_options(CLI::App& app, StoreSettings& settings, bool& refused) {
    app.add_option_function<std::string>(
        "--config",
        [&](const std::string& path) { refused = !path.empty() && !take_box_file(path, settings); },
        "sluice.yaml; what stands beside it here wins");
    app.add_option("--store-socket", settings.socket, "the dataplane's store.sock");
    app.add_option("--user", settings.user, "the user to run as, once started by root");
    app.add_option("--log-level", settings.log_level, "debug, info, warn or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    app.add_option("--log-format", settings.log_format, "text, json or journal")
        ->check(CLI::IsMember({"text", "json", "journal"}));
    app.set_version_flag("--version", "sluice-store " SLUICE_VERSION);
    app.footer("Exit codes: 0 stopped when asked, 1 could not start, 2 wrong usage");
}

}  // namespace

std::string store_socket_beside(const std::string& dataplane_socket) {
    return (std::filesystem::path{dataplane_socket}.parent_path() / "store.sock").string();
}

std::optional<StoreSettings> read_store_settings(int argc, char** argv, int& exit_code) {
    StoreSettings settings;
    bool refused = false;
    CLI::App app{"Sluice's link to the store of its cluster: tells it amounts, brings levels"};
    add_options(app, settings, refused);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
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

#include "control/cli/list_arguments.hpp"

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

void list_arguments(CLI::App& app, Options& options) {
    app.add_option("--most", options.most, "rows at most")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1'000'000U));
    app.add_option("--after", options.list_after, "go on where an earlier list ended: its `next`");
}

}  // namespace

void keys_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rule, "id of the rule")->required();
    list_arguments(app, options);
}

void bans_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rule, "id of one rule; all of them otherwise");
    list_arguments(app, options);
}

void find_arguments(CLI::App& app, Options& options) {
    app.add_option("WHAT", options.key, "an address, a network, a host, or a key as part|part")
        ->required();
    list_arguments(app, options);
}

}  // namespace sluice

#pragma once
#include "control/cli/options.hpp"

namespace CLI {
class App;
}

namespace sluice {

// Arguments of commands whose answers come page by page.
void keys_arguments(CLI::App& app, Options& options);
void bans_arguments(CLI::App& app, Options& options);
void find_arguments(CLI::App& app, Options& options);

}  // namespace sluice

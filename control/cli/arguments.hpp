#pragma once
#include "control/cli/commands.hpp"

#include <variant>

namespace sluice {

struct Invocation {
    const Command* command = nullptr;
    Options options;
};

// The command line, read. --help, --version, completion and wrong usage are answered here, and the
// exit code comes back.
[[nodiscard]] std::variant<Invocation, ExitCode> read_arguments(int argc, char** argv);

}  // namespace sluice

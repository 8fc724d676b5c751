#pragma once
#include "control/cli/commands.hpp"

#include <variant>

namespace sluice {

struct Invocation {
    const Command* command = nullptr;
    Options options;
};

// The command line, read. What was asked of the reader alone (--help, --version, completion), or
// is wrong, has been answered, and the exit code comes back.
[[nodiscard]] std::variant<Invocation, ExitCode> read_arguments(int argc, char** argv);

}  // namespace sluice

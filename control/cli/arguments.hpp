#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

#include <variant>

namespace sluice {

struct Invocation {
    ExitCode (*run)(const Options&) = nullptr;
    Options options;
};

// The command line, read. --help, --version, completion and wrong usage are answered here, and the
// exit code comes back.
[[nodiscard]] std::variant<Invocation, ExitCode> read_arguments(int argc, char** argv);

}  // namespace sluice

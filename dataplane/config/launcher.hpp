#pragma once
#include "dataplane/config/options.hpp"
#include "lib/base/result.hpp"

#include <string>
#include <vector>

namespace sluice {

// The options that `sluicectl box-options FILE` makes of sluice.yaml. The packet process contains
// no YAML reader: that program reads the file, in a process of its own.
[[nodiscard]] Result<std::vector<std::string>> options_from_config(const std::string& file);

// What the command line asks for, with --config replaced by what the file says. An Error with
// Errc::Refused is the file's, any other one wrong usage.
[[nodiscard]] Result<CommandLine> read_command_line(const std::vector<std::string>& arguments);

}  // namespace sluice

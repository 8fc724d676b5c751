#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <string>
#include <vector>

namespace sluice {

// The process by its command line: the box of --config, or of the defaults, with the few options of
// a quick try over it.
struct CommandLine {
    enum class Kind : std::uint8_t { Run, Help, Version, Forget };
    Kind kind = Kind::Run;
    BoxConfig box;
    std::vector<std::string> eal;  // what stands behind `--`, passed on after our own
};

using ReadBox = Result<BoxConfig> (*)(const std::string& file);

// An Error with Errc::Refused is that of `read_box`, any other one wrong usage.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments,
                                                     ReadBox read_box);

[[nodiscard]] std::string usage();

}  // namespace sluice

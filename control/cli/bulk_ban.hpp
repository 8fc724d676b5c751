#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The keys of a text, one a line, and where each stands; empty lines and those that begin with `#`
// are none.
struct KeyLines {
    std::vector<std::string> keys;
    std::vector<std::uint32_t> lines;
};
[[nodiscard]] KeyLines read_key_lines(std::string_view text);

// `key ban RULE --file FILE`: all keys of the file, or none; what is wrong is told line by line.
ExitCode ban_all_in(const Options& options);

// `key unban RULE --file FILE`: all bans of its keys end at once. Keys without one are told line by
// line, and make the exit code that of a refusal.
ExitCode unban_all_in(const Options& options);

}  // namespace sluice

#include "control/cli/box_config.hpp"

#include "control/cli/commands.hpp"
#include "control/cli/terminal.hpp"
#include "control/text_file.hpp"
#include "lib/policy/box/box.hpp"
#include "lib/wire/box_config_codec.hpp"

#include <cstdio>

namespace sluice {

std::optional<BoxConfig> read_box_file(const std::string& path) {
    const Result<std::string> text = read_text_file(path);
    if (!text) {
        say_error(text.error().what);
        return std::nullopt;
    }
    Problems problems{path};
    std::optional<BoxConfig> box = read_box({path, *text}, Purpose::Enforce, problems);
    say_problems(problems.list(), {path, *text});
    return box;
}

// The message alone goes to standard output, for sluice-dataplane.
ExitCode run_box_config(const Options& options) {
    if (options.json) {
        say_error("box-config writes a message of bytes, which has no JSON form");
        return ExitCode::Usage;
    }
    const std::optional<BoxConfig> box = read_box_file(options.config_file);
    if (!box) {
        return ExitCode::Refused;
    }
    const std::vector<std::byte> message = encode(*box);
    if (std::fwrite(message.data(), 1, message.size(), stdout) != message.size() ||
        std::fflush(stdout) != 0) {
        say_error("cannot write the compiled configuration to standard output");
        return ExitCode::Refused;
    }
    return ExitCode::Done;
}

}  // namespace sluice

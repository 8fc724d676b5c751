#include "control/cli/box_config.hpp"

#include "control/cli/commands.hpp"
#include "control/cli/terminal.hpp"
#include "control/text_file.hpp"
#include "lib/policy/box/box.hpp"
#include "lib/wire/box_config_codec.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

namespace sluice {
namespace {

// `path` empty: to standard output.
ExitCode write_message(const std::vector<std::byte>& message, const std::string& path) {
    std::FILE* const out = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
    bool whole = out != nullptr &&
                 std::fwrite(message.data(), 1, message.size(), out) == message.size() &&
                 std::fflush(out) == 0;
    const int why = errno;
    if (out != nullptr && out != stdout) {
        whole = std::fclose(out) == 0 && whole;
    }
    if (!whole) {
        return refuse("cannot write the compiled configuration to " +
                      (path.empty() ? "standard output" : path) + ": " +
                      std::generic_category().message(why));
    }
    return ExitCode::Done;
}

}  // namespace

std::optional<BoxConfig> read_box_file(const std::string& path) {
    const Result<std::string> text = read_text_file(path);
    if (!text) {
        say_error(text.error().what);
        return std::nullopt;
    }
    Problems problems{path};
    std::optional<BoxConfig> box = read_box({path, *text}, Purpose::Enforce, problems);
    say_problems(problems.list(), {path, *text});
    if (box && box->cluster) {
        resolve_files(path, *box->cluster);
    }
    return box;
}

// The message alone goes to standard output, or to a file, for sluice-dataplane.
ExitCode run_box_config(const Options& options) {
    if (options.json) {
        return refuse("box-config writes a message of bytes, which has no JSON form",
                      ExitCode::Usage);
    }
    const std::optional<BoxConfig> box = read_box_file(options.config_file);
    if (!box) {
        return ExitCode::Refused;
    }
    const bool to_stdout = options.out_file.empty() || options.out_file == "-";
    if (to_stdout && ::isatty(STDOUT_FILENO) == 1) {
        return refuse(
            "the configuration is good; compiled it is bytes for sluice-dataplane and not for "
            "a terminal: pipe it, or give -o FILE",
            ExitCode::Usage);
    }
    return write_message(encode(*box), to_stdout ? "" : options.out_file);
}

}  // namespace sluice

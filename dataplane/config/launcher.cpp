#include "dataplane/config/launcher.hpp"

#include "lib/wire/fd.hpp"

#include <array>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

// Beside this program when both are installed, in the next folder of a build tree, else by PATH.
std::string find_sluicectl() {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    for (const std::filesystem::path& candidate :
         {self.parent_path() / "sluicectl",
          self.parent_path().parent_path() / "control" / "cli" / "sluicectl"}) {
        if (std::filesystem::exists(candidate, error)) {
            return candidate.string();
        }
    }
    return "sluicectl";
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> bytes{};
    for (ssize_t got = 0; (got = ::read(fd, bytes.data(), bytes.size())) > 0;) {
        text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace

Result<std::vector<std::string>> options_from_config(const std::string& file) {
    const std::string program = find_sluicectl();
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        return Error{Errc::Unreachable, "cannot start " + program};
    }
    const Fd from{ends[0]};
    Fd to{ends[1]};
    const pid_t child = ::fork();
    if (child == 0) {
        (void)::dup2(to.get(), STDOUT_FILENO);
        ::execlp(program.c_str(), program.c_str(), "box-options", file.c_str(), nullptr);
        ::_exit(127);
    }
    to = Fd{};
    const std::string text = read_all(from.get());
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        return Error{Errc::Refused,
                     file + " was refused by `" + program + " box-options`; see above"};
    }
    return lines_of(text);
}

Result<CommandLine> read_command_line(const std::vector<std::string>& arguments) {
    Result<CommandLine> line = parse_command_line(arguments);
    if (!line || line->kind != CommandLine::Kind::Config) {
        return line;
    }
    Result<std::vector<std::string>> options = options_from_config(line->config);
    if (!options) {
        return options.error();
    }
    options->insert(options->end(), line->rest.begin(), line->rest.end());
    return parse_command_line(*options);
}

}  // namespace sluice

#include "control/cli/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace sluice {
namespace {

bool colors_allowed = false;

bool colored(int fd) {
    return colors_allowed && isatty(fd) != 0;
}

void say(std::string_view severity, std::string_view color, std::string_view what) {
    if (colored(STDERR_FILENO)) {
        fmt::print(stderr, "sluicectl: \033[1;{}m{}:\033[0m {}\n", color, severity, what);
    } else {
        fmt::print(stderr, "sluicectl: {}: {}\n", severity, what);
    }
}

}  // namespace

void set_colors(bool allowed) {
    const char* refused = std::getenv("NO_COLOR");
    colors_allowed = allowed && (refused == nullptr || *refused == '\0');
}

std::string bold(std::string_view text) {
    return colored(STDOUT_FILENO) ? fmt::format("\033[1m{}\033[0m", text) : std::string{text};
}

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void say_error(std::string_view what) {
    say("error", "31", what);
}

void say_warning(std::string_view what) {
    say("warning", "33", what);
}

void say_problems(const std::vector<Problem>& problems, const RuleText& source) {
    for (const Problem& problem : problems) {
        const std::string shown = render(problem, problem.file == source.file ? source.text : "");
        std::fwrite(shown.data(), 1, shown.size(), stderr);
        if (shown.empty() || shown.back() != '\n') {
            std::fputc('\n', stderr);
        }
    }
}

}  // namespace sluice

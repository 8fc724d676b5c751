#include "control/cli/terminal.hpp"

#include "control/visible_text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sluice {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";

bool colors_allowed = false;

bool colored(int fd) {
    return colors_allowed && isatty(fd) != 0;
}

void say(std::string_view severity, std::string_view color, std::string_view text) {
    const std::string what = visible_text(text);
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
    return colored(STDOUT_FILENO) ? fmt::format("{}{}{}", kBold, text, kPlain) : std::string{text};
}

namespace {

// Characters that are seen: neither the bytes behind the first of one, nor what sets a colour.
std::size_t seen_width(std::string_view text) {
    std::size_t width = 0;
    bool escape = false;
    for (const char c : text) {
        escape |= c == '\033';
        width += escape || (static_cast<unsigned>(c) & 0xC0U) == 0x80U ? 0 : 1;
        escape &= c != 'm';
    }
    return width;
}

std::string folded_line(std::string_view line, std::size_t width) {
    std::string out;
    std::size_t used = 0;
    while (!line.empty()) {
        const std::size_t start = line.find_first_not_of(' ');
        const std::size_t end = std::min(line.find(' ', std::min(start, line.size())), line.size());
        const std::string_view word = line.substr(0, end);
        const std::size_t room = seen_width(word);
        if (used != 0 && used + room > width) {
            out += "\n";
            out += word.substr(std::min(start, word.size()));
            used = seen_width(word.substr(std::min(start, word.size())));
        } else {
            out += word;
            used += room;
        }
        line.remove_prefix(end);
    }
    return out;
}

}  // namespace

std::string folded_within(std::string_view text, std::size_t width) {
    if (width == 0) {
        return std::string{text};
    }
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        out += seen_width(line) <= width ? std::string{line} : folded_line(line, width);
        out += end < text.size() ? "\n" : "";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string folded(std::string_view text) {
    return folded_within(text, terminal_width());
}

std::size_t terminal_width() {
    winsize size{};
    const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return known ? size.ws_col : 0;
}

std::string shown_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t at = std::min(text.find(kBold), text.find(kPlain));
        out += visible_text(text.substr(0, at));
        text.remove_prefix(std::min(at, text.size()));
        const std::size_t mark = text.empty() ? 0 : kBold.size();
        out += colored(STDOUT_FILENO) ? std::string{text.substr(0, mark)}
                                      : visible_text(text.substr(0, mark));
        text.remove_prefix(mark);
    }
    return out;
}

void print(std::string_view text) {
    print_exact(shown_text(text));
}

void print_file(std::string_view text) {
    isatty(STDOUT_FILENO) != 0 ? print(text) : print_exact(text);
}

void print_exact(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void say_error(std::string_view what) {
    say("error", "31", what);
}

ExitCode refuse(std::string_view what, ExitCode exit) {
    say_error(what);
    return exit;
}

void say_warning(std::string_view what) {
    say("warning", "33", what);
}

void say_problems(const std::vector<Problem>& problems, const RuleText& source) {
    for (const Problem& problem : problems) {
        const std::string shown =
            visible_text(render(problem, problem.file == source.file ? source.text : ""));
        std::fwrite(shown.data(), 1, shown.size(), stderr);
        if (shown.empty() || shown.back() != '\n') {
            std::fputc('\n', stderr);
        }
    }
}

}  // namespace sluice

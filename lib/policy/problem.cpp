#include "lib/policy/problem.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The line a position names, without its end.
std::string_view line_of(std::string_view text, std::uint32_t line) {
    for (std::uint32_t i = 1; i < line; ++i) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            return {};
        }
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

// Control bytes would move the caret or the terminal; everything else is shown as it is.
void append_shown(std::string& out, char c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) {
        out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]};
    } else {
        out += c;
    }
}

// What stands under the source line: as wide as it, so that the caret meets its column.
std::string caret_under(std::string_view line, std::uint32_t column) {
    std::string under;
    for (std::size_t i = 0; i + 1 < column; ++i) {
        const char c = i < line.size() ? line[i] : ' ';
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) == 0x80) {
            continue;  // inside a UTF-8 sequence: no column of its own on the screen
        }
        if (c == '\t') {
            under += '\t';
        } else {
            under.append(byte < 0x20 || byte == 0x7F ? 4 : 1, ' ');
        }
    }
    return under + '^';
}

}  // namespace

void Problems::error(Position at, std::string message) {
    add(at, Severity::Error, std::move(message));
}

void Problems::warning(Position at, std::string message) {
    add(at, Severity::Warning, std::move(message));
}

// A named limit is read once for each rule that uses it; what is wrong with it is said once.
void Problems::add(Position at, Severity severity, std::string message) {
    if (seen_.emplace(at.line, at.column, severity, message).second) {
        errors_ += severity == Severity::Error ? 1 : 0;
        list_.push_back({file_, at, severity, std::move(message)});
    }
}

std::string render(const Problem& problem, std::string_view text) {
    std::string out = problem.file;
    if (problem.at.line != 0) {
        out += ":" + std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column);
    }
    out += problem.severity == Severity::Error ? ": error: " : ": warning: ";
    for (const char c : problem.message) {
        append_shown(out, c);
    }
    const std::string_view line = line_of(text, problem.at.line);
    if (problem.at.line == 0 || line.empty()) {
        return out;
    }
    out += "\n  ";
    for (const char c : line) {
        append_shown(out, c);
    }
    return out + "\n  " + caret_under(line, problem.at.column);
}

}  // namespace sluice

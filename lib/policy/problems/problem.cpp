#include "lib/policy/problems/problem.hpp"

#include "lib/policy/problems/utf8.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sluice {
namespace {

constexpr std::size_t kWidest = 200;  // bytes of a source line that are shown
constexpr std::string_view kCut = "...";

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

// The nearest place at or before `at` where no character is torn.
std::size_t whole_characters(std::string_view text, std::size_t at) {
    at = std::min(at, text.size());
    while (at > 0 && at < text.size() && is_utf8_continuation(text[at])) {
        --at;
    }
    return at;
}

// How a text is shown, and how wide that is. Control bytes would move the caret or the terminal,
// and so do bytes that are no text; everything else is shown as it is.
struct Shown {
    std::string text;
    std::string blank;  // as wide as the text

    void add(std::string_view raw) {
        constexpr std::string_view kHex = "0123456789abcdef";
        while (!raw.empty()) {
            const std::size_t length = utf8_length(raw);
            const bool strange = length == 0 || raw.front() == '\r' || raw.front() == '\n' ||
                                 starts_with_control(raw);
            for (const char c : raw.substr(0, std::max<std::size_t>(length, 1))) {
                const auto byte = static_cast<unsigned char>(c);
                text += strange ? std::string{'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]}
                                : std::string{c};
                blank.append(strange ? 4 : is_utf8_continuation(c) ? 0 : 1, c == '\t' ? c : ' ');
            }
            raw.remove_prefix(std::max<std::size_t>(length, 1));
        }
    }
};

// The source line, cut to what surrounds the column, and the caret under it.
std::string with_caret(std::string_view line, std::size_t column) {
    column = std::min(column, line.size());
    const std::size_t first =
        line.size() <= kWidest || column <= kWidest / 2
            ? 0
            : whole_characters(line, std::min(column - kWidest / 2, line.size() - kWidest));
    const std::size_t last = whole_characters(line, first + kWidest);
    Shown before;
    before.add(first == 0 ? std::string_view{} : kCut);
    before.add(line.substr(first, std::min(column, last) - first));
    Shown after;
    after.add(line.substr(std::min(column, last), last - std::min(column, last)));
    after.add(last == line.size() ? std::string_view{} : kCut);
    return "\n  " + before.text + after.text + "\n  " + before.blank + "^";
}

}  // namespace

void make_warnings_errors(std::vector<Problem>& problems) {
    for (Problem& problem : problems) {
        problem.severity = Severity::Error;
    }
}

bool Problems::are_interrupted() {
    if (!stop_.stop_requested()) {
        return false;
    }
    error({}, "interrupted before all of it was read: nothing has changed");
    return true;
}

// nullptr: the text is one file, or the place is none in it.
const FileStart* Problems::start_of(Position at) const noexcept {
    const auto behind =
        std::upper_bound(files_.begin(), files_.end(), at.line,
                         [](std::uint32_t line, const FileStart& one) { return line < one.line; });
    return behind == files_.begin() ? nullptr : &*(behind - 1);
}

const std::string& Problems::file_of(Position at) const noexcept {
    const FileStart* start = start_of(at);
    return start == nullptr ? file_ : start->file;
}

Position Problems::in_file(Position at) const noexcept {
    const FileStart* start = start_of(at);
    return start == nullptr ? at : Position{at.line - start->line + 1, at.column};
}

std::string Problems::place_text(Position at) const {
    const Position place = in_file(at);
    return file_of(at) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void Problems::error(Position at, std::string message) {
    ++errors_;
    add({file_of(at), in_file(at), Severity::Error, std::move(message)});
}

void Problems::error_in(const std::string& file, Position at, std::string message) {
    ++errors_;
    add({file, at, Severity::Error, std::move(message)});
}

void Problems::warning(Position at, std::string message) {
    add({file_of(at), in_file(at), Severity::Warning, std::move(message)});
}

// A named limit is read once for each rule that uses it; what is wrong with it is reported once.
void Problems::add(Problem problem) {
    std::string& message = problem.message;
    std::size_t& shown = problem.severity == Severity::Error ? shown_errors_ : shown_warnings_;
    if (shown > kMaxShown) {
        return;
    }
    if (message.size() > kMaxMessage) {
        message.resize(whole_characters(message, kMaxMessage - kCut.size()));
        message += kCut;
    }
    const bool fresh =
        seen_.emplace(problem.file, problem.at.line, problem.at.column, problem.severity, message)
            .second;
    if (!fresh) {
        return;
    }
    if (++shown > kMaxShown) {
        problem.at = {};
        message = "there is more of this; " + std::to_string(kMaxShown) + " are shown";
    }
    list_.push_back(std::move(problem));
}

void Problems::sort_by_place() {
    std::map<std::string, std::size_t> files;
    for (const Problem& problem : list_) {
        files.emplace(problem.file, files.size());
    }
    const auto place = [&](const Problem& problem) {
        return std::tuple{problem.at.line == 0, files[problem.file], problem.at.line,
                          problem.at.column};
    };
    std::stable_sort(list_.begin(), list_.end(), [&](const Problem& one, const Problem& other) {
        return place(one) < place(other);
    });
}

std::string render(const Problem& problem, std::string_view text) {
    std::string out = problem.file;
    if (problem.at.line != 0) {
        out += ":" + std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column);
    }
    out += problem.severity == Severity::Error ? ": error: " : ": warning: ";
    Shown message;
    message.add(problem.message);
    out += message.text;
    const std::string_view line = line_of(text, problem.at.line);
    if (problem.at.line == 0 || line.empty()) {
        return out;
    }
    return out + with_caret(line, problem.at.column == 0 ? 0 : problem.at.column - 1);
}

}  // namespace sluice

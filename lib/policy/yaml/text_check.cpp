#include "lib/policy/yaml/text_check.hpp"

#include "lib/policy/problems/utf8.hpp"

namespace sluice {
namespace {

// The brackets that one line has opened so far. Brackets in quotes count too: no real file has
// thousands of them.
struct Line {
    std::size_t start = 0;
    std::size_t open = 0;

    void take(char c, std::size_t at) noexcept {
        if (c == '\n') {
            *this = {.start = at + 1};
        } else if (c == '[' || c == '{') {
            ++open;
        } else if ((c == ']' || c == '}') && open > 0) {
            --open;
        }
    }
};

}  // namespace

std::optional<TextFault> find_text_fault(std::string_view text) noexcept {
    Line line;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        const std::size_t length = utf8_length(rest);
        if (length == 0) {
            return TextFault{at, "not UTF-8 text"};
        }
        if (starts_with_control(rest)) {
            return TextFault{at, "control characters are not used here"};
        }
        line.take(rest.front(), at);
        if (line.open > kMaxOpenedInLine) {
            return TextFault{at, "nested too deep"};
        }
        at += length;
        if (at - line.start > kMaxLineSize && at > line.start) {
            return TextFault{line.start, "this line is longer than 4 MiB"};
        }
    }
    return std::nullopt;
}

}  // namespace sluice

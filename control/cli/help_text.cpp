#include "control/cli/help_text.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 30;  // where CLI11 begins explanations

// The column at which a line that began so goes on.
std::size_t indent_of(std::string_view line) {
    const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
    const bool explains =
        text != 0 && line.size() > kColumn && line[kColumn - 1] == ' ' && line[kColumn] != ' ';
    return explains ? kColumn : text == 0 ? 0 : text + 2;
}

}  // namespace

std::string folded_help(std::string_view help) {
    std::string out;
    while (!help.empty()) {
        const std::size_t end = std::min(help.find('\n'), help.size());
        std::string line{help.substr(0, end)};
        const std::string indent(indent_of(line), ' ');
        while (line.size() > kWidth) {
            std::size_t at = line.rfind(' ', kWidth);
            if (at == std::string::npos || at <= indent.size()) {
                at = line.find(' ', kWidth);  // behind one word that is too long
            }
            if (at == std::string::npos) {
                break;
            }
            out += line.substr(0, at) + "\n";
            line = indent + line.substr(at + 1);
        }
        out += line + (end < help.size() ? "\n" : "");
        help.remove_prefix(std::min(end + 1, help.size()));
    }
    return out;
}

}  // namespace sluice

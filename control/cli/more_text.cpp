#include "control/cli/more_text.hpp"

#include "control/visible_text.hpp"

#include <fmt/format.h>

namespace sluice {

std::string more_text(const Json& document) {
    if (document.at("next").is_null()) {
        return "";
    }
    std::string quoted;
    for (const char c : visible_line(text_at(document, "next"))) {
        quoted += c == '\'' ? std::string{R"('\'')"} : std::string{c};
    }
    return fmt::format("more: --after '{}'\n", quoted);
}

}  // namespace sluice

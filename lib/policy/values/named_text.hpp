#pragma once
#include <string>
#include <string_view>

namespace sluice {

// Something that was read, by its name in the language and in one spelling for one meaning, so that
// two files can be compared: {"window", "60000000000"}.
struct NamedText {
    std::string_view name;  // a literal
    std::string value;
    [[nodiscard]] bool operator==(const NamedText&) const = default;
};

}  // namespace sluice

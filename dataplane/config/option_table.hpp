#pragma once
#include "dataplane/config/options.hpp"
#include "lib/base/result.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sluice {

// One option of the command line: how it is called, what it takes, and where its value goes.
struct OptionRow {
    std::string_view name;
    std::string_view value;  // placeholder in the help; empty: the option takes none
    std::string_view help;
    Result<Done> (*apply)(DataplaneOptions&, const std::string& value);
};

[[nodiscard]] Error bad_option(const std::string& what);
[[nodiscard]] std::span<const OptionRow> all_options() noexcept;
[[nodiscard]] const OptionRow* find_option(std::string_view name) noexcept;

}  // namespace sluice

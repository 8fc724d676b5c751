#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace sluice {

// The text of an event that is counted.
template <typename Event>
struct EventRow {
    Event event;
    std::string_view name;  // as the CLI, the API and the metrics print it
    std::string_view help;
};

// True if a table has a row for each value of an enum in its order, so that values are indices.
template <typename Row, std::size_t kRows, typename Enum>
consteval bool in_enum_order(const std::array<Row, kRows>& rows, Enum Row::* value) {
    for (std::size_t i = 0; i < kRows; ++i) {
        if (static_cast<std::size_t>(rows[i].*value) != i) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice

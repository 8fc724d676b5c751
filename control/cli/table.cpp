#include "control/cli/table.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// Characters, not bytes: what starts a UTF-8 sequence or stands alone.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned>(c) & 0xC0U) != 0x80U;
    }));
}

}  // namespace

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string pad(widths[i] - width_of(cells[i]), ' ');
        const bool right = columns_[i].align == Align::Right;
        out += i == 0 ? "" : "  ";
        out += right ? pad + cells[i] : cells[i] + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

std::string Table::text() const {
    std::vector<std::string> titles;
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) {
        titles.emplace_back(column.title);
        widths.push_back(width_of(column.title));
    }
    for (const std::vector<std::string>& cells : rows_) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(cells[i]));
        }
    }
    std::string out = bold(line(titles, widths)) + "\n";
    for (const std::vector<std::string>& cells : rows_) {
        out += line(cells, widths) + "\n";
    }
    return out;
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return digits;
}

std::string memory_text(std::uint64_t bytes) {
    constexpr auto kUnits = std::to_array<std::string_view>({"KiB", "MiB", "GiB", "TiB"});
    if (bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
    double amount = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace sluice

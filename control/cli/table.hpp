#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Columns for people: as wide as their widest cell, two spaces apart.
class Table {
public:
    enum class Align : std::uint8_t { Left, Right };
    struct Column {
        std::string_view title;
        Align align = Align::Left;
    };

    explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

    // One cell for each column.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] std::string text() const;

private:
    [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                   const std::vector<std::size_t>& widths) const;
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

inline constexpr auto kRight = Table::Align::Right;

// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

// Bytes as people say them: "64 B", "1.5 KiB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace sluice

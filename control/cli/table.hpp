#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Columns for people: as wide as their widest cell, two spaces apart. What is too wide for the
// terminal is wrapped between words, and where that does not suffice the columns go on below, after
// the first of them again; no word is ever broken.
class Table {
public:
    enum class Align : std::uint8_t { Left, Right };
    struct Column {
        std::string_view title;
        Align align = Align::Left;
    };

    // `lead`: how many of the first columns name a row.
    explicit Table(std::vector<Column> columns, std::size_t lead = 1)
        : columns_{std::move(columns)}, lead_{lead} {}

    // One cell for each column. Hidden characters (visible_text.hpp) are shown escaped, line ends
    // and tabs too: no text makes a row of its own.
    void row(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    // The table as wide as the terminal, or as its cells where standard output is none.
    [[nodiscard]] std::string text() const;
    // 0: as wide as its cells.
    [[nodiscard]] std::string text_within(std::size_t width) const;

private:
    // Columns that stand beside each other, and how wide each of them is.
    struct Band {
        std::vector<std::size_t> columns;
        std::vector<std::size_t> widths;
    };

    [[nodiscard]] std::vector<std::size_t> natural_widths() const;
    [[nodiscard]] std::vector<std::size_t> least_widths() const;
    [[nodiscard]] std::vector<Band> bands(std::size_t width) const;
    [[nodiscard]] std::string line(const std::vector<std::string>& cells, const Band& band) const;
    [[nodiscard]] std::string wrapped(const std::vector<std::string>& cells,
                                      const Band& band) const;
    [[nodiscard]] std::string text_of(const Band& band) const;

    std::vector<Column> columns_;
    std::size_t lead_;
    std::vector<std::vector<std::string>> rows_;
};

inline constexpr auto kRight = Table::Align::Right;

// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

// Bytes as people say them: "64 B", "1.5 KiB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace sluice

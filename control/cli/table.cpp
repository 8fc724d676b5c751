#include "control/cli/table.hpp"

#include "control/cli/terminal.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace sluice {
namespace {

constexpr std::size_t kGap = 2;

// Characters, not bytes: what starts a UTF-8 sequence or stands alone.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned>(c) & 0xC0U) != 0x80U;
    }));
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (const std::string_view word : words_of(text)) {
        longest = std::max(longest, width_of(word));
    }
    return longest;
}

// Lines of whole words, each of `width` characters at most where its words allow that.
std::vector<std::string> lines_within(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) {
        return {std::string{text}};
    }
    std::vector<std::string> lines;
    for (const std::string_view word : words_of(text)) {
        if (!lines.empty() && width_of(lines.back()) + 1 + width_of(word) <= width) {
            lines.back() += fmt::format(" {}", word);
        } else {
            lines.emplace_back(word);
        }
    }
    return lines;
}

std::size_t total_of(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
           kGap * (widths.size() - 1);
}

// Takes from the widest column that has words to wrap, until all fit or none has any left.
void shrink(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least,
            std::size_t width) {
    while (total_of(widths) > width) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) {
                widest = i;
            }
        }
        if (widest == widths.size()) {
            return;
        }
        --widths[widest];
    }
}

std::vector<std::size_t> chosen(const std::vector<std::size_t>& all,
                                const std::vector<std::size_t>& columns) {
    std::vector<std::size_t> some;
    for (const std::size_t column : columns) {
        some.push_back(all[column]);
    }
    return some;
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
    for (std::string& cell : cells) {
        cell = visible_line(cell);
    }
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::natural_widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        widths.push_back(width_of(columns_[i].title));
        for (const std::vector<std::string>& cells : rows_) {
            widths[i] = std::max(widths[i], width_of(cells[i]));
        }
    }
    return widths;
}

// Titles and numbers stay whole; texts are wrapped.
std::vector<std::size_t> Table::least_widths() const {
    std::vector<std::size_t> widths = natural_widths();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].align == Align::Left) {
            widths[i] = width_of(columns_[i].title);
            for (const std::vector<std::string>& cells : rows_) {
                widths[i] = std::max(widths[i], longest_word(cells[i]));
            }
        }
    }
    return widths;
}

// All columns in one band where they fit; else as many in each as do, the leading ones in all.
std::vector<Table::Band> Table::bands(std::size_t width) const {
    const std::vector<std::size_t> natural = natural_widths();
    const std::vector<std::size_t> least = least_widths();
    std::vector<std::size_t> lead(std::min(lead_, columns_.size()));
    std::iota(lead.begin(), lead.end(), std::size_t{0});
    std::vector<Band> bands{{lead, {}}};
    for (std::size_t i = lead.size(); i < columns_.size(); ++i) {
        Band& band = bands.back();
        band.columns.push_back(i);
        if (natural[i] == 0) {
            continue;
        }
        if (width != 0 && total_of(chosen(least, band.columns)) > width &&
            band.columns.size() > lead.size() + 1) {
            band.columns.pop_back();
            bands.push_back({lead, {}});
            bands.back().columns.push_back(i);
        }
    }
    for (Band& band : bands) {
        band.widths = chosen(natural, band.columns);
        if (width != 0) {
            shrink(band.widths, chosen(least, band.columns), width);
        }
    }
    return bands;
}

std::string Table::line(const std::vector<std::string>& cells, const Band& band) const {
    std::string out;
    for (std::size_t i = 0; i < band.columns.size(); ++i) {
        const std::size_t width = width_of(cells[i]);
        const std::string pad(band.widths[i] - std::min(width, band.widths[i]), ' ');
        const bool right = columns_[band.columns[i]].align == Align::Right;
        out += i == 0 ? "" : "  ";
        out += right ? pad + cells[i] : cells[i] + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

// A row, over as many lines as its longest cell takes.
std::string Table::wrapped(const std::vector<std::string>& cells, const Band& band) const {
    std::vector<std::vector<std::string>> columns;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < band.columns.size(); ++i) {
        columns.push_back(lines_within(cells[band.columns[i]], band.widths[i]));
        lines = std::max(lines, columns.back().size());
    }
    std::string out;
    for (std::size_t number = 0; number < lines; ++number) {
        std::vector<std::string> parts;
        for (const std::vector<std::string>& column : columns) {
            parts.push_back(number < column.size() ? column[number] : "");
        }
        out += line(parts, band) + "\n";
    }
    return out;
}

std::string Table::text_of(const Band& band) const {
    std::vector<std::string> titles;
    for (const std::size_t column : band.columns) {
        titles.emplace_back(columns_[column].title);
    }
    std::string out = bold(line(titles, band)) + "\n";
    for (const std::vector<std::string>& cells : rows_) {
        out += wrapped(cells, band);
    }
    return out;
}

std::string Table::text_within(std::size_t width) const {
    std::string out;
    for (const Band& band : bands(width)) {
        out += (out.empty() ? "" : "\n") + text_of(band);
    }
    return out;
}

std::string Table::text() const {
    return text_within(terminal_width());
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

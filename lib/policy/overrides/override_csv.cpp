#include "lib/policy/overrides/override_csv.hpp"

#include <array>
#include <optional>

namespace sluice {
namespace {

constexpr std::string_view kHeader = "key,limit,rate,burst,count,expires,reason";
constexpr std::string_view kBanColumn = ",ban";  // which a header may end with
constexpr std::size_t kColumns = 7;              // without it
constexpr std::size_t kMostColumns = kColumns + 1;
constexpr std::string_view kBanned = "yes";

struct Cell {
    std::string_view text;
    std::uint32_t column = 0;  // where it begins, from 1 on
};

// One line, cut into its cells. `room` keeps what had quotes inside.
struct Line {
    std::array<Cell, kMostColumns> cells;
    std::size_t count = 0;
    std::size_t wanted = kColumns;  // as many as the header has
    std::array<std::string, kMostColumns> room;
};

// "seven", and which.
std::string_view number_of_fields(std::size_t wanted) {
    return wanted == kColumns ? "seven" : "eight";
}
std::string header_of(std::size_t wanted) {
    return std::string{kHeader} + (wanted == kColumns ? "" : std::string{kBanColumn});
}

using CsvFault = std::optional<LineFaults::Fault>;

CsvFault fault_at(std::uint32_t line, std::size_t column, std::string what) {
    return LineFaults::Fault{{line, static_cast<std::uint32_t>(column)}, std::move(what)};
}

// The cell that begins with a quote at `at`; afterwards `at` is behind it.
std::optional<std::string> read_quoted(std::string_view line, std::size_t& at) {
    std::string text;
    for (std::size_t i = at + 1; i < line.size(); ++i) {
        if (line[i] != '"') {
            text += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
            text += line[i++];
        } else {
            at = i + 1;
            return text;
        }
    }
    return std::nullopt;
}

CsvFault read_cells(std::string_view line, std::uint32_t number, std::size_t skipped, Line& cells) {
    cells.count = 0;
    for (std::size_t at = 0;;) {
        const std::size_t begin = at;
        if (cells.count == cells.wanted) {
            return fault_at(number, begin + skipped + 1,
                            "a line has " + std::string{number_of_fields(cells.wanted)} +
                                " fields: " + header_of(cells.wanted));
        }
        Cell& cell = cells.cells[cells.count];
        cell.column = static_cast<std::uint32_t>(begin + skipped + 1);
        if (at < line.size() && line[at] == '"') {
            std::optional<std::string> text = read_quoted(line, at);
            if (!text || (at < line.size() && line[at] != ',')) {
                return fault_at(number, begin + skipped + 1,
                                "a field in quotes ends with a quote and a comma, on its line");
            }
            cells.room[cells.count] = *std::move(text);
            cell.text = cells.room[cells.count];
        } else {
            at = std::min(line.find(',', begin), line.size());
            cell.text = line.substr(begin, at - begin);
            if (cell.text.find('"') != std::string_view::npos) {
                return fault_at(number, begin + skipped + 1 + cell.text.find('"'),
                                "a quote stands at the beginning of a field, or doubled in one");
            }
        }
        ++cells.count;
        if (at == line.size()) {
            return std::nullopt;
        }
        ++at;
    }
}

std::size_t column_of(OverrideFault::Word word) noexcept {
    return static_cast<std::size_t>(word);
}
static_assert(static_cast<std::size_t>(OverrideFault::Word::Until) == 5, "as in kHeader");

// The fault of a line that bans its key.
CsvFault ban_fault(const Line& line, std::uint32_t number) {
    const Cell& ban = line.cells[kColumns];
    if (ban.text != kBanned) {
        return fault_at(number, ban.column,
                        "`ban` is yes or empty, found `" + std::string{ban.text} + "`");
    }
    const Cell& limit = line.cells[1];
    return limit.text.empty() ? std::nullopt
                              : fault_at(number, limit.column,
                                         "a ban is of the key, whatever its limits say: the field "
                                         "`limit` of its line is empty");
}

CsvFault add_line(std::string_view text, std::uint32_t number, Line& cells,
                  OverrideBuilder& builder) {
    if (const std::optional<TextFault> bad = find_text_fault(text)) {
        return fault_at(number, bad->offset + 1, std::string{bad->what});
    }
    if (CsvFault fault = read_cells(text, number, 0, cells)) {
        return fault;
    }
    if (cells.count != cells.wanted) {
        return fault_at(number, text.size() + 1,
                        "the line has " + std::to_string(cells.count) + " fields, and " +
                            std::string{number_of_fields(cells.wanted)} +
                            " belong to it: " + header_of(cells.wanted));
    }
    if (builder.is_full()) {
        return fault_at(number, 1,
                        "a rule has at most " + std::to_string(kMaxOverrides) + " overrides");
    }
    const auto cell = [&](std::size_t column) { return cells.cells[column].text; };
    const bool banned = cells.wanted == kMostColumns && !cell(kColumns).empty();
    if (CsvFault fault = banned ? ban_fault(cells, number) : std::nullopt) {
        return fault;
    }
    const std::optional<OverrideFault> fault =
        builder.add({.key = cell(0),
                     .limit = cell(1),
                     .numbers = {.rate = cell(2), .burst = cell(3), .count = cell(4)},
                     .until = cell(5),
                     .banned = banned,
                     .reason = cell(6)},
                    {OverrideSource::CsvFile, number});
    return fault ? fault_at(number, cells.cells[column_of(fault->word)].column, fault->what)
                 : std::nullopt;
}

bool read_header(std::string_view line, Line& cells) {
    const bool bans = line.ends_with(kBanColumn);
    line.remove_suffix(bans ? kBanColumn.size() : 0);
    cells.wanted = bans ? kMostColumns : kColumns;
    return line == kHeader;
}

std::string no_header() {
    return "the first line of an override file is " + std::string{kHeader} + ", or that and " +
           std::string{kBanColumn};
}

}  // namespace

OverrideCsv read_override_csv(std::string_view text, OverrideBuilder& builder,
                              const std::stop_token& stop) {
    OverrideCsv csv;
    const auto note = [&](CsvFault fault) {
        if (fault) {
            csv.add_fault(*std::move(fault));
        }
    };
    Line cells;
    bool has_header = false;
    bool has_lines = false;
    each_line(text, stop, [&](std::string_view line, std::uint32_t number, std::size_t skipped) {
        has_lines = true;
        if (!has_header) {
            has_header = read_header(line, cells);
            note(has_header ? std::nullopt : fault_at(number, skipped + 1, no_header()));
        } else if (!line.empty()) {
            ++csv.rows;
            note(add_line(line, number, cells, builder));
        }
        return has_header;
    });
    if (!has_lines) {
        note(fault_at(1, 1, no_header()));
    }
    return csv;
}

}  // namespace sluice

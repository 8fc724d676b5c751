#include "control/cli/heatmap_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kLabel = 14;      // characters before the cells of a row
constexpr std::size_t kAnyWidth = 100;  // where there is no terminal
constexpr std::size_t kFewestColumns = 20;
constexpr std::string_view kShades = " .:-=+*#%@";
constexpr char kNoData = '/';

std::span<const Json> last_columns(const Json& map, std::size_t most) {
    const Json::array_t& all = map.at("columns").get_ref<const Json::array_t&>();
    const std::size_t shown = std::min(all.size(), most);
    return std::span{all}.last(shown);
}

// Groups by row and column; and those columns of which nothing is known.
struct Drawing {
    std::vector<std::vector<std::uint64_t>> groups;  // by row, then column
    std::vector<bool> known;
    std::size_t lowest = 0;
    std::size_t highest = 0;
};

Drawing drawing_of(std::span<const Json> columns, const char* by, std::size_t rows) {
    Drawing drawing{.groups{rows, std::vector<std::uint64_t>(columns.size())},
                    .known = std::vector<bool>(columns.size()),
                    .lowest = rows};
    for (std::size_t at = 0; at < columns.size(); ++at) {
        drawing.known[at] = !columns[at].is_null();
        for (const Json& cell : drawing.known[at] ? columns[at].at(by) : Json::array()) {
            const auto row = cell.at(0).get<std::size_t>();
            if (row < rows) {
                drawing.groups[row][at] = cell.at(1).get<std::uint64_t>();
                drawing.lowest = std::min(drawing.lowest, row);
                drawing.highest = std::max(drawing.highest, row);
            }
        }
    }
    drawing.lowest = std::min(drawing.lowest, drawing.highest);
    return drawing;
}

// Shades by the logarithm of the count; the darkest begins where one cell of a hundred is.
class Shading {
public:
    explicit Shading(const Drawing& drawing) {
        std::vector<std::uint64_t> counts;
        for (const auto& row : drawing.groups) {
            std::ranges::copy_if(row, std::back_inserter(counts), [](auto n) { return n != 0; });
        }
        std::ranges::sort(counts);
        if (!counts.empty()) {
            least_ = static_cast<double>(counts.front());
            most_ = static_cast<double>(counts[(counts.size() - 1) * 99 / 100]);
        }
    }
    [[nodiscard]] std::size_t shade(std::uint64_t groups) const {
        if (groups == 0) {
            return 0;
        }
        const double steps = kShades.size() - 1;
        const double place = most_ > least_ ? std::log(static_cast<double>(groups) / least_) /
                                                  std::log(most_ / least_)
                                            : 1;
        return 1 + static_cast<std::size_t>(std::clamp(place * steps, 0.0, steps - 1));
    }
    // ". from 4, : from 9, …"; shades that no cell has are left out.
    [[nodiscard]] std::string legend(const Drawing& drawing) const {
        std::array<std::uint64_t, kShades.size()> from{};
        for (const auto& row : drawing.groups) {
            for (const std::uint64_t groups : row) {
                std::uint64_t& least = from.at(shade(groups));
                least = least == 0 ? groups : std::min(least, groups);
            }
        }
        std::string text;
        for (std::size_t shade = 1; shade < from.size(); ++shade) {
            if (from[shade] != 0) {
                text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", kShades[shade],
                                    grouped(from[shade]));
            }
        }
        return text;
    }

private:
    double least_ = 0;
    double most_ = 0;
};

std::string offered_label(const Json& map, std::size_t row) {
    const double edge = map.at("offered_edges").at(row).get<double>();
    return grouped(static_cast<std::uint64_t>(std::ceil(edge)));
}
std::string left_label(const Json& map, std::size_t row) {
    const Json& edges = map.at("left_edges");
    return row == 0                  ? "refused now"
           : row + 1 == edges.size() ? "full"
                                     : fmt::format("{:.0f} %", edges.at(row).get<double>() * 100);
}

// Rows from the top down, with the instants of the first and last column below.
std::string drawn_map(const Json& map, std::span<const Json> columns, bool by_offered) {
    const char* const by = by_offered ? "offered" : "left";
    Drawing drawing =
        drawing_of(columns, by, map.at(by_offered ? "offered_edges" : "left_edges").size());
    const auto limit = map.at("limit_bucket").get<std::size_t>();
    if (by_offered) {
        drawing.lowest = std::min(drawing.lowest, limit);
        drawing.highest = std::max(drawing.highest, limit);
    } else {
        drawing.lowest = 0;
        drawing.highest = drawing.groups.size() - 1;
    }
    const Shading shading{drawing};
    std::string text;
    for (std::size_t row = drawing.highest + 1; row-- > drawing.lowest;) {
        text += fmt::format("{:>{}} |", by_offered ? offered_label(map, row) : left_label(map, row),
                            kLabel - 2);
        for (std::size_t at = 0; at < columns.size(); ++at) {
            text += drawing.known[at] ? kShades[shading.shade(drawing.groups[row][at])] : kNoData;
        }
        text += by_offered && row == limit ? "| the limit\n" : "|\n";
    }
    const std::string legend = shading.legend(drawing);
    return text + (legend.empty() ? "" : fmt::format("groups, about: {}\n", legend));
}

// "about: 1 in 256 groups is watched, 2.0 % off": of the newest column that is known.
std::string sampling_text(std::span<const Json> columns) {
    for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
        if (!column->is_null()) {
            const auto one_in = count_at(*column, "one_in");
            const auto left_out = count_at(*column, "left_out");
            return fmt::format(
                "{} in the last column{}{}\n",
                sluice::counted(count_at(*column, "groups"), "group"),
                one_in == 1 ? ", all of them watched"
                            : fmt::format(", about: 1 in {} is watched, off by {:.1f} % as a rule",
                                          grouped(one_in), column->at("error").get<double>() * 100),
                left_out == 0 ? ""
                              : fmt::format("; {} packets of watched groups found no place",
                                            grouped(left_out)));
        }
    }
    return "";
}

// " (--step 10 or 60 draws others)"; nothing where there are none.
std::string other_steps(const Json& map) {
    std::string others;
    for (const Json& step : map.value("steps", Json::array())) {
        if (step != map.at("step_s")) {
            others += (others.empty() ? "" : " or ") + step.dump();
        }
    }
    return others.empty() ? "" : " (--step " + others + " draws others)";
}

std::string head_text(const Json& map) {
    const Json& limits = map.at("limits");
    const auto limit = map.at("limit").get<std::size_t>();
    const bool is_there = limit < limits.size();
    const std::string name = is_there ? limits.at(limit).value("name", fmt::format("{}", limit + 1))
                                      : fmt::format("{}", limit + 1);
    return bold(fmt::format("rule {}, limit {}: {}", text_at(map, "rule"), visible_line(name),
                            is_there ? text_at(limits.at(limit), "text") : "none")) +
           fmt::format("\ncolumns of {} s{} until {} UTC, {} no data\n", count_at(map, "step_s"),
                       other_steps(map), text_at(map, "to"), kNoData);
}

std::string map_title(std::string_view words, std::span<const Json> columns, std::uint64_t step) {
    return fmt::format("\n{}{}\n", bold(words),
                       fmt::format(": {} columns, {} s", columns.size(), columns.size() * step));
}

}  // namespace

std::size_t heatmap_columns(std::size_t width) noexcept {
    constexpr std::size_t kBeside = kLabel + 12;  // with the border and the word for the limit
    const std::size_t room = width == 0 ? kAnyWidth : width;
    return room > kBeside + kFewestColumns ? room - kBeside : kFewestColumns;
}

std::optional<std::uint64_t> limit_named(const Json& map, std::string_view name) {
    const Json limits = map.value("limits", Json::array());
    for (std::size_t at = 0; at < limits.size(); ++at) {
        if (limits[at].value("name", fmt::format("{}", at + 1)) == name) {
            return at;
        }
    }
    return std::nullopt;
}

std::string no_such_limit(const Json& map, std::string_view name) {
    std::string there;
    for (const Json& limit : map.value("limits", Json::array())) {
        there += (there.empty() ? "" : ", ") + limit.value("name", "");
    }
    return fmt::format("rule {} has no limit `{}`; it has {}", visible_line(text_at(map, "rule")),
                       visible_line(name), there.empty() ? "none" : visible_line(there));
}

std::string heatmap_text(const Json& map, std::string_view by, std::size_t columns) {
    const std::span<const Json> shown = last_columns(map, columns);
    const Json& empty = map.at("why_empty");
    std::string text = head_text(map);
    if (empty.is_string()) {
        return text + "nothing to draw: " + empty.get<std::string>() + "\n";
    }
    text += sampling_text(shown);
    const auto unwatched = map.find("why_unwatched");
    if (unwatched != map.end() && unwatched->is_string()) {
        text += "not watched any more: " + unwatched->get<std::string>() + "\n";
    }
    const std::uint64_t step = count_at(map, "step_s");
    if (by != "left") {
        const Json& limits = map.at("limits");
        const std::string unit = text_at(limits.at(map.at("limit").get<std::size_t>()), "unit");
        text += map_title("GROUPS BY " + unit + " in a column, from", shown, step) +
                drawn_map(map, shown, true);
    }
    if (by != "offered") {
        text += map_title("GROUPS BY the least that was left of the limit", shown, step) +
                drawn_map(map, shown, false);
    }
    return text + "\n" + text_at(map.at("reading"), "says") + "\n";
}

}  // namespace sluice

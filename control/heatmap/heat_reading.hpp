#pragma once
#include "control/heatmap/heat_column.hpp"
#include "control/heatmap/limit_terms.hpp"
#include "control/json.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// A shape that the two maps of a limit may have.
enum class HeatKind : std::uint8_t { None, Unclear, Typical, FalsePositives, TooLoose, Bots };

// Numbers out of the columns of one limit, groups counted once in each column that has them. q is
// what a group offered in a column, as a part of the most that it is admitted there.
struct HeatNumbers {
    std::size_t columns = 0;      // that have data
    double seconds = 0;           // that these are of
    std::uint64_t watched = 0;    // groups that were watched in them
    double groups = 0;            // about how many that stands for
    double refused_share = 0;     // z: of the groups, those that were refused, or would be
    double median_q_refused = 0;  // of those
    double p99_q = 0;
    double p999_q = 0;
    double most_offered = 0;      // the upper edge of the highest row that has a group
    double octave_share = 0;      // of all units, those of the groups within the fullest octave
    double octave_from = 0;       // the units where it begins
    double octave_variation = 0;  // standard deviation of its units from column to column, by mean
    double octave_q = 0;          // the upper edge of it, as q
};

struct HeatReading {
    HeatKind kind = HeatKind::None;
    std::string says;
    HeatNumbers numbers{};
};

// Numbers of columns of one length, in seconds.
[[nodiscard]] HeatNumbers heat_numbers(std::span<const std::optional<HeatColumn>> columns,
                                       unsigned step, const HeatTerms& terms);
// Reads them, with a sentence that says why.
[[nodiscard]] HeatReading heat_reading(const HeatNumbers& numbers, const HeatTerms& terms);

[[nodiscard]] std::string_view name_of(HeatKind kind) noexcept;
[[nodiscard]] Json heat_numbers_json(const HeatNumbers& numbers);

}  // namespace sluice

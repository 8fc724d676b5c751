#pragma once
#include "control/daemon/api/metrics_writer.hpp"
#include "lib/base/stat_row.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

// Structs of the wire as families of metrics, by the rows of their tables.
namespace sluice {

template <typename Row>
concept IsMetricRow = requires(const Row& row) { row.metric.divisor; } && !kIsArrayRow<Row>;

// A number as a sample shows it; of a text nothing.
template <typename Stats, typename Row>
std::string sample_value(const Stats& stats, const Row& row) {
    const auto& value = stats.*row.member;
    if constexpr (!std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
        return {};
    } else {
        return row.metric.divisor == 1 ? fmt::to_string(+value)
                                       : fmt::to_string(static_cast<double>(value) /
                                                        static_cast<double>(row.metric.divisor));
    }
}

// The numbers of one struct. Rows of one family stand side by side, each with its label.
template <typename Stats>
void put_numbers(MetricsWriter& text, const Stats& stats) {
    std::string_view family;
    for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
        if constexpr (IsMetricRow<Row>) {
            const StatMetric& metric = row.metric;
            if (metric.family.empty()) {
                return;
            }
            if (metric.family != family) {
                family = metric.family;
                text.family(family, metric.help);
            }
            if (metric.label.empty()) {
                text.sample({}, sample_value(stats, row));
            } else {
                text.sample({{metric.label, metric.value}}, sample_value(stats, row));
            }
        }
    });
}

// The numbers of several items, family by family. `stats_of` takes the struct of an item, `sample`
// writes the item's sample with its labels.
template <typename Items, typename StatsOf, typename Sample>
void put_numbers_of_each(MetricsWriter& text, const Items& items, StatsOf&& stats_of,
                         Sample&& sample) {
    using Counted = std::remove_cvref_t<decltype(stats_of(*items.begin()))>;
    for_each_stat_row<Counted>([&]<typename Row>(const Row& row) {
        if constexpr (IsMetricRow<Row>) {
            if (row.metric.family.empty()) {
                return;
            }
            text.family(row.metric.family, row.metric.help);
            for (const auto& item : items) {
                sample(item, sample_value(stats_of(item), row));
            }
        }
    });
}

// The counts of one struct, of each a sample by name; the help lists what the names mean.
template <typename Stats>
void put_arrays(MetricsWriter& text, const Stats& stats) {
    for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
        if constexpr (kIsArrayRow<Row>) {
            if constexpr (requires { row.names[0].help; }) {
                text.family(row.metric.family, help_of(std::string{row.metric.help}, row.names));
            } else {
                text.family(row.metric.family, row.metric.help);
            }
            text.by_name(row.metric.label, stats.*row.member, row.names);
        }
    });
}

}  // namespace sluice

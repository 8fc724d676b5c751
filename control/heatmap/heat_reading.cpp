#include "control/heatmap/heat_reading.hpp"

#include "control/time_text.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

// The thresholds, tuned on drawn populations (tests/unit/control/daemon/heatmap).
constexpr std::uint64_t kFewestGroups = 30;  // that are watched, or nothing can be said
constexpr double kTypicalRefused = 0.01;     // z below it
constexpr double kTypicalLeast = 0.2;        // the 99th percentile of q between these
constexpr double kTypicalMost = 0.9;
constexpr double kManyRefused = 0.05;   // z above it: false positives, if they
constexpr double kHardlyBeyond = 1.5;   // offered less than so many times what is admitted
constexpr double kLooseMost = 0.1;      // the 99.9th percentile of q below it
constexpr double kLooseSeconds = 3600;  // for so long, of which
constexpr double kLooseKnown = 0.9;     // so much was read
constexpr double kBandShare = 0.5;      // of the units within one octave: bots, if
constexpr double kSteady = 0.2;         // they vary by less, and
constexpr double kBandQ = 1.0;          // the band reaches beyond what is admitted

constexpr auto kKindNames = std::to_array<std::string_view>(
    {"none", "unclear", "typical", "false_positives", "too_loose", "bots"});

using Rows = std::array<double, kOfferedBuckets>;

// The units of a typical group of a row: the middle of its edges, by ratio.
double units_of(std::size_t bucket) {
    return bucket == 0   ? 0
           : bucket == 1 ? 1
                         : std::sqrt(offered_edge(bucket) * offered_edge(bucket + 1));
}

double sum_of(const Rows& rows) {
    double sum = 0;
    for (const double one : rows) {
        sum += one;
    }
    return sum;
}

// The units below which `share` of the groups lie, by the middle of the row.
double quantile(const Rows& rows, double share) {
    const double wanted = sum_of(rows) * share;
    double sum = 0;
    for (std::size_t bucket = 0; bucket < rows.size(); ++bucket) {
        sum += rows[bucket];
        if (rows[bucket] > 0 && sum >= wanted) {
            return units_of(bucket);
        }
    }
    return 0;
}

void add_rows(std::span<const HeatCell> cells, double scale, Rows& rows) {
    for (const HeatCell& cell : cells) {
        rows[cell.bucket] += cell.groups * scale;
    }
}

// Units of an octave: two rows, from `bucket` on.
double octave_units(const Rows& groups, std::size_t bucket) {
    return groups[bucket] * units_of(bucket) +
           (bucket + 1 < groups.size() ? groups[bucket + 1] * units_of(bucket + 1) : 0);
}

// The standard deviation of some numbers, by their mean.
double variation(const std::vector<double>& numbers) {
    double sum = 0;
    for (const double one : numbers) {
        sum += one;
    }
    const double mean = sum / static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
    double squares = 0;
    for (const double one : numbers) {
        squares += (one - mean) * (one - mean);
    }
    return mean == 0 || numbers.size() < 2
               ? 0
               : std::sqrt(squares / static_cast<double>(numbers.size() - 1)) / mean;
}

void find_octave(const Rows& all, const std::vector<Rows>& each, double most, HeatNumbers& found) {
    double units = 0;
    std::size_t fullest = 1;
    for (std::size_t bucket = 1; bucket < all.size(); ++bucket) {
        units += all[bucket] * units_of(bucket);
        if (octave_units(all, bucket) > octave_units(all, fullest)) {
            fullest = bucket;
        }
    }
    std::vector<double> by_column;
    for (const Rows& rows : each) {
        by_column.push_back(octave_units(rows, fullest));
    }
    found.octave_share = units == 0 ? 0 : octave_units(all, fullest) / units;
    found.octave_from = offered_edge(fullest);
    found.octave_variation = variation(by_column);
    found.octave_q = most > 0 ? offered_edge(fullest + 2) / most : 0;
}

std::string percent(double share) {
    return fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0);
}

std::string typical_words(const HeatNumbers& n) {
    return fmt::format(
        "typical: the limit had no room for {} of the groups, and all but 1 % of them offered "
        "at most {} of what is admitted",
        percent(n.refused_share), percent(n.p99_q));
}
std::string false_positive_words(const HeatNumbers& n) {
    return fmt::format(
        "false positives: the limit had no room for {} of the groups, and half of these offered "
        "less than {:.2g} times what is admitted: it may be too strict",
        percent(n.refused_share), n.median_q_refused);
}
// The length of a column that was read, which need not be one of those on a screen.
std::string column_text(const HeatNumbers& n) {
    return duration_text(static_cast<std::uint64_t>(
        std::max(std::lround(n.seconds / static_cast<double>(n.columns)), 1L)));
}
std::string loose_words(const HeatNumbers& n, const HeatTerms& terms) {
    return fmt::format(
        "too loose: in {} the limit had room for everybody, and all but 0.1 % of the groups "
        "offered "
        "at most {} of what is admitted; a limit of {:.0f} {} in {} would have "
        "refused nobody who was watched",
        duration_text(static_cast<std::uint64_t>(n.seconds)), percent(n.p999_q),
        std::ceil(n.most_offered), terms.unit, column_text(n));
}
std::string bot_words(const HeatNumbers& n, const HeatTerms& terms) {
    return fmt::format(
        "bots: {} of all {} came from groups that offered {:.0f} to {:.0f} in {} each, and that "
        "varied by {} from one {} to the next; the limit had no room for {} of the groups",
        percent(n.octave_share), terms.unit, n.octave_from, 2 * n.octave_from, column_text(n),
        percent(n.octave_variation), column_text(n), percent(n.refused_share));
}
std::string unclear_words(const HeatNumbers& n) {
    if (n.refused_share == 0 && n.p999_q < kLooseMost) {
        return fmt::format(
            "nobody came near the limit in {} (all but 0.1 % of the groups at most {} "
            "of it): {} of that are needed to call it too loose",
            duration_text(static_cast<std::uint64_t>(n.seconds)), percent(n.p999_q),
            duration_text(static_cast<std::uint64_t>(kLooseSeconds)));
    }
    return fmt::format(
        "no usual picture: the limit had no room for {} of the groups, all but 1 % of them "
        "offered at most {} of what is admitted, and {} of the units came from one "
        "octave",
        percent(n.refused_share), percent(n.p99_q), percent(n.octave_share));
}

HeatKind kind_of(const HeatNumbers& n) {
    const bool band = n.octave_share > kBandShare && n.octave_variation < kSteady &&
                      n.octave_q > kBandQ && n.columns >= 3;
    if (n.refused_share > kTypicalRefused && band && n.median_q_refused >= kHardlyBeyond) {
        return HeatKind::Bots;
    }
    if (n.refused_share > kManyRefused && n.median_q_refused < kHardlyBeyond) {
        return HeatKind::FalsePositives;
    }
    if (n.refused_share == 0 && n.p999_q < kLooseMost && n.seconds >= kLooseKnown * kLooseSeconds) {
        return HeatKind::TooLoose;
    }
    if (n.refused_share < kTypicalRefused && n.p99_q >= kTypicalLeast && n.p99_q <= kTypicalMost) {
        return HeatKind::Typical;
    }
    return HeatKind::Unclear;
}

}  // namespace

HeatNumbers heat_numbers(std::span<const std::optional<HeatColumn>> columns, unsigned step,
                         const HeatTerms& terms) {
    HeatNumbers found;
    Rows offered{};
    Rows refused{};
    std::vector<Rows> each;
    for (const std::optional<HeatColumn>& column : columns) {
        if (!column) {
            continue;
        }
        const auto scale = static_cast<double>(column->one_in());
        ++found.columns;
        found.watched += column->watched();
        add_rows(column->offered(), scale, offered);
        add_rows(column->offered_of_refused(), scale, refused);
        add_rows(column->offered(), scale, each.emplace_back());
    }
    const double most = terms.most_in(step);
    found.seconds = static_cast<double>(found.columns) * step;
    found.groups = sum_of(offered);
    found.refused_share = found.groups == 0 ? 0 : sum_of(refused) / found.groups;
    if (most > 0) {
        // A group that is refused has had the burst, and not anew in each column.
        found.median_q_refused = quantile(refused, 0.5) / terms.steady_in(step);
        found.p99_q = quantile(offered, 0.99) / most;
        found.p999_q = quantile(offered, 0.999) / most;
    }
    for (std::size_t bucket = 0; bucket < offered.size(); ++bucket) {
        found.most_offered = offered[bucket] > 0 ? offered_edge(bucket + 1) : found.most_offered;
    }
    find_octave(offered, each, most, found);
    return found;
}

HeatReading heat_reading(const HeatNumbers& numbers, const HeatTerms& terms) {
    if (numbers.columns == 0) {
        return {HeatKind::None, "no data", numbers};
    }
    if (numbers.watched < kFewestGroups) {
        return {HeatKind::Unclear,
                fmt::format("too few to say: {} groups in {}", numbers.watched,
                            duration_text(static_cast<std::uint64_t>(numbers.seconds))),
                numbers};
    }
    const HeatKind kind = kind_of(numbers);
    switch (kind) {
        case HeatKind::Typical:
            return {kind, typical_words(numbers), numbers};
        case HeatKind::FalsePositives:
            return {kind, false_positive_words(numbers), numbers};
        case HeatKind::TooLoose:
            return {kind, loose_words(numbers, terms), numbers};
        case HeatKind::Bots:
            return {kind, bot_words(numbers, terms), numbers};
        default:
            return {kind, unclear_words(numbers), numbers};
    }
}

std::string_view name_of(HeatKind kind) noexcept {
    return kKindNames[static_cast<std::size_t>(kind)];
}

Json heat_numbers_json(const HeatNumbers& n) {
    return {{"columns", n.columns},
            {"seconds", n.seconds},
            {"watched", n.watched},
            {"groups", n.groups},
            {"z", n.refused_share},
            {"median_q_refused", n.median_q_refused},
            {"p99_q", n.p99_q},
            {"p999_q", n.p999_q},
            {"most_offered", n.most_offered},
            {"octave_share", n.octave_share},
            {"octave_from", n.octave_from},
            {"octave_variation", n.octave_variation}};
}

}  // namespace sluice

#include "control/heatmap/heat_column.hpp"

#include "lib/watch/heatmap/heat_buckets.hpp"

#include <array>
#include <cmath>

namespace sluice {
namespace {

static_assert(2 * kOfferedBuckets + kLeftBuckets <= 255, "places of cells are bytes");

template <std::size_t kRows>
void add_cells(const std::array<std::uint32_t, kRows>& groups, std::vector<HeatCell>& cells) {
    for (std::size_t bucket = 0; bucket < kRows; ++bucket) {
        if (groups[bucket] != 0) {
            cells.push_back({static_cast<std::uint32_t>(bucket), groups[bucket]});
        }
    }
}

}  // namespace

HeatColumn::HeatColumn(std::int64_t begins, const ColumnJoin& join)
    : begins_{begins},
      left_out_{join.left_out()},
      watched_{static_cast<std::uint32_t>(join.keys().size())},
      sampling_bits_{static_cast<std::uint8_t>(join.sampling_bits())} {
    std::array<std::uint32_t, kOfferedBuckets> offered{};
    std::array<std::uint32_t, kOfferedBuckets> refused{};
    std::array<std::uint32_t, kLeftBuckets> left{};
    for (const HeatKey& key : join.keys()) {
        const std::size_t bucket = offered_bucket(key.offered);
        ++offered[bucket];
        ++left[left_bucket(key.left)];
        refused[bucket] += key.left == 0 ? 1 : 0;
    }
    add_cells(offered, cells_);
    left_from_ = static_cast<std::uint8_t>(cells_.size());
    add_cells(left, cells_);
    refused_from_ = static_cast<std::uint8_t>(cells_.size());
    add_cells(refused, cells_);
    cells_.shrink_to_fit();
}

double HeatColumn::error() const noexcept {
    const double share = 1.0 / static_cast<double>(one_in());
    return watched_ == 0 ? 0 : std::sqrt((1 - share) / watched_);
}

}  // namespace sluice

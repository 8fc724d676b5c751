#pragma once
#include "control/heatmap/column_join.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// A row of a column: so many watched groups.
struct HeatCell {
    std::uint32_t bucket = 0;
    std::uint32_t groups = 0;
    [[nodiscard]] bool operator==(const HeatCell&) const noexcept = default;
};

// One column of both maps, of one limit. Rows without a group are left out.
class HeatColumn {
public:
    HeatColumn() = default;
    // `begins`: UTC, in seconds.
    HeatColumn(std::int64_t begins, const ColumnJoin& join);

    [[nodiscard]] std::int64_t begins() const noexcept { return begins_; }
    [[nodiscard]] std::uint32_t watched() const noexcept { return watched_; }
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    // The sampling rate: one of so many groups is watched.
    [[nodiscard]] std::uint64_t one_in() const noexcept {
        return std::uint64_t{1} << sampling_bits_;
    }
    [[nodiscard]] std::uint64_t groups() const noexcept { return watched_ * one_in(); }
    // The standard error of groups(), as a part of it.
    [[nodiscard]] double error() const noexcept;

    // By offered units; by the least left; and those that were refused, by offered units.
    [[nodiscard]] std::span<const HeatCell> offered() const noexcept {
        return std::span{cells_}.first(left_from_);
    }
    [[nodiscard]] std::span<const HeatCell> left() const noexcept {
        return std::span{cells_}.subspan(left_from_, refused_from_ - left_from_);
    }
    [[nodiscard]] std::span<const HeatCell> offered_of_refused() const noexcept {
        return std::span{cells_}.subspan(refused_from_);
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return sizeof *this + cells_.capacity() * sizeof(HeatCell);
    }

private:
    std::int64_t begins_ = 0;
    std::uint64_t left_out_ = 0;
    std::uint32_t watched_ = 0;
    std::uint8_t sampling_bits_ = 0;
    std::uint8_t left_from_ = 0;
    std::uint8_t refused_from_ = 0;
    std::vector<HeatCell> cells_;
};

}  // namespace sluice

#pragma once
#include "control/heatmap/heat_column.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace sluice {

// The columns of one limit that have one length, and the one that runs. A column that lacks more
// than a tenth of its seconds is none: nothing is known of it, which is not that nobody came.
class HeatSeries {
public:
    // At most `kept` columns; of a column, at most `most_keys` keys.
    HeatSeries(unsigned step, std::size_t kept, std::size_t most_keys)
        : step_{step}, kept_{kept}, running_{most_keys} {}

    // A second of the limit. Seconds only grow; the same one may come again.
    void add(std::int64_t second, std::span<const HeatSample> keys, unsigned sampling_bits,
             std::uint64_t left_out);
    // Ends the column that runs if it is over by then.
    void pass(std::int64_t second);
    void drop_oldest();

    [[nodiscard]] unsigned step() const noexcept { return step_; }
    [[nodiscard]] const std::deque<HeatColumn>& columns() const noexcept { return columns_; }
    // The column that begins then; nullptr: nothing is known of it.
    [[nodiscard]] const HeatColumn* at(std::int64_t begins) const;
    // The keys of the newest column, by digest.
    [[nodiscard]] const std::vector<HeatKey>& newest_keys() const noexcept { return newest_keys_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    [[nodiscard]] std::int64_t begin_of(std::int64_t second) const noexcept {
        return second - second % step_;
    }
    void end_running();

    unsigned step_;
    std::size_t kept_;
    std::int64_t begins_ = 0;  // the one that runs
    ColumnJoin running_;
    std::deque<HeatColumn> columns_;
    std::vector<HeatKey> newest_keys_;
    std::size_t bytes_ = 0;  // of all columns
};

}  // namespace sluice

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
    // At most `kept` columns, the newest `with_keys` of them with their keys; of a column, at most
    // `most_keys` keys.
    HeatSeries(unsigned step, std::size_t kept, std::size_t most_keys, std::size_t with_keys = 1)
        : step_{step}, kept_{kept}, with_keys_{with_keys}, running_{most_keys} {}

    // A second of the limit, or a part of one. The same one may come again. Where one comes that
    // lies before, the clock was set back: what it says of later columns goes.
    void add(std::int64_t second, std::span<const HeatSample> keys, unsigned sampling_bits,
             std::uint64_t left_out, double seconds = 1);
    // Ends the column that runs if it is over by then.
    void pass(std::int64_t second);
    void drop_oldest();

    [[nodiscard]] unsigned step() const noexcept { return step_; }
    [[nodiscard]] const std::deque<HeatColumn>& columns() const noexcept { return columns_; }
    // The column that begins then; nullptr: nothing is known of it.
    [[nodiscard]] const HeatColumn* at(std::int64_t begins) const;
    // The keys of the column that begins then, by digest; nullptr: they are gone.
    [[nodiscard]] const std::vector<HeatKey>* keys_at(std::int64_t begins) const;
    // True if one of the columns that have their keys has this one.
    [[nodiscard]] bool has_key(std::uint64_t digest) const;
    // Drops the keys of all columns but the newest for which `stays` is false.
    template <typename Stays>
    void thin_keys(Stays&& stays) {
        for (std::size_t i = 0; i + 1 < keys_.size(); ++i) {
            if (!keys_[i].is_thin) {
                std::erase_if(keys_[i].keys, [&](const HeatKey& key) { return !stays(key); });
                keys_[i].keys.shrink_to_fit();
                keys_[i].is_thin = true;
            }
        }
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    struct ColumnKeys {
        std::int64_t begins = 0;
        std::vector<HeatKey> keys;
        bool is_thin = false;
    };

    [[nodiscard]] std::int64_t begin_of(std::int64_t second) const noexcept {
        return second - second % step_;
    }
    void end_running();
    void go_back_to(std::int64_t begins);

    unsigned step_;
    std::size_t kept_;
    std::size_t with_keys_;
    std::int64_t begins_ = 0;  // the one that runs
    ColumnJoin running_;
    std::deque<HeatColumn> columns_;
    std::deque<ColumnKeys> keys_;  // of the newest columns
    std::size_t bytes_ = 0;        // of all columns
};

}  // namespace sluice

#include "control/heatmap/heat_series.hpp"

#include <algorithm>

namespace sluice {

void HeatSeries::add(std::int64_t second, std::span<const HeatSample> keys, unsigned sampling_bits,
                     std::uint64_t left_out) {
    pass(second);
    begins_ = begin_of(second);
    running_.add(keys, sampling_bits, left_out);
}

void HeatSeries::pass(std::int64_t second) {
    if (running_.seconds() != 0 && begin_of(second) > begins_) {
        end_running();
    }
}

void HeatSeries::end_running() {
    if (running_.seconds() >= step_ - step_ / 10) {
        columns_.emplace_back(begins_, running_);
        bytes_ += columns_.back().bytes();
        newest_keys_ = running_.keys();
    }
    running_.clear();
    while (columns_.size() > kept_) {
        drop_oldest();
    }
}

void HeatSeries::drop_oldest() {
    if (!columns_.empty()) {
        bytes_ -= columns_.front().bytes();
        columns_.pop_front();
    }
}

const HeatColumn* HeatSeries::at(std::int64_t begins) const {
    const auto found = std::ranges::lower_bound(columns_, begins, {}, &HeatColumn::begins);
    return found == columns_.end() || found->begins() != begins ? nullptr : &*found;
}

}  // namespace sluice

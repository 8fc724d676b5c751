#include "control/heatmap/heat_series.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kLeastKnown = 0.9;  // of a column's seconds

}  // namespace

void HeatSeries::add(std::int64_t second, std::span<const HeatSample> keys, unsigned sampling_bits,
                     std::uint64_t left_out, double seconds) {
    pass(second);
    const std::int64_t begins = begin_of(second);
    if (begins < begins_) {
        go_back_to(begins);
    } else if (running_.empty() && at(begins) != nullptr) {
        return;  // too late: its column has ended
    }
    begins_ = begins;
    running_.add(keys, sampling_bits, left_out, seconds);
}

void HeatSeries::go_back_to(std::int64_t begins) {
    running_.clear();
    while (!columns_.empty() && columns_.back().begins() >= begins) {
        bytes_ -= columns_.back().bytes();
        columns_.pop_back();
    }
    std::erase_if(keys_, [&](const ColumnKeys& column) { return column.begins >= begins; });
}

void HeatSeries::pass(std::int64_t second) {
    if (!running_.empty() && begin_of(second) > begins_) {
        end_running();
    }
}

void HeatSeries::end_running() {
    if (running_.seconds() >= kLeastKnown * step_) {
        columns_.emplace_back(begins_, running_);
        bytes_ += columns_.back().bytes();
        keys_.push_back({begins_, running_.keys()});
        if (keys_.size() > with_keys_) {
            keys_.pop_front();
        }
    }
    running_.clear();
    while (columns_.size() > kept_) {
        drop_oldest();
    }
}

void HeatSeries::drop_oldest() {
    if (!columns_.empty()) {
        bytes_ -= columns_.front().bytes();
        if (!keys_.empty() && keys_.front().begins == columns_.front().begins()) {
            keys_.pop_front();
        }
        columns_.pop_front();
    }
}

const std::vector<HeatKey>* HeatSeries::keys_at(std::int64_t begins) const {
    const auto found = std::ranges::find(keys_, begins, &ColumnKeys::begins);
    return found == keys_.end() ? nullptr : &found->keys;
}

bool HeatSeries::has_key(std::uint64_t digest) const {
    return std::ranges::any_of(keys_, [&](const ColumnKeys& column) {
        return std::ranges::binary_search(column.keys, digest, {}, &HeatKey::digest);
    });
}

const HeatColumn* HeatSeries::at(std::int64_t begins) const {
    const auto found = std::ranges::lower_bound(columns_, begins, {}, &HeatColumn::begins);
    return found == columns_.end() || found->begins() != begins ? nullptr : &*found;
}

}  // namespace sluice

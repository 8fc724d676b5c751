#include "control/heatmap/column_join.hpp"

#include "lib/watch/heatmap/heat_record.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr unsigned kDigestBits = HeatSample::kDigestBits;

bool is_before(const HeatKey& a, const HeatKey& b) {
    return a.digest < b.digest;
}

// Both in order; a key that is in both comes once.
std::vector<HeatKey> merged(const std::vector<HeatKey>& a, const std::vector<HeatKey>& b) {
    std::vector<HeatKey> all;
    all.reserve(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all), is_before);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (kept != 0 && all[kept - 1].digest == all[i].digest) {
            HeatKey& one = all[kept - 1];
            one.offered += all[i].offered;
            one.refused += all[i].refused;
            one.left = std::min(one.left, all[i].left);
        } else {
            all[kept++] = all[i];
        }
    }
    all.resize(kept);
    return all;
}

}  // namespace

void ColumnJoin::add(std::span<const HeatSample> keys, unsigned sampling_bits,
                     std::uint64_t left_out, double seconds) {
    seconds_ += seconds;
    left_out_ += left_out;
    raise(sampling_bits);
    std::vector<HeatKey> watched;
    for (const HeatSample& key : keys) {
        if (key.digest < heat_bound(sampling_bits_)) {
            watched.push_back({key.digest, key.offered, key.refused, key.least_left});
        }
    }
    std::ranges::sort(watched, is_before);
    keys_ = merged(keys_, watched);
    while (keys_.size() > most_ && sampling_bits_ < kDigestBits) {
        raise(sampling_bits_ + 1);
    }
}

void ColumnJoin::clear() noexcept {
    keys_.clear();
    sampling_bits_ = 0;
    left_out_ = 0;
    seconds_ = 0;
}

void ColumnJoin::raise(unsigned sampling_bits) {
    if (sampling_bits > sampling_bits_) {
        sampling_bits_ = sampling_bits;
        std::erase_if(
            keys_, [this](const HeatKey& key) { return key.digest >= heat_bound(sampling_bits_); });
    }
}

}  // namespace sluice

#pragma once
#include "lib/watch/heatmap/heat_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// A watched key of a limit: what it offered and was refused in some seconds, in the limit's units,
// and the least that it had left in them, as in its samples.
struct HeatKey {
    std::uint64_t digest = 0;
    std::uint64_t offered = 0;
    std::uint64_t refused = 0;
    std::uint8_t left = HeatSample::kFull;
};

// The watched keys of some seconds, joined to one column: offered and refused add up, the least
// left is the least of all. Seconds with other sampling bits are joined at the larger number, since
// keys that are watched there are watched at the smaller one too. Never more than `most` keys:
// beyond, the column goes on with one sampling bit more.
class ColumnJoin {
public:
    explicit ColumnJoin(std::size_t most) noexcept : most_{most} {}

    // Each key once. `left_out`: packets of watched keys that found no place. `seconds` that they
    // are of.
    void add(std::span<const HeatSample> keys, unsigned sampling_bits, std::uint64_t left_out,
             double seconds = 1);
    void clear() noexcept;

    // By digest.
    [[nodiscard]] const std::vector<HeatKey>& keys() const noexcept { return keys_; }
    [[nodiscard]] unsigned sampling_bits() const noexcept { return sampling_bits_; }
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    [[nodiscard]] bool empty() const noexcept { return seconds_ == 0; }

private:
    void raise(unsigned sampling_bits);

    std::size_t most_;
    std::vector<HeatKey> keys_;
    unsigned sampling_bits_ = 0;
    std::uint64_t left_out_ = 0;
    double seconds_ = 0;
};

}  // namespace sluice

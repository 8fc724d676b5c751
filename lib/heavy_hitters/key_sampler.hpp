#pragma once
#include "lib/base/units.hpp"
#include "lib/heavy_hitters/key_sample.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A worker's end of `top`: one packet is looked at closer every 200 us or so, at instants that
// cannot be foreseen from outside, and stands for all that came since the one before. However fast
// packets come, that is all it costs; without traffic nothing is sampled.
class KeySampler {
public:
    static constexpr Nanoseconds kMeanGap{200'000};
    static constexpr std::size_t kRingSize = 2048;  // 0.4 s of samples

    explicit KeySampler(std::uint64_t seed) : ring_{kRingSize}, random_{seed | 1} {}

    // Once a burst. Whether a packet of this one is to be looked at.
    [[nodiscard]] bool is_due(std::size_t packets, Instant now) noexcept {
        packets_ += packets;
        return now >= next_ && packets != 0;
    }
    // When it is: which packet of the burst.
    struct Pick {
        std::size_t packet = 0;
        std::uint32_t weight = 0;
    };
    [[nodiscard]] Pick pick(std::size_t packets, Instant now) noexcept;

    // A record to fill, or nullptr (counted): the ring is full.
    [[nodiscard]] KeySample* next() noexcept;
    void commit() noexcept { ring_.commit(); }

    // For the reader.
    [[nodiscard]] RecordRing<KeySample>& ring() noexcept { return ring_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.read(); }

private:
    [[nodiscard]] std::uint64_t random() noexcept;

    RecordRing<KeySample> ring_;
    std::uint64_t random_;
    std::uint64_t packets_ = 0;  // since the last pick
    Instant next_{};
    Counter lost_;
};

}  // namespace sluice

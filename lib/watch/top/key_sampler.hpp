#pragma once
#include "lib/base/units.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"
#include "lib/watch/top/key_sample.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A worker's end of `top`: one packet in every so many is looked at closer, whichever chance picks,
// and stands for as many. By packets, not by time: what comes alone behind a train of others would
// stand for all of those. How many is brought in line with the traffic, so that one is looked at
// every 200 us or so; however fast packets come, that is all it costs. Of slow traffic every packet
// is.
class KeySampler {
public:
    static constexpr Nanoseconds kMeanGap{200'000};
    static constexpr std::size_t kRingSize = 2048;  // 0.4 s of samples

    explicit KeySampler(std::uint64_t seed) : ring_{kRingSize}, random_{seed | 1} {}

    // Once a burst. Whether pick() is to be called for it.
    [[nodiscard]] bool is_due(std::size_t packets, Instant now) noexcept {
        packets_ += packets;
        ahead_ -= static_cast<std::int64_t>(packets);
        return packets != 0 && (ahead_ <= 0 || now >= adapt_at_);
    }
    // When it is: which packet of the burst is to be looked at, and for how many it stands. 0:
    // none.
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
    // How many packets on the next sampled one comes, where each is sampled with chance 1 /
    // one_in_.
    [[nodiscard]] std::int64_t draw() noexcept;
    void adapt(Instant now) noexcept;

    RecordRing<KeySample> ring_;
    std::uint64_t random_;
    std::uint32_t one_in_ = 1;
    std::int64_t ahead_ = 1;     // packets to the next sampled one, that one included
    std::uint64_t packets_ = 0;  // since `since_`, when one_in_ was chosen
    unsigned samples_ = 0;       // likewise
    Instant since_{};
    Instant adapt_at_{};
    Counter lost_;
};

}  // namespace sluice

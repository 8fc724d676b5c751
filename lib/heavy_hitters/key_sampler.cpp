#include "lib/heavy_hitters/key_sampler.hpp"

#include <algorithm>

namespace sluice {

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
std::uint64_t KeySampler::random() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return random_ * 0x2545'F491'4F6C'DD1D;
}

KeySampler::Pick KeySampler::pick(std::size_t packets, Instant now) noexcept {
    const std::uint64_t drawn = random();
    const auto weight = std::min<std::uint64_t>(packets_, UINT32_MAX);
    packets_ = 0;
    next_ = now + Nanoseconds{static_cast<std::int64_t>(
                      (drawn >> 32) % static_cast<std::uint64_t>(2 * kMeanGap.count()))};
    return {static_cast<std::size_t>(((drawn & UINT32_MAX) * packets) >> 32),
            static_cast<std::uint32_t>(weight)};
}

KeySample* KeySampler::next() noexcept {
    KeySample* record = ring_.next();
    if (record == nullptr) {
        lost_.add(1);
    }
    return record;
}

}  // namespace sluice

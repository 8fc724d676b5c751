#include "lib/watch/top/key_sampler.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr Nanoseconds kAdaptEvery{1'000'000};
constexpr unsigned kMostSamples = 16;  // of traffic that grows faster than that
constexpr std::uint64_t kMostInOne = 1U << 24;

}  // namespace

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
std::uint64_t KeySampler::random() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return random_ * 0x2545'F491'4F6C'DD1D;
}

// Geometric: what was not reached yet may be drawn anew at any time, under another chance.
std::int64_t KeySampler::draw() noexcept {
    if (one_in_ == 1) {
        return 1;
    }
    constexpr double kAll = 0x1p53;
    const double uniform = (static_cast<double>(random() >> 11) + 1) / kAll;  // not 0
    return 1 + static_cast<std::int64_t>(std::log(uniform) / std::log1p(-1.0 / one_in_));
}

void KeySampler::adapt(Instant now) noexcept {
    const Nanoseconds passed = std::max(now - since_, kMeanGap);
    const auto gaps = static_cast<std::uint64_t>(passed / kMeanGap);
    one_in_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(packets_ / gaps, 1, kMostInOne));
    since_ = now;
    adapt_at_ = now + kAdaptEvery;
    packets_ = 0;
    samples_ = 0;
    ahead_ = draw();
}

// The chance changes before a burst by the clock alone, and by samples only behind one: what is
// picked has no say in it.
KeySampler::Pick KeySampler::pick(std::size_t packets, Instant now) noexcept {
    if (now >= adapt_at_) {
        adapt(now);
        ahead_ -= static_cast<std::int64_t>(packets);
    }
    std::uint64_t weight = 0;
    for (; ahead_ <= 0; ahead_ += draw()) {
        weight += one_in_;
    }
    const auto packet = static_cast<std::size_t>(((random() >> 32) * packets) >> 32);
    samples_ += weight == 0 ? 0 : 1;
    if (samples_ == kMostSamples) {
        adapt(now);
    }
    return {packet, static_cast<std::uint32_t>(std::min<std::uint64_t>(weight, UINT32_MAX))};
}

KeySample* KeySampler::next() noexcept {
    KeySample* record = ring_.next();
    if (record == nullptr) {
        lost_.add(1);
    }
    return record;
}

}  // namespace sluice

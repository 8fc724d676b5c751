#include "lib/l7/stream/recent_digests.hpp"

#include <algorithm>

namespace sluice {

RecentDigests::RecentDigests(Nanoseconds lasts, const RecentSize& size)
    : size_{size},
      generations_{{{zeroed_array<std::uint64_t>(size.bits / 64)},
                    {zeroed_array<std::uint64_t>(size.bits / 64)}}},
      lasts_{lasts} {}

// Digests are keyed hashes: two parts of one are two functions, and sums of these are others that
// do as well (Kirsch and Mitzenmacher).
RecentDigests::Place RecentDigests::place_of(std::uint64_t digest,
                                             unsigned function) const noexcept {
    const std::size_t bit = (digest + function * (digest >> 32 | 1)) & (size_.bits - 1);
    return {bit / 64, std::uint64_t{1} << bit % 64};
}

void RecentDigests::empty(Generation& generation) const noexcept {
    if (generation.is_used) {
        std::fill_n(&generation.words[0], size_.bits / 64, std::uint64_t{0});
        generation.is_used = false;
    }
}

void RecentDigests::rotate(Instant now) noexcept {
    if (began_ != Instant::min()) {
        const Nanoseconds age = now - began_;
        const bool is_full = noted_ >= size_.most && age >= size_.least;
        if (age < lasts_ && !is_full) {
            return;
        }
        if (age >= 2 * lasts_) {
            empty(generations_[young_]);
        }
    }
    young_ ^= 1U;
    empty(generations_[young_]);
    noted_ = 0;
    began_ = now;
}

void RecentDigests::note(std::uint64_t digest, Instant now) noexcept {
    rotate(now);
    Generation& young = generations_[young_];
    young.is_used = true;
    noted_ += noted_ == UINT32_MAX ? 0 : 1;
    for (unsigned function = 0; function < size_.functions; ++function) {
        const Place place = place_of(digest, function);
        young.words[place.word] |= place.bit;
    }
}

bool RecentDigests::has(const Generation& generation, std::uint64_t digest) const noexcept {
    bool has = generation.is_used;
    for (unsigned function = 0; has && function < size_.functions; ++function) {
        const Place place = place_of(digest, function);
        has = (generation.words[place.word] & place.bit) != 0;
    }
    return has;
}

bool RecentDigests::may_have(std::uint64_t digest, Instant now) noexcept {
    rotate(now);
    return std::any_of(generations_.begin(), generations_.end(),
                       [&](const Generation& generation) { return has(generation, digest); });
}

}  // namespace sluice

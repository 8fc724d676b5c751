#include "lib/conn/recent_digests.hpp"

#include <algorithm>

namespace sluice {
namespace {

struct Place {
    std::size_t word;
    std::uint64_t bit;
};

constexpr Place place_of(std::uint64_t hash) noexcept {
    const std::size_t bit = hash % RecentDigests::kBits;
    return {bit / 64, std::uint64_t{1} << bit % 64};
}
// Digests are keyed hashes: two parts of one are two functions.
constexpr std::array<Place, 2> places_of(std::uint64_t digest) noexcept {
    return {place_of(digest), place_of(digest >> 32)};
}

}  // namespace

RecentDigests::RecentDigests(Nanoseconds lasts)
    : generations_{{{zeroed_array<std::uint64_t>(kWords)}, {zeroed_array<std::uint64_t>(kWords)}}},
      lasts_{lasts} {}

void RecentDigests::empty(Generation& generation) noexcept {
    if (generation.is_used) {
        std::fill_n(&generation.words[0], kWords, std::uint64_t{0});
        generation.is_used = false;
    }
}

void RecentDigests::turn(Instant now) noexcept {
    if (began_ != Instant::min() && now - began_ < lasts_) {
        return;
    }
    if (began_ != Instant::min() && now - began_ >= 2 * lasts_) {
        empty(generations_[young_]);
    }
    young_ ^= 1U;
    empty(generations_[young_]);
    began_ = now;
}

void RecentDigests::note(std::uint64_t digest, Instant now) noexcept {
    turn(now);
    Generation& young = generations_[young_];
    young.is_used = true;
    for (const Place& place : places_of(digest)) {
        young.words[place.word] |= place.bit;
    }
}

bool RecentDigests::may_have(std::uint64_t digest, Instant now) noexcept {
    turn(now);
    const std::array<Place, 2> places = places_of(digest);
    return std::any_of(generations_.begin(), generations_.end(), [&](const Generation& generation) {
        return generation.is_used &&
               std::all_of(places.begin(), places.end(), [&](const Place& place) {
                   return (generation.words[place.word] & place.bit) != 0;
               });
    });
}

}  // namespace sluice

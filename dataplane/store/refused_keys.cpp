#include "dataplane/store/refused_keys.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::uint64_t hash_of(const StoreAsking& limit) {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t hash = static_cast<std::uint64_t>(limit.count);
    for (const std::uint64_t number : {limit.most, limit.period, limit.parts}) {
        hash = (hash ^ number) * kOdd;
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace

void RefusedKeys::note(const StoreQuestion& question, Nanoseconds since, Nanoseconds until) {
    if (until <= since) {
        return;
    }
    auto& set = sets_[question.hash % sets_.size()];
    const auto is_its = [&](const Key& key) {
        return key.hash == question.hash && key.slot == question.slot;
    };
    auto place = std::ranges::find_if(set, is_its);
    if (place == set.end()) {
        place = std::ranges::min_element(set, {}, &Key::asked_again);
    }
    *place = {.hash = question.hash,
              .numbers = hash_of(question.limit),
              .until = until.count(),
              .asked_again = std::min(until, since + kAskedAgain).count(),
              .cost = question.cost,
              .slot = question.slot};
}

std::optional<Nanoseconds> RefusedKeys::wait_of(const StoreQuestion& question,
                                                Nanoseconds now) const {
    for (const Key& key : sets_[question.hash % sets_.size()]) {
        if (key.hash == question.hash && key.slot == question.slot &&
            now.count() < key.asked_again && question.cost >= key.cost &&
            key.numbers == hash_of(question.limit)) {
            return Nanoseconds{key.until} - now;
        }
    }
    return std::nullopt;
}

void RefusedKeys::forget_all() {
    std::ranges::fill(sets_, std::array<Key, kWays>{});
}

}  // namespace sluice

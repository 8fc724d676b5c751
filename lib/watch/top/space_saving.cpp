#include "lib/watch/top/space_saving.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void SpaceSaving::add(std::string_view key, std::uint64_t weight, std::uint64_t note) {
    const double square = static_cast<double>(weight) * static_cast<double>(weight);
    auto place = places_.find(key);
    if (place == places_.end() && counted_.size() < capacity_) {
        place = places_.emplace(key, counted_.size()).first;
        counted_.push_back({std::string{key}, {weight, 0, square}, {}, note});
        rise(place->second);
        return;
    }
    if (place == places_.end()) {
        // The least goes, and what it had counted in both parts is the most that this key may have
        // had in either.
        Counted& least = counted_.front();
        places_.erase(least.key);
        place = places_.emplace(key, 0).first;
        least.key = key;
        least.now.count += least.before.count;
        least.now.squares += least.before.squares;
        least.now.error = least.now.count;
        least.before = {};
    }
    Counted& one = counted_[place->second];
    one.now.count += weight;
    one.now.squares += square;
    one.note = note;
    sink(place->second);
}

void SpaceSaving::rotate() {
    std::erase_if(counted_, [](const Counted& one) { return one.now.count == 0; });
    for (Counted& one : counted_) {
        one.before = std::exchange(one.now, {});
    }
    std::make_heap(counted_.begin(), counted_.end(),
                   [](const Counted& a, const Counted& b) { return a.count() > b.count(); });
    places_.clear();
    for (std::size_t at = 0; at < counted_.size(); ++at) {
        places_.emplace(counted_[at].key, at);
    }
}

const SpaceSaving::Counted* SpaceSaving::find(std::string_view key) const {
    const auto place = places_.find(key);
    return place == places_.end() ? nullptr : &counted_[place->second];
}

void SpaceSaving::sink(std::size_t at) {
    for (;;) {
        std::size_t least = at;
        for (std::size_t child = 2 * at + 1; child <= 2 * at + 2; ++child) {
            if (child < counted_.size() && counted_[child].count() < counted_[least].count()) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        swap(at, least);
        at = least;
    }
}

void SpaceSaving::rise(std::size_t at) {
    while (at != 0 && counted_[at].count() < counted_[(at - 1) / 2].count()) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

void SpaceSaving::swap(std::size_t a, std::size_t b) {
    std::swap(counted_[a], counted_[b]);
    places_.find(counted_[a].key)->second = a;
    places_.find(counted_[b].key)->second = b;
}

}  // namespace sluice

#include "lib/watch/events/watched_keys.hpp"

#include "lib/base/check.hpp"

#include <bit>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;

// The hash is keyed, so nobody outside aims keys at one set. Never 0.
std::uint64_t mark_of(const TableKey& key) noexcept {
    return ((key.hash ^ key.slot_and_tag) * kOdd) | 1;
}

bool is_same(const TableKey& a, const TableKey& b) noexcept {
    return a.hash == b.hash && a.slot_and_tag == b.slot_and_tag;
}

}  // namespace

WatchedKeys::WatchedKeys(std::size_t capacity)
    : sets_{capacity / kWays},
      marks_{std::make_unique<std::uint64_t[]>(capacity)},
      keys_{static_cast<WatchedKey*>(std::malloc(capacity * sizeof(WatchedKey)))},
      order_{std::make_unique_for_overwrite<std::uint32_t[]>(capacity)} {
    SLUICE_CHECK(keys_ != nullptr && capacity >= kWays && std::has_single_bit(capacity));
}

std::size_t WatchedKeys::set_of(const TableKey& key) const noexcept {
    return static_cast<std::size_t>(mark_of(key) >> 32) & (sets_ - 1);
}

WatchedKey* WatchedKeys::find(const TableKey& key) noexcept {
    if (size_ == 0) {
        return nullptr;
    }
    const std::uint64_t mark = mark_of(key);
    const std::size_t first = set_of(key) * kWays;
    for (std::size_t at = first; at < first + kWays; ++at) {
        if (marks_[at] == mark && is_same(keys_[at].key, key)) {
            return &keys_[at];
        }
    }
    return nullptr;
}

WatchedKeys::Added WatchedKeys::add(const TableKey& key) noexcept {
    const std::size_t first = set_of(key) * kWays;
    WatchedKey* silent = nullptr;
    for (std::size_t at = first; at < first + kWays; ++at) {
        if (marks_[at] == 0) {
            return {fill(at, key), false};
        }
        WatchedKey& other = keys_[at];
        if (other.is_silent() && (silent == nullptr || other.last < silent->last)) {
            silent = &other;
        }
    }
    if (silent == nullptr) {
        return {};
    }
    const std::size_t at = index_of(*silent);
    remove(*silent);
    return {fill(at, key), true};
}

WatchedKey* WatchedKeys::fill(std::size_t at, const TableKey& key) noexcept {
    marks_[at] = mark_of(key);
    WatchedKey& filled = *std::construct_at(&keys_[at]);
    filled.key = key;
    filled.place = static_cast<std::uint32_t>(size_);
    order_[size_++] = static_cast<std::uint32_t>(at);
    return &filled;
}

void WatchedKeys::remove(WatchedKey& key) noexcept {
    const std::size_t place = key.place;
    const std::size_t last = --size_;
    marks_[index_of(key)] = 0;
    if (place != last) {
        swap(place, last);
        rise(place);
        sink(place);
    }
}

void WatchedKeys::reorder(WatchedKey& key) noexcept {
    rise(key.place);
    sink(key.place);
}

void WatchedKeys::swap(std::size_t a, std::size_t b) noexcept {
    std::swap(order_[a], order_[b]);
    keys_[order_[a]].place = static_cast<std::uint32_t>(a);
    keys_[order_[b]].place = static_cast<std::uint32_t>(b);
}

void WatchedKeys::rise(std::size_t at) noexcept {
    while (at != 0 && is_before(at, (at - 1) / 2)) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

void WatchedKeys::sink(std::size_t at) noexcept {
    for (;;) {
        std::size_t least = at;
        for (std::size_t child = 2 * at + 1; child <= 2 * at + 2; ++child) {
            if (child < size_ && is_before(child, least)) {
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

}  // namespace sluice

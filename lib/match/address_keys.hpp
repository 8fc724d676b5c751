#pragma once
#include "lib/match/fib_v4.hpp"
#include "lib/match/fib_v6.hpp"
#include "lib/match/packed_v4.hpp"
#include "lib/match/packed_v6.hpp"
#include "lib/match/range_trie.hpp"
#include "lib/packet/row_mask.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The row of the last step that begins at the key or before it; the first begins at 0.
template <typename Key>
[[nodiscard]] std::uint32_t row_by_halving(std::span<const Step<Key>> steps, Key key) noexcept {
    const auto next = std::upper_bound(
        steps.begin(), steps.end(), key,
        [](const Key& wanted, const Step<Key>& step) { return wanted < step.first; });
    return (next - 1)->row;
}

// The addresses of one version in a burst as keys, and the packet that each belongs to, so that
// they are looked up together.
template <typename Key>
class AddressKeys {
public:
    void add(Key key, std::uint32_t packet) noexcept {
        keys_[count_] = key;
        packets_[count_++] = packet;
    }
    [[nodiscard]] Key last() const noexcept { return keys_[count_ - 1]; }

    // In the first of these that there is.
    template <typename Packed, typename Fib>
    void find(const Packed* packed, const Fib* fib, const RangeTrie<Key>& trie,
              std::span<const Step<Key>> steps, std::uint32_t* rows) const noexcept {
        std::array<std::uint32_t, kMaxBurst> found;
        const std::span<const Key> keys = std::span{keys_}.first(count_);
        if (packed != nullptr) {
            packed->find_each(keys, found.data());
        } else if (fib != nullptr) {
            fib->find_each(keys, found.data());
        } else if (trie.is_large()) {
            trie.find_each(keys, steps, found.data());
        } else {
            for (std::size_t i = 0; i < count_; ++i) {
                rows[packets_[i]] = trie.find(keys_[i], steps);
            }
            return;
        }
        for (std::size_t i = 0; i < count_; ++i) {
            rows[packets_[i]] = found[i];
        }
    }
    // Without a table.
    void find_by_halving(std::span<const Step<Key>> steps, std::uint32_t* rows) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            rows[packets_[i]] = row_by_halving(steps, keys_[i]);
        }
    }

private:
    static_assert(kMaxBurst <= RangeTrie<Key>::kMaxKeys && kMaxBurst <= FibV4::kMaxKeys &&
                  kMaxBurst <= FibV6::kMaxKeys && kMaxBurst <= PackedV4::kMaxKeys &&
                  kMaxBurst <= PackedV6::kMaxKeys);
    // Only as many entries as are counted are read.
    std::array<Key, kMaxBurst> keys_;
    std::array<std::uint32_t, kMaxBurst> packets_;
    std::size_t count_ = 0;
};

}  // namespace sluice

#include "lib/match/address_table.hpp"

namespace sluice {
template <typename Key>
AddressTable<Key>::AddressTable(Steps steps)
    : packed_{steps.size() < kManyPackedSteps ? nullptr : shared_table<Packed>(steps)},
      ranges_{packed_ != nullptr ? nullptr : shared_table<RangeTable<Key>>(steps)} {}

template <typename Key>
std::size_t AddressTable<Key>::bytes(Steps steps) const {
    if (packed_ == nullptr && ranges_ == nullptr) {
        const std::size_t packed =
            steps.size() < kManyPackedSteps ? SIZE_MAX : Packed::bytes_for(steps);
        return packed <= Packed::kMostBytes ? packed : RangeTable<Key>::bytes_for(steps);
    }
    return packed_ != nullptr ? packed_->bytes() : ranges_->bytes();
}

template <typename Key>
std::uint32_t AddressTable<Key>::find(Key key, Steps steps) const noexcept {
    if (ranges_ != nullptr) {
        return ranges_->find(key);
    }
    return step_of(steps, key).row;
}

template <typename Key>
void AddressTable<Key>::find_each(std::span<const Key> keys, Steps steps,
                                  std::uint32_t* rows) const noexcept {
    if (packed_ != nullptr) {
        packed_->find_each(keys, rows);
    } else if (ranges_ != nullptr) {
        ranges_->find_each(keys, rows);
    } else {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            rows[i] = step_of(steps, keys[i]).row;
        }
    }
}

template class AddressTable<std::uint64_t>;
template class AddressTable<Wide>;

}  // namespace sluice

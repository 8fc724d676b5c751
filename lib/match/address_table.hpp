#pragma once
#include "lib/match/packed_v4.hpp"
#include "lib/match/packed_v6.hpp"
#include "lib/match/range_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace sluice {

// With so many steps or more of few rows, a packed table costs a packet less than one of ranges,
// which no cache holds: one of a MiB and three bytes for each step, or half a MiB and five for
// IPv6.
inline constexpr std::size_t kManyPackedSteps = std::size_t{1} << 13;

// nullptr: such a table takes no such steps.
template <typename Table, typename Key>
[[nodiscard]] std::shared_ptr<const Table> shared_table(std::span<const Step<Key>> steps) {
    Result<Table> table = Table::make(steps);
    return table ? std::make_shared<const Table>(*std::move(table)) : nullptr;
}

// Rows by the addresses of one version: packed, if there are many steps and few rows, else by
// ranges. The steps stay with the caller, which passes them to each look-up.
template <typename Key>
class AddressTable {
public:
    using Steps = std::span<const Step<Key>>;
    using Packed = std::conditional_t<sizeof(Key) == sizeof(Wide), PackedV6, PackedV4>;

    // Without tables: by halving. As if they would take more memory than there is for them.
    AddressTable() = default;
    explicit AddressTable(Steps steps);

    // `steps`: those it was made from, here and below. The bytes that it takes, or would as a
    // table.
    [[nodiscard]] std::size_t bytes(Steps steps) const;
    [[nodiscard]] std::uint32_t find(Key key, Steps steps) const noexcept;
    // The rows of at most RangeTable::kMaxKeys keys.
    void find_each(std::span<const Key> keys, Steps steps, std::uint32_t* rows) const noexcept;

private:
    static_assert(Packed::kMaxKeys == RangeTable<Key>::kMaxKeys);

    // Copies share them.
    std::shared_ptr<const Packed> packed_;
    std::shared_ptr<const RangeTable<Key>> ranges_;
};

extern template class AddressTable<std::uint64_t>;
extern template class AddressTable<Wide>;

// The tables of both versions.
struct AddressTables {
    AddressTables() = default;
    template <typename Parts>
    explicit AddressTables(const Parts& parts) : v4{parts.steps}, v6{parts.v6_steps} {}

    AddressTable<std::uint64_t> v4;
    AddressTable<Wide> v6;
};

}  // namespace sluice

#pragma once
#include "lib/match/address_key.hpp"
#include "lib/match/address_table.hpp"
#include "lib/packet/header_columns.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Addresses of a burst as keys, and the packet that each belongs to, so that those of one version
// are looked up together.
class BurstAddresses {
public:
    enum class End : std::uint8_t { Source, Destination };

    BurstAddresses() = default;
    // Keys of rows that all have an IP header.
    BurstAddresses(const HeaderColumns& columns, RowMask rows, End end) noexcept {
        const auto& hosts = end == End::Source ? columns.src_host : columns.dst_host;
        const auto& wide = end == End::Source ? columns.src6 : columns.dst6;
        for_each_row(rows & ~columns.v6, [&](std::size_t row) { v4_.add(hosts[row], row); });
        for_each_row(rows & columns.v6, [&](std::size_t row) { v6_.add(v6_key(wide[row]), row); });
    }
    void add(const VersionedAddress& address, std::size_t packet) noexcept {
        if (address.version == IpVersion::V4) {
            v4_.add(v4_key(address.address), packet);
        } else {
            v6_.add(v6_key(address.address), packet);
        }
    }

    // Writes the row of each packet's address. A table writes those of keys: find_each(keys, rows).
    template <typename FindV4, typename FindV6>
    void find(FindV4&& find_v4, FindV6&& find_v6, std::uint32_t* rows) const noexcept {
        v4_.find(find_v4, rows);
        v6_.find(find_v6, rows);
    }
    // In tables that were made from the steps of these parts.
    template <typename Parts>
    void find(const AddressTables& tables, const Parts& parts, std::uint32_t* rows) const noexcept {
        find([&](auto keys, auto* found) { tables.v4.find_each(keys, parts.steps, found); },
             [&](auto keys, auto* found) { tables.v6.find_each(keys, parts.v6_steps, found); },
             rows);
    }

private:
    template <typename Key>
    class Keys {
    public:
        void add(Key key, std::size_t packet) noexcept {
            keys_[count_] = key;
            packets_[count_++] = static_cast<std::uint32_t>(packet);
        }
        template <typename FindEach>
        void find(FindEach&& find_each, std::uint32_t* rows) const noexcept {
            std::array<std::uint32_t, kMaxBurst> found;
            find_each(std::span{keys_}.first(count_), found.data());
            for (std::size_t i = 0; i < count_; ++i) {
                rows[packets_[i]] = found[i];
            }
        }

    private:
        static_assert(kMaxBurst <= RangeTable<Key>::kMaxKeys);
        // Only as many entries as are counted are read.
        std::array<Key, kMaxBurst> keys_;
        std::array<std::uint32_t, kMaxBurst> packets_;
        std::size_t count_ = 0;
    };

    Keys<std::uint64_t> v4_;
    Keys<Wide> v6_;
};

}  // namespace sluice

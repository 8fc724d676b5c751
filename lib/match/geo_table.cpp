#include "lib/match/geo_table.hpp"

#include "lib/base/prefetch.hpp"
#include "lib/match/address_key.hpp"

#include <array>

namespace sluice {

Result<GeoTable> GeoTable::make(const GeoParts& parts) {
    Result<FibV4> v4 = FibV4::make(parts.steps);
    if (!v4) {
        return v4.error();
    }
    Result<FibV6> v6 = FibV6::make(parts.v6_steps);
    if (!v6) {
        return v6.error();
    }
    return GeoTable{*std::move(v4), *std::move(v6), parts};
}

void GeoTable::fill(HeaderColumns& headers, RowMask rows) const noexcept {
    static constexpr End kSource{Field::IpSrcCountry,         Field::IpSrcAsn,
                                 &HeaderColumns::src_host,    &HeaderColumns::src6,
                                 &HeaderColumns::src_country, &HeaderColumns::src_asn};
    static constexpr End kDestination{Field::IpDstCountry,         Field::IpDstAsn,
                                      &HeaderColumns::dst_host,    &HeaderColumns::dst6,
                                      &HeaderColumns::dst_country, &HeaderColumns::dst_asn};
    for (const End* end : {&kSource, &kDestination}) {
        if (asked_.has(end->country_field) || asked_.has(end->asn_field)) {
            fill_end(headers, rows & headers.present_rows(HeaderPart::Ip), *end);
        }
    }
}

void GeoTable::fill_end(HeaderColumns& headers, RowMask rows, const End& end) const noexcept {
    // Only as many entries as are counted are read.
    std::array<std::uint64_t, kMaxBurst> v4_keys;
    std::array<Wide, kMaxBurst> v6_keys;
    std::array<std::uint32_t, kMaxBurst> origins;
    std::size_t v4 = 0;
    std::size_t v6 = 0;
    for_each_row(rows & ~headers.v6, [&](std::size_t row) {
        v4_keys[v4] = (headers.*end.v4_address)[row];
        v4_.prefetch(static_cast<std::uint32_t>(v4_keys[v4++]));
    });
    for_each_row(rows & headers.v6,
                 [&](std::size_t row) { v6_keys[v6++] = v6_key((headers.*end.v6_address)[row]); });
    v4_.find_each(std::span{v4_keys}.first(v4), origins.data());
    v6_.find_each(std::span{v6_keys}.first(v6), origins.data() + v4);
    for (std::size_t i = 0; i < v4 + v6; ++i) {
        prefetch0(&origins_[origins[i]]);
    }
    std::size_t next = 0;
    const auto take = [&](std::size_t row) { note(headers, row, end, origins_[origins[next++]]); };
    for_each_row(rows & ~headers.v6, take);
    for_each_row(rows & headers.v6, take);
}

void GeoTable::note(HeaderColumns& headers, std::size_t row, const End& end,
                    const GeoOrigin& origin) const noexcept {
    if (origin.country != 0 && asked_.has(end.country_field)) {
        (headers.*end.country)[row] = static_cast<std::uint16_t>(origin.country);
        headers.add_present(part_of(end.country_field), row_bit(row));
    }
    if (origin.asn != 0 && asked_.has(end.asn_field)) {
        (headers.*end.asn)[row] = origin.asn;
        headers.add_present(part_of(end.asn_field), row_bit(row));
    }
}

}  // namespace sluice

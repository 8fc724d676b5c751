#include "lib/match/geo_table.hpp"

#include "lib/base/prefetch.hpp"

#include <array>

namespace sluice {

Result<GeoTable> GeoTable::make(const GeoParts& parts) {
    Result<RangeTable<std::uint64_t>> v4 = RangeTable<std::uint64_t>::make(parts.steps);
    if (!v4) {
        return v4.error();
    }
    Result<RangeTable<Wide>> v6 = RangeTable<Wide>::make(parts.v6_steps);
    if (!v6) {
        return v6.error();
    }
    return GeoTable{*std::move(v4), *std::move(v6), parts};
}

void GeoTable::fill(HeaderColumns& headers, RowMask rows) const noexcept {
    static constexpr End kSource{Field::IpSrcCountry, Field::IpSrcAsn, BurstAddresses::End::Source,
                                 &HeaderColumns::src_country, &HeaderColumns::src_asn};
    static constexpr End kDestination{Field::IpDstCountry, Field::IpDstAsn,
                                      BurstAddresses::End::Destination, &HeaderColumns::dst_country,
                                      &HeaderColumns::dst_asn};
    for (const End* end : {&kSource, &kDestination}) {
        if (asked_.has(end->country_field) || asked_.has(end->asn_field)) {
            fill_end(headers, rows & headers.present_rows(HeaderPart::Ip), *end);
        }
    }
}

void GeoTable::fill_end(HeaderColumns& headers, RowMask rows, const End& end) const noexcept {
    // By packet; only those of `rows` are read.
    std::array<std::uint32_t, kMaxBurst> origins;
    const BurstAddresses addresses{headers, rows, end.addresses};
    addresses.find([&](auto keys, auto* found) { v4_.find_each(keys, found); },
                   [&](auto keys, auto* found) { v6_.find_each(keys, found); }, origins.data());
    for_each_row(rows, [&](std::size_t row) { prefetch0(&origins_[origins[row]]); });
    for_each_row(rows, [&](std::size_t row) { note(headers, row, end, origins_[origins[row]]); });
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

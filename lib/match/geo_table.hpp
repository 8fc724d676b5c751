#pragma once
#include "lib/base/result.hpp"
#include "lib/match/burst_addresses.hpp"
#include "lib/match/geo_parts.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Gives packets the country and the ASN of their addresses, a burst at a time, for the fields that
// rules use: one look-up for each address, however many rules there are. Never changed once made.
class GeoTable {
public:
    // The parts are sound: see are_sound(). TooMany: the tables would take too much memory.
    [[nodiscard]] static Result<GeoTable> make(const GeoParts& parts);

    // Fills the columns of origins in these rows, which have been parsed.
    void fill(HeaderColumns& headers, RowMask rows) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept {
        return v4_.bytes() + v6_.bytes() + origins_.size() * sizeof(GeoOrigin);
    }

private:
    // The columns of one end of packets.
    struct End {
        Field country_field;
        Field asn_field;
        BurstAddresses::End addresses;
        HeaderColumns::Column<std::uint16_t> HeaderColumns::* country;
        HeaderColumns::Column<std::uint32_t> HeaderColumns::* asn;
    };

    GeoTable(RangeTable<std::uint64_t> v4, RangeTable<Wide> v6, const GeoParts& parts)
        : asked_{parts.asked}, v4_{std::move(v4)}, v6_{std::move(v6)}, origins_{parts.origins} {}

    void fill_end(HeaderColumns& headers, RowMask rows, const End& end) const noexcept;
    void note(HeaderColumns& headers, std::size_t row, const End& end,
              const GeoOrigin& origin) const noexcept;

    FieldSet asked_;
    RangeTable<std::uint64_t> v4_;
    RangeTable<Wide> v6_;
    std::vector<GeoOrigin> origins_;
};

}  // namespace sluice

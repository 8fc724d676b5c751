#include "lib/rules/load/origins.hpp"

#include <utility>

namespace sluice {

Result<MappedOrigins> make_geo_table(std::shared_ptr<const GeoParts> parts,
                                     const MappedOrigins& before) {
    if (parts == nullptr) {
        return MappedOrigins{};
    }
    if (before.map != nullptr && (before.parts == parts || *before.parts == *parts)) {
        return before;
    }
    Result<GeoTable> map = GeoTable::make(*parts);
    if (!map) {
        return map.error();
    }
    return MappedOrigins{std::move(parts), std::make_shared<const GeoTable>(*std::move(map))};
}

}  // namespace sluice

#include "lib/load/origins.hpp"

#include <utility>

namespace sluice {

Result<MappedOrigins> map_origins(std::shared_ptr<const OriginParts> parts,
                                  const MappedOrigins& before) {
    if (parts == nullptr) {
        return MappedOrigins{};
    }
    if (before.map != nullptr && (before.parts == parts || *before.parts == *parts)) {
        return before;
    }
    Result<OriginMap> map = OriginMap::make(*parts);
    if (!map) {
        return map.error();
    }
    return MappedOrigins{std::move(parts), std::make_shared<const OriginMap>(*std::move(map))};
}

}  // namespace sluice

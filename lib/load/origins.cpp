#include "lib/load/origins.hpp"

#include <utility>

namespace sluice {

Result<Done> map_origins(RuleSet& set, const RuleSet* before) {
    set.origin_map = nullptr;
    if (set.origins == nullptr) {
        return Done{};
    }
    if (before != nullptr && before->origin_map != nullptr &&
        (before->origins == set.origins || *before->origins == *set.origins)) {
        set.origins = before->origins;
        set.origin_map = before->origin_map;
        return Done{};
    }
    Result<OriginMap> map = OriginMap::make(*set.origins);
    if (!map) {
        return map.error();
    }
    set.origin_map = std::make_shared<const OriginMap>(*std::move(map));
    return Done{};
}

}  // namespace sluice

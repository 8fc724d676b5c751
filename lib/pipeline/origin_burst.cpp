#include "lib/pipeline/stages.hpp"

namespace sluice {

void fill_origins(Burst& burst, const OriginMap& origins) noexcept {
    origins.fill(burst.headers(), burst.headers().well_formed() & burst.live());
}

}  // namespace sluice

#include "lib/engine/stage/stages.hpp"

namespace sluice {

void fill_geo(Burst& burst, const GeoTable& origins) noexcept {
    origins.fill(burst.headers(), burst.headers().well_formed() & burst.live());
}

void fill_clients(Burst& burst, const ProxiedClients& clients) noexcept {
    burst.set_proxied(clients.hide(burst.headers(), burst.headers().well_formed() & burst.live()));
}

}  // namespace sluice

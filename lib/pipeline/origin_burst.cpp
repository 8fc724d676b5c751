#include "lib/pipeline/stages.hpp"

#include <array>
#include <span>

namespace sluice {

static_assert(OriginMap::kMaxFlows >= kMaxBurst);

void fill_origins(Burst& burst, const OriginMap& origins) noexcept {
    std::array<Flow*, kMaxBurst> flows;
    std::size_t count = 0;
    for (Packet& packet : burst.packets()) {
        if (!is_malformed(packet.flow.parsed)) {
            flows[count++] = &packet.flow;
        }
    }
    origins.fill(std::span{flows}.first(count));
}

}  // namespace sluice

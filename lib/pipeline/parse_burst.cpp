#include "lib/packet/parse.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

void parse_burst(Burst& burst, const CoreState& core) noexcept {
    for (const Packet& packet : burst.packets()) {
        __builtin_prefetch(packet.frame.bytes.data());
    }
    for (Packet& packet : burst.packets()) {
        parse_frame(packet.frame, core.policy.tunnels, packet.flow);
    }
}

}  // namespace sluice

#include "lib/packet/parse.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

void parse_burst(Burst& burst, const CoreState& core) noexcept {
    const Tunnels tunnels = core.policy.tunnels;
    for (Packet& packet : burst.packets()) {
        const Parsed parsed = parse_frame(packet.frame, tunnels, packet.flow);
        if (parsed == Parsed::Cut && !core.policy.captured) [[unlikely]] {
            packet.flow.parsed = Parsed::TooDeep;
        }
    }
}

}  // namespace sluice

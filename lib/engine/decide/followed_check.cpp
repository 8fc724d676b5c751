#include "lib/engine/decide/followed_check.hpp"

#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/decide/follow_connections.hpp"
#include "lib/rules/units_of.hpp"

namespace sluice {

void leave_out_followed(LimitCheck& check, const LoadedLimit& limit,
                        const CheckContext& context) noexcept {
    const bool is_local = !limit.asked || !context.ask.asks();
    if (check.cost == Units{0} || !is_local || context.question != nullptr ||
        opens_connection(context.packet_headers())) {
        return;
    }
    const PacketHeaders& headers = context.packet_headers();
    const ConnectionStart start =
        connection_start(connection_ends(headers, context.core.hash), headers, context.frame());
    if (!completes_handshake(start, slot_of(check.key), context.core, context.now)) {
        check.cost = Units{0};
    }
}

}  // namespace sluice

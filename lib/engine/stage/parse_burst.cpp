#include "lib/engine/stage/stages.hpp"
#include "lib/packet/parse_columns.hpp"

namespace sluice {

void parse_burst(Burst& burst, const CoreState& core) noexcept {
    parse_columns(burst.frames(), {core.policy.tunnels, core.policy.captured}, burst.headers());
}

}  // namespace sluice

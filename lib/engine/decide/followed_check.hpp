#pragma once
#include "lib/engine/check/check_limit.hpp"

namespace sluice {

// Packets that may complete a handshake: a limit of open connections judges those that do; of
// others the check costs nothing. Where owners are asked, they say it of theirs.
void leave_out_followed(LimitCheck& check, const LoadedLimit& limit,
                        const CheckContext& context) noexcept;

}  // namespace sluice

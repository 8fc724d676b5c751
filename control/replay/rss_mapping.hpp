#pragma once
#include "lib/base/result.hpp"
#include "lib/packet/rss.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

// The worker that a port's RSS would choose. `outer` is the frame parsed without looking into
// tunnels; what is not IP goes to worker 0.
[[nodiscard]] std::size_t worker_of(const PacketHeaders& outer, Rss input, std::size_t workers);

// In, unless the frame comes from one of the networks behind the box.
[[nodiscard]] Direction direction_of(const PacketHeaders& outer,
                                     const std::vector<IpPrefix>& inside);

[[nodiscard]] Result<std::vector<IpPrefix>> parse_prefixes(const std::vector<std::string>& texts);

}  // namespace sluice

#pragma once
#include "lib/base/result.hpp"
#include "lib/packet/flow.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// What of a frame decides which worker gets it, as a port's RSS would: the outermost addresses, and
// for five_tuple the ports of what is not a fragment.
enum class RssInput : std::uint8_t { Source, Destination, Symmetric, FiveTuple };

// By its name in sluice.yaml.
[[nodiscard]] std::optional<RssInput> rss_input(std::string_view name);

// `outer` is the frame parsed without looking into tunnels. What is not IP goes to worker 0.
[[nodiscard]] std::size_t worker_of(const Flow& outer, RssInput input, std::size_t workers);

// In, unless the frame comes from one of the networks behind the box.
[[nodiscard]] Direction direction_of(const Flow& outer, const std::vector<IpPrefix>& inside);

[[nodiscard]] Result<std::vector<IpPrefix>> parse_prefixes(const std::vector<std::string>& texts);

}  // namespace sluice

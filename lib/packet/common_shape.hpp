#pragma once
#include "lib/packet/parse.hpp"

namespace sluice {

// The short way for what most frames are: Ethernet without tags, IPv4 without options or IPv6
// without extension headers, no fragment, UDP or TCP, all of it at hand and nothing odd about its
// lengths. True: `flow` is filled exactly as walk_frame() would fill it. False: it is as it was.
[[nodiscard]] bool parse_common_shape(FrameView frame, Tunnels tunnels, Flow& flow) noexcept;

}  // namespace sluice

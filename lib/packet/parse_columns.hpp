#pragma once
#include "lib/packet/frame_columns.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/packet/parse.hpp"

namespace sluice {

struct ParseOptions {
    Tunnels tunnels;
    // Frames are of a capture with a snap length: one that is cut is taken for what it shows. Else
    // it is malformed, as Parsed::TooDeep: its headers reach beyond the first mbuf segment.
    bool captured = false;
};

// Parses a burst: the same facts of every frame as parse_frame() gives. Frames of the common shape
// (Ethernet with one VLAN tag at most, IPv4 without options or IPv6 without extension headers, no
// fragment, whole UDP or TCP) go eight at a time with AVX2, and so do those that lead to no IP
// packet or whose IPv4 header contradicts itself; all others one by one through parse_frame().
// Never reads beyond the captured bytes of a frame. set_ingress() has been called for each row, in
// this burst or an earlier one. The frames stay where they are, unchanged, for as long as the
// columns are used.
void parse_columns(const FrameColumns& frames, const ParseOptions& options,
                   HeaderColumns& columns) noexcept;

}  // namespace sluice

#pragma once
#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <cstdint>

namespace sluice::test {

// A frame and what the parser finds in it, as it comes in at a port of the pair "uplink".
struct ParsedFrame {
    Octets frame;
    PacketHeaders headers;
};

inline ParsedFrame parse_of(const Frame& frame, Direction dir = Direction::In,
                            Tunnels tunnels = {}) {
    ParsedFrame all{frame.bytes(), {}};
    all.headers.dir = dir;
    all.headers.port = port_name("uplink");
    parse_frame({all.frame, static_cast<std::uint32_t>(all.frame.size())}, tunnels, all.headers);
    return all;
}

}  // namespace sluice::test

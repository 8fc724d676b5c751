#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// How the checksums of a TCP segment stand.
enum class ChecksumFinding : std::uint8_t {
    Right,
    Wrong,
    Unfinished,  // the sum of the pseudo-header alone: a sender left the rest to its adapter
    Unknown,     // not all bytes are at hand, or the header does not say what the sum covers
};

// Of IPv4's header and of TCP, by the bytes. A packet whose IP length is not what came is Wrong
// too: receivers drop it. `headers` are those of the frame, of a whole TCP segment (not a
// fragment).
[[nodiscard]] ChecksumFinding find_checksums(const PacketHeaders& headers,
                                             const FrameView& frame) noexcept;

}  // namespace sluice

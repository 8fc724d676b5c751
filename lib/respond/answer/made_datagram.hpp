#pragma once
#include "lib/respond/answer/frame_route.hpp"

#include <cstddef>

namespace sluice {

// The size of the whole frame of a UDP datagram with this payload.
[[nodiscard]] std::size_t datagram_frame_size(const FrameRoute& route, ByteView payload) noexcept;
// `frame` has datagram_frame_size() bytes; all of them are written, checksums too.
void write_datagram(const FrameRoute& route, ByteView payload, MutableBytes frame) noexcept;

}  // namespace sluice

#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// What is matched: a packet's fields, and its frame for those that PacketHeaders does not copy.
struct Subject {
    const PacketHeaders* headers = nullptr;
    ByteView frame;
    std::uint32_t readable_behind = 0;  // bytes behind the frame that may be read
};
inline constexpr std::size_t kMaxSubjects = 32;

}  // namespace sluice

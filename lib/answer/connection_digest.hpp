#pragma once
#include "lib/hash/group_key.hpp"
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// One direction of a connection: that of a packet, or the other one.
enum class Way : std::uint8_t { Along, Against };

// A keyed digest of who sends to whom, on which pair, under which tags, and from which side of it.
// `headers` has TCP or UDP.
[[nodiscard]] std::uint64_t connection_digest(const PacketHeaders& headers, Way way,
                                              const KeyHasher& hash) noexcept;

}  // namespace sluice

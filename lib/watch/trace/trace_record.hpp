#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/group.hpp"
#include "lib/watch/trace/traced_packet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// The most rules that match a packet of which each is named.
inline constexpr std::size_t kMostNamedMatches = 8;

inline constexpr std::uint32_t kOfNoService = ~std::uint32_t{0};

// One packet on its way from the worker that decided it.
struct TraceRecord {
    std::uint64_t load;  // of the rule set that rules are meant in
    Nanoseconds utc;     // when it was decided
    Decision decision;
    std::uint32_t service;  // index of the service that it is of; kOfNoService: of none
    std::optional<Reason> would_refuse;  // by that one, which is in monitor
    PacketHeaders headers;               // without a unit
    std::uint32_t wire_size;
    std::uint32_t matched_count;
    std::array<std::uint32_t, kMostNamedMatches> matched;  // the first ones
    std::uint16_t key_size;
    std::uint16_t kept;  // bytes of the frame
    std::array<std::byte, KeyBytes::kMaxSize> key;
    std::array<std::byte, kMostTracedBytes> frame;
};

}  // namespace sluice

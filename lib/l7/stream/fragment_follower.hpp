#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/stream/unit_event_counters.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/verdict.hpp"

#include <optional>

namespace sluice {

// A fragment, which is well-formed.
struct FragmentSource {
    const PacketHeaders& headers;
    FrameView frame;
    const KeyHasher& hash;
    Instant now;
    UnitEventCounters& counters;
};

// A worker's memory of datagrams in fragments. It neither allocates nor waits.
struct FragmentFollower {
    // Notes whether a first fragment was forwarded, also one around a packet of a tunnel.
    using Remember = void (*)(void* memory, const FragmentSource& first, bool forwarded) noexcept;
    // Why a later fragment is dropped before any rule; nullopt: the rules judge it.
    using Refuse = std::optional<Reason> (*)(void* memory, const FragmentSource& later) noexcept;
    Remember remember = nullptr;
    Refuse refuse = nullptr;
    void* memory = nullptr;
};

}  // namespace sluice

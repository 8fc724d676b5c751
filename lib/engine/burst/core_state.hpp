#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/engine/burst/active_schedules.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/burst/pair_checksums.hpp"
#include "lib/engine/burst/recent_openings.hpp"
#include "lib/l7/stream/fragment_follower.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/peer/follow/connection_lanes.hpp"
#include "lib/peer/merge/connection_gauges.hpp"
#include "lib/peer/merge/ledger.hpp"
#include "lib/respond/answer/answered_traffic.hpp"
#include "lib/respond/shape/held_order.hpp"
#include "lib/watch/events/key_events.hpp"
#include "lib/watch/events/new_bans.hpp"
#include "lib/watch/heatmap/heat_sampler.hpp"
#include "lib/watch/top/key_sampler.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

class ReserveClient;

// How this box treats packets, from sluice.yaml; the same on every worker.
struct PacketPolicy {
    Tunnels tunnels;
    MalformedPolicy malformed = MalformedPolicy::Drop;
    // Frames of a capture may have been cut by its snap length: they are judged by the fields that
    // are there. On a live port a header beyond what is held at once is Parsed::TooDeep: who hides
    // ports behind a mass of headers must not slip past the rules over ports.
    bool captured = false;
    // True if Decision::wait is worked out; nothing that a live box does needs it yet.
    bool tell_wait = true;
};

// One core's state between bursts. Its owner alone touches it; `counters` may be read by anyone.
struct CoreState {
    PacketPolicy policy;
    KeyHasher hash;
    BucketStore buckets;
    WorkerCounters& counters;
    // Samples of the keys that its rules count; nullptr: nobody asks.
    KeySampler* sampler = nullptr;
    // Keys that its rules refuse and ban; nullptr: nobody asks.
    KeyEvents* events = nullptr;
    // Keys that are sampled for heat maps; nullptr: nobody asks.
    HeatSampler* heat = nullptr;
    // The worker's table of samples, until the end of its turn; nullptr: no limit of the set has a
    // map.
    HeatTable* watching = nullptr;
    // Sources that go into penalty boxes; nullptr: nobody asks.
    NewBans* new_bans = nullptr;
    // For the texts of the rule set it judges by; needed when its classifier asks_text().
    TextScratch* texts = nullptr;
    // For limits that workers or boxes share; nullptr: the rule set has none.
    Ledger* ledger = nullptr;
    // For limits of open connections that boxes share; nullptr: the rule set has none. `ledger` is
    // there with it.
    ConnectionGauges* gauges = nullptr;
    // For limits that are asked of their keys' owners; nullptr: all are this worker's own.
    ReserveClient* reserve_client = nullptr;
    // Messages to and from others about connections that one of them counts as open; nullptr:
    // it is the only one.
    ConnectionLanes* connection_lanes = nullptr;
    // For fragments, which go where the first of their datagram goes; empty: each is judged by its
    // own headers.
    FragmentFollower fragments;
    // Connections that this worker's answerer has ended; nullptr: nobody answers.
    AnsweredTraffic* answered = nullptr;
    // Bursts that were forwarded unread: what parsers of later layers know has gaps behind them.
    std::uint64_t unread_bursts = 0;
    // Bursts under rules without services: what is known of connections of services has gaps there.
    mutable std::uint64_t untracked_bursts = 0;
    // How many more packets may be held until they depart (Verdict::Shape).
    std::uint32_t hold_capacity = UINT32_MAX;
    // SYNs that limits of open connections will be asked about.
    mutable RecentOpenings recent_openings{};
    // Trust in checksums, where a connection's state follows from a segment.
    PairChecksums checksums{};
    // Schedules of its rule set, as this worker follows them.
    ActiveSchedules schedules{};
    // Bans for all that a source sends which this worker has begun.
    std::uint64_t source_bans_begun = 0;
    // The keys of held packets.
    HeldOrder held_order{};
    // The rule set whose limits `buckets` knows.
    const LoadedSet* known = nullptr;
    std::uint64_t known_load = 0;
};

}  // namespace sluice

#pragma once
#include "lib/peer/store/store_batch.hpp"
#include "lib/rules/cluster_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Messages between sluice-dataplane and sluice-store, which speaks to the store for it. The
// dataplane listens, since it lives without the other. Levels and units cross, never instants: of
// time only how far the store's clocks are ahead of the machine's monotonic clock.
namespace sluice {

inline constexpr std::uint32_t kStoreLinkVersion = 4;

// The box, said first by the dataplane. `life` is random in each life of its process.
struct StoreHello {
    std::uint32_t version = kStoreLinkVersion;
    std::string cluster;
    std::string node;
    std::uint16_t size = 0;
    std::uint64_t life = 0;
    Durability durability = Durability::Memory;
    std::uint64_t secret_digest = 0;  // of the secret by which the box names keys

    static void fields(auto& archive, auto& m) {
        archive(m.version, m.cluster, m.node, m.size, m.life, m.durability, m.secret_digest);
    }
};

// A partition's clock in the store, by the latest answers that the dataplane has.
struct StoreClockReading {
    std::uint16_t partition = 0;
    std::uint64_t born = 0;
    std::int64_t ahead_us = 0;  // of the machine's monotonic clock

    static void fields(auto& archive, auto& m) {
        archive(m.partition, m.born, m.ahead_us);
        archive.check(m.partition < kMostStorePartitions && m.born != 0);
    }
};

// Said behind the hello: a process that begins goes on by the clocks of the one before, or what
// was paid back while no process was there would be owed for good.
struct StoreClocks {
    std::vector<StoreClockReading> clocks;

    static void fields(auto& archive, auto& m) {
        archive(m.clocks);
        archive.check(m.clocks.size() <= kMostStorePartitions);
    }
};

enum class StoreLinkState : std::uint8_t { Away, Refused, Fenced, Ready };

// How the link to the store stands, said by sluice-store when it changes and once a second.
struct StoreLinkReport {
    StoreLinkState state = StoreLinkState::Away;
    std::string why;         // in words, of what is not Ready
    std::uint16_t slot = 0;  // of the cluster's, from 0 on; of a link that is Ready
    std::uint16_t partitions = kStorePartitions;
    std::uint64_t rtt_us = 0;       // of the latest answer
    std::int64_t clock_off_us = 0;  // the store's UTC less this machine's
    std::uint64_t retries = 0;      // batches that were said again to the store, ever

    static void fields(auto& archive, auto& m) {
        archive(m.state, m.why, m.slot, m.partitions, m.rtt_us, m.clock_off_us, m.retries);
        archive.check(m.state <= StoreLinkState::Ready && m.partitions >= 1 &&
                      m.partitions <= kMostStorePartitions);
    }
};

}  // namespace sluice

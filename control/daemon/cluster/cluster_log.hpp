#pragma once
#include "control/daemon/cluster/cluster_event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace sluice {

// The latest events of the cluster, numbered in their order, for any number of readers that come
// back with the number they want next. Numbers go on from those of an earlier sluiced, since they
// begin with the time. Bounded: the oldest goes for the newest.
class ClusterLog {
public:
    static constexpr std::size_t kMostEvents = 512;
    static constexpr std::size_t kMostWhy = 300;  // bytes, since others have written them

    // `utc_ns`: now.
    explicit ClusterLog(std::int64_t utc_ns);

    void add(ClusterEvent event);

    struct Slice {
        std::uint64_t next = 0;    // the number to come back with
        std::uint64_t missed = 0;  // that came between `from` and the oldest there is
        std::vector<ClusterEvent> events;
    };
    // Events from a number on; of 0, or of one that is yet to come, from the oldest.
    [[nodiscard]] Slice read(std::uint64_t from) const;

    using Counts = std::array<std::uint64_t, kClusterEventCount>;
    [[nodiscard]] Counts counts() const;

private:
    std::uint64_t first_;       // number
    mutable std::mutex mutex_;  // of all below
    std::deque<ClusterEvent> events_;
    std::uint64_t next_ = first_;
    Counts counts_{};
};

}  // namespace sluice

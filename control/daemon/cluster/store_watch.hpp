#pragma once
#include "control/daemon/cluster/cluster_log.hpp"
#include "control/daemon/cluster/paced_state.hpp"
#include "lib/wire/store_link_stats.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace sluice {

// Tells the log what has become of the box's link to the store, by the difference of its counters
// from those that were told last.
class StoreWatch {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kCountGap{10};  // between two events of one counter
    // The clocks differ from the first of these on, and agree below the second.
    static constexpr std::int64_t kClockOffUs = 100'000;
    static constexpr std::int64_t kClockRightUs = 80'000;

    explicit StoreWatch(ClusterLog& log) : log_{log} {}

    void see(const StoreLinkStats& stats, Clock::time_point now, std::int64_t utc_ns);

private:
    struct Counter {
        std::uint64_t seen = 0;
        std::uint64_t owed = 0;  // to be told
        Clock::time_point told_at{};
    };
    struct Counters {
        Counter skewed, lost, gaps;
    };
    void see_link(const StoreLinkStats& stats, Clock::time_point now, std::int64_t utc_ns);
    void see_clock(const StoreLinkStats& stats, Clock::time_point now, std::int64_t utc_ns);
    void count(ClusterEventKind kind, Counter& counter, Clock::time_point now, std::int64_t utc_ns);

    ClusterLog& log_;
    PacedState<ClusterEventKind> link_{ClusterEventKind::StoreUp};
    PacedState<bool> is_clock_off_{false};
    PacedState<bool> are_windows_apart_{false};
    std::optional<Counters> counters_;
};

}  // namespace sluice

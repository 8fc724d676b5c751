#pragma once
#include "control/daemon/live/live_history.hpp"
#include "control/daemon/live/live_views.hpp"
#include "lib/base/stat_row.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace sluice {

// Counts since the start of sluiced, and who waits now.
struct LiveStats {
    std::uint64_t clients = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t late = 0;
};

template <>
inline constexpr auto kStatRows<LiveStats> = std::tuple{
    StatRow{&LiveStats::clients,
            {"clients"},
            {"sluice_live_clients", "Clients that wait for the next second of GET /v1/live."}},
    StatRow{&LiveStats::snapshots,
            {"snapshots"},
            {"sluice_live_snapshots_total", "Seconds of the box that were read for them."}},
    StatRow{&LiveStats::late,
            {"late"},
            {"sluice_live_snapshots_late_total",
             "Seconds that were not, since the dataplane or sluiced was busy."}},
};

// The newest second of the box and the ten minutes before it. One thread reads a second of the box
// each second (LiveSampler) while somebody asks, or always where that is wanted, so that history is
// there when a page opens; any number of threads waits here for the next one.
class LiveBoard {
public:
    using Clock = std::chrono::steady_clock;
    using Shown = std::shared_ptr<const LiveViews>;
    // Reading goes on for so long after the last question: as long as the history is.
    static constexpr std::chrono::minutes kAskedFor{10};

    LiveBoard(LiveOrigin origin, bool always) : origin_{std::move(origin)}, always_{always} {}

    // The first snapshot behind number `after`, or what there is once `patience` has run out;
    // nullptr: none, or none since reading began anew. A number that is yet to come is another
    // sluiced's.
    [[nodiscard]] Shown wait(std::uint64_t after, std::chrono::milliseconds patience);
    // Columns of the last seconds; nullopt: no such rule. Of an empty rule, the totals.
    struct Series {
        Shown until;
        std::optional<Json> columns;
    };
    [[nodiscard]] Series series(const std::string& rule, std::int64_t seconds,
                                std::chrono::milliseconds patience);
    [[nodiscard]] const LiveOrigin& origin() const noexcept { return origin_; }
    [[nodiscard]] LiveStats stats() const;
    // All who wait are answered at once, and so are all that come: sluiced ends.
    void stop();

    // The reading thread sleeps until somebody asks. True if it has slept.
    bool sleep_until_wanted(const std::stop_token& stop);
    void sleep_until(Clock::time_point then, const std::stop_token& stop);
    [[nodiscard]] Shown newest() const;
    void publish(LiveSnapshot snapshot);
    void count_late(std::uint64_t seconds);

private:
    // 0: there is none that can be shown.
    [[nodiscard]] std::uint64_t shown_number() const {
        const std::uint64_t number = newest_ == nullptr ? 0 : newest_->snapshot().number;
        return number > stale_ ? number : 0;
    }
    [[nodiscard]] bool is_wanted() const { return always_ || Clock::now() < asked_until_; }

    const LiveOrigin origin_;
    const bool always_;
    mutable std::mutex mutex_;  // of all below
    std::condition_variable_any changed_;
    Shown newest_;
    std::uint64_t stale_ = 0;  // the newest number as reading stopped: nobody is shown that again
    LiveHistory history_;
    LiveStats stats_;
    Clock::time_point asked_until_{};
    bool stopped_ = false;
};

}  // namespace sluice

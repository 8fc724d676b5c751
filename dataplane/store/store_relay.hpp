#pragma once
#include "dataplane/store/clock_watch.hpp"
#include "dataplane/store/store_batches.hpp"
#include "dataplane/store/store_questions.hpp"
#include "dataplane/store/store_socket.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"
#include "lib/share/core.hpp"
#include "lib/wire/store_link_stats.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <pthread.h>

namespace sluice {

// The end of the workers' lanes to the store: a thread that is no worker, on the CPUs of its
// creator. It makes batches of what workers tell, passes them to sluice-store and its replies back,
// and tells workers while the store does not answer. Whatever becomes of sluice-store, nothing is
// lost: a batch is said until it is answered.
class StoreRelay {
public:
    // Without an answer for so long, to whatever is under way, the store is away; with more to tell
    // than the budget has room for, keys are over it.
    static constexpr std::chrono::milliseconds kAwayAfter{300};

    // `lanes` and `questions` have lanes to a store, and outlive the relay.
    [[nodiscard]] static Result<std::unique_ptr<StoreRelay>> start(const ClusterOptions& cluster,
                                                                   const HashSecret& secret,
                                                                   const SocketOptions& socket,
                                                                   DeltaLanes& lanes,
                                                                   AskLanes& questions);
    ~StoreRelay();
    StoreRelay(const StoreRelay&) = delete;
    StoreRelay& operator=(const StoreRelay&) = delete;

    // By any thread.
    [[nodiscard]] StoreLinkStats stats() const;

private:
    using Clock = std::chrono::steady_clock;

    StoreRelay(StoreSocket socket, const ClusterOptions& cluster, DeltaLanes& lanes,
               AskLanes& questions)
        : socket_{std::move(socket)},
          lanes_{lanes},
          ask_lanes_{questions},
          batches_{lanes.workers(), budget_of(*cluster.store, cluster.size)},
          questions_{lanes.workers()} {}
    void run();
    void turn();
    void ask();
    void hear(const StoreAnswer& answer);
    void hear(const StoreLinkReport& report);
    void set_state(StoreLinkState state, const std::string& why);
    void log_state();
    void watch_answers();
    void watch_budget(bool is_short);
    void watch_clock();
    void publish();
    [[nodiscard]] Nanoseconds now() const;

    StoreSocket socket_;
    DeltaLanes& lanes_;
    AskLanes& ask_lanes_;
    StoreBatches batches_;
    StoreQuestions questions_;
    ClockWatch clock_;
    std::uint64_t other_clock_ = 0;  // answers by which the box's clock is wrong
    std::size_t first_ = 0;          // worker that is heard first in this turn
    // The latest.
    StoreLinkReport report_{.why = "sluice-store has not connected yet"};
    StoreLinkState logged_state_ = StoreLinkState::Away;  // as the journal has it, since `logged_`
    std::string logged_why_;
    Clock::time_point logged_{};
    Clock::time_point ready_at_ = Clock::now();       // when the link was last
    Clock::time_point short_at_{};                    // when the budget had no room last
    std::optional<Clock::time_point> short_since_{};  // and since when again and again
    Clock::time_point down_since_{};
    Nanoseconds down_for_{};  // before that
    Clock::time_point published_{};
    pthread_t thread_{};
    bool started_ = false;
    Signal stop_;
    mutable std::mutex mutex_;
    StoreLinkStats stats_;  // behind mutex_
};

}  // namespace sluice

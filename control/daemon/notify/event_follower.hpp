#pragma once
#include "control/daemon/cluster/cluster_log.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/notify/event_cursor.hpp"
#include "control/daemon/notify/missing_webhooks.hpp"
#include "control/daemon/notify/notice_gate.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace sluice {

// Follows the dataplane for the rules with `notify`: what it tells of keys, what rules refuse, and
// whether its state survives; and the cluster's log. Without such rules it asks nothing.
class EventFollower {
public:
    using Clock = NoticeGate::Clock;
    static constexpr std::chrono::milliseconds kPause{500};  // between two ticks
    static constexpr std::chrono::seconds kAskStats{5};  // at each tick while there is an attack

    // `cluster`: nullptr: the box is in none.
    EventFollower(RuleKeeper& rules, DataplaneLink& link, NoticeSender& sender,
                  const ClusterLog* cluster = nullptr)
        : rules_{rules}, link_{link}, sender_{sender}, cluster_{cluster} {}

    // To be called often; `utc`: nanoseconds.
    void tick(Clock::time_point now, std::int64_t utc);

private:
    void adopt();
    void warn_of_missing();
    void read_events(Clock::time_point now);
    [[nodiscard]] bool read_again(Clock::time_point now);
    void read_cluster(Clock::time_point now);
    void read_stats(Clock::time_point now, std::int64_t utc);

    RuleKeeper& rules_;
    DataplaneLink& link_;
    NoticeSender& sender_;
    const ClusterLog* cluster_;
    std::uint64_t cluster_next_ = 0;  // of the cluster's log; 0: nobody has asked for it
    NoticeGate gate_;
    std::shared_ptr<const RuleView> view_;
    EventCursor cursor_;
    // Rules ask for more than before, since the instant of the view.
    bool asks_more_ = false;
    MissingWebhooks missing_;
    Clock::time_point ask_stats_at_{};
};

}  // namespace sluice

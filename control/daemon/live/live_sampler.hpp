#pragma once
#include "control/daemon/cluster/cluster_part.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/live/live_board.hpp"
#include "control/daemon/live/problems.hpp"
#include "control/daemon/live/reading.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>

namespace sluice {

// Reads the box once a second: counters, problems, events and rules of one instant, as a snapshot.
class LiveSampler {
public:
    static constexpr std::size_t kEvents = 20;

    // `cluster`: nullptr: the box is in none.
    LiveSampler(RuleKeeper& rules, DataplaneLink& link, const NoticeSender& notices,
                LiveBoard& board, ClusterPart* cluster = nullptr)
        : rules_{rules}, link_{link}, notices_{notices}, board_{board}, cluster_{cluster} {}

    // Until it is asked to stop.
    void run(const std::stop_token& stop);
    // The snapshot of a second. False: the dataplane had no time, and there is none.
    [[nodiscard]] bool tick(std::int64_t second, std::int64_t utc_ns);

private:
    [[nodiscard]] Result<Reading> read();
    void read_events(Reading& reading);
    void read_cluster();
    void note_state(const StateNow& state, const std::string& at);
    // `failed`: why there is no reading.
    void publish(std::optional<Reading> reading, const std::string& failed, LiveSnapshot snapshot);

    RuleKeeper& rules_;
    DataplaneLink& link_;
    const NoticeSender& notices_;
    LiveBoard& board_;
    ClusterPart* cluster_;
    std::uint64_t cluster_from_ = 0;  // of its events
    std::optional<Reading> before_;
    std::uint64_t origin_ = 0;  // of events, and where to read on
    std::uint64_t from_ = 0;
    std::deque<Json> events_;  // the newest first
    ProblemFinder problems_;
    std::uint64_t number_ = 0;
    std::optional<LiveState> state_;  // of the snapshot before
    std::string since_;
};

// The state of the box: `stats` nullptr: nobody answers, for the reason `failed`. `bridges`: the
// kernel forwards where no box runs.
[[nodiscard]] StateNow state_now(const Stats* stats, const RuleView& view,
                                 const std::string& failed, bool bridges);

}  // namespace sluice

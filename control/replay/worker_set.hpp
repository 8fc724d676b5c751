#pragma once
#include "control/replay/kept_frame.hpp"
#include "control/replay/replay_clock.hpp"
#include "control/replay/rss_mapping.hpp"
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/worker/peer_lanes.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The same in every run, so that two of them say the same.
inline constexpr HashSecret kReplaySecret{0x736C'7569'6365'2D74, 0x6162'6C65'2D6B'6579};

// How a capture is judged, apart from the rules.
struct ReplaySetup {
    PacketPolicy policy{.malformed = MalformedPolicy::Pass, .captured = true};
    UnitBudget units = capture_unit_budget();
    std::string pair;  // the name that `port` has
    Rss rss_outside = Rss::Source;
    Rss rss_inside = Rss::Source;
    std::vector<IpPrefix> inside;
    std::size_t workers = 1;
    std::size_t buckets = std::size_t{1} << 20;  // of each worker, and lines of its pool
    std::optional<RssMapping> rss_mapping{};     // of the box that a file describes
    Nanoseconds merge_interval{1'000'000};
};

// A frame of a connection's dialogue; the first of it is no answer.
struct DialogueFrame {
    KeptFrame frame;
    bool is_answer = false;  // by the side that the first one went to
};

// The workers of a box, run one after another in one thread, each with a table of its own.
class WorkerSet {
public:
    // Both are kept by reference.
    WorkerSet(const ReplaySetup& setup, const LoadedRules& rules);

    // Traffic that is answered; it outlives the workers.
    void know_answered(AnsweredTraffic& answered) noexcept;

    // Each worker notes the keys that it meets in a table of its own, which outlives it.
    void watch_keys(const std::vector<HeatTable*>& tables) noexcept;
    // All of them note packets of such keys there, as far as the tables want these.
    void describe_keys(HeatSampler& sampler) noexcept;

    // Runs the pipeline over frames of one instant. The rows, in the order of the frames, are good
    // until the next call.
    [[nodiscard]] const std::vector<BurstRow>& judge(std::span<KeptFrame> frames, Instant now);

    // A frame on its way, matched and not charged yet: where it is judged, and what of it the rules
    // see.
    struct Place {
        CoreState& core;
        const Burst& burst;  // the frame alone
        Now now;
        const Burst& judged;  // likewise; its units may not have been looked for

        [[nodiscard]] const PacketHeaders& headers() const noexcept { return burst.headers_of(0); }
    };
    // The same as judge() in two steps. The place is good until the next frame.
    [[nodiscard]] Place match(const CapturedFrame& frame, Instant now);
    [[nodiscard]] const Decision& decide();
    // The same of a frame whose side is known.
    [[nodiscard]] Place match(const CapturedFrame& frame, Direction dir, Instant now);
    // A frame that has passed without being charged here: later layers see what it holds.
    void follow(const CapturedFrame& frame, Direction dir, Instant now);
    // Frames of one dialogue are followed likewise, and `inside` need not tell the sides apart.
    void follow_dialogue(std::span<const DialogueFrame> frames, Instant now);
    // The workers' clocks at an instant of the capture.
    [[nodiscard]] Now time_of(Instant captured);
    // True if the capture is too long for their clock, which stands still since.
    [[nodiscard]] bool clock_stopped() const noexcept { return clock_.stopped(); }

    [[nodiscard]] RuleCounts totals(const LoadedRule& rule) const;
    [[nodiscard]] std::uint64_t table_full() const;
    // Each side's trust at the worker that trusts it most.
    [[nodiscard]] ServiceChecksums checksums_of(const Service& service) const;
    // Connections that went unread from their first doubt on.
    struct Unread {
        std::uint64_t of_services = 0;
        std::uint64_t anywhere = 0;
    };
    [[nodiscard]] Unread unread() const;

private:
    struct Worker {
        explicit Worker(const ReplaySetup& setup);
        WorkerCounters counters;
        CoreState core;
        UnitParser parser;
        Burst burst;
        // Books of shared limits.
        std::vector<Record> records;
        std::unique_ptr<LedgerStore> ledger_store;
        std::unique_ptr<Ledger> ledger;
    };
    // The worker of a frame, by the port's RSS or as the owner of its keys; and the side of
    // the pair.
    struct Route {
        Worker& worker;
        Direction dir;
    };
    [[nodiscard]] Route route_of(const CapturedFrame& frame, Now now) const;
    [[nodiscard]] Worker& owner_of(const CapturedFrame& frame, const Route& receiver,
                                   Now now) const;
    [[nodiscard]] BurstRow receive(const CapturedFrame& frame, const Route& route);
    [[nodiscard]] Place match(const CapturedFrame& frame, const Route& route, Instant now);
    void settle_matched();
    void begin_instant(Now now);
    [[nodiscard]] const Burst& seen_of(Worker& worker, const BurstRow& row);
    void link_workers();
    void share_limits();
    [[nodiscard]] bool shares_limits() const noexcept {
        return rules_.shared_limits != 0 && workers_.size() > 1;
    }
    void exchange(Now now);
    void begin_anew();

    const ReplaySetup& setup_;
    const LoadedSet& rules_;
    std::uint64_t port_;
    ReplayClock clock_;
    std::unique_ptr<PeerLanes> peers_;
    Now exchanged_{};
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<WorkerTables> worker_tables_;                 // theirs
    std::unique_ptr<Burst> looking_ = std::make_unique<Burst>();  // at one frame by itself
    std::unique_ptr<Burst> unseen_;  // a frame whose units the judge has no use for
    Worker* matched_ = nullptr;      // whose burst match() has filled
    Now matched_at_{};
    std::vector<BurstRow> rows_;
};

}  // namespace sluice

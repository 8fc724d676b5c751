#pragma once
#include "dataplane/box/event_report.hpp"
#include "dataplane/box/heat_report.hpp"
#include "dataplane/box/key_lister.hpp"
#include "dataplane/box/packet_questions.hpp"
#include "dataplane/box/rule_publisher.hpp"
#include "dataplane/box/top_report.hpp"
#include "dataplane/box/trace_report.hpp"
#include "dataplane/box/trust_watch.hpp"
#include "dataplane/port/ports.hpp"
#include "dataplane/state/box_state.hpp"
#include "dataplane/store/store_relay.hpp"
#include "dataplane/worker/utc_clock.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "dataplane/xdp/heartbeat_thread.hpp"
#include "dataplane/xdp/kernel_bridge.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/memory_budget.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

// The whole dataplane, as the main lcore holds it: it puts ports, workers, rules and state
// together, and answers requests from them, each at once.
class Dataplane {
public:
    // Ports that receive, and workers that are ready to be launched.
    [[nodiscard]] static Result<std::unique_ptr<Dataplane>> make(const BoxConfig& box);
    ~Dataplane();
    Dataplane(const Dataplane&) = delete;
    Dataplane& operator=(const Dataplane&) = delete;

    [[nodiscard]] WorkerFleet& workers() noexcept { return workers_; }

    // Each returns once it holds in the kernel too.
    [[nodiscard]] Reply apply(ApplyRules request);
    [[nodiscard]] Reply try_rules(TryRules request);
    [[nodiscard]] PanicSet set_panic(bool pass);
    [[nodiscard]] Reply keep(const KeepRules& request);
    [[nodiscard]] Reply set_merge_interval(const SetMergeInterval& request) {
        return rules_.set_merge_interval(request);
    }
    [[nodiscard]] RunningRules running_rules() const { return rules_.running_rules(); }
    [[nodiscard]] std::uint64_t generation() const noexcept { return rules_.generation(); }
    [[nodiscard]] Top top(const GetTop& request) { return top_.list(request, ports_); }
    [[nodiscard]] Events events(const GetEvents& request) { return events_.read(request, ports_); }
    [[nodiscard]] HeatmapEpochs heatmap(const ReadHeatmap& request);
    [[nodiscard]] Reply begin_trace(BeginTrace request) {
        return traces_.begin(std::move(request));
    }
    [[nodiscard]] TracedPackets read_trace(const ReadTrace& request) {
        return traces_.read(request, ports_);
    }
    [[nodiscard]] PreviewedPackets read_preview(const ReadPreview& request) {
        return traces_.read_preview(request, ports_);
    }
    [[nodiscard]] TracedPackets end_trace(const EndTrace& request) {
        return traces_.end(request, ports_);
    }
    // Waits for the workers' answers, 200 ms at most.
    [[nodiscard]] Reply ask_key(const AskKey& request);
    // Waits for the worker that the packet would come to, 200 ms at most.
    [[nodiscard]] Reply ask_packet(const AskPacket& request);
    [[nodiscard]] Reply list_keys(const ListKeys& request);
    [[nodiscard]] Reply count_owed(const CountOwed& request);
    // Out of the kernel's own maps.
    [[nodiscard]] FoundEarlyDrops find_early_drops(const FindEarlyDrops& request) const;
    // Beside what the control socket has counted.
    [[nodiscard]] Stats stats(const ControlStats& control) const;
    // How frames come to workers, for the compiler of rules.
    [[nodiscard]] RssMapping rss_mapping() const;
    [[nodiscard]] const PacketTreatment& treatment() const noexcept { return treatment_; }

    // For rules that come: memory, less what loading any takes, and who judges by them.
    [[nodiscard]] MemoryBudget room() const;

    // Does what is due about every 100 ms: links, watchdogs, samples, old rule sets, snapshots.
    void tick();

private:
    [[nodiscard]] KeyLister::Source live_tables() const;
    [[nodiscard]] Now now() const;
    Dataplane(const BoxConfig& box, std::vector<unsigned> lcores, BoxState state);

    [[nodiscard]] Result<Done> begin_heartbeat(const BoxConfig& box);
    [[nodiscard]] Result<Done> begin_relay(const BoxConfig& box);
    // Tells the kernel what it may drop early.
    void notify_kernel();
    // The bans that workers have told of.
    void take_bans();
    void watch_kernel();
    void watch_checksums();

    // Each uses those before it.
    PacketTreatment treatment_;
    BoxState state_;
    std::unique_ptr<KernelBridge> bridge_;  // none where the box has no `kernel`
    Ports ports_;
    std::optional<UtcClock> clock_;  // from when the buckets are there: instants are theirs
    WorkerFleet workers_;
    TopReport top_;
    EventReport events_;
    TrustWatch trust_;
    RulePublisher rules_;
    KeyLister lister_;
    PacketQuestions questions_;
    TraceReport traces_;
    HeatReport heat_;
    std::uint64_t published_load_ = 0;  // of the rules that the kernel was told of
    std::uint64_t lost_bans_ = 0;       // that it could not be told of
    std::unique_ptr<HeartbeatThread> heartbeat_;
    std::unique_ptr<StoreRelay> relay_;  // none where the box has no store
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace sluice

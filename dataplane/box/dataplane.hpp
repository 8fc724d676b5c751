#pragma once
#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/handover.hpp"
#include "dataplane/io/lane.hpp"
#include "dataplane/io/lane_rings.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "dataplane/port/link_watch.hpp"
#include "dataplane/port/rss_keys.hpp"
#include "dataplane/state/box_state.hpp"
#include "dataplane/state/rules_store.hpp"
#include "dataplane/worker/quiesce.hpp"
#include "dataplane/worker/running.hpp"
#include "dataplane/worker/watchdog.hpp"
#include "dataplane/worker/worker.hpp"
#include "lib/heavy_hitters/key_sampler.hpp"
#include "lib/heavy_hitters/top_keys.hpp"
#include "lib/load/loaded_rules.hpp"
#include "lib/pipeline/counters.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/share/core.hpp"
#include "lib/share/published.hpp"
#include "lib/table/worker_tables.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// Of the kernel; for what nobody may guess.
[[nodiscard]] std::uint64_t random_number();

// The whole running dataplane, as the main lcore holds it: ports, workers, what they act on.
class Dataplane {
public:
    [[nodiscard]] static Result<std::unique_ptr<Dataplane>> make(const BoxConfig& box);
    ~Dataplane();

    // Requests, each answered at once.
    [[nodiscard]] Reply apply(ApplyRules request);
    [[nodiscard]] Reply try_rules(TryRules request);
    [[nodiscard]] Reply keep(const KeepRules& request);
    [[nodiscard]] Reply set_panic(bool pass);
    [[nodiscard]] Reply set_merge_interval(const SetMergeInterval& request);
    // Waits for the workers' answers, 200 ms at most.
    [[nodiscard]] Reply ask_key(const AskKey& request);
    [[nodiscard]] RunningRules running_rules() const;
    [[nodiscard]] Stats stats() const;
    [[nodiscard]] Top top(const GetTop& request);
    // How frames come to workers, for whoever compiles rules.
    [[nodiscard]] RssMapping rss_mapping() const;
    [[nodiscard]] std::uint64_t generation() const noexcept { return loaded_->rules().generation; }

    // What is due about every 100 ms: links, watchdogs, samples, old rule sets.
    void keep_house();

private:
    Dataplane(const BoxConfig& box, std::vector<unsigned> lcores, BoxState state);
    [[nodiscard]] Result<Done> start_ports();
    [[nodiscard]] Result<Done> start_pair(const PairConfig& options);
    [[nodiscard]] Result<Done> load_rules();
    [[nodiscard]] TableView table_view() const;
    [[nodiscard]] std::optional<ApplyRules> saved_rules() const;
    void report_found() const;
    void start_workers();
    [[nodiscard]] const PortPair& pair_of(const Lane& lane) const;
    [[nodiscard]] TxSide tx_side(std::size_t worker, std::size_t i);
    [[nodiscard]] LaneHandover* handover_of(std::size_t worker, std::size_t lane);
    [[nodiscard]] WorkerLanes lanes_of(std::size_t worker);
    void add_proxies(std::size_t worker, WorkerLanes& io);
    enum class Keep : bool { No, Yes };  // for the next start too
    [[nodiscard]] Reply take(ApplyRules request, Keep keep);
    // What rules are loaded into as this process stands.
    [[nodiscard]] Environment environment() const;
    [[nodiscard]] Result<LoadedRules> load_found(const RuleSet& rules);
    // The rules that are in force from now on.
    void adopt(LoadedRules rules);
    [[nodiscard]] std::chrono::steady_clock::time_point time_to_move() const;
    void await_moves();
    void finish_migrations();
    void publish();
    void reclaim();
    void take_samples();
    [[nodiscard]] std::string pair_called(std::uint64_t name) const;
    void add_overshoot(const LoadedRule& rule, RuleStats& stats) const;
    [[nodiscard]] RuleTotals read_row(std::uint32_t row) const;
    [[nodiscard]] std::uint64_t uses_of(LimitSlot slot) const;
    [[nodiscard]] std::uint64_t settled() const;
    [[nodiscard]] PortStats port_stats(const Port& port) const;
    [[nodiscard]] StateStats state_stats() const;
    [[nodiscard]] WorkerStats worker_stats(std::size_t worker) const;

    BoxConfig box_;
    std::vector<unsigned> lcores_;  // of the workers
    std::vector<std::unique_ptr<PortPair>> pairs_;
    std::vector<PairQueues> queues_;
    std::vector<std::vector<Lane>> lanes_;       // by worker
    std::vector<std::vector<Counter>> tx_full_;  // by worker and lane
    std::vector<std::vector<SentCounts>> sent_;  // by who sent, and for whom
    LaneRings rings_;
    std::vector<std::unique_ptr<LaneHandover>> handovers_;
    std::vector<WorkerCounters> counters_;               // by worker
    std::vector<std::unique_ptr<KeySampler>> samplers_;  // by worker
    DeltaLanes ledger_lanes_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<WorkerTables> peers_;  // the workers' tables
    std::vector<Watchdog> watchdogs_;
    RulesStore store_;
    BoxState state_;
    RssKeys rss_keys_;
    Toeplitz hash_;
    Toeplitz symmetric_hash_;
    // The rules in force, which the workers share with this core, and what came with them.
    std::shared_ptr<const LoadedRules> loaded_ = std::make_shared<const LoadedRules>();
    std::string source_;
    std::string modes_;
    bool panic_ = false;
    Published<Running> running_;
    TopKeys top_;
    QuiesceBoard board_;
    std::vector<std::pair<std::uint64_t, Retired<Running>>> retired_;
    Signal stop_;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point moved_by_{};  // when keys that move have
};

}  // namespace sluice

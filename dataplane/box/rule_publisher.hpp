#pragma once
#include "dataplane/box/event_report.hpp"
#include "dataplane/box/top_report.hpp"
#include "dataplane/state/box_state.hpp"
#include "dataplane/state/kept_panic.hpp"
#include "dataplane/state/rules_store.hpp"
#include "dataplane/worker/quiesce.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "dataplane/xdp/kernel_bridge.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/share/published.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// The rules in force: loaded, kept for the next start, published to the workers. What it replaces
// is freed once every worker has passed a burst boundary, and not before.
class RulePublisher {
public:
    // Reports that name rules, and are told before they change.
    struct Reports {
        TopReport& top;
        EventReport& events;
        const Ports& ports;
        const std::unique_ptr<KernelBridge>& kernel;  // none as long as it is not attached
    };
    // All of them but `box` outlive it; the workers have ended when it ends.
    RulePublisher(const BoxConfig& box, BoxState& state, WorkerFleet& workers,
                  const Reports& reports);
    ~RulePublisher();
    RulePublisher(const RulePublisher&) = delete;
    RulePublisher& operator=(const RulePublisher&) = delete;

    // The saved rules and, also where there are none, the limits whose buckets were left behind.
    [[nodiscard]] Result<Done> load_saved();

    // Once the ports are started. Where they bring the directions of a connection to different
    // workers, services are followed by what clients send alone, and the log says of which.
    [[nodiscard]] Result<Done> note_rss_mapping(const RssMapping& box);

    enum class Keep : bool { No, Yes };  // for the next start too
    [[nodiscard]] Reply take(ApplyRules request, Keep keep);
    [[nodiscard]] Reply keep(const KeepRules& request);
    // Sets the traces that workers show packets to from now on.
    void set_traces(std::vector<std::shared_ptr<Trace>> traces);
    // True if the databases in a set carry the sum that sluiced makes; counted where they do not.
    [[nodiscard]] bool vouches_for(const RuleSet& rules, const DatabaseSeal& seal);
    // Rules that decide nothing, for conditions.
    [[nodiscard]] Result<LoadedRules> load_condition(RuleSet rules) const;
    // The hash of keys that the workers have.
    [[nodiscard]] KeyHasher key_hasher() const;
    [[nodiscard]] bool judges() const noexcept { return generation() != 0 && !panic_; }
    // Returns the state before. A panic outlives this process until it is resumed.
    bool set_panic(bool pass);
    [[nodiscard]] Reply set_merge_interval(const SetMergeInterval& request);
    [[nodiscard]] RunningRules running_rules() const { return {generation(), source_, modes_}; }

    // Counts sets that failed in part: those that were refused, or run and are not kept.
    void add_to(ControlStats& stats) const noexcept {
        stats.unsealed += unsealed_;
        stats.unkept += unkept_;
    }

    // Frees what all workers have let go of, ends moves of keys that are due, and reminds of a
    // panic.
    void tick(std::chrono::steady_clock::time_point now);
    // Keys that move have until then, and no less, to be told of.
    void put_off_moves();

    [[nodiscard]] std::uint64_t generation() const noexcept { return loaded_->rules().generation; }
    [[nodiscard]] const LoadedRules& loaded() const noexcept { return *loaded_; }
    [[nodiscard]] const std::shared_ptr<const LoadedRules>& shared() const noexcept {
        return loaded_;
    }
    [[nodiscard]] Nanoseconds merge_interval() const noexcept { return merge_interval_; }
    [[nodiscard]] bool in_panic() const noexcept { return panic_; }
    // The rules that the start has found.
    [[nodiscard]] KeptRules kept_rules() const noexcept { return kept_rules_; }
    // The counts of the workers and the kernel in a row.
    [[nodiscard]] RuleTotals read_row(std::uint32_t row) const;
    // For the workers.
    [[nodiscard]] const Published<Running>& running() const noexcept { return running_; }
    [[nodiscard]] QuiesceBoard& board() noexcept { return board_; }

private:
    static constexpr std::chrono::minutes kRemindEvery{1};  // of a panic

    [[nodiscard]] std::optional<ApplyRules> saved_rules();
    [[nodiscard]] std::optional<ApplyRules> rules_before();
    [[nodiscard]] Running::State state() const noexcept;
    [[nodiscard]] Result<LoadedRules> load_found(const RuleSet& rules);
    // The environment that rules are loaded into, as this process stands.
    [[nodiscard]] Environment environment() const;
    [[nodiscard]] std::uint64_t uses_of(LimitSlot slot) const;
    [[nodiscard]] std::uint64_t settled() const;
    void adopt(LoadedRules rules);
    void await_moves();
    void finish_migrations();
    void publish();
    void reclaim();
    [[nodiscard]] Result<Done> keep_once_run();
    [[nodiscard]] Reply keep_and_forgive();
    void keep_late(std::chrono::steady_clock::time_point now);
    void keep_panic(std::chrono::steady_clock::time_point now);
    void remind_of_panic(std::chrono::steady_clock::time_point now);
    // False: those that were to be replaced by them stay in force.
    [[nodiscard]] bool go_back_to(const LoadedRules& before);

    BoxState& state_;
    WorkerFleet& workers_;
    Reports reports_;
    RulesStore store_;
    OnNoRules on_no_rules_;
    std::uint64_t unit_memory_;  // that workers take once they are made
    KeptRules kept_rules_ = KeptRules::None;
    Nanoseconds merge_interval_;
    std::size_t machines_;  // of the cluster whose store it has; 1: none
    // Shared with the workers, with what came beside them.
    std::shared_ptr<const LoadedRules> loaded_ = std::make_shared<const LoadedRules>();
    std::string source_;
    std::string modes_;
    DatabaseSeal seal_{};
    // Rules that are to be kept for the next start, and that no worker has run yet.
    struct Unkept {
        std::shared_ptr<const LoadedRules> rules;
        std::string source;
        std::string modes;
        DatabaseSeal seal{};
        std::uint64_t mark = 0;
        std::chrono::steady_clock::time_point next_try{};
        bool told = false;  // that they could not be kept
    };
    std::optional<Unkept> to_keep_;
    DatabaseKey key_;
    std::uint64_t unsealed_ = 0;
    std::uint64_t unkept_ = 0;
    KeptPanic kept_panic_;
    bool panic_;
    bool panic_unkept_ = false;                          // the next start finds the opposite
    std::chrono::steady_clock::time_point panic_due_{};  // its next reminder, or try to keep it
    std::string split_;  // why directions come to different workers; empty: they do not
    std::vector<std::shared_ptr<Trace>> traces_;
    Published<Running> running_;
    QuiesceBoard board_;
    std::vector<std::pair<std::uint64_t, Retired<Running>>> retired_;
    std::chrono::steady_clock::time_point moved_by_{};  // when keys that move have
};

}  // namespace sluice

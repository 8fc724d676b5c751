#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/heat_burst.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "tests/bench/packet_mill.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::bench {

// A rule file, what else it reads, and room for states that do not fit an entry.
struct BenchRules {
    std::string_view text;
    const ListReader* files = nullptr;
    std::size_t pool_lines = 16;
};

// One worker with rules, and the frames of a mill that go through it.
class BenchWorker {
public:
    static constexpr std::size_t kBurst = PacketMill::kBurst;

    // With room for `keys` buckets, four fifths full then. Ends the program if the rules are wrong.
    BenchWorker(PacketMill& mill, std::string_view rules, std::size_t keys)
        : BenchWorker(mill, BenchRules{.text = rules}, keys) {}
    BenchWorker(PacketMill& mill, const BenchRules& rules, std::size_t keys);

    // Shares its limits with the other workers of these lanes, of which it is worker `me`; before
    // the first packet.
    void share(DeltaLanes& lanes, std::size_t me);
    // Shares them with other boxes, by the store of these lanes, which have one worker.
    void share_with_boxes(DeltaLanes& lanes, std::size_t machines);
    // Told of every burst that comes, and when.
    void before_burst(std::function<void(Instant)> told) { told_ = std::move(told); }
    // And of every burst that has been judged, and when.
    void after_burst(std::function<void(Burst&, Instant)> told) { told_after_ = std::move(told); }
    [[nodiscard]] const Ledger* ledger() const noexcept { return ledger_.get(); }

    // Finds units of later layers with a parser that outlives this worker; before the first packet.
    void find_units_by(const UnitFinder& finder);
    // Every connection of a mill of PacketMill::Headers::Streams begins, so that it is read: their
    // SYNs are no packets of this worker, and no rule is asked of them.
    void open_streams();
    // Connections begin with the segments that `opening` makes of each frame.
    void open_streams(test::Octets (*opening)(const rte_mbuf* frame));
    // Whose answers end connections; it outlives this worker.
    void know_answered(AnsweredTraffic& answered) noexcept { core_.answered = &answered; }
    // What such a parser has counted.
    [[nodiscard]] std::uint64_t events(UnitEvent event) const noexcept {
        return counters_.by_unit_event[static_cast<std::size_t>(event)].read();
    }

    // Its keys are sampled for heat maps, as far as they were at the top of its last turn.
    void watch(HeatSampler& heat) noexcept { core_.heat = &heat; }
    void begin_turn() noexcept { adopt_heat(loaded_.set(), core_); }

    // How far its clock goes on with each burst; a microsecond unless said.
    void set_step(double nanoseconds) noexcept { step_ = nanoseconds; }
    // Nothing comes for so long.
    void wait(Nanoseconds silence) noexcept { now_.at += silence; }

    void run(std::size_t bursts);
    // The same, stage by stage, with the time-stamp counter read between them.
    void run_in_stages(std::size_t bursts);
    // To standard error: the cycles of each stage, per packet.
    void print_stages(const char* id, const char* name) const;

    // Of all packets since the start, the malformed ones too.
    [[nodiscard]] double dropped() const noexcept;
    [[nodiscard]] std::uint64_t packets() const noexcept;
    [[nodiscard]] std::uint64_t packets_dropped() const noexcept;
    // Packets that a limit has refused.
    [[nodiscard]] std::uint64_t refused() const noexcept { return judged_as(Reason::OverLimit); }
    // Times that a new key found its lines full of live ones.
    [[nodiscard]] std::uint64_t found_full() const noexcept {
        return counters_.by_table_event[static_cast<std::size_t>(TableEvent::TableFull)].read();
    }
    // Times that a key or its state found no place.
    [[nodiscard]] std::uint64_t without_room() const noexcept {
        return found_full() +
               counters_.by_table_event[static_cast<std::size_t>(TableEvent::PoolFull)].read();
    }
    // Rules that matched a packet, of those that are not malformed.
    [[nodiscard]] double matches_per_packet() const noexcept;
    // Packets of keys that are exempt of the first rule.
    [[nodiscard]] std::uint64_t exempted() const noexcept {
        return counters_.rules[0].exempted.read();
    }
    // Buckets that are in the table.
    [[nodiscard]] std::size_t live_keys() const noexcept;
    // Lines of the pool that are in use.
    [[nodiscard]] std::size_t pooled() const noexcept {
        return core_.buckets.registry.pool().size() - core_.buckets.registry.pool().free();
    }
    [[nodiscard]] const LoadedSet& rules() const noexcept { return loaded_.set(); }
    // That its keys are hashed with.
    [[nodiscard]] const KeyHasher& hash() const noexcept { return core_.hash; }
    // Its clock, which goes on by the burst.
    [[nodiscard]] Now now() const noexcept { return now_; }

private:
    [[nodiscard]] std::uint64_t judged_as(Reason reason) const noexcept {
        return counters_.by_reason[static_cast<std::size_t>(reason)].read();
    }
    void load(RuleSet set, const Sharers& sharers);
    void keep_ledger(DeltaLanes& lanes, std::size_t me);
    void exchange();
    void take(Burst& burst);
    void give(Burst& burst);

    PacketMill& mill_;
    std::size_t keys_;  // that there is room for
    LoadedRules loaded_;
    WorkerCounters counters_;
    CoreState core_;
    std::array<Burst, 2> bursts_;  // on their way
    Now now_;
    double step_ = 1000;
    double unstepped_ = 0;  // ns that the clock has still to go on
    std::function<void(Instant)> told_;
    std::function<void(Burst&, Instant)> told_after_;
    std::optional<LineMemory> records_;
    std::unique_ptr<LedgerStore> books_;
    std::unique_ptr<Ledger> ledger_;  // nullptr: its keys are its own
};

}  // namespace sluice::bench

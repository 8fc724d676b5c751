#pragma once
#include "dataplane/held_frames.hpp"
#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/owner_handover.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "dataplane/worker/burst_clock.hpp"
#include "dataplane/worker/quiesce.hpp"
#include "dataplane/worker/running.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/burst/stage_laps.hpp"
#include "lib/engine/key/key_question.hpp"
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/engine/remote/reserve_server.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/respond/act/answerer.hpp"
#include "lib/share/core.hpp"
#include "lib/share/latest.hpp"
#include "lib/share/mailbox.hpp"
#include "lib/share/published.hpp"

#include <memory>
#include <span>
#include <vector>

#include <rte_cycles.h>

namespace sluice {

// What all workers share, and none of them writes.
struct WorkerSetup {
    const Published<Running>& running;
    QuiesceBoard& board;
    const Signal& stop;
    Nanoseconds idle_sleep;
    Nanoseconds clock_lead;  // of instants over CLOCK_BOOTTIME
    const Latest<TimeOfDay>& time_of_day;
    DeltaLanes& ledger_lanes;
    AskLanes& ask_lanes;
    std::size_t workers;
    UnitBudget units;
    KeptMemory connections;  // the worker's own
    unsigned held_percent;   // of each pair's buffers, over all workers: packets that depart later
    AnswerBoards& answer_boards;  // see Answerer
};

// Where a worker's frames come from and go to.
struct WorkerLanes {
    std::vector<DpdkIo> lanes;
    std::vector<TxProxy> proxies;  // where it sends for others
    // Of use under rules whose packets are handed to the owners of their keys alone.
    std::vector<DpdkIo> owner_lanes;
    std::vector<TxProxy> owner_proxies;
};

// One lcore: its lanes, its table, its counters. Everything it writes is a member or its own.
class Worker {
public:
    // `records` outlive it.
    Worker(CoreToken me, const WorkerSetup& setup, CoreState core, std::span<Record> records,
           WorkerLanes lanes);

    // The tables of all workers, before it runs.
    void meet(const WorkerTables& worker_tables) noexcept {
        core_.buckets.set_worker_tables(&worker_tables);
    }

    void run() noexcept;

    // Questions about keys, for the one thread that asks.
    using KeyMailbox = Mailbox<KeyQuestion, KeyAnswer>;
    [[nodiscard]] KeyMailbox& keys() noexcept { return keys_; }

    // Fixed from the start, so anyone may ask.
    [[nodiscard]] const BucketStore& buckets() const noexcept { return core_.buckets; }
    [[nodiscard]] const LedgerCounters& ledger() const noexcept { return ledger_.counters(); }
    [[nodiscard]] const LedgerStore& ledger_store() const noexcept { return ledger_store_; }
    [[nodiscard]] const ReserveClient& asker() const noexcept { return asker_; }
    [[nodiscard]] const ReserveServer& owner() const noexcept { return owner_; }
    [[nodiscard]] const HeldFrames& held() const noexcept { return held_; }
    [[nodiscard]] const UnitParser& unit_parser() const noexcept { return unit_parser_; }
    [[nodiscard]] std::size_t table_slots() const noexcept { return core_.buckets.keys.slots(); }

private:
    // The number of frames that came.
    [[nodiscard]] std::size_t poll() noexcept;
    void adopt_for_turn(const Running& running) noexcept;
    [[nodiscard]] std::size_t owned_round(const Running& running, Reach reach) noexcept;
    [[nodiscard]] std::size_t take_owned(const Running& running, DpdkIo& lane,
                                         Reach reach) noexcept;
    // Who has handed the burst to this worker; what comes as to the owner goes no further.
    enum class From : std::uint8_t { Port, Worker };
    void run_stages(const Running& running, DpdkIo* lane, From from = From::Port) noexcept;
    template <typename Laps>
    void run_stages_in_laps(const Running& running, DpdkIo* lane, From from, Laps& laps) noexcept;
    [[nodiscard]] bool may_be_traced(const Running& running, Now at) noexcept;
    void trace(const Running& running, Now at) noexcept;
    void exchange(const Running& running) noexcept;
    [[nodiscard]] std::size_t ask_round(const Running& running, Reach reach) noexcept;
    [[nodiscard]] KeyAnswer answer(const KeyQuestion& question, const LoadedSet& rules) noexcept;
    void send_due(const Running& running) noexcept;
    void depart(std::span<const HeldFrame> frames) noexcept;
    void release(const Burst& burst) noexcept;
    void flush(const Running& running) noexcept;
    void drain() noexcept;
    void end_waits() noexcept;
    [[nodiscard]] Now now() noexcept;
    void anchor_time(std::uint64_t ticks) noexcept;
    void rest(unsigned idle_turns) const noexcept;

    CoreToken me_;
    WorkerSetup setup_;
    CoreState core_;
    LedgerStore ledger_store_;
    Ledger ledger_;
    bool shares_ = false;  // whether any rule set so far had limits that workers share
    OwnerHandover owners_;
    bool owns_ = false;  // whether any rule set so far had packets handed to owners
    ReserveClient asker_;
    ReserveServer owner_;
    bool asks_ = false;  // whether any rule set so far had limits that owners are asked about
    WorkerLanes io_;
    HeldFrames held_;
    UnitParser unit_parser_;
    Answerer answerer_;
    // Two bursts on their way: the lines that one needs arrive while the other is worked on.
    std::unique_ptr<Burst> next_ = std::make_unique<Burst>();
    std::unique_ptr<Burst> current_ = std::make_unique<Burst>();
    DpdkIo* current_lane_ = nullptr;  // where the burst on its way came from
    BurstTime time_;
    KeyMailbox keys_;
    struct ReadTsc {
        std::uint64_t operator()() const noexcept { return rte_rdtsc(); }
    };
    StageLaps<ReadTsc> laps_;
};

}  // namespace sluice

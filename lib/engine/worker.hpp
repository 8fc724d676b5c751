#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/key/event_burst.hpp"
#include "lib/engine/key/key_question.hpp"
#include "lib/engine/remote/reserve_server.hpp"
#include "lib/engine/stage/dry_run_burst.hpp"
#include "lib/engine/stage/heat_burst.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/engine/worker/packet_path.hpp"
#include "lib/engine/worker/packet_question.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/engine/worker/worker_host.hpp"
#include "lib/engine/worker/worker_setup.hpp"
#include "lib/share/core.hpp"
#include "lib/share/mailbox.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sluice {

// One core: its lanes, its table, its counters. Everything it writes is a member or its own. A turn
// of its loop:
//
//   adopt what is running
//   rounds, until nothing comes:  receive by each lane · send for others · as an owner: take,
//   answer
//                                 · what has waited · what is due
//   flush · answer a question about a key, and one about a packet · tell of events
//
// The burst that comes is matched while the one before it is judged (PacketPath).
template <PacketIo Io, WorkerHost Host>
class Worker {
public:
    // `setup` refers to things that outlive the worker.
    Worker(CoreToken me, const WorkerSetup& setup, CoreState core, WorkerLanes<Io> lanes, Host host)
        : me_{std::move(me)},
          running_{setup.running},
          workers_{setup.workers},
          host_{std::move(host)},
          core_{std::move(core)},
          io_{std::move(lanes)},
          path_{me_.index(), setup, core_, host_, held_budget(io_.lanes, setup)},
          owner_{
              me_.index(),
              setup.peers.questions,
              {.questions = setup.reserve.pending.questions, .lifetime = setup.reserve.lifetime}} {}
    // Neither copied nor moved: the parts of a worker refer to each other.
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // The tables of all workers, before it runs.
    void meet(const WorkerTables& worker_tables) noexcept {
        core_.buckets.set_worker_tables(&worker_tables);
    }

    // In the worker's thread, until its host says that it has stopped.
    void run() noexcept {
        host_.begin();
        unsigned idle_turns = 0;
        while (!host_.stopped()) {
            path_.laps().begin_turn();
            idle_turns = poll() == 0 ? idle_turns + 1 : 0;
            host_.pass();
            if (idle_turns != 0) {
                host_.rest(idle_turns);
            }
            path_.laps().end_turn(idle_turns != 0);
        }
        drain();
        host_.end();
    }

    // One turn. What is running is adopted at the beginning and let go of at the end, when no burst
    // is on its way. Rounds over all lanes until nothing comes, or enough have. The number of
    // frames that came, wait or are held: 0, and there is nothing to do.
    std::size_t poll() noexcept {
        const Running& running = running_.adopt();
        adopt_for_turn(running);
        const Reach reach = reach_of(running);
        std::size_t frames = 0;
        std::size_t came = 1;
        for (unsigned rounds = 0; rounds < kRoundsPerTurn && came != 0; ++rounds) {
            came = round(running, reach);
            frames += came;
        }
        path_.flush(running);
        keys_.serve([&](const KeyQuestion& question) { return answer(question, running.rules()); });
        packets_.serve([&](const PacketQuestion& question) { return answer(question, running); });
        if (core_.events != nullptr && !core_.events->empty()) [[unlikely]] {
            notify_due_events(running.rules(), core_, host_.now());
        }
        return frames + path_.reserve_client().size() + path_.held().size();
    }

    // The end: packets that wait for answers are decided without them, and those that wait for
    // their departure depart.
    void drain() noexcept {
        if (!path_.reserve_client().empty()) {
            const Running& running = running_.adopt();
            adopt_for_turn(running);
            path_.reserve_client().end_waits();
            (void)ask_round(running, reach_of(running));
            path_.flush(running);
        }
        path_.send_all(SIZE_MAX);
    }

    // Questions about keys, for the one thread that asks.
    using KeyMailbox = Mailbox<KeyQuestion, KeyAnswer>;
    [[nodiscard]] KeyMailbox& keys() noexcept { return keys_; }
    // Packets that have not come, likewise.
    using PacketMailbox = Mailbox<PacketQuestion, PacketAnswer>;
    [[nodiscard]] PacketMailbox& packets() noexcept { return packets_; }

    // Fixed from the start, so anyone may ask.
    [[nodiscard]] const BucketStore& buckets() const noexcept { return core_.buckets; }
    [[nodiscard]] const LedgerCounters& ledger() const noexcept {
        return path_.ledger().counters();
    }
    [[nodiscard]] const LedgerStore& ledger_store() const noexcept {
        return path_.ledger().store();
    }
    [[nodiscard]] const ReserveClient& reserve_client() const noexcept {
        return path_.reserve_client();
    }
    [[nodiscard]] const ReserveServer& owner() const noexcept { return owner_; }
    [[nodiscard]] const HeldFrames<Io>& held() const noexcept { return path_.held(); }
    [[nodiscard]] const UnitParser& unit_parser() const noexcept { return path_.unit_parser(); }
    [[nodiscard]] std::size_t table_slots() const noexcept { return core_.buckets.keys.slots(); }

private:
    // Rule changes wait for so many rounds at most; every turn's last burst is waited for.
    static constexpr unsigned kRoundsPerTurn = 64;

    // A worker's share of buffers: no lane has fewer left than its queues need.
    [[nodiscard]] static std::uint32_t held_budget(std::span<const Io> lanes,
                                                   const WorkerSetup& setup) noexcept {
        std::uint64_t least = lanes.empty() ? 0 : UINT32_MAX;
        for (const Io& lane : lanes) {
            least = std::min<std::uint64_t>(least, lane.buffers());
        }
        return static_cast<std::uint32_t>(least * setup.held_percent / 100 / setup.workers);
    }
    [[nodiscard]] static Reach reach_of(const Running& running) noexcept {
        return running.rules().meter_plan.reads_payload() ? Reach::Everything : Reach::Headers;
    }

    void adopt_for_turn(const Running& running) noexcept {
        const LoadedSet& rules = running.rules();
        core_.texts = running.loaded->texts(me_.index());
        path_.ledger().adopt_rules(rules, core_);
        adopt_heat(rules, core_);
        // On from the first such rule set: others may still bring what they had under the last one.
        owns_ |= !rules.steering.empty();
        asks_ |= rules.meter_plan.has_asked();
    }

    // Once over all that packets come by; the number of frames.
    std::size_t round(const Running& running, Reach reach) noexcept {
        auto& laps = path_.laps();
        std::size_t came = 0;
        for (Io& lane : io_.lanes) {
            came += path_.receive(running, lane, reach);
        }
        for (typename Io::Proxy& proxy : io_.proxies) {
            came += proxy.send();
            laps.lap_if_on(Stage::Send);
        }
        came += owns_ ? owned_round(running, reach) : 0;
        came += asks_ ? ask_round(running, reach) : 0;
        // Twice as much departs in a round as can have come in it.
        if (!path_.held().empty()) [[unlikely]] {
            path_.send_due(running, 2 * io_.lanes.size());
        }
        laps.lap_if_on(came == 0 ? Stage::Idle : Stage::Receive);
        core_.counters.bursts.add(1);
        return came;
    }

    // Takes what others have handed to this worker as the owner of its keys, and sends what it
    // holds of theirs.
    std::size_t owned_round(const Running& running, Reach reach) noexcept {
        std::size_t frames = 0;
        for (Io& lane : io_.lanes) {
            frames += take_owned(running, lane, reach);
        }
        for (Io& lane : io_.owner_lanes) {
            frames += take_owned(running, lane, reach);
        }
        for (typename Io::Proxy& proxy : io_.owner_proxies) {
            frames += proxy.send();
        }
        return frames;
    }
    // Takes at most as many bursts as there are others: each of them may have brought a whole one.
    std::size_t take_owned(const Running& running, Io& lane, Reach reach) noexcept {
        std::size_t frames = 0;
        std::size_t came = kMaxBurst;
        for (std::size_t bursts = 1; bursts < workers_ && came == kMaxBurst; ++bursts) {
            came = path_.receive_owned(running, lane, reach);
            frames += came;
        }
        return frames;
    }

    // Serves questions to this worker as an owner, and takes answers and the packets that need not
    // wait any longer.
    std::size_t ask_round(const Running& running, Reach reach) noexcept {
        const Now at = host_.now();
        owner_.serve(running.rules(), core_, at);
        path_.reserve_client().take_answers(at.at);
        if (running.state != Running::State::Enforce) {
            path_.reserve_client().end_waits();
        }
        std::size_t frames = 0;
        while (const std::size_t count = path_.receive_waited(running, reach)) {
            frames += count;
        }
        return frames;
    }

    [[nodiscard]] KeyAnswer answer(const KeyQuestion& question, const LoadedSet& rules) noexcept {
        const Now at = host_.now();
        const KeyAnswer answer = answer_key(question, rules, core_, at);
        look_again(question, rules, core_, at);
        return answer;
    }
    [[nodiscard]] PacketAnswer answer(const PacketQuestion& question,
                                      const Running& running) noexcept {
        if (running.rules().load != question.load) {
            return {};
        }
        core_.hold_capacity = path_.held().room();
        return {running.state,
                dry_run_burst(*question.burst, running.rules(), core_, host_.now(), question.room)};
    }

    CoreToken me_;
    const Published<Running>& running_;
    std::size_t workers_;
    Host host_;
    CoreState core_;
    WorkerLanes<Io> io_;
    PacketPath<Io, Host> path_;
    bool owns_ = false;  // whether any rule set so far had packets handed to owners
    ReserveServer owner_;
    bool asks_ = false;  // whether any rule set so far had limits that owners are asked about
    KeyMailbox keys_;
    PacketMailbox packets_;
};

}  // namespace sluice

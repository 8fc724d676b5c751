#pragma once
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/trace_burst.hpp"
#include "lib/engine/worker/departures.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/engine/worker/ledger_exchange.hpp"
#include "lib/engine/worker/owner_handover.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/engine/worker/unjudged_burst.hpp"
#include "lib/engine/worker/worker_host.hpp"
#include "lib/engine/worker/worker_setup.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/respond/act/answerer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace sluice {

// The way of one worker's packets from where they come in to where they leave, with all that it
// keeps of them between two bursts. Two bursts are on their way: the lines that one needs arrive
// while the other is worked on.
//
//   received >  match  > (hand over) >  key      the burst that comes
//               locate                > meter > (trace) > answer, send    the one before it
template <PacketIo Io, WorkerHost Host>
class PacketPath {
public:
    // `core` and `host` outlive it.
    PacketPath(std::size_t self, const WorkerSetup& setup, CoreState& core, Host& host,
               std::uint32_t held_budget)
        : self_{self},
          core_{core},
          host_{host},
          ledger_{self, setup.peers.amounts, setup.records, core.buckets},
          owners_{self, setup.workers},
          reserve_client_{self, setup.peers.questions, setup.reserve.pending},
          held_{held_budget},
          unit_parser_{setup.units, setup.connections},
          answerer_{kAnsweredConnections, setup.answer_boards},
          bursts_{setup.bursts},
          next_{&bursts_->front(), nullptr},
          current_{&bursts_->back(), nullptr},
          laps_{core.counters.stages, {}},
          tells_waits_{core.policy.tell_wait} {
        unit_parser_.take_over(host.now().at);
        core.held_order = HeldOrder{held_.budget()};
        const bool asks = setup.workers > 1 || setup.peers.questions.store(self) != nullptr;
        core.reserve_client = asks ? &reserve_client_ : nullptr;
        core.connection_lanes = setup.workers > 1 ? &setup.peers.connections : nullptr;
        core.fragments = unit_parser_.fragments();
        core.answered = &answerer_.answered();
        for (Burst& burst : *bursts_) {
            burst.clear();
            burst.find_units_by(unit_parser_.finder());
        }
    }

    // One burst of what has come in by a lane; the number of frames.
    std::size_t receive(const Running& running, Io& lane, Reach reach) noexcept {
        const std::size_t came = lane.receive(*next_.burst, reach);
        if (came != 0) {
            run_stages(running, lane, lane.owners());
        }
        return came;
    }
    // The same of what others have handed to this worker as an owner: it goes no further.
    std::size_t receive_owned(const Running& running, Io& lane, Reach reach) noexcept {
        const std::size_t came = lane.receive_owned(*next_.burst, reach);
        if (came != 0) {
            next_.burst->come_from_worker();
            run_stages(running, lane, {});
        }
        return came;
    }
    // Packets whose waits for owners are over, likewise.
    std::size_t receive_waited(const Running& running, Reach reach) noexcept {
        std::array<PendingSlot, kMaxBurst> places;
        const std::size_t count = reserve_client_.take_ready(places);
        if (count == 0) {
            return 0;
        }
        std::array<typename Io::Frame*, kMaxBurst> frames;
        for (std::size_t i = 0; i < count; ++i) {
            frames[i] = static_cast<typename Io::Frame*>(reserve_client_.held(places[i]).buffer);
        }
        auto& lane = *static_cast<Io*>(reserve_client_.held(places[0]).origin);
        lane.receive_held(*next_.burst, std::span{frames}.first(count), reach);
        next_.burst->come_from_pending(std::span{places}.first(count));
        run_stages(running, lane, {});
        return count;
    }
    // Sends the last burst.
    void flush(const Running& running) noexcept {
        next_.burst->clear();
        work(running, {});
    }

    // Sends frames that are due, so many bursts at most. Packets that are no longer judged are held
    // no longer.
    void send_due(const Running& running, std::size_t bursts) noexcept {
        if (running.state != Running::State::Enforce) {
            send_all(bursts);
            return;
        }
        const Instant at = host_.now().at;
        send_held<Io>(bursts, core_.counters,
                      [&](std::span<HeldFrame<Io>> out) { return held_.take_due(at, out); });
    }
    // Departs whatever is held, due or not.
    void send_all(std::size_t bursts) noexcept {
        send_held<Io>(bursts, core_.counters,
                      [&](std::span<HeldFrame<Io>> out) { return held_.take_any(out); });
    }

    [[nodiscard]] LedgerExchange& ledger() noexcept { return ledger_; }
    [[nodiscard]] const LedgerExchange& ledger() const noexcept { return ledger_; }
    [[nodiscard]] ReserveClient& reserve_client() noexcept { return reserve_client_; }
    [[nodiscard]] const ReserveClient& reserve_client() const noexcept { return reserve_client_; }
    [[nodiscard]] const HeldFrames<Io>& held() const noexcept { return held_; }
    [[nodiscard]] const UnitParser& unit_parser() const noexcept { return unit_parser_; }
    [[nodiscard]] StageLaps<typename Host::ReadTicks>& laps() noexcept { return laps_; }

private:
    using Owners = std::span<typename Io::Ring* const>;

    // A burst on its way and where it came from; no lane: none has been received yet.
    struct OnTheWay {
        Burst* burst;
        Io* lane;
    };

    void run_stages(const Running& running, Io& lane, Owners owners) noexcept {
        next_.lane = &lane;
        work(running, owners);
    }
    // Sends the burst that came before, and keeps the one that has come on its way.
    void work(const Running& running, Owners owners) noexcept {
        if (laps_.on()) [[unlikely]] {
            work_in_laps(running, owners, laps_);
        } else {
            work_in_laps(running, owners, kNoLaps);
        }
    }
    template <typename Laps>
    void work_in_laps(const Running& running, Owners owners, Laps& laps) noexcept {
        laps.lap(Stage::Receive);
        laps.met(next_.burst->size());
        // Workers that share limits hear each other between any two bursts, and at least once a
        // turn: what that takes is spread over bursts, and no ring fills in a long turn.
        if (ledger_.on()) [[unlikely]] {
            ledger_.run(running, core_, host_.now());
            laps.lap(Stage::Other);
        }
        reserve_client_.set_origin(current_.lane);
        const Now at = host_.now();
        if (running.state == Running::State::Enforce) [[likely]] {
            judge(running, owners, at, laps);
        } else {
            leave_unjudged(running.state);
        }
        if (!running.traces.empty()) [[unlikely]] {
            trace(running, at);
            laps.lap(Stage::Other);
        }
        if (current_.burst->size() != 0) {
            send(running, at);
        }
        std::swap(next_, current_);
        laps.lap(Stage::Send);
    }

    // The first half of the stages for the burst that has come, the second for the one before it.
    template <typename Laps>
    void judge(const Running& running, Owners owners, Now at, Laps& laps) noexcept {
        const LoadedSet& rules = running.rules();
        const Overlapped bursts{*next_.burst, *current_.burst};
        core_.hold_capacity = held_.room();
        match_overlapped(bursts, rules, core_, at, laps);
        if (!rules.steering.empty() && !owners.empty()) [[unlikely]] {
            owners_.run(*next_.burst, rules, core_, owners);
        }
        core_.policy.tell_wait = tells_waits_ || may_be_traced(running, at);
        meter_overlapped(bursts, rules, core_, at, laps);
    }

    // Ends packets while no rule judges. Those that have waited for owners are forwarded or dropped
    // whatever has been answered.
    void leave_unjudged(Running::State state) noexcept {
        Burst& burst = *current_.burst;
        if (state == Running::State::NoRulesetDrop) {
            drop_all(burst, Reason::NoRuleset);
        } else {
            pass_all(burst, state == Running::State::Panic ? Reason::Panic : Reason::NoRuleset);
        }
        for (std::size_t row = 0; row < burst.size() && burst.place(row) != kNoPendingSlot; ++row) {
            reserve_client_.finish(burst.place(row));
        }
        ++core_.unread_bursts;
    }

    // Waits are worked out for those who are shown them, which takes the general path: of bursts
    // alone of which there may be something to show.
    [[nodiscard]] bool may_be_traced(const Running& running, Now at) noexcept {
        return std::any_of(
            running.traces.begin(), running.traces.end(), [&](const ActiveTrace& active) {
                return may_trace(*active.trace, self_, *current_.burst, active.rule, at.at);
            });
    }
    // A decided packet is shown before it is sent, while its bytes are as they came.
    void trace(const Running& running, Now at) noexcept {
        const bool evaluated = running.state == Running::State::Enforce;
        if (!evaluated) {
            parse_burst(*current_.burst, core_);
        }
        for (const ActiveTrace& active : running.traces) {
            trace_burst(
                *active.trace, self_,
                {*current_.burst, running.rules(), active.rule, active.behind, evaluated, at});
        }
    }

    void send(const Running& running, Now at) noexcept {
        const LoadedSet& rules = running.rules();
        const bool enforces = running.state == Running::State::Enforce;
        const Answering answering{answerer_,
                                  {.actions = rules.actions,
                                   .plan = rules.answers,
                                   .load = rules.load,
                                   .now = at.at,
                                   .utc_ahead = at.utc_ahead,
                                   .hash = core_.hash,
                                   .follows = rules.follows_answers()}};
        current_.lane->send(*current_.burst, rules.actions, core_.counters,
                            {&held_, at.at, enforces ? &answering : nullptr});
        answerer_.take_events([&](std::size_t event, std::uint32_t times) {
            core_.counters.by_answer_event[event].add(times);
        });
    }

    std::size_t self_;
    CoreState& core_;
    Host& host_;
    LedgerExchange ledger_;
    OwnerHandover<Io> owners_;
    ReserveClient reserve_client_;
    HeldFrames<Io> held_;
    UnitParser unit_parser_;
    Answerer answerer_;
    std::shared_ptr<BurstPair> bursts_;
    OnTheWay next_;
    OnTheWay current_;
    StageLaps<typename Host::ReadTicks> laps_;
    bool tells_waits_;  // of all packets, whether anybody traces them or not
};

}  // namespace sluice

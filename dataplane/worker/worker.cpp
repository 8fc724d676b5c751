#include "dataplane/worker/worker.hpp"

#include "dataplane/read_clock.hpp"
#include "dataplane/worker/unjudged_burst.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/key/event_burst.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/trace_burst.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <rte_pause.h>

namespace sluice {
namespace {

constexpr unsigned kIdleTurnsBeforeSleep = 64;
// LoadedRule changes wait for so many bursts at most; every turn's last burst is waited for.
constexpr unsigned kRoundsPerTurn = 64;
// An owner that stands still holds up packets of its keys for so long; a reservation lasts until
// every packet that it may be for has been decided.
constexpr Nanoseconds kLongestWaitForOwner = std::chrono::milliseconds{250};
constexpr Nanoseconds kReservationLifetime = std::chrono::seconds{2};

// Of each worker, so that no pair has fewer buffers left than its queues need.
std::uint32_t held_budget(std::span<const DpdkIo> lanes, const WorkerSetup& setup) noexcept {
    std::uint64_t least = lanes.empty() ? 0 : UINT32_MAX;
    for (const DpdkIo& lane : lanes) {
        least = std::min<std::uint64_t>(least, lane.buffers());
    }
    return static_cast<std::uint32_t>(least * setup.held_percent / 100 / setup.workers);
}

}  // namespace

Worker::Worker(CoreToken me, const WorkerSetup& setup, CoreState core, std::span<Record> records,
               WorkerLanes lanes)
    : me_{std::move(me)},
      setup_{setup},
      core_{std::move(core)},
      ledger_store_{core_.buckets},
      ledger_{me_.index(), setup.ledger_lanes, records, Instant{}},
      owners_{me_.index(), setup.workers},
      asker_{me_.index(),
             setup.ask_lanes,
             {.questions = most_questions(setup.workers), .longest = kLongestWaitForOwner}},
      owner_{me_.index(),
             setup.ask_lanes,
             {.questions = most_questions(setup.workers), .lifetime = kReservationLifetime}},
      io_{std::move(lanes)},
      held_{held_budget(io_.lanes, setup)},
      unit_parser_{setup.units, setup.connections},
      answerer_{kAnsweredConnections, setup.answer_boards},
      time_{rte_get_tsc_hz()},
      laps_{core_.counters.stages, {}} {
    unit_parser_.take_over(Instant{read_clock(CLOCK_BOOTTIME) + setup.clock_lead});
    core_.buckets.set_unsynced(&ledger_.records());
    core_.held_order = HeldOrder{held_.budget()};
    core_.asker = setup.workers > 1 ? &asker_ : nullptr;
    core_.fragments = unit_parser_.fragments();
    core_.answered = &answerer_.answered();
    next_->find_units_by(unit_parser_.finder());
    current_->find_units_by(unit_parser_.finder());
}

void Worker::run() noexcept {
    setup_.board.join(me_.index());
    anchor_time(rte_rdtsc());
    unsigned idle_turns = 0;
    while (!setup_.stop.raised()) {
        laps_.begin_turn();
        idle_turns = poll() == 0 ? idle_turns + 1 : 0;
        setup_.board.quiescent(me_.index());
        if (idle_turns != 0) {
            rest(idle_turns);
        }
        laps_.end_turn(idle_turns != 0);
    }
    drain();
    setup_.board.leave(me_.index());
}

// Packets that wait for answers are decided without them, and those that wait for their departure
// depart.
void Worker::drain() noexcept {
    if (!asker_.empty()) {
        end_waits();
    }
    std::array<HeldFrame, kMaxBurst> frames;
    while (const std::size_t count = held_.take_any(frames)) {
        depart(std::span{frames}.first(count));
    }
}

void Worker::end_waits() noexcept {
    const Running& running = setup_.running.adopt();
    adopt_for_turn(running);
    asker_.end_waits();
    (void)ask_round(
        running, running.rules().meter_plan.reads_payload() ? Reach::Everything : Reach::Headers);
    flush(running);
}

// What is running is adopted at the beginning and let go of at the end, when no burst is on its
// way. Rounds over all lanes until nothing comes, or enough have.
std::size_t Worker::poll() noexcept {
    const Running& running = setup_.running.adopt();
    adopt_for_turn(running);
    const Reach reach =
        running.rules().meter_plan.reads_payload() ? Reach::Everything : Reach::Headers;
    std::size_t frames = 0;
    std::size_t came = 1;
    for (unsigned rounds = 0; rounds < kRoundsPerTurn && came != 0; ++rounds) {
        came = 0;
        for (DpdkIo& lane : io_.lanes) {
            const std::size_t received = lane.receive(*next_, reach);
            if (received != 0) {
                came += received;
                run_stages(running, &lane);
            }
        }
        for (TxProxy& proxy : io_.proxies) {
            came += proxy.send();
            laps_.lap_if_on(Stage::Send);
        }
        came += owns_ ? owned_round(running, reach) : 0;
        came += asks_ ? ask_round(running, reach) : 0;
        if (!held_.empty()) [[unlikely]] {
            send_due(running);
        }
        laps_.lap_if_on(came == 0 ? Stage::Idle : Stage::Receive);
        core_.counters.bursts.add(1);
        frames += came;
    }
    flush(running);
    keys_.serve([&](const KeyQuestion& question) { return answer(question, running.rules()); });
    if (!core_.events->empty()) [[unlikely]] {
        notify_due_events(running.rules(), core_, now());
    }
    return frames + asker_.size() + held_.size();
}

// What is due departs, twice as much in a round as can have come in it. Packets that are no longer
// judged are held no longer.
void Worker::send_due(const Running& running) noexcept {
    const Instant at = now().at;
    std::array<HeldFrame, kMaxBurst> frames;
    std::size_t count = kMaxBurst;
    for (std::size_t bursts = 2 * io_.lanes.size(); bursts != 0 && count == kMaxBurst; --bursts) {
        count = running.state == Running::State::Enforce ? held_.take_due(at, frames)
                                                         : held_.take_any(frames);
        depart(std::span{frames}.first(count));
    }
}

// Lane by lane, in order within each.
void Worker::depart(std::span<const HeldFrame> frames) noexcept {
    std::uint64_t left = frames.empty() ? 0 : ~std::uint64_t{0} >> (64 - frames.size());
    std::array<rte_mbuf*, kMaxBurst> out;
    while (left != 0) {
        DpdkIo* const lane = frames[static_cast<std::size_t>(std::countr_zero(left))].lane;
        std::size_t count = 0;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (frames[i].lane == lane) {
                out[count++] = frames[i].frame;
                left &= ~(std::uint64_t{1} << i);
            }
        }
        lane->depart(std::span{out}.first(count), core_.counters);
    }
}

KeyAnswer Worker::answer(const KeyQuestion& question, const LoadedSet& rules) noexcept {
    const Now at = now();
    const KeyAnswer answer = answer_key(question, rules, core_, at);
    look_again(question, rules, core_, at);
    return answer;
}

// Sends the last burst.
void Worker::flush(const Running& running) noexcept {
    next_->clear();
    run_stages(running, nullptr);
}

void Worker::adopt_for_turn(const Running& running) noexcept {
    core_.texts = running.loaded->texts(me_.index());
    core_.ledger = running.rules().shared_limits != 0 ? &ledger_ : nullptr;
    // From the first shared limit on: others may still wait for an answer when the last has gone.
    shares_ |= running.rules().syncs;
    // From the first such rule set on: others may still bring what they had under the last one.
    owns_ |= !running.rules().steering.empty();
    asks_ |= running.rules().meter_plan.has_asked() && setup_.workers > 1;
}

// What others have handed to this worker as the owner of its keys, and what this one sends of
// theirs.
std::size_t Worker::owned_round(const Running& running, Reach reach) noexcept {
    std::size_t frames = 0;
    for (DpdkIo& lane : io_.lanes) {
        frames += take_owned(running, lane, reach);
    }
    for (DpdkIo& lane : io_.owner_lanes) {
        frames += take_owned(running, lane, reach);
    }
    for (TxProxy& proxy : io_.owner_proxies) {
        frames += proxy.send();
    }
    return frames;
}

// As many bursts as there are others at most: each of them may have brought a whole one.
std::size_t Worker::take_owned(const Running& running, DpdkIo& lane, Reach reach) noexcept {
    std::size_t frames = 0;
    for (std::size_t bursts = 1; bursts < setup_.workers; ++bursts) {
        const std::size_t came = lane.receive_owned(*next_, reach);
        if (came != 0) {
            frames += came;
            next_->come_from_worker();
            run_stages(running, &lane, From::Worker);
        }
        if (came < kMaxBurst) {
            break;
        }
    }
    return frames;
}

// What others ask of this worker as an owner, what they have answered, and the packets that need
// not wait any longer.
std::size_t Worker::ask_round(const Running& running, Reach reach) noexcept {
    const Now at = now();
    owner_.serve(running.rules(), core_, at);
    asker_.take_answers(at.at);
    if (running.state != Running::State::Enforce) {
        asker_.end_waits();
    }
    std::size_t frames = 0;
    std::array<RoomPlace, kMaxBurst> places;
    std::array<rte_mbuf*, kMaxBurst> buffers;
    while (const std::size_t count = asker_.take_ready(places)) {
        for (std::size_t i = 0; i < count; ++i) {
            buffers[i] = static_cast<rte_mbuf*>(asker_.held(places[i]).buffer);
        }
        auto* const lane = static_cast<DpdkIo*>(asker_.held(places[0]).origin);
        lane->receive_held(*next_, std::span{buffers}.first(count), reach);
        next_->come_from_room(std::span{places}.first(count));
        run_stages(running, lane, From::Worker);
        frames += count;
    }
    return frames;
}

// They are forwarded or dropped whatever has been answered.
void Worker::release(const Burst& burst) noexcept {
    for (std::size_t row = 0; row < burst.size() && burst.place(row) != kNoRoomPlace; ++row) {
        asker_.finish(burst.place(row));
    }
}

// Sends the burst that came before, and keeps the one that has come from `lane` on its way. Workers
// that share limits hear each other between any two bursts, and at least once a turn: what that
// takes is spread over bursts, and no ring fills in a long turn.
void Worker::run_stages(const Running& running, DpdkIo* lane, From from) noexcept {
    if (laps_.on()) [[unlikely]] {
        run_stages_in_laps(running, lane, from, laps_);
    } else {
        run_stages_in_laps(running, lane, from, kNoLaps);
    }
}

template <typename Laps>
void Worker::run_stages_in_laps(const Running& running, DpdkIo* lane, From from,
                                Laps& laps) noexcept {
    laps.lap(Stage::Receive);
    laps.met(next_->size());
    if (shares_) [[unlikely]] {
        exchange(running);
        laps.lap(Stage::Other);
    }
    const LoadedSet& rules = running.rules();
    asker_.set_origin(current_lane_);
    const Now at = now();
    switch (running.state) {
        case Running::State::Enforce: {
            core_.hold_capacity = held_.room();
            match_overlapped({*next_, *current_}, rules, core_, at, laps);
            if (!rules.steering.empty() && from == From::Port && lane != nullptr) [[unlikely]] {
                owners_.run(*next_, rules, core_, lane->owners());
            }
            core_.policy.tell_wait = may_be_traced(running, at);
            meter_overlapped({*next_, *current_}, rules, core_, at, laps);
            break;
        }
        case Running::State::Panic:
            pass_all(*current_, Reason::Panic);
            break;
        case Running::State::NoRulesetDrop:
            drop_all(*current_, Reason::NoRuleset);
            break;
        default:
            pass_all(*current_, Reason::NoRuleset);
            break;
    }
    if (running.state != Running::State::Enforce) [[unlikely]] {
        release(*current_);
        ++core_.unread_bursts;
    }
    if (!running.traces.empty()) [[unlikely]] {
        trace(running, at);
        laps.lap(Stage::Other);
    }
    if (current_->size() != 0) {
        const bool enforces = running.state == Running::State::Enforce;
        const Answering answering{answerer_,
                                  {.actions = rules.actions,
                                   .plan = rules.answers,
                                   .load = rules.load,
                                   .now = at.at,
                                   .utc_ahead = at.utc_ahead,
                                   .hash = core_.hash,
                                   .follows = rules.follows_answers()}};
        current_lane_->send(*current_, rules.actions, core_.counters,
                            {&held_, at.at, enforces ? &answering : nullptr});
        answerer_.take_events([&](std::size_t event, std::uint32_t times) {
            core_.counters.by_answer_event[event].add(times);
        });
    }
    std::swap(next_, current_);
    current_lane_ = lane;
    laps.lap(Stage::Send);
}

// Waits are worked out for those who are shown them, which takes the general path: of bursts alone
// of which there may be something to show.
bool Worker::may_be_traced(const Running& running, Now at) noexcept {
    return std::any_of(
        running.traces.begin(), running.traces.end(), [&](const ActiveTrace& active) {
            return may_trace(*active.trace, me_.index(), *current_, active.rule, at.at);
        });
}

// What is decided is shown before it is sent, while its bytes are as they came.
void Worker::trace(const Running& running, Now at) noexcept {
    const bool judged = running.state == Running::State::Enforce;
    if (!judged) {
        parse_burst(*current_, core_);
    }
    for (const ActiveTrace& active : running.traces) {
        trace_burst(*active.trace, me_.index(),
                    {*current_, running.rules(), active.rule, judged, at});
    }
}

// What other workers have charged, and what they are to know.
void Worker::exchange(const Running& running) noexcept {
    const Now at = now();
    // The rows that its books point to may be gone.
    adopt(running.rules(), core_, at);
    ledger_.set(running.loaded->merge_interval(),
                running.rules().hurries ? Ledger::kNoLonger : Ledger::kLongestWait);
    ledger_.exchange(ledger_store_, at);
    ledger_.ask(ledger_store_);
}

Now Worker::now() noexcept {
    const std::uint64_t ticks = rte_rdtsc();
    if (time_.wants_anchor(ticks)) [[unlikely]] {
        anchor_time(ticks);
    }
    const TimeOfDay time_of_day = setup_.time_of_day.get();
    return {time_.at(ticks), time_of_day.utc_ahead, time_of_day.set_back};
}

// Once a second (through the vDSO, not by system calls).
void Worker::anchor_time(std::uint64_t ticks) noexcept {
    time_.anchor(ticks, Instant{read_clock(CLOCK_BOOTTIME) + setup_.clock_lead});
}

void Worker::rest(unsigned idle_turns) const noexcept {
    if (setup_.idle_sleep.count() != 0 && idle_turns >= kIdleTurnsBeforeSleep) {
        rte_delay_us_sleep(static_cast<unsigned>(setup_.idle_sleep / std::chrono::microseconds{1}));
    } else {
        rte_pause();
    }
}

}  // namespace sluice

#include "dataplane/box/dataplane.hpp"

#include "dataplane/box/unit_memory.hpp"
#include "dataplane/xdp/monotonic_now.hpp"
#include "dataplane/xdp/worker_pulse.hpp"
#include "lib/base/log.hpp"
#include "lib/base/memory_room.hpp"
#include "lib/rules/load/memory_bound.hpp"

#include <algorithm>

#include <rte_lcore.h>

namespace sluice {
namespace {

std::vector<unsigned> worker_lcores() {
    std::vector<unsigned> lcores;
    unsigned lcore = 0;
    RTE_LCORE_FOREACH_WORKER(lcore) {
        lcores.push_back(lcore);
    }
    return lcores;
}

void report(const BucketStore::Found& found) {
    if (found.damaged != 0) {
        log_error("found " + std::to_string(found.damaged) +
                  " buckets that cannot be true: each counts as a full debt");
    }
    if (found.live != 0 || found.unknown != 0) {
        log_info("took up " + std::to_string(found.live) + " buckets; made " +
                 std::to_string(found.mended) + " whole again; forgot " +
                 std::to_string(found.unknown) + " of limits that nobody knows");
    }
}

}  // namespace

Dataplane::Dataplane(const BoxConfig& box, std::vector<unsigned> lcores, BoxState state)
    : treatment_{box.malformed, box.tunnels, box.units},
      state_{std::move(state)},
      ports_{state_.rss_keys(), state_.directory()},
      workers_{std::move(lcores), box.watchdog_stall},
      top_{workers_},
      events_{workers_},
      rules_{box, state_, workers_, {top_, events_, ports_, bridge_}},
      lister_{KeyHasher{state_.secrets().hash}},
      questions_{box, state_.secrets().hash, workers_, ports_},
      traces_{workers_, rules_},
      heat_{workers_, rules_, ports_} {}

// No port receives before the rules and the buckets are there.
Result<std::unique_ptr<Dataplane>> Dataplane::make(const BoxConfig& box) {
    std::vector<unsigned> lcores = worker_lcores();
    if (lcores.empty()) {
        return Error{Errc::OutOfRange,
                     "no lcore is left for a worker; give --lcores at least two, "
                     "such as 0@0,1@1"};
    }
    Result<BoxState> state = BoxState::open(box, lcores.size());
    if (!state) {
        return state.error();
    }
    if (const Result<Done> fits = check_unit_memory(box, lcores.size()); !fits) {
        return fits.error();
    }
    std::unique_ptr<Dataplane> made{new Dataplane{box, std::move(lcores), *std::move(state)}};
    if (const Result<Done> done = made->rules_.load_saved(); !done) {
        return done.error();
    }
    if (const Result<Done> held = made->ports_.hold(box); !held) {
        return held.error();
    }
    Result<std::unique_ptr<KernelBridge>> bridge = KernelBridge::attach(box);
    if (!bridge) {
        return bridge.error();
    }
    made->bridge_ = *std::move(bridge);
    if (const Result<Done> done = made->ports_.start(box, made->workers_.size()); !done) {
        return done.error();
    }
    if (const Result<Done> done = made->rules_.note_rss_mapping(made->rss_mapping()); !done) {
        return done.error();
    }
    if (box.cluster && box.cluster->store) {
        made->workers_.amounts().open_store(
            {.machines = box.cluster->size, .sync = box.cluster->sync});
        made->workers_.questions().open_store();
    }
    const LoadedSet& rules = made->rules_.loaded().set();
    made->state_.open_former(rules.slots);
    made->clock_.emplace(UtcClock::read(made->state_.clock_lead()));
    made->workers_.make(made->ports_, {box, made->state_, rules, made->rules_.running(),
                                       made->rules_.board(), made->clock_->time_of_day(),
                                       made->bridge_ != nullptr && made->bridge_->asks_for_bans()});
    report(made->state_.found());
    made->rules_.put_off_moves();
    made->state_.begin_snapshots();
    made->notify_kernel();
    if (const Result<Done> done = made->begin_heartbeat(box); !done) {
        return done.error();
    }
    if (const Result<Done> done = made->begin_relay(box); !done) {
        return done.error();
    }
    return made;
}

// The first beat comes once every worker has made a round, under the rules that were kept.
Result<Done> Dataplane::begin_heartbeat(const BoxConfig& box) {
    if (bridge_ == nullptr) {
        return Done{};
    }
    auto beat = [this, pulse = WorkerPulse{workers_.size()}]() mutable {
        const auto rounds = [this](std::size_t worker) { return workers_.rounds(worker); };
        if (const std::uint64_t all = pulse.look(rounds, monotonic_now()); all != 0) {
            bridge_->beat(all);
        }
    };
    Result<std::unique_ptr<HeartbeatThread>> thread =
        HeartbeatThread::start(std::move(beat), box.kernel->heartbeat / kBeatsInHeartbeat);
    if (!thread) {
        return thread.error();
    }
    heartbeat_ = *std::move(thread);
    return Done{};
}

// Beside the control socket, and its owner's alone.
Result<Done> Dataplane::begin_relay(const BoxConfig& box) {
    if (!box.cluster || !box.cluster->store) {
        return Done{};
    }
    SocketOptions socket{.path = box.dataplane.path, .mode = 0600};
    socket.path = socket.path.substr(0, socket.path.rfind('/') + 1) + "store.sock";
    socket.owner = box.dataplane.owner.empty() ? box.user : box.dataplane.owner;
    Result<std::unique_ptr<StoreRelay>> relay = StoreRelay::start(
        *box.cluster, state_.secrets().hash, socket, workers_.amounts(), workers_.questions());
    if (!relay) {
        return relay.error();
    }
    relay_ = *std::move(relay);
    return Done{};
}

void Dataplane::notify_kernel() {
    if (bridge_ != nullptr) {
        take_bans();  // of the rules before, while they are known there
        published_load_ = rules_.loaded().set().load;
        bridge_->drop_early(rules_.judges() ? rules_.shared() : nullptr);
    }
}

void Dataplane::take_bans() {
    for (const std::unique_ptr<NewBans>& bans : workers_.new_bans()) {
        bans->ring().drain([this](const NewBan& ban) { bridge_->note_ban(ban); });
    }
    const std::uint64_t lost = workers_.lost_bans();
    bridge_->lose_bans(lost - std::exchange(lost_bans_, lost));
}

void Dataplane::watch_kernel() {
    if (bridge_ == nullptr) {
        return;
    }
    take_bans();
    bridge_->watch([this](const std::string& pair, std::uint64_t packets) {
        log_warn("the kernel forwarded " + std::to_string(packets) + " packets of pair " + pair +
                 " that the box did not get");
        events_.notify_bridged(pair, packets);
    });
    // The same rules are loaded anew when keys have moved.
    if (bridge_->is_off_time() || published_load_ != rules_.loaded().set().load) {
        notify_kernel();
    }
}

void Dataplane::watch_checksums() {
    const std::vector<LoadedService>& services = rules_.loaded().set().services.all;
    for (const Service& service : services) {
        trust_.look(service.id, workers_.checksums_of(service),
                    [this](const std::string& id, std::string_view side) {
                        log_warn("checksums of " + std::string{side} + " of the service " + id +
                                 " are trusted from now on: " + std::string{kTrustingAdvice});
                        events_.notify_trusted(id, side);
                    });
    }
    trust_.forget_but([&](const std::string& id) {
        return std::any_of(services.begin(), services.end(),
                           [&](const Service& service) { return service.id == id; });
    });
}

Reply Dataplane::apply(ApplyRules request) {
    Reply reply = rules_.take(std::move(request), RulePublisher::Keep::Yes);
    traces_.note_rules();
    heat_.tick(now());
    notify_kernel();
    return reply;
}

Reply Dataplane::try_rules(TryRules request) {
    Reply reply = rules_.take(std::move(request.rules), RulePublisher::Keep::No);
    traces_.note_rules();
    heat_.tick(now());
    notify_kernel();
    return reply;
}

Reply Dataplane::keep(const KeepRules& request) {
    Reply reply = rules_.keep(request);
    traces_.note_rules();
    heat_.tick(now());
    notify_kernel();
    return reply;
}

PanicSet Dataplane::set_panic(bool pass) {
    const bool before = rules_.set_panic(pass);
    notify_kernel();
    return {.pass = pass, .before = before, .audit_dir = state_.directory()};
}

Dataplane::~Dataplane() {
    heartbeat_.reset();
    if (bridge_ != nullptr) {
        bridge_->end();
    }
    workers_.stop();
    state_.end_snapshots();
}

RssMapping Dataplane::rss_mapping() const {
    return {.ports = ports_.rss_mapping(workers_.size()),
            .tunnels = treatment_.tunnels.any(),
            .workers = workers_.size(),
            .merge_interval = rules_.merge_interval()};
}

// The time as this thread reads it.
Now Dataplane::now() const {
    const UtcClock::Reading reading = UtcClock::read(state_.clock_lead());
    return {.at = reading.at, .utc_ahead = reading.utc_ahead};
}

HeatmapEpochs Dataplane::heatmap(const ReadHeatmap& request) {
    return heat_.read(request, now());
}

MemoryBudget Dataplane::room() const {
    const std::uint64_t former = memory_bound_of_former(rules_.loaded().set().slots.size());
    const std::uint64_t available = available_memory();
    return {available - std::min(available, former), workers_.size()};
}

void Dataplane::tick() {
    clock_->note(UtcClock::read(state_.clock_lead()));
    watch_kernel();  // before a port is taken up again
    ports_.watch(rules_.board());
    workers_.watch();
    watch_checksums();
    events_.watch_forgiven();
    top_.take_samples();
    events_.take_events(ports_);
    rules_.tick(std::chrono::steady_clock::now());
    traces_.note_rules();
    traces_.tick();
    heat_.tick(now());
    state_.keep_snapshot(std::chrono::steady_clock::now());
    if (state_.former() != nullptr && state_.former()->is_released(workers_.size())) {
        state_.end_former();
    }
}

}  // namespace sluice

#include "dataplane/box/dataplane.hpp"

#include "lib/base/log.hpp"
#include "lib/wire/codec.hpp"

#include <algorithm>
#include <cstdlib>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <sys/random.h>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kGraceTimeout{200};

std::vector<unsigned> worker_lcores() {
    std::vector<unsigned> lcores;
    unsigned lcore = 0;
    RTE_LCORE_FOREACH_WORKER(lcore) {
        lcores.push_back(lcore);
    }
    return lcores;
}

}  // namespace

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
        std::abort();
    }
    return number;
}

Dataplane::Dataplane(const BoxConfig& box, std::vector<unsigned> lcores, BoxState state)
    : box_{box},
      lcores_{std::move(lcores)},
      counters_(lcores_.size()),
      ledger_lanes_{lcores_.size(), lane_size(lcores_.size())},
      watchdogs_(lcores_.size(), Watchdog{box.watchdog_stall}),
      store_{box.state_dir},
      state_{std::move(state)},
      rss_keys_{load_rss_keys(box.state_dir)},
      hash_{rss_keys_.of(Rss::Source).first<Toeplitz::kKeySize>()},
      symmetric_hash_{rss_keys_.of(Rss::Symmetric).first<Toeplitz::kKeySize>()},
      running_{std::make_unique<const Running>()},
      board_{lcores_.size()},
      started_{std::chrono::steady_clock::now()} {}

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
    std::unique_ptr<Dataplane> dataplane{new Dataplane{box, std::move(lcores), *std::move(state)}};
    // No port receives before the rules and the buckets are there.
    if (const Result<Done> done = dataplane->load_rules(); !done) {
        return done.error();
    }
    if (const Result<Done> done = dataplane->start_ports(); !done) {
        return done.error();
    }
    dataplane->start_workers();
    return dataplane;
}

Dataplane::~Dataplane() {
    stop_.raise(true);
    rte_eal_mp_wait_lcore();
    workers_.clear();
    state_.end_snapshots();
    for (auto& [mark, old] : retired_) {
        if (std::optional<GracePeriod> proof = board_.passed(mark)) {
            std::move(old).reclaim(*proof);
        }
    }
    for (const auto& pair : pairs_) {
        release_links(*pair);
        stop_port(pair->outside);
        stop_port(pair->inside);
    }
}

Environment Dataplane::environment() const {
    return {.secret = state_.secrets().hash,
            .sharers = {lcores_.size(), box_.merge_interval},
            .tables = table_view(),
            .row_totals = [this](std::uint32_t row) { return read_row(row); },
            .before = loaded_.get()};
}

void Dataplane::adopt(LoadedRules rules) {
    take_samples();
    top_.adopt(rules.set());
    loaded_ = std::make_shared<const LoadedRules>(std::move(rules));
    publish();
}

// Swaps what the workers act on. The old is freed once all have let go of it.
void Dataplane::publish() {
    auto next = std::make_unique<Running>();
    next->state = panic_              ? Running::State::Panic
                  : generation() == 0 ? Running::State::NoRuleset
                                      : Running::State::Enforce;
    next->loaded = loaded_;
    Retired<Running> old = running_.publish(std::move(next));
    const std::uint64_t mark = board_.mark();
    if (std::optional<GracePeriod> proof = board_.wait_for(mark, kGraceTimeout)) {
        std::move(old).reclaim(*proof);
        return;
    }
    log_warn("a worker has not taken up the new rules within 200 ms; the old ones are kept for it");
    retired_.emplace_back(mark, std::move(old));
}

void Dataplane::reclaim() {
    std::erase_if(retired_, [this](auto& entry) {
        std::optional<GracePeriod> proof = board_.passed(entry.first);
        if (proof) {
            std::move(entry.second).reclaim(*proof);
        }
        return proof.has_value();
    });
}

Reply Dataplane::apply(ApplyRules request) {
    return take(std::move(request), Keep::Yes);
}

Reply Dataplane::try_rules(TryRules request) {
    return take(std::move(request.rules), Keep::No);
}

Reply Dataplane::keep(const KeepRules& request) {
    if (request.generation != generation()) {
        return Failure{"other rules run than those that are to be kept"};
    }
    if (const Result<Done> saved = store_.save(RulesInForce{loaded_->rules(), source_, modes_});
        !saved) {
        return Failure{saved.error().what};
    }
    return Applied{generation()};
}

Reply Dataplane::take(ApplyRules request, Keep keep) {
    request.rules.generation = generation_of(request.rules);
    Result<LoadedRules> next = LoadedRules::make(std::move(request.rules), environment());
    if (!next) {
        return Failure{next.error().what};
    }
    // No entry is filed by slots that the next process could not read.
    if (const Result<Done> kept = state_.keep(next->slots()); !kept) {
        return Failure{kept.error().what};
    }
    if (keep == Keep::Yes) {
        const RulesInForce in_force{next->rules(), request.source, request.modes};
        if (const Result<Done> saved = store_.save(in_force); !saved) {
            (void)state_.keep(loaded_->slots());
            return Failure{saved.error().what};
        }
    }
    source_ = std::move(request.source);
    modes_ = std::move(request.modes);
    adopt(*std::move(next));
    await_moves();
    log_info("applied a rule set with " + std::to_string(loaded_->rules().rules.size()) + " rules");
    return Applied{generation()};
}

Reply Dataplane::set_panic(bool pass) {
    panic_ = pass;
    publish();
    log_warn(pass ? "panic pass: forwarding everything unjudged" : "panic is over: judging again");
    return PanicSet{pass};
}

RunningRules Dataplane::running_rules() const {
    return {generation(), source_, modes_};
}

void Dataplane::keep_house() {
    for (const auto& pair : pairs_) {
        watch_links(*pair);
    }
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - started_);
    for (std::size_t worker = 0; worker < lcores_.size(); ++worker) {
        if (watchdogs_[worker].look(counters_[worker].bursts.read(), now)) {
            log_error("the worker on lcore " + std::to_string(lcores_[worker]) +
                      " has stalled: no burst for " +
                      std::to_string(box_.watchdog_stall / std::chrono::milliseconds{1}) + " ms");
        }
    }
    take_samples();
    reclaim();
    finish_migrations();
    state_.keep_snapshot(std::chrono::steady_clock::now());
    if (state_.former() != nullptr && state_.former()->is_let_go(lcores_.size())) {
        state_.end_former();
    }
}

void Dataplane::take_samples() {
    for (const auto& sampler : samplers_) {
        sampler->ring().drain([this](const KeySample& sample) { top_.take(sample); });
    }
    const auto now = std::chrono::steady_clock::now() - started_;
    top_.pass(Instant{std::chrono::duration_cast<Nanoseconds>(now)});
}

Top Dataplane::top(const GetTop& request) {
    take_samples();
    Top top{.window_ns = static_cast<std::uint64_t>(top_.window().count()),
            .samples = top_.samples(),
            .lost = 0,
            .keys = top_.list(request.rule, request.order, request.count)};
    for (const auto& sampler : samplers_) {
        top.lost += sampler->lost();
    }
    for (TopKey& key : top.keys) {
        key.key = text_of_key(std::as_bytes(std::span{key.key}),
                              [this](std::uint64_t name) { return pair_called(name); });
    }
    return top;
}

// The text of a port_name().
std::string Dataplane::pair_called(std::uint64_t name) const {
    for (const PairConfig& pair : box_.pairs) {
        if (port_name(pair.name) == name) {
            return pair.name;
        }
    }
    return {};
}

}  // namespace sluice

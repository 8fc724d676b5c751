#include "dataplane/box/rule_publisher.hpp"

#include "dataplane/box/unit_memory.hpp"
#include "lib/base/log.hpp"
#include "lib/wire/codec.hpp"

#include <rte_cycles.h>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kGraceTimeout{200};
constexpr unsigned kTurnPauseUs = 50;
constexpr std::chrono::seconds kSaveAgain{1};

// Without a key that sluiced can share, sets with patterns are refused, and all others work.
DatabaseKey database_key_of(const BoxConfig& box) {
    const std::string path =
        box.database_key.empty() ? box.state_dir + "/" + kDatabaseKeyFile : box.database_key;
    Result<DatabaseKey> key = open_database_key(path, box.user);
    if (!key) {
        log_error(key.error().what + "; rules with patterns will be refused");
        return random_database_key();
    }
    return *key;
}

}  // namespace

RulePublisher::RulePublisher(const BoxConfig& box, BoxState& state, WorkerFleet& workers,
                             const Reports& reports)
    : state_{state},
      workers_{workers},
      reports_{reports},
      store_{box.state_dir},
      on_no_rules_{box.on_no_rules},
      unit_memory_{unit_memory_of(box, workers.size())},
      merge_interval_{box.merge_interval},
      machines_{box.cluster && box.cluster->store ? box.cluster->size : std::size_t{1}},
      key_{database_key_of(box)},
      kept_panic_{box.state_dir},
      panic_{kept_panic_.is_set()},
      running_{std::make_unique<const Running>()},
      board_{workers.size()} {}

RulePublisher::~RulePublisher() {
    reclaim();
}

Environment RulePublisher::environment() const {
    return {
        .secret = state_.secrets().hash,
        .sharers = {workers_.size(), merge_interval_, machines_},
        .tables = {[this](LimitSlot slot) { return uses_of(slot); }, [this] { return settled(); }},
        .row_totals = [this](std::uint32_t row) { return read_row(row); },
        .before = loaded_.get(),
        .splits_connections = !split_.empty()};
}

RuleTotals RulePublisher::read_row(std::uint32_t row) const {
    RuleTotals totals = workers_.read_row(row);
    if (reports_.kernel != nullptr) {
        totals.counts.early_dropped = reports_.kernel->early_dropped(row);
    }
    return totals;
}

// Before there are workers, every slot that was found may be in use.
std::uint64_t RulePublisher::uses_of(LimitSlot slot) const {
    if (!workers_.is_made()) {
        return 1;
    }
    const std::uint64_t former = state_.former() == nullptr ? 0 : state_.former()->entries_of(slot);
    return former + workers_.uses_of(slot);
}

// Entries of former tables are brought up to no change while they are only read.
std::uint64_t RulePublisher::settled() const {
    return state_.former() == nullptr ? workers_.settled() : 0;
}

void RulePublisher::adopt(LoadedRules rules) {
    reports_.top.adopt(rules.set());
    reports_.events.adopt(rules.set(), reports_.ports);
    loaded_ = std::make_shared<const LoadedRules>(std::move(rules));
    publish();
}

Running::State RulePublisher::state() const noexcept {
    if (panic_) {
        return Running::State::Panic;
    }
    if (generation() != 0) {
        return Running::State::Enforce;
    }
    return on_no_rules_ == OnNoRules::Drop ? Running::State::NoRulesetDrop
                                           : Running::State::NoRulesetPass;
}

// Swaps what the workers act on. The old is freed once all have let go of it.
void RulePublisher::publish() {
    auto next = std::make_unique<Running>();
    next->state = state();
    next->loaded = loaded_;
    next->traces = under(traces_, loaded_->set());
    Retired<Running> old = running_.publish(std::move(next));
    const std::uint64_t mark = board_.mark();
    if (std::optional<GracePeriod> proof = board_.wait_for(mark, kGraceTimeout)) {
        std::move(old).reclaim(*proof);
        return;
    }
    log_warn("a worker has not taken up the new rules within 200 ms; the old ones are kept for it");
    retired_.emplace_back(mark, std::move(old));
}

void RulePublisher::reclaim() {
    std::erase_if(retired_, [this](auto& entry) {
        std::optional<GracePeriod> proof = board_.passed(entry.first);
        if (proof) {
            std::move(entry.second).reclaim(*proof);
        }
        return proof.has_value();
    });
}

// By the same way as any other set, since workers may have brought buckets under the numbers of the
// one that is taken back.
bool RulePublisher::go_back_to(const LoadedRules& before) {
    Result<LoadedRules> again = LoadedRules::make(before.rules(), environment());
    if (!again) {
        ++unkept_;
        log_error("the rules before cannot be taken up again: " + again.error().what +
                  "; those that could not be kept stay in force");
        return false;
    }
    (void)state_.keep(again->slots());
    adopt(*std::move(again));
    return true;
}

// A set that ends the process as soon as a worker runs it is not what the next one starts with: a
// worker has gone through a whole turn of its loop with it first.
Result<Done> RulePublisher::keep_once_run() {
    const std::uint64_t mark = board_.mark();
    const auto deadline = std::chrono::steady_clock::now() + kGraceTimeout;
    while (!board_.any_passed(mark) && std::chrono::steady_clock::now() < deadline) {
        rte_delay_us_sleep(kTurnPauseUs);
    }
    if (board_.any_passed(mark)) {
        Result<Done> saved = store_.save(RulesInForce{loaded_->rules(), source_, modes_, seal_});
        if (saved) {
            to_keep_.reset();  // else those before, which come back, are still to be kept
        }
        return saved;
    }
    log_warn(
        "no worker has run the new rules within 200 ms; they are kept for the next start once "
        "one has");
    to_keep_ = Unkept{loaded_, source_, modes_, seal_, mark};
    return Done{};
}

// Rules that cannot be kept are tried again: the disk may have room later.
void RulePublisher::keep_late(std::chrono::steady_clock::time_point now) {
    if (!to_keep_ || now < to_keep_->next_try || !board_.any_passed(to_keep_->mark)) {
        return;
    }
    Unkept& late = *to_keep_;
    const Result<Done> saved =
        store_.save(RulesInForce{late.rules->rules(), late.source, late.modes, late.seal});
    if (saved) {
        to_keep_.reset();
        return;
    }
    if (!std::exchange(late.told, true)) {
        ++unkept_;
        log_error(
            "the next start will have other rules than those in force, unless they can be "
            "kept later: " +
            saved.error().what);
    }
    late.next_try = now + kSaveAgain;
}

Reply RulePublisher::keep(const KeepRules& request) {
    if (request.generation != generation()) {
        return Failure{"other rules run than those that are to be kept"};
    }
    if (!request.forgive) {
        if (const Result<Done> kept = keep_once_run(); !kept) {
            return Failure{kept.error().what};
        }
        return Applied{generation()};
    }
    return keep_and_forgive();
}

// The set that runs comes once more, and forgives: its slots are on the disk before it, and it is
// kept before anything is forgiven.
Reply RulePublisher::keep_and_forgive() {
    Environment now = environment();
    now.forgives = Forgives::Excess;
    Result<LoadedRules> next = LoadedRules::make(loaded_->rules(), now);
    if (!next) {
        return Failure{next.error().what};
    }
    if (const Result<Done> kept = state_.keep(next->slots()); !kept) {
        return Failure{kept.error().what};
    }
    if (const Result<Done> kept = keep_once_run(); !kept) {
        (void)state_.keep(loaded_->slots());
        return Failure{kept.error().what};
    }
    adopt(*std::move(next));
    await_moves();
    return Applied{generation()};
}

bool RulePublisher::vouches_for(const RuleSet& rules, const DatabaseSeal& seal) {
    const bool sealed = is_sealed(rules, seal, key_);
    unsealed_ += sealed ? 0 : 1;
    return sealed;
}

Result<LoadedRules> RulePublisher::load_condition(RuleSet rules) const {
    return LoadedRules::make(std::move(rules), {.secret = state_.secrets().hash,
                                                .sharers = {workers_.size(), merge_interval_}});
}

KeyHasher RulePublisher::key_hasher() const {
    return KeyHasher{state_.secrets().hash};
}

void RulePublisher::set_traces(std::vector<std::shared_ptr<Trace>> traces) {
    traces_ = std::move(traces);
    publish();
}

Reply RulePublisher::take(ApplyRules request, Keep keep) {
    if (!vouches_for(request.rules, request.seal)) {
        const Failure why{
            "its patterns do not carry the sum that sluiced makes with the key of "
            "databases; do both programs name the same file, which sluiced may read?"};
        log_error("refused a rule set: " + why.what);
        return why;
    }
    request.rules.generation = generation_of(request.rules);
    Environment now = environment();
    now.forgives = request.forgive ? Forgives::Excess : Forgives::Nothing;
    Result<LoadedRules> next = LoadedRules::make(std::move(request.rules), now);
    if (!next) {
        return Failure{next.error().what};
    }
    // No entry is filed by slots that the next process could not read.
    if (const Result<Done> kept = state_.keep(next->slots()); !kept) {
        return Failure{kept.error().what};
    }
    const std::shared_ptr<const LoadedRules> before = loaded_;
    std::swap(source_, request.source);
    std::swap(modes_, request.modes);
    std::swap(seal_, request.seal);
    adopt(*std::move(next));
    if (keep == Keep::Yes) {
        if (const Result<Done> kept = keep_once_run(); !kept) {
            if (go_back_to(*before)) {
                source_ = std::move(request.source);
                modes_ = std::move(request.modes);
                seal_ = request.seal;
            } else {
                to_keep_ = Unkept{loaded_, source_, modes_, seal_, board_.mark()};
            }
            return Failure{kept.error().what};
        }
    }
    await_moves();
    log_info("applied a rule set with " + std::to_string(loaded_->rules().rules.size()) + " rules");
    return Applied{generation()};
}

bool RulePublisher::set_panic(bool pass) {
    const bool before = std::exchange(panic_, pass);
    publish();
    log_warn(pass ? "panic pass: forwarding everything unjudged, also after a restart, until "
                    "`sluicectl panic resume`"
                  : "panic is over: judging again");
    panic_unkept_ = false;
    keep_panic(std::chrono::steady_clock::now());
    return before;
}

void RulePublisher::keep_panic(std::chrono::steady_clock::time_point now) {
    const Result<Done> kept = kept_panic_.keep(panic_);
    panic_due_ = now + (kept ? std::chrono::seconds{kRemindEvery} : kSaveAgain);
    if (kept) {
        panic_unkept_ = false;
    } else if (!std::exchange(panic_unkept_, true)) {
        state_.note_not_kept();
        log_error((panic_ ? "the next start will not know of `panic pass`, unless it can be kept "
                            "later: "
                          : "the next start will forward unjudged again, unless the end of the "
                            "panic can be kept later: ") +
                  kept.error().what);
    }
}

// A panic stands in the log again and again while it lasts.
void RulePublisher::remind_of_panic(std::chrono::steady_clock::time_point now) {
    if (now < panic_due_) {
        return;
    }
    if (panic_unkept_) {
        keep_panic(now);
    } else if (panic_) {
        panic_due_ = now + kRemindEvery;
        log_warn(
            "panic pass is on: everything is forwarded unjudged until `sluicectl panic "
            "resume`");
    }
}

void RulePublisher::tick(std::chrono::steady_clock::time_point now) {
    reclaim();
    keep_late(now);
    remind_of_panic(now);
    finish_migrations();
}

}  // namespace sluice

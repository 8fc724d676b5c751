#include "dataplane/box/rule_publisher.hpp"

#include "lib/base/log.hpp"
#include "lib/wire/codec.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kGraceTimeout{200};

}  // namespace

RulePublisher::RulePublisher(const BoxConfig& box, BoxState& state, WorkerFleet& workers,
                             TopReport& top)
    : state_{state},
      workers_{workers},
      top_{top},
      store_{box.state_dir},
      on_no_rules_{box.on_no_rules},
      merge_interval_{box.merge_interval},
      running_{std::make_unique<const Running>()},
      board_{workers.size()} {}

RulePublisher::~RulePublisher() {
    reclaim();
}

Environment RulePublisher::environment() const {
    return {
        .secret = state_.secrets().hash,
        .sharers = {workers_.size(), merge_interval_},
        .tables = {[this](LimitSlot slot) { return uses_of(slot); }, [this] { return settled(); }},
        .row_totals = [this](std::uint32_t row) { return workers_.read_row(row); },
        .before = loaded_.get()};
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
    top_.adopt(rules.set());
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

Reply RulePublisher::keep(const KeepRules& request) {
    if (request.generation != generation()) {
        return Failure{"other rules run than those that are to be kept"};
    }
    if (const Result<Done> saved = store_.save(RulesInForce{loaded_->rules(), source_, modes_});
        !saved) {
        return Failure{saved.error().what};
    }
    return Applied{generation()};
}

Reply RulePublisher::take(ApplyRules request, Keep keep) {
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

bool RulePublisher::set_panic(bool pass) {
    const bool before = std::exchange(panic_, pass);
    publish();
    log_warn(pass ? "panic pass: forwarding everything unjudged" : "panic is over: judging again");
    return before;
}

void RulePublisher::keep_house() {
    reclaim();
    finish_migrations();
}

}  // namespace sluice

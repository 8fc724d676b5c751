#include "dataplane/dataplane.hpp"
#include "lib/base/log.hpp"
#include "lib/pipeline/shared_limits.hpp"
#include "lib/rules/limit_spread.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

// Keys whose packets meet other workers after a reload than before. First all workers adopt the
// rules: each charges what it judges where it always did, and counts what the others hold (or, of
// limits that they have shared, goes on telling them). Then the limits get other slots, and who
// files a key takes over what it owed: lib/rules/limit_slots, lib/meter/peer_tables.
namespace sluice {
namespace {

using namespace std::chrono_literals;

// Amounts that are noted have reached their owners after so many merge intervals, if nobody stands
// still, and so much more.
constexpr int kIntervalsToSync = 4;
constexpr std::chrono::milliseconds kSomeTurns{2};
constexpr std::chrono::milliseconds kAllTurns{200};
// An apply waits for no more; then it is done at the next occasion.
constexpr std::chrono::milliseconds kLongestWait{50};

}  // namespace

// What tells where packets meet, as far as workers and merge interval say.
void Dataplane::list_scopes(RuleSet& rules) const {
    list_spreads(rules, lcores_.size());
    share_limits(rules, {lcores_.size(), options_.merge_interval});
}

std::chrono::steady_clock::time_point Dataplane::time_to_move() const {
    return std::chrono::steady_clock::now() + kIntervalsToSync * options_.merge_interval +
           kSomeTurns;
}

void Dataplane::await_moves() {
    moved_by_ = time_to_move();
    if (!slots_.is_moving()) {
        return;
    }
    const auto left = moved_by_ - std::chrono::steady_clock::now();
    if (left <= kLongestWait) {
        std::this_thread::sleep_for(left);
        settle_moves();
    }
}

// Not before all workers have adopted the rules, and have then come to the end of a turn: what was
// handed over under the rules before has been judged.
void Dataplane::settle_moves() {
    if (!slots_.is_moving() || workers_.empty() || !retired_.empty() ||
        std::chrono::steady_clock::now() < moved_by_ ||
        !board_.wait_for(board_.mark(), kAllTurns)) {
        return;
    }
    LimitSlots slots = slots_;
    RuleSet rules = loaded_->rules;
    if (const Result<Done> settled = slots.settle_moves(rules); !settled) {
        log_warn(settled.error().what);
        moved_by_ = std::chrono::steady_clock::now() + 1s;
        return;
    }
    Result<TextScratches> texts = scratches_for(rules);
    const Result<Done> kept = texts ? state_.keep(slots) : texts.error();
    if (!kept) {
        log_warn(kept.error().what);
        moved_by_ = std::chrono::steady_clock::now() + 1s;
        return;
    }
    slots_ = std::move(slots);
    load(std::move(rules), *std::move(texts));
    log_info("keys have moved to other workers");
}

}  // namespace sluice

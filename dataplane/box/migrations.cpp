#include "dataplane/box/rule_publisher.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

// Keys whose packets meet other workers after a reload than before. First all workers adopt the
// rules: each charges what it judges where it always did, and counts what the others hold (or, of
// limits that they have shared, goes on telling them). Then the limits get other slots, and who
// files a key takes over what it owed: lib/rules/load/limit_slots, lib/bucket/table/worker_tables.
namespace sluice {
namespace {

using namespace std::chrono_literals;

// Amounts that are noted have reached their owners after so many merge intervals, if nobody stands
// still, and so much more.
constexpr int kIntervalsToSync = 4;
constexpr std::chrono::milliseconds kSomeTurns{2};
constexpr std::chrono::milliseconds kAllTurns{200};
// An apply waits for no more; then it is done at the next occasion.
constexpr std::chrono::milliseconds kLongestWaitOfApply{50};

}  // namespace

void RulePublisher::put_off_moves() {
    moved_by_ = std::chrono::steady_clock::now() + kIntervalsToSync * merge_interval_ + kSomeTurns;
}

void RulePublisher::await_moves() {
    put_off_moves();
    if (!loaded_->slots().is_migrating()) {
        return;
    }
    const auto left = moved_by_ - std::chrono::steady_clock::now();
    if (left <= kLongestWaitOfApply) {
        std::this_thread::sleep_for(left);
        finish_migrations();
    }
}

// Not before all workers have adopted the rules, and have then come to the end of a turn: what was
// handed over under the rules before has been judged.
void RulePublisher::finish_migrations() {
    if (!loaded_->slots().is_migrating() || !workers_.is_made() || !retired_.empty() ||
        std::chrono::steady_clock::now() < moved_by_ ||
        !board_.wait_for(board_.mark(), kAllTurns)) {
        return;
    }
    Environment environment = this->environment();
    environment.moves = Moves::Ended;
    Result<LoadedRules> next = loaded_->again(environment);
    const Result<Done> kept = next ? state_.keep(next->slots()) : next.error();
    if (!kept) {
        log_warn(kept.error().what);
        moved_by_ = std::chrono::steady_clock::now() + 1s;
        return;
    }
    adopt(*std::move(next));
    log_info("keys have moved to other workers");
}

}  // namespace sluice

#include "dataplane/store/store_relay.hpp"

#include "lib/base/log.hpp"
#include "lib/bucket/hash/cluster_secret.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>
#include <variant>

#include <sys/random.h>

namespace sluice {
namespace {

// Amounts of a worker that is at its limit wait so long at most.
constexpr std::chrono::milliseconds kTurn{1};
constexpr std::chrono::seconds kLogEvery{1};

std::uint64_t random_life() {
    std::uint64_t life = 0;
    while (::getrandom(&life, sizeof(life), 0) != static_cast<ssize_t>(sizeof(life)) || life == 0) {
    }
    return life;
}

// Printable ASCII as it is; whatever else came is a question mark.
std::string visible(const std::string& why) {
    constexpr std::size_t kMostWhy = 300;
    std::string text = why.substr(0, kMostWhy);
    std::replace_if(
        text.begin(), text.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return text;
}

}  // namespace

Result<std::unique_ptr<StoreRelay>> StoreRelay::start(const ClusterOptions& cluster,
                                                      const HashSecret& secret,
                                                      const SocketOptions& socket,
                                                      DeltaLanes& lanes, AskLanes& questions) {
    Result<StoreSocket> listening =
        StoreSocket::listen(socket, {.cluster = cluster.name,
                                     .node = cluster.node,
                                     .size = cluster.size,
                                     .life = random_life(),
                                     .durability = cluster.durability,
                                     .secret_digest = digest_of_secret(secret)});
    if (!listening) {
        return listening.error();
    }
    std::unique_ptr<StoreRelay> made{
        new StoreRelay{*std::move(listening), cluster, lanes, questions}};
    made->publish();
    const auto run = [](void* self) -> void* {
        static_cast<StoreRelay*>(self)->run();
        return nullptr;
    };
    // The end is the main thread's to hear of. Others come through: rights are given up by a signal
    // to each thread.
    sigset_t ends;
    sigset_t before;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, &before);
    const int failed = pthread_create(&made->thread_, nullptr, run, made.get());
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failed != 0) {
        return Error{Errc::TooMany, std::string{"there is no thread for the cluster's store: "} +
                                        std::strerror(failed)};
    }
    made->started_ = true;
    return made;
}

StoreRelay::~StoreRelay() {
    if (started_) {
        stop_.raise(true);
        (void)pthread_join(thread_, nullptr);
    }
}

Nanoseconds StoreRelay::now() const {
    return Clock::now().time_since_epoch();
}

void StoreRelay::run() {
    while (!stop_.raised()) {
        turn();
    }
}

void StoreRelay::turn() {
    socket_.serve(
        kTurn,
        {.connected =
             [this] {
                 socket_.say(batches_.clocks());
                 batches_.say_all_again();
             },
         .heard = [this](const StoreAnswer& answer) { hear(answer); },
         .disconnected = [this] { set_state(StoreLinkState::Away, "sluice-store is not there"); }});
    watch_clock();
    bool is_short = false;
    first_ = (first_ + 1) % lanes_.workers();  // the budget is not always the same one's first
    for (std::size_t i = 0; i < lanes_.workers(); ++i) {
        const std::size_t worker = (first_ + i) % lanes_.workers();
        StoreLane& lane = *lanes_.store(worker);
        batches_.take(worker, lane, now());
        batches_.deliver(worker, lane);
        is_short = is_short || batches_.is_short();
    }
    watch_budget(is_short);
    ask();
    while (report_.state == StoreLinkState::Ready && socket_.has_room()) {
        const StoreBatch* batch = batches_.next_to_say(now());
        if (batch == nullptr) {
            break;
        }
        socket_.say(*batch);
    }
    socket_.flush();
    log_state();
    watch_answers();
    constexpr std::chrono::milliseconds kPublishEvery{50};
    if (Clock::now() - published_ >= kPublishEvery) {
        publish();
    }
}

void StoreRelay::ask() {
    questions_.settle(batches_, now());
    for (std::size_t worker = 0; worker < ask_lanes_.workers(); ++worker) {
        StoreAskLane& lane = *ask_lanes_.store(worker);
        questions_.take(worker, lane, batches_, lanes_.store_down().raised(), now());
        questions_.deliver(worker, lane);
    }
}

void StoreRelay::hear(const StoreAnswer& answer) {
    if (const auto* report = std::get_if<StoreLinkReport>(&answer)) {
        hear(*report);
        return;
    }
    const auto& reply = std::get<StoreReply>(answer);
    batches_.settle(reply, now());
    lanes_.store_losses().set(batches_.losses());
    if (reply.outcome == StoreOutcome::Fenced) {
        set_state(StoreLinkState::Fenced, "the store fenced a batch of this box");
    }
}

// The process that reports is trusted with no more than how its link is called.
void StoreRelay::hear(const StoreLinkReport& report) {
    const StoreLinkReport before = std::exchange(report_, report);
    report_.state = before.state;
    report_.why = before.why;
    batches_.set_partitions(report.partitions);
    set_state(report.state, report.why);
}

void StoreRelay::set_state(StoreLinkState state, const std::string& why) {
    const std::string text = state == StoreLinkState::Ready ? "" : visible(why);
    if (state == StoreLinkState::Ready && report_.state != StoreLinkState::Ready) {
        batches_.say_all_again();
    }
    report_.state = state;
    report_.why = text;
    log_state();
}

// The process that reports is not trusted with the journal: a line a second, of what it says then.
void StoreRelay::log_state() {
    const Clock::time_point at = Clock::now();
    const bool is_said = report_.state == logged_state_ && report_.why == logged_why_;
    if (is_said || at - logged_ < kLogEvery) {
        return;
    }
    logged_ = at;
    logged_state_ = report_.state;
    logged_why_ = report_.why;
    if (logged_state_ == StoreLinkState::Ready) {
        log_info("the cluster's store answers");
    } else {
        log_warn("the cluster's store is " + std::string{name_of(logged_state_)} +
                 (logged_why_.empty() ? "" : ": " + logged_why_));
    }
}

void StoreRelay::watch_answers() {
    const Clock::time_point at = Clock::now();
    if (report_.state == StoreLinkState::Ready) {
        ready_at_ = at;
    }
    const std::optional<Nanoseconds> oldest = batches_.oldest_under_way();
    const bool silent = oldest && now() - *oldest >= kAwayAfter;
    const bool down = silent || at - ready_at_ >= kAwayAfter;
    Signal& signal = lanes_.store_down();
    if (down == signal.raised()) {
        return;
    }
    if (down) {
        down_since_ = at;
        log_warn("the cluster's store does not answer: limits of the cluster go by `owner_down`");
    } else {
        down_for_ += at - down_since_;
        log_info("the cluster's store answers again: limits of the cluster go by it");
    }
    signal.raise(down);
}

// Amounts without room now and then are told a little later; without it again and again, not.
void StoreRelay::watch_budget(bool is_short) {
    const Clock::time_point at = Clock::now();
    if (is_short) {
        short_at_ = at;
        short_since_ = short_since_.value_or(at);
    } else if (at - short_at_ >= kAwayAfter) {
        short_since_.reset();
    }
    const bool over = short_since_ && at - *short_since_ >= kAwayAfter;
    Signal& signal = lanes_.store_over_budget();
    if (over == signal.raised()) {
        return;
    }
    if (over) {
        log_warn(
            "more keys than `budget` are to be told to the cluster's store: those beyond it go "
            "by their local share");
    } else {
        log_info("the budget of the cluster's store has room for all keys again");
    }
    signal.raise(over);
}

void StoreRelay::watch_clock() {
    other_clock_ = lanes_.other_clock();
    const bool is_apart = clock_.is_apart(other_clock_, report_.clock_off_us, now());
    Signal& signal = lanes_.windows_apart();
    if (is_apart == signal.raised()) {
        return;
    }
    if (is_apart) {
        log_warn(
            "this box's clock is not the one of its cluster's store: windows go by their local "
            "share");
    } else {
        log_info("this box's clock is the one of its cluster's store again: windows go by it");
    }
    signal.raise(is_apart);
}

void StoreRelay::publish() {
    const StoreBatchCounts& counts = batches_.counts();
    const StoreQuestionCounts& questions = questions_.counts();
    const bool down = lanes_.store_down().raised();
    StoreLinkStats stats{.in_cluster = true,
                         .state = static_cast<std::uint8_t>(report_.state),
                         .why = report_.why,
                         .slot = report_.slot,
                         .down = down,
                         .over_budget = lanes_.store_over_budget().raised(),
                         .windows_apart = lanes_.windows_apart().raised(),
                         .rtt_us = report_.rtt_us,
                         .clock_off_us = report_.clock_off_us,
                         .amounts = counts.amounts,
                         .answered = counts.answered,
                         .put_off = counts.put_off,
                         .batches = counts.batches,
                         .said_again = counts.said_again + report_.retries,
                         .gaps = counts.gaps,
                         .lost = counts.lost,
                         .expired = counts.expired,
                         .skewed = counts.skewed,
                         .other_clock = other_clock_,
                         .strange = counts.strange,
                         .unsynced = batches_.unsynced(),
                         .asked = questions.asked,
                         .asked_admitted = questions.admitted,
                         .asked_refused = questions.refused,
                         .asked_still_refused = questions.still_refused,
                         .asked_late = questions.late,
                         .asked_down = questions.down,
                         .asked_no_room = questions.no_room,
                         .asked_waiting = questions_.waiting()};
    const Clock::time_point at = Clock::now();
    const Nanoseconds down_for = down_for_ + (down ? at - down_since_ : Nanoseconds{0});
    stats.down_ns = static_cast<std::uint64_t>(down_for.count());
    published_ = at;
    const std::lock_guard lock{mutex_};
    stats_ = std::move(stats);
}

StoreLinkStats StoreRelay::stats() const {
    const std::lock_guard lock{mutex_};
    return stats_;
}

}  // namespace sluice

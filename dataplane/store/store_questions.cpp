#include "dataplane/store/store_questions.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

StoreAmount amount_asked(const StoreQuestion& question) {
    const StoreAsking& limit = question.limit;
    StoreAmount amount{.account = {question.hash, question.slot}, .units = question.cost};
    amount.numbers = {.period = limit.period, .parts = limit.parts};
    switch (limit.count) {
        case AskedCount::Bucket:
            break;
        case AskedCount::ByClock:
            amount.numbers.lasts = kLastsByClock;
            break;
        case AskedCount::ByHash:
            amount.numbers.lasts = kLastsByClock;
            amount.numbers.parts = limit.period == 0 ? 0 : question.hash % limit.period;
            break;
        case AskedCount::ByKey:
            amount.numbers.lasts = kLastsByKey;
            break;
        case AskedCount::Logged:
            amount.numbers.lasts = kLastsLogged;
            break;
    }
    return amount;
}

// The wait of a request without room until as much is paid back as it lacks, or its window is over.
// 0: it has room at the level that the store tells, or the store does not say.
Nanoseconds wait_for(const StoreQuestion& question, const StoreLevel& level) {
    const StoreAsking& limit = question.limit;
    const std::uint64_t needed = std::min(level.current, limit.most) + question.cost;
    if (needed <= limit.most) {
        return Nanoseconds{0};
    }
    if (limit.count == AskedCount::Bucket) {
        const auto unit = static_cast<std::uint64_t>(pay_time(limit, 1));
        const std::uint64_t next =
            level.less_in_us < unit / 1'000 ? 1'000 * level.less_in_us : unit;
        return Nanoseconds{pay_time(limit, needed - limit.most - 1) +
                           static_cast<std::int64_t>(next)};
    }
    constexpr std::uint64_t kYear = std::uint64_t{366} * 86'400 * 1'000'000;  // us
    const std::uint64_t left = std::min({level.less_in_us, 2 * limit.period, kYear});
    return Nanoseconds{static_cast<std::int64_t>(1'000 * left)};
}

Answer judged(bool admitted, Nanoseconds wait = {}) {
    return {.what = Answer::What::Judged,
            .conformance = admitted ? Conformance::Green : Conformance::Red,
            .wait = wait};
}

}  // namespace

StoreQuestions::StoreQuestions(std::size_t workers, Nanoseconds deadline)
    : deadline_{deadline}, open_(kMost), free_(kMost), answers_(workers) {
    std::iota(free_.rbegin(), free_.rend(), 0U);
}

StoreQuestions::Open* StoreQuestions::find(std::uint64_t name) {
    Open& open = open_[static_cast<std::uint32_t>(name) % kMost];
    return open.waits && open.turn == name >> 32 ? &open : nullptr;
}

void StoreQuestions::finish(Open& open) {
    open.waits = false;
    ++open.turn;
    --waiting_;
    free_.push_back(static_cast<std::uint32_t>(&open - open_.data()));
}

void StoreQuestions::take(std::size_t worker, StoreAskLane& lane, StoreBatches& batches, bool down,
                          Nanoseconds now) {
    lane.questions.drain([&](const StoreQuestion& question) {
        ++counts_.asked;
        if (is_decided_here(question, worker, down, now)) {
            return;
        }
        if (free_.empty()) {
            ++counts_.no_room;
            go_by_owner_down(question, worker, now);
            return;
        }
        const std::uint32_t place = free_.back();
        Open& open = open_[place];
        const std::uint64_t name = name_of(place, open.turn);
        if (!batches.ask(name, amount_asked(question), question.limit.most, now)) {
            ++counts_.no_room;
            go_by_owner_down(question, worker, now);
            return;
        }
        free_.pop_back();
        open = {question, worker, open.turn, true, now};
        ++waiting_;
        by_age_.push_back(name);
    });
}

bool StoreQuestions::is_decided_here(const StoreQuestion& question, std::size_t worker, bool down,
                                     Nanoseconds now) {
    if (down) {
        ++counts_.down;
        go_by_owner_down(question, worker, now);
        return true;
    }
    const std::optional<Nanoseconds> wait = refused_.wait_of(question, now);
    if (wait) {
        ++counts_.still_refused;
        tell(question, worker, judged(false, *wait));
    }
    return wait.has_value();
}

void StoreQuestions::hear(const StoreBatches::Asked& asked, Nanoseconds now) {
    Open* const open = find(asked.question);
    if (open == nullptr) {
        return;
    }
    const Open was = *open;
    finish(*open);
    if (!asked.level) {
        ++counts_.no_room;
        go_by_owner_down(was.question, was.worker, now);
        return;
    }
    const StoreLevel& level = *asked.level;
    ++(level.refused ? counts_.refused : counts_.admitted);
    shares_.note_level(was.question, level.current, now);
    if (!level.refused) {
        tell(was.question, was.worker, judged(true));
        return;
    }
    const Nanoseconds wait = wait_for(was.question, level);
    if (wait > Nanoseconds{0}) {
        // The level is of a time since it was asked; the wait is rounded up.
        refused_.note(was.question, was.since, was.since + wait - Nanoseconds{1});
    }
    tell(was.question, was.worker, judged(false, wait));
}

void StoreQuestions::settle(StoreBatches& batches, Nanoseconds now) {
    if (lost_ != batches.counts().lost) {
        lost_ = batches.counts().lost;
        refused_.forget_all();
    }
    for (const StoreBatches::Asked& asked : batches.take_asked()) {
        hear(asked, now);
    }
    while (!by_age_.empty()) {
        Open* const oldest = find(by_age_.front());
        if (oldest != nullptr && now - oldest->since < deadline_) {
            break;
        }
        if (oldest != nullptr) {
            const Open was = *oldest;
            batches.withdraw(by_age_.front(), {was.question.hash, was.question.slot});
            finish(*oldest);
            ++counts_.late;
            go_by_owner_down(was.question, was.worker, now);
        }
        by_age_.pop_front();
    }
}

// A refusal is not the limit's: no ban counts it.
void StoreQuestions::go_by_owner_down(const StoreQuestion& question, std::size_t worker,
                                      Nanoseconds now) {
    const AskedShares::Decision decision = shares_.decide(question, now);
    tell(question, worker,
         decision.admitted ? judged(true)
                           : Answer{.what = Answer::What::NoPlace,
                                    .conformance = Conformance::NoRoom,
                                    .wait = decision.wait});
}

void StoreQuestions::tell(const StoreQuestion& question, std::size_t worker, const Answer& answer) {
    if (question.is_answered) {
        answers_[worker].push_back(answer);
        answers_[worker].back().ticket = question.ticket;
    }
}

void StoreQuestions::deliver(std::size_t worker, StoreAskLane& lane) {
    std::deque<Answer>& answers = answers_[worker];
    while (!answers.empty() && lane.answers.put(answers.front())) {
        answers.pop_front();
    }
}

}  // namespace sluice

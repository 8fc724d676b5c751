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
    }
    return amount;
}

// Of a request that has no room, until as much is paid back as it lacks; a window's is not told.
Nanoseconds wait_for(const StoreQuestion& question, std::uint64_t used) {
    const StoreAsking& limit = question.limit;
    const std::uint64_t needed = std::min(used, limit.most) + question.cost;
    return limit.count == AskedCount::Bucket && needed > limit.most
               ? Nanoseconds{pay_time(limit, needed - limit.most)}
               : Nanoseconds{0};
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
        if (down || free_.empty()) {
            ++(down ? counts_.down : counts_.no_room);
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
    tell(was.question, was.worker, !level.refused,
         level.refused ? wait_for(was.question, level.current) : Nanoseconds{0});
}

void StoreQuestions::settle(StoreBatches& batches, Nanoseconds now) {
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

void StoreQuestions::go_by_owner_down(const StoreQuestion& question, std::size_t worker,
                                      Nanoseconds now) {
    tell(question, worker, shares_.decide(question, now), Nanoseconds{0});
}

void StoreQuestions::tell(const StoreQuestion& question, std::size_t worker, bool admitted,
                          Nanoseconds wait) {
    if (question.is_answered) {
        answers_[worker].push_back({.ticket = question.ticket,
                                    .what = Answer::What::Judged,
                                    .conformance = admitted ? Conformance::Green : Conformance::Red,
                                    .wait = wait});
    }
}

void StoreQuestions::deliver(std::size_t worker, StoreAskLane& lane) {
    std::deque<Answer>& answers = answers_[worker];
    while (!answers.empty() && lane.answers.put(answers.front())) {
        answers.pop_front();
    }
}

}  // namespace sluice

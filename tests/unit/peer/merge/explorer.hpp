#pragma once
#include "lib/base/check.hpp"
#include "lib/peer/merge/charge_ahead.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

// Everything that a few workers and one account can do in so many steps, in every order: packets
// come, time passes, messages wait as long as they like (those of one pair stay in order), owners
// find no place, workers and whole processes are killed and begin again. The production ledger over
// a Model of what is counted, which is as simple as can be:
//
//   Book                      one account's state at one worker: Books, and admits() and charge()
//   charge(), is_beyond()     what all workers together have admitted, exactly
//   has_lost()                whether a unit is neither in the owner's total nor unsynced
//   add_state() and so on     what any later step depends on
namespace sluice {

inline constexpr Nanoseconds kTick{1'024'000};  // no less than a merge interval
inline constexpr int kLongestTicks = 3;         // for which what is due late waits
inline constexpr std::size_t kMostWorkers = 4;

struct Transition {
    enum class Kind : std::uint8_t {
        Offer,
        OfferLate,
        Totals,
        Serve,
        Send,
        Place,
        Restart,
        RestartAll,
        Tick,
        End
    };
    Kind kind;
    std::uint8_t worker = 0;
};

template <typename Model>
class World {
    using Book = typename Model::Book;

public:
    explicit World(std::size_t workers)
        : workers_{workers}, ledger_store_(workers), links_{workers, {.merge = Model::kRing}} {
        SLUICE_CHECK(workers <= kMostWorkers);
        // Worker 0 is the owner.
        while (owner_of(account_, workers) != 0) {
            ++account_.hash;
        }
        for (std::size_t i = 0; i < workers; ++i) {
            restart(i);
        }
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void take(Transition step) {
        const std::size_t worker = step.worker;
        switch (step.kind) {
            case Transition::Kind::Offer:
                offer(worker, Due::Soon);
                break;
            case Transition::Kind::OfferLate:
                offer(worker, Due::Late);
                break;
            case Transition::Kind::Totals:
                ledgers_[worker]->take_totals(0, ledger_store_[worker], time_of(worker));
                break;
            case Transition::Kind::Serve:
                ledgers_[0]->serve(worker, ledger_store_[0], time_of(0));
                break;
            case Transition::Kind::Send:
                ledgers_[worker]->send_due(0, ledger_store_[worker], time_of(worker));
                break;
            case Transition::Kind::Place:
                ledger_store_[worker].has_place = !ledger_store_[worker].has_place;
                break;
            case Transition::Kind::Restart:
                restart(worker);
                ++restarts_;
                break;
            case Transition::Kind::RestartAll:
                links_ = Links{workers_, {.merge = Model::kRing}};
                lanes_ = DeltaLanes{links_};
                for (std::size_t i = 0; i < workers_; ++i) {
                    restart(i);
                }
                ++restarts_;
                break;
            default:
                now_.at += kTick;
        }
    }

    // nullptr: all is as promised.
    [[nodiscard]] const char* fault() {
        if (model_.is_beyond(workers_ - 1, now_)) {
            return "more was admitted than promised";
        }
        for (const auto& ledger : ledgers()) {
            if (ledger->records().unsynced(ledger_store_[0].charged_in(account_, now_)) >
                Model::kMaxUnsynced) {
                return "more is unsynced than allowed";
            }
        }
        const auto unsynced = [this](Turn turn) {
            std::uint64_t units = 0;
            for (const auto& ledger : ledgers()) {
                const Record* record = ledger->records().find(account_.in(turn));
                units += record == nullptr ? 0 : record->unsynced();
            }
            return units;
        };
        return model_.has_lost(ledger_store_, unsynced, now_) ? "an amount is lost" : nullptr;
    }

    // What any later step depends on.
    [[nodiscard]] std::string state() {
        std::string text;
        const auto add = [&](std::uint64_t value) {
            text.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        model_.add_state(add, now_);
        add(restarts_);
        for (std::size_t i = 0; i < workers_; ++i) {
            ledger_store_[i].add_state(add, now_);
            add(ledger_store_[i].has_place ? 1 : 0);
            for (std::uint32_t at = 0; at < memory_[i].size(); ++at) {
                add_record(ledgers_[i]->records(), at, add);
            }
            if (i != 0) {
                add_lane(lanes_.between(i, 0), add);
            }
        }
        return text;
    }

    // Whether all amounts come to rest in the owner's total, if nobody is in their way.
    [[nodiscard]] bool settles() {
        for (Book& book : ledger_store_) {
            book.has_place = true;
        }
        for (int i = 0; i < 12 + kLongestTicks; ++i) {
            now_.at += kTick;
            for (std::size_t worker = 1; worker < workers_; ++worker) {
                ledgers_[worker]->exchange(ledger_store_[worker], time_of(worker));
            }
            ledgers_[0]->exchange(ledger_store_[0], time_of(0));
        }
        for (const auto& ledger : ledgers()) {
            if (ledger->records().in_use() != 0) {
                return false;
            }
        }
        return fault() == nullptr;
    }
    [[nodiscard]] unsigned restarts() const { return restarts_; }

private:
    [[nodiscard]] std::span<const std::optional<Ledger>> ledgers() const {
        return std::span{ledgers_}.first(workers_);
    }
    [[nodiscard]] Now time_of(std::size_t worker) const { return Model::time_of(worker, now_); }
    template <typename Add>
    void add_record(const RecordPool& records, std::uint32_t at, Add& add) const {
        const Record& record = records.at(at);
        add(record.deltas);
        if (record.deltas != 0) {
            add(Model::age_of(record.account(), now_));
        }
        if (record.unsent() != 0) {
            const bool late = record.due() == Due::Late;
            const Nanoseconds age = records.age(at, now_.at);
            add(late ? 1 : 0);
            add(static_cast<std::uint64_t>(std::min<std::int64_t>(
                age / kTick, late && !records.is_crowded() ? kLongestTicks : 1)));
        }
    }
    template <typename Add>
    void add_lane(DeltaLane& lane, Add& add) const {
        add(lane.deltas.written() - lane.deltas.retired());
        add(lane.deltas.written() - lane.deltas.acknowledged());
        for (std::uint64_t i = lane.deltas.retired(); i < lane.deltas.written(); ++i) {
            add(lane.deltas.kept(i).units);
            add(lane.deltas.kept(i).record);
            Model::add_message(add, lane.deltas.kept(i), now_);
        }
        const std::size_t waiting = lane.totals.waiting(Model::kRing);
        add(waiting);
        for (std::size_t i = 0; i < waiting; ++i) {
            add(lane.totals.peek(i).number - lane.deltas.retired());
            add(static_cast<std::uint64_t>(lane.totals.peek(i).kind));
            Model::add_total(add, lane.totals.peek(i).state, now_);
        }
    }
    void restart(std::size_t worker) {
        if constexpr (requires { ledger_store_[worker].begin_again(); }) {
            ledger_store_[worker].begin_again();
        }
        ledgers_[worker].emplace(worker, lanes_, memory_[worker], now_.at, account_.slot + 1);
        ledgers_[worker]->set(kTick, kLongestTicks * kTick);
    }
    // The way that most packets go.
    void offer_quickly(const Account& account, Now now, Due due) {
        Ledger& ledger = *ledgers_[1];
        Book& book = ledger_store_[1];
        book.max_unsynced = Model::kMaxUnsynced;
        const ChargeAhead ahead{ledger, Book::limit_of(), Model::kMaxUnsynced, now.at};
        const bool done = ahead(
            {account, Units{1}, due, book.entry},
            [&] {
                book.charge(now);
                model_.charge(book, now);
            },
            [&] { return book.copy_of(account, now); });
        if (done) {
            lanes_.between(1, 0).deltas.publish();
        }
    }
    void offer(std::size_t worker, Due due) {
        Ledger& ledger = *ledgers_[worker];
        Book& book = ledger_store_[worker];
        const Now now = time_of(worker);
        const Account account = book.charged_in(account_, now);
        if (!book.admits(now)) {
            return;
        }
        if constexpr (requires { Book::kQuick; }) {
            if (worker == 1) {
                offer_quickly(account, now, due);
                return;
            }
        }
        if (worker != 0 && ledger.credit(account, 1, Model::kMaxUnsynced) != Credit::Enough) {
            return;
        }
        const std::uint32_t record = worker == 0 ? kNoRecord : ledger.note(account, 1, now, due);
        book.charge(now);
        model_.charge(book, now);
        ledger.send_if_much(record, Model::kMaxUnsynced, book.copy_of(account, now), now);
    }

    Account account_{.hash = 1, .slot = 1, .aggregation_level = 0};
    std::size_t workers_;
    std::array<std::array<Record, Model::kRecords>, kMostWorkers> memory_{};
    std::vector<Book> ledger_store_;
    Links links_;
    DeltaLanes lanes_{links_};
    std::array<std::optional<Ledger>, kMostWorkers> ledgers_;
    Now now_{.at = Instant{std::chrono::seconds{1}}};
    Model model_;
    unsigned restarts_ = 0;
};

inline std::vector<Transition> steps_of(std::size_t workers, bool late) {
    std::vector<Transition> steps{{Transition::Kind::Offer, 0},
                                  {Transition::Kind::Restart, 0},
                                  {Transition::Kind::Place, 0},
                                  {Transition::Kind::RestartAll},
                                  {Transition::Kind::Tick}};
    for (std::uint8_t worker = 1; worker < workers; ++worker) {
        for (const Transition::Kind kind :
             {Transition::Kind::Offer, Transition::Kind::Totals, Transition::Kind::Serve,
              Transition::Kind::Send, Transition::Kind::Place, Transition::Kind::Restart}) {
            steps.push_back({kind, worker});
        }
        if (late) {
            steps.push_back({Transition::Kind::OfferLate, worker});
        }
    }
    return steps;
}

inline std::string text_of(const std::vector<Transition>& path) {
    static constexpr std::array<const char*, 10> kNames = {
        "offer", "offer late", "totals",      "serve", "send",
        "place", "restart",    "restart all", "tick",  "end"};
    std::string text;
    for (const Transition& step : path) {
        text += std::string{kNames[static_cast<std::size_t>(step.kind)]} + " " +
                std::to_string(step.worker) + "; ";
    }
    return text;
}

struct Exploration {
    std::size_t workers;
    std::size_t depth;
    unsigned most_restarts;
    bool late = false;  // packets also come whose amounts may wait longer
};

inline bool restarts(const Transition& step) {
    return step.kind == Transition::Kind::Restart || step.kind == Transition::Kind::RestartAll;
}

// Transitions from the first world, and state() of the world that they lead to.
struct Reached {
    std::vector<Transition> path;
    const std::string* state;
};

// Breadth first, so that the first fault is told by a shortest way to it. There are so many worlds
// that each lies where the one before it lay. A step that changes nothing, and not the
// time either, leaves the world to the step after it.
template <typename Model>
std::size_t explore(const Exploration& exploration) {
    std::unordered_set<std::string> seen;
    const std::string nothing;
    std::vector<Reached> level{{{}, &nothing}};
    std::optional<World<Model>> world;
    const std::vector<Transition> steps = steps_of(exploration.workers, exploration.late);
    for (std::size_t depth = 0; depth < exploration.depth; ++depth) {
        std::vector<Reached> next;
        for (const auto& [path, state] : level) {
            bool is_there = false;
            bool may_restart = true;
            for (const Transition& step : steps) {
                if (restarts(step) && !may_restart) {
                    continue;
                }
                if (!is_there) {
                    world.emplace(exploration.workers);
                    for (const Transition& earlier : path) {
                        world->take(earlier);
                    }
                }
                may_restart = world->restarts() < exploration.most_restarts;
                world->take(step);
                const auto [reached, is_new] = seen.insert(world->state());
                is_there = *reached == *state && step.kind != Transition::Kind::Tick;
                if (world->restarts() > exploration.most_restarts || !is_new) {
                    continue;
                }
                std::vector<Transition> longer = path;
                longer.push_back(step);
                if (const char* fault = world->fault()) {
                    ADD_FAILURE() << fault << ": " << text_of(longer);
                    return seen.size();
                }
                if (seen.size() % 16 == 0 && !world->settles()) {
                    ADD_FAILURE() << "does not settle: " << text_of(longer);
                    return seen.size();
                }
                next.push_back({std::move(longer), &*reached});
            }
        }
        level = std::move(next);
    }
    return seen.size();
}

// A sanitizer sees in short courses what it would see in long ones.
inline const std::size_t kShorter = test::rounds(6) == 6 ? 0 : 3;

}  // namespace sluice

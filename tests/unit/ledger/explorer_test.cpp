#include "lib/ledger/ledger.hpp"
#include "lib/ledger/stand.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

// Everything that a few workers and one account can do in so many steps, in every order: packets
// come, time passes, messages wait as long as they like (those of one pair stay in order), owners
// find no place, workers and whole processes are killed and begin again. The production ledger over
// buckets that are as simple as can be.
namespace sluice::explorer_test {
namespace {

constexpr std::uint64_t kBurst = 3;
constexpr std::uint64_t kMaxUnsynced = 2;
constexpr Nanoseconds kTick{1'024'000};  // no less than a merge interval

// One unit in two ticks.
const Limit& limit() {
    static const Limit kLimit = *Limit::make({Units{1}, 2 * kTick}, Units{kBurst});
    return kLimit;
}

// One account's bucket at one worker, which is forgotten as soon as it equals a fresh one.
struct OneBook {
    Gcra bucket;
    bool has_place = true;  // for a bucket that is not there

    static void prefetch(const Account&) noexcept {}
    [[nodiscard]] static bool shares(const Account&) noexcept { return true; }
    Stand copy_of(const Account&, Now now) noexcept {
        return {bucket.fresh_from <= now.at ? Gcra{} : bucket, 0};
    }
    bool apply(const Amount& amount, Now now, Stand& total) noexcept {
        if (bucket.fresh_from <= now.at && !has_place) {
            return false;
        }
        bucket = charged(bucket, limit(), {amount.at, amount.units}, now.at);
        total = {bucket, 0};
        return true;
    }
    bool raise(const Account&, const Stand& total, std::uint64_t units, Now now) noexcept {
        const Instant before = total.bucket.fresh_from - Nanoseconds{1};
        const Gcra owed = charged(total.bucket, limit(), {std::min(now.at, before), units}, now.at);
        if (owed.fresh_from > now.at && bucket.fresh_from <= now.at && !has_place) {
            return false;
        }
        bucket = owes_more(owed, bucket) ? owed : bucket;
        return true;
    }
};
static_assert(Books<OneBook>);

struct Step {
    enum class Kind : std::uint8_t {
        Offer,
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

class World {
public:
    explicit World(std::size_t workers)
        : memory_(workers, std::vector<Record>(1)), books_(workers), lanes_{workers, 2} {
        // Worker 0 is the owner.
        while (owner_of(account_, workers) != 0) {
            ++account_.hash;
        }
        ledgers_.resize(workers);
        for (std::size_t i = 0; i < workers; ++i) {
            restart(i);
        }
    }

    void take(Step step) {
        const std::size_t worker = step.worker;
        switch (step.kind) {
            case Step::Kind::Offer:
                offer(worker);
                break;
            case Step::Kind::Totals:
                ledgers_[worker]->take_totals(0, books_[worker], now_);
                break;
            case Step::Kind::Serve:
                ledgers_[0]->serve(worker, books_[0], now_);
                break;
            case Step::Kind::Send:
                ledgers_[worker]->send_due(0, books_[worker], now_);
                break;
            case Step::Kind::Place:
                books_[worker].has_place = !books_[worker].has_place;
                break;
            case Step::Kind::Restart:
                restart(worker);
                ++restarts_;
                break;
            case Step::Kind::RestartAll:
                lanes_ = AmountLanes{ledgers_.size(), 2};
                for (std::size_t i = 0; i < ledgers_.size(); ++i) {
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
        const std::size_t others = ledgers_.size() - 1;
        if (debt_of(exact_, limit(), now_.at) >
            limit().full() + others * kMaxUnsynced * limit().period()) {
            return "more was admitted than promised";
        }
        std::uint64_t unsynced = 0;
        for (const auto& ledger : ledgers_) {
            const Record* record = ledger->records().find(account_);
            const std::uint64_t of_one = record == nullptr ? 0 : record->unsynced();
            if (of_one > kMaxUnsynced) {
                return "more is unsynced than allowed";
            }
            unsynced += of_one;
        }
        const std::uint64_t known = debt_of(books_[0].bucket, limit(), now_.at);
        return known + unsynced * limit().period() < debt_of(exact_, limit(), now_.at)
                   ? "an amount is lost"
                   : nullptr;
    }

    // What any later step depends on.
    [[nodiscard]] std::string state() {
        std::string text;
        const auto add = [&](std::uint64_t value) {
            text.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        const auto add_bucket = [&](const Gcra& bucket) { add(debt_of(bucket, limit(), now_.at)); };
        add_bucket(exact_);
        add(restarts_);
        for (std::size_t i = 0; i < ledgers_.size(); ++i) {
            add_bucket(books_[i].bucket);
            add(books_[i].has_place ? 1 : 0);
            const Record* record = ledgers_[i]->records().find(account_);
            add(record == nullptr ? 0 : record->amounts);
            add(record == nullptr || record->unsent() == 0
                    ? 0
                    : std::min<std::uint64_t>(1,
                                              static_cast<std::uint64_t>(
                                                  ledgers_[i]->records().age(0, now_.at).count())));
            if (i != 0) {
                add_lane(lanes_.between(i, 0), add, add_bucket);
            }
        }
        return text;
    }

    // Whether all amounts come to rest in the owner's total, if nobody is in their way.
    [[nodiscard]] bool settles() {
        for (OneBook& book : books_) {
            book.has_place = true;
        }
        for (int i = 0; i < 12; ++i) {
            now_.at += kTick;
            for (std::size_t worker = 1; worker < ledgers_.size(); ++worker) {
                ledgers_[worker]->exchange(books_[worker], now_);
            }
            ledgers_[0]->exchange(books_[0], now_);
        }
        for (const auto& ledger : ledgers_) {
            if (ledger->records().in_use() != 0) {
                return false;
            }
        }
        return fault() == nullptr;
    }
    [[nodiscard]] unsigned restarts() const { return restarts_; }

private:
    template <typename Add, typename AddBucket>
    static void add_lane(AmountLane& lane, Add& add, AddBucket& add_bucket) {
        add(lane.amounts.written() - lane.amounts.retired());
        add(lane.amounts.written() - lane.amounts.acknowledged());
        for (std::uint64_t i = lane.amounts.retired(); i < lane.amounts.written(); ++i) {
            add(lane.amounts.kept(i).units);
            add_bucket(lane.amounts.kept(i).held);
            add_bucket({lane.amounts.kept(i).at, 0});
        }
        const std::size_t waiting = lane.totals.waiting(2);
        add(waiting);
        for (std::size_t i = 0; i < waiting; ++i) {
            add(lane.totals.peek(i).number - lane.amounts.retired());
            add(static_cast<std::uint64_t>(lane.totals.peek(i).kind));
            add_bucket(lane.totals.peek(i).bucket);
        }
    }
    void restart(std::size_t worker) {
        ledgers_[worker] = std::make_unique<Ledger>(worker, lanes_, memory_[worker], now_.at);
    }
    // The way that most packets go.
    void offer_quickly(Ledger& ledger, OneBook& book) {
        const Ledger::Ahead ahead = ledger.go_ahead(account_, 1, kMaxUnsynced, now_);
        if (ahead.record == kNoRecord) {
            return;
        }
        charge(book.bucket, limit(), now_.at, Units{1});
        exact_ = charged(exact_, limit(), {now_.at, 1}, now_.at);
        ledger.tell(ahead, account_, {book.bucket, 0}, now_);
        lanes_.between(1, 0).amounts.publish();
    }
    void offer(std::size_t worker) {
        Ledger& ledger = *ledgers_[worker];
        OneBook& book = books_[worker];
        if (!admits(book.bucket, limit(), now_.at, Units{1})) {
            return;
        }
        if (worker == 1) {
            offer_quickly(ledger, book);
            return;
        }
        if (worker != 0 && ledger.credit(account_, 1, kMaxUnsynced) != Credit::Enough) {
            return;
        }
        const std::uint32_t record = worker == 0 ? kNoRecord : ledger.note(account_, 1, now_);
        charge(book.bucket, limit(), now_.at, Units{1});
        exact_ = charged(exact_, limit(), {now_.at, 1}, now_.at);
        ledger.send_if_much(record, kMaxUnsynced, {book.bucket, 0}, now_);
    }

    Account account_{.hash = 1, .slot = 1, .step = 0};
    std::vector<std::vector<Record>> memory_;
    std::vector<OneBook> books_;
    AmountLanes lanes_;
    std::vector<std::unique_ptr<Ledger>> ledgers_;
    Now now_{.at = Instant{std::chrono::seconds{1}}};
    Gcra exact_;
    unsigned restarts_ = 0;
};

std::vector<Step> steps_of(std::size_t workers) {
    std::vector<Step> steps{{Step::Kind::Offer, 0},
                            {Step::Kind::Restart, 0},
                            {Step::Kind::Place, 0},
                            {Step::Kind::RestartAll},
                            {Step::Kind::Tick}};
    for (std::uint8_t worker = 1; worker < workers; ++worker) {
        for (const Step::Kind kind : {Step::Kind::Offer, Step::Kind::Totals, Step::Kind::Serve,
                                      Step::Kind::Send, Step::Kind::Place, Step::Kind::Restart}) {
            steps.push_back({kind, worker});
        }
    }
    return steps;
}

std::string text_of(const std::vector<Step>& path) {
    static constexpr std::array<const char*, 9> kNames = {
        "offer", "totals", "serve", "send", "place", "restart", "restart all", "tick", "end"};
    std::string text;
    for (const Step& step : path) {
        text += std::string{kNames[static_cast<std::size_t>(step.kind)]} + " " +
                std::to_string(step.worker) + "; ";
    }
    return text;
}

struct Exploration {
    std::size_t workers;
    std::size_t depth;
    unsigned most_restarts;
};

// Breadth first, so that the first fault is told by a shortest way to it.
std::size_t explore(const Exploration& exploration) {
    std::unordered_set<std::string> seen;
    std::vector<std::vector<Step>> level{{}};
    const std::vector<Step> steps = steps_of(exploration.workers);
    for (std::size_t depth = 0; depth < exploration.depth; ++depth) {
        std::vector<std::vector<Step>> next;
        for (const std::vector<Step>& path : level) {
            for (const Step& step : steps) {
                std::vector<Step> longer = path;
                longer.push_back(step);
                std::unique_ptr<World> world = std::make_unique<World>(exploration.workers);
                for (const Step& earlier : longer) {
                    world->take(earlier);
                }
                if (world->restarts() > exploration.most_restarts ||
                    !seen.insert(world->state()).second) {
                    continue;
                }
                if (const char* fault = world->fault()) {
                    ADD_FAILURE() << fault << ": " << text_of(longer);
                    return seen.size();
                }
                if (seen.size() % 16 == 0 && !world->settles()) {
                    ADD_FAILURE() << "does not settle: " << text_of(longer);
                    return seen.size();
                }
                next.push_back(std::move(longer));
            }
        }
        level = std::move(next);
    }
    return seen.size();
}

// A sanitizer sees in short courses what it would see in long ones.
constexpr std::size_t kShorter = test::rounds(6) == 6 ? 0 : 3;

TEST(Explorer, TwoWorkers) {
    const std::size_t states = explore({.workers = 2, .depth = 13 - kShorter, .most_restarts = 1});
    RecordProperty("states", static_cast<int>(states));
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, ThreeWorkers) {
    const std::size_t states = explore({.workers = 3, .depth = 8 - kShorter, .most_restarts = 1});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

TEST(Explorer, FourWorkersWithoutRestarts) {
    const std::size_t states = explore({.workers = 4, .depth = 6 - kShorter, .most_restarts = 0});
    std::printf("%zu states\n", states);
    EXPECT_GT(states, kShorter == 0 ? 10'000U : 100U);
}

}  // namespace
}  // namespace sluice::explorer_test

#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

// Everything that two workers and one key can do in so many steps, in every order, over the
// production pipeline: packets come, workers tell each other or do not, tables fill up and empty
// again, rules with other places for the key are loaded, and moves end. After each course the key
// is flooded where its packets come by then: all that ever passed is within the promise.
namespace sluice::debt_migration_explorer_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{100h};
constexpr std::size_t kWorkers = 2;
constexpr std::size_t kHome = 1;  // whom the key comes to while it is local
constexpr std::uint64_t kCount = 8;
constexpr std::uint64_t kMaxUnsynced = 2;
constexpr std::uint64_t kPromised = kCount + (kWorkers - 1) * kMaxUnsynced;

enum class Place : std::uint8_t { Local, Merged };

std::string rules(Place place, const std::string& limit) {
    const std::string text =
        "version: 1\ndefaults: {mode: enforce, on_full: closed}\nrules:\n"
        "  - id: r\n    when: ip.dst ne 192.0.2.97\n    key: [ip.src]\n    max_unsynced: 2\n"
        "    limits: [" +
        limit +
        "]\n"
        "  - id: filler\n    when: ip.dst eq 192.0.2.97\n    key: [ip.src]\n"
        "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n";
    return place == Place::Local
               ? text
               : text +
                     "  - {id: other, when: ip.dst eq 192.0.2.98, key: [ip.dst], limits: "
                     "[{algorithm: token_bucket, rate: 1000/s, burst: 3}]}\n";
}

struct Step {
    enum class Kind : std::uint8_t { Offer, Turn, Fill, Tick, Begin, Move, Apply };
    Kind kind;
    std::uint8_t worker = 0;
};

constexpr auto kSteps = std::to_array<Step>({{Step::Kind::Offer, 0},
                                             {Step::Kind::Offer, 1},
                                             {Step::Kind::Turn, 0},
                                             {Step::Kind::Turn, 1},
                                             {Step::Kind::Fill, 0},
                                             {Step::Kind::Fill, 1},
                                             {Step::Kind::Tick},
                                             {Step::Kind::Begin},
                                             {Step::Kind::Move},
                                             {Step::Kind::Apply}});

std::string text_of(const std::vector<Step>& path) {
    constexpr auto kNames =
        std::to_array<const char*>({"offer", "turn", "fill", "tick", "begin", "move", "apply"});
    std::string text;
    for (const Step& step : path) {
        text += std::string{kNames[static_cast<std::size_t>(step.kind)]} + " " +
                std::to_string(step.worker) + "; ";
    }
    return text;
}

class World {
public:
    // The key has spent some at home.
    explicit World(const std::string& limit)
        : limit_{limit},
          workers_{rules(place_, limit), kWorkers, {.keys = 1, .lines = 16, .records = 8}} {
        offer(kHome, 3);
    }

    // False: nothing would change.
    bool take(Step step) {
        switch (step.kind) {
            case Step::Kind::Offer:
                if (place_ == Place::Local && step.worker != kHome) {
                    return false;
                }
                offer(step.worker, 3);
                return true;
            case Step::Kind::Turn:
                workers_.poll(step.worker, now_);
                return true;
            case Step::Kind::Fill:
                fill(step.worker);
                return true;
            case Step::Kind::Tick:
                now_ += 10s;
                workers_.sweep(now_);
                return true;
            case Step::Kind::Begin:
            case Step::Kind::Apply:
                place_ = place_ == Place::Local ? Place::Merged : Place::Local;
                EXPECT_TRUE(workers_.begin_apply(rules(place_, limit_)));
                if (step.kind == Step::Kind::Apply) {
                    workers_.move();
                }
                return true;
            default:
                const bool moves = workers_.is_migrating();
                workers_.move();
                return moves;
        }
    }
    // What any later step depends on.
    [[nodiscard]] std::string state() {
        std::string text;
        const auto add = [&text](std::uint64_t value) { text += std::to_string(value) + ","; };
        add(passed_);
        add(place_ == Place::Local ? 0 : 1);
        add(workers_.limit().migrating_to
                ? 1 + static_cast<std::uint64_t>(*workers_.limit().migrating_to)
                : 0);
        add_slot(add, workers_.limit().slot);
        for (const MigratedFrom& from : workers_.limit().migrated_from) {
            add(100 + static_cast<std::uint64_t>(from.combine));
            add_slot(add, from.slot);
        }
        add(filled_[0] > now_ - 2s ? 1 : 0);
        add(filled_[1] > now_ - 2s ? 1 : 0);
        return text;
    }
    // Whether the key gets more than it should, once it has had all that it can get here. Where
    // workers tell each other nothing, each of them sees all that is owed.
    [[nodiscard]] bool gets_too_much() {
        const std::uint64_t before = passed_;
        const bool is_shared = workers_.limit().shared != 0;
        for (std::uint8_t at = 0; at < kWorkers; ++at) {
            if (place_ == Place::Merged || at == kHome) {
                offer(at, kPromised);
            }
        }
        return passed_ > (is_shared ? kPromised : std::max(before, kCount));
    }
    [[nodiscard]] std::uint64_t passed() const { return passed_; }

private:
    void offer(std::size_t at, std::uint64_t packets) {
        for (std::uint64_t i = 0; i < packets; ++i) {
            passed_ += workers_.judge(at, frame_, now_).verdict == Verdict::Pass ? 1 : 0;
        }
    }
    void fill(std::size_t at) {
        for (int host = 1; host <= 8; ++host) {
            const std::string source = "10.9.0." + std::to_string(host);
            (void)workers_.judge(at, test::udp().src(source).dst("192.0.2.97").bytes(), now_);
        }
        filled_[at] = now_;
    }
    // The key's bucket and amounts at each worker, and how far its messages have come.
    template <typename Add>
    void add_slot(Add& add, LimitSlot slot) {
        const TableKey key{hash_, slot};
        add(owner_of(Account{.hash = hash_.hash, .slot = slot}, kWorkers));
        for (std::size_t at = 0; at < kWorkers; ++at) {
            const BucketStore& store = workers_.buckets(at);
            const Entry entry = store.keys.peek(key);
            add(entry.empty() ? 0 : 1);
            add(entry.empty()
                    ? 0
                    : store.registry.used_of(entry, store.registry.pool(), {now_, {}}).count());
            add(store.unsynced()->of({key}).count());
            DeltaLane& lane = workers_.lanes().between(at, 1 - at);
            add(lane.deltas.waiting(8));
            add(lane.totals.waiting(8));
        }
    }

    std::string limit_;
    Place place_ = Place::Local;
    Workers workers_;
    Instant now_ = kStart;
    std::array<Instant, kWorkers> filled_{};
    std::uint64_t passed_ = 0;
    const std::vector<std::byte> frame_ = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    GroupKey hash_ = workers_.hash_of("10.0.0.1");
};

// Breadth first, so that the first fault is told by a shortest course to it.
std::size_t explore(const std::string& limit, std::size_t depth) {
    std::unordered_set<std::string> seen;
    std::vector<std::vector<Step>> level{{}};
    for (std::size_t i = 0; i < depth; ++i) {
        std::vector<std::vector<Step>> next;
        for (const std::vector<Step>& path : level) {
            for (const Step& step : kSteps) {
                auto world = std::make_unique<World>(limit);
                for (const Step& earlier : path) {
                    (void)world->take(earlier);
                }
                if (!world->take(step) || !seen.insert(world->state()).second) {
                    continue;
                }
                std::vector<Step> longer = path;
                longer.push_back(step);
                if (world->gets_too_much()) {
                    ADD_FAILURE() << world->passed() << " of " << kCount << ": " << text_of(longer);
                    return seen.size();
                }
                next.push_back(std::move(longer));
            }
        }
        level = std::move(next);
    }
    return seen.size();
}

constexpr auto kLimits =
    std::to_array<const char*>({"{algorithm: sliding_counters, count: 8, window: 10h, buckets: 9}",
                                "{algorithm: fixed_window, count: 8, window: 100h}",
                                "{algorithm: token_bucket, rate: 1/h, burst: 8}"});

TEST(MovingExplorer, PlacesAreWhatTheyAreCalled) {
    for (const char* limit : kLimits) {
        EXPECT_EQ((Workers{rules(Place::Local, limit), kWorkers}.limit().shared), 0U) << limit;
        EXPECT_EQ((Workers{rules(Place::Merged, limit), kWorkers}.limit().shared), kMaxUnsynced);
    }
}

TEST(MovingExplorer, NoCourseOfReloadsGivesAKeyMoreThanIsPromised) {
    const bool at_length = test::rounds(6) == 6;
    const std::size_t depth = at_length ? 5 : 3;
    for (const char* limit : kLimits) {
        const std::size_t states = explore(limit, depth);
        std::printf("%s: %zu states\n", limit, states);
        EXPECT_GT(states, at_length ? 500U : 50U);
    }
}

}  // namespace
}  // namespace sluice::debt_migration_explorer_test

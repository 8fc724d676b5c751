#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>

// Reloads that bring keys to other workers while amounts are still on their way and the pools have
// no line left: what is admitted of a key stays within what is promised of its limit.
namespace sluice::debt_migration_late_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{100h};
constexpr std::size_t kWorkers = 4;
constexpr std::uint64_t kCount = 500;
constexpr std::uint64_t kMaxUnsynced = 5;
constexpr std::uint64_t kPromised = kCount + (kWorkers - 1) * kMaxUnsynced;

enum class Place : std::uint8_t { Local, Merged };
// Whether all have come to their owners when keys have moved, or may still be on their way.
enum class Amounts : std::uint8_t { There, Late };

// Of one rule over sources; another rule beside it steers some of its packets, so it is merged.
std::string rules(Place place, const std::string& limit) {
    std::string text =
        "version: 1\ndefaults: {mode: enforce}\nrules:\n  - id: r\n    when: ip.dst ne "
        "192.0.2.99\n    key: [ip.src]\n    max_unsynced: 5\n    on_full: closed\n    limits: [" +
        limit + "]\n";
    if (place == Place::Merged) {
        text +=
            "  - {id: other, when: ip.dst eq 192.0.2.98, key: [ip.dst], limits: "
            "[{algorithm: token_bucket, rate: 1000/s, burst: 3}]}\n";
    }
    return text;
}

const std::vector<std::byte> kFrame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();

std::uint64_t pass_at(Workers& workers, std::size_t at, int packets, Instant now) {
    std::uint64_t passed = 0;
    for (int i = 0; i < packets; ++i) {
        passed += workers.judge(at, kFrame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return passed;
}

// A key, others that take the lines of the pools, and reloads; all at random.
class Course {
public:
    Course(std::string limit, Amounts amounts, unsigned seed)
        : random_{seed},
          limit_{std::move(limit)},
          amounts_{amounts},
          workers_{rules(place_, limit_), kWorkers, {.keys = 64, .lines = 16 + 48 * (seed % 2)}} {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i, now_ += Nanoseconds{below(2'000'000)}) {
            step();
        }
        workers_.move();
        for (int i = 0; i < 300; ++i, now_ += 2ms) {
            spend(4);
            workers_.turns(now_);
        }
    }
    [[nodiscard]] std::uint64_t passed() const { return passed_; }

private:
    std::uint64_t below(std::uint64_t count) { return random_() % count; }
    void spend(std::uint64_t packets) {
        for (std::uint64_t i = 0; i < packets; ++i) {
            const std::size_t at = place_ == Place::Local ? 1 : below(kWorkers);
            passed_ += pass_at(workers_, at, 1, now_);
        }
    }
    void fill(std::size_t at, std::uint64_t keys) {
        for (std::uint64_t i = 0; i < keys; ++i) {
            const std::string host = "10.9.0." + std::to_string(below(200));
            (void)workers_.judge(at, test::udp().src(host).dst("192.0.2.1").bytes(), now_);
        }
    }
    void reload() {
        place_ = place_ == Place::Local ? Place::Merged : Place::Local;
        ASSERT_TRUE(workers_.begin_apply(rules(place_, limit_)));
    }
    void step() {
        switch (below(8)) {
            case 0:
                reload();
                break;
            case 1:
                if (amounts_ == Amounts::Late) {
                    workers_.move();
                } else {
                    workers_.end_apply(now_);
                }
                break;
            case 2:
                fill(below(kWorkers), 1 + below(20));
                break;
            case 3:
            case 4:
                workers_.poll(below(kWorkers), now_);
                break;
            default:
                spend(below(30));
        }
    }

    std::mt19937 random_;
    std::string limit_;
    Amounts amounts_;
    Place place_ = Place::Local;
    Workers workers_;
    Instant now_ = kStart;
    std::uint64_t passed_ = 0;
};

// How many units of a key at most, over so many courses.
std::uint64_t most_passed(const char* limit, Amounts amounts) {
    constexpr int kSteps = 80;
    std::uint64_t most = 0;
    unsigned worst = 0;
    for (unsigned seed = 1; seed <= static_cast<unsigned>(test::rounds(120)); ++seed) {
        Course course{limit, amounts, seed};
        course.run(kSteps);
        if (course.passed() > most) {
            most = course.passed();
            worst = seed;
        }
    }
    std::printf("%s: %ju units at most, by seed %u\n", limit, static_cast<std::uintmax_t>(most),
                worst);
    return most;
}

constexpr auto kLimits = std::to_array<const char*>(
    {"{algorithm: sliding_counters, count: 500, window: 10h, buckets: 9}",
     "{algorithm: fixed_window, count: 500, window: 100h}",
     "{algorithm: sliding_window, count: 500, window: 100h}",
     "{algorithm: token_bucket, rate: 1/h, burst: 500}"});

TEST(MovingLate, AKeyHasNoMoreThanIsPromised) {
    for (const char* limit : kLimits) {
        EXPECT_LE(most_passed(limit, Amounts::There), kPromised) << limit;
    }
}

TEST(MovingLate, NeitherWhileAmountsAreOnTheirWay) {
    for (const char* limit : kLimits) {
        EXPECT_LE(most_passed(limit, Amounts::Late), kPromised) << limit;
    }
}

// The owner of the key sees it for the first time by an amount of a slot that it has left: the
// bucket that it places owes what the key owed in the slot before.
TEST(MovingLate, AnAmountOfAFormerSlotFindsTheDebtBeforeIt) {
    constexpr int kUsed = 230;
    for (const char* limit : kLimits) {
        for (std::size_t sender = 0; sender < kWorkers; ++sender) {
            Workers workers{rules(Place::Local, limit), kWorkers};
            std::uint64_t passed = pass_at(workers, 1, kUsed, kStart);
            workers.apply(rules(Place::Merged, limit), kStart);
            passed += pass_at(workers, sender, 1, kStart);
            ASSERT_TRUE(workers.begin_apply(rules(Place::Local, limit)));
            workers.move();
            workers.turns(kStart + 5s);
            passed += pass_at(workers, 1, 2 * static_cast<int>(kCount), kStart + 5s);
            EXPECT_EQ(passed, kCount) << limit << ", sent by " << sender;
        }
    }
}

// Of a key that finds no place, the network is charged with what the key owed once, however often
// it comes while an amount is on its way.
TEST(MovingLate, ANetworkOwesWhatIsOnItsWayOnce) {
    const std::string limit = "{algorithm: token_bucket, rate: 1/h, burst: 500}";
    const auto coarse = [&limit](Place place) {
        std::string text = rules(place, limit);
        const std::string closed = "on_full: closed";
        return text.replace(text.find(closed), closed.size(), "on_full: {coarsen: {factor: 4}}");
    };
    Workers workers{coarse(Place::Merged), kWorkers, {.keys = 1}};
    std::uint64_t passed = 0;
    for (std::size_t at = 0; at < kWorkers; ++at) {
        passed += pass_at(workers, at, 3, kStart);
    }
    EXPECT_EQ(passed, 3 * kWorkers);
    ASSERT_TRUE(workers.begin_apply(coarse(Place::Local)));
    workers.move();
    for (int host = 1; host <= 9; ++host) {
        const std::string source = "10.9.0." + std::to_string(host);
        (void)workers.judge(1, test::udp().src(source).dst("192.0.2.1").bytes(), kStart);
    }
    passed += pass_at(workers, 1, 400, kStart);
    EXPECT_EQ(passed, 3 * kWorkers + 400);
    workers.turns(kStart + 5s);
    passed += pass_at(workers, 1, 4 * static_cast<int>(kCount), kStart + 5s);
    EXPECT_LE(passed, 4 * kCount);
    // By then its former bucket here has ended, whose place it finds.
    EXPECT_GE(passed, 400 + kCount);
}

// A bucket may be forgotten while its last amount is on its way: its slot is nobody else's by then.
TEST(MovingLate, ASlotIsKeptUntilItsAmountsHaveArrived) {
    const std::string limit = "{algorithm: token_bucket, rate: 1000/s, burst: 500}";
    Workers workers{rules(Place::Merged, limit), kWorkers};
    for (std::size_t at = 0; at < kWorkers; ++at) {
        EXPECT_EQ(pass_at(workers, at, 1, kStart), 1U);
    }
    const LimitSlot slot = workers.limit().slot;
    const Instant later = kStart + 2s;
    workers.sweep(later);
    EXPECT_EQ(workers.live_entries(slot), 0U);
    EXPECT_EQ(workers.unsynced(), kWorkers - 1);
    ASSERT_TRUE(workers.begin_apply(rules(Place::Local, limit)));
    workers.move();
    const auto is_kept = [&] {
        EXPECT_TRUE(workers.begin_apply(rules(Place::Local, limit)));
        const SlotsImage slots = workers.slots();
        return std::any_of(slots.moved.begin(), slots.moved.end(),
                           [slot](const LoadedLimit& moved) { return moved.slot == slot; });
    };
    EXPECT_TRUE(is_kept());
    workers.turns(later + 5s);
    EXPECT_EQ(workers.unsynced(), 0U);
    workers.sweep(later + 10s);
    EXPECT_FALSE(is_kept());
}

}  // namespace
}  // namespace sluice::debt_migration_late_test

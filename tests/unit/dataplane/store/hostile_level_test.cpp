#include "tests/unit/peer/merge/workers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>

// What an answer of the store can do to a copy, whoever has made it.
namespace sluice::hostile_level_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr std::uint64_t kBurst = 1'000;
constexpr std::uint64_t kBox = 20;

class Told {
public:
    explicit Told(const AnyLimit& limit)
        : workers_{{.limit = limit, .max_unsynced = kBox}, {.workers = 1, .box_unsynced = kBox}} {}

    // Spends what is told at once; the amount, as the store hears it.
    StoreAmount spend() {
        for (std::uint64_t i = 0; i < kBox / 2; ++i) {
            EXPECT_TRUE(workers_.offer(0, 0, 1, kStart));
        }
        workers_.poll(0, kStart);
        StoreLane& lane = *workers_.lanes().store(0);
        EXPECT_EQ(lane.amounts.waiting(9), 1U);
        const StoreAmount amount = lane.amounts.peek(0);
        lane.amounts.done(1);
        return amount;
    }
    void answer(const StoreTotal& total) {
        StoreLane& lane = *workers_.lanes().store(0);
        *lane.totals.next() = total;
        lane.totals.commit();
        lane.totals.publish();
        workers_.poll(0, kStart);
    }
    Workers& workers() { return workers_; }

private:
    Workers workers_;
};

StoreTotal to(const StoreAmount& amount) {
    return {.account = amount.account,
            .units = amount.units,
            .record = amount.record,
            .current = amount.units,
            .epoch = amount.epoch};
}

AnyLimit bucket() {
    return TokenBucketLimit{*Limit::make({Units{1}, 1s}, Units{kBurst})};
}
AnyLimit window() {
    return *make_fixed_window(*make_window_numbers(Units{kBurst}, 60s), WindowPhase::Clock, 0s);
}

TEST(HostileLevel, ALevelMakesNoCopyOweMoreThanTwoBursts) {
    Told told{bucket()};
    const StoreAmount amount = told.spend();
    EXPECT_EQ(amount.units, kBox / 2);
    EXPECT_EQ(amount.numbers.period, 1'000'000'000U);
    StoreTotal total = to(amount);
    total.current = std::numeric_limits<std::uint64_t>::max();
    told.answer(total);
    EXPECT_EQ(told.workers().most_unsynced(0), 0U);
    EXPECT_LE(told.workers().debt_at(0, 0, kStart), 2 * told.workers().limit().full());
    EXPECT_FALSE(told.workers().offer(0, 0, 1, kStart));
}

TEST(HostileLevel, ALowLevelLoosensNothing) {
    Told told{bucket()};
    StoreTotal total = to(told.spend());
    const std::uint64_t before = told.workers().debt_at(0, 0, kStart);
    total.current = 0;
    told.answer(total);
    EXPECT_EQ(told.workers().debt_at(0, 0, kStart), before);
}

TEST(HostileLevel, AnAnswerToWhatIsNotUnderWaySettlesNothing) {
    Told told{bucket()};
    const StoreAmount amount = told.spend();
    StoreTotal total = to(amount);
    total.units = amount.units + 1;
    told.answer(total);
    total = to(amount);
    total.record = 7;
    told.answer(total);
    total.record = 1U << 30;
    told.answer(total);
    total = to(amount);
    total.account.hash ^= 1;
    told.answer(total);
    EXPECT_EQ(told.workers().most_unsynced(0), kBox / 2);
    EXPECT_EQ(told.workers().sum(LedgerEvent::StoreUnknown), 4U);
    told.answer(to(amount));
    told.answer(to(amount));
    EXPECT_EQ(told.workers().most_unsynced(0), 0U);
    EXPECT_EQ(told.workers().sum(LedgerEvent::StoreUnknown), 5U);
}

TEST(HostileLevel, AWindowIsNotOpenedAheadOfItsTime) {
    Told told{window()};
    const StoreAmount amount = told.spend();
    EXPECT_EQ(amount.numbers.lasts, 1U);
    EXPECT_EQ(amount.epoch, 60);
    StoreTotal total = to(amount);
    total.epoch = amount.epoch + 1'000;
    told.answer(total);
    EXPECT_EQ(told.workers().copy_of(0, 0, kStart).counts.epoch, 60);
    EXPECT_EQ(told.workers().sum(LedgerEvent::Returned), 1U);
}

}  // namespace
}  // namespace sluice::hostile_level_test

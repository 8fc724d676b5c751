#include "lib/bucket/meter/penalty.hpp"

#include "lib/bucket/meter/any_meter.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace sluice::penalty_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr GroupKey kKey{7};

AnyLimit penalty(std::uint64_t after, Nanoseconds within, Nanoseconds lasts) {
    return *make_penalty(Units{after}, within, lasts);
}

// One key's place in the box, as the pipeline uses it.
struct Place {
    AnyLimit limit;
    LinePool& pool;
    Cell cell{};

    Place(const AnyLimit& of, LinePool& in, Instant now) : limit{of}, pool{in} {
        EXPECT_TRUE(open_bucket(cell, limit, pool, kKey, {now, {}}));
    }
    // A refusal. Whether the key is banned afterwards.
    bool refuse(Instant now) {
        const Conformance conformance = check(cell, limit, pool, {now, {}}, {Units{1}});
        EXPECT_EQ(conformance == Conformance::Red, PenaltyMeter::banned(cell, now));
        if (conformance == Conformance::Green) {
            charge(cell, limit, pool, {now, {}}, {Units{1}});
        }
        return PenaltyMeter::banned(cell, now);
    }
    [[nodiscard]] std::uint64_t left(Instant now) const {
        return remaining(cell, limit, pool, {now, {}}).count();
    }
    [[nodiscard]] Nanoseconds rest(Instant now) const {
        return *wait(cell, limit, pool, {now, {}}, {Units{1}});
    }
};

TEST(Penalty, TheLastOfSoManyWithinTheTimeBans) {
    LinePool pool{64};
    Place place{penalty(3, 10s, 60s), pool, kStart};
    EXPECT_FALSE(place.refuse(kStart));
    EXPECT_EQ(place.left(kStart), 2U);
    EXPECT_EQ(place.cell.fresh_from, kStart + 10s);
    EXPECT_FALSE(place.refuse(kStart + 5s));
    // The first is just too old.
    EXPECT_FALSE(place.refuse(kStart + 10s));
    EXPECT_TRUE(place.refuse(kStart + 15s - 1ns));
    EXPECT_EQ(place.rest(kStart + 15s - 1ns), 60s);
    EXPECT_EQ(place.left(kStart + 15s), 0U);
    EXPECT_EQ(place.cell.fresh_from, kStart + 75s - 1ns);
    // It takes no memory but its entry, and is not prolonged.
    EXPECT_EQ(pool.free(), pool.size());
    EXPECT_TRUE(place.refuse(kStart + 30s));
    EXPECT_EQ(place.rest(kStart + 75s - 2ns), 1ns);
    // Its end is a new beginning.
    EXPECT_FALSE(place.refuse(kStart + 75s - 1ns));
    EXPECT_EQ(place.left(kStart + 75s), 2U);
    close_bucket(place.cell, place.limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

TEST(Penalty, AFirstRefusalCanBeEnough) {
    LinePool pool{1};
    Place place{penalty(1, 1s, 60s), pool, kStart};
    EXPECT_EQ(pool.free(), 1U);
    EXPECT_EQ(place.rest(kStart), 0ns);
    EXPECT_TRUE(place.refuse(kStart));
    EXPECT_FALSE(PenaltyMeter::banned(place.cell, kStart + 60s));
    EXPECT_TRUE(place.refuse(kStart + 60s));
}

// Every refusal with its instant, counted by hand.
TEST(Penalty, AgreesWithAListOfAllRefusals) {
    std::mt19937_64 dice{11};
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t after = 1 + dice() % 12;
        const Nanoseconds within{1'000'000 + static_cast<std::int64_t>(dice() % 1'000'000)};
        const Nanoseconds lasts{1'000'000 + static_cast<std::int64_t>(dice() % 3'000'000)};
        LinePool pool{64};
        Place place{penalty(after, within, lasts), pool, kStart};
        std::deque<Instant> refusals;
        Instant banned_until{};
        Instant now = kStart;
        for (int i = 0; i < 300; ++i) {
            now += Nanoseconds{static_cast<std::int64_t>(dice() % 3 == 0 ? 0 : dice() % 400'000)};
            const bool was_banned = now < banned_until;
            if (!was_banned) {
                refusals.push_back(now);
                while (refusals.front() + within <= now) {
                    refusals.pop_front();
                }
                if (refusals.size() >= after) {
                    refusals.clear();
                    banned_until = now + lasts;
                }
            }
            ASSERT_EQ(place.refuse(now), now < banned_until) << round << " " << i;
            ASSERT_EQ(place.left(now), now < banned_until ? 0 : after - refusals.size());
            ASSERT_EQ(place.rest(now), std::max(banned_until - now, Nanoseconds{0}));
        }
        close_bucket(place.cell, place.limit, pool);
        ASSERT_EQ(pool.free(), pool.size());
    }
}

TEST(Penalty, NewNumbersKeepRefusalsAndBans) {
    LinePool pool{64};
    Place place{penalty(5, 10s, 60s), pool, kStart};
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(place.refuse(kStart));
    }
    const AnyLimit stricter = penalty(3, 20s, 30s);
    renumber(place.cell, place.limit, stricter, pool, {kStart + 1s, {}});
    place.limit = stricter;
    EXPECT_EQ(place.left(kStart + 1s), 1U);
    EXPECT_EQ(place.cell.fresh_from, kStart + 20s);
    EXPECT_TRUE(place.refuse(kStart + 2s));
    EXPECT_EQ(place.rest(kStart + 2s), 30s);
    const AnyLimit milder = penalty(100, 1s, 1s);
    renumber(place.cell, place.limit, milder, pool, {kStart + 3s, {}});
    place.limit = milder;
    EXPECT_EQ(place.rest(kStart + 3s), 29s);
    EXPECT_EQ(place.left(kStart + 40s), 100U);
}

// Lowered and restored: the refusals in between were not forgotten, and ban nobody.
TEST(Penalty, NumbersThatAreRestoredKeepAllRefusals) {
    LinePool pool{64};
    Place place{penalty(10, 10s, 60s), pool, kStart};
    for (int i = 0; i < 8; ++i) {
        EXPECT_FALSE(place.refuse(kStart));
    }
    const AnyLimit before = place.limit;
    for (const AnyLimit& lower : {AnyLimit{penalty(3, 10s, 60s)}, AnyLimit{penalty(1, 10s, 60s)}}) {
        renumber(place.cell, place.limit, lower, pool, {kStart + 1s, {}});
        place.limit = lower;
        EXPECT_EQ(place.left(kStart + 1s), 1U);
        EXPECT_EQ(place.rest(kStart + 1s), 0s);
    }
    renumber(place.cell, place.limit, before, pool, {kStart + 2s, {}});
    place.limit = before;
    EXPECT_EQ(place.left(kStart + 2s), 2U);
}

// What has no room is not counted, and says so.
TEST(Penalty, AFullPoolForgetsNoBan) {
    LinePool pool{1};
    Place banned{penalty(2, 10s, 60s), pool, kStart};
    EXPECT_FALSE(banned.refuse(kStart));
    EXPECT_TRUE(banned.refuse(kStart));
    Place other{penalty(3, 10s, 60s), pool, kStart};
    EXPECT_FALSE(other.refuse(kStart));
    EXPECT_EQ(check(other.cell, other.limit, pool, {kStart + 1s, {}}, {Units{1}}),
              Conformance::NoRoom);
    Cell third;
    EXPECT_FALSE(open_bucket(third, other.limit, pool, kKey, {kStart, {}}));
    EXPECT_TRUE(PenaltyMeter::banned(banned.cell, kStart + 59s));
    // Its place is taken by who is refused when the ban has ended: there is no line now.
    EXPECT_EQ(check(banned.cell, banned.limit, pool, {kStart + 60s, {}}, {Units{1}}),
              Conformance::NoRoom);
}

TEST(Penalty, NumbersThatDoNotFitAreNamed) {
    EXPECT_FALSE(make_penalty(Units{0}, 1s, 1s));
    EXPECT_FALSE(make_penalty(Units{1}, 1us, 1s));
    EXPECT_FALSE(make_penalty(Units{1}, 1s, 1us));
    EXPECT_FALSE(make_penalty(Units{1}, 1s, 24h * 400));
    EXPECT_EQ(std::get<PenaltyLimit>(*scaled(penalty(3, 1s, 2s), 16)).after, 48U);
    EXPECT_FALSE(scaled(penalty(kMostCount, 1s, 2s), 2));
}

}  // namespace
}  // namespace sluice::penalty_test

#include "lib/peer/reserve/reservations.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <utility>

namespace sluice::reservations_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr std::size_t kAskers = 3;
constexpr std::size_t kPlaces = 8;
constexpr Nanoseconds kLifetime{100};

Reservation of(std::uint64_t hash, std::uint64_t units,
               Conformance conformance = Conformance::Green) {
    return {.hash = hash, .units = Units{units}, .slot = 1, .conformance = conformance};
}

TEST(Reservations, CountUntilTheyAreSettled) {
    Reservations all{{kAskers, kPlaces, kLifetime}};
    EXPECT_FALSE(all.reserve(0, {2, 7}, of(5, 3), kStart));
    EXPECT_FALSE(all.reserve(1, {2, 7}, of(5, 4, Conformance::Yellow), kStart));
    EXPECT_EQ(all.reserved(5, 1).green, Units{3});
    EXPECT_EQ(all.reserved(5, 1).yellow, Units{4});
    EXPECT_EQ(all.reserved(5, 2).all(), Units{0}) << "another limit";
    EXPECT_FALSE(all.settle(0, {2, 6})) << "a turn that is over";
    EXPECT_FALSE(all.settle(2, {2, 7})) << "another asker's";
    EXPECT_EQ(all.settle(0, {2, 7})->units, Units{3});
    EXPECT_FALSE(all.settle(0, {2, 7})) << "once";
    EXPECT_EQ(all.reserved(5, 1).all(), Units{4});
}

// Three packets that show one new value: the first of them has reserved it.
TEST(Reservations, KeepTheUnitsOfAValueUntilItCounts) {
    using Settled = Reservations::Settled;
    const auto shows = [](std::uint32_t value, std::uint64_t units) {
        Reservation one = of(5, units);
        one.value = value;
        return one;
    };
    const auto three = [&](Reservations& all) {
        EXPECT_FALSE(all.reserves(5, 1, 9));
        EXPECT_FALSE(all.reserve(0, {2, 7}, shows(9, 1), kStart));
        EXPECT_FALSE(all.reserve(1, {2, 7}, shows(9, 0), kStart));
        EXPECT_FALSE(all.reserve(2, {2, 7}, shows(9, 0), kStart));
        EXPECT_FALSE(all.reserve(2, {3, 7}, shows(8, 1), kStart));
        EXPECT_TRUE(all.reserves(5, 1, 9));
        EXPECT_FALSE(all.reserves(5, 1, 7)) << "another value";
        EXPECT_FALSE(all.reserves(5, 2, 9)) << "another limit";
        EXPECT_FALSE(all.reserves(6, 1, 9)) << "another key";
        EXPECT_EQ(all.reserved(5, 1).green, Units{2});
    };
    Reservations all{{kAskers, kPlaces, kLifetime}};
    three(all);
    EXPECT_TRUE(all.settle(0, {2, 7}, Settled::Cancelled));
    EXPECT_TRUE(all.reserves(5, 1, 9)) << "the others show it";
    EXPECT_EQ(all.reserved(5, 1).green, Units{2});
    EXPECT_TRUE(all.settle(1, {2, 7}, Settled::Charged));
    EXPECT_FALSE(all.reserves(5, 1, 9)) << "it counts";
    EXPECT_EQ(all.reserved(5, 1).green, Units{1});
    EXPECT_TRUE(all.settle(2, {2, 7}, Settled::Charged));
    EXPECT_EQ(all.reserved(5, 1).green, Units{1});
    EXPECT_TRUE(all.settle(2, {3, 7}, Settled::Cancelled));
    EXPECT_EQ(all.reserved(5, 1).green, Units{0});
    three(all);
    EXPECT_TRUE(all.settle(2, {2, 7}, Settled::Cancelled));
    EXPECT_TRUE(all.settle(1, {2, 7}, Settled::Cancelled));
    EXPECT_TRUE(all.settle(0, {2, 7}, Settled::Cancelled));
    EXPECT_FALSE(all.reserves(5, 1, 9)) << "nobody shows it";
    EXPECT_EQ(all.reserved(5, 1).green, Units{1});
}

TEST(Reservations, WhatIsLostIsHandedOutToBeCharged) {
    Reservations all{{kAskers, kPlaces, kLifetime}};
    EXPECT_FALSE(all.reserve(0, {2, 7}, of(5, 3), kStart));
    const auto lost = all.reserve(0, {2, 8}, of(6, 1), kStart + 1ns);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->hash, 5U);
    EXPECT_EQ(all.reserved(5, 1).all(), Units{0});
    const auto beyond = all.reserve(0, {kPlaces, 1}, of(9, 2), kStart);
    ASSERT_TRUE(beyond) << "no such place: it cannot be cancelled";
    EXPECT_EQ(beyond->hash, 9U);
    std::uint64_t charged = 0;
    const auto charge = [&](const Reservation& one) { charged += one.units.count(); };
    EXPECT_EQ(all.expire(kStart + kLifetime, 10, charge), 0U);
    EXPECT_EQ(all.expire(kStart + kLifetime + 1ns, 10, charge), 1U);
    EXPECT_EQ(charged, 1U);
    EXPECT_EQ(all.size(), 0U);
}

// Random steps against a list and a map, with hashes that meet in few homes.
class Model {
public:
    struct One {
        std::pair<std::size_t, std::uint32_t> place;
        std::uint32_t turn;
        Reservation reservation;
        Instant until;
    };
    std::deque<One> all;  // oldest first

    std::optional<Reservation> take(std::pair<std::size_t, std::uint32_t> place,
                                    std::optional<std::uint32_t> turn) {
        for (auto at = all.begin(); at != all.end(); ++at) {
            if (at->place == place && (!turn || at->turn == *turn)) {
                const Reservation found = at->reservation;
                all.erase(at);
                return found;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::uint64_t sum(std::uint64_t hash, LimitSlot slot, Conformance what) const {
        std::uint64_t units = 0;
        for (const One& one : all) {
            const Reservation& of = one.reservation;
            units +=
                of.hash == hash && of.slot == slot && of.conformance == what ? of.units.count() : 0;
        }
        return units;
    }
};

std::uint64_t told(const std::optional<Reservation>& of) {
    return of ? 1 + of->hash * 1000 + of->units.count() : 0;
}

TEST(Reservations, AreWhatASlowModelSays) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        std::mt19937 random{seed};
        const auto below = [&](std::uint64_t n) { return random() % n; };
        Reservations all{{kAskers, kPlaces, kLifetime}};
        Model model;
        Instant now = kStart;
        for (int step = 0; step < 3'000; ++step, now += Nanoseconds{below(9)}) {
            const std::pair<std::size_t, std::uint32_t> place{
                below(kAskers), static_cast<std::uint32_t>(below(kPlaces))};
            const auto turn = static_cast<std::uint32_t>(below(3));
            const auto what = below(4) == 0 ? Conformance::Yellow : Conformance::Green;
            Reservation one = of(below(6) * 64 + below(3), 1 + below(5), what);
            one.slot = static_cast<LimitSlot>(1 + below(2));
            if (below(2) == 0) {
                EXPECT_EQ(told(all.reserve(place.first, {place.second, turn}, one, now)),
                          told(model.take(place, std::nullopt)));
                model.all.push_back({place, turn, one, now + kLifetime});
            } else if (below(3) != 0) {
                ASSERT_EQ(told(all.settle(place.first, {place.second, turn})),
                          told(model.take(place, turn)))
                    << "seed " << seed << " step " << step;
            } else {
                (void)all.expire(now, 2, [&](const Reservation& charged) {
                    ASSERT_LE(model.all.front().until, now);
                    ASSERT_EQ(told(charged), told(model.all.front().reservation));
                    model.all.pop_front();
                });
            }
            ASSERT_EQ(all.size(), model.all.size());
            for (std::uint64_t hash = 0; hash < 6 * 64; hash += hash % 64 == 2 ? 62 : 1) {
                for (const auto slot : {LimitSlot{1}, LimitSlot{2}}) {
                    const ChargedBefore sum = all.reserved(hash, slot);
                    ASSERT_EQ(sum.green.count(), model.sum(hash, slot, Conformance::Green));
                    ASSERT_EQ(sum.yellow.count(), model.sum(hash, slot, Conformance::Yellow));
                }
            }
        }
    }
}

}  // namespace
}  // namespace sluice::reservations_test

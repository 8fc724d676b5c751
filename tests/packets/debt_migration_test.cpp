#include "tests/chance.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

// Reloads that bring the packets of a key to other workers than before: no key is given anew what
// it has spent.
namespace sluice::debt_migration_test {
namespace {

using namespace std::chrono_literals;
using test::Chance;
using test::full_tables;
using test::loaded;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

std::string rules(const std::string& list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + list;
}

// One rule over sources, and what else there is decides who judges it.
enum class Place : std::uint8_t { Local, Merged, Owner, OtherOwner };
constexpr std::array kPlaces{Place::Local, Place::Merged, Place::Owner, Place::OtherOwner};

std::string at(Place place, const std::string& limit) {
    const std::string few = "limits: [{algorithm: token_bucket, rate: 1000/s, burst: 3}]";
    const std::string overrides = "    overrides: {inline: [{key: 10.9.9.9, exempt: true}]}\n";
    std::string text =
        "  - id: r\n    when: ip.dst ne 192.0.2.99\n    key: [ip.src]\n    limits: [" + limit +
        "]\n";
    if (place == Place::Owner || place == Place::OtherOwner) {
        text += overrides;
    }
    if (place == Place::Merged || place == Place::Owner) {
        // Some of its packets are handed over on the account of this one.
        text += "  - {id: other, when: ip.dst eq 192.0.2.98, key: [ip.dst], " + few + "}\n";
    }
    if (place == Place::OtherOwner) {
        text +=
            "  - {id: other, when: ip.dst eq 192.0.2.98, key: [ip.dst, ip.src], limits: "
            "[{algorithm: sliding_log, count: 3, window: 1s}]}\n  - {id: third, when: ip.dst eq "
            "192.0.2.98, key: [ip.dst], " +
            few + "}\n";
        text += "  - {id: fourth, when: ip.dst eq 192.0.2.97, key: [l4.dport], " + few + "}\n";
    }
    return rules(text);
}

std::string name_of(Place place) {
    return std::array{"local", "merged", "owner", "other owner"}[static_cast<std::size_t>(place)];
}

const LoadedLimit& limit_of(const LoadedSet& set) {
    return set.rules.front().limits.front();
}
const LoadedLimit& limit_of(const Workers& workers) {
    return limit_of(workers.set());
}

constexpr std::string_view kBucket = "{algorithm: token_bucket, rate: 1/h, burst: 400}";
constexpr std::uint64_t kBurst = 400;

TEST(Moving, PlacesAreWhatTheyAreCalled) {
    const std::array scopes{LimitScope::Local, LimitScope::Merged, LimitScope::Owner,
                            LimitScope::Owner};
    for (const Place place : kPlaces) {
        Workers workers{at(place, std::string{kBucket}), kWorkers};
        EXPECT_EQ(limit_of(workers).scope, scopes[static_cast<std::size_t>(place)])
            << name_of(place);
    }
    Workers owner{at(Place::Owner, std::string{kBucket}), kWorkers};
    Workers other{at(Place::OtherOwner, std::string{kBucket}), kWorkers};
    EXPECT_NE(limit_of(owner).rss_mapping, limit_of(other).rss_mapping);
}

// What is local comes to one worker (not to the one that owns all that has nothing in common),
// anything else to all; what is merged needs to be told, but for
// the last few.
std::uint64_t flood(Workers& workers, Place place, std::uint64_t packets, Instant now) {
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    std::uint64_t passed = 0;
    for (std::uint64_t i = 0; i < packets; ++i) {
        if (place == Place::Merged && i % kWorkers == 0) {
            workers.turns(now);
        }
        const std::size_t at = place == Place::Local ? 1 : i % kWorkers;
        passed += workers.judge(at, frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return passed;
}

TEST(Moving, AnExhaustedKeyIsGivenNothingByAReload) {
    for (const Place from : kPlaces) {
        for (const Place to : kPlaces) {
            SCOPED_TRACE(name_of(from) + " to " + name_of(to));
            Workers workers{at(from, std::string{kBucket}), kWorkers};
            std::uint64_t ahead = limit_of(workers).shared;
            std::uint64_t passed = flood(workers, from, 2 * kBurst, kStart);
            EXPECT_GE(passed, kBurst);
            ASSERT_TRUE(workers.begin_apply(at(to, std::string{kBucket})));
            EXPECT_EQ(workers.is_migrating(), from != to);
            // Before all workers know what keys owe elsewhere, and after.
            passed += flood(workers, to, 500, kStart);
            workers.turns(kStart);
            passed += flood(workers, to, 500, kStart);
            workers.end_apply(kStart);
            EXPECT_FALSE(workers.is_migrating());
            ahead = std::max(ahead, limit_of(workers).shared);
            passed += flood(workers, to, 2 * kBurst, kStart);
            workers.turns(kStart);
            passed += flood(workers, to, 500, kStart);
            EXPECT_LE(passed, kBurst + (kWorkers - 1) * ahead);
            if (from != to) {
                EXPECT_GT(workers.moved_debts(), 0U);
            }
        }
    }
}

// Half used before, in unsynced amounts too: what is left can be spent, and no more.
TEST(Moving, WhatIsLeftIsLeft) {
    for (const Place from : kPlaces) {
        for (const Place to : kPlaces) {
            SCOPED_TRACE(name_of(from) + " to " + name_of(to));
            Workers workers{at(from, std::string{kBucket}), kWorkers};
            std::uint64_t ahead = limit_of(workers).shared;
            EXPECT_EQ(flood(workers, from, kBurst / 2 + 3, kStart), kBurst / 2 + 3);
            workers.apply(at(to, std::string{kBucket}), kStart);
            ahead = std::max(ahead, limit_of(workers).shared);
            std::uint64_t passed = 0;
            for (int i = 0; i < 100; ++i) {
                passed += flood(workers, to, 10, kStart);
                workers.turns(kStart);
            }
            EXPECT_LE(passed, kBurst / 2 - 3 + (kWorkers - 1) * ahead);
            // Of what several workers filed anew nobody is refused for what is counted twice.
            EXPECT_GE(passed, kBurst / 2 - 3);
            EXPECT_EQ(workers.unsynced(), 0U);
        }
    }
}

// More than the numbers allow was used when its keys move: restored there, they leave it so.
TEST(Moving, WhatALoweredBurstOwesGoesAlong) {
    const std::string lowered = "{algorithm: token_bucket, rate: 1/h, burst: 100}";
    for (const Place to : kPlaces) {
        SCOPED_TRACE(name_of(to));
        Workers workers{at(Place::Local, std::string{kBucket}), kWorkers};
        EXPECT_EQ(flood(workers, Place::Local, 300, kStart), 300U);
        workers.apply(at(Place::Local, lowered), kStart);
        workers.apply(at(to, lowered), kStart);
        EXPECT_EQ(flood(workers, to, 50, kStart), 0U);
        workers.turns(kStart);
        workers.apply(at(to, std::string{kBucket}), kStart);
        std::uint64_t passed = 0;
        for (int i = 0; i < 100; ++i) {
            passed += flood(workers, to, 10, kStart);
            workers.turns(kStart);
        }
        EXPECT_GE(passed, 100U);
        EXPECT_LE(passed, 100U + (kWorkers - 1) * limit_of(workers).shared);
    }
}

// However often it moves, and wherever its packets come meanwhile, each unit is counted once.
TEST(Moving, AnyChainOfMovesAddsUp) {
    for (const bool with_merged : {false, true}) {
        for (unsigned seed = 1; seed <= 10; ++seed) {
            std::mt19937 random{seed};
            const auto place = [&] { return kPlaces[random() % 4]; };
            const auto next = [&] {
                Place to = place();
                while (!with_merged && to == Place::Merged) {
                    to = place();
                }
                return to;
            };
            Place now_at = next();
            Workers workers{at(now_at, std::string{kBucket}), kWorkers};
            std::uint64_t ahead = limit_of(workers).shared;
            std::uint64_t passed = 0;
            for (int i = 0; i < 60; ++i) {
                passed += flood(workers, now_at, 6, kStart);
                now_at = next();
                ASSERT_TRUE(workers.begin_apply(at(now_at, std::string{kBucket})));
                passed += flood(workers, now_at, random() % 5, kStart);
                if (random() % 4 != 0) {  // else the next move begins before this one has ended
                    workers.end_apply(kStart);
                }
                ahead = std::max(ahead, limit_of(workers).shared);
            }
            workers.end_apply(kStart);
            for (int i = 0; i < 20; ++i) {
                workers.turns(kStart);
                passed += flood(workers, now_at, 10, kStart);
            }
            EXPECT_GE(passed, kBurst) << seed;
            EXPECT_LE(passed, kBurst + (kWorkers - 1) * ahead) << seed;
        }
    }
}

// Every algorithm, with rules that come and go and numbers that change with them: what several
// workers say is what one does, where only the owner changes and its bucket says all of it.
TEST(Moving, OwnersThatChangeAreExact) {
    constexpr auto kLimits = std::to_array<std::array<std::string_view, 2>>({
        {"{algorithm: token_bucket, rate: 9/s, burst: 3}",
         "{algorithm: token_bucket, rate: 4/s, burst: 5}"},
        {"{algorithm: leaky_bucket, rate: 7/s, queue: 4}",
         "{algorithm: leaky_bucket, rate: 9/s, queue: 4}"},
        {"{algorithm: fixed_window, count: 5, window: 700ms, phase: first}",
         "{algorithm: fixed_window, count: 3, window: 700ms, phase: first}"},
        {"{algorithm: sliding_window, count: 5, window: 600ms}",
         "{algorithm: sliding_window, count: 7, window: 600ms}"},
        {"{algorithm: trtcm, variant: rfc2698, cir: 4/s, cbs: 2, pir: 9/s, pbs: 4}",
         "{algorithm: trtcm, variant: rfc2698, cir: 5/s, cbs: 3, pir: 9/s, pbs: 4}"},
    });
    for (const auto& limits : kLimits) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            Chance chance{seed};
            const auto text = [&] {
                constexpr std::array kExact{Place::Local, Place::Owner, Place::OtherOwner};
                return at(kExact[chance.below(3)], std::string{limits[chance.below(2)]});
            };
            std::string now_in_force = text();
            Workers workers{now_in_force, kWorkers};
            Workers oracle{now_in_force, 1};
            Instant now = kStart;
            std::size_t moves = 0;
            for (int i = 0; i < test::rounds(1'500);
                 ++i, now += Nanoseconds{chance.below(60'000'000)}) {
                if (chance.below(40) == 0) {
                    now_in_force = text();
                    ASSERT_TRUE(workers.begin_apply(now_in_force));
                    moves += workers.is_migrating() ? 1 : 0;
                    workers.end_apply(now);
                    oracle.apply(now_in_force, now);
                    workers.settle_numbers(now);
                    oracle.settle_numbers(now);
                }
                const std::size_t source = chance.below(5);
                const auto frame = test::udp()
                                       .src("10.0.0." + std::to_string(source))
                                       .dst("192.0.2." + std::to_string(chance.below(3)))
                                       .bytes();
                const Verdict here = workers.judge(source % kWorkers, frame, now).verdict;
                const Verdict there = oracle.judge(0, frame, now).verdict;
                ASSERT_EQ(here, there) << limits[0] << ", seed " << seed << ", packet " << i << "\n"
                                       << now_in_force;
            }
            EXPECT_GT(moves, static_cast<std::size_t>(test::rounds(1'500)) / 300);
        }
    }
}

// Logs and sub-windows are taken over as if all of it had been spent now: later than it was, so a
// key gets less for one window, and never more.
TEST(Moving, LogsAdmitNoMoreThanOneWorker) {
    constexpr auto kLimits = std::to_array<std::string_view>(
        {"{algorithm: sliding_log, count: 6, window: 900ms}",
         "{algorithm: sliding_counters, count: 6, window: 800ms, buckets: 8}"});
    for (const std::string_view limit : kLimits) {
        Chance chance{7};
        Workers workers{at(Place::Local, std::string{limit}), kWorkers};
        std::vector<Instant> passed;
        Instant now = kStart;
        for (int i = 0; i < 4'000; ++i, now += Nanoseconds{chance.below(40'000'000)}) {
            if (chance.below(100) == 0) {
                workers.apply(at(kPlaces[chance.below(4)], std::string{limit}), now);
            }
            const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
            if (workers.judge(1, frame, now).verdict == Verdict::Pass) {
                passed.push_back(now);
                ASSERT_FALSE(passed.size() > 6 && now - passed[passed.size() - 7] < 800ms) << i;
            }
        }
        EXPECT_GT(passed.size(), 200U);
    }
}

TEST(Moving, ABanGoesAlong) {
    const auto banning = [](Place place) {
        std::string text = at(place, "{algorithm: token_bucket, rate: 1000/s, burst: 2}");
        const std::string where = "    key: [ip.src]\n";
        text.insert(text.find(where), "    ban: {after: 3, within: 1s, for: 1h}\n");
        return text;
    };
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    for (const Place to : {Place::Owner, Place::OtherOwner}) {
        Workers workers{banning(Place::Local), kWorkers};
        (void)flood(workers, Place::Local, 8, kStart);
        EXPECT_EQ(workers.judge(1, frame, kStart + 10s).reason, Reason::Banned);
        ASSERT_TRUE(workers.begin_apply(banning(to)));
        EXPECT_EQ(workers.judge(1, frame, kStart + 10s).reason, Reason::Banned);
        workers.end_apply(kStart + 10s);
        for (std::size_t at = 0; at < kWorkers; ++at) {
            EXPECT_EQ(workers.judge(at, frame, kStart + 20s).reason, Reason::Banned) << at;
        }
        EXPECT_EQ(workers.judge(0, frame, kStart + 2h).verdict, Verdict::Pass);
    }
}

// Refusals that are noted count on at the next owner.
TEST(Moving, RefusalsGoAlong) {
    const auto banning = [](Place place) {
        std::string text = at(place, "{algorithm: token_bucket, rate: 1/h, burst: 2}");
        text.insert(text.find("    key: [ip.src]\n"),
                    "    ban: {after: 5, within: 10s, for: 1h}\n");
        return text;
    };
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    Workers workers{banning(Place::Local), kWorkers};
    EXPECT_EQ(flood(workers, Place::Local, 5, kStart), 2U);  // three refusals
    workers.apply(banning(Place::Owner), kStart);
    EXPECT_EQ(workers.judge(1, frame, kStart + 1s).reason, Reason::OverLimit);
    EXPECT_EQ(workers.judge(1, frame, kStart + 1s).reason, Reason::OverLimit);
    EXPECT_EQ(workers.judge(1, frame, kStart + 1s).reason, Reason::Banned);
}

// Where workers share a key, all refusals together are a ban, which holds at each of them at once,
// and so does its end.
TEST(Moving, WorkersThatShareAKeyBanItTogether) {
    std::string text = at(Place::Merged, "{algorithm: token_bucket, rate: 1/h, burst: 40}");
    text.insert(text.find("    key: [ip.src]\n"), "    ban: {after: 10, within: 10s, for: 1h}\n");
    Workers workers{text, kWorkers};
    ASSERT_GT(limit_of(workers).shared, 0U);
    const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    (void)flood(workers, Place::Merged, 80, kStart);
    ASSERT_EQ(workers.judge(0, frame, kStart).reason, Reason::Banned);
    // Exhausted, and refused all over again: three at one worker, three at the next and so on.
    const Instant later = kStart + 2h;
    Workers fresh{text, kWorkers};
    for (std::size_t i = 0; i < 44; ++i) {
        fresh.turns(later);
        (void)fresh.judge(i % 2, frame, later);
    }
    std::size_t refused = 0;
    std::size_t i = 0;
    for (; i < 40; ++i) {
        fresh.turns(later);
        const Decision decision = fresh.judge(i % kWorkers, frame, later);
        refused += decision.reason == Reason::OverLimit ? 1 : 0;
        if (decision.reason == Reason::Banned) {
            break;
        }
    }
    EXPECT_LE(refused, 10U);
    EXPECT_LT(i, 40U);
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        EXPECT_EQ(fresh.judge(worker, frame, later + 30min).reason, Reason::Banned) << worker;
        EXPECT_EQ(fresh.judge(worker, test::udp().src("10.0.0.2").dst("192.0.2.1").bytes(), later)
                      .verdict,
                  Verdict::Pass);
    }
    EXPECT_NE(fresh.judge(3, frame, later + 61min).reason, Reason::Banned);
}

// Former slots go once nothing is owed in them, and the next process knows of them until then.
TEST(Moving, SlotsAreGivenBack) {
    const std::string limit = "{algorithm: token_bucket, rate: 100/s, burst: 100}";
    Workers workers{at(Place::Local, limit), kWorkers};
    (void)flood(workers, Place::Local, 50, kStart);
    workers.apply(at(Place::Owner, limit), kStart);
    EXPECT_EQ(limit_of(workers).migrated_from.size(), 1U);
    const SlotsImage image = workers.slots();
    EXPECT_EQ(image.moved.size(), 1U);
    EXPECT_TRUE(image.is_sound());
    const LoadedRules next = loaded(
        workers.rules(), {.sharers = {kWorkers, 1ms}, .tables = full_tables(), .found = &image});
    EXPECT_EQ(limit_of(next.set()).migrated_from, limit_of(workers).migrated_from);
    EXPECT_EQ(limit_of(next.set()).slot, limit_of(workers).slot);
    EXPECT_FALSE(next.slots().is_migrating());

    workers.sweep(kStart + 10s);
    workers.apply(at(Place::Owner, limit), kStart + 10s);
    EXPECT_TRUE(limit_of(workers).migrated_from.empty());
    EXPECT_TRUE(workers.slots().moved.empty());
}

// A move that a process did not live to see the end of goes on in the next one.
TEST(Moving, AMoveThatWasCutOffGoesOn) {
    Workers workers{at(Place::Local, std::string{kBucket}), kWorkers};
    (void)flood(workers, Place::Local, 50, kStart);
    ASSERT_TRUE(workers.begin_apply(at(Place::Owner, std::string{kBucket})));
    ASSERT_TRUE(workers.is_migrating());
    const SlotsImage image = workers.slots();
    Environment restarted{.sharers = {kWorkers, 1ms}, .tables = full_tables(), .found = &image};
    const LoadedRules next = loaded(workers.rules(), restarted);
    EXPECT_TRUE(next.slots().is_migrating());
    restarted.moves = Moves::Ended;
    const Result<LoadedRules> moved = next.again(restarted);
    ASSERT_TRUE(moved);
    EXPECT_EQ(limit_of(moved->set()).migrated_from.front().combine, Combine::Sum);
}

}  // namespace
}  // namespace sluice::debt_migration_test

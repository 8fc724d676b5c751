#include "lib/watch/events/key_events.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::key_events_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr Nanoseconds kUtcAhead = std::chrono::hours{1'000};

Now at(Nanoseconds passed) {
    return {kStart + passed, kUtcAhead, {}};
}
TableKey key_of(std::uint64_t number) {
    return {GroupKey{(number + 1) * 0xD6E8'FEB8'6659'FD93}, 1};
}
KeyEvents::About about(std::uint64_t number, std::uint8_t events = EdgeEventSet::kAll) {
    return {.key = key_of(number),
            .identity = 9,
            .rule = 2,
            .limit = 1,
            .rule_key = 0,
            .events = EdgeEventSet{events}};
}

struct Told {
    KeyEventKind kind;
    Nanoseconds passed;  // since kStart
    Nanoseconds length;
    bool operator==(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Told& told) {
    return out << kKeyEventKindNames[static_cast<std::size_t>(told.kind)] << " at "
               << told.passed.count() << " for " << told.length.count();
}
std::vector<Told> taken(KeyEvents& events) {
    std::vector<Told> told;
    events.ring().drain([&](const EventRecord& record) {
        told.push_back(
            {record.kind, record.utc - kUtcAhead - kStart.time_since_epoch(), record.length});
    });
    return told;
}
// Everybody waits as long as it was said.
void tell(KeyEvents& events, Now now, Nanoseconds left = {}) {
    events.notify_due(now, [left](const WatchedKey&) { return left; });
}
void refuse(KeyEvents& events, std::uint64_t number, Nanoseconds wait, Now now,
            std::uint8_t reports = EdgeEventSet::kAll) {
    WatchedKey* watched = events.find(key_of(number));
    if (watched == nullptr) {
        const std::byte key{static_cast<unsigned char>(number)};
        watched = events.watch(about(number, reports), ByteView{&key, 1});
    }
    if (watched != nullptr && KeyEvents::asks_wait(*watched, now)) {
        events.refused(*watched, Units{1}, wait, now);
    } else if (watched != nullptr) {
        events.refused_again(*watched, now);
    }
}
using enum KeyEventKind;

TEST(KeyEvents, StartRefillEnd) {
    KeyEvents events;
    EXPECT_TRUE(events.empty());
    refuse(events, 1, 300ms, at(0ms));
    refuse(events, 1, 200ms, at(100ms));
    EXPECT_EQ(taken(events), (std::vector<Told>{{LimitStart, 0ms, 300ms}}));
    tell(events, at(299ms));
    EXPECT_TRUE(taken(events).empty());
    tell(events, at(301ms));
    EXPECT_EQ(taken(events), (std::vector<Told>{{Refill, 300ms, 0ms}}));
    tell(events, at(1099ms));
    EXPECT_TRUE(taken(events).empty());
    tell(events, at(1200ms));
    EXPECT_EQ(taken(events), (std::vector<Told>{{LimitEnd, 1100ms, 100ms}}));
    EXPECT_TRUE(events.empty());
    EXPECT_EQ(events.lost(), 0U);
}

TEST(KeyEvents, SilenceMayEndBeforeTheRefill) {
    KeyEvents events;
    refuse(events, 1, 5s, at(0s));
    tell(events, at(6s));
    EXPECT_EQ(taken(events),
              (std::vector<Told>{{LimitStart, 0s, 5s}, {LimitEnd, 1s, 0s}, {Refill, 5s, 0s}}));
    EXPECT_TRUE(events.empty());
    // In between, a refusal is a new start.
    refuse(events, 1, 5s, at(10s));
    tell(events, at(12s));
    refuse(events, 1, 3s, at(12s));
    EXPECT_EQ(
        taken(events),
        (std::vector<Told>{{LimitStart, 10s, 5s}, {LimitEnd, 11s, 0s}, {LimitStart, 12s, 3s}}));
}

TEST(KeyEvents, TheBucketHasTheLastWord) {
    KeyEvents events;
    refuse(events, 1, 100ms, at(0ms));
    (void)taken(events);
    tell(events, at(100ms), 50ms);
    EXPECT_TRUE(taken(events).empty());
    tell(events, at(150ms));
    EXPECT_EQ(taken(events), (std::vector<Told>{{Refill, 150ms, 0ms}}));
}

TEST(KeyEvents, RefillsOfAKeyThatGoesOnAreToldSoFarApart) {
    KeyEvents events;
    std::size_t refills = 0;
    for (auto passed = 0ms; passed < 2s; passed += 1ms) {
        refuse(events, 1, 1500us, at(passed));
        tell(events, at(passed + 999us));
        for (const Told& told : taken(events)) {
            refills += told.kind == Refill ? 1U : 0U;
        }
    }
    EXPECT_LE(refills, 2s / KeyEvents::kRefillGap + 1U);
    EXPECT_GE(refills, 1U);
}

TEST(KeyEvents, OnlyWhatTheRuleReports) {
    for (std::uint8_t bits = 0; bits <= EdgeEventSet::kAll; ++bits) {
        KeyEvents events;
        refuse(events, 1, 100ms, at(0ms), bits);
        tell(events, at(3s));
        std::vector<Told> all{{LimitStart, 0ms, 100ms}, {Refill, 100ms, 0ms}, {LimitEnd, 1s, 0ms}};
        std::erase_if(all, [&](const Told& told) {
            const EdgeEvent event = told.kind == LimitStart ? EdgeEvent::LimitStart
                                    : told.kind == Refill   ? EdgeEvent::Refill
                                                            : EdgeEvent::LimitEnd;
            return !EdgeEventSet{bits}.has(event);
        });
        EXPECT_EQ(taken(events), all);
        EXPECT_TRUE(events.empty());
    }
}

TEST(KeyEvents, LimitedKeysAreCountedWhileTheyAre) {
    const LimitSlot slot = slot_of(key_of(1));
    KeyEvents events;
    refuse(events, 1, 300ms, at(0ms));
    refuse(events, 1, 200ms, at(100ms));
    refuse(events, 2, 5ms, at(500ms),
           std::uint8_t{1U << static_cast<unsigned>(EdgeEvent::LimitEnd)});
    EXPECT_EQ(events.limited(slot), 2U) << "each once, whatever is told of it";
    tell(events, at(1100ms));
    EXPECT_EQ(events.limited(slot), 1U) << "a second of silence ends it";
    refuse(events, 1, 300ms, at(1200ms));
    EXPECT_EQ(events.limited(slot), 2U);
    const std::byte box{77};
    WatchedKey* const banned = events.watch(about(3), ByteView{&box, 1});
    ASSERT_NE(banned, nullptr);
    events.banned(*banned, 10s, at(1200ms));
    EXPECT_EQ(events.limited(slot), 2U) << "a ban is no limit";
    LoadedSet other;
    other.load = 5;
    events.adopt(other);
    EXPECT_EQ(events.limited(slot), 0U) << "of a rule that is gone none is";
}

TEST(KeyEvents, WhatNeverFitsHasNoRefill) {
    KeyEvents events;
    refuse(events, 1, Nanoseconds::max(), at(0ms));
    tell(events, at(1h));
    EXPECT_EQ(taken(events),
              (std::vector<Told>{{LimitStart, 0ms, Nanoseconds::max()}, {LimitEnd, 1s, 0ms}}));
}

TEST(KeyEvents, BansBeginAndEnd) {
    KeyEvents events;
    WatchedKey* banned = events.watch(about(3), {});
    events.banned(*banned, 10s, at(0s));
    tell(events, at(9s));
    EXPECT_EQ(taken(events), (std::vector<Told>{{BanStart, 0s, 10s}}));
    // Lifted.
    events.look_again(*banned, at(9s));
    tell(events, at(9s));
    EXPECT_EQ(taken(events), (std::vector<Told>{{BanEnd, 9s, 9s}}));
    EXPECT_TRUE(events.empty());
    // One that was made longer meanwhile, and one that follows before the end was told.
    banned = events.watch(about(3), {});
    events.banned(*banned, 10s, at(20s));
    tell(events, at(30s), 5s);
    events.banned(*banned, 10s, at(40s));
    EXPECT_EQ(taken(events),
              (std::vector<Told>{{BanStart, 20s, 10s}, {BanEnd, 35s, 15s}, {BanStart, 40s, 10s}}));
}

TEST(KeyEvents, WhatFindsNoPlaceIsCounted) {
    KeyEvents events{{.keys = 8, .ring = 4}};
    for (std::uint64_t number = 0; number < 9; ++number) {
        refuse(events, number, 2h, at(0s));
    }
    EXPECT_EQ(events.size(), 8U);
    EXPECT_EQ(events.lost(), 1U + 4U);  // a key without a place, and starts that the ring refused
    EXPECT_EQ(taken(events).size(), 4U);
    // Silent keys give way, and their refills are lost.
    tell(events, at(1s));
    EXPECT_EQ(events.lost(), 9U);
    (void)taken(events);
    refuse(events, 20, 1s, at(2s));
    EXPECT_EQ(events.lost(), 10U);
    EXPECT_EQ(taken(events), (std::vector<Told>{{LimitStart, 2s, 1s}}));
}

// However many are due, a worker's packets wait for no more than so many.
TEST(KeyEvents, FewAtOnce) {
    KeyEvents events;
    for (std::uint64_t number = 0; number < 200; ++number) {
        refuse(events, number, 2h, at(0s));
    }
    (void)taken(events);
    std::size_t told = 0;
    for (int turns = 0; turns < 4; ++turns) {
        tell(events, at(1s));
        const std::size_t now = taken(events).size();
        EXPECT_LE(now, KeyEvents::kMostAtOnce);
        told += now;
    }
    EXPECT_EQ(told, 200U);
}

}  // namespace
}  // namespace sluice::key_events_test

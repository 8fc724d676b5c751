#include "tests/guarded_memory.hpp"
#include "tests/unit/l7/stream/track/dialogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

namespace sluice::track_kept_test {
namespace {

using test::at_millisecond;
using test::Dialogue;
using test::expect_drop;
using test::expect_pass;
using test::GuardedMemory;
using test::kEnds;
using test::kTrackSecret;
using test::Said;

constexpr TrackBudget kBudget{.connections = 64, .half_open = 16, .midstream = 8};

// Memory that one process leaves to the next.
struct Region {
    GuardedMemory memory{ConnectionTracker::kept_of(kBudget)};

    [[nodiscard]] KeptMemory kept() const {
        return {memory.base(), ConnectionTracker::kept_of(kBudget), 4096};
    }
};

// A process, which takes over what it finds.
struct Process {
    explicit Process(const Region& region, std::int64_t now = 0)
        : memory{region.kept()}, tracker{kBudget, KeyHasher{kTrackSecret}, memory} {
        tracker.take_over(at_millisecond(now));
    }
    KeptMemory memory;
    ConnectionTracker tracker;
};

TrackVerdict say(Process& process, const Dialogue& dialogue, const Said& said, bool from_client) {
    return process.tracker.track(dialogue.segment(said, from_client), dialogue.policies,
                                 at_millisecond(dialogue.now));
}
TrackVerdict establish(Process& process, const Dialogue& dialogue) {
    say(process, dialogue, {.flags = kTcpSyn, .scale = 2}, true);
    say(process, dialogue, {.ack = 1, .flags = kTcpSyn | kTcpAck, .scale = 2}, false);
    return say(process, dialogue, {.seq = 1, .ack = 1}, true);
}

// A process has established the connection, and has ended.
void leave_behind(const Region& region, const Dialogue& dialogue) {
    Process first{region};
    establish(first, dialogue);
}

TEST(TrackKept, AConnectionGoesOnAtItsNumbersInTheNextProcess) {
    Region region;
    Dialogue dialogue;
    std::uint64_t id = 0;
    {
        Process first{region};
        id = establish(first, dialogue).id;
        first.tracker.mark(kEnds, id, TrackMark::Upgraded);
        expect_pass(say(first, dialogue, {.seq = 1, .ack = 1, .payload = 100}, true), true);
    }
    dialogue.now = 120'000;
    Process next{region, dialogue.now};
    EXPECT_EQ(next.tracker.size(), 1U);
    EXPECT_EQ(next.tracker.size_of(TrackClass::Established), 1U);
    EXPECT_EQ(next.tracker.counters().of(TrackEvent::Inherited), 1U);
    EXPECT_EQ(next.tracker.service_of(kEnds), 0U);
    const TrackVerdict again = say(next, dialogue, {.seq = 1, .ack = 1, .payload = 100}, true);
    expect_pass(again, true);
    EXPECT_EQ(again.id, id);
    EXPECT_FALSE(again.midstream);
    EXPECT_TRUE(again.has(TrackMark::Upgraded));
    expect_drop(say(next, dialogue, {.seq = 1, .ack = 500}, true), TrackReason::AckUnsent);
    expect_drop(say(next, dialogue, {.seq = 9000, .ack = 1, .payload = 1}, true),
                TrackReason::BeyondWindow);
}

TEST(TrackKept, WhatHasNotBegunIsForgotten) {
    Region region;
    Dialogue dialogue;
    {
        Process first{region};
        say(first, dialogue, {.flags = kTcpSyn}, true);
        Dialogue stranger;
        stranger.ends = kEnds + 1;
        say(first, stranger, {.seq = 700, .ack = 9, .payload = 4}, true);
        EXPECT_EQ(first.tracker.size(), 2U);
    }
    EXPECT_EQ(Process{region}.tracker.size(), 0U);
}

TEST(TrackKept, AHandshakeUnderWayIsCompletedInTheNextProcess) {
    Region region;
    Dialogue dialogue;
    {
        Process first{region};
        say(first, dialogue, {.flags = kTcpSyn}, true);
        say(first, dialogue, {.ack = 1, .flags = kTcpSyn | kTcpAck}, false);
    }
    Process next{region};
    EXPECT_EQ(next.tracker.size_of(TrackClass::HalfOpen), 1U);
    EXPECT_TRUE(say(next, dialogue, {.seq = 1, .ack = 1}, true).began);
}

TEST(TrackKept, WhatWasResetStaysReset) {
    Region region;
    Dialogue dialogue;
    {
        Process first{region};
        establish(first, dialogue);
        say(first, dialogue, {.seq = 1, .flags = kTcpRst}, true);
    }
    Process next{region};
    EXPECT_EQ(next.tracker.size_of(TrackClass::Closed), 1U);
    expect_drop(say(next, dialogue, {.seq = 1, .ack = 1, .payload = 5}, true),
                TrackReason::BehindReset);
}

TEST(TrackKept, SilenceGoesOnWhileThereIsNoBox) {
    Region region;
    Dialogue dialogue;
    leave_behind(region, dialogue);
    Process next{region, 16 * 60 * 1000};
    EXPECT_FALSE(next.tracker.expire(at_millisecond(16 * 60 * 1000), 8));
    EXPECT_EQ(next.tracker.size(), 0U);
}

// Bytes passed another way: both ends' numbers are ahead of all that is known.
TEST(TrackKept, AConnectionThatMovedOnUnseenIsFollowedFromItsMiddleOn) {
    for (const bool server_speaks_first : {true, false}) {
        Region region;
        Dialogue dialogue;
        leave_behind(region, dialogue);
        dialogue.now = 1000;
        Process next{region, 1000};
        if (server_speaks_first) {
            expect_pass(say(next, dialogue, {.seq = 30'001, .ack = 20'001, .payload = 9}, false),
                        true);
        }
        const std::uint32_t acked = server_speaks_first ? 30'010 : 30'001;
        const TrackVerdict client =
            say(next, dialogue, {.seq = 20'001, .ack = acked, .payload = 50}, true);
        expect_pass(client, true);
        EXPECT_TRUE(client.midstream) << "its reader looks for what begins";
        EXPECT_EQ(next.tracker.counters().of(TrackEvent::MovedOn), 1U);
    }
}

// A server's acknowledgments from before are old until it has been heard of.
TEST(TrackKept, AServersWordIsOldUntilItSpeaks) {
    Region region;
    Dialogue dialogue;
    leave_behind(region, dialogue);
    dialogue.now = 1000;
    Process next{region, 1000};
    const Said bytes{.seq = 1, .ack = 1, .payload = 10};
    EXPECT_TRUE(say(next, dialogue, bytes, true).is_server_unheard);
    EXPECT_TRUE(say(next, dialogue, bytes, true).is_server_unheard) << "its client says nothing";
    expect_pass(say(next, dialogue, {.seq = 1, .ack = 1}, false), false);
    EXPECT_FALSE(say(next, dialogue, bytes, true).is_server_unheard);
    EXPECT_TRUE(say(next, dialogue, bytes, true).established);
}

// Far from what both ends know nobody is believed, and what has been heard of is followed strictly.
TEST(TrackKept, ABlindSenderMovesNothing) {
    Region region;
    Dialogue dialogue;
    leave_behind(region, dialogue);
    dialogue.now = 1000;
    Process next{region, 1000};
    expect_drop(say(next, dialogue, {.seq = 20'001, .ack = 0x4000'0000, .payload = 50}, true),
                TrackReason::AckUnsent);
    expect_drop(say(next, dialogue, {.seq = 0x5000'0000, .ack = 1, .payload = 50}, true),
                TrackReason::BeyondWindow);
    expect_pass(say(next, dialogue, {.seq = 1, .ack = 1, .payload = 10}, true), true);
    dialogue.now = 1010;
    expect_drop(say(next, dialogue, {.seq = 20'001, .ack = 1, .payload = 50}, true),
                TrackReason::BeyondWindow);
    EXPECT_EQ(next.tracker.counters().of(TrackEvent::MovedOn), 0U);
}

// A segment that is dropped, although its numbers are where unseen ones may be.
TEST(TrackKept, WhatIsDroppedMovesNothing) {
    Region region;
    Dialogue dialogue;
    {
        Process first{region};
        establish(first, dialogue);
        say(first, dialogue, {.seq = 1, .ack = 1, .flags = kTcpAck | kTcpFin, .payload = 100},
            true);
    }
    dialogue.now = 1000;
    Process next{region, 1000};
    // A FIN of another number, and bytes behind the one that stands, acknowledging what nobody saw.
    for (const std::uint16_t flags : {std::uint16_t{kTcpAck | kTcpFin}, std::uint16_t{kTcpAck}}) {
        EXPECT_EQ(
            say(next, dialogue, {.seq = 20'001, .ack = 30'001, .flags = flags, .payload = 50}, true)
                .kind,
            TrackVerdict::Kind::Drop);
    }
    EXPECT_EQ(next.tracker.counters().of(TrackEvent::MovedOn), 0U);
    const TrackVerdict repeated =
        say(next, dialogue, {.seq = 1, .ack = 1, .flags = kTcpAck | kTcpFin, .payload = 100}, true);
    expect_pass(repeated, true);
    EXPECT_FALSE(repeated.midstream) << "its beginning is known still";
}

TEST(TrackKept, UnderAnotherProtocolAConnectionIsNotKnown) {
    Region region;
    Dialogue dialogue;
    dialogue.policies[0].protocol = 1;
    {
        Process first{region};
        EXPECT_TRUE(establish(first, dialogue).began);
    }
    Process next{region};
    dialogue.policies[0].protocol = 0;
    const TrackVerdict verdict = say(next, dialogue, {.seq = 1, .ack = 1, .payload = 9}, true);
    EXPECT_TRUE(verdict.midstream);
    EXPECT_EQ(verdict.id, 0U);
}

// A line's place is one that a look-up finds.
TEST(TrackKept, ManyConnectionsAreFoundAgain) {
    Region region;
    std::vector<Dialogue> all(40);
    std::vector<std::uint64_t> ids;
    {
        Process first{region};
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].ends = kEnds * (i + 1);
            ids.push_back(establish(first, all[i]).id);
        }
    }
    Process next{region};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(next.tracker.numbers(all[i].ends, ids[i]).has_value()) << i;
    }
}

// Every segment of a dialogue, killed before each store that it makes: the next process knows the
// connection as it was before that segment or behind it, and everybody else's as it is.
class KillPoints : public testing::Test {
protected:
    void run(const Said& said, bool from_client) {
        const Facts before = left();
        const auto killed = [&] { instants.push_back(left()); };
        region.memory.run_guarded([&] { (void)say(process, dialogue, said, from_client); }, killed);
        const Facts after = left();
        for (const Facts& now : instants) {
            EXPECT_TRUE(now == before || now == after)
                << "segment at " << said.seq << ", acknowledging " << said.ack;
        }
        seen += instants.size();
        instants.clear();
    }

    using Facts = std::vector<std::uint64_t>;
    // All that both lines of each connection say, but for places in lists.
    [[nodiscard]] Facts facts_in(const Region& in) const {
        Facts all;
        const auto* const bytes = static_cast<const std::byte*>(in.memory.base());
        // Lines lie behind the copy of the one that is under change.
        constexpr std::size_t kFirst = OpenChange<sizeof(TrackedConnection)>::bytes();
        for (std::size_t at = kFirst; at + sizeof(TrackedConnection) <= in.memory.size();
             at += alignof(TrackedConnection)) {
            TrackedConnection line;
            std::memcpy(static_cast<void*>(&line), bytes + at, sizeof(line));
            if (!line.is_free() && std::ranges::count(known, line.digest) != 0) {
                add_facts(line, all);
            }
        }
        return all;
    }
    static void add_facts(const TrackedConnection& line, Facts& all) {
        for (const TcpHalf& half :
             {line.client, line.server, line.alternate.client(), line.alternate.server()}) {
            all.insert(all.end(), {half.iss, half.next, half.una, half.edge});
        }
        all.insert(all.end(), {line.digest,
                               line.id,
                               line.touched,
                               line.flags,
                               line.client_widest,
                               line.server_widest,
                               line.service,
                               static_cast<std::uint64_t>(line.phase),
                               line.protocol,
                               line.client_scale,
                               line.server_scale,
                               line.client_fin,
                               line.server_fin,
                               line.client_bytes,
                               line.candidate,
                               line.candidate_at,
                               line.alternate.client_scale,
                               line.alternate.server_scale,
                               line.alternate.echoed,
                               line.echoed,
                               line.source,
                               line.candidate_window,
                               line.candidate_scale,
                               line.candidate_unfinished,
                               line.syn_ack_unfinished});
    }
    Facts left() {
        other.memory.copy_from(region.memory);
        const Process next{other};
        return facts_in(other);
    }

    Region region;
    Region other;
    Process process{region};
    Dialogue dialogue;
    std::vector<std::uint64_t> known{kEnds, kEnds + 1};
    std::vector<Facts> instants;
    std::size_t seen = 0;
};

TEST_F(KillPoints, AConnectionIsAsItWasBeforeASegmentOrBehindIt) {
    Dialogue neighbour;
    neighbour.ends = kEnds + 1;
    establish(process, neighbour);
    establish(process, dialogue);
    run({.seq = 1, .ack = 1, .payload = 100}, true);
    run({.seq = 1, .ack = 101, .payload = 200, .window = 3000}, false);
    run({.seq = 101, .ack = 201, .window = 2500}, true);
    run({.flags = kTcpSyn}, true);
    run({.seq = 101, .ack = 201, .flags = kTcpAck | kTcpFin, .payload = 7}, true);
    run({.seq = 201, .ack = 109, .flags = kTcpAck | kTcpFin}, false);
    run({.seq = 109, .ack = 202}, true);
    EXPECT_GT(seen, 60U);
}

// Handshakes that wait beside another one, or beside a connection, come in its place.
TEST_F(KillPoints, AHandshakeTakesTheOthersPlaceOrNot) {
    run({.flags = kTcpSyn, .scale = 2, .timestamps = TrackedTimestamps{10, 0}}, true);
    run({.ack = 1,
         .flags = kTcpSyn | kTcpAck,
         .scale = 2,
         .timestamps = TrackedTimestamps{900, 10}},
        false);
    run({.seq = 70'000, .flags = kTcpSyn, .scale = 3, .timestamps = TrackedTimestamps{20, 0}},
        true);
    run({.seq = 800,
         .ack = 70'001,
         .flags = kTcpSyn | kTcpAck,
         .timestamps = TrackedTimestamps{910, 20}},
        false);
    run({.seq = 1, .ack = 1, .timestamps = TrackedTimestamps{30, 900}}, true);
    run({.seq = 1, .ack = 1, .payload = 9, .timestamps = TrackedTimestamps{31, 900}}, true);
    run({.seq = 1, .ack = 10, .timestamps = TrackedTimestamps{920, 31}}, false);
    run({.seq = 90'000, .flags = kTcpSyn, .scale = 4, .timestamps = TrackedTimestamps{40, 0}},
        true);
    run({.seq = 7000,
         .ack = 90'001,
         .flags = kTcpSyn | kTcpAck,
         .scale = 1,
         .timestamps = TrackedTimestamps{930, 40}},
        false);
    run({.seq = 90'001, .ack = 7001, .timestamps = TrackedTimestamps{41, 930}}, true);
    EXPECT_EQ(process.tracker.counters().of(TrackEvent::Replaced), 1U);
    EXPECT_GT(seen, 80U);
}

// A connection that ends is there or not.
TEST_F(KillPoints, AConnectionThatMakesRoomIsThereOrNot) {
    establish(process, dialogue);
    dialogue.now = 16 * 60 * 1000;
    const Facts before = left();
    region.memory.run_guarded(
        [&] { (void)process.tracker.expire(at_millisecond(dialogue.now), 1); },
        [&] { instants.push_back(left()); });
    const Facts after = left();
    ASSERT_NE(before, after);
    for (const Facts& now : instants) {
        EXPECT_TRUE(now == before || now == after);
    }
    EXPECT_GT(instants.size(), 2U);
}

// Whatever lies there: a process begins, and goes on.
TEST(TrackKept, ARegionOfAnyContentIsTakenOver) {
    std::mt19937_64 random{23};
    for (int round = 0; round < 50; ++round) {
        Region region;
        const std::size_t bytes = ConnectionTracker::kept_of(kBudget);
        auto* const at = static_cast<std::uint8_t*>(region.memory.base());
        for (std::size_t i = 0; i < bytes; ++i) {
            // Small numbers are phases, flags and indices more often.
            const std::uint64_t number = random();
            at[i] = static_cast<std::uint8_t>(number % 3 == 0 ? number >> 8U & 7U : number >> 8U);
        }
        Process process{region};
        std::vector<Dialogue> all(30);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].ends = kEnds * (i + 1);
            establish(process, all[i]);
            say(process, all[i], {.seq = 1, .ack = 1, .payload = 20}, true);
        }
        EXPECT_LE(process.tracker.size(),
                  kBudget.connections + kBudget.half_open + kBudget.midstream);
        while (process.tracker.expire(at_millisecond(std::int64_t{1} << 31), 8)) {
        }
    }
}

}  // namespace
}  // namespace sluice::track_kept_test

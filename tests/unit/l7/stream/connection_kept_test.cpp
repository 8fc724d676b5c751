#include "tests/guarded_memory.hpp"
#include "tests/unit/l7/stream/toy_connection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Streams in memory that outlives the process: the toy protocol's, killed before each store.
namespace sluice::connection_kept_test {
namespace {

using test::at_second;
using test::GuardedMemory;
using test::kDrop;
using test::kPass;
using test::toy_unit;
using test::ToyReader;

constexpr std::uint32_t kIsn = 0xFFFF'FFF0;
constexpr std::uint64_t kDigest = 0x1234'5678'9ABC'DEF0;
constexpr ConnectionBudget kBudget{.connections = 64,
                                   .half_heads = 16,
                                   .refusals = 16,
                                   .given_up = 16,
                                   .begun = 16,
                                   .half_head_lines = 200,
                                   .half_heads_per_source = 2,
                                   .head_bytes = 4000};

struct Region {
    GuardedMemory memory{ConnectionTable::kept_of(kBudget)};

    [[nodiscard]] KeptMemory kept() const {
        return {memory.base(), ConnectionTable::kept_of(kBudget), 4096};
    }
};

struct Process {
    explicit Process(const Region& region, int second = 0)
        : memory{region.kept()}, table{kBudget, ReadingStance::Service, memory} {
        table.take_over(at_second(second), [](const FramingState&) noexcept { return true; });
    }
    StreamOffer add(std::uint64_t at, const std::string& bytes, std::uint64_t source = 1,
                    std::uint64_t digest = kDigest) {
        ToyReader reader{table, digest, kIsn};
        reader.verdict(verdict);
        const StreamOffer offer = reader.add(at, bytes, at_second(0), source);
        table.conclude();
        units += reader.units().size();
        return offer;
    }
    KeptMemory memory;
    ConnectionTable table;
    StickyVerdict verdict = kPass;
    std::size_t units = 0;
};

TEST(ConnectionKept, AHalfHeadIsCompletedInTheNextProcess) {
    const std::string unit = toy_unit('a', 250);
    for (const bool has_gap : {false, true}) {
        Region region;
        {
            Process first{region};
            EXPECT_EQ(first.add(0, unit.substr(0, 100)).kind, Offered::Held);
            if (has_gap) {
                EXPECT_EQ(first.add(180, unit.substr(180)).kind, Offered::Held);
            }
        }
        Process next{region};
        EXPECT_EQ(next.table.half_heads(), 1U);
        EXPECT_EQ(next.add(100, unit.substr(100, has_gap ? 80 : 150)).kind, Offered::Nothing);
        EXPECT_EQ(next.units, 1U);
        EXPECT_EQ(next.table.half_heads(), 0U);
        EXPECT_EQ(next.table.counters().held_lines.read(), 0U) << "no line is lost";
    }
}

// Its client could not go on with it meanwhile, and does so no sooner than its own timer says.
TEST(ConnectionKept, AHalfHeadWaitsForItsClientWhereNoBoxWas) {
    const std::string unit = toy_unit('a', 250);
    for (const int second : {200, 250}) {
        Region region;
        {
            Process first{region};
            EXPECT_EQ(first.add(0, unit.substr(0, 100)).kind, Offered::Held);
        }
        Process next{region, 120};
        (void)next.table.expire(at_second(second), 8);
        ToyReader reader{next.table, kDigest, kIsn};
        EXPECT_EQ(reader.add(100, unit.substr(100), at_second(second)).kind,
                  second == 200 ? Offered::Nothing : Offered::Refused);
        EXPECT_EQ(reader.units().size(), second == 200 ? 1U : 0U);
    }
}

TEST(ConnectionKept, LinesThatTwoHeadsClaimAreOneOfThems) {
    Region region;
    const std::string unit = toy_unit('a', 250);
    {
        Process first{region};
        (void)first.add(0, unit.substr(0, 100));
        (void)first.add(0, unit.substr(0, 100), 2, kDigest + 1);
        // Its line is the other's from now on.
        auto* const words = static_cast<std::uint32_t*>(region.memory.base());
        const std::size_t count = ConnectionTable::kept_of(kBudget) / sizeof(std::uint32_t);
        constexpr std::size_t kHeldAt = offsetof(Connection, held) / sizeof(std::uint32_t);
        constexpr std::size_t kWords = sizeof(Connection) / sizeof(std::uint32_t);
        std::vector<std::uint32_t*> held;
        for (std::size_t at = 0; at + kWords <= count; at += kWords) {
            const std::uint64_t digest = words[at] | std::uint64_t{words[at + 1]} << 32;
            // The change under way is put by behind the same digest, elsewhere in its line.
            if ((digest == kDigest || digest == kDigest + 1) && words[at + kHeldAt] != 0) {
                held.push_back(&words[at + kHeldAt]);
            }
        }
        ASSERT_GE(held.size(), 2U);
        for (std::uint32_t* one : held) {
            *one = *held.front();
        }
    }
    Process next{region};
    EXPECT_EQ(next.table.half_heads(), 1U);
    std::size_t refused = 0;
    for (const std::uint64_t digest : {kDigest, kDigest + 1}) {
        refused += next.add(100, unit.substr(100), 1, digest).kind == Offered::Refused ? 1 : 0;
    }
    EXPECT_EQ(refused, 1U) << "the rest of a head whose beginning is gone";
}

// Nothing tells whether an answer to an earlier request is under way.
TEST(ConnectionKept, AnAnswerMayBeOnItsWay) {
    Region region;
    const std::string unit = toy_unit('a', 60);
    {
        Process first{region};
        EXPECT_FALSE(first.table.may_await_answer(first.add(0, unit), 100));
        EXPECT_FALSE(first.table.may_await_answer(first.add(60, unit), 200)) << "it has come";
    }
    Process next{region};
    EXPECT_TRUE(next.table.may_await_answer(next.add(120, unit), 300));
}

TEST(ConnectionKept, ARefusalSticks) {
    Region region;
    const std::string unit = toy_unit('a', 60, 40);
    {
        Process first{region};
        first.verdict = kDrop;
        (void)first.add(0, unit);
    }
    Process next{region};
    const StreamOffer again = next.add(0, unit);
    EXPECT_EQ(again.kind, Offered::Judged);
    EXPECT_EQ(again.judged, kDrop);
    EXPECT_EQ(next.units, 0U);
}

// A request of ten bytes whose body is framed by every byte of it, sent to one process.
StreamOffer send_framed(Process& process, std::uint32_t at, const std::string& text,
                        std::uint32_t acknowledged = 0) {
    static const KeyHasher hash{HashSecret{1, 2}};
    static std::array<std::byte, 8192> scratch{};
    const TcpSegment segment{.digest = kDigest,
                             .source = 1,
                             .seq = kIsn + at,
                             .payload = bytes_of(text),
                             .hash = &hash,
                             .acknowledged = kIsn + acknowledged};
    ConnectionTable& table = process.table;
    StreamOffer offer;
    for (table.take(segment, scratch, at_second(0), offer); offer.parses(); table.next(offer)) {
        if (offer.kind != Offered::Framed) {
            table.finish(offer, 10, kPass, {.kind = UnitBody::Kind::Framed});
            continue;
        }
        const auto size = static_cast<std::uint32_t>(offer.bytes.size());
        const std::array<PayloadRange, 1> line{{{0, size}}};
        table.framed(offer, size, {.kind = UnitBody::Kind::Framed}, line);
    }
    table.conclude();
    return offer;
}

TEST(ConnectionKept, ALineOfChunksStandsInTheNextProcess) {
    Region region;
    {
        Process first{region};
        (void)send_framed(first, 0, toy_unit('a', 10));
        EXPECT_EQ(send_framed(first, 10, "1000\r\n").kind, Offered::Nothing);
    }
    Process next{region};
    EXPECT_TRUE(send_framed(next, 10, "0\r\n\r\nG").differs);
    EXPECT_FALSE(send_framed(next, 10, "1000\r\n").differs) << "its server had lost it";
    EXPECT_TRUE(send_framed(next, 10, "0\r\n\r\nG").differs);
    EXPECT_FALSE(send_framed(next, 10, "0\r\n\r\nG", 16).differs) << "the server has it";
}

// Killed before each store: lines that were read stand, and none of them is refused.
TEST(ConnectionKept, AKillAtAnyStoreLosesNoLineOfChunks) {
    constexpr std::uint32_t kLines = 8;
    Region region;
    Region other;
    Process process{region};
    (void)send_framed(process, 0, toy_unit('a', 10));
    std::size_t instants = 0;
    for (std::uint32_t i = 0; i < kLines; ++i) {
        const auto line = [](std::uint32_t of) { return std::to_string(1000 + of) + "\r\n"; };
        const std::uint32_t acknowledged = i < 3 ? 0 : 10 + 6 * (i - 2);
        const auto killed = [&](bool is_read) {
            other.memory.copy_from(region.memory);
            Process next{other};
            ++instants;
            for (std::uint32_t of = i < 2 ? 0 : i - 2; of < i + (is_read ? 1 : 0); ++of) {
                EXPECT_TRUE(send_framed(next, 10 + 6 * of, "0\r\n\r\nG", acknowledged).differs)
                    << of << " of " << i;
                EXPECT_FALSE(send_framed(next, 10 + 6 * of, line(of), acknowledged).differs)
                    << of << " of " << i;
            }
            for (std::uint32_t of = i; of < kLines; ++of) {
                EXPECT_FALSE(send_framed(next, 10 + 6 * of, line(of), acknowledged).differs);
            }
            // No room is lost: of a block's lines two are there.
            std::uint32_t more = 0;
            const std::uint32_t all = 10 + 6 * kLines;
            while (send_framed(next, all + 6 * more, line(0), all - 12).kind == Offered::Nothing) {
                ++more;
            }
            EXPECT_EQ(more, FramingBytes::kKept - 2) << i;
        };
        region.memory.run_guarded(
            [&] { (void)send_framed(process, 10 + 6 * i, line(i), acknowledged); },
            [&] { killed(false); });
        killed(true);
    }
    EXPECT_GT(instants, 60U);
}

// A SYN removes it: until it is gone its line stands.
TEST(ConnectionKept, AKillInTheMiddleOfARemovalLosesNoLineOfChunks) {
    Region region;
    Region other;
    Process process{region};
    (void)send_framed(process, 0, toy_unit('a', 10));
    (void)send_framed(process, 10, "1000\r\n");
    std::size_t instants = 0;
    std::size_t there = 0;
    const auto killed = [&] {
        other.memory.copy_from(region.memory);
        Process next{other};
        ++instants;
        if (next.table.verdict_of(kDigest, kIsn, kIsn + 10) == kPass) {
            ++there;
            EXPECT_TRUE(send_framed(next, 10, "0\r\n\r\nG").differs) << instants;
        }
    };
    const auto begin_anew = [&] {
        StreamOffer offer;
        process.table.take(
            {.digest = kDigest, .source = 1, .seq = kIsn + 5000, .syn = true, .begins = true}, {},
            at_second(0), offer);
        process.table.conclude();
    };
    region.memory.run_guarded(begin_anew, killed);
    killed();
    EXPECT_GT(there, 10U);
    EXPECT_LT(there, instants);
}

// A unit goes on to a receiver that may wait for the bytes before it: until that has acknowledged
// them, nothing comes in their place, whole, half or in any cut.
TEST(ConnectionKept, WhatIsMissingBeforeTheFirstWordIsNotFilled) {
    const std::string unit = toy_unit('a', 60);
    int later = 2;
    Region region;
    {
        Process first{region};
        (void)first.add(0, unit);
    }
    Process next{region};
    const auto add = [&](std::uint64_t at, const std::string& bytes) {
        ToyReader reader{next.table, kDigest, kIsn};
        const StreamOffer offer = reader.add(at, bytes, at_second(later));
        next.table.conclude();
        next.units += reader.units().size();
        return offer;
    };
    EXPECT_EQ(add(100, unit).why, RefusedWhy::Unheard) << "the receiver has not spoken";
    later += 2;
    EXPECT_EQ(add(100, unit).kind, Offered::Nothing) << "the oldest, as it comes again";
    for (const std::size_t size : {std::size_t{1}, std::size_t{20}, std::size_t{40}}) {
        for (const std::string& bytes :
             {toy_unit('b', 60).substr(0, size), toy_unit('b', std::max(size, test::kToyHead)),
              std::string(size, 'x')}) {
            const StreamOffer offer = add(100 - size, bytes.substr(0, size));
            EXPECT_EQ(offer.kind, Offered::Refused) << size;
            EXPECT_EQ(offer.why, RefusedWhy::MissedSome) << size;
        }
    }
    EXPECT_EQ(next.units, 1U);
    EXPECT_EQ(add(160, unit).kind, Offered::Nothing) << "it goes on behind it";
    EXPECT_EQ(next.units, 2U);
    const std::string other(40, 'x');
    StreamOffer offer;
    std::array<std::byte, 8192> scratch{};
    for (const std::uint32_t acknowledged : {60U, 99U, 100U}) {
        next.table.take({.digest = kDigest,
                         .source = 1,
                         .seq = kIsn + 60,
                         .payload = bytes_of(other),
                         .acknowledged = kIsn + acknowledged},
                        scratch, at_second(later), offer);
        EXPECT_EQ(offer.kind, acknowledged < 100 ? Offered::Refused : Offered::Resync);
    }
}

// Bytes that are sent again are the oldest if nothing older has come since, and a second has
// passed.
TEST(ConnectionKept, TheOldestOfAllThatLiesAheadIsTheOneThatComesAgain) {
    struct Row {
        int second;
        std::uint64_t at;
        Offered kind;
    };
    const std::string unit = toy_unit('a', 60);
    Region region;
    {
        Process first{region};
        (void)first.add(0, unit);
    }
    Process next{region};
    for (const Row& row : {Row{2, 300, Offered::Refused}, Row{2, 200, Offered::Refused},
                           Row{2, 200, Offered::Refused}, Row{4, 300, Offered::Refused},
                           Row{5, 140, Offered::Refused}, Row{5, 140, Offered::Refused},
                           Row{5, 200, Offered::Refused}, Row{7, 140, Offered::Nothing}}) {
        ToyReader reader{next.table, kDigest, kIsn};
        EXPECT_EQ(reader.add(row.at, unit, at_second(row.second)).kind, row.kind)
            << row.second << " s, " << row.at;
        next.table.conclude();
    }
    EXPECT_EQ(next.table.counters().of(ConnectionEvent::Unheard), 7U);
    EXPECT_EQ(next.add(200, unit).kind, Offered::Nothing) << "it goes on";
}

// A gap of an earlier process ends where it did, whatever comes ahead in the next one: bytes behind
// it that no unit held are lost on their way, and come again.
TEST(ConnectionKept, BytesAheadMoveNoGapOfBefore) {
    const std::string bytes(40, 'x');
    for (const std::uint32_t from : {99U, 100U}) {
        Region region;
        {
            Process first{region};
            (void)first.add(0, toy_unit('a', 60));
        }
        std::array<std::byte, 8192> scratch{};
        StreamOffer offer;
        TcpSegment segment{
            .digest = kDigest, .source = 1, .seq = kIsn + 100, .payload = bytes_of(bytes)};
        {
            Process second{region};
            second.table.take(segment, scratch, at_second(2), offer);
            ASSERT_EQ(offer.why, RefusedWhy::Unheard);
            second.table.take(segment, scratch, at_second(4), offer);
            ASSERT_EQ(offer.kind, Offered::Resync) << "behind what its receiver may lack";
            second.table.not_mine(offer);
            second.table.conclude();
        }
        Process third{region};
        segment.seq = kIsn + 300;
        third.table.take(segment, scratch, at_second(5), offer);
        ASSERT_EQ(offer.why, RefusedWhy::Unheard);
        third.table.conclude();
        segment.seq = kIsn + from;
        segment.acknowledged = kIsn + 99;
        third.table.take(segment, scratch, at_second(6), offer);
        EXPECT_EQ(offer.kind, from == 99 ? Offered::Refused : Offered::Resync);
    }
}

// A receiver that has spoken since says where the stream goes on: ahead of that bytes are held, as
// ever. What it said before may be old.
TEST(ConnectionKept, AReceiverThatHasSpokenIsBelieved) {
    const std::string unit = toy_unit('a', 60);
    for (const bool is_old : {true, false}) {
        Region region;
        {
            Process first{region};
            (void)first.add(0, unit);
        }
        Process next{region};
        std::array<std::byte, 8192> scratch{};
        StreamOffer offer;
        const TcpSegment ahead{.digest = kDigest,
                               .source = 1,
                               .seq = kIsn + 120,
                               .payload = bytes_of(unit),
                               .acknowledged = kIsn + 60,
                               .is_word_old = is_old};
        next.table.take(ahead, scratch, at_second(5), offer);
        EXPECT_EQ(offer.kind, is_old ? Offered::Refused : Offered::Held);
        EXPECT_EQ(offer.why, is_old ? RefusedWhy::Unheard : RefusedWhy::None);
    }
}

// Where nothing is known of the stream itself, as of one that had no bytes, the same holds.
TEST(ConnectionKept, AnOldWordIsNoPlaceToBeginAt) {
    const std::string unit = toy_unit('a', 60);
    Region region;
    Process next{region};
    std::array<std::byte, 8192> scratch{};
    StreamOffer offer;
    const TcpSegment ahead{.digest = kDigest,
                           .source = 1,
                           .seq = kIsn + 60,
                           .payload = bytes_of(unit),
                           .acknowledged = kIsn,
                           .is_word_old = true};
    EXPECT_TRUE(next.table.begin_at(ahead, {.first = kIsn, .sent = kIsn}, at_second(5)));
    next.table.take(ahead, scratch, at_second(5), offer);
    EXPECT_EQ(offer.why, RefusedWhy::Unheard);
}

// Nobody will settle it any more: its segment was not forwarded.
TEST(ConnectionKept, WhatWasNotDecidedIsJudgedAgain) {
    Region region;
    const std::string unit = toy_unit('a', 60, 40);
    {
        Process first{region};
        first.verdict = StickyVerdict::Undecided;
        (void)first.add(0, unit);
    }
    Process next{region};
    (void)next.add(0, unit);
    EXPECT_EQ(next.units, 1U);
    EXPECT_EQ(next.table.verdict_of(kDigest, kIsn, kIsn + 100), kPass);
}

// Segments of one connection, killed before each store: whatever the next process finds, it judges
// each unit that follows, and none of the client's segments is refused when they come once more.
TEST(ConnectionKept, AKillAtAnyStoreLosesNoUnit) {
    const std::string one = toy_unit('a', 200, 50);
    const std::string two = toy_unit('b', 120);
    const std::string all = one + two + toy_unit('c', 30);
    const std::vector<std::size_t> cuts{0, 30, 90, 230, 260, 340, all.size()};
    Region region;
    Region other;
    Process process{region};
    std::size_t instants = 0;
    std::size_t given_up = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const auto segment = [&](std::size_t number) {
            return all.substr(cuts[number], cuts[number + 1] - cuts[number]);
        };
        const auto killed = [&] {
            other.memory.copy_from(region.memory);
            Process next{other};
            ++instants;
            for (std::size_t later = i; later + 1 < cuts.size(); ++later) {
                if (next.add(cuts[later], segment(later)).kind == Offered::Refused) {
                    ++given_up;
                    EXPECT_EQ(next.table.half_heads(), 0U);
                    return;  // the half head that was being changed
                }
            }
            EXPECT_GE(next.units + (i >= 3 ? 1U : 0U) + (i >= 5 ? 1U : 0U) + 1U, 3U)
                << "segment " << i;
            EXPECT_EQ(next.table.half_heads(), 0U);
        };
        region.memory.run_guarded([&] { (void)process.add(cuts[i], segment(i)); }, killed);
        killed();
    }
    EXPECT_GT(instants, 60U);
    EXPECT_LT(given_up, instants / 2);
}

}  // namespace
}  // namespace sluice::connection_kept_test

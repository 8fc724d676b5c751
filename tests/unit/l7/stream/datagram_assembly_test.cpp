#include "lib/l7/stream/datagram_assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>

namespace sluice::datagram_assembly_test {
namespace {

using namespace std::chrono_literals;
using enum AssemblyOutcome;
using Bytes = std::vector<std::byte>;

constexpr Instant kNow{std::chrono::hours{1}};
constexpr std::uint64_t kDigest = 0xABCD'EF01'2345'6789;

Bytes datagram_of(std::size_t size, unsigned seed = 1) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 + seed * 31 + i / 256);
    }
    return bytes;
}
// The datagram's bytes from `from` to `to`, cut off at its end.
DatagramPart part(const Bytes& datagram, std::size_t from, std::size_t to,
                  std::uint64_t digest = kDigest, std::uint64_t source = 1) {
    to = std::min(to, datagram.size());
    return {.digest = digest,
            .source = source,
            .offset = static_cast<std::uint32_t>(from),
            .more = to != datagram.size(),
            .bytes = ByteView{datagram}.subspan(from, to - from)};
}

struct Assembly {
    AssemblyOutcome take(const DatagramPart& one, Instant now = kNow) {
        const AssemblyResult result = all.take(one, now);
        whole = {result.datagram.begin(), result.datagram.end()};
        return result.outcome;
    }
    DatagramAssembly all{{.datagrams = 64, .rooms = 8, .rooms_per_source = 4}};
    Bytes whole;
};

TEST(DatagramAssembly, TheLastToComeCompletesItInAnyOrderBehindTheFirst) {
    const Bytes datagram = datagram_of(4000);
    std::vector<std::size_t> later{1480, 2960};
    do {
        Assembly one;
        EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
        EXPECT_EQ(one.take(part(datagram, later[0], later[0] + 1480)), Waits);
        EXPECT_TRUE(one.whole.empty());
        EXPECT_EQ(one.take(part(datagram, later[1], later[1] + 1480)), Whole);
        EXPECT_EQ(one.whole, datagram);
    } while (std::next_permutation(later.begin(), later.end()));
}

TEST(DatagramAssembly, TheLongestIsPutTogetherAndNothingLonger) {
    const Bytes longest = datagram_of(DatagramAssembly::kMostBytes);
    Assembly one;
    for (std::size_t at = 0; at < longest.size(); at += 1480) {
        EXPECT_EQ(one.take(part(longest, at, at + 1480)),
                  at + 1480 < longest.size() ? Waits : Whole);
    }
    EXPECT_EQ(one.whole, longest);
    const Bytes longer = datagram_of(65'544);
    Assembly other;
    EXPECT_EQ(other.take(part(longer, 0, 65'528)), Waits);
    EXPECT_EQ(other.take(part(longer, 65'528, 65'544)), BadPart);
}

TEST(DatagramAssembly, AnExactCopyIsNoOverlap) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
        EXPECT_EQ(one.take(part(datagram, 2960, 3000)), Waits);
    }
    EXPECT_EQ(one.take(part(datagram, 1480, 2960)), Whole);
    EXPECT_EQ(one.take(part(datagram, 1480, 2960)), Follows);
    one.all.settle(kDigest, true);
    EXPECT_FALSE(one.all.is_refused(kDigest));
    EXPECT_EQ(one.take(part(datagram, 1480, 2960)), Copy);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Copy);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Copy);
}

// A receiver has forgotten the fragments of what was whole: copies of all of them are another
// datagram.
TEST(DatagramAssembly, CopiesOfAllBytesAreJudgedAgain) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Follows);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Refused) << "the first one is not decided";
    one.all.settle(kDigest, true);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole) << "and the copy above is of it";
    one.all.settle(kDigest, true);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Copy);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Copy);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Whole);
    one.all.settle(kDigest, false);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Refused);
}

// Servers, whose time runs from the first fragment that they see, hold no more than what is known
// here, whenever copies come: as often as one is whole there it was judged here.
TEST(DatagramAssembly, IsKnownForAsLongAsAServerMayHoldAnyOfItsFragments) {
    const Bytes datagram = datagram_of(3000);
    const std::array<std::pair<std::size_t, std::size_t>, 3> cuts{
        {{0, 1480}, {1480, 2960}, {2960, 3000}}};
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random{seed};
    for (const auto lifetime : {15s, 30s, 60s}) {
        for (int round = 0; round < 200; ++round) {
            Assembly box;
            std::array<bool, 3> held{};
            Instant began = kNow;
            unsigned judged = 0;
            unsigned served = 0;
            Instant now = kNow;
            for (int step = 0; step < 40; ++step, now += std::chrono::seconds{random() % 50}) {
                const std::size_t which = step == 0 ? 0 : random() % cuts.size();
                const auto [from, to] = cuts[which];
                if (now - began >= lifetime) {
                    held = {};
                }
                const AssemblyOutcome outcome = box.take(part(datagram, from, to), now);
                judged += outcome == Whole ? 1U : 0U;
                box.all.settle(kDigest, true);
                if (!passes(outcome)) {
                    continue;
                }
                began = held == std::array<bool, 3>{} ? now : began;
                held[which] = true;
                if (std::count(held.begin(), held.end(), true) == 3) {
                    ++served;
                    held = {};
                }
                ASSERT_LE(served, judged) << "step " << step << ", lifetime " << lifetime.count();
            }
        }
    }
}

TEST(DatagramAssembly, ARefusedOneStaysRefused) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole);
    one.all.settle(kDigest, false);
    EXPECT_TRUE(one.all.is_refused(kDigest));
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Refused);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Refused);
}

TEST(DatagramAssembly, TheSameBytesInAnotherCutAreNoOverlap) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 2960)), Waits);
    EXPECT_EQ(one.take(part(datagram, 800, 2000)), Waits);
    EXPECT_EQ(one.take(part(datagram, 2960, 3000)), Whole);
}

// RFC 5722: whatever claims bytes of another ends the datagram.
TEST(DatagramAssembly, AnOverlapEndsIt) {
    const Bytes datagram = datagram_of(3000);
    const Bytes other = datagram_of(3000, 2);
    const Bytes longer = datagram_of(3400);
    const Bytes shorter = datagram_of(2000);
    struct Row {
        const char* name;
        DatagramPart one;
    };
    const Row rows[] = {
        {"other bytes in a place", part(other, 1480, 2000)},
        {"some of the same and others", part(datagram, 1992, 2104)},
        {"over the first one's end", part(datagram, 1472, 2960)},
        {"another first one", part(other, 0, 1480)},
        {"a longer first one", part(datagram, 0, 2008)},
        {"another end behind", part(longer, 2960, 3400)},
        {"another end before", part(shorter, 1480, 2000)},
        {"behind the end", part(longer, 3008, 3016)},
    };
    for (const Row& row : rows) {
        Assembly one;
        EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
        EXPECT_EQ(one.take(part(datagram, 1480, 2000)), Waits);
        EXPECT_EQ(one.take(part(datagram, 2960, 3000)), Waits);
        EXPECT_EQ(one.take(row.one), Overlap) << row.name;
        EXPECT_EQ(one.take(part(datagram, 2000, 2960)), GivenUp) << row.name;
        EXPECT_EQ(one.all.rooms(), 0U) << row.name;
    }
}

// A server that lacks a part of what was judged does not get another one in its place.
TEST(DatagramAssembly, WhatDiffersFromAJudgedOneIsRefused) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole);
    one.all.settle(kDigest, true);
    EXPECT_EQ(one.take(part(datagram_of(3000, 2), 1480, 3000)), Overlap);
    EXPECT_EQ(one.take(part(datagram_of(1600), 0, 1480)), Copy);
    EXPECT_EQ(one.take(part(datagram_of(1600), 1480, 1600)), Overlap);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole) << "all bytes have come again";
    // A name may be used again when no server holds its datagram any more.
    EXPECT_EQ(one.take(part(datagram_of(1600), 0, 1480), kNow + 61s), Waits);
    EXPECT_EQ(one.take(part(datagram_of(1600), 1480, 1600), kNow + 61s), Whole);
}

TEST(DatagramAssembly, WhatNoReceiverTakesChangesNothing) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take({.digest = kDigest, .more = true}), BadPart);
    EXPECT_EQ(one.take(part(datagram, 0, 1484)), BadPart);
    EXPECT_EQ(one.all.size(), 0U);
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 1483)), BadPart);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Whole);
}

TEST(DatagramAssembly, WithoutItsFirstOneItIsNotKnown) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 1480, 3000)), Unknown);
    EXPECT_FALSE(one.all.owner_of(kDigest, kNow).has_value());
    EXPECT_EQ(one.take(part(datagram, 0, 1480)), Waits);
    EXPECT_TRUE(one.all.owner_of(kDigest, kNow).has_value());
    EXPECT_FALSE(one.all.owner_of(kDigest, kNow + 61s).has_value());
}

// A whole datagram's owner and bytes are kept until it is settled.
TEST(DatagramAssembly, KeepsWhatIsWholeUntilItsVerdict) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    DatagramPart first = part(datagram, 0, 1480);
    first.owner = 7;
    EXPECT_EQ(one.all.take(first, kNow).owner, 7);
    EXPECT_FALSE(one.all.bytes_of(kDigest).has_value());
    const AssemblyResult last = one.all.take(part(datagram, 1480, 3000), kNow);
    EXPECT_EQ(last.outcome, Whole);
    EXPECT_EQ(last.owner, 7);
    EXPECT_EQ(one.all.owner_of(kDigest, kNow), 7);
    ASSERT_TRUE(one.all.bytes_of(kDigest).has_value());
    EXPECT_EQ(Bytes(one.all.bytes_of(kDigest)->begin(), one.all.bytes_of(kDigest)->end()),
              datagram);
    one.all.settle(kDigest, true);
    EXPECT_FALSE(one.all.bytes_of(kDigest).has_value());
}

// A server holds what came for as long: the rest does not pass, and afterwards it is unknown.
TEST(DatagramAssembly, WhatMadeRoomIsRefusedUntilNoServerHoldsIt) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    for (std::uint64_t source = 0; source < 10; ++source) {
        EXPECT_EQ(one.take(part(datagram, 0, 1480, kDigest + source, source)), Waits);
    }
    EXPECT_EQ(one.all.rooms(), 8U);
    EXPECT_EQ(one.all.evicted(), 2U);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, kDigest, 0)), GivenUp);
    EXPECT_EQ(one.take(part(datagram, 0, 1480, kDigest, 0)), GivenUp);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, kDigest + 5, 5)), Whole);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, kDigest, 0), kNow + 61s), Unknown);
}

TEST(DatagramAssembly, OneSourceTakesNoMoreThanItsShare) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    EXPECT_EQ(one.take(part(datagram, 0, 1480, 77, 9)), Waits);
    for (std::uint64_t number = 0; number < 40; ++number) {
        EXPECT_EQ(one.take(part(datagram, 0, 1480, kDigest + number, 1)), Waits);
    }
    EXPECT_EQ(one.all.rooms(), 5U);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, 77, 9)), Whole);
}

// Lines are no less bounded: what is known of a datagram is not forgotten for a newer one.
TEST(DatagramAssembly, WithoutALineANewOneIsRefused) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    std::uint64_t begun = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
        begun += one.take(part(datagram, 0, 1480, number * 0x9E37'79B9'7F4A'7C15, number)) == Waits
                     ? 1U
                     : 0U;
    }
    EXPECT_EQ(begun, 64U);
    EXPECT_EQ(one.take(part(datagram, 0, 1480, 5, 5)), Full);
    EXPECT_EQ(one.take(part(datagram, 0, 1480, 5, 5), kNow + 61s), Waits);
}

// Of the source with most lines the oldest goes for one that has fewer, and nothing more of it
// passes: its server holds what came of it. The source itself makes no room for its own.
TEST(DatagramAssembly, OneSourceDoesNotKeepOthersOut) {
    const Bytes datagram = datagram_of(3000);
    Assembly one;
    const auto digest = [](std::uint64_t number) { return (number + 1) * 0x9E37'79B9'7F4A'7C15; };
    for (std::uint64_t number = 0; number < 64; ++number) {
        ASSERT_EQ(one.take(part(datagram, 0, 1480, digest(number), 1)), Waits) << number;
    }
    EXPECT_EQ(one.take(part(datagram, 0, 1480, digest(100), 1)), Full);
    EXPECT_EQ(one.take(part(datagram, 0, 1480, digest(200), 2)), Waits);
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, digest(200), 2)), Whole);
    EXPECT_EQ(one.all.owner_of(digest(0), kNow), std::optional<std::uint16_t>{0});
    for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 1480}, {1480, 3000}}) {
        EXPECT_EQ(one.take(part(datagram, from, to, digest(0), 1)), GivenUp);
    }
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, digest(63), 1)), Whole) << "the newest has room";
    std::uint64_t taken = 1;
    for (std::uint64_t number = 201; number < 300; ++number) {
        taken += one.take(part(datagram, 0, 1480, digest(number), 2)) == Waits ? 1 : 0;
    }
    EXPECT_EQ(taken, 32U) << "no more than it leaves to the other";
    EXPECT_EQ(one.take(part(datagram, 1480, 3000, digest(0), 1), kNow + 59s), GivenUp);
    EXPECT_EQ(one.take(part(datagram, 0, 1480, digest(0), 1), kNow + 121s), Waits)
        << "no server holds it any more";
}

// Beside a model that keeps each byte: what is whole is what was sent, and no byte of a datagram
// that is whole at a server was judged as another one.
TEST(DatagramAssembly, IsWhatASlowOneIs) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random{seed};
    for (int round = 0; round < 3000; ++round) {
        Assembly one;
        std::map<std::size_t, std::byte> come;
        std::optional<std::size_t> end;
        bool over = false;
        for (int step = 0; step < 30 && !over; ++step) {
            const Bytes bytes =
                datagram_of(64 + random() % 3 * 8 + random() % 2, random() % 8 == 0);
            const std::size_t from = step == 0 ? 0 : random() % (bytes.size() / 8) * 8;
            const DatagramPart sent = part(bytes, from, from + (1 + random() % 4) * 8);
            std::size_t there = 0;
            bool same = true;
            const std::size_t to = sent.offset + sent.bytes.size();
            for (std::size_t at = from; at < to; ++at) {
                there += come.count(at);
                same = same && come.count(at) != 0 && come[at] == bytes[at];
            }
            const std::size_t last = come.empty() ? 0 : come.rbegin()->first + 1;
            same = same && (sent.more || end == to);
            const bool bad =
                there != 0 || (end && (to > *end || !sent.more)) || (!sent.more && to < last);
            const AssemblyOutcome outcome = one.take(sent);
            if (same) {
                ASSERT_EQ(outcome, Waits);
                continue;
            }
            if (bad) {
                ASSERT_EQ(outcome, Overlap);
                over = true;
                continue;
            }
            for (std::size_t at = from; at < to; ++at) {
                come[at] = bytes[at];
            }
            end = sent.more ? end : std::optional{to};
            over = end && come.size() == *end;
            ASSERT_EQ(outcome, over ? Whole : Waits);
            for (std::size_t at = 0; at < one.whole.size(); ++at) {
                ASSERT_EQ(one.whole[at], come[at]);
            }
        }
    }
}

}  // namespace
}  // namespace sluice::datagram_assembly_test

#include "lib/l7/quic/quic_kept_hellos.hpp"

#include "tests/unit/l7/quic/quic_worker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace sluice::quic_kept_hellos_test {
namespace {

using namespace std::chrono_literals;
using test::crypto;
using test::InitialMaker;
using test::Octets;
using test::ProbedPacket;
using test::quic_frame;
using test::quic_hello;
using test::quic_id;
using test::quic_initial;
using test::quic_part;
using test::under_server_id;

constexpr std::size_t kCut = 40;  // the name lies behind it
const Octets kAllowed = quic_hello("a.example");
const Octets kSecret = quic_hello("b.example");

struct Worker : test::QuicWorker {
    explicit Worker(std::size_t connections = 256) : QuicWorker{test::quic_budget(connections)} {}
    ProbedPacket send(const InitialMaker& initial, std::string_view src = "10.0.0.1",
                      Instant at = test::kQuicStart) {
        return probe.take(quic_frame(initial.packet(), src), at);
    }
    ProbedPacket refuse(const InitialMaker& initial) {
        return probe.take(quic_frame(initial.packet()), test::kQuicStart, false);
    }
    ProbedPacket send(const Octets& datagram) {
        return probe.take(quic_frame(datagram), test::kQuicStart);
    }
};

InitialMaker head(const Octets& hello, unsigned id = 1) {
    return quic_part(hello, 0, kCut, id);
}
InitialMaker rest(const Octets& hello, unsigned id = 1) {
    return quic_part(hello, kCut, hello.size(), id);
}
// Numbered so that its receiver, which has seen higher numbers, makes another of it than is here.
InitialMaker misnumbered(const InitialMaker& initial) {
    return InitialMaker{initial}.keys_of(quic_id(0xDEAD));
}
InitialMaker ping(unsigned id = 1) {
    return InitialMaker{}
        .dcid(quic_id(id))
        .carries({std::byte{1}})
        .padded_to(test::kInitialPayload);
}
Octets both(const InitialMaker& first, const InitialMaker& second) {
    Octets datagram = first.packet();
    const Octets behind = second.packet();
    datagram.insert(datagram.end(), behind.begin(), behind.end());
    return datagram;
}

// The second part that is read completes a hello, but its server drops it (a number that came
// before, a full buffer) and takes the third.
TEST(QuicKeptHellos, AnotherRestOfAHelloInPartsIsRefused) {
    for (const bool server_answered : {false, true}) {
        Worker worker;
        EXPECT_EQ(worker.send(head(kAllowed)).dropped, "");
        EXPECT_EQ(worker.send(rest(kAllowed)).units("handshake"), 1U);
        const InitialMaker other = server_answered ? under_server_id(rest(kSecret)) : rest(kSecret);
        EXPECT_EQ(worker.send(other).dropped, "overlap") << server_answered;
        // Bytes that stand may come in another cut.
        const InitialMaker same = quic_part(kAllowed, kCut - 7, kAllowed.size());
        EXPECT_EQ(worker.send(server_answered ? under_server_id(same) : same).dropped, "");
    }
}

TEST(QuicKeptHellos, AWholeHelloOfOneDatagramButTwoPacketsIsOneInParts) {
    Worker worker;
    EXPECT_EQ(worker.send(both(head(kAllowed), rest(kAllowed))).units("handshake"), 1U);
    EXPECT_EQ(worker.send(rest(kSecret)).dropped, "overlap");
}

// Each way to hide a part from the box: a packet that is authentic only by the number that its
// receiver makes of it.
TEST(QuicKeptHellos, WhatIsNotAuthenticUnderAKnownIdIsRefused) {
    Worker worker;
    EXPECT_EQ(worker.send(ping()).dropped, "");
    EXPECT_EQ(worker.send(misnumbered(quic_initial("b.example"))).dropped, "lost_head");
    Worker judged;
    EXPECT_EQ(judged.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(judged.send(misnumbered(quic_initial("b.example"))).dropped, "lost_head");
    Worker parts;
    EXPECT_EQ(parts.send(head(kAllowed)).dropped, "");
    EXPECT_EQ(parts.send(rest(kAllowed)).units("handshake"), 1U);
    EXPECT_EQ(parts.send(misnumbered(under_server_id(rest(kSecret)))).dropped, "lost_head");
    Worker beside;
    EXPECT_EQ(beside.send(both(ping(), misnumbered(quic_initial("b.example")))).dropped, "overlap");
}

// Clients that begin several connections by the same ports, in one datagram or in parts, go on with
// each of them under the ids of its server.
TEST(QuicKeptHellos, ConnectionsOfOnePathGoOnEach) {
    Worker worker;
    (void)worker.send(head(kAllowed, 1));
    EXPECT_EQ(worker.send(rest(kAllowed, 1)).units("handshake"), 1U);
    EXPECT_EQ(worker.send(quic_initial("b.example", 2)).units("handshake"), 1U);
    for (const unsigned id : {1U, 2U}) {
        EXPECT_EQ(worker.send(ping().dcid(quic_id(0xBEEF + id)).keys_of(quic_id(id))).dropped, "");
    }
    // That of a fifth is known by itself; the first one's has made room.
    for (const unsigned id : {3U, 4U, 5U}) {
        EXPECT_EQ(worker.send(quic_initial("b.example", id)).units("handshake"), 1U);
        EXPECT_EQ(worker.send(ping().dcid(quic_id(0xBEEF + id)).keys_of(quic_id(id))).dropped, "");
    }
    EXPECT_EQ(worker.send(ping().dcid(quic_id(0xBEEF)).keys_of(quic_id(1))).dropped, "lost_head");
}

// What a blind sender does in the name of a client between its hello and what it goes on with under
// its server's id.
TEST(QuicKeptHellos, StrangersOfItsPathDoNotEndAConnection) {
    const InitialMaker next = under_server_id(ping());
    Worker whole;
    EXPECT_EQ(whole.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(whole.send(both(head(kSecret, 50), rest(kSecret, 50))).units("handshake"), 1U);
    EXPECT_EQ(whole.send(next).dropped, "");
    Worker halves;
    EXPECT_EQ(halves.send(quic_initial("a.example")).units("handshake"), 1U);
    for (unsigned id = 50; id < 53; ++id) {
        (void)halves.send(head(kSecret, id));
    }
    EXPECT_EQ(halves.send(next).dropped, "");
    // What is not authentic for anybody is no more than it was.
    EXPECT_EQ(halves.send(misnumbered(next)).dropped, "lost_head");
    const Instant later = test::kQuicStart + 12s;  // these are given up
    EXPECT_EQ(halves.send(next, "10.0.0.1", later).dropped, "");
    EXPECT_EQ(halves.send(misnumbered(next), "10.0.0.1", later).dropped, "lost_head");
    Worker again;  // the same hello came in parts meanwhile
    EXPECT_EQ(again.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(again.send(head(kAllowed)).dropped, "");
    EXPECT_EQ(again.send(rest(kAllowed)).units("handshake"), 0U);
    for (unsigned id = 50; id < 53; ++id) {
        (void)again.send(head(kSecret, id));
    }
    EXPECT_EQ(again.send(next).dropped, "");
    Worker behind;  // a hello of its path that was refused
    (void)behind.send(head(kSecret, 50));
    EXPECT_EQ(behind.refuse(rest(kSecret, 50)).units("handshake"), 1U);
    EXPECT_EQ(behind.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(behind.send(next).dropped, "");
    Worker refused;
    EXPECT_EQ(refused.refuse(quic_initial("a.example")).units("handshake"), 1U);
    (void)refused.send(both(head(kSecret, 50), rest(kSecret, 50)));
    EXPECT_EQ(refused.send(next).dropped, "lost_head");
}

// A hello that its server did not get is no cover for another one that goes on under the id that
// the server chose.
TEST(QuicKeptHellos, AnotherHelloUnderTheServersIdIsJudged) {
    Worker worker;
    EXPECT_EQ(worker.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(worker.send(under_server_id(quic_initial("a.example"))).units("handshake"), 0U);
    EXPECT_EQ(worker.send(head(kSecret)).dropped, "");
    const ProbedPacket last = worker.send(under_server_id(rest(kSecret)));
    EXPECT_EQ(last.units("handshake"), 1U);
    EXPECT_EQ(last.texts.back().at("quic.sni"), "b.example");
    // It took more than one packet: its bytes stand.
    const Octets third = quic_hello("c.example");
    EXPECT_EQ(worker.send(rest(third)).dropped, "overlap");
    EXPECT_EQ(worker.send(under_server_id(rest(third))).dropped, "overlap");
    EXPECT_EQ(worker.send(under_server_id(ping())).dropped, "");
}

// A flood may push out what is known of a refused hello but the hello itself.
TEST(QuicKeptHellos, WhatGoesOnWithARefusedOneThatIsForgottenElsewhereIsRefused) {
    Worker worker{64};
    EXPECT_EQ(worker.send(quic_initial("a.example")).units("handshake"), 1U);
    EXPECT_EQ(worker.send(head(kSecret)).dropped, "");
    EXPECT_EQ(worker.refuse(rest(kSecret)).units("handshake"), 1U);
    EXPECT_EQ(worker.send(under_server_id(rest(kSecret))).dropped, "retransmission");
    for (unsigned i = 0; i < 100; ++i) {
        const std::string src = "10.0.1." + std::to_string(i);
        EXPECT_EQ(worker.send(quic_initial("c.example", 1000 + i), src).units("handshake"), 1U);
    }
    EXPECT_EQ(worker.send(under_server_id(rest(kSecret))).dropped, "lost_head");
}

// Hellos that had to make room do not let others through in their place.
TEST(QuicKeptHellos, AFloodBringsNoOtherPartThrough) {
    Worker worker{64};  // 8 are kept
    (void)worker.send(head(kAllowed));
    EXPECT_EQ(worker.send(rest(kAllowed)).units("handshake"), 1U);
    for (unsigned i = 0; i < 12; ++i) {
        const std::string src = "10.0.1." + std::to_string(i);
        (void)worker.send(head(kAllowed, 100 + i), src);
        (void)worker.send(rest(kAllowed, 100 + i), src);
    }
    EXPECT_EQ(worker.send(rest(kSecret)).dropped, "lost_head");
    EXPECT_EQ(worker.send(under_server_id(rest(kSecret))).dropped, "lost_head");
    // Others go on, and so does whoever comes once its server has given up.
    EXPECT_EQ(worker.send(rest(kAllowed, 111), "10.0.1.11").dropped, "");
    const Instant later = test::kQuicStart + 200s;
    EXPECT_EQ(worker.send(head(kSecret, 7), "10.0.0.1", later).dropped, "");
    EXPECT_EQ(worker.send(rest(kSecret, 7), "10.0.0.1", later).units("handshake"), 1U);
}

void flood(Worker& worker, unsigned hellos) {
    for (unsigned i = 0; i < hellos; ++i) {
        const std::string src = "10.0.1." + std::to_string(i);
        (void)worker.send(head(kAllowed, 100 + i), src);
        (void)worker.send(rest(kAllowed, 100 + i), src);
    }
}

// Its bytes alone have made room, or its verdict as well: the same bytes are a repeat, free of
// charge, and from then on each part of them.
TEST(QuicKeptHellos, BehindAFloodTheSameHelloInPartsIsARepeat) {
    for (const unsigned hellos : {12U, 40U}) {
        Worker worker{64};
        (void)worker.send(head(kAllowed));
        EXPECT_EQ(worker.send(rest(kAllowed)).units("handshake"), 1U);
        flood(worker, hellos);
        EXPECT_EQ(worker.send(head(kAllowed)).dropped, "lost_head") << "its server may have others";
        const ProbedPacket again = worker.send(rest(kAllowed));
        EXPECT_EQ(again.units("handshake"), 0U);
        EXPECT_EQ(again.dropped, "");
        EXPECT_EQ(worker.send(head(kAllowed)).dropped, "");
        EXPECT_EQ(worker.send(rest(kAllowed)).dropped, "");
        EXPECT_EQ(worker.send(rest(kSecret)).dropped, "overlap");
        EXPECT_EQ(worker.send(under_server_id(rest(kAllowed))).dropped, "");
    }
}

// Its server may have one part of the first, and would take the rest of another one.
TEST(QuicKeptHellos, BehindAFloodNoOtherHelloTakesTheNameOfOneInParts) {
    for (const unsigned hellos : {12U, 40U}) {
        Worker worker{64};
        (void)worker.send(head(kAllowed));
        EXPECT_EQ(worker.send(rest(kAllowed)).units("handshake"), 1U);
        flood(worker, hellos);
        for (const InitialMaker& other : {head(kSecret), rest(kSecret), quic_initial("b.example"),
                                          under_server_id(rest(kSecret))}) {
            const ProbedPacket refused = worker.send(other);
            EXPECT_EQ(refused.dropped, "lost_head");
            EXPECT_EQ(refused.units("handshake"), 0U);
        }
        const Instant later = test::kQuicStart + 200s;
        EXPECT_EQ(worker.send(quic_initial("b.example"), "10.0.0.1", later).units("handshake"), 1U);
    }
}

TEST(QuicKeptHellos, BytesAreComparedOverChunks) {
    QuicKeptHellos kept{4, 60s};
    Octets hello(2000);
    for (std::size_t i = 0; i < hello.size(); ++i) {
        hello[i] = static_cast<std::byte>(i * 7);
    }
    kept.keep(WholeHello{1, 2, ConnectionId{quic_id(1)}, hello}, test::kQuicStart);
    std::vector<std::byte> room(4096);
    for (const std::size_t at : {0U, 511U, 512U, 1500U, 1999U}) {
        for (const bool differs : {false, true}) {
            Octets part{hello.begin() + static_cast<std::ptrdiff_t>(at), hello.end()};
            part.back() ^= static_cast<std::byte>(differs);
            CryptoStream stream{room};
            ASSERT_EQ(stream.add(at, part), CryptoAdd::Good);
            EXPECT_EQ(kept.agrees(1, stream), !differs) << at;
        }
    }
    CryptoStream behind{room};
    ASSERT_EQ(behind.add(2000, hello), CryptoAdd::Good);
    EXPECT_TRUE(kept.agrees(1, behind));
}

TEST(QuicKeptHellos, ItsMemoryIsBoundedAndGivenBack) {
    QuicKeptHellos kept{4, 60s};
    const Octets hello(2000, std::byte{1});
    for (std::uint64_t i = 1; i <= 40; ++i) {
        kept.keep({i << 32 | i, i << 40 | i, ConnectionId{quic_id(1)}, hello}, test::kQuicStart);
        EXPECT_LE(kept.size(), 4U);
    }
    EXPECT_FALSE(kept.may_have_lost(std::uint64_t{40} << 32 | 40, test::kQuicStart));
    EXPECT_TRUE(kept.may_have_lost(std::uint64_t{1} << 32 | 1, test::kQuicStart));
    const Octets longest(KeptHello::kMostChunks * KeptHello::kChunkBytes, std::byte{1});
    kept.keep({1, 2, ConnectionId{quic_id(1)}, longest}, test::kQuicStart);
    EXPECT_EQ(kept.size(), 1U);
    for (unsigned i = 0; i < 4; ++i) {
        kept.expire(test::kQuicStart + 61s);
    }
    EXPECT_EQ(kept.size(), 0U);
    EXPECT_FALSE(kept.has_parts_on(2));
}

TEST(QuicKeptHellos, ThoseOfOnePacketMakeRoomForEachOtherAlone) {
    QuicKeptHellos kept{4, 60s};
    const auto digest = [](std::uint64_t i) { return i << 32 | i; };
    const auto keep = [&](std::uint64_t i, const Octets& bytes) {
        kept.keep({digest(i), digest(1000 + i), ConnectionId{quic_id(1)}, bytes}, test::kQuicStart);
    };
    const Octets parts(700, std::byte{1});
    keep(1, parts);
    for (std::uint64_t i = 2; i < 100; ++i) {
        keep(i, {});
        EXPECT_LE(kept.size(), 5U);
    }
    EXPECT_EQ(kept.size(), 5U);
    EXPECT_TRUE(kept.has_parts_on(digest(1001)));
    EXPECT_FALSE(kept.has_parts_on(digest(1099)));
    for (std::uint64_t i = 1; i < 100; ++i) {
        const bool is_lost = i > 1 && i < 96;
        EXPECT_EQ(kept.may_have_lost(digest(i), test::kQuicStart), is_lost) << i;
        EXPECT_EQ(kept.may_have_lost(digest(1000 + i), test::kQuicStart), is_lost) << i;
    }
    // One that is refused leaves nothing, unless its server may have a part of it.
    kept.settle(digest(99), false);
    kept.settle(digest(98), true);
    kept.settle(digest(1), false);
    EXPECT_EQ(kept.size(), 4U);
    EXPECT_TRUE(kept.has_parts_on(digest(1001)));
    // Bytes of an id that had none are kept, and the first of these stand.
    keep(98, parts);
    EXPECT_EQ(kept.size(), 4U);
    EXPECT_TRUE(kept.has_parts_on(digest(1098)));
    std::vector<std::byte> room(4096);
    CryptoStream other{room};
    ASSERT_EQ(other.add(0, Octets(700, std::byte{2})), CryptoAdd::Good);
    EXPECT_FALSE(kept.agrees(digest(98), other));
    EXPECT_TRUE(kept.agrees(digest(97), other)) << "it has no bytes to differ from";
}

// Lines near those of others: a hello that finds none leaves nothing behind, not its path either.
TEST(QuicKeptHellos, WhatFindsNoLineIsLostAndHoldsNone) {
    constexpr std::uint64_t kNeighbours = std::uint64_t{1} << 32;  // digests of one home
    const Octets hello(100, std::byte{1});
    QuicKeptHellos kept{64, 60s};
    unsigned taken = 0;
    std::uint64_t next = 1;
    const auto keep = [&](std::uint64_t id, std::uint64_t path) {
        kept.keep({id, path, ConnectionId{quic_id(1)}, hello}, test::kQuicStart);
    };
    for (; taken < 7; ++taken, next += 2) {
        keep(next * kNeighbours, (next + 1) * kNeighbours);
    }
    keep(next * kNeighbours, 99);  // the fifteenth line of sixteen
    ASSERT_EQ(kept.size(), taken + 1);
    const std::uint64_t id = 100 * kNeighbours;
    const std::uint64_t path = 101 * kNeighbours;
    keep(id, path);
    EXPECT_EQ(kept.size(), taken + 1);
    EXPECT_FALSE(kept.has_parts_on(path));
    EXPECT_TRUE(kept.may_have_lost(id, test::kQuicStart));
    EXPECT_TRUE(kept.may_have_lost(path, test::kQuicStart));
    // The line that is left is still there to be taken.
    keep(id, 99);
    EXPECT_EQ(kept.size(), taken + 2);
}

// In the greatest flood of hellos that make room for each other, for as long as digests of two
// generations stand, others are seldom taken for lost.
TEST(QuicKeptHellos, AFloodOfLostOnesMistakesFewOthers) {
    QuicKeptHellos kept{64, 60s};
    const Octets hello(100, std::byte{1});
    std::mt19937_64 random{4};
    constexpr int kInTwentySeconds = 500'000;
    std::array<std::uint64_t, 2> early{};
    for (int i = 0; i < kInTwentySeconds; ++i) {
        const std::uint64_t id = random();
        const std::uint64_t path = random();
        early = i == kInTwentySeconds / 2 + 64 ? std::array{id, path} : early;
        kept.keep({id, path, ConnectionId{quic_id(1)}, hello}, test::kQuicStart + i * 40us);
    }
    const Instant now = test::kQuicStart + 20s;
    EXPECT_TRUE(kept.may_have_lost(early[0], now));
    EXPECT_TRUE(kept.may_have_lost(early[1], now));
    int mistaken = 0;
    for (int i = 0; i < 100'000; ++i) {
        mistaken += kept.may_have_lost(random(), now) ? 1 : 0;
    }
    EXPECT_GT(mistaken, 0);
    EXPECT_LT(mistaken, 250);  // one in 400
}

}  // namespace
}  // namespace sluice::quic_kept_hellos_test

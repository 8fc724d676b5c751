#include "lib/l7/quic/quic_units.hpp"

#include "tests/unit/l7/quic/quic_worker.hpp"

#include <gtest/gtest.h>

#include <string_view>

// Hellos whose parts come by several ports or addresses: a server goes by the id of a connection,
// and puts them together.
namespace sluice::quic_paths_test {
namespace {

using namespace std::chrono_literals;
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
const Octets kHello = quic_hello("login.example");
const Octets kOther = quic_hello("index.example");

struct Path {
    std::string_view src;
    std::uint16_t port;
};
constexpr Path kFirst{"10.0.0.1", 40'000};
constexpr Path kOthers[] = {{"10.0.0.1", 40'001}, {"10.0.0.2", 40'000}};

struct Worker : test::QuicWorker {
    ProbedPacket send(const Path& path, const InitialMaker& initial, std::uint16_t dport = 443) {
        return probe.take(quic_frame(initial.packet(), path.src, path.port, dport), now);
    }
};

InitialMaker head(const Octets& hello) {
    return quic_part(hello, 0, kCut);
}
InitialMaker rest(const Octets& hello) {
    return quic_part(hello, kCut, hello.size()).number(1, 1);
}

// Some servers put them together, others take each path for a connection of its own: to either,
// what passes is of one path, and is charged to it.
TEST(QuicPaths, PartsByAnotherPathAreRefused) {
    for (const Path& other : kOthers) {
        Worker worker;
        EXPECT_EQ(worker.send(kFirst, head(kHello)).dropped, "");
        EXPECT_EQ(worker.send(other, rest(kHello)).dropped, "lost_head");
        EXPECT_EQ(worker.send(other, head(kHello)).dropped, "lost_head");
        const ProbedPacket second = worker.send(kFirst, rest(kHello));
        ASSERT_EQ(second.units("handshake"), 1U);
        EXPECT_EQ(second.texts[0].at("quic.sni"), "login.example");
        EXPECT_EQ(worker.send(other, head(kHello)).dropped, "lost_head");
        EXPECT_EQ(worker.send(other, rest(kHello)).dropped, "lost_head");
        EXPECT_EQ(worker.send(kFirst, rest(kHello)).dropped, "") << "the rest again";
    }
}

// Whoever completes a hello by another path pays nothing for the one that began it.
TEST(QuicPaths, NobodyIsChargedForAHelloThatAnotherPathBegan) {
    for (const Path& other : kOthers) {
        Worker worker;
        (void)worker.send(kFirst, head(kHello));
        EXPECT_EQ(worker.send(other, quic_part(kHello, 0, kHello.size())).dropped, "lost_head");
        worker.now += 60s;
        EXPECT_EQ(worker.send(other, quic_part(kHello, 0, kHello.size())).units("handshake"), 1U)
            << "the half is over";
        EXPECT_EQ(worker.send(kFirst, rest(kHello)).dropped, "lost_head");
        EXPECT_EQ(worker.send(kFirst, quic_part(kHello, 0, kHello.size())).units("handshake"), 1U);
    }
}

TEST(QuicPaths, AnotherServersPartsAreNoneOfIt) {
    Worker worker;
    (void)worker.send(kFirst, head(kHello));
    EXPECT_EQ(worker.send(kFirst, rest(kHello), 8443).units("handshake"), 0U);
    EXPECT_EQ(worker.send(kFirst, rest(kHello)).units("handshake"), 1U);
}

// Its server may have the first bytes, and takes the rest alone of what comes by the other path.
TEST(QuicPaths, OtherBytesByAnotherPathAreRefused) {
    for (const bool was_whole : {false, true}) {
        for (const Path& other : kOthers) {
            Worker worker;
            (void)worker.send(kFirst, quic_part(kOther, 0, kOther.size() - 20));
            if (was_whole) {
                (void)worker.send(kFirst, quic_part(kOther, kOther.size() - 20, kOther.size()));
            }
            const ProbedPacket whole = worker.send(other, quic_part(kHello, 0, kHello.size()));
            EXPECT_EQ(whole.dropped, was_whole ? "overlap" : "lost_head");
            EXPECT_EQ(whole.units("handshake"), 0U);
        }
    }
}

// A server may tell connections by both: what is free is a repeat by its own path.
TEST(QuicPaths, AWholeHelloByAnotherPathIsJudgedAndCounted) {
    for (const Path& other : kOthers) {
        Worker worker;
        EXPECT_EQ(worker.send(kFirst, quic_initial("a")).units("handshake"), 1U);
        EXPECT_EQ(worker.send(kFirst, quic_initial("a")).units("handshake"), 0U);
        EXPECT_EQ(worker.send(other, quic_initial("a")).units("handshake"), 1U);
        EXPECT_EQ(worker.send(other, quic_initial("a")).units("handshake"), 0U);
    }
}

TEST(QuicPaths, ARefusedHelloIsRefusedByAnotherPath) {
    for (const Path& other : kOthers) {
        Worker worker;
        (void)worker.send(kFirst, head(kHello));
        (void)worker.probe.take(quic_frame(rest(kHello).packet()), test::kQuicStart, false);
        EXPECT_EQ(worker.send(other, rest(kHello)).dropped, "retransmission");
    }
}

// By another path nobody knows whose hello the id of a server stands for.
TEST(QuicPaths, TheIdOfAServerByAnotherPathIsRefused) {
    for (const Path& other : kOthers) {
        for (const bool has_own : {false, true}) {
            Worker worker;
            (void)worker.send(kFirst, head(kHello));
            if (has_own) {
                EXPECT_EQ(worker.send(other, quic_initial("own.example", 2)).units("handshake"),
                          1U);
            }
            EXPECT_EQ(worker.send(other, under_server_id(rest(kHello))).dropped, "lost_head");
            const ProbedPacket known = worker.send(kFirst, under_server_id(rest(kHello)));
            EXPECT_EQ(known.units("handshake"), 1U);
        }
    }
}

// Handshakes that were under way are gone on with, for as long as they take.
TEST(QuicPaths, BehindPacketsThatNobodyReadTheIdOfAServerPassesForTenSeconds) {
    Worker worker;
    EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "lost_head");
    worker.probe.unread_bursts = 1;
    EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "");
    worker.now += 9s;
    EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "");
    worker.now += 1s;
    EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "lost_head");
}

// A rule set follows another one whenever a key is banned: services that were there were shown all.
TEST(QuicPaths, BehindAnotherRuleSetTheIdOfAServerIsRefused) {
    Worker worker;
    worker.probe.load = 1;
    EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "")
        << "the first one of a process";
    worker.now += 10s;
    for (std::uint64_t load = 2; load < 5; ++load) {
        worker.probe.load = load;
        EXPECT_EQ(worker.send(kFirst, under_server_id(rest(kHello))).dropped, "lost_head");
    }
}

// Of no service nothing is refused that cannot be read, and ends are those of connections.
TEST(QuicPaths, OfNoServicePathsAreToldApart) {
    Worker worker;
    worker.probe.service = nullptr;
    (void)worker.send(kFirst, head(kHello));
    EXPECT_EQ(worker.send(kOthers[0], rest(kHello)).units("handshake"), 0U);
    EXPECT_EQ(worker.send(kOthers[0], under_server_id(rest(kHello))).dropped, "");
}

}  // namespace
}  // namespace sluice::quic_paths_test

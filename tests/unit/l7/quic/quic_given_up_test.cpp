#include "lib/l7/quic/quic_given_up_hellos.hpp"

#include "lib/l7/quic/quic_units.hpp"
#include "tests/unit/l7/quic/quic_worker.hpp"

#include <gtest/gtest.h>

#include <array>

// Hellos of which a part has passed, and which are given up: their server has that part, and takes
// the rest alone of what comes later.
namespace sluice::quic_given_up_test {
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

const Octets kFirst = quic_hello("login.example");
const Octets kOther = quic_hello("index.example");

// Some bytes behind the first in which both differ.
std::size_t cut() {
    std::size_t at = 0;
    while (kFirst[at] == kOther[at]) {
        ++at;
    }
    return at + 12;
}

enum class GivenUp { ByItsSource, InTime, AsMalformed };
constexpr std::array kEvery{GivenUp::ByItsSource, GivenUp::InTime, GivenUp::AsMalformed};

struct Worker : test::QuicWorker {
    explicit Worker(std::size_t connections = 256)
        : QuicWorker{{.connections = connections,
                      .half_hellos = 16,
                      .half_hellos_per_source = 4,
                      .percent = 100}} {}
    ProbedPacket send(const InitialMaker& initial, std::string_view src = "10.0.0.1",
                      unsigned port = 40'000) {
        return probe.take(quic_frame(initial.packet(), src, static_cast<std::uint16_t>(port)), now);
    }
    void give_up(GivenUp how) {
        if (how == GivenUp::InTime) {
            now += 11s;
        } else if (how == GivenUp::AsMalformed) {
            const Octets frame{std::byte{0x1E}};
            (void)send(InitialMaker{}
                           .dcid(quic_id(1))
                           .number(9, 1)
                           .carries(frame)
                           .padded_to(test::kInitialPayload));
        } else {
            for (unsigned id = 100; id < 104; ++id) {
                (void)send(quic_part(kFirst, 0, 20, id));
            }
        }
    }
};

TEST(QuicGivenUp, OtherBytesThanThoseThatPassedAreRefused) {
    for (const GivenUp how : kEvery) {
        for (const bool turned : {false, true}) {
            const Octets& first = turned ? kOther : kFirst;
            const Octets& other = turned ? kFirst : kOther;
            Worker worker;
            EXPECT_EQ(worker.send(quic_part(first, 0, cut())).dropped, "");
            worker.give_up(how);
            for (int i = 0; i < 2; ++i) {
                const ProbedPacket whole = worker.send(quic_part(other, 0, other.size()));
                EXPECT_EQ(whole.dropped, "overlap") << static_cast<int>(how);
                EXPECT_EQ(whole.units("handshake"), 0U);
            }
            // The bytes that stand are judged.
            const ProbedPacket same = worker.send(quic_part(first, 0, first.size()));
            EXPECT_EQ(same.dropped, "");
            EXPECT_EQ(same.units("handshake"), 1U);
        }
    }
}

TEST(QuicGivenUp, OtherBytesInPartsAreRefused) {
    for (const GivenUp how : kEvery) {
        Worker worker;
        EXPECT_EQ(worker.send(quic_part(kFirst, 0, cut())).dropped, "");
        worker.give_up(how);
        EXPECT_EQ(worker.send(quic_part(kOther, 0, cut())).dropped, "lost_head");
        EXPECT_EQ(worker.send(quic_part(kOther, cut(), kOther.size())).dropped, "overlap");
        EXPECT_EQ(worker.send(quic_part(kFirst, cut(), kFirst.size())).dropped, "lost_head");
        EXPECT_EQ(worker.send(quic_part(kFirst, 0, cut())).units("handshake"), 1U);
        // What is whole again stands with its bytes.
        EXPECT_EQ(worker.send(quic_part(kOther, cut() - 12, kOther.size())).dropped, "overlap");
    }
}

// Its server may lack the hello that was judged, and have the part behind it.
TEST(QuicGivenUp, PartsBehindAJudgedHelloStandToo) {
    for (const GivenUp how : {GivenUp::ByItsSource, GivenUp::InTime}) {
        Worker worker;
        EXPECT_EQ(worker.send(quic_initial("index.example")).units("handshake"), 1U);
        EXPECT_EQ(worker.send(quic_part(kFirst, 0, cut())).dropped, "");
        worker.give_up(how);
        EXPECT_EQ(worker.send(quic_part(kOther, 0, kOther.size())).dropped, "overlap");
        EXPECT_EQ(worker.send(quic_part(kFirst, 0, kFirst.size())).units("handshake"), 1U);
    }
}

TEST(QuicGivenUp, PartsOfASecondHelloStandToo) {
    const Octets before = quic_hello("a.example");
    const auto behind = [&](const Octets& second, std::size_t end) {
        return InitialMaker{}
            .dcid(quic_id(1))
            .carries(crypto(before.size(), second, 0, end))
            .padded_to(test::kInitialPayload);
    };
    for (const GivenUp how : {GivenUp::ByItsSource, GivenUp::InTime}) {
        Worker worker;
        EXPECT_EQ(worker.send(quic_initial("a.example")).units("handshake"), 1U);
        EXPECT_EQ(worker.send(behind(kFirst, cut())).dropped, "");
        worker.give_up(how);
        EXPECT_EQ(worker.send(behind(kOther, kOther.size())).dropped, "overlap");
        EXPECT_EQ(worker.send(behind(kFirst, kFirst.size())).units("handshake"), 1U);
    }
}

TEST(QuicGivenUp, AMonitoredServiceCountsIt) {
    Worker worker;
    worker.monitor();
    (void)worker.send(quic_part(kFirst, 0, cut()));
    worker.give_up(GivenUp::InTime);
    const ProbedPacket whole = worker.send(quic_part(kOther, 0, kOther.size()));
    EXPECT_EQ(whole.units("handshake"), 1U);
    EXPECT_EQ(whole.events.at("quic_malformed"), 1U);
}

TEST(QuicGivenUp, WithoutAServiceItPasses) {
    Worker worker;
    worker.probe.service = nullptr;
    (void)worker.send(quic_part(kFirst, 0, cut()));
    worker.give_up(GivenUp::InTime);
    const ProbedPacket whole = worker.send(quic_part(kOther, 0, kOther.size()));
    EXPECT_EQ(whole.dropped, "");
    EXPECT_EQ(whole.units("handshake"), 1U);
}

// Four are kept: the source with most loses its own, whose hellos are refused from then on.
TEST(QuicGivenUp, AFloodOfOneSourceTakesNoOthersPlace) {
    Worker worker{128};
    EXPECT_EQ(worker.send(quic_part(kFirst, 0, cut()), "10.0.0.2").dropped, "");
    for (unsigned id = 100; id < 112; ++id) {
        (void)worker.send(quic_part(kFirst, 0, cut(), id), "10.0.0.3", id);
    }
    worker.now += 11s;
    for (unsigned i = 0; i < 4; ++i) {  // few are given up for each datagram
        (void)worker.send(quic_initial("b.example", 200 + i), "10.0.0.4");
    }
    const auto flooder = [&](const Octets& hello, unsigned id) {
        return worker.send(quic_part(hello, 0, hello.size(), id), "10.0.0.3", id);
    };
    EXPECT_EQ(worker.send(quic_part(kOther, 0, kOther.size()), "10.0.0.2").dropped, "overlap");
    EXPECT_EQ(worker.send(quic_part(kFirst, 0, kFirst.size()), "10.0.0.2").units("handshake"), 1U);
    EXPECT_EQ(flooder(kOther, 100).dropped, "lost_head");
    EXPECT_EQ(flooder(kFirst, 100).dropped, "lost_head");
    EXPECT_EQ(flooder(kOther, 111).dropped, "overlap");
    EXPECT_EQ(flooder(kFirst, 111).units("handshake"), 1U);
}

TEST(QuicGivenUp, ItIsForgottenInTime) {
    Worker worker;
    (void)worker.send(quic_part(kFirst, 0, cut()));
    worker.give_up(GivenUp::InTime);
    (void)worker.send(quic_initial("b.example", 200), "10.0.0.4");
    worker.now += 62s;
    EXPECT_EQ(worker.send(quic_part(kOther, 0, kOther.size())).units("handshake"), 1U);
}

}  // namespace
}  // namespace sluice::quic_given_up_test

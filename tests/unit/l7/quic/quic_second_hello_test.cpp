#include "tests/unit/l7/quic/quic_worker.hpp"

#include <gtest/gtest.h>

// Hellos behind a HelloRetryRequest, which follow the first ones in the CRYPTO stream.
namespace sluice::quic_second_hello_test {
namespace {

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

const Octets kFirst = quic_hello("a.example");
const Octets kSame = test::HelloMaker{}
                         .sni("a.example")
                         .alpn({"h3"})
                         .versions({0x0304})
                         .extension(44, Octets(8, std::byte{7}))
                         .message();  // with the cookie of its server
const Octets kOther = quic_hello("b.example");

struct Worker : test::QuicWorker {
    explicit Worker(bool is_enforced = true, std::size_t connections = 256)
        : QuicWorker{test::quic_budget(connections)} {
        if (!is_enforced) {
            monitor();
        }
    }
    ProbedPacket send(const InitialMaker& initial, bool forwarded = true) {
        return probe.take(quic_frame(initial.packet()), test::kQuicStart, forwarded);
    }
};

InitialMaker carrying(const Octets& frames) {
    return InitialMaker{}.dcid(quic_id(1)).carries(frames).padded_to(test::kInitialPayload);
}
Octets together(const Octets& first, const Octets& second) {
    Octets all = first;
    all.insert(all.end(), second.begin(), second.end());
    return all;
}
// Of the bytes behind the first hello those from `begin` to `end`.
InitialMaker behind(const Octets& second, std::size_t begin, std::size_t end,
                    std::size_t first = kFirst.size()) {
    return carrying(crypto(first + begin, second, begin, end));
}
InitialMaker behind(const Octets& second) {
    return behind(second, 0, second.size());
}
void begin(Worker& worker, bool in_parts) {
    if (in_parts) {
        (void)worker.send(quic_part(kFirst, 0, 50));
        EXPECT_EQ(worker.send(quic_part(kFirst, 50, kFirst.size())).units("handshake"), 1U);
    } else {
        EXPECT_EQ(worker.send(quic_initial("a.example")).units("handshake"), 1U);
    }
}

TEST(QuicSecondHello, OneForTheSameServerIsAPacketHoweverItComes) {
    for (const bool in_parts : {false, true}) {
        Worker worker;
        begin(worker, in_parts);
        for (unsigned times = 0; times < 3; ++times) {
            const ProbedPacket whole = worker.send(under_server_id(behind(kSame)));
            EXPECT_EQ(whole.kinds, std::vector<std::string>{"packet"});
            EXPECT_EQ(whole.texts.front().at("quic.sni"), "a.example");
            EXPECT_EQ(whole.dropped, "");
            for (const auto& [from, to] : {std::pair{std::size_t{60}, kSame.size()}, {0, 60}}) {
                const ProbedPacket part = worker.send(under_server_id(behind(kSame, from, to)));
                EXPECT_EQ(part.kinds, std::vector<std::string>{"packet"});
                EXPECT_EQ(part.dropped, "");
            }
        }
        // Both hellos, where the acknowledgement of the first was lost.
        const Octets both = together(kFirst, kSame);
        EXPECT_EQ(worker.send(under_server_id(carrying(crypto(0, both)))).dropped, "");
        EXPECT_EQ(worker.send(under_server_id(quic_part(kFirst, 0, kFirst.size()))).dropped, "");
    }
}

TEST(QuicSecondHello, OneForAnotherServerIsAHandshakeOnce) {
    for (const bool in_parts : {false, true}) {
        for (const bool of_server : {false, true}) {
            for (const std::size_t cut : {kOther.size(), std::size_t{60}}) {
                Worker worker;
                begin(worker, in_parts);
                const auto send = [&](const InitialMaker& initial) {
                    return worker.send(of_server ? under_server_id(initial) : initial);
                };
                if (cut != kOther.size()) {
                    EXPECT_EQ(send(behind(kOther, cut, kOther.size())).units("handshake"), 0U);
                }
                const ProbedPacket other = send(behind(kOther, 0, cut));
                ASSERT_EQ(other.units("handshake"), 1U) << in_parts << of_server << cut;
                EXPECT_EQ(other.texts.front().at("quic.sni"), "b.example");
                EXPECT_EQ(other.events.at("quic_other_hello"), 1U);
                EXPECT_TRUE(other.remembered);
                const ProbedPacket again = send(behind(kOther));
                EXPECT_EQ(again.units("handshake"), 0U);
                EXPECT_EQ(again.dropped, "");
            }
        }
    }
}

TEST(QuicSecondHello, OneThatIsRefusedStaysRefusedInEveryCut) {
    Worker worker;
    begin(worker, false);
    (void)worker.send(behind(kOther, 0, 60));
    EXPECT_EQ(worker.send(behind(kOther, 60, kOther.size()), false).units("handshake"), 1U);
    EXPECT_EQ(worker.send(behind(kOther, 60, kOther.size())).dropped, "retransmission");
    EXPECT_EQ(worker.send(under_server_id(behind(kOther, 0, 60))).dropped, "retransmission");
    EXPECT_EQ(worker.send(under_server_id(behind(kOther))).dropped, "retransmission");
}

// Its server may have dropped the part that was read.
TEST(QuicSecondHello, OtherBytesForItsPlaceAreRefused) {
    Worker worker;
    begin(worker, false);
    EXPECT_EQ(worker.send(under_server_id(behind(kSame, 0, 30))).dropped, "");
    EXPECT_EQ(worker.send(under_server_id(behind(kSame, 30, kSame.size()))).dropped, "");
    EXPECT_EQ(worker.send(under_server_id(behind(kOther, 30, kOther.size()))).dropped, "overlap");
    EXPECT_EQ(worker.send(under_server_id(behind(kOther))).dropped, "overlap");
    EXPECT_EQ(worker.send(under_server_id(behind(kSame))).dropped, "");
}

// A HelloRetryRequest cannot have come by then.
TEST(QuicSecondHello, BytesBehindAHelloThatIsNotAnsweredAreRefused) {
    Worker worker;
    EXPECT_EQ(worker.send(carrying(crypto(0, together(kFirst, kOther)))).dropped,
              "malformed_hello");
    Worker ahead;
    EXPECT_EQ(ahead.send(behind(kOther)).dropped, "");
    EXPECT_EQ(ahead.send(quic_initial("a.example")).dropped, "malformed_hello");
    Worker third;
    begin(third, false);
    EXPECT_EQ(third.send(under_server_id(behind(together(kSame, kOther)))).dropped,
              "malformed_hello");
}

// Two hellos of one id: nobody knows which of them its server has.
TEST(QuicSecondHello, BehindHellosOfSeveralSizesItIsRefused) {
    Worker worker;
    begin(worker, false);
    EXPECT_EQ(worker.send(quic_initial("longer.example")).units("handshake"), 1U);
    EXPECT_EQ(worker.send(under_server_id(behind(kOther))).dropped, "lost_head");
    // Of one size, for several servers: each second one is a handshake.
    Worker names;
    begin(names, false);
    EXPECT_EQ(names.send(quic_initial("b.example")).units("handshake"), 1U);
    EXPECT_EQ(names.send(under_server_id(behind(kOther))).units("handshake"), 1U);
}

// Another hello of its id that is refused is none that its server lacks.
TEST(QuicSecondHello, ItIsReadAfterAnotherHelloOfItsIdWasRefused) {
    Worker worker;
    begin(worker, false);
    EXPECT_EQ(worker.send(quic_initial("b.example"), false).units("handshake"), 1U);
    EXPECT_NE(worker.send(under_server_id(behind(kOther))).dropped, "");
}

// The first hello is pushed out: by others of its path, and by a crowd.
TEST(QuicSecondHello, WhereTheFirstIsForgottenItIsRefused) {
    for (const unsigned others : {QuicKeptHellos::kPerPath, 40U}) {
        for (const bool of_server : {false, true}) {
            Worker worker;
            begin(worker, false);
            for (unsigned id = 2; id < 2 + others; ++id) {
                const std::string src = others == 40U ? "10.0.1." + std::to_string(id) : "10.0.0.1";
                (void)worker.probe.take(quic_frame(quic_initial("a.example", id).packet(), src),
                                        test::kQuicStart, true);
            }
            const InitialMaker second = behind(kOther);
            EXPECT_EQ(worker.send(of_server ? under_server_id(second) : second).dropped,
                      "lost_head")
                << others << of_server;
        }
    }
}

TEST(QuicSecondHello, AMonitoredServiceCountsIt) {
    Worker worker{false};
    begin(worker, false);
    EXPECT_EQ(worker.send(under_server_id(behind(kOther))).units("handshake"), 1U);
}

}  // namespace
}  // namespace sluice::quic_second_hello_test

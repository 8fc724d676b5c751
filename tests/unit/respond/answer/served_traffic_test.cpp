#include "lib/respond/answer/served_traffic.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace sluice::served_traffic_test {
namespace {

using namespace std::chrono_literals;
using test::Frame;
using test::Octets;

constexpr std::uint32_t kClient = 1000;
constexpr std::uint32_t kServer = 7000;
constexpr std::uint16_t kSynAck = kTcpSyn | kTcpAck;

// One worker, and what it is told of.
struct Worker {
    ServedTraffic served;
    KeyHasher hash{HashSecret{1, 2}};
    Instant now{1h};

    explicit Worker(DigestBoard& sent) : served{16, sent} {}

    static Octets bytes(bool from_client, std::uint32_t seq, std::uint32_t ack, std::uint16_t flags,
                        std::string_view text) {
        Octets payload(text.size());
        std::transform(text.begin(), text.end(), payload.begin(),
                       [](char c) { return static_cast<std::byte>(c); });
        return test::tcp()
            .src(from_client ? "10.0.0.1" : "10.0.0.2")
            .dst(from_client ? "10.0.0.2" : "10.0.0.1")
            .sport(from_client ? 40'000 : 80)
            .dport(from_client ? 80 : 40'000)
            .seq(seq)
            .ack(ack)
            .flags(flags)
            .carries(payload)
            .bytes();
    }
    static PacketHeaders headers(const Octets& frame, bool from_client) {
        PacketHeaders headers;
        parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
        headers.dir = from_client ? Direction::In : Direction::Out;
        return headers;
    }
    bool forward(bool from_client, std::uint32_t seq, std::uint32_t ack, std::uint16_t flags,
                 std::string_view text = {}, unsigned requests = 0) {
        const Octets frame = bytes(from_client, seq, ack, flags, text);
        const PacketHeaders of = headers(frame, from_client);
        AnsweredPacket packet{.headers = of,
                              .frame = {frame, static_cast<std::uint32_t>(frame.size())}};
        for (unsigned i = 0; i < requests; ++i) {
            (void)packet.requests.push({});
        }
        if (!served.concerns({.sport = of.sport,
                              .dport = of.dport,
                              .flags = of.tcp_flags,
                              .dir = of.dir,
                              .has_unit = requests != 0})) {
            return false;
        }
        return served.forwarded(BothWays{of, hash}, packet, *read_tcp_facts(of, frame), now);
    }
    AnswerStanding standing(std::uint32_t seq, std::uint32_t ack) {
        const Octets frame = bytes(true, seq, ack, kTcpAck, {});
        return served.standing(BothWays{headers(frame, true), hash}, seq, ack, now);
    }
    bool accept(std::uint32_t number = kServer - 1) {
        return forward(false, number, kClient, kSynAck);
    }
};

struct OneWorker {
    DigestBoard sent{1024, kSentSeconds};
    Worker worker{sent};
};

TEST(ServedTraffic, AClientIsProvenByItsServersFirstNumber) {
    OneWorker of;
    EXPECT_EQ(of.worker.standing(kClient, kServer), AnswerStanding::Unproven);
    of.worker.accept();
    EXPECT_EQ(of.worker.standing(kClient, kServer), AnswerStanding::Next);
    EXPECT_EQ(of.worker.standing(kClient, kServer + 1), AnswerStanding::Unproven);
    of.worker.now += 2 * std::chrono::seconds{kSentSeconds};
    EXPECT_EQ(of.worker.standing(kClient, kServer), AnswerStanding::Unproven) << "long ago";
}

TEST(ServedTraffic, ItsAnswersAreFollowedFromTheFirstRequestOn) {
    OneWorker of;
    of.worker.accept();
    of.worker.forward(true, kClient, kServer, kTcpAck);
    of.worker.forward(true, kClient, kServer, kTcpAck, "GET", 1);
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer), AnswerStanding::UnderWay);
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    const std::uint32_t end = kServer + static_cast<std::uint32_t>(kAnswer.size());
    of.worker.forward(false, kServer, kClient + 3, kTcpAck, kAnswer.substr(0, 20));
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer + 20), AnswerStanding::UnderWay);
    of.worker.forward(false, kServer + 20, kClient + 3, kTcpAck, kAnswer.substr(20));
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer + 20), AnswerStanding::UnderWay)
        << "its client does not have all of it";
    EXPECT_EQ(of.worker.standing(kClient + 3, end), AnswerStanding::Next);
    EXPECT_EQ(of.worker.standing(kClient + 3, end + 1), AnswerStanding::Unproven);
    EXPECT_EQ(of.worker.standing(kClient + 0x4000'0000, end), AnswerStanding::Unproven);
    of.worker.forward(false, end, kClient + 3, kTcpAck | kTcpFin);
    EXPECT_EQ(of.worker.standing(kClient + 3, end), AnswerStanding::UnderWay);
    EXPECT_EQ(of.worker.standing(kClient + 3, end + 1), AnswerStanding::Ended);
}

TEST(ServedTraffic, ASynAckThatComesAgainBeginsNothing) {
    OneWorker of;
    EXPECT_TRUE(of.worker.accept());
    of.worker.forward(true, kClient, kServer, kTcpAck, "GET", 1);
    EXPECT_FALSE(of.worker.accept());
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer), AnswerStanding::UnderWay);
    EXPECT_FALSE(of.worker.forward(true, 90'000, 0, kTcpSyn)) << "a SYN changes nothing";
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer), AnswerStanding::UnderWay);
    EXPECT_TRUE(of.worker.accept(0x7000'0000)) << "its server says that it is another one";
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer + 1), AnswerStanding::Unproven);
    EXPECT_EQ(of.worker.standing(kClient + 3, 0x7000'0001), AnswerStanding::Next);
}

TEST(ServedTraffic, ARstOfTheServerEndsItWhereItStandsNext) {
    OneWorker of;
    of.worker.accept();
    of.worker.forward(true, kClient, kServer, kTcpAck, "GET", 1);
    of.worker.forward(false, kServer + 1, kClient + 3, kTcpRst);
    EXPECT_EQ(of.worker.standing(kClient + 3, kServer), AnswerStanding::UnderWay);
    of.worker.forward(false, kServer, kClient + 3, kTcpRst);
    EXPECT_NE(of.worker.standing(kClient + 3, kServer), AnswerStanding::UnderWay);
}

TEST(ServedTraffic, AnotherWorkersServersProveButFrameNothing) {
    DigestBoard sent{1024, kSentSeconds};
    Worker clients{sent};
    Worker servers{sent};
    servers.accept();
    EXPECT_EQ(clients.standing(kClient, kServer), AnswerStanding::Unframed);
    clients.forward(true, kClient, kServer, kTcpAck, "GET", 1);
    servers.forward(false, kServer, kClient + 3, kTcpAck, "an answer");
    EXPECT_EQ(clients.standing(kClient + 3, kServer + 9), AnswerStanding::Unproven);
    servers.forward(false, kServer + 9, kClient + 3, kTcpAck | kTcpPsh, "'s end");
    EXPECT_EQ(clients.standing(kClient + 3, kServer + 15), AnswerStanding::Unframed);
}

}  // namespace
}  // namespace sluice::served_traffic_test

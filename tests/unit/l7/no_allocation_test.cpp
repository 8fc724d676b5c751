#include "lib/l7/http1/followed_body.hpp"
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/initial_reader.hpp"
#include "lib/l7/quic/initial_sealer.hpp"
#include "lib/l7/tls/ja4.hpp"
#include "lib/l7/tls/tls_stream.hpp"
#include "tests/counted_allocations.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <openssl/err.h>

namespace sluice::l7_no_allocation_test {
namespace {

using test::crypto;
using test::HelloMaker;
using test::InitialMaker;
using test::Octets;

// Of two versions and many connections, so that contexts are keyed anew each time, and each third
// one damaged.
std::vector<Octets> datagrams(const Octets& hello) {
    std::vector<Octets> made;
    for (unsigned i = 0; i < 30; ++i) {
        made.push_back(InitialMaker{}
                           .version(i % 2 == 0 ? kQuicV1 : kQuicV2)
                           .dcid(Octets(8 + i % 12, static_cast<std::byte>(i)))
                           .carries(crypto(0, hello))
                           .padded_to(1150)
                           .packet());
        if (i % 3 == 2) {
            made.back().back() ^= std::byte{1};
        }
    }
    return made;
}

TEST(LaterLayers, AllocateNothing) {
    ASSERT_TRUE(test::counts_openssl());
    const HelloMaker maker = HelloMaker{}.sni("Example.com").alpn({"h3"}).algorithms({0x0403});
    const std::vector<Octets> initials = datagrams(maker.message());
    const Octets stream = maker.records(30);
    InitialReader reader{*InitialOpener::make()};
    Octets room(4096);
    HandshakeRoom handshake;
    ClientHello hello;
    std::size_t whole = 0;
    std::size_t refused = 0;
    std::size_t fingerprints = 0;
    ERR_clear_error();
    const std::size_t before = test::allocations();
    ASSERT_GT(before, 0U);
    for (int round = 0; round < 20; ++round) {
        for (const Octets& datagram : initials) {
            CryptoStream crypto_stream{room};
            InitialBudget budget{2};
            const bool opens = look_at_datagram(datagram).can_open;
            const QuicHelloRead read = reader.read(datagram, crypto_stream, budget, hello);
            whole += opens && read.outcome == QuicHelloOutcome::Whole ? 1 : 0;
            refused += read.outcome == QuicHelloOutcome::NotAuthentic ? 1 : 0;
            fingerprints += make_ja4(hello, HelloCarrier::Quic).has_value() ? 1 : 0;
        }
        whole += read_tls_stream(stream, handshake, hello).outcome == HelloOutcome::Whole ? 1 : 0;
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_EQ(whole, 20U * 21U);
    EXPECT_EQ(refused, 20U * 10U);
    EXPECT_EQ(fingerprints, 20U * 30U);
    EXPECT_EQ(ERR_peek_error(), 0U);  // nor does a queue of errors grow
}

TEST(LaterLayers, AllocateNothingToSealAnInitial) {
    InitialSealer sealer{*InitialSealer::make()};
    Octets packet(64);
    std::size_t sealed = 0;
    const std::size_t before = test::allocations();
    ASSERT_GT(before, 0U);
    for (unsigned round = 0; round < 30; ++round) {
        packet[0] = std::byte{0xC0};
        sealed += sealer.seal({.version = round % 2 == 0 ? kQuicV1 : kQuicV2,
                               .client_dcid = ByteView{packet}.first(round % 20),
                               .packet = packet,
                               .number_at = 18})
                      ? 1
                      : 0;
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_EQ(sealed, 30U);
}

// A head as most are, one whose texts have to be normalised and whose lines are odd, and one that
// has more lines than are found ahead.
std::vector<std::string> heads() {
    std::string many = "GET / HTTP/1.1\r\nHost: a.example\r\n";
    for (int i = 0; i < 500; ++i) {
        many += "X-" + std::to_string(i) + ": " +
                std::string(static_cast<std::size_t>(i) / 8, 'x') + "\r\n";
    }
    return {"GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nCookie: sid=1; b=2\r\n\r\n",
            "\r\nPOST http://A.Example:80//x/../%7e HTTP/1.0\nHost : A.Example.\n folded\n"
            "Transfer-Encoding: gzip, chunked\nX-Forwarded-For: 192.0.2.1\n\n",
            many + "\r\n"};
}

TEST(LaterLayers, AllocateNothingForRequests) {
    const WantedHeaders wanted = *WantedHeaders::make({"x-forwarded-for", "x-499"}, {"sid"});
    const std::vector<std::string> all = heads();
    const std::string body = "5\r\nhello\r\n0\r\n\r\n";
    Octets room(4096);
    RequestHead head;
    std::size_t whole = 0;
    std::size_t pieces = 0;
    std::size_t bodies = 0;
    std::size_t texts = 0;
    const std::size_t before = test::allocations();
    ASSERT_GT(before, 0U);
    for (int round = 0; round < 20; ++round) {
        for (const std::string& each : all) {
            const ByteView bytes = bytes_of(each);
            whole += parse_request_head(bytes, {wanted, kMaxHeadLimit}, room, head) ==
                             HeadStatus::Complete
                         ? 1
                         : 0;
            texts += head.path.size() + head.host.size() + head.cookie(0).first.size();
            if (head.body.kind == BodyFraming::Kind::Chunked) {
                FollowedBody followed{head.body, BodyWatch{true}};
                ChunkLines lines;
                bodies += followed.feed(bytes_of(body), head.shapes, lines);
            }
            HeadFinder finder;
            for (std::size_t size = 0; size <= bytes.size(); size += 64) {
                pieces +=
                    finder.find(bytes.first(size), kMaxHeadLimit) == HeadStatus::NeedMore ? 1 : 0;
            }
        }
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_EQ(whole, 20U * 3U);
    EXPECT_EQ(bodies, 20U * body.size());
    EXPECT_GT(pieces, 20U);
    EXPECT_GT(texts, 20U);
}

}  // namespace
}  // namespace sluice::l7_no_allocation_test

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::stream_units_test {
namespace {

using test::octets_of;
using test::ProbedPacket;
using test::segment;
using test::UnitProbe;

constexpr Instant kNow{std::chrono::hours{1}};

// One client's connection to a server of HTTP.
class Connection {
public:
    Connection() { (void)probe.take(test::opening(1000, 80), kNow); }

    ProbedPacket send(std::size_t at, std::string_view text, Nanoseconds after = {}) {
        const auto seq = static_cast<std::uint32_t>(1000 + at);
        return probe.take(segment(seq, octets_of(text), 80), kNow + after);
    }
    std::size_t send_in_bytes(std::string_view text) {
        std::size_t requests = 0;
        for (std::size_t at = 0; at < text.size(); ++at) {
            requests += send(at, text.substr(at, 1)).units("request");
        }
        return requests;
    }
    [[nodiscard]] std::uint64_t copied() const { return parser.connections().copied_bytes.read(); }

    [[nodiscard]] std::uint64_t counted(ConnectionEvent event) const {
        return parser.connections().of(event);
    }

    UnitParser parser{test::small_unit_budget()};
    UnitProbe probe{parser.finder()};
};

// To a service that is declared.
struct ServiceConnection : Connection {
    ServiceConnection() { probe.service = test::enforced_service(ServiceProtocol::Http); }
};

TEST(StreamUnits, LookingAtAHeadInSingleBytesCostsAFewTimesItsLength) {
    const std::string line = "GET /" + std::string(8000, 'a') + " HTTP/1.1\r\n";
    const std::string head = line + "Host: a\r\n\r\n";
    const std::string blanks(4000, '\n');
    for (const std::string& text : {head, blanks + "GET / HTTP/1.1\r\n\r\n"}) {
        Connection connection;
        EXPECT_EQ(connection.send_in_bytes(text), 1U);
        EXPECT_LT(connection.copied(), 8 * text.size());
    }
}

TEST(StreamUnits, ABlankLineEndsAHeadWhoseBeginningCameBehindAnother) {
    const std::string first = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string second = "GET /b HTTP/1.1\r\nHost: a\r\n";
    const std::size_t at = first.size();
    Connection connection;
    EXPECT_EQ(connection.send(0, first.substr(0, 1)).units("request"), 0U);
    EXPECT_EQ(connection.send(10, first.substr(10) + second).units("request"), 0U);
    EXPECT_EQ(connection.send(1, first.substr(1, 9)).units("request"), 1U);
    EXPECT_EQ(connection.send(at + second.size(), "\r\n").units("request"), 1U);
}

const std::string kRequest = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";

// Bytes of a connection before nobody read it.
struct Before {
    const char* what;
    std::string sent;
};
std::vector<Before> before_unread_segments() {
    return {
        {"a whole request", kRequest},
        {"half a head", kRequest.substr(0, 20)},
        {"a head with a gap", kRequest.substr(0, 3)},
        {"chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n"},
        {"a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n"},
    };
}

// Bytes of a connection that nobody read (panic) are no gap that its next request waits for.
TEST(StreamUnits, ARequestOfAServiceBehindUnreadSegmentsIsJudged) {
    using namespace std::chrono_literals;
    for (const Before& row : before_unread_segments()) {
        SCOPED_TRACE(row.what);
        ServiceConnection connection;
        (void)connection.send(0, row.sent);
        connection.probe.unread_bursts = 1;
        const ProbedPacket next = connection.send(700, kRequest, 10ms);
        EXPECT_EQ(next.units("request"), 1U);
        EXPECT_EQ(next.dropped, "");
        EXPECT_EQ(connection.send(700 + kRequest.size(), kRequest, 10ms).units("request"), 1U);
    }
}

// Elsewhere that would be a guess.
TEST(StreamUnits, NothingIsReadBehindUnreadSegments) {
    using namespace std::chrono_literals;
    for (const Before& row : before_unread_segments()) {
        SCOPED_TRACE(row.what);
        Connection connection;
        (void)connection.send(0, row.sent);
        connection.probe.unread_bursts = 1;
        const ProbedPacket next = connection.send(700, kRequest, 10ms);
        EXPECT_EQ(next.units("request"), 0U);
        EXPECT_EQ(next.dropped, "");
        EXPECT_EQ(connection.counted(ConnectionEvent::Unread), 1U);
        EXPECT_EQ(connection.counted(ConnectionEvent::MissedSome), 1U);
        EXPECT_EQ(connection.send(700 + kRequest.size(), kRequest, 10ms).units("request"), 0U);
    }
}

// Where nothing passed unread, a gap is waited for.
TEST(StreamUnits, ARequestBehindAGapWaitsForIt) {
    const std::string request = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    Connection connection;
    EXPECT_EQ(connection.send(0, request).units("request"), 1U);
    EXPECT_EQ(connection.send(2 * request.size(), request).units("request"), 0U);
    EXPECT_EQ(connection.send(request.size(), request).units("request"), 2U);
}

}  // namespace
}  // namespace sluice::stream_units_test

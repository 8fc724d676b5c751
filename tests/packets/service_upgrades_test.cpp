#include "lib/l7/stream/track/segment_bytes.hpp"
#include "lib/packet/checksum_check.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Connections of a declared service that ask for another protocol: HTTP until their server agrees.
namespace sluice::service_upgrades_test {
namespace {

using test::AnsweringBox;
using test::client;
using test::Frame;
using test::kAck;
using test::kLogin;
using test::kSyn;
using test::server;
using test::syn;
using test::syn_ack;
using Lines = std::vector<std::string>;

constexpr std::uint16_t kPsh = 0x08;

std::string rules(std::string_view options, std::string_view mode = "enforce") {
    return "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and "
           "l4.dport eq 80', mode: " +
           std::string{mode} + ", checksums: trust" + std::string{options} +
           "}\nrules:\n  - {id: logins, mode: enforce, when: 'http.request.uri.path eq "
           "\"/login\"', key: [ip.src], per: request, limits: [{algorithm: fixed_window, count: 1, "
           "window: 1h}]}\n";
}

const std::string kAsks =
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const std::string kConnect = "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n";
const std::string kAgrees =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const std::string kDeclines = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
// The beginning of a frame of WebSocket, which no server of HTTP takes for a request.
const std::string kFrame = "\x81\x85mask\x01\x02\x03\x04\x05\r\n\r\n";
const Lines kPasses{"pass unmatched"};
const Lines kUnreadable{"drop unreadable"};

// One connection to the service through a box, from its handshake on.
struct Dialogue {
    AnsweringBox box;
    std::uint32_t sent = 0;
    std::uint32_t answered = 0;

    explicit Dialogue(std::string_view options, std::string_view mode = "enforce")
        : box{rules(options, mode)} {
        box.prove_clients(false);
        EXPECT_EQ(box.take(syn()), kPasses);
        EXPECT_EQ(box.take(syn_ack(), Direction::Out), kPasses);
        EXPECT_EQ(box.take(client("")), kPasses);
    }
    [[nodiscard]] std::uint64_t upgraded() { return box.tracked().of(TrackEvent::Upgraded); }
    [[nodiscard]] std::uint64_t prefaces() {
        const auto event = static_cast<std::size_t>(UnitEvent::H2cPreface);
        return box.box().counters().by_unit_event[event].read();
    }
    Lines ask(const std::string& text) {
        Lines lines = box.take(client(text, sent, answered));
        sent += static_cast<std::uint32_t>(text.size());
        return lines;
    }
    Lines answer(const std::string& text) {
        Lines lines = box.take(server(text, answered, sent).flags(kAck | kPsh), Direction::Out);
        answered += static_cast<std::uint32_t>(text.size());
        return lines;
    }
};

constexpr std::string_view kWebSocket = ", upgrades: [websocket]";

TEST(ServiceUpgrade, PassesUnreadOnceTheServerAgrees) {
    Dialogue talk{kWebSocket};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.upgraded(), 0U) << "its server has said nothing yet";
    EXPECT_EQ(talk.answer(kAgrees), kPasses);
    EXPECT_EQ(talk.ask(kFrame), kPasses);
    EXPECT_EQ(talk.ask(kLogin), kPasses) << "its server reads it as WebSocket";
    EXPECT_EQ(talk.answer(kFrame), kPasses);
    EXPECT_EQ(talk.answer(kAgrees), kPasses) << "these are bytes of WebSocket";
    EXPECT_EQ(talk.ask(kFrame), kPasses);
    EXPECT_EQ(talk.upgraded(), 1U) << "a connection counts once";
}

TEST(ServiceUpgrade, IsHttpUntilThen) {
    Dialogue talk{kWebSocket};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.ask(kLogin), Lines{"pass within_limits"});
    EXPECT_EQ(talk.answer(kDeclines), kPasses);
    EXPECT_EQ(talk.answer(kDeclines), kPasses);
    EXPECT_EQ(talk.ask(kLogin), Lines{"drop over_limit"});
}

// A program that gives the answer to HEAD a body, of a text of its client, agrees to nothing.
TEST(ServiceUpgrade, IsNotTakenFromTheBodyOfAnAnswer) {
    const std::string head = "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kAgrees.size()) + "\r\n\r\n";
    Dialogue pipelined{kWebSocket};
    EXPECT_EQ(pipelined.ask(head + kAsks), kPasses);
    EXPECT_EQ(pipelined.answer(answer + kAgrees), kPasses);
    EXPECT_EQ(pipelined.ask(kLogin), kUnreadable);
    Dialogue late{kWebSocket};
    EXPECT_EQ(late.ask(head), kPasses);
    EXPECT_EQ(late.answer(answer), kPasses);
    EXPECT_EQ(late.ask(kAsks), kPasses);
    EXPECT_EQ(late.answer(kAgrees), kPasses);
    EXPECT_EQ(late.ask(kLogin), kUnreadable);
    for (Dialogue* talk : {&pipelined, &late}) {
        EXPECT_EQ(talk->upgraded(), 0U);
    }
}

TEST(ServiceUpgrade, IsPassedBehindRequestsThatHaveBeenAnswered) {
    Dialogue talk{kWebSocket};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer(kDeclines), kPasses);
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer(kAgrees), kPasses);
    EXPECT_EQ(talk.ask(kFrame), kPasses);
    EXPECT_EQ(talk.upgraded(), 1U);
}

TEST(ServiceUpgrade, IsRefusedWhereTheServiceDoesNotPassIt) {
    Dialogue talk{""};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer(kAgrees), kPasses);
    EXPECT_EQ(talk.ask(kFrame), kUnreadable);
    EXPECT_EQ(talk.upgraded(), 0U);
    Dialogue other{", upgrades: [connect]"};
    EXPECT_EQ(other.ask(kAsks), kPasses);
    EXPECT_EQ(other.answer(kAgrees), kPasses);
    EXPECT_EQ(other.ask(kFrame), kUnreadable);
    EXPECT_EQ(other.upgraded(), 0U);
}

// Once the server has gone over, no byte of its client is read: not one that might be half a
// request, nor a whole one.
TEST(ServiceUpgrade, OfNoListedKindIsUnreadableAtOnce) {
    for (const std::string_view options : {"", ", upgrades: [connect]"}) {
        for (const std::string& text : {std::string{"G"}, kFrame.substr(0, 3), kLogin}) {
            Dialogue talk{options};
            EXPECT_EQ(talk.ask(kAsks), kPasses);
            EXPECT_EQ(talk.answer(kAgrees), kPasses);
            EXPECT_EQ(talk.ask(""), kPasses) << "it acknowledges that";
            EXPECT_EQ(talk.ask(text), kUnreadable);
            EXPECT_EQ(talk.ask(kLogin), kUnreadable);
        }
    }
}

// Python's server answers so, and goes on with HTTP.
TEST(ServiceUpgrade, ConnectThatIsNotListedStaysHttpBehindItsAnswer) {
    Dialogue connect{kWebSocket};
    EXPECT_EQ(connect.ask(kConnect), kPasses);
    EXPECT_EQ(connect.answer("HTTP/1.1 200 OK\r\n\r\n"), kPasses);
    EXPECT_EQ(connect.ask(kLogin), Lines{"pass within_limits"});
    EXPECT_EQ(connect.ask(kLogin), Lines{"drop over_limit"});
}

TEST(ServiceUpgrade, OfNoListedKindIsHttpWhereTheServerDeclines) {
    Dialogue talk{""};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer(kDeclines), kPasses);
    EXPECT_EQ(talk.ask("GET /l"), kPasses);
    EXPECT_EQ(talk.ask(kLogin.substr(6)), Lines{"pass within_limits"});
}

TEST(ServiceUpgrade, OfNoListedKindPassesAServiceThatMonitors) {
    Dialogue talk{"", "monitor"};
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer(kAgrees), kPasses);
    EXPECT_EQ(talk.ask("G"), kPasses);
    EXPECT_EQ(talk.ask(kFrame), kPasses);
}

TEST(ServiceUpgrade, OfConnectIsItsServersSuccess) {
    Dialogue talk{", upgrades: [connect]"};
    EXPECT_EQ(talk.ask(kConnect), kPasses);
    EXPECT_EQ(talk.answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), kPasses);
    EXPECT_EQ(talk.ask(kLogin), Lines{"pass within_limits"});
    EXPECT_EQ(talk.answer(kDeclines), kPasses);
    EXPECT_EQ(talk.ask(kConnect), kPasses);
    EXPECT_EQ(talk.upgraded(), 0U);
    EXPECT_EQ(talk.answer("HTTP/1.1 200 OK\r\n\r\n"), kPasses);
    EXPECT_EQ(talk.ask(kFrame), kPasses);
    EXPECT_EQ(talk.upgraded(), 1U);
}

// The body of an answer is the client's to choose, where a server sends it back.
TEST(ServiceUpgrade, IsNotWhatABodySays) {
    Dialogue talk{kWebSocket};
    EXPECT_EQ(talk.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
    EXPECT_EQ(talk.ask(kAsks), kPasses);
    EXPECT_EQ(talk.answer("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n"), kPasses);
    EXPECT_EQ(talk.answer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kAgrees.size()) +
                          "\r\n\r\n" + kAgrees),
              kPasses);
    EXPECT_EQ(talk.ask(kFrame), kUnreadable);
}

TEST(ServiceUpgrade, ToHttp2IsRefused) {
    for (const std::string protocol : {"h2c", "H2C;x", "a, h2c ;x"}) {
        Dialogue talk{", upgrades: [websocket], h2c: refuse, on_unreadable: count"};
        EXPECT_EQ(talk.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                           "Upgrade: " +
                           protocol + "\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"),
                  kUnreadable)
            << protocol;
    }
}

const std::string kAsksForHttp2 =
    "GET /login HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nAccept: */*\r\n\r\n";
const std::string kStripped =
    "GET /login HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    "xxxxxxx: xxx\r\nxxxxxxxxxxxxxx: xxxxxxxx\r\nAccept: */*\r\n\r\n";

// A request for HTTP/2 can be read, so that nothing else decides about it.
TEST(ServiceUpgrade, ToHttp2IsRefusedWhateverBecomesOfUnreadableBytes) {
    for (const std::string_view option :
         {", on_unreadable: count, h2c: refuse", ", on_unreadable: pass, h2c: refuse"}) {
        Dialogue talk{option};
        EXPECT_EQ(talk.ask(kAsksForHttp2), kUnreadable);
        talk.sent = 0;
        EXPECT_EQ(talk.ask(kAsksForHttp2), Lines{"drop retransmission"});
        EXPECT_EQ(talk.ask(kLogin), Lines{"pass within_limits"}) << "nothing was charged";
    }
}

// A service that monitors reads no less than none: what it would refuse is charged as well.
TEST(ServiceUpgrade, ToHttp2IsChargedWhereItIsMonitored) {
    Dialogue talk{"", "monitor"};
    EXPECT_EQ(talk.ask(kAsksForHttp2), Lines{"pass within_limits"});
    EXPECT_EQ(talk.ask(kAsksForHttp2), Lines{"drop over_limit"});
}

// A client that knows of HTTP/2 beforehand asks for nothing: its first bytes are another protocol.
const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

TEST(ServiceUpgrade, ToHttp2ByItsFirstBytesIsRefusedAndCounted) {
    for (const std::string_view option :
         {"", ", h2c: refuse", ", upgrades: [websocket, connect]"}) {
        Dialogue talk{option};
        EXPECT_EQ(talk.prefaces(), 0U);
        EXPECT_EQ(talk.ask(kPreface), kUnreadable) << option;
        EXPECT_EQ(talk.prefaces(), 1U) << option;
        EXPECT_EQ(talk.ask(kLogin), kUnreadable) << "as is what follows" << option;
        EXPECT_EQ(talk.prefaces(), 1U) << "a connection counts once";
    }
}

TEST(ServiceUpgrade, ToHttp2ByItsFirstBytesIsRefusedInWhateverSegments) {
    for (const std::size_t cut : {std::size_t{1}, std::size_t{16}, kPreface.size() - 1}) {
        Dialogue talk{""};
        EXPECT_EQ(talk.ask(kPreface.substr(0, cut)), kPasses) << "it may be a request yet: " << cut;
        EXPECT_EQ(talk.prefaces(), 0U) << cut;
        EXPECT_EQ(talk.ask(kPreface.substr(cut) + kLogin), kUnreadable) << cut;
        EXPECT_EQ(talk.prefaces(), 1U) << cut;
    }
}

TEST(ServiceUpgrade, ToHttp2ByItsFirstBytesIsUnreadableByChoice) {
    Dialogue passes{", on_unreadable: pass"};
    EXPECT_EQ(passes.ask(kPreface), kPasses);
    EXPECT_EQ(passes.ask(kLogin), kPasses) << "its server reads it as HTTP/2";
    EXPECT_EQ(passes.prefaces(), 1U);
    Dialogue monitors{"", "monitor"};
    EXPECT_EQ(monitors.ask(kPreface), kPasses);
    EXPECT_EQ(monitors.prefaces(), 1U);
}

// A frame as it leaves the box, and whether its checksum is right.
struct Left {
    std::string reason;
    std::string payload;
    bool is_right = false;
};
Left leave(test::Box& box, UnitParser& parser, const Frame& frame) {
    Burst burst;
    burst.find_units_by(parser.finder());
    test::Octets bytes = Frame{frame}.summed().bytes();
    (void)burst.add({bytes, static_cast<std::uint32_t>(bytes.size())}, Direction::In,
                    port_name("lab"));
    box.run(burst, test::kStart);
    const PacketHeaders headers = burst.headers_of(0);
    if (burst.normalizes()) {
        const Normalization change = burst.normalization(0);
        for (const PayloadRange& line : change.voided()) {
            void_line(headers, line, bytes);
        }
    }
    const ByteView payload = ByteView{bytes}.subspan(headers.payload_at, headers.payload_len);
    return {
        .reason = std::string{row_of(burst.packets()[0].decision.reason).name},
        .payload = {reinterpret_cast<const char*>(payload.data()), payload.size()},
        .is_right = find_checksums(headers, {bytes, static_cast<std::uint32_t>(bytes.size())}) ==
                    ChecksumFinding::Right};
}

// The client of the JDK asks so before its first request, and is served in HTTP/1.1.
TEST(ServiceUpgrade, ToHttp2IsCountedAsTheRequestItIs) {
    Dialogue talk{""};
    EXPECT_EQ(talk.ask(kAsksForHttp2), Lines{"pass within_limits"});
    EXPECT_EQ(talk.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), kPasses);
    EXPECT_EQ(talk.ask(kLogin), Lines{"drop over_limit"});
}

// Whatever the place of the lines in the segment, and in segments that repeat them.
TEST(ServiceUpgrade, ToHttp2IsTakenOut) {
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{rules("")};
        box.find_units_by(parser.finder());
        for (const Frame& frame : {syn(), syn_ack(), client("")}) {
            (void)box.judge(frame, test::kStart);
        }
        const std::string asks = "GET /" + std::string(shift, 'y') + kAsksForHttp2.substr(10);
        const std::string out = "GET /" + std::string(shift, 'y') + kStripped.substr(10);
        for (int i = 0; i < 2; ++i) {
            const Left left = leave(box, parser, client(asks));
            EXPECT_EQ(left.reason, "unmatched");
            EXPECT_EQ(left.payload, out);
            EXPECT_TRUE(left.is_right);
        }
        const Left part = leave(box, parser, client(asks.substr(0, 80)));
        EXPECT_EQ(part.payload, out.substr(0, 80));
        EXPECT_TRUE(part.is_right);
    }
}

}  // namespace
}  // namespace sluice::service_upgrades_test

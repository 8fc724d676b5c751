#include "lib/l7/dns/dns_units.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

// DNS over TCP: messages behind their lengths.
namespace sluice::dns_stream_test {
namespace {

using test::dns_query;
using test::dns_question;
using test::dns_response;
using test::DnsText;
using test::Octets;
using test::ProbedPacket;
using test::UnitProbe;

constexpr Instant kNow{std::chrono::hours{1}};

std::string framed(const std::string& message) {
    return test::be16_text(static_cast<std::uint16_t>(message.size())) + message;
}

class Connection {
public:
    explicit Connection(std::uint16_t dport = 53, std::uint16_t sport = 40'000)
        : dport_{dport}, sport_{sport} {
        (void)probe.take(test::opening(next_, dport, sport), kNow);
    }

    ProbedPacket send(const std::string& bytes, bool forwarded = true) {
        const ProbedPacket probed = probe.take(
            test::segment(next_, test::message_octets(bytes), dport_, sport_), kNow, forwarded);
        next_ += static_cast<std::uint32_t>(bytes.size());
        return probed;
    }
    void go_back(std::size_t bytes) { next_ -= static_cast<std::uint32_t>(bytes); }

    UnitParser parser{test::small_unit_budget()};
    UnitProbe probe{parser.finder()};

private:
    std::uint16_t dport_;
    std::uint16_t sport_;
    std::uint32_t next_ = 1000;
};

std::vector<std::string> names(const ProbedPacket& probed) {
    std::vector<std::string> all;
    for (const auto& texts : probed.texts) {
        all.push_back(texts.at("dns.qname"));
    }
    return all;
}
using Names = std::vector<std::string>;

TEST(DnsOverTcp, EachQuestionIsAUnit) {
    Connection connection;
    const ProbedPacket one = connection.send(framed(dns_query("One.example", 28)));
    EXPECT_EQ(one.kinds, Names{"query"});
    EXPECT_EQ(one.texts.front(),
              (std::map<std::string, std::string>{{"proto.l7", "dns"},
                                                  {"dns.qr", "0"},
                                                  {"dns.qtype", "28"},
                                                  {"dns.qname", "one.example"}}));
    const ProbedPacket more = connection.send(
        framed(dns_query("two")) + framed(dns_query("three")) +
        framed(DnsText{.questions = 2, .body = dns_question("a") + dns_question("b")}.wire()));
    EXPECT_EQ(names(more), (Names{"two", "three", "a", "b"}));
    EXPECT_EQ(more.units("query"), 4U);
}

TEST(DnsOverTcp, MessagesAreCutAnywhere) {
    const std::string stream = framed(dns_query("one")) + framed(dns_query("two"));
    const std::size_t end_of_one = stream.size() / 2;
    for (std::size_t cut = 1; cut < stream.size(); ++cut) {
        Connection connection;
        const ProbedPacket first = connection.send(stream.substr(0, cut));
        EXPECT_EQ(names(first), cut < end_of_one ? Names{} : Names{"one"}) << cut;
        const ProbedPacket second = connection.send(stream.substr(cut));
        EXPECT_EQ(names(second), cut < end_of_one ? (Names{"one", "two"}) : Names{"two"}) << cut;
    }
}

TEST(DnsOverTcp, AMessageOverSeveralSegmentsIsJudgedAtItsLast) {
    const std::string stream = framed(dns_query("slow.example"));
    Connection connection;
    for (std::size_t at = 0; at < stream.size(); ++at) {
        const ProbedPacket probed = connection.send(stream.substr(at, 1));
        EXPECT_EQ(probed.units("query"), at + 1 == stream.size() ? 1U : 0U);
    }
}

TEST(DnsOverTcp, AnswersHaveTextsAndAreNoUnits) {
    Connection connection{40'000, 53};
    const ProbedPacket probed = connection.send(framed(dns_response("answer.example")));
    EXPECT_EQ(probed.kinds, Names{"packet"});
    EXPECT_EQ(probed.texts.front().at("dns.qr"), "1");
    EXPECT_EQ(names(connection.send(framed(dns_response("next")))), Names{"next"});
}

TEST(DnsOverTcp, ARefusedQueryIsRefusedAgain) {
    Connection connection;
    const std::string query = framed(dns_query("a"));
    EXPECT_EQ(connection.send(query, false).units("query"), 1U);
    connection.go_back(query.size());
    const ProbedPacket again = connection.send(query);
    EXPECT_EQ(again.kinds.size(), 0U);
    EXPECT_EQ(again.dropped, "retransmission");
}

TEST(DnsOverTcp, OnOtherPortsAWholeMessageSpeaksForItself) {
    const std::string query = framed(dns_query("one"));
    Connection other{5300};
    EXPECT_EQ(names(other.send(query + query)), (Names{"one", "one"}));
    // What follows belongs to it, whatever it says.
    EXPECT_EQ(
        other.send(std::string{"\0\x0C", 2} + std::string(12, '\xFF')).events.at("dns_bad_opcode"),
        1U);
    EXPECT_EQ(names(other.send(query)), Names{}) << "behind it nothing is read";
    Connection split{5300};
    EXPECT_EQ(split.send(query.substr(0, 16)).kinds.size(), 0U);
    EXPECT_EQ(names(split.send(query.substr(16))), Names{"one"});
    Connection unlike{5300};
    EXPECT_EQ(unlike.send(framed(dns_query("one") + "x")).kinds.size(), 0U);
}

// The questions of a message that is not held as a whole, and the message behind it.
TEST(DnsOverTcp, ALongMessageIsReadInItsBeginning) {
    for (const std::size_t padding : {20'000U, 60'000U}) {
        const std::string stream = framed(dns_query("long.example") + std::string(padding, '\0')) +
                                   framed(dns_query("behind"));
        Connection connection;
        std::vector<std::string> found;
        unsigned counted = 0;
        for (std::size_t at = 0; at < stream.size(); at += 1400) {
            const ProbedPacket probed = connection.send(stream.substr(at, 1400));
            EXPECT_EQ(probed.dropped, "");
            for (const std::string& name : names(probed)) {
                found.push_back(name);
            }
            counted += probed.events.contains("dns_long_message") ? 1 : 0;
        }
        EXPECT_EQ(found, (Names{"long.example", "behind"}));
        EXPECT_EQ(counted, 1U);
    }
}

TEST(DnsOverTcp, WhatIsMalformedElsewhereIsCountedAndNothingBehindItRead) {
    for (const std::string& bad : {framed(DnsText{.questions = 0}.wire()), framed("short")}) {
        Connection connection;
        const ProbedPacket probed = connection.send(bad + framed(dns_query("behind")));
        EXPECT_EQ(names(probed), Names{});
        EXPECT_EQ(probed.dropped, "");
        EXPECT_EQ(probed.events.size(), 1U);
        EXPECT_EQ(connection.parser.connections().of(ConnectionEvent::Unread), 1U);
        EXPECT_EQ(names(connection.send(framed(dns_query("later")))), Names{});
    }
}

// Behind a TLS handshake that nobody reads: its ClientKeyExchange has an id, flags and one question
// where DNS over TCP has them.
TEST(DnsOverTcp, AClientKeyExchangeIsNoQuery) {
    std::string record{"\x16\x03\x03\x01\x06\x10\x00\x01\x02\x01\x00", 11};
    record += std::string(256, '\x5A');
    for (int third = 0; third < 256; ++third) {
        for (int opcode = 0; opcode < 256; ++opcode) {
            std::string one = record;
            one[4] = static_cast<char>(opcode);
            one[9] = static_cast<char>(third);
            const Octets bytes = test::message_octets(one);
            EXPECT_FALSE(maybe_dns_stream(bytes, 40'000, 443, 16'384));
        }
    }
}

// All that reaches a service of DNS is DNS, whatever its port.
struct Service : Connection {
    explicit Service(std::uint16_t dport = 9953) : Connection{dport} {
        probe.service = test::enforced_service(ServiceProtocol::Dns);
    }
};

TEST(DnsService, EmptyFramesCostNoSteps) {
    Service connection{53};
    const ProbedPacket probed = connection.send(std::string(1400, '\0') + framed(dns_query("a")));
    EXPECT_EQ(names(probed), Names{"a"});
    EXPECT_EQ(probed.events.at("dns_short_header"), 1U);
}

TEST(DnsService, MessagesAreReadOnAnyPort) {
    Service service;
    const std::string two = framed(dns_query("one")) + framed(dns_query("two"));
    EXPECT_EQ(names(service.send(two.substr(0, 20))), (Names{}));
    EXPECT_EQ(names(service.send(two.substr(20))), (Names{"one", "two"}));
    EXPECT_EQ(names(service.send(framed(dns_query("three")))), (Names{"three"}));
}

TEST(DnsService, AQueryWithoutAQuestionIsAQueryWithoutAName) {
    Service service;
    std::string message = dns_query("gone").substr(0, 12);
    message[5] = 0;
    const ProbedPacket probed = service.send(framed(message));
    EXPECT_EQ(probed.kinds, std::vector<std::string>{"query"});
    EXPECT_FALSE(probed.texts.front().contains("dns.qname"));
    EXPECT_EQ(probed.dropped, "");
    // Anywhere it is none, and passes.
    Connection elsewhere;
    EXPECT_EQ(elsewhere.send(framed(message)).kinds.size(), 0U);
}

TEST(DnsService, WhatCannotBeReadIsRefused) {
    const std::string query = dns_query("name.example");
    std::string opcode = query;
    opcode[2] = '\x78';
    std::string label = query;
    label[12] = '\x41';
    std::string pointer = query.substr(0, 12) + std::string{"\xC0\x0C\0\1\0\1", 6};
    struct Row {
        const char* event;
        std::string bytes;
    };
    const Row rows[] = {
        {"dns_short_header", std::string(2, '\0')}, {"dns_short_header", framed("12345678901")},
        {"dns_bad_opcode", framed(opcode)},         {"dns_truncated", framed(query.substr(0, 15))},
        {"dns_bad_label", framed(label)},           {"dns_bad_pointer", framed(pointer)},
    };
    for (const Row& row : rows) {
        Service service;
        const ProbedPacket probed = service.send(row.bytes);
        EXPECT_EQ(probed.dropped, "unreadable") << row.event;
        EXPECT_EQ(probed.kinds.size(), 0U) << row.event;
        EXPECT_EQ(probed.events.at(row.event), 1U);
        service.go_back(row.bytes.size());
        const ProbedPacket again = service.send(row.bytes, false);
        EXPECT_NE(again.dropped, "") << row.event << ": what stands in its place is no repeat";
        Connection elsewhere;
        EXPECT_EQ(elsewhere.send(row.bytes).dropped, "") << row.event;
    }
}

TEST(DnsService, DatagramsAreReadOnAnyPortAndRefusedWhereTheyCannotBe) {
    UnitParser parser{test::small_unit_budget()};
    UnitProbe probe{parser.finder()};
    probe.service = test::enforced_service(ServiceProtocol::Dns);
    const auto take = [&](const std::string& message, std::uint16_t dport) {
        return probe.take(
            test::Frame{17}.dport(dport).carries(test::message_octets(message)).bytes(), kNow);
    };
    std::string two = dns_query("one");
    two[5] = 2;
    two += dns_question("two");
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{53, 5353, 9953}) {
        EXPECT_EQ(names(take(dns_query("one"), port)), (Names{"one"})) << port;
        EXPECT_EQ(names(take(two, port)), (Names{"one", "two"})) << port;
        EXPECT_EQ(take("short", port).dropped, "unreadable") << port;
        EXPECT_EQ(take(dns_query("one").substr(0, 14), port).dropped, "unreadable") << port;
    }
}

}  // namespace
}  // namespace sluice::dns_stream_test

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

// Unreadable bytes, the same under each stance: refused by an enforced service, counted by one that
// monitors, and refused by nobody where no service is declared.
namespace sluice::service_refusals_test {
namespace {

using test::Frame;
using test::HelloMaker;
using test::kStart;
using test::Octets;

constexpr std::uint32_t kClientIss = 1000;
constexpr std::uint32_t kServerIss = 5000;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kAck = 0x10;

Frame client(const Octets& bytes, std::uint16_t dport, std::uint32_t at = 0) {
    return test::tcp()
        .src("10.0.0.1")
        .dst("192.0.2.1")
        .sport(40'000)
        .dport(dport)
        .flags(kAck)
        .seq(kClientIss + 1 + at)
        .ack(kServerIss + 1)
        .carries(bytes);
}
Frame accepts(std::uint16_t dport) {
    return test::tcp()
        .src("192.0.2.1")
        .dst("10.0.0.1")
        .sport(dport)
        .dport(40'000)
        .flags(kSyn | kAck)
        .seq(kServerIss)
        .ack(kClientIss + 1)
        .from_inside();
}

enum class Declared : std::uint8_t { Enforced, Monitored, Nothing };

std::string rules_for(Declared declared) {
    const std::string mode = declared == Declared::Enforced ? "enforce" : "monitor";
    const std::string services =
        "services:\n"
        "  - {id: web, protocol: http, when: l4.dport eq 80, checksums: trust, mode: " +
        mode +
        "}\n"
        "  - {id: names, protocol: tls, when: l4.dport eq 443, checksums: trust, mode: " +
        mode + "}\n";
    return "version: 1\n" + (declared == Declared::Nothing ? "" : services) +
           "rules:\n"
           "  - {id: evil, mode: enforce, when: 'http.request.uri.path eq \"/evil\" or http.host "
           "eq \"evil\" or tls.sni eq \"evil\"', on_match: drop}\n";
}

// A box on which one connection has been opened.
class OpenedBox {
public:
    OpenedBox(Declared declared, std::uint16_t dport, OnAmbiguous on_ambiguous)
        : parser_{budget_with(on_ambiguous)}, box_{rules_for(declared)}, dport_{dport} {
        box_.find_units_by(parser_.finder());
        (void)box_.judge(client({}, dport).flags(kSyn).seq(kClientIss).ack(0), kStart);
        (void)box_.judge(accepts(dport), kStart);
        (void)box_.judge(client({}, dport), kStart);
    }
    // Why the client's next segment is dropped; nothing: it passes.
    [[nodiscard]] std::string dropped(const Octets& bytes, Nanoseconds after = {}) {
        const Decision decision = box_.judge(client(bytes, dport_, at_), kStart + after);
        at_ += static_cast<std::uint32_t>(bytes.size());
        return forwards(decision.verdict) ? "" : std::string{row_of(decision.reason).name};
    }
    void go_back(const Octets& bytes) { at_ -= static_cast<std::uint32_t>(bytes.size()); }
    [[nodiscard]] std::uint64_t would_refuse(std::string_view reason) {
        for (const ReasonRow& row : kReasons) {
            if (row.name == reason) {
                return box_.counters().would_refuse[static_cast<std::size_t>(row.reason)].read();
            }
        }
        return 0;
    }
    [[nodiscard]] std::uint64_t unread() const {
        return parser_.connections().of(ConnectionEvent::Unread);
    }
    [[nodiscard]] std::uint64_t unread_of_services(UnreadProtocol protocol,
                                                   UnreadReason reason) const {
        return parser_.service_connections().unread[unread_kind(protocol, reason)].read();
    }

private:
    static UnitBudget budget_with(OnAmbiguous on_ambiguous) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = on_ambiguous;
        return budget;
    }

    UnitParser parser_;
    test::Box box_;
    std::uint16_t dport_;
    std::uint32_t at_ = 0;
};

std::string head(std::string_view target, std::string_view lines = "Host: a\r\n") {
    return "GET " + std::string{target} + " HTTP/1.1\r\n" + std::string{lines} + "\r\n";
}
std::string times(const std::string& text, unsigned count) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

struct Row {
    const char* name;
    Octets bytes;
    std::string_view reason;
    std::uint16_t dport = 80;
    OnAmbiguous on_ambiguous = OnAmbiguous::Refuse;
    bool is_doubt = true;  // elsewhere: nothing behind it is read
};

Row web(const char* name, const std::string& text, std::string_view reason = "ambiguous_request",
        OnAmbiguous on_ambiguous = OnAmbiguous::Both) {
    return {name, test::octets_of(text), reason, 80, on_ambiguous};
}

std::vector<Row> rows() {
    std::vector<Row> all{
        web("three hosts", head("http://a/", "Host: b\r\nHost: c\r\n")),
        web("three targets", head("/a#b c")),
        web("two lengths",
            head("/", "Host: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n")),
        web("lengths that differ",
            head("/", "Host: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n")),
        web("a blank before a colon", head("/", "Host: a\r\nTransfer-Encoding : chunked\r\n")),
        web("a bare LF", head("/", "Host: a\nHost: b\r\n")),
        web("a folded line", head("/", "Host: a\r\nHost: b\r\nX: y\r\n z\r\n")),
        web("a host that is none", head("/", "Host: a b\r\n")),
        web("a length that is none", head("/", "Host: a\r\nContent-Length: x\r\n"),
            "malformed_request"),
        web("a byte that is none of HTTP", std::string{"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28},
            "malformed_request"),
        web("no request", "\x16\x03\x01hello, I am no request\r\n\r\n", "unreadable"),
        web("a crowd", times(head("/"), kMaxUnits + 1), "too_many_units"),
        {"a hello without ciphers", HelloMaker{}.ciphers({}).records(), "malformed_hello", 443},
        {"a hello in too many records", HelloMaker{}.extension(21, Octets(1000)).records(1),
         "too_many_pieces", 443},
        {"a server name with a port", HelloMaker{}.sni("evil:443").records(), "unreadable_hello",
         443},
        {"a server name that nginx takes for db", HelloMaker{}.sni("db::1").records(),
         "unreadable_hello", 443},
        {"a server name with a blank", HelloMaker{}.sni("evil ").records(), "unreadable_hello",
         443},
        {"a server name whose Punycode is ASCII alone",
         HelloMaker{}.sni("www.xn--evil-.example").records(), "unreadable_hello", 443},
        {"a server name beyond ASCII", HelloMaker{}.sni("ev\xC4\xB0l").records(),
         "unreadable_hello", 443},
    };
    all.push_back(web("two hosts, where one reading has to do", head("/", "Host: a\r\nHost: b\r\n"),
                      "ambiguous_request", OnAmbiguous::Refuse));
    all.back().is_doubt = false;
    return all;
}

const Octets kEvilRequest = test::octets_of(head("/evil"));

TEST(ServiceRefusals, AnEnforcedServiceRefusesWhatItCannotRead) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.name);
        OpenedBox box{Declared::Enforced, row.dport, row.on_ambiguous};
        EXPECT_EQ(box.dropped(row.bytes), row.reason);
        box.go_back(row.bytes);
        EXPECT_NE(box.dropped(row.bytes), "") << "nor does it pass when it is sent again";
    }
}

// Older clients send one where they connect to an address.
TEST(ServiceRefusals, AnAddressInThePlaceOfAServerNameIsNone) {
    for (const char* name : {"192.0.2.1", "::1", "2001:db8::1"}) {
        OpenedBox box{Declared::Enforced, 443, OnAmbiguous::Refuse};
        EXPECT_EQ(box.dropped(HelloMaker{}.sni(name).records()), "") << name;
    }
}

TEST(ServiceRefusals, OneThatMonitorsCountsIt) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.name);
        OpenedBox box{Declared::Monitored, row.dport, row.on_ambiguous};
        EXPECT_EQ(box.dropped(row.bytes), "");
        EXPECT_EQ(box.would_refuse(row.reason), 1U);
    }
}

// Half heads that were given up: their rests go on, and each of their segments is counted.
TEST(ServiceRefusals, OneThatMonitorsCountsTheRestOfAHeadThatItsClientHasLetWait) {
    using namespace std::chrono_literals;
    const Octets begin = test::octets_of("GET /evil HTTP/1.1\r\n");
    const Octets rest = test::octets_of("Host: a\r\n\r\n");
    for (const Declared declared : {Declared::Enforced, Declared::Monitored}) {
        OpenedBox box{declared, 80, OnAmbiguous::Both};
        EXPECT_EQ(box.dropped(begin), "");
        EXPECT_EQ(box.would_refuse("lost_head"), 0U);
        const bool is_enforced = declared == Declared::Enforced;
        for (const std::uint64_t times : {1U, 2U}) {
            EXPECT_EQ(box.dropped(rest, 61s), is_enforced ? "lost_head" : "");
            EXPECT_EQ(box.would_refuse("lost_head"), is_enforced ? 0U : times);
            box.go_back(rest);
        }
    }
}

// Behind a request that ends its connection: of HTTP/0.9 here.
TEST(ServiceRefusals, WhatGoesUnreadIsCountedByProtocolAndReason) {
    OpenedBox box{Declared::Enforced, 80, OnAmbiguous::Both};
    EXPECT_EQ(box.dropped(test::octets_of("GET /\r\n")), "");
    EXPECT_EQ(box.unread_of_services(UnreadProtocol::Http, UnreadReason::Ended), 1U);
    EXPECT_EQ(box.unread(), 0U) << "of no service";
}

TEST(ServiceRefusals, ElsewhereItPassesAndNothingBehindADoubtIsRead) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.name);
        OpenedBox box{Declared::Nothing, row.dport, row.on_ambiguous};
        EXPECT_EQ(box.dropped(row.bytes), "");
        EXPECT_EQ(box.would_refuse(row.reason), 0U);
        if (row.dport == 80) {
            EXPECT_EQ(box.dropped(kEvilRequest), row.is_doubt ? "" : "deny_rule");
        }
    }
}

// The other reading is charged, though the option would refuse it in a service.
TEST(ServiceRefusals, ElsewhereBothReadingsAreJudged) {
    OpenedBox box{Declared::Nothing, 80, OnAmbiguous::Refuse};
    EXPECT_EQ(box.dropped(test::octets_of(head("/", "Host: a\r\nHost: evil\r\n"))), "deny_rule");
}

}  // namespace
}  // namespace sluice::service_refusals_test

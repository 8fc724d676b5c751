#include "lib/policy/clauses/possible_packets.hpp"

#include "lib/packet/field.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::possible_packets_test {
namespace {

using test::Outcome;

Outcome compile_when(std::string_view when) {
    const ListReader lists = [](const std::string& path) -> Result<ListFile> {
        const std::string text = path == "ports" ? "80\n" : path == "hosts" ? "a.example\n" : "";
        return ListFile{path, std::make_shared<const std::string>(text)};
    };
    const std::string text =
        "version: 1\ndata:\n  lists:\n    ports: {type: number, file: ports}\n"
        "    hosts: {type: string, file: hosts}\n    none: {type: cidr, file: none}\n"
        "rules:\n  - {id: r, mode: enforce, on_match: drop, when: '" +
        std::string{when} + "'}\n";
    return test::compile({"r", text, &lists});
}

const Problem* first_error(const Outcome& outcome) {
    const auto found = std::ranges::find(outcome.problems, Severity::Error, &Problem::severity);
    return found == outcome.problems.end() ? nullptr : &*found;
}

struct Row {
    std::string_view when;
    std::string_view says;
};

const Row kImpossible[] = {
    {"ip.version eq 5", "ip.version is 4 or 6"},
    {"ip.version in {0..3 7}", "ip.version is 4 or 6"},
    {"ip.version lt 4", "ip.version is 4 or 6"},
    {"eth.type eq 1500", "0x0600 or more"},
    {"ip.len eq 19", "20 or more"},
    {"l4.dport lt 0", "from 0 to 65535"},
    {"l4.dport gt 65535", "from 0 to 65535"},
    {"tcp.flags.syn gt 1", "from 0 to 1"},
    {"dns.qtype gt 65535", "from 0 to 65535"},
    {"l4.dport eq 80 and ip.proto eq 1", "UDP-Lite alone have ports"},
    {"l4.dport in $ports and ip.proto eq 1", "both ip.proto and l4.dport"},
    {"tcp.flags.syn and ip.frag eq \"later\"", "later fragments have none"},
    {"tcp.flags.syn and ip.proto eq \"udp\"", "TCP alone has it"},
    {"tcp.flags.syn and icmp.type eq 8", "no packet has such values of both"},
    {"icmp.type eq 8 and ip.proto eq 58 and ip.version eq 4", "no packet"},
    {"ip.src eq 10.0.0.1 and ip.version eq 6", "both ip.version and ip.src"},
    {"ip.src eq 10.0.0.1 and ip.dst eq 2001:db8::1", "both ip.src and ip.dst"},
    {"eth.type eq 0x0806 and ip.src eq 10.0.0.1", "behind it stands no IP"},
    {"tcp.flags.syn and tcp.flags eq 0x10", "both tcp.flags.syn and tcp.flags"},
    {"http.host eq \"a\" and ip.proto eq 17", "both ip.proto and http.host"},
    {"http.host in $hosts and l4.dport eq 80 and ip.proto eq 17", "both ip.proto and http.host"},
    {"quic.sni eq \"a\" and tcp.flags.syn", "both tcp.flags.syn and quic.sni"},
    {"http.host eq \"a\" and dns.qname eq \"a\"", "no packet has such values of both"},
    {"proto.l7 eq \"dns\" and http.host eq \"a\"", "no packet has such values of both"},
    {"proto.l7 eq \"http\" and proto.scheme eq \"https\"", "no packet has such values of both"},
    {"proto.scheme eq \"https\" and http.request.method eq \"GET\"",
     "no packet has such values of both"},
    {"proto.scheme eq \"http\" and tls.sni eq \"a.b\"", "no packet has such values of both"},
    {"proto.l7 eq \"h2c\" and http.host eq \"a\"", "no packet has such values of both"},
    {"tls.ja4 eq \"T13d1516h2_8daaf6152771_02713d6af862\"", "begins with t (over TCP) or q"},
    {"tls.ja4 ne \"t13d1516h2_8daaf6152771_02713d6af862\" and http.host eq \"a\"",
     "no packet has such values of both"},
    {"proto.scheme ne \"http\" and dns.qname eq \"a\"", "no packet has such values of both"},
    {"starts_with(tls.ja4, \"x\")", "begins with t (over TCP) or q"},
    {"tls.ja4 eq \"t13d1516h2_8daaf6152771_02713d6af862\" and ip.proto eq \"udp\"",
     "both ip.proto and tls.ja4"},
    {"starts_with(tls.ja4, \"q\") and tls.sni eq \"a.b\"", "no packet has such values of both"},
    {"payload.len gt 0 and ip.proto eq 47", "TCP, UDP and ICMP alone have it"},
    {"ip.proto eq 6 and ip.proto eq 17", "no packet is all that it asks for"},
    {"ip.src in $none and ip.proto eq 6 and ip.proto eq 17", "no packet is all that it asks for"},
    {"http.host eq \"a\" and http.host eq \"b\"", "http.host has one value"},
    {"http.host in {\"a\" \"c\"} and http.host in {\"b\" \"d\"}", "http.host has one value"},
    {"http.host in {\"a\" \"b\"} and http.host in {\"b\" \"c\"} and http.host in {\"a\" \"c\"}",
     "as all of its comparisons ask"},
    {"http.host in {\"a\" \"b\"} and not http.host eq \"a\" and http.host ne \"b\"", "http.host"},
    {"http.host eq \"a.example\" and ends_with(http.host, \".test\")", "http.host has one value"},
    {"starts_with(http.request.uri.path, \"/a\") and starts_with(http.request.uri.path, \"/b\")",
     "http.request.uri.path has one value"},
    {"starts_with(http.request.uri.path, \"/ab\") and not starts_with(http.request.uri.path, "
     "\"/a\")",
     "http.request.uri.path has one value"},
    {"http.user_agent eq \"curl\" and not http.user_agent contains \"cu\"", "http.user_agent"},
    {"lower(http.user_agent) eq \"curl\" and http.user_agent eq \"Wget\"", "http.user_agent"},
    {"http.request.headers[\"x-a\"] eq \"1\" and http.request.headers[\"x-a\"] eq \"2\"",
     "http.request.headers[\"x-a\"] has one value"},
    {"http.host eq \"a\" and not (http.host eq \"a\" or http.host eq \"b\")", "no packet"},
    {"http.user_agent eq \"a\" and not (http.user_agent eq \"\" or http.user_agent ne \"\")",
     "http.user_agent has one value"},
    {"dns.qtype eq 1 and dns.qtype eq 28", "dns.qtype has one value"},
    {"dns.qtype in {1..10} and dns.qtype gt 10", "dns.qtype has one value"},
    {"dns.qtype in {1..3} and not dns.qtype in {1 2} and dns.qtype ne 3", "dns.qtype"},
    {"tls.sni eq \"a\" and tls.sni eq \"b\" and l4.dport eq 443", "tls.sni has one value"},
    {"l4.dport eq 443 and http.host eq \"a\" and http.request.method eq \"GET\" and "
     "http.host eq \"b\"",
     "http.host has one value"},
    {"not (ip.proto ne 1 or l4.dport ne 80 or not l4.dport)", "UDP-Lite alone have ports"},
};

TEST(PossiblePackets, AConditionThatHoldsForNoPacketIsAnErrorThatSaysWhy) {
    for (const Row& row : kImpossible) {
        const Outcome outcome = compile_when(row.when);
        const Problem* error = first_error(outcome);
        EXPECT_FALSE(outcome.rules) << row.when;
        ASSERT_NE(error, nullptr) << row.when;
        EXPECT_NE(error->message.find(row.says), std::string::npos)
            << row.when << ": " << error->message;
        EXPECT_EQ(error->at.line, 8U);
    }
}

// Two values of a field that has one; those from databases aside.
std::pair<std::string, std::string> values_of(const FieldRow& row) {
    switch (row.kind) {
        case FieldKind::Mac:
            return {"02:00:00:00:00:01", "02:00:00:00:00:02"};
        case FieldKind::Address:
            return {"10.0.0.1", "10.0.0.2"};
        case FieldKind::Name:
            return row.field == Field::Dir      ? std::pair{"\"in\"", "\"out\""}
                   : row.field == Field::IpFrag ? std::pair{"\"first\"", "\"later\""}
                                                : std::pair{"\"a\"", "\"b\""};
        default:
            return row.field == Field::IpVersion
                       ? std::pair{std::string{"4"}, std::string{"6"}}
                       : std::pair{std::to_string(row.max), std::to_string(row.max - 1)};
    }
}

TEST(PossiblePackets, NoFieldHasTwoValuesAtOnce) {
    for (const FieldRow& row : kFields) {
        if (is_from_database(row.field)) {
            continue;
        }
        const auto [one, other] = values_of(row);
        const std::string name{row.name};
        const std::string condition = name + " eq " + one + " and " + name + " eq " + other;
        const Outcome outcome = compile_when(condition);
        const Problem* error = first_error(outcome);
        EXPECT_FALSE(outcome.rules) << condition;
        ASSERT_NE(error, nullptr) << condition;
        EXPECT_NE(error->message.find("no packet"), std::string::npos)
            << condition << ": " << error->message;
        EXPECT_TRUE(compile_when(name + " eq " + one).rules) << name << " eq " << one;
    }
}

TEST(PossiblePackets, WhatSomePacketMayBeIsNone) {
    for (const std::string_view when :
         {"l4.dport eq 80 and ip.proto eq 132",
          "l4.dport eq 80 and ip.proto ne 6",
          "icmp.type eq 128 and ip.version eq 6",
          "icmp.type eq 8 and ip.frag eq \"first\"",
          "not l4.dport in {80} and ip.proto eq 1",
          "ip.version in {4 5}",
          "ip.version ge 5",
          "eth.type eq 0x8847 and ip.src eq 10.0.0.1",
          "outer.ip.src eq 10.0.0.1 and ip.version eq 6",
          "tcp.flags.syn and tcp.flags eq 0x12",
          "dns.qname eq \"a\" and ip.proto eq 17",
          "dns.qname eq \"a\" and tcp.flags.ack",
          "starts_with(tls.ja4, \"q\") and ip.proto eq 17",
          "starts_with(tls.ja4, \"t\") and tls.sni eq \"a.b\"",
          "tls.ja4 contains \"d15\" and tls.sni eq \"a.b\"",
          "proto.scheme eq \"https\" and ip.proto eq 17",
          "proto.scheme in {\"http\" \"https\"} and http.host eq \"a\"",
          "proto.l7 eq \"h2c\" and proto.scheme eq \"http\"",
          "proto.l7 in {\"h2c\" \"http\"} and http.host eq \"a\"",
          "(l4.dport eq 80 and ip.proto eq 1) or ip.proto eq 6",
          "ip.proto eq 0",
          "ip.len eq 0",
          "client.ip eq 10.0.0.1 and ip.version eq 4",
          "ip.version ne 5",
          "http.host eq \"a\" or http.host eq \"b\"",
          "http.host eq \"a\" and http.host eq \"A\"",
          "http.host in {\"a\" \"b\"} and http.host in {\"b\" \"c\"}",
          "http.host ne \"a\" and http.host ne \"b\"",
          "not http.host eq \"a\" and http.host ne \"b\"",
          "http.host eq \"a.example\" and ends_with(http.host, \".example\")",
          "starts_with(http.host, \"a\") and ends_with(http.host, \"b\")",
          "starts_with(http.user_agent, \"ab\") and starts_with(http.user_agent, \"a\")",
          "starts_with(http.user_agent, \"a\") and not starts_with(http.user_agent, \"ab\")",
          "lower(http.user_agent) eq \"curl\" and http.user_agent ne \"curl\"",
          "lower(http.user_agent) eq \"curl\" and http.user_agent eq \"CURL\"",
          "http.user_agent contains \"a\" and http.user_agent contains \"b\"",
          "http.user_agent matches \"^a$\" and http.user_agent eq \"b\"",
          "http.host in $hosts and http.host eq \"b.example\"",
          "dns.qtype in {1..10} and dns.qtype ge 10",
          "dns.qtype ne 1 and not dns.qtype eq 2",
          "http.host eq \"a\" and http.user_agent eq \"b\"",
          "not ip.src in $none and ip.version eq 4"}) {
        const Outcome outcome = compile_when(when);
        const Problem* error = first_error(outcome);
        EXPECT_TRUE(outcome.rules) << when << ": " << (error == nullptr ? "" : error->message);
    }
}

// Lists come to hold other things; what they hold today stops no rule.
TEST(PossiblePackets, AnEmptyListIsAWarning) {
    for (const std::string_view when :
         {"ip.src in $none", "ip.src in $none and ip.version eq 6", "not not ip.src in $none"}) {
        const Outcome outcome = compile_when(when);
        EXPECT_TRUE(outcome.rules) << when;
        EXPECT_TRUE(std::ranges::any_of(outcome.problems, [](const Problem& problem) {
            return problem.message == "this rule can never match as its lists stand";
        })) << when;
    }
}

}  // namespace
}  // namespace sluice::possible_packets_test

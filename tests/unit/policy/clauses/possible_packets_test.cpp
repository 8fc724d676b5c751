#include "lib/policy/clauses/possible_packets.hpp"

#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

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
    {"l4.dport eq 80 and ip.frag eq \"later\"", "later fragments none"},
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
    {"payload.len gt 0 and ip.proto eq 47", "TCP, UDP and ICMP alone have it"},
    {"ip.proto eq 6 and ip.proto eq 17", "no packet is all that it asks for"},
    {"ip.src in $none and ip.proto eq 6 and ip.proto eq 17", "no packet is all that it asks for"},
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

TEST(PossiblePackets, WhatSomePacketMayBeIsNone) {
    for (const std::string_view when :
         {"l4.dport eq 80 and ip.proto eq 132", "l4.dport eq 80 and ip.proto ne 6",
          "icmp.type eq 128 and ip.version eq 6", "icmp.type eq 8 and ip.frag eq \"first\"",
          "not l4.dport in {80} and ip.proto eq 1", "ip.version in {4 5}", "ip.version ge 5",
          "eth.type eq 0x8847 and ip.src eq 10.0.0.1",
          "outer.ip.src eq 10.0.0.1 and ip.version eq 6", "tcp.flags.syn and tcp.flags eq 0x12",
          "dns.qname eq \"a\" and ip.proto eq 17", "dns.qname eq \"a\" and tcp.flags.ack",
          "starts_with(tls.ja4, \"q\") and ip.proto eq 17",
          "(l4.dport eq 80 and ip.proto eq 1) or ip.proto eq 6", "ip.proto eq 0", "ip.len eq 0",
          "client.ip eq 10.0.0.1 and ip.version eq 4", "ip.version ne 5",
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

#include "control/cli/trace/traced_text.hpp"

#include <gtest/gtest.h>

namespace sluice::traced_text_test {
namespace {

Json packet() {
    return {{"time", "2026-01-02T03:04:05.123456789Z"},
            {"utc_ns", 1},
            {"port", "uplink"},
            {"dir", "in"},
            {"src", "192.0.2.7"},
            {"dst", "198.51.100.1"},
            {"proto", 17},
            {"sport", 1000},
            {"dport", 53},
            {"bytes", 60},
            {"verdict", "drop"},
            {"reason", "over_limit"},
            {"rule", "names"},
            {"key", "192.0.2.7"},
            {"limit", "1"},
            {"wait_s", 1.5},
            {"matched", Json::array({"names", "watched"})},
            {"matched_count", 2},
            {"lcore", 1}};
}

TEST(TracedText, APacketOnALine) {
    EXPECT_EQ(traced_line(packet()),
              "03:04:05.123456 in  uplink 192.0.2.7:1000 > 198.51.100.1:53 udp 60 B: drop "
              "over_limit rule=names key=192.0.2.7 limit=1 wait=1.500s matched=names,watched\n");
}

TEST(TracedText, WhatIsNotThereIsNotSaid) {
    Json bare = packet();
    for (const char* const name : {"src", "dst", "proto", "sport", "dport"}) {
        bare.erase(name);
    }
    bare["verdict"] = "pass";
    bare["reason"] = "unmatched";
    for (const char* const name : {"rule", "key", "limit"}) {
        bare[name] = nullptr;
    }
    bare["wait_s"] = 0.0;
    bare["matched"] = Json::array();
    bare["matched_count"] = 0;
    EXPECT_EQ(traced_line(bare), "03:04:05.123456 in  uplink no IP 60 B: pass unmatched\n");
}

TEST(TracedText, WhatAServiceInMonitorWouldRefuseIsSaid) {
    Json one = packet();
    one["verdict"] = "pass";
    one["reason"] = "unmatched";
    for (const char* const name : {"rule", "key", "limit"}) {
        one[name] = nullptr;
    }
    one["wait_s"] = 0.0;
    one["matched_count"] = 0;
    one["service"] = "shop";
    one["would_refuse"] = "out_of_window";
    EXPECT_EQ(traced_comment(one), "pass unmatched service=shop would_refuse=out_of_window");
    one["would_refuse"] = nullptr;
    EXPECT_EQ(traced_comment(one), "pass unmatched service=shop");
    one["service"] = nullptr;
    EXPECT_EQ(traced_comment(one), "pass unmatched");
}

TEST(TracedText, WaitsMatchesAndWordsWithSpaces) {
    Json one = packet();
    one["wait_s"] = nullptr;
    one["key"] = "a b|c";
    one["matched_count"] = 12;
    EXPECT_EQ(traced_comment(one),
              "drop over_limit rule=names key=\"a b|c\" limit=1 wait=never "
              "matched=names,watched,+10");
    one["wait_s"] = 3600.4;
    one["matched"] = Json::array({"names"});
    one["matched_count"] = 1;
    EXPECT_EQ(traced_comment(one), "drop over_limit rule=names key=\"a b|c\" limit=1 wait=3600s");
}

TEST(TracedText, PortsOfIpv6AreTold) {
    Json one = packet();
    one["src"] = "2001:db8::7";
    one["dst"] = "2001:db8::1";
    one["proto"] = 6;
    EXPECT_NE(traced_line(one).find("[2001:db8::7]:1000 > [2001:db8::1]:53 tcp"),
              std::string::npos);
    one.erase("sport");
    one.erase("dport");
    one["proto"] = 58;
    EXPECT_NE(traced_line(one).find("2001:db8::7 > 2001:db8::1 icmpv6"), std::string::npos);
}

}  // namespace
}  // namespace sluice::traced_text_test

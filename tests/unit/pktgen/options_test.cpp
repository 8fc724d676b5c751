#include "tests/pktgen/options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::pktgen::options_test {
namespace {

std::variant<Options, Printed> read(std::vector<const char*> words) {
    words.insert(words.begin(), "sluice-pktgen");
    return read_options(static_cast<int>(words.size()), words.data());
}

TEST(PktgenOptions, DefaultsAreUdpAtTheHighestRate) {
    const auto options = std::get<Options>(read({"--tx", "net_null0"}));
    EXPECT_EQ(options.traffic.profile->name, "udp");
    EXPECT_EQ(options.receive, "net_null0");
    EXPECT_EQ(options.rate.unit, Rate::Unit::Max);
    EXPECT_EQ(options.mode, Mode::Run);
    EXPECT_FALSE(options.duration);
}

TEST(PktgenOptions, ASizeTakesTheProfilesPlace) {
    EXPECT_TRUE(std::get<Options>(read({"--tx", "a", "--profile", "imix"})).traffic.is_imix);
    const auto fixed = std::get<Options>(read({"--tx", "a", "--profile", "imix", "--size", "128"}));
    EXPECT_FALSE(fixed.traffic.is_imix);
    EXPECT_EQ(fixed.traffic.size, 128U);
    EXPECT_TRUE(std::get<Options>(read({"--tx", "a", "--size", "imix"})).traffic.is_imix);
}

TEST(PktgenOptions, WhatStandsBehindTheDashesIsTheEals) {
    const auto options = std::get<Options>(read({"--tx", "a", "--", "--log-level", "debug", "-h"}));
    EXPECT_EQ(options.eal, (std::vector<std::string>{"--log-level", "debug", "-h"}));
}

TEST(PktgenOptions, AnAddressBelongsToItsFamily) {
    const auto options = std::get<Options>(read({"--tx", "a", "--ipv6", "--dst", "2001:db8::7"}));
    EXPECT_EQ(options.traffic.route.dst_v6[1], 7U);
    EXPECT_EQ(options.traffic.route.family, Family::V6);
}

TEST(PktgenOptions, AsksThatEndAtOnce) {
    EXPECT_EQ(std::get<Printed>(read({"--list"})).exit, 0);
    EXPECT_NE(std::get<Printed>(read({"--list"})).text.find("syn_flood"), std::string::npos);
    EXPECT_EQ(std::get<Printed>(read({"--help"})).exit, 0);
    EXPECT_EQ(std::get<Printed>(read({"--version"})).exit, 0);
}

struct Bad {
    std::vector<const char*> words;
    const char* says;
};

TEST(PktgenOptions, BadOnesAreRefusedInWords) {
    const std::vector<Bad> all{
        {{}, "--tx DEVICE is required"},
        {{"--tx"}, "--tx"},
        {{"--tx", "a", "b"}, "b"},
        {{"--tx", "a", "--nonsense"}, "--nonsense"},
        {{"--tx", "a", "--profile", "nope"}, "no profile `nope`"},
        {{"--tx", "a", "--rate", "fast"}, "is no rate"},
        {{"--tx", "a", "--rate", "2T"}, "1G frames"},
        {{"--tx", "a", "--size", "63"}, "is no size"},
        {{"--tx", "a", "--sources", "1000"}, "is no number of sources"},
        {{"--tx", "a", "--duration", "never"}, "is no duration"},
        {{"--tx", "a", "--count", "-1"}, ""},
        {{"--tx", "a", "--vlan", "4095"}, "--vlan"},
        {{"--tx", "a", "--vlan", "0"}, "--vlan"},
        {{"--tx", "a", "--dst", "here"}, "is no address"},
        {{"--tx", "a", "--dst", "::1"}, "give --ipv6"},
        {{"--tx", "a", "--ipv6", "--dst", "192.0.2.1"}, "wants an IPv6 address"},
        {{"--tx", "a", "--dst-mac", "x"}, "is no MAC address"},
        {{"--tx", "a", "--cpu", "-1"}, "--cpu"},
        {{"--tx", "a", "--warm-up", "0"}, "is no count"},
        {{"--tx", "a", "--backlog", "0"}, "--backlog"},
        {{"--tx", "a", "--queues", "0"}, "--queues"},
        {{"--tx", "a", "--queues", "17"}, "--queues"},
        {{"--tx", "a", "--search", "--duration", "5s"}, "trials of its own"},
        {{"--tx", "a", "--search", "--latency"}, "trials of its own"},
        {{"--tx", "a", "--search", "--tolerance", "0"}, "--tolerance"},
        {{"--tx", "a", "--search", "--repeats", "21"}, "--repeats"},
        {{"--tx", "a", "--wait", "nan"}, "--wait"},
        {{"--tx", "a", "--wait", "inf"}, "--wait"},
        {{"--tx", "a", "--wait", "-1"}, "--wait"},
        {{"--tx", "a", "--settle", "nan"}, "--settle"},
        {{"--tx", "a", "--settle", "inf"}, "--settle"},
        {{"--tx", "a", "--settle", "-1"}, "--settle"},
        {{"--tx", "a", "--search", "--tolerance", "nan"}, "--tolerance"},
        {{"--tx", "a", "--search", "--tolerance", "inf"}, "--tolerance"},
        {{"--tx", "a", "--search", "--tolerance", "-1"}, "--tolerance"},
        {{"--tx", "a", "--search", "--loss", "nan"}, "--loss"},
        {{"--tx", "a", "--search", "--loss", "inf"}, "--loss"},
        {{"--tx", "a", "--search", "--loss", "-1"}, "--loss"},
        {{"--tx", "a", "--size", "1519"}, "wants --vlan"},
        {{"--tx", "a", "--trial", "1s"}, "--trial belongs to --search"},
        {{"--tx", "a", "--loss", "1"}, "--loss belongs to --search"},
    };
    for (const Bad& bad : all) {
        const auto answer = read(bad.words);
        const auto* printed = std::get_if<Printed>(&answer);
        ASSERT_NE(printed, nullptr) << bad.says;
        EXPECT_EQ(printed->exit, kBadUsage) << bad.says;
        EXPECT_NE(printed->text.find(bad.says), std::string::npos) << printed->text;
    }
}

}  // namespace
}  // namespace sluice::pktgen::options_test

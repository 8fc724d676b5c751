#include "lib/packet/field_text.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

namespace sluice::field_text_test {
namespace {

using test::Frame;
using test::Octets;
using test::seen;
using test::tcp;
using test::udp;

TEST(FieldText, WritesEveryKindAsPeopleReadIt) {
    const Octets inner = tcp().src("2001:DB8:0:0:1::1").dst("::").flags(0x002).tos(0xB8).packet();
    const Octets frame =
        Frame{41}.src("10.0.0.1").dst("10.0.0.2").vlan(5).vlan(6).carries(inner).bytes();
    PacketHeaders headers;
    headers.dir = Direction::Out;
    headers.port = port_name("uplink");
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, test::kAllTunnels, headers);
    const struct {
        Field field;
        std::string_view text;
    } rows[] = {
        {Field::Dir, "out"},
        {Field::Port, "uplink"},
        {Field::EthSrc, "16:17:18:19:1a:1b"},
        {Field::EthDst, "02:03:04:05:06:07"},
        {Field::EthType, "0x0800"},
        {Field::VlanId, "5"},
        {Field::VlanInnerId, "6"},
        {Field::IpVersion, "6"},
        {Field::IpSrc, "2001:db8::1:0:0:1"},
        {Field::IpDst, "::"},
        {Field::IpProto, "6"},
        {Field::IpTtl, "64"},
        {Field::IpDscp, "46"},
        {Field::IpLen, "60"},
        {Field::IpFrag, "none"},
        {Field::OuterIpSrc, "10.0.0.1"},
        {Field::OuterIpDst, "10.0.0.2"},
        {Field::L4Sport, "40000"},
        {Field::L4Dport, "9"},
        {Field::TcpSyn, "1"},
        {Field::TcpAck, "0"},
        {Field::TcpFin, "0"},
        {Field::TcpFlags, "2"},
        {Field::PayloadLen, "0"},
        {Field::IcmpType, ""},
        {Field::IcmpCode, ""},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(field_text(row.field, headers, frame, "uplink"), row.text)
            << row_of(row.field).name;
    }
}

TEST(FieldText, WhatAFrameDoesNotHaveIsEmpty) {
    const Octets none;
    const PacketHeaders headers = seen(none);
    for (const FieldRow& row : kFields) {
        EXPECT_EQ(field_text(row.field, headers, none, ""), row.field == Field::Dir ? "in" : "")
            << row.name;
    }
}

TEST(ReadNumber, EachFlagIsItsOwnBit) {
    const struct {
        Field field;
        std::uint16_t bit;
    } rows[] = {
        {Field::TcpFin, 0x01}, {Field::TcpSyn, 0x02}, {Field::TcpRst, 0x04},
        {Field::TcpPsh, 0x08}, {Field::TcpAck, 0x10}, {Field::TcpUrg, 0x20},
    };
    for (const auto& set : rows) {
        const Octets frame = tcp().flags(set.bit).bytes();
        for (const auto& row : rows) {
            EXPECT_EQ(read_number(row.field, seen(frame), frame), row.bit == set.bit ? 1U : 0U)
                << row_of(row.field).name;
        }
    }
}

TEST(ReadNumber, WordsAreNumberedAsInTheirTables) {
    for (const auto& [offset, more, word] :
         {std::tuple{0, false, "none"}, {0, true, "first"}, {5, true, "later"}}) {
        const Octets frame =
            udp().payload(64).frag(static_cast<std::uint16_t>(offset), more).bytes();
        EXPECT_EQ(kFragWords[read_number(Field::IpFrag, seen(frame), frame)], word);
    }
}

TEST(ReadAddress, KeepsTheVersionOfTheOuterHeader) {
    const Octets frame = Frame{4}.src("fd00::1").dst("fd00::2").carries(udp().packet()).bytes();
    const PacketHeaders headers = seen(frame, test::kAllTunnels);
    EXPECT_EQ(read_address(Field::OuterIpSrc, headers, frame), *parse_address("fd00::1"));
    EXPECT_EQ(read_address(Field::OuterIpDst, headers, frame), *parse_address("fd00::2"));
    EXPECT_EQ(read_address(Field::IpSrc, headers, frame), *parse_address("192.0.2.1"));
    EXPECT_EQ(read_address(Field::IpDst, headers, frame), *parse_address("198.51.100.1"));
}

}  // namespace
}  // namespace sluice::field_text_test

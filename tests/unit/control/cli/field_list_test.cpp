#include "control/cli/field_list.hpp"

#include <gtest/gtest.h>

namespace sluice::field_list_test {
namespace {

FieldFault fault(const std::string& name) {
    const auto parsed = parse_field_list({"ip.src", name});
    const auto* found = std::get_if<FieldFault>(&parsed);
    return found != nullptr ? *found : FieldFault{};
}

TEST(FieldList, TakesEveryFieldOfTheTableInTheOrderGiven) {
    const auto parsed = parse_field_list({"payload.len", "dir", "dir"});
    EXPECT_EQ(std::get<std::vector<ShownField>>(parsed),
              (std::vector<ShownField>{Field::PayloadLen, Field::Dir, Field::Dir}));
    for (const FieldRow& row : kFields) {
        if (is_from_database(row.field) || row.field == Field::ProxiedClient) {
            continue;
        }
        const auto one = parse_field_list({std::string{row.name}});
        EXPECT_EQ(std::get<std::vector<ShownField>>(one), std::vector<ShownField>{row.field});
    }
}

TEST(FieldList, TakesTextsOfLaterLayersAmongFieldsOfHeaders) {
    const auto parsed = parse_field_list({"dns.qname", "ip.src", "proto.l7"});
    EXPECT_EQ(std::get<std::vector<ShownField>>(parsed),
              (std::vector<ShownField>{TextField::DnsQname, Field::IpSrc, TextField::ProtoL7}));
}

TEST(FieldList, TellsWhatIsNotBuiltFromWhatDoesNotExist) {
    for (const char* name : {"http.host", "tls.sni", "payload", "quic.sni",
                             "http.request.headers[\"x-api-key\"]", "http.cookies[\"id\"]"}) {
        EXPECT_TRUE(fault(name).not_built) << name;
        EXPECT_NE(fault(name).what.find("not built yet"), std::string::npos) << name;
    }
    for (const char* name : {"ip.scr", "", "http.hosts", "IP.SRC"}) {
        EXPECT_FALSE(fault(name).not_built) << name;
        EXPECT_FALSE(fault(name).what.empty()) << name;
    }
}

TEST(FieldList, SaysThatNoFrameHasWhatDatabasesHave) {
    for (const char* name : {"ip.src.country", "ip.dst.asn"}) {
        EXPECT_FALSE(fault(name).not_built) << name;
        EXPECT_NE(fault(name).what.find("comes from a database"), std::string::npos) << name;
    }
}

TEST(FieldList, SuggestsTheNearestName) {
    EXPECT_NE(fault("ip.scr").what.find("`ip.src`"), std::string::npos);
    EXPECT_NE(fault("l4.dprt").what.find("`l4.dport`"), std::string::npos);
    EXPECT_NE(fault("tcp.flag.syn").what.find("`tcp.flags.syn`"), std::string::npos);
    EXPECT_LT(fault(std::string(1'000'000, 'x')).what.size(), 200U);
}

TEST(TunnelList, MeansAllWhenEmpty) {
    const auto all = std::get<Tunnels>(parse_tunnels({}));
    EXPECT_TRUE(all.gre && all.vxlan && all.ipip);
    const auto none = std::get<Tunnels>(parse_tunnels({"none"}));
    EXPECT_FALSE(none.gre || none.vxlan || none.ipip);
    const auto some = std::get<Tunnels>(parse_tunnels({"ipip", "gre"}));
    EXPECT_TRUE(some.gre && some.ipip);
    EXPECT_FALSE(some.vxlan);
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_tunnels({"none", "gre"})));
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_tunnels({"geneve"})));
}

}  // namespace
}  // namespace sluice::field_list_test

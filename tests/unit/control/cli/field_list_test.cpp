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
    EXPECT_EQ(std::get<FieldList>(parsed).fields,
              (std::vector<ShownField>{Field::PayloadLen, Field::Dir, Field::Dir}));
    for (const FieldRow& row : kFields) {
        if (is_from_database(row.field) || row.field == Field::ProxiedClient) {
            continue;
        }
        const auto one = parse_field_list({std::string{row.name}});
        EXPECT_EQ(std::get<FieldList>(one).fields, std::vector<ShownField>{row.field});
    }
}

TEST(FieldList, TakesTextsOfLaterLayersAmongFieldsOfHeaders) {
    const auto parsed = parse_field_list({"dns.qname", "ip.src", "proto.l7"});
    EXPECT_EQ(std::get<FieldList>(parsed).fields,
              (std::vector<ShownField>{TextField::DnsQname, Field::IpSrc, TextField::ProtoL7}));
    for (const TextFieldRow& row : kTextFields) {
        const auto one = parse_field_list({std::string{row.name}});
        EXPECT_TRUE(std::holds_alternative<FieldList>(one)) << row.name;
    }
}

TEST(FieldList, TakesHeadersAndCookiesByTheirNames) {
    const auto parsed =
        parse_field_list({"http.cookies[\"id\"]", "http.request.headers[\"X-Api-Key\"]",
                          "http.request.headers[\"x-api-key\"]", "http.cookies[\"ID\"]"});
    const auto& list = std::get<FieldList>(parsed);
    EXPECT_EQ(list.fields, (std::vector<ShownField>{named_text(0), named_text(1), named_text(1),
                                                    named_text(2)}));
    EXPECT_EQ(list.text_names, (TextNames{{TextName::Kind::Cookie, "id"},
                                          {TextName::Kind::Header, "X-Api-Key"},
                                          {TextName::Kind::Cookie, "ID"}}));
    for (const auto& [name, says] : std::initializer_list<std::pair<const char*, const char*>>{
             {"http.cookies", "expected `[`"},
             {"http.cookies[id]", "a name in double quotes"},
             {"http.cookies[\"\"]", "1 to 128"},
             {"http.cookies[\"a\"", "expected `]`"},
             {"http.cookies[\"a\"] x", "the end of the field"}}) {
        EXPECT_NE(fault(name).what.find(says), std::string::npos) << fault(name).what;
    }
}

// A comma of a function is no end of a name.
TEST(FieldList, TakesFunctionsOfTexts) {
    const auto parsed = parse_field_list({"ip.src", "path_prefix(http.request.uri.path", "2)",
                                          "dns.qname", "registrable_domain(dns.qname)",
                                          "path_prefix(http.request.uri.path", " 2)"});
    ASSERT_TRUE(std::holds_alternative<FieldList>(parsed));
    const auto& list = std::get<FieldList>(parsed);
    EXPECT_EQ(list.fields,
              (std::vector<ShownField>{Field::IpSrc, named_text(0), TextField::DnsQname,
                                       named_text(1), named_text(0)}));
    EXPECT_EQ(name_of(named_text(0), list.text_names), "path_prefix(http.request.uri.path, 2)");
    for (const auto& [name, says] : std::initializer_list<std::pair<const char*, const char*>>{
             {"path_prefix(http.host)", "takes a path"},
             {"registrable_domain(dns.qname", "after the arguments"},
             {"registrable_domain", "expected `(`"},
             {"lower(http.host)", "no field"},
             {"prefix(ip.src)", "no field"}}) {
        EXPECT_NE(fault(name).what.find(says), std::string::npos) << fault(name).what;
    }
}

TEST(FieldList, TellsWhatDoesNotExist) {
    for (const char* name : {"ip.scr", "", "http.hosts", "IP.SRC"}) {
        EXPECT_FALSE(fault(name).what.empty()) << name;
    }
}

TEST(FieldList, SaysThatNoFrameHasWhatDatabasesHave) {
    for (const char* name : {"ip.src.country", "ip.dst.asn"}) {
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
    EXPECT_TRUE(all.gre && all.vxlan && all.ipip && all.geneve && all.gtpu);
    const auto none = std::get<Tunnels>(parse_tunnels({"none"}));
    EXPECT_FALSE(none.gre || none.vxlan || none.ipip);
    const auto some = std::get<Tunnels>(parse_tunnels({"ipip", "gre"}));
    EXPECT_TRUE(some.gre && some.ipip);
    EXPECT_FALSE(some.vxlan);
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_tunnels({"none", "gre"})));
    EXPECT_TRUE(std::get<Tunnels>(parse_tunnels({"geneve"})).geneve);
    EXPECT_EQ(std::get<Tunnels>(parse_tunnels({"vxlan:8472"})).others.front(),
              (TunnelPort{8472, UdpTunnel::Vxlan}));
    for (const char* wrong : {"teredo", "gre:1", "vxlan:0", "vxlan:x", ""}) {
        EXPECT_TRUE(std::holds_alternative<std::string>(parse_tunnels({wrong}))) << wrong;
    }
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_tunnels({"gtpu", "gtpu"})));
}

}  // namespace
}  // namespace sluice::field_list_test

#include "lib/packet/text_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::text_name_test {
namespace {

TextName header(std::string name) {
    return {TextName::Kind::Header, std::move(name)};
}
TextName cookie(std::string name) {
    return {TextName::Kind::Cookie, std::move(name)};
}

TEST(TextNames, AHeaderIsOneWhateverItsCaseAndACookieIsNot) {
    TextNames names;
    EXPECT_EQ(add_text_name(header("X-Api-Key"), names), named_text(0));
    EXPECT_EQ(add_text_name(cookie("x-api-key"), names), named_text(1));
    EXPECT_EQ(add_text_name(header("x-api-KEY"), names), named_text(0));
    EXPECT_EQ(add_text_name(cookie("X-Api-Key"), names), named_text(2));
    EXPECT_EQ(names, (TextNames{header("X-Api-Key"), cookie("x-api-key"), cookie("X-Api-Key")}));
}

TEST(TextNames, AreShownAsWrittenAndKeptInOneSpelling) {
    const TextNames names{header("X-Api-Key"), cookie("SID")};
    EXPECT_EQ(name_of(named_text(0), names), "http.request.headers[\"X-Api-Key\"]");
    EXPECT_EQ(state_name_of(named_text(0), names), "http.request.headers[\"x-api-key\"]");
    EXPECT_EQ(name_of(named_text(1), names), "http.cookies[\"SID\"]");
    EXPECT_EQ(state_name_of(named_text(1), names), "http.cookies[\"SID\"]");
    EXPECT_EQ(name_of(TextField::HttpHost, names), "http.host");
    EXPECT_EQ(state_name_of(TextField::HttpHost, names), "http.host");
    EXPECT_EQ(name_of(named_text(2), names), kNamedTextRow.name);  // of no set
}

TEST(TextNames, HaveRoomForSoMany) {
    TextNames names;
    for (std::size_t i = 0; i < kMaxNamedTexts; ++i) {
        EXPECT_EQ(add_text_name(header("h" + std::to_string(i)), names), named_text(i));
    }
    EXPECT_EQ(add_text_name(header("one-more"), names), std::nullopt);
    EXPECT_EQ(add_text_name(header("H0"), names), named_text(0));
    EXPECT_EQ(names.size(), kMaxNamedTexts);
    EXPECT_TRUE(are_sound(names));
    EXPECT_TRUE(is_known(named_text(kMaxNamedTexts - 1), names));
    EXPECT_FALSE(is_known(named_text(0), {}));
    EXPECT_TRUE(is_known(TextField::QuicSni, {}));
}

TEST(TextNames, AreTokens) {
    for (const char* name : {"a", "X-Forwarded-For", "!#$%&'*+-.^_`|~09"}) {
        EXPECT_TRUE(is_text_name(name)) << name;
        EXPECT_TRUE(are_sound({header(name)})) << name;
    }
    for (const std::string& name : std::initializer_list<std::string>{
             std::string{}, std::string{"a b"}, std::string{"a:"}, std::string{"a\0", 2},
             std::string{"\x80"}, std::string{"\""}, std::string(kMaxTextNameSize + 1, 'a')}) {
        EXPECT_FALSE(is_text_name(name)) << name;
        EXPECT_FALSE(are_sound({header(name)})) << name;
    }
    EXPECT_FALSE(are_sound({header("a"), header("A")}));
    EXPECT_TRUE(are_sound({cookie("a"), cookie("A"), header("a")}));
    EXPECT_FALSE(are_sound({{static_cast<TextName::Kind>(4), "a"}}));
    EXPECT_FALSE(are_sound({{.name = "a", .source = TextField::HttpHost}}));
    EXPECT_FALSE(are_sound({{.name = "a", .segments = 1}}));
}

constexpr TextName prefix(std::uint8_t segments, TextField source = TextField::HttpPath) {
    return {.kind = TextName::Kind::PathPrefix, .source = source, .segments = segments};
}
constexpr TextName domain(TextField source, std::uint8_t segments = 0) {
    return {.kind = TextName::Kind::RegistrableDomain, .source = source, .segments = segments};
}

TEST(TextNames, OfFunctionsHangOnTheirArguments) {
    TextNames names;
    EXPECT_EQ(add_text_name(prefix(2), names), named_text(0));
    EXPECT_EQ(add_text_name(prefix(3), names), named_text(1));
    EXPECT_EQ(add_text_name(domain(TextField::TlsSni), names), named_text(2));
    EXPECT_EQ(add_text_name(domain(TextField::HttpHost), names), named_text(3));
    EXPECT_EQ(add_text_name(header("a"), names), named_text(4));
    EXPECT_EQ(add_text_name(prefix(2), names), named_text(0));
    EXPECT_EQ(add_text_name(domain(TextField::HttpHost), names), named_text(3));
    EXPECT_TRUE(are_sound(names));
    EXPECT_EQ(name_of(named_text(1), names), "path_prefix(http.request.uri.path, 3)");
    EXPECT_EQ(state_name_of(named_text(2), names), "registrable_domain(tls.sni)");
}

TEST(TextNames, OfFunctionsAreSoundForTheirFields) {
    for (const TextName& name : {prefix(1), prefix(kMaxSegments), domain(TextField::DnsQname),
                                 domain(TextField::QuicSni)}) {
        EXPECT_TRUE(are_sound({name})) << spelled(name);
    }
    TextName named = prefix(1);
    named.name = "a";
    for (const TextName& name :
         {prefix(0), prefix(kMaxSegments + 1), prefix(1, TextField::HttpUri), named,
          prefix(1, named_text(1)), domain(TextField::HttpPath), domain(TextField::TlsSni, 1)}) {
        EXPECT_FALSE(are_sound({name})) << spelled(name);
    }
    EXPECT_FALSE(are_sound({prefix(2), prefix(2)}));
}

// Whoever looks for texts looks for what they are made of.
TEST(TextNames, OfFunctionsAreMadeOfTheirSources) {
    const TextNames names{header("a"), prefix(2), domain(TextField::DnsQname)};
    const TextFieldSet all{named_text(0), named_text(1), named_text(2), TextField::TlsSni};
    EXPECT_EQ(sources_of(all, names), (TextFieldSet{named_text(0), TextField::HttpPath,
                                                    TextField::DnsQname, TextField::TlsSni}));
    EXPECT_EQ(derived_of(all, names), (TextFieldSet{named_text(1), named_text(2)}));
    EXPECT_EQ(find_derived(named_text(0), names), nullptr);
    EXPECT_EQ(find_derived(named_text(3), names), nullptr);
    EXPECT_TRUE(is_folded(named_text(2), names));
    EXPECT_FALSE(is_folded(named_text(1), names));
    EXPECT_TRUE(is_folded(TextField::TlsSni, names));
    EXPECT_FALSE(is_folded(TextField::HttpPath, names));
}

}  // namespace
}  // namespace sluice::text_name_test

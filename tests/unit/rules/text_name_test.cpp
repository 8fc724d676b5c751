#include "lib/rules/text_name.hpp"

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
    EXPECT_FALSE(are_sound({{static_cast<TextName::Kind>(2), "a"}}));
}

}  // namespace
}  // namespace sluice::text_name_test

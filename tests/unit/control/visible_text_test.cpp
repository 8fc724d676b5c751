#include "control/visible_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::visible_text_test {
namespace {

TEST(VisibleText, HiddenCharactersAreShownEscaped) {
    EXPECT_EQ(visible_line("a\033[2J\nrule\tb\r\x7F"), "a\\u001b[2J\\nrule\\tb\\r\\u007f");
    EXPECT_EQ(visible_line("\u009b31m \u0080\u009f"), "\\u009b31m \\u0080\\u009f");
    EXPECT_EQ(visible_line("\u202Eevil\u2066\u2069\u200F\u061C\u2028"),
              "\\u202eevil\\u2066\\u2069\\u200f\\u061c\\u2028");
    EXPECT_EQ(visible_line(std::string_view{"\0", 1}), "\\u0000");
}

TEST(VisibleText, WhatIsSeenStaysAsItIs) {
    const std::string seen = "abc \\d+ Müller \u00A0 \u2030 \u4E2D \U0001F600";
    EXPECT_EQ(visible_line(seen), seen);
    EXPECT_EQ(visible_text(seen), seen);
    EXPECT_FALSE(has_control(seen));
}

TEST(VisibleText, BytesThatAreNoUtf8ActOnNothing) {
    EXPECT_EQ(visible_line("a\x9B\xC2"), "a\uFFFD\uFFFD");
}

TEST(VisibleText, TextsOfSeveralLinesKeepTheirLines) {
    EXPECT_EQ(visible_text("a\tb\n\033c\r\n"), "a\tb\n\\u001bc\\r\n");
}

TEST(VisibleText, ADocumentMeansTheSame) {
    const nlohmann::json document{{"reason", "\u009b \u202E \033 \n \x7F x"}};
    const std::string shown = visible_json(document.dump());
    EXPECT_EQ(shown, "{\"reason\":\"\\u009b \\u202e \\u001b \\n \\u007f x\"}");
    EXPECT_EQ(nlohmann::json::parse(shown), document);
}

TEST(VisibleText, ControlsAreFoundWhereverTheyStand) {
    for (const char* text : {"\n", "a\tb", "a\033", "\u009B", "a\x7F", "\xFF\r"}) {
        EXPECT_TRUE(has_control(text)) << text;
    }
    EXPECT_FALSE(has_control("\u202E"));  // no control, and shown escaped
    EXPECT_FALSE(has_control(""));
}

}  // namespace
}  // namespace sluice::visible_text_test

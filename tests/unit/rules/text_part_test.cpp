#include "lib/rules/text_part.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::text_part_test {
namespace {

constexpr std::uint8_t kRoom = 32;
constexpr std::size_t kKept = kRoom - kTextDigestSize;

KeyPart part(bool lower = false) {
    return {.text = TextField{}, .lower = lower, .room = kRoom};
}

std::string hex(ByteView digest) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : digest) {
        text += {kHex[std::to_integer<unsigned>(byte) >> 4],
                 kHex[std::to_integer<unsigned>(byte) & 15]};
    }
    return text;
}

// 0, 1, ... 250, 0, 1, ...
std::vector<std::byte> counted(std::size_t size) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < size; ++i) {
        bytes.push_back(static_cast<std::byte>(i % 251));
    }
    return bytes;
}

// As Python's hashlib.blake2b(..., digest_size=16) has them.
TEST(TextPart, TheDigestOfALongTextIsThatOfRfc7693) {
    const struct {
        std::size_t size;
        std::string_view digest;
    } rows[] = {
        {49, "f2d0bbda3d0329ca618a33b070c6efbc"},   {127, "28b1296c7d4807883de6ee4ec04dcc0a"},
        {128, "a74787004ef589e31149183900d0294a"},  {129, "aaf1b0371f6d4ee49ee4fb5ddd9c49ef"},
        {255, "e2f3b2a57bcf64d626b37fc9c12674a1"},  {256, "1142c504dcd26338b7cbcf41424540d0"},
        {257, "b77b55d3dddcc45c6a52774565cd0dd6"},  {300, "a021a719dabbbce707bec49e7a6c9865"},
        {5000, "05ee1ca136ba74b41290c4175909e335"},
    };
    for (const auto& row : rows) {
        const std::vector<std::byte> bytes = counted(row.size);
        const TextValue value = text_value(part(), bytes);
        ASSERT_TRUE(value.has_digest) << row.size;
        ASSERT_EQ(value.size, kRoom) << row.size;
        EXPECT_EQ(hex(value.view().subspan(kKept)), row.digest) << row.size;
        EXPECT_EQ(hex(value.view().first(kKept)), hex(ByteView{bytes}.first(kKept)));
    }
}

TEST(TextPart, TheDigestOfATextInSmallLettersIsOfTheseLetters) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
        text += i % 2 == 0 ? "WWW.Example." : "www.eXAMPLE.";
    }
    const TextValue value = text_value(part(true), bytes_of(text));
    EXPECT_EQ(hex(value.view().subspan(kKept)), "4c1caca9214343338290211de617da6c");
    EXPECT_EQ(hex(value.view().first(kKept)), hex(bytes_of("www.example.www.")));
}

TEST(TextPart, ATextThatFitsStandsAsItIs) {
    const std::vector<std::byte> bytes = counted(kRoom);
    const TextValue value = text_value(part(), bytes);
    EXPECT_FALSE(value.has_digest);
    EXPECT_EQ(hex(value.view()), hex(bytes));
    EXPECT_EQ(text_value(part(), {}).size, 0);
}

}  // namespace
}  // namespace sluice::text_part_test

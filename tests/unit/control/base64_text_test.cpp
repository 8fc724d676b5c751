#include "control/base64_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::base64_text_test {
namespace {

std::optional<std::string> read(std::string_view text) {
    const auto bytes = bytes_of_base64(text);
    if (!bytes) {
        return std::nullopt;
    }
    std::string read(bytes->size(), '\0');
    std::ranges::transform(*bytes, read.begin(),
                           [](std::byte byte) { return static_cast<char>(byte); });
    return read;
}

// The vectors of RFC 4648 10.
TEST(Base64Text, ReadsWhatTheStandardHas) {
    EXPECT_EQ(read(""), "");
    EXPECT_EQ(read("Zg=="), "f");
    EXPECT_EQ(read("Zm8="), "fo");
    EXPECT_EQ(read("Zm9v"), "foo");
    EXPECT_EQ(read("Zm9vYmFy"), "foobar");
    EXPECT_EQ(read("//79"), "\xFF\xFE\xFD");
}

TEST(Base64Text, WritesWhatItReads) {
    EXPECT_EQ(base64_text(""), "");
    EXPECT_EQ(base64_text("f"), "Zg==");
    EXPECT_EQ(base64_text("fo"), "Zm8=");
    EXPECT_EQ(base64_text("foo"), "Zm9v");
    EXPECT_EQ(base64_text("\xFF\xFE\xFD"), "//79");
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<char>(i * 7 + size);
        }
        EXPECT_EQ(read(base64_text(bytes)), bytes);
    }
}

TEST(Base64Text, RefusesEveryOtherText) {
    for (const std::string_view text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zm9v\n", "Zm 9",
                                        "====", "Z===", "Zg==Zg==", "Zm-_", "=Zg="}) {
        EXPECT_EQ(read(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace sluice::base64_text_test

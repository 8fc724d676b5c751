#include "lib/l7/http1/wanted_headers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::wanted_headers_test {
namespace {

std::uint8_t header(const WantedHeaders& wanted, std::string_view name) {
    return wanted.header(bytes_of(name));
}

TEST(WantedHeaders, FramingComesFirst) {
    const Result<WantedHeaders> wanted = WantedHeaders::make({}, {});
    ASSERT_TRUE(wanted);
    EXPECT_EQ(header(*wanted, "Host"), static_cast<std::uint8_t>(FramingHeader::Host));
    EXPECT_EQ(header(*wanted, "COOKIE"), static_cast<std::uint8_t>(FramingHeader::Cookie));
    EXPECT_EQ(header(*wanted, "accept"), NameTable::kNone);
    EXPECT_EQ(header(*wanted, ""), NameTable::kNone);
    EXPECT_EQ(wanted->cookie(bytes_of("x")), NameTable::kNone);
}

TEST(WantedHeaders, HeadersAreFoundInEitherCaseAndCookiesAsTheyAre) {
    const Result<WantedHeaders> wanted =
        WantedHeaders::make({"X-Api-Key", "x-API-key", "host"}, {"Sid", "sid"});
    ASSERT_TRUE(wanted);
    EXPECT_EQ(wanted->headers().size(), kFramingHeaderCount + 1);
    EXPECT_EQ(header(*wanted, "x-aPI-kEY"), kFramingHeaderCount);
    EXPECT_EQ(wanted->cookie(bytes_of("Sid")), 0);
    EXPECT_EQ(wanted->cookie(bytes_of("sid")), 1);
    EXPECT_EQ(wanted->cookie(bytes_of("SID")), NameTable::kNone);
}

TEST(WantedHeaders, OneOfTheRulesIsAlikeToWhatProgramsTakeForIt) {
    const Result<WantedHeaders> wanted =
        WantedHeaders::make({"X-Api-Key", "x_y", "x-y", "App_Key", "_.z", "content_length"}, {});
    ASSERT_TRUE(wanted);
    const auto place = [&](std::string_view name) {
        const http1::ReadableText text{bytes_of(name)};
        return wanted->header(text.bytes(), text.load(0));
    };
    constexpr std::uint8_t kKey = WantedHeaders::kAlike | kFramingHeaderCount;
    for (const char* name : {"X_Api_Key", "x-api_key", "X.API.KEY", "x_api-key", "X!Api!Key",
                             "x~API+KEY", "X^Api`Key", "X_Api+Key", "x-api|key"}) {
        EXPECT_EQ(place(name), kKey) << name;
    }
    EXPECT_EQ(place("app-key"), kKey + 3);
    EXPECT_EQ(place("App~Key"), kKey + 3);
    for (const char* name : {"--z", "~!Z", "!.z"}) {
        EXPECT_EQ(place(name), kKey + 4) << name;
    }
    EXPECT_EQ(place("X-Api-Key"), kFramingHeaderCount);
    EXPECT_EQ(place("x_y"), kFramingHeaderCount + 1);
    EXPECT_EQ(place("X-y"), kFramingHeaderCount + 2);
    EXPECT_EQ(place("x.y"), WantedHeaders::kAlike | (kFramingHeaderCount + 1));
    for (const char* name : {"X_Api_Kez", "XxApi_Key", "X0Api_Key", "XxApixKey", "X_Api_Ke",
                             "Transfer_Encoding", "AppxKey", "z.z", "x-z"}) {
        EXPECT_EQ(place(name), NameTable::kNone) << name;
    }
    EXPECT_EQ(place("Content-Length"), static_cast<std::uint8_t>(FramingHeader::ContentLength));
    EXPECT_EQ(place("content.length"), kKey + 5);
}

TEST(WantedHeaders, NamesOfTheRulesAreAlikeToOneAnother) {
    const Result<WantedHeaders> wanted = WantedHeaders::make({"a-b", "c-d", "A_B", "a.b"}, {});
    ASSERT_TRUE(wanted);
    constexpr std::uint64_t kFirst = std::uint64_t{1} << kFramingHeaderCount;
    EXPECT_EQ(wanted->paired(), kFirst * 0b1101);
    for (const int of : {0, 2, 3}) {
        EXPECT_EQ(wanted->alike(static_cast<std::uint8_t>(kFramingHeaderCount + of)),
                  kFirst * 0b1101);
    }
    EXPECT_EQ(wanted->alike(kFramingHeaderCount + 1), kFirst * 0b10);
}

// No rule names a longer one.
TEST(WantedHeaders, ALongNameIsAlikeToNone) {
    const std::string longest(128, 'x');
    const Result<WantedHeaders> wanted = WantedHeaders::make({longest, longest + "-x"}, {});
    ASSERT_TRUE(wanted);
    const std::string name = longest + "_x";
    const http1::ReadableText text{bytes_of(name)};
    EXPECT_EQ(wanted->header(text.bytes(), text.load(0)), NameTable::kNone);
}

TEST(WantedHeaders, NamesAreTokensAndHaveABound) {
    EXPECT_FALSE(WantedHeaders::make({"a b"}, {}));
    EXPECT_FALSE(WantedHeaders::make({""}, {}));
    EXPECT_FALSE(WantedHeaders::make({}, {"a;b"}));
    std::vector<std::string> names;
    while (names.size() < WantedHeaders::kMaxHeaders - kFramingHeaderCount) {
        names.push_back("x" + std::to_string(names.size()));
    }
    EXPECT_TRUE(WantedHeaders::make(names, names));
    names.emplace_back("one-more");
    EXPECT_FALSE(WantedHeaders::make(names, {}));
}

// Every name of a full table is found, and nothing that differs from one by a bit or a byte.
TEST(NameTable, FindsItsNamesAndNoOther) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < NameTable::kMaxNames; ++i) {
        std::string name;
        for (std::size_t at = 0; at <= i; ++at) {
            name += static_cast<char>('a' + (i * 7 + at * 3) % 26);
        }
        names.push_back(name);
    }
    const NameTable table{names, true};
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(table.find(bytes_of(names[i])), i);
        for (std::size_t at = 0; at < names[i].size(); ++at) {
            for (int bit = 0; bit < 8; ++bit) {
                std::string other = names[i];
                other[at] = static_cast<char>(other[at] ^ (1 << bit));
                if (std::find(names.begin(), names.end(), other) == names.end()) {
                    EXPECT_EQ(table.find(bytes_of(other)), bit == 5 ? i : NameTable::kNone);
                }
            }
        }
        EXPECT_EQ(table.find(bytes_of(names[i] + "-")), NameTable::kNone);
    }
}

// Bytes that differ from each other as letters of two cases do are not the same.
TEST(NameTable, OnlyLettersHaveTwoCases) {
    const NameTable table{{"a^b", "c@d", "e[f"}, true};
    EXPECT_EQ(table.find(bytes_of("A^B")), 0);
    EXPECT_EQ(table.find(bytes_of("a~b")), NameTable::kNone);
    EXPECT_EQ(table.find(bytes_of("c`d")), NameTable::kNone);
    EXPECT_EQ(table.find(bytes_of("e{f")), NameTable::kNone);
}

}  // namespace
}  // namespace sluice::wanted_headers_test

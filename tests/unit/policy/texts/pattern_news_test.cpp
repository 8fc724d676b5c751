#include "lib/policy/texts/pattern_news.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace sluice::pattern_news_test {
namespace {

constexpr std::size_t kPatterns = 3;

std::string told(const NewsHeader& header, const std::string& bytes = {}) {
    NewsHeader sent = header;
    return {std::string(reinterpret_cast<const char*>(&sent), sizeof(sent)) + bytes};
}

PatternNews read(const std::string& news) {
    return read_pattern_news(bytes_of(news), kPatterns);
}

TEST(PatternNews, SaysWhatCameOfIt) {
    const std::string begin = told({News::Pattern, true, 2, 0}) + told({News::All, false, 0, 0});
    const PatternNews made = read(begin + told({News::Database, false, 0, 3}, "abc"));
    EXPECT_EQ(std::get<MadeDatabase>(made).bytes.size(), 3U);
    EXPECT_FALSE(std::get<MadeDatabase>(made).scan_ns);
    const PatternNews refused = read(begin + told({News::Refusal, true, 2, 2}, "no"));
    EXPECT_EQ(std::get<RefusedPattern>(refused).what, "no");
    EXPECT_EQ(std::get<RefusedPattern>(refused).pattern, 2U);
}

TEST(PatternNews, SaysBehindADatabaseWhatItCosts) {
    const std::string database = told({News::Database, false, 0, 3}, "abc");
    const std::string cost = told({News::Cost, false, 0, 1234});
    EXPECT_EQ(std::get<MadeDatabase>(read(database + cost)).scan_ns, 1234U);
    EXPECT_FALSE(std::get<MadeDatabase>(read(database + cost.substr(0, 9))).scan_ns);
    EXPECT_FALSE(std::get<MadeDatabase>(read(database + database)).scan_ns);
    EXPECT_FALSE(std::get<Unfinished>(read(cost + database)).pattern) << "of no database";
}

TEST(PatternNews, KnowsWhereItEnded) {
    EXPECT_FALSE(std::get<Unfinished>(read("")).pattern);
    const std::string first = told({News::Pattern, true, 1, 0});
    EXPECT_EQ(std::get<Unfinished>(read(first)).pattern, 1U);
    EXPECT_FALSE(std::get<Unfinished>(read(first + told({News::All, false, 0, 0}))).pattern);
    const std::string half = told({News::Database, false, 0, 4}, "abc");
    EXPECT_EQ(std::get<Unfinished>(read(first + half)).pattern, 1U);
}

// Bytes that no compiler wrote name no pattern that is not there.
TEST(PatternNews, ReadsNothingBehindAHeaderThatCannotBe) {
    const std::string first = told({News::Pattern, true, 1, 0});
    const std::string rows[] = {
        told({News::Pattern, true, kPatterns, 0}),
        told({News::Refusal, true, 0xFFFF'FFFF, 2}, "no"),
        "\x05" + told({News::All, false, 0, 0}).substr(1),
        "\x01\x02" + told({News::All, false, 0, 0}).substr(2),
        told({News::Refusal, false, 0, UINT64_MAX}, "no"),
    };
    for (const std::string& row : rows) {
        const PatternNews news =
            read(first + row + told({News::Database, false, 0, 3}, "abc").substr(0, 5));
        EXPECT_EQ(std::get<Unfinished>(news).pattern, 1U) << row;
    }
    EXPECT_FALSE(std::get<Unfinished>(read(rows[0])).pattern);
}

}  // namespace
}  // namespace sluice::pattern_news_test

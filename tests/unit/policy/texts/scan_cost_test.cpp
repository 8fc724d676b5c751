#include "lib/policy/texts/scan_cost.hpp"

#include "lib/policy/texts/pattern_compiler.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::scan_cost_test {
namespace {

constexpr std::uint64_t kMostNanos = 1'000'000'000 / kLeastPacketsLeft;

TEST(ScanCost, IsSpokenOfBelowTheThreshold) {
    EXPECT_FALSE(find_costly(TextField::Payload, {}));
    EXPECT_FALSE(find_costly(TextField::Payload, {kMostNanos, true}));
    EXPECT_TRUE(find_costly(TextField::Payload, {kMostNanos + 10, true}));
    EXPECT_TRUE(find_costly(TextField::Payload, {UINT64_MAX, true}));
}

TEST(ScanCost, SaysWhatIsLeft) {
    const auto payload = find_costly(TextField::Payload, {185'000, true});
    EXPECT_TRUE(payload.value_or("").starts_with(
        "patterns of payload: about 5,400 packets/s are left on one core on their worst text of "
        "1,400 bytes"))
        << payload.value_or("");
    const auto name = find_costly(TextField::DnsQname, {200'000, true});
    EXPECT_TRUE(name.value_or("").starts_with(
        "patterns of dns.qname: about 5,000 packets/s are left on one core on their worst text "
        "of 253 bytes"))
        << name.value_or("");
}

TEST(ScanCost, SaysWhereItIsUnknown) {
    const auto unknown = find_costly(TextField::Payload, {0, false});
    EXPECT_EQ(unknown.value_or(""),
              "patterns of payload: what scanning for them takes could not be measured");
}

TEST(ScanCost, OfWhatIsNoDatabaseIsUnknown) {
    EXPECT_FALSE(measure_scan(bytes_of("no database"), 1, {"text"}));
}

TextParts parts_of(const std::string& regex) {
    TextParts parts;
    parts.entries.push_back({TextField::Payload, TextHow::Matches, false, regex});
    return parts;
}

// What was measured once is kept with the database, here and in a process of its own.
TEST(ScanCost, IsMeasuredWhenADatabaseIsMadeAndKeptWithIt) {
    for (const std::string& regex : {std::string{"ab+c"}, std::string{"a.{1,300}b|c.{1,300}d"}}) {
        PatternCache cache;
        TextParts parts = parts_of(regex);
        ScanCosts first;
        ASSERT_FALSE(cache.compile(parts, first)) << regex;
        EXPECT_GT(first.front().ns, 0U) << regex;
        EXPECT_TRUE(first.front().is_measured) << regex;
        for (int i = 0; i < 5; ++i) {
            ScanCosts again;
            ASSERT_FALSE(cache.compile(parts, again));
            EXPECT_EQ(again.front().ns, first.front().ns) << regex;
        }
    }
}

}  // namespace
}  // namespace sluice::scan_cost_test

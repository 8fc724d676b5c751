#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <string>

// Rules with a schedule: what they decide when they are active, what they leave alone when they are
// not, and what their buckets know of the time in between. Instants here are UTC since 1970, which
// began on a Thursday.
namespace sluice::active_cases_test {
namespace {

using namespace std::chrono_literals;

using test::Box;
using test::Octets;
using test::udp;

constexpr Instant kStart{8h};  // Thursday, 08:00

std::string rule(const std::string& text) {
    return "version: 1\nrules:\n  - {id: office, mode: enforce, active: {days: mon-fri, hours: "
           "09:00-18:00}, " +
           text + "}\n";
}
const std::string kThree =
    "key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]";

std::size_t admitted(Box& box, Instant at, std::size_t offered = 10) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < offered; ++i) {
        count += box.judge(udp(), at).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

TEST(Active, DecidesOnSightInItsHoursAlone) {
    Box box{rule("on_match: drop")};
    EXPECT_EQ(box.judge(udp(), kStart + 1h - 1ns).reason, Reason::Unmatched);
    EXPECT_EQ(box.judge(udp(), kStart + 1h).reason, Reason::DenyRule);
    EXPECT_EQ(box.judge(udp(), kStart + 10h - 1ns).reason, Reason::DenyRule);
    EXPECT_EQ(box.judge(udp(), kStart + 10h).reason, Reason::Unmatched);
    EXPECT_EQ(box.judge(udp(), kStart + 25h).reason, Reason::DenyRule);            // Friday
    EXPECT_EQ(box.judge(udp(), kStart + 24h * 2 + 1h).reason, Reason::Unmatched);  // Saturday
    EXPECT_EQ(box.counters(0).exceeded.read(), 3U);
}

TEST(Active, LimitsAndCountsNothingWhenItIsNot) {
    Box box{rule(kThree)};
    EXPECT_EQ(admitted(box, kStart), 10U);
    EXPECT_EQ(box.counters(0).admitted.read(), 0U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 0U);
    EXPECT_EQ(box.counters(0).skipped.read(), 0U);
    EXPECT_EQ(admitted(box, kStart + 1h), 3U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 7U);
}

// Whoever has spent it has none left, however often the schedule switches.
TEST(Active, AHundredTogglesMintNothing) {
    std::string hours;
    for (int i = 0; i < 20; ++i) {
        const std::string hour = (i < 10 ? "0" : "") + std::to_string(i);
        hours += (i == 0 ? "" : ", ") + hour + ":00-" + hour + ":30";
    }
    Box box{"version: 1\nrules:\n  - {id: toggled, mode: enforce, active: {hours: [" + hours +
            "]}, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]}\n"};
    std::size_t in_hours = 0;
    for (int day = 0; day < 5; ++day) {
        for (int i = 0; i < 20; ++i) {
            const Instant on{24h * day + 1h * i};
            in_hours += admitted(box, on + 1min);
            EXPECT_EQ(admitted(box, on + 31min), 10U);
        }
    }
    EXPECT_LE(in_hours, 3U + 5U);  // the burst, and what the rate gives in five days
    EXPECT_GE(in_hours, 3U + 4U);
}

TEST(Active, FollowsTheClockBackToo) {
    Box box{rule("on_match: drop")};
    const std::vector<std::byte> bytes = udp().bytes();
    const FrameView frame{bytes, static_cast<std::uint32_t>(bytes.size())};
    EXPECT_EQ(box.judge(frame, Now{kStart, 1h, {}}).reason, Reason::DenyRule);
    EXPECT_EQ(box.judge(frame, Now{kStart + 1s, 0h, 1h}).reason, Reason::Unmatched);
    EXPECT_EQ(box.judge(frame, Now{kStart + 2s, 24h * 30'000, 1h}).reason, Reason::Unmatched);
}

TEST(Active, ARuleBehindAnInactiveOneDecides) {
    Box box{
        "version: 1\nrules:\n"
        "  - {id: night, mode: enforce, on_match: allow, active: {hours: 22:00-06:00}}\n"
        "  - {id: day, mode: enforce, on_match: drop, when: 'payload contains \"x\"'}\n"};
    const auto packet = udp().carries(Octets(3, std::byte{'x'}));
    EXPECT_EQ(box.rule_name(box.judge(packet, Instant{5h})), "night");
    EXPECT_EQ(box.rule_name(box.judge(packet, kStart)), "day");
    EXPECT_EQ(box.judge(udp(), kStart).reason, Reason::Unmatched);
}

// A condition over a text, in both ways of matching headers.
TEST(Active, LeavesOutRulesThatReadTexts) {
    Box box{rule("on_match: drop, when: 'payload contains \"x\"'")};
    const auto packet = udp().carries(Octets(3, std::byte{'x'}));
    EXPECT_EQ(box.judge(packet, kStart).reason, Reason::Unmatched);
    EXPECT_EQ(box.judge(packet, kStart + 1h).reason, Reason::DenyRule);
    EXPECT_EQ(box.judge(udp().carries(Octets(3, std::byte{'a'})), kStart + 1h).reason,
              Reason::Unmatched);
}

TEST(Active, AnotherSetIsFollowedAtOnce) {
    Box box{rule("on_match: drop")};
    EXPECT_EQ(box.judge(udp(), kStart).reason, Reason::Unmatched);
    ASSERT_TRUE(box.reload(std::string_view{
        "version: 1\nrules:\n  - {id: office, mode: enforce, on_match: drop, active: {hours: "
        "08:00-09:00}}\n"}));
    EXPECT_EQ(box.judge(udp(), kStart).reason, Reason::DenyRule);
}

// Buckets outlive a schedule that comes, changes and goes.
TEST(Active, ReloadsOfItMintNothing) {
    Box box{rule(kThree)};
    EXPECT_EQ(admitted(box, kStart + 1h), 3U);
    const std::string rest = "rules:\n  - {id: office, mode: enforce, " + kThree;
    ASSERT_TRUE(box.reload("version: 1\n" + rest + "}\n"));
    EXPECT_EQ(admitted(box, kStart + 1h), 0U);
    ASSERT_TRUE(box.reload("version: 1\n" + rest + ", active: {days: thu}}\n"));
    EXPECT_EQ(admitted(box, kStart + 1h), 0U);
}

}  // namespace
}  // namespace sluice::active_cases_test

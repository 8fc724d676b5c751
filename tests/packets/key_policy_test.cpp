#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// What operators and penalty boxes make of a key's packets, whichever path decides them.
namespace sluice::key_policy_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::tcp;
using test::udp;

constexpr Instant kStart{1h};

std::string rule(const std::string& more, const std::string& limit) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: [" +
           limit + "]\n" + more;
}
const std::string kBan = "    ban: {after: 3, within: 10s, for: 1m}\n";

KeySetting setting(const std::string& key, KeySetting::What what) {
    return {.rule = "r", .key = key, .tier = 1, .what = what};
}

// A ban or an exemption by name holds for packets that carry nothing of what the limits count: the
// penalty box that is looked up for them counts nothing either.
TEST(KeyPolicy, HoldsWithoutAUnitBesideAPenaltyBox) {
    const std::string connections =
        rule(kBan, "{algorithm: token_bucket, per: connection, rate: 1/s, burst: 5}");
    Box box{connections};
    ASSERT_TRUE(box.reload(connections, {setting("10.0.0.1", KeySetting::What::Banned),
                                         setting("10.0.0.2", KeySetting::What::Exempt)}));
    const auto later_segment = [&](const std::string& source) {
        return box.judge(tcp().src(source).flags(0x010).bytes(), kStart);
    };
    const Decision banned = later_segment("10.0.0.1");
    EXPECT_EQ(banned.verdict, Verdict::Drop);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(box.rule_name(banned), "r");
    EXPECT_EQ(box.counters().bans[0].met.read(), 1U);
    EXPECT_EQ(later_segment("10.0.0.2").verdict, Verdict::Pass);
    EXPECT_EQ(box.counters(0).exempted.read(), 1U);
    EXPECT_EQ(later_segment("10.0.0.3").reason, Reason::Unmatched);
    EXPECT_EQ(box.counters(0).exempted.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].met.read(), 1U);
}

// One packet in a burst of its own; whether the general path wrote its rules down.
class PathProbe {
public:
    explicit PathProbe(Box& box) : box_{box} {}

    [[nodiscard]] bool is_general(const std::vector<std::byte>& frame, Instant now) {
        constexpr std::uint32_t kUntouched = 0xFFFF'FFFF;
        burst_.scratch().packet_matches[0].rule = kUntouched;
        burst_.clear();
        test::arrive(burst_, frame);
        box_.run(burst_, now);
        return burst_.scratch().packet_matches[0].rule != kUntouched;
    }
    [[nodiscard]] const Decision& decision() { return burst_.packets()[0].decision; }

private:
    Box& box_;
    Burst burst_;
};

const OwnBucket* own_bucket(Box& box, const std::string& key) {
    const LoadedRule& rule = box.set().rules.front();
    const GroupKey hash =
        KeyHasher{test::kBoxSecret}(rule.limits.front().identity, box.read_key(key)->bytes.view());
    const Entry* entry = box.buckets().keys.find({hash, rule.limits.front().slot});
    return entry != nullptr && entry->has_own_numbers()
               ? &box.buckets().registry.pool().at<OwnBucket>(entry->cell().rest)
               : nullptr;
}

// The general path gives a key its bucket; from the second packet on the bucket's line remembers
// whose numbers it has, and the fast path decides. Other overrides end that.
TEST(KeyPolicy, OwnNumbersAreTheFastPathsFromTheSecondPacketOn) {
    const std::string limit = "{algorithm: token_bucket, rate: 1/s, burst: 5}";
    const auto overrides = [&](const std::string& burst) {
        return rule("    overrides: {inline: [{key: [10.0.0.1], limits: {\"1\": {burst: " + burst +
                        "}}}]}\n",
                    limit);
    };
    Box box{overrides("9")};
    PathProbe probe{box};
    const std::vector<std::byte> frame = udp().src("10.0.0.1").bytes();
    const auto table = [&] { return box.set().rules.front().override_tables.front(); };

    EXPECT_TRUE(probe.is_general(frame, kStart));
    ASSERT_NE(own_bucket(box, "10.0.0.1"), nullptr);
    EXPECT_EQ(own_bucket(box, "10.0.0.1")->said_by, 0U);
    for (int packet = 2; packet <= 9; ++packet) {
        EXPECT_FALSE(probe.is_general(frame, kStart)) << packet;
        EXPECT_EQ(probe.decision().reason, Reason::WithinLimits) << packet;
        EXPECT_EQ(own_bucket(box, "10.0.0.1")->said_by, table()->name()) << packet;
    }
    EXPECT_EQ(box.judge(frame, kStart).reason, Reason::OverLimit);

    ASSERT_TRUE(box.reload(overrides("7")));
    EXPECT_NE(own_bucket(box, "10.0.0.1")->said_by, table()->name());
    EXPECT_TRUE(probe.is_general(frame, kStart + 5s));
    EXPECT_EQ(own_bucket(box, "10.0.0.1")->burst, 7U);
    EXPECT_FALSE(probe.is_general(frame, kStart + 5s));
    EXPECT_EQ(own_bucket(box, "10.0.0.1")->said_by, table()->name());
}

}  // namespace
}  // namespace sluice::key_policy_test

#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    EXPECT_EQ(box.counters().bans[0].banned.read(), 1U);
    EXPECT_EQ(later_segment("10.0.0.2").reason, Reason::Exempt);
    EXPECT_EQ(box.counters(0).exempted.read(), 1U);
    EXPECT_EQ(later_segment("10.0.0.3").reason, Reason::Unmatched);
    EXPECT_EQ(box.counters(0).exempted.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].banned.read(), 1U);
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

// Precedence, over the two keys of a packet: a ban by name, an exemption, a penalty box, the
// limits.
struct PrecedenceCase {
    const char* name;
    std::vector<KeySetting> settings;
    bool boxed;  // the source has been refused too often
    Reason reason;
    std::uint8_t key;
    Nanoseconds wait;
};

KeySetting setting(int tier, KeySetting::What what, Nanoseconds until) {
    KeySetting made = setting(tier == 1 ? "10.0.0.1" : "10.1.0.1", what);
    made.tier = static_cast<std::uint8_t>(tier);
    made.until = until == kForever ? 0 : until / 1s;
    return made;
}

class Precedence : public testing::TestWithParam<PrecedenceCase> {};

TEST_P(Precedence, OfWhatHoldsForTheKeysOfAPacket) {
    const PrecedenceCase& expected = GetParam();
    const std::string tiers =
        "version: 1\nrules:\n  - id: r\n    mode: enforce\n" + kBan +
        "    tiers:\n"
        "      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}\n"
        "      - {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/h, burst: 100}]}\n";
    Box box{tiers};
    const auto frame = udp().src("10.0.0.1").dst("10.1.0.1").bytes();
    for (int packet = 0; expected.boxed && packet < 4; ++packet) {
        (void)box.judge(frame, kStart);
    }
    const std::uint64_t exempted = box.counters(0).exempted.read();
    ASSERT_TRUE(box.reload(tiers, expected.settings));
    const Decision decision = box.judge(frame, kStart + 1s);
    EXPECT_EQ(decision.reason, expected.reason);
    EXPECT_EQ(decision.wait, expected.wait);
    if (expected.reason == Reason::Banned) {
        EXPECT_EQ(decision.key, expected.key);
    }
    const bool is_exempt = expected.reason == Reason::Exempt;
    EXPECT_EQ(box.counters(0).exempted.read() - exempted, is_exempt ? 1U : 0U);

    // What an operator is shown of each key is what its packets met.
    const LoadedRule& loaded = box.set().rules.front();
    const KeyBytes bytes = read_key_of_rule(loaded.keys, loaded.missing_key, "10.0.0.1", 1)->bytes;
    const KeyAnswer source = box.ask({.load = box.set().load, .bytes = bytes}, kStart + 1s);
    EXPECT_EQ(source.box.left, expected.boxed ? 59s : 0s);
    for (const KeySetting& set : expected.settings) {
        const bool in_force = set.until == 0 || set.until > 3601;
        if (set.tier == 1 && in_force) {
            EXPECT_EQ(source.banned, set.what == KeySetting::What::Banned);
            EXPECT_EQ(source.exempt, set.what == KeySetting::What::Exempt);
        }
    }
}

constexpr auto kExempt = KeySetting::What::Exempt;
constexpr auto kBanned = KeySetting::What::Banned;
const PrecedenceCase kPrecedence[] = {
    {"nothing", {}, false, Reason::WithinLimits, 0, 0s},
    {"a box", {}, true, Reason::Banned, 0, 59s},
    {"an exemption before the box", {setting(1, kExempt, kForever)}, true, Reason::Exempt, 0, 0s},
    {"also of the other key", {setting(2, kExempt, kForever)}, true, Reason::Exempt, 0, 0s},
    {"an exemption that has ended", {setting(1, kExempt, 1h)}, true, Reason::Banned, 0, 59s},
    {"a ban by name before the box",
     {setting(2, kBanned, 2h)},
     true,
     Reason::Banned,
     1,
     59min + 59s},
    {"a shorter one too", {setting(2, kBanned, 1h + 5s)}, true, Reason::Banned, 1, 4s},
    {"a ban by name before an exemption",
     {setting(1, kExempt, kForever), setting(2, kBanned, kForever)},
     false,
     Reason::Banned,
     1,
     kNever},
    {"a ban by name that has ended",
     {setting(1, kExempt, kForever), setting(2, kBanned, 1h)},
     false,
     Reason::Exempt,
     0,
     0s},
    {"the longest of two",
     {setting(1, kBanned, 1h + 5s), setting(2, kBanned, 1h + 6s)},
     false,
     Reason::Banned,
     1,
     5s},
    {"the first of equals",
     {setting(1, kBanned, 1h + 5s), setting(2, kBanned, 1h + 5s)},
     false,
     Reason::Banned,
     0,
     4s},
};
INSTANTIATE_TEST_SUITE_P(KeyPolicy, Precedence, testing::ValuesIn(kPrecedence),
                         [](const auto& row) {
                             std::string name = row.param.name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

}  // namespace
}  // namespace sluice::key_policy_test

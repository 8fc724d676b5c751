#include "lib/load/quick_rule.hpp"

#include "lib/load/slots.hpp"
#include "lib/meter/group_key.hpp"
#include "lib/rules/group.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice::quick_rule_test {
namespace {

using namespace std::chrono_literals;

enum class Key { Source, Destination, Other };
Key key_of(const QuickRule& quick) {
    if (quick.v4 == QuickRule::kNoPacket) {
        return Key::Other;
    }
    EXPECT_TRUE(quick.address_at == offsetof(Flow, src) || quick.address_at == offsetof(Flow, dst));
    return quick.address_at == offsetof(Flow, src) ? Key::Source : Key::Destination;
}

Limit ten_per_second() {
    return *Limit::make({.units = Units{10}, .period = 1s}, Units{10});
}

// What most rules are: one token bucket per source, enforced.
LoadedRule common_rule() {
    LoadedRule rule;
    rule.id = "per-source";
    rule.mode = Mode::Enforce;
    rule.keys.push_back({{.field = Field::IpSrc}});
    rule.limits = {{{.identity = 7, .name = "1", .limit = TokenBucketLimit{ten_per_second()}}}};
    rule.limits[0].slot = 3;
    rule.counters = 5;
    return rule;
}

const RuleSet kNoRules;

QuickRule quick_of(const LoadedRule& rule) {
    LoadedSet set = unloaded(kNoRules);
    set.rules = {rule};
    list_quick_rules(set);
    QuickRule quick = set.quick.at(0);
    quick.tag = nullptr;  // it points into the set
    return quick;
}

// Whoever files an entry counts it for its slot, whatever the key is.
TEST(QuickRule, KnowsTheSlotOfAnyKey) {
    LoadedRule rule = common_rule();
    EXPECT_EQ(quick_of(rule).slot, 3U);
    rule.keys[0].push_back({.field = Field::IpDst});
    EXPECT_EQ(key_of(quick_of(rule)), Key::Other);
    EXPECT_EQ(quick_of(rule).slot, 3U);
}

TEST(QuickRule, SaysHowFarWorkersMayGoAhead) {
    LoadedRule rule = common_rule();
    EXPECT_EQ(quick_of(rule).max_unsynced, 0U);
    rule.limits[0].shared = 7;
    EXPECT_EQ(quick_of(rule).max_unsynced, 7U);
    EXPECT_FALSE(quick_of(rule).plain);
    EXPECT_EQ(quick_of(rule).limit, ten_per_second());
    rule.mode = Mode::Monitor;
    EXPECT_EQ(quick_of(rule).max_unsynced, 0U) << "takes the long way";
}

struct Case {
    const char* name;
    void (*change)(LoadedRule&);
    Key key;
    bool plain;
};

const Case kCases[] = {
    {"common", [](LoadedRule&) {}, Key::Source, true},
    {"by destination", [](LoadedRule& r) { r.keys[0][0].field = Field::IpDst; }, Key::Destination,
     true},
    {"by port", [](LoadedRule& r) { r.keys[0][0].field = Field::L4Dport; }, Key::Other, true},
    {"two parts", [](LoadedRule& r) { r.keys[0].push_back({.field = Field::IpDst}); }, Key::Other,
     true},
    {"no key", [](LoadedRule& r) { r.keys[0].clear(); }, Key::Other, true},
    {"two tiers",
     [](LoadedRule& r) {
         r.keys.push_back({{.field = Field::IpDst}});
         r.limits.push_back(r.limits[0]);
         r.limits[1].key = 1;
     },
     Key::Other, false},
    {"two limits", [](LoadedRule& r) { r.limits.push_back(r.limits[0]); }, Key::Other, false},
    {"counts connections", [](LoadedRule& r) { r.limits[0].per = Per::Connection; }, Key::Other,
     true},
    {"counts double", [](LoadedRule& r) { r.cost = 2; }, Key::Other, true},
    {"no limit",
     [](LoadedRule& r) {
         r.on_match = OnMatch::Drop;
         r.limits.clear();
     },
     Key::Other, false},
    {"watched only", [](LoadedRule& r) { r.mode = Mode::Monitor; }, Key::Source, false},
    {"refusals spend", [](LoadedRule& r) { r.rejected_spend = true; }, Key::Source, false},
    {"another algorithm",
     [](LoadedRule& r) { r.limits[0].limit = LeakyBucketLimit{ten_per_second()}; }, Key::Source,
     false},
};

TEST(QuickRule, HoldsWhatIsOfTheCommonKind) {
    for (const Case& each : kCases) {
        LoadedRule rule = common_rule();
        each.change(rule);
        const QuickRule quick = quick_of(rule);
        EXPECT_EQ(key_of(quick), each.key) << each.name;
        EXPECT_EQ(quick.plain, each.plain) << each.name;
    }
}

TEST(QuickRule, SaysWhatItsRuleSays) {
    LoadedRule rule = common_rule();
    rule.keys[0][0].v4_length = 20;
    rule.limits[0].per = Per::Byte;
    rule.on_exceed = Verdict::Tag;
    const QuickRule quick = quick_of(rule);
    EXPECT_EQ(quick.start, KeyHasher::start_of(7));
    EXPECT_EQ(quick.slot, 3U);
    EXPECT_EQ(quick.counters, 5U);
    EXPECT_TRUE(quick.per_byte);
    EXPECT_EQ(quick.on_exceed, Verdict::Tag);
}

// Header and masked address, put together, are the canonical key.
TEST(QuickRule, ItsKeyIsTheCanonicalOne) {
    for (const std::uint8_t length : std::to_array<std::uint8_t>({0, 1, 8, 20, 31, 32})) {
        LoadedRule rule = common_rule();
        rule.keys[0][0].v4_length = length;
        Flow flow;
        flow.ip_version = IpVersion::V4;
        flow.fields.add(Field::IpSrc);
        const std::array<std::uint8_t, 4> source{203, 0, 113, 77};
        std::memcpy(flow.src.bytes.data(), source.data(), source.size());
        std::uint32_t address;
        std::memcpy(&address, source.data(), sizeof(address));

        const QuickRule quick = quick_of(rule);
        const std::uint64_t word = quick.v4_header | std::uint64_t{address & quick.v4_mask} << 32;
        KeyBytes key;
        ASSERT_EQ(key_of(rule.keys[0], rule.missing_key, flow, {}, key), KeyOutcome::Complete);
        ASSERT_EQ(key.view().size(), sizeof(word));
        EXPECT_EQ(std::memcmp(key.view().data(), &word, sizeof(word)), 0) << +length;
    }
}

// The same of IPv6: header and masked words are the bytes that key_of() writes.
TEST(QuickRule, HasTheCanonicalKeyOfAnIpv6Address) {
    for (unsigned length = 0; length <= 128; ++length) {
        LoadedRule rule = common_rule();
        rule.keys[0][0].v6_length = static_cast<std::uint8_t>(length);
        Flow flow;
        flow.ip_version = IpVersion::V6;
        flow.fields.add(Field::IpSrc);
        flow.src.bytes.fill(std::byte{0xAB});
        std::array<std::uint64_t, 2> words;
        std::memcpy(&words, &flow.src, sizeof(words));

        const QuickRule quick = quick_of(rule);
        std::array<std::byte, 20> bytes;
        const std::array<std::uint64_t, 2> masked{words[0] & quick.v6_mask[0],
                                                  words[1] & quick.v6_mask[1]};
        std::memcpy(bytes.data(), &quick.v6_header, 4);
        std::memcpy(bytes.data() + 4, &masked, sizeof(masked));
        KeyBytes key;
        ASSERT_EQ(key_of(rule.keys[0], rule.missing_key, flow, {}, key), KeyOutcome::Complete);
        ASSERT_EQ(key.view().size(), bytes.size());
        EXPECT_EQ(std::memcmp(key.view().data(), bytes.data(), bytes.size()), 0) << length;
    }
}

// An address that may hide another one takes the long way.
TEST(QuickRule, HasNoIpv6KeyOfAClient) {
    LoadedRule rule = common_rule();
    rule.keys[0][0].field = Field::ClientIp;
    const QuickRule quick = quick_of(rule);
    EXPECT_EQ(key_of(quick), Key::Source);
    EXPECT_EQ(quick.v6, QuickRule::kNoPacket);
}

// A rule with overrides is set apart: nobody takes it for one of the common kind.
TEST(QuickRule, IsApartWhereKeysHaveOverrides) {
    auto all = std::make_shared<Overrides>();
    all->plans.push_back({.exempt = true});
    all->keys.push_back({.bytes = {std::byte{1}}, .rows = {{.end = 1, .plan = 0}}});
    LoadedRule rule = common_rule();
    rule.overrides = all;
    rule.limits[0].overridden = true;
    rule.override_tables = {
        std::make_shared<const OverrideTable>(all->keys[0], *all, HashSecret{1, 2})};
    const QuickRule quick = quick_of(rule);
    EXPECT_EQ(quick.overrides, rule.override_tables[0].get());
    EXPECT_EQ(quick.overridden_v4, IpVersion::V4);
    EXPECT_EQ(quick.overridden_v6, IpVersion::V6);
    EXPECT_FALSE(quick.plain);
    EXPECT_EQ(key_of(quick), Key::Other);
    rule.mode = Mode::Monitor;
    EXPECT_EQ(quick_of(rule).overrides, nullptr) << "takes the long way";
    rule.mode = Mode::Enforce;
    rule.limits[0].shared = 7;
    EXPECT_EQ(quick_of(rule).overrides, nullptr);
    EXPECT_EQ(quick_of(rule).max_unsynced, 0U);
}

// Its pointers lead into the set it stands in, also after that was moved.
TEST(QuickRule, MovesWithItsSet) {
    LoadedSet first = unloaded(kNoRules);
    first.rules = {common_rule(), common_rule()};
    first.rules[1].id = "other";
    first.rules[1].limits[0].slot = 4;
    list_slots(first);
    const LoadedSet set = std::move(first);
    for (std::size_t i = 0; i < set.rules.size(); ++i) {
        EXPECT_EQ(set.quick[i].limit,
                  std::get<TokenBucketLimit>(set.rules[i].limits[0].limit).gcra);
        EXPECT_EQ(set.quick[i].tag, &set.rules[i].tag);
        EXPECT_EQ(set.quick[i].slot, set.rules[i].limits[0].slot);
    }
}

}  // namespace
}  // namespace sluice::quick_rule_test

#include "lib/rules/rule_set.hpp"

#include "lib/rules/service_fault.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::rule_set_test {
namespace {

Limit ten_per_second() {
    return *Limit::make({.units = Units{10}, .period = std::chrono::seconds{1}}, Units{10});
}

Action tag(std::optional<std::uint8_t> dscp, std::optional<std::uint8_t> pcp) {
    return {.verdict = Verdict::Tag, .tag = {dscp, pcp}};
}

RuleSet example() {
    RuleSet set;
    Rule meter;
    meter.id = "per-source";
    meter.keys.push_back({{.field = Field::IpSrc}});
    meter.limits = {
        {.identity = 1,
         .name = "1",
         .per = Per::Packet,
         .limit = TokenBucketLimit{ten_per_second()}},
        {.identity = 2, .name = "2", .per = Per::Byte, .limit = TokenBucketLimit{ten_per_second()}},
    };
    Rule deny;
    deny.id = "deny";
    deny.on_match = OnMatch::Act;
    set.rules = {meter, deny};
    return set;
}

TEST(FindFault, FindsNoneInASoundSet) {
    EXPECT_EQ(find_fault(example()), std::nullopt);
    EXPECT_EQ(find_fault(RuleSet{}), std::nullopt);
}

TEST(FindFault, LetsLimitsOfOpenConnectionsCountNothingElse) {
    RuleSet set = example();
    set.rules[0].limits[0].per = Per::Connection;
    set.rules[0].limits[0].limit = ConcurrencyLimit{{.count = 3, .window = 1'000'000}};
    EXPECT_EQ(find_fault(set), std::nullopt);
    set.rules[0].cost = 2;
    EXPECT_NE(find_fault(set), std::nullopt);
    set.rules[0].cost = 1;
    set.rules[0].rejected_spend = true;
    EXPECT_NE(find_fault(set), std::nullopt);
    set.rules[0].rejected_spend = false;
    set.rules[0].limits[0].per = Per::Packet;
    EXPECT_NE(find_fault(set), std::nullopt);
}

TEST(FindFault, WantsCandidatesBehindARuleWithLimits) {
    RuleSet set = example();
    Rule candidate = set.rules[0];
    candidate.id = "meter.more";
    candidate.mode = Mode::Monitor;
    candidate.candidate = true;
    candidate.limits[0].identity = 3;
    candidate.limits[1].identity = 4;
    const std::vector<Rule> rules = set.rules;
    set.rules = {rules[0], candidate, rules[1]};
    EXPECT_EQ(find_fault(set), std::nullopt);
    set.rules[1].mode = Mode::Enforce;
    EXPECT_NE(find_fault(set), std::nullopt);
    set.rules = {rules[0], rules[1], candidate};
    EXPECT_NE(find_fault(set), std::nullopt) << "the rule before it decides on reading";
    set.rules = {candidate, rules[0], rules[1]};
    EXPECT_NE(find_fault(set), std::nullopt);
}

TEST(FindFault, LetsRequestsCostByPath) {
    RuleSet set = example();
    set.rules[0].limits[0].per = set.rules[0].limits[1].per = Per::Request;
    set.rules[0].path_costs = {{"/a", kMaxCost}, {"/b", 1}};
    EXPECT_EQ(find_fault(set), std::nullopt);
    set.rules[0].limits[1].per = Per::Packet;
    EXPECT_NE(find_fault(set), std::nullopt);
}

// Every action that a table may hold, at every place that names one.
TEST(FindFault, LetsRulesNameAnyActionOfTheTable) {
    RuleSet set = example();
    set.actions.push_back(tag(63, 7));
    set.actions.push_back(tag(std::nullopt, 0));
    set.actions.resize(kMaxActions, kDrop);
    for (const ActionIndex index : std::to_array<ActionIndex>({0, 1, 2, 3, 0xFFFF})) {
        Rule& rule = set.rules[0];
        rule.on_color = {index, index, index};
        rule.match_action = rule.on_exceed = rule.ban.action = index;
        EXPECT_EQ(find_fault(set), std::nullopt) << index;
    }
}

struct Broken {
    std::string_view says;
    void (*break_it)(RuleSet&);
};

const Broken kBroken[] = {
    {"id is empty", [](RuleSet& s) { s.rules[0].id.clear(); }},
    {"too long", [](RuleSet& s) { s.rules[0].id.assign(kMaxRuleIdSize + 1, 'a'); }},
    {"two rules", [](RuleSet& s) { s.rules[1].id = s.rules[0].id; }},
    {"one identity", [](RuleSet& s) { s.rules[0].limits[1].identity = 1; }},
    {"setting", [](RuleSet& s) { s.rules[0].mode = Mode::Off; }},
    {"setting", [](RuleSet& s) { s.rules[0].mode = Mode{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].on_match = OnMatch{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].missing_key = MissingKey{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].on_full = OnFull{9}; }},
    {"not there", [](RuleSet& s) { s.rules[0].match_action = 2; }},
    {"not there", [](RuleSet& s) { s.rules[0].on_exceed = 2; }},
    {"not there", [](RuleSet& s) { s.rules[0].on_color[1] = 2; }},
    {"not there", [](RuleSet& s) { s.rules[0].ban.action = 2; }},
    {"actions", [](RuleSet& s) { s.actions.clear(); }},
    {"actions", [](RuleSet& s) { s.actions.pop_back(); }},
    {"actions", [](RuleSet& s) { std::swap(s.actions[0], s.actions[1]); }},
    {"actions", [](RuleSet& s) { s.actions.resize(kMaxActions + 1); }},
    {"actions", [](RuleSet& s) { s.actions.push_back(tag(64, std::nullopt)); }},
    {"actions", [](RuleSet& s) { s.actions.push_back(tag(std::nullopt, 8)); }},
    {"actions", [](RuleSet& s) { s.actions[1].tag.dscp = 1; }},
    {"actions",
     [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Drop, .tag = {.dscp = 1}}); }},
    {"actions", [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Decoy}); }},
    {"actions",
     [](RuleSet& s) {
         s.actions.push_back({.verdict = Verdict::Reply, .answer = {.response = 1}});
     }},
    {"actions",
     [](RuleSet& s) {
         s.actions.push_back({.verdict = Verdict::Reply, .answer = {.slip = kMaxSlip + 1}});
     }},
    {"actions",
     [](RuleSet& s) {
         s.actions.push_back({.verdict = Verdict::Reply, .answer = {.then = kPassAction}});
     }},
    {"actions", [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Shape}); }},
    {"actions", [](RuleSet& s) { s.actions.push_back({.verdict = Verdict{9}, .tag = {}}); }},
    {"setting", [](RuleSet& s) { s.rules[0].cost = 0; }},
    {"setting", [](RuleSet& s) { s.rules[0].cost = kMaxCost + 1; }},
    {"setting", [](RuleSet& s) { s.rules[0].path_costs = {{"/a", 2}}; }},
    {"setting",
     [](RuleSet& s) {
         s.rules[0].limits[0].per = s.rules[0].limits[1].per = Per::Request;
         s.rules[0].path_costs = {{"/a", 0}};
     }},
    {"conditions", [](RuleSet& s) { s.classifier = Classifier{{.always = {2}}}; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0].resize(kMaxKeyParts + 1); }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].field = Field{99}; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].v4_length = 33; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].v6_length = 129; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].unwrapping = Unwrapping{1}; }},
    {"key",
     [](RuleSet& s) {
         s.rules[0].keys[0][0].field = Field::ClientIp;
         s.rules[0].keys[0][0].unwrapping = Unwrapping{4};
     }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].room = 16; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].lower = true; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0] = {.text = TextField::Payload, .room = 15}; }},
    {"key",
     [](RuleSet& s) {
         s.rules[0].keys[0][0] = {.text = static_cast<TextField>(kTextFieldCount), .room = 16};
     }},
    {"key",
     [](RuleSet& s) { s.rules[0].keys[0].assign(2, {.text = TextField::Payload, .room = 157}); }},
    {"names of texts",
     [](RuleSet& s) { s.rules[0].keys[0][0] = {.text = named_text(0), .room = 16}; }},
    {"names of texts",
     [](RuleSet& s) { s.owner_groups = {{.parts = {{.text = named_text(0), .room = 16}}}}; }},
    {"names of texts",
     [](RuleSet& s) {
         s.named_texts = {{TextName::Kind::Header, "a"}};
         ClassifierParts parts;
         parts.texts.tests = {{named_text(1), {}}};
         s.classifier = Classifier{std::move(parts)};
     }},
    {"names of texts", [](RuleSet& s) { s.named_texts = {{TextName::Kind::Header, ""}}; }},
    {"names of texts",
     [](RuleSet& s) { s.named_texts.assign(kMaxNamedTexts + 1, {TextName::Kind::Cookie, "a"}); }},
    // A key without limits, limits without a key, and limits that come in another order.
    {"follow its keys", [](RuleSet& s) { s.rules[0].keys.clear(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[0].keys.emplace_back(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[1].keys.emplace_back(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[0].limits[1].key = 1; }},
    {"follow its keys",
     [](RuleSet& s) {
         s.rules[0].keys.emplace_back();
         s.rules[0].limits[0].key = 1;
     }},
    {"follow its keys",
     [](RuleSet& s) {
         s.rules[0].keys.resize(3);
         s.rules[0].limits[1].key = 2;
     }},
    {"number of limits", [](RuleSet& s) { s.rules[0].limits.clear(); }},
    {"number of limits", [](RuleSet& s) { s.rules[1].limits = s.rules[0].limits; }},
    {"unknown", [](RuleSet& s) { s.rules[0].limits[0].per = Per{7}; }},
};

TEST(FindFault, TakesTiers) {
    RuleSet set = example();
    set.rules[0].keys.push_back({{.field = Field::IpDst}});
    set.rules[0].limits[1].key = 1;
    EXPECT_EQ(find_fault(set), std::nullopt);
}

TEST(FindFault, NamesWhatIsWrong) {
    for (const Broken& row : kBroken) {
        RuleSet set = example();
        row.break_it(set);
        const std::optional<std::string> fault = find_fault(set);
        ASSERT_TRUE(fault.has_value()) << row.says;
        EXPECT_NE(fault->find(row.says), std::string::npos) << *fault;
    }
}

// One key with numbers for one limit.
std::shared_ptr<Overrides> an_override() {
    auto all = std::make_shared<Overrides>();
    all->numbers.push_back({.limit = 1, .numbers = TokenBucketLimit{ten_per_second()}});
    all->plans.push_back({.first = 0, .count = 1});
    all->keys.push_back({.bytes = {std::byte{1}, std::byte{2}}, .rows = {{.end = 2, .plan = 0}}});
    return all;
}

TEST(FindFault, LooksIntoOverrides) {
    using Break = void (*)(Overrides&);
    const Break breaks[] = {
        [](Overrides& o) { o.keys.clear(); },
        [](Overrides& o) { o.keys.emplace_back(); },
        [](Overrides& o) { o.keys[0].rows[0].end = 1; },
        [](Overrides& o) { o.keys[0].rows[0].end = 3; },
        [](Overrides& o) { o.keys[0].rows[0].plan = 1; },
        [](Overrides& o) { o.keys[0].rows.push_back({1, 0}); },
        [](Overrides& o) { o.plans[0].count = 2; },
        [](Overrides& o) { o.plans[0].first = 2; },
        [](Overrides& o) { o.numbers[0].limit = 2; },
        [](Overrides& o) { o.numbers[0].numbers = LeakyBucketLimit{ten_per_second()}; },
        [](Overrides& o) { o.numbers[0].numbers = SlidingLogLimit{}; },
        [](Overrides& o) {
            o.keys[0].bytes.resize(kMaxKeySize + 1);
            o.keys[0].rows[0].end = kMaxKeySize + 1;
        },
    };
    RuleSet set = example();
    set.rules[0].overrides = an_override();
    EXPECT_EQ(find_fault(set), std::nullopt);
    for (const Break& break_it : breaks) {
        const std::shared_ptr<Overrides> broken = an_override();
        break_it(*broken);
        set.rules[0].overrides = broken;
        const std::optional<std::string> fault = find_fault(set);
        ASSERT_TRUE(fault.has_value());
        EXPECT_NE(fault->find("overrides are not sound"), std::string::npos) << *fault;
    }
    // Another window is another schema.
    set.rules[0].limits[1].limit = SlidingLogLimit{{.count = 1, .window = 7}};
    const std::shared_ptr<Overrides> window = an_override();
    window->numbers[0].numbers = SlidingLogLimit{{.count = 9, .window = 7}};
    set.rules[0].overrides = window;
    EXPECT_EQ(find_fault(set), std::nullopt);
    window->numbers[0].numbers = SlidingLogLimit{{.count = 9, .window = 8}};
    EXPECT_NE(find_fault(set), std::nullopt);
}

TEST(FindFault, KnowsABanThatIsNotSound) {
    const auto make = [] {
        RuleSet set;
        Rule rule;
        rule.id = "r";
        rule.keys.emplace_back();
        rule.limits.push_back(
            {.identity = 1, .name = {}, .limit = TokenBucketLimit{ten_per_second()}});
        rule.ban.boxes.push_back(
            {.identity = 2, .name = "ban", .limit = PenaltyLimit{3, 1'000'000'000, 1'000'000'000}});
        set.rules.push_back(rule);
        return set;
    };
    EXPECT_EQ(find_fault(make()), std::nullopt);
    const std::vector<void (*)(Rule&)> breaks{
        [](Rule& r) { r.ban.boxes[0].key = 1; },
        [](Rule& r) { r.ban.boxes.push_back(r.ban.boxes[0]); },
        [](Rule& r) { r.ban.boxes[0].limit = r.limits[0].limit; },
        [](Rule& r) { r.limits[0].limit = r.ban.boxes[0].limit; },
        [](Rule& r) { r.ban.boxes[0].identity = 1; },
        [](Rule& r) { r.ban.boxes[0].per = Per::Byte; },
    };
    for (const auto& break_it : breaks) {
        RuleSet set = make();
        break_it(set.rules[0]);
        EXPECT_NE(find_fault(set), std::nullopt) << (&break_it - breaks.data());
    }
}

TEST(FindFault, BoundsTheRulesThatBanSources) {
    RuleSet set;
    const auto add = [&set](std::uint64_t number) {
        Rule rule = example().rules[0];
        rule.id = "r" + std::to_string(number);
        rule.limits.pop_back();
        rule.limits[0].identity = 2 * number + 1;
        rule.ban.applies_to = BanScope::Source;
        rule.ban.boxes.push_back({.identity = 2 * number + 2,
                                  .name = "ban",
                                  .limit = PenaltyLimit{3, 1'000'000'000, 1'000'000'000}});
        set.rules.push_back(std::move(rule));
    };
    for (std::uint64_t number = 0; number < kMostSourceBans; ++number) {
        add(number);
    }
    EXPECT_EQ(find_fault(set), std::nullopt);
    add(kMostSourceBans);
    EXPECT_EQ(find_fault(set), "more than 8 rules ban sources");
    set.rules.back().ban.applies_to = BanScope::Key;
    EXPECT_EQ(find_fault(set), std::nullopt);
}

TEST(FindFault, BoundsTheNumberOfRulesAndLimits) {
    RuleSet set;
    for (std::size_t i = 0; i <= kMaxRules; ++i) {
        Rule rule;
        rule.id = "r" + std::to_string(i);
        rule.on_match = OnMatch::Act;
        set.rules.push_back(rule);
    }
    EXPECT_NE(find_fault(set)->find("rules"), std::string::npos);
    set.rules.pop_back();
    EXPECT_EQ(find_fault(set), std::nullopt);

    std::uint64_t identity = 0;
    for (Rule& rule : set.rules) {
        rule.on_match = OnMatch::Meter;
        rule.keys.emplace_back();
        for (int i = 0; i < 3; ++i) {
            rule.limits.push_back(
                {.identity = identity++, .name = {}, .limit = TokenBucketLimit{ten_per_second()}});
        }
    }
    EXPECT_NE(find_fault(set)->find("limits"), std::string::npos);
}

// One service of HTTP for all that comes to port 80.
RuleSet with_service() {
    RuleSet set;
    set.services.push_back({.id = "web", .mode = Mode::Enforce});
    ClassifierParts parts;
    parts.always = {0};
    set.service_classifier = Classifier{parts};
    return set;
}

TEST(FindFault, ChecksServices) {
    EXPECT_EQ(find_fault(with_service()), std::nullopt);
    const auto is_sound = [](void (*change)(Service&)) {
        RuleSet set = with_service();
        change(set.services.front());
        return find_fault(set) == std::nullopt;
    };
    EXPECT_FALSE(is_sound([](Service& service) { service.id.clear(); }));
    EXPECT_FALSE(is_sound([](Service& service) { service.id.resize(kMaxRuleIdSize + 1, 'a'); }));
    EXPECT_FALSE(is_sound([](Service& service) { service.mode = Mode::Off; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.protocol = ServiceProtocol{4}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.on_unreadable = OnUnreadable{3}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.midstream = Midstream{3}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.checksums = Checksums{3}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.path = ServicePath{2}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.on_h2c = OnH2c{2}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.min_ttl = 0; }));
    EXPECT_TRUE(is_sound([](Service& service) { service.upgrades.connect = true; }));
    EXPECT_FALSE(is_sound([](Service& service) {
        service.protocol = ServiceProtocol::Tls;
        service.upgrades.connect = true;
    }));
    EXPECT_FALSE(is_sound([](Service& service) { service.protocol = ServiceProtocol::Quic; }))
        << "nothing of it can be met midstream";
    EXPECT_TRUE(is_sound([](Service& service) {
        service.proxies = {{IpVersion::V4, parse_address("10.0.0.0")->address, 8}};
    }));
    EXPECT_FALSE(is_sound([](Service& service) {
        service.proxies = {{IpVersion::V4, parse_address("10.0.0.1")->address, 8}};
    }));
    EXPECT_FALSE(is_sound([](Service& service) { service.proxies = {{IpVersion::V4, {}, 33}}; }));
    EXPECT_FALSE(is_sound([](Service& service) { service.proxies = {{IpVersion::None, {}, 0}}; }));
    EXPECT_FALSE(is_sound([](Service& service) {
        service.proxies.resize(kMaxServiceProxies + 1, {IpVersion::V4, {}, 0});
    }));
}

TEST(FindFault, ChecksHowServicesAreFound) {
    RuleSet set = with_service();
    set.services.push_back(set.services.front());
    EXPECT_NE(find_fault(set), std::nullopt) << "two of one id";
    set.services.pop_back();
    ClassifierParts parts;
    parts.always = {1};
    set.service_classifier = Classifier{parts};
    EXPECT_NE(find_fault(set), std::nullopt) << "of a service that is not there";
    const auto over = [&](Field field) {
        ClassifierParts tested;
        tested.rule_of = {0};
        tested.blocks.resize(1);
        tested.dimensions.push_back(
            {.field = field, .steps = {{0, 0}}, .used = {1}, .open = {1}, .references = {0}});
        set.service_classifier = Classifier{std::move(tested)};
        return find_fault(set) == std::nullopt;
    };
    EXPECT_TRUE(over(Field::L4Dport));
    EXPECT_FALSE(over(Field::TcpSyn));
    EXPECT_FALSE(over(Field::IpSrcCountry));
    RuleSet many = with_service();
    for (std::size_t i = 0; i < kMaxServices; ++i) {
        many.services.push_back({.id = std::to_string(i)});
    }
    EXPECT_NE(find_fault(many), std::nullopt);
}

}  // namespace
}  // namespace sluice::rule_set_test

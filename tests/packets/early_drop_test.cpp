#include "lib/rules/load/early_drop.hpp"
#include "lib/match/address_key.hpp"
#include "lib/policy/clauses/possible_packets.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/random_condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

// What is dropped before it reaches the box: proven of the rules, and held against what the box
// makes of packets.
namespace sluice::test::early_drop_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

std::string rule(const std::string& text) {
    return "  - {" + text + "}\n";
}
std::string deny(const std::string& when, const std::string& more = "mode: enforce") {
    return "id: deny, on_match: drop, " + more + ", when: '" + when + "'";
}
std::string rules_of(const std::vector<std::string>& rules, const std::string& before = "") {
    std::string text = "version: 1\n" + before + "rules:\n";
    for (const std::string& one : rules) {
        text += rule(one);
    }
    return text;
}
const std::string kLimits = "limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]";

// A file exempts keys, and only operators ban them at run time: here what a file exempts is banned.
RuleSet set_of(const std::string& rules) {
    RuleSet set = enforced({.file = "rules", .text = rules, .lists = nullptr}).set;
    for (Rule& rule : set.rules) {
        if (rule.overrides == nullptr) {
            continue;
        }
        auto banned = std::make_shared<Overrides>(*rule.overrides);
        for (OverridePlan& plan : banned->plans) {
            std::swap(plan.exempt, plan.banned);
            std::swap(plan.exempt_until, plan.banned_until);
        }
        rule.overrides = std::move(banned);
    }
    return set;
}

DroppedNetworks found_in(const RuleSet& set, std::size_t most = 1000,
                         Direction dir = Direction::In) {
    return EarlyDropProof{set, {.pair = port_name("lab"), .dir = dir}}.networks(most);
}

std::string shown(const std::string& rules, Direction dir = Direction::In) {
    const RuleSet set = set_of(rules);
    std::string text;
    for (const DroppedNetwork& one : found_in(set, 1000, dir).networks) {
        text += (text.empty() ? "" : " ") + to_text(one.from) + "=" + set.rules[one.rule].id;
    }
    return text;
}

struct Row {
    std::string name;
    std::string rules;
    std::string in;  // NETWORK=RULE, from the outside
};

TEST(EarlyDrop, HoldsOnlyWhatIsDroppedWhateverIsInThePacket) {
    const std::string all = "10.1.0.0/16=deny 192.0.2.7=deny 2001:db8::/32=deny";
    const std::string list = "ip.src in {192.0.2.7 10.1.0.0/16 2001:db8::/32}";
    const std::string banned = "id: r, mode: enforce, key: [ip.src], " + kLimits +
                               ", overrides: {inline: [{key: [192.0.2.9], exempt: true}]}";
    const std::string of_sources = "when: 'l4.dport eq 80', " + banned +
                                   ", ban: {after: 3, within: 1m, for: 1h, applies_to: source}";
    const Row rows[] = {
        {"a list", rules_of({deny(list)}), all},
        {"a range", rules_of({deny("ip.src in {10.0.0.0/8} and not ip.src in {10.0.0.0/9}")}),
         "10.128.0.0/9=deny"},
        {"neighbours are one", rules_of({deny("ip.src in {10.0.0.0/9 10.128.0.0/9}")}),
         "10.0.0.0/8=deny"},
        {"monitored", rules_of({deny(list, "mode: monitor")}), ""},
        {"narrower", rules_of({deny(list + " and ip.proto eq 17")}), ""},
        {"narrower by a text", rules_of({deny(list + " and payload contains \"x\"")}), ""},
        {"of another port", rules_of({deny(list + " and port eq \"other\"")}), ""},
        {"of this port", rules_of({deny(list + " and port eq \"lab\"")}), all},
        {"of this side", rules_of({deny(list + " and dir eq \"in\"")}), all},
        {"of the other side", rules_of({deny(list + " and dir eq \"out\"")}), ""},
        {"either way", rules_of({deny("ip.src eq 192.0.2.7 or ip.proto eq 17")}), "192.0.2.7=deny"},
        {"behind an allow of some",
         rules_of({"id: friend, mode: enforce, on_match: allow, when: 'ip.src eq 192.0.2.7'",
                   deny(list)}),
         "10.1.0.0/16=deny 2001:db8::/32=deny"},
        {"behind an allow of a service",
         rules_of({"id: dns, mode: enforce, on_match: allow, when: 'l4.dport eq 53'", deny(list)}),
         ""},
        {"behind an allow that only watches",
         rules_of({"id: dns, mode: monitor, on_match: allow, when: 'l4.dport eq 53'", deny(list)}),
         ""},
        {"before an allow",
         rules_of({deny(list), "id: dns, mode: enforce, on_match: allow, when: 'l4.dport eq 53'"}),
         all},
        {"behind another drop of a service",
         rules_of({"id: dns, mode: enforce, on_match: drop, when: 'l4.dport eq 53'", deny(list)}),
         ""},
        {"a drop that is written as an action",
         rules_of({"id: deny, mode: enforce, on_match: {action: drop}, when: '" + list + "'"}),
         all},
        {"a reset",
         rules_of({"id: r, mode: enforce, on_match: {action: reset}, when: '" + list + "'"}), ""},
        {"a reply",
         rules_of({"id: r, mode: enforce, on_match: {action: reply}, when: '" + list + "'"}), ""},
        {"a tag",
         rules_of({"id: r, mode: enforce, on_match: {action: tag, dscp: 8}, when: '" + list + "'"}),
         ""},
        {"behind an answer to some",
         rules_of({"id: r, mode: enforce, on_match: {action: reset}, when: 'ip.src eq 192.0.2.7'",
                   deny(list)}),
         "10.1.0.0/16=deny 2001:db8::/32=deny"},
        {"before an answer",
         rules_of({deny(list),
                   "id: r, mode: enforce, on_match: {action: reset}, when: 'l4.dport eq 53'"}),
         all},
        {"behind limits", rules_of({"id: r, mode: enforce, key: [ip.src], " + kLimits, deny(list)}),
         all},
        {"a ban", rules_of({banned}), "192.0.2.9=r"},
        {"a ban of a service", rules_of({"when: 'ip.proto eq 17', " + banned}), ""},
        {"a ban that only watches",
         rules_of({"id: r, mode: monitor, key: [ip.src], " + kLimits +
                   ", overrides: {inline: [{key: [192.0.2.9], exempt: true}]}"}),
         ""},
        {"a ban of a network",
         rules_of({"id: r, mode: enforce, key: ['prefix(ip.src, 24|64)'], " + kLimits +
                   ", overrides: {inline: [{key: [192.0.2.0/24], exempt: true}]}"}),
         "192.0.2.0/24=r"},
        {"a ban of an address and a port",
         rules_of({"id: r, mode: enforce, key: [ip.src, l4.dport], " + kLimits +
                   ", overrides: {inline: [{key: [192.0.2.9, 53], exempt: true}]}"}),
         ""},
        {"a ban beside an allow",
         rules_of({banned, "id: friend, mode: enforce, on_match: allow, when: 'l4.dport eq 53'"}),
         ""},
        {"a ban beside a rule that answers on sight",
         rules_of(
             {banned, "id: s, mode: enforce, on_match: {action: reset}, when: 'l4.dport eq 53'"}),
         ""},
        {"a ban beside a rule that answers",
         rules_of({banned, "id: s, mode: enforce, key: [ip.dst], " + kLimits +
                               ", on_exceed: {action: reset}"}),
         ""},
        {"a ban beside what refusals spend",
         rules_of(
             {banned, "id: s, mode: enforce, key: [ip.dst], rejected_spend: true, " + kLimits}),
         ""},
        {"a ban of all that a source sends",
         rules_of({of_sources, "id: friend, mode: enforce, on_match: allow, when: 'l4.dport eq 53'",
                   "id: s, mode: enforce, key: [ip.dst], rejected_spend: true, " + kLimits +
                       ", on_exceed: {action: reset}"}),
         "192.0.2.9=r"},
        {"one beside a budget",
         rules_of({of_sources},
                  "bypass: [{when: 'l4.dport eq 179', key: [], limit: {algorithm: token_bucket, "
                  "rate: 1/s, burst: 5}}]\n"),
         ""},
        {"none", rules_of({"id: r, mode: enforce, key: [ip.src], " + kLimits}), ""},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(shown(row.rules), row.in) << row.name;
    }
}

TEST(EarlyDrop, ABudgetOfBypassKeepsWhatItMayPass) {
    const std::string budget =
        "bypass:\n  - {when: 'ip.src in {10.1.2.0/24}', key: [], "
        "limit: {algorithm: token_bucket, rate: 100/s, burst: 100}}\n";
    EXPECT_EQ(shown(rules_of({deny("ip.src in {10.1.2.0/23}")}, budget)), "10.1.3.0/24=deny");
}

// Networks that a file bans, beside keys that it exempts.
RuleSet set_banning(const std::string& rows, const std::string& more = "") {
    const std::string csv = "key,limit,rate,burst,count,expires,reason,ban\n" + rows;
    const ListReader files = [&](const std::string& path) -> Result<ListFile> {
        return ListFile{path, std::make_shared<const std::string>(csv)};
    };
    return enforced({.file = "rules",
                     .text = rules_of({"id: r, mode: enforce, key: [ip.src], " + kLimits +
                                       ", overrides: {file: o.csv}" + more}),
                     .lists = &files})
        .set;
}
std::string shown_of(const DroppedNetworks& found) {
    std::string text;
    for (const DroppedNetwork& one : found.networks) {
        text += (text.empty() ? "" : " ") + to_text(one.from) + (one.passes() ? "=passes" : "");
    }
    return text;
}

TEST(EarlyDrop, ABannedNetworkIsDroppedButForKeysThatAreExempt) {
    const std::string network = "10.0.0.0/24,,,,,,,yes\n";
    const std::string exempt = "10.0.0.9,exempt,,,,,,\n10.0.1.9,exempt,,,,,,\n";
    const std::string v6 = "2001:db8::/32,,,,,,,yes\n2001:db8::7,exempt,,,,,,\n";
    EXPECT_EQ(shown_of(found_in(set_banning(network))), "10.0.0.0/24");
    EXPECT_EQ(shown_of(found_in(set_banning(network + exempt))), "10.0.0.9=passes 10.0.0.0/24");
    EXPECT_EQ(shown_of(found_in(set_banning(network + v6 + "10.0.0.3,,,,,,,yes\n"))),
              "10.0.0.0/24 2001:db8::7=passes 2001:db8::/32 10.0.0.3");
    // Numbers of its own are no way out.
    EXPECT_EQ(shown_of(found_in(set_banning(network + "10.0.0.2,1,9/s,90,,,,\n"))), "10.0.0.0/24");
    // One that is in two of them has one place.
    EXPECT_EQ(shown_of(found_in(set_banning(network + "10.0.0.0/8,,,,,,,yes\n" + exempt))),
              "10.0.0.9=passes 10.0.1.9=passes 10.0.0.0/8 10.0.0.0/24");
    EXPECT_EQ(shown_of(found_in(set_banning(network,
                                            ", ban: {after: 3, within: 1m, for: 1h, "
                                            "action: reset}"))),
              "");
    EXPECT_EQ(shown_of(found_in(set_banning(network, ", on_exceed: {action: reset}"))), "");
    EXPECT_EQ(shown_of(found_in(set_banning(network, ", when: 'l4.dport eq 53'"))), "");
}

TEST(EarlyDrop, SaysWhyOfEachNetwork) {
    const auto sources = [](const DroppedNetworks& found) {
        std::vector<EarlyDropSource> of;
        for (const DroppedNetwork& one : found.networks) {
            of.push_back(one.source);
        }
        return of;
    };
    using enum EarlyDropSource;
    EXPECT_EQ(sources(found_in(set_banning("10.0.0.0/24,,,,,,,yes\n10.0.0.9,exempt,,,,,,\n"
                                           "10.0.1.3,,,,,,,yes\n"))),
              (std::vector{Exempt, NetworkBan, KeyBan}));
    EXPECT_EQ(sources(found_in(set_of(rules_of({deny("ip.src in {10.0.0.1}")})))),
              std::vector{Condition});
}

// Whom overrides exempt is not dropped for a ban of before.
TEST(EarlyDrop, AKeyThatIsExemptByNameOrRangeIsNotLeftInThePenaltyBox) {
    const Result<LoadedRules> loaded = LoadedRules::make(
        set_banning("10.0.0.9,exempt,,,,,,\n10.0.0.7,1,9/s,90,,,,\n10.0.0.2,,,,,,,yes\n"
                    "10.0.4.0/24,exempt,,,,,,\n10.0.4.0/28,1,9/s,90,,,,\n10.1.0.0/16,,,,,,,yes\n"
                    "2001:db8::7,exempt,,,,,,\n2001:db8:1::/48,exempt,,,,,,\n",
                    ", ban: {after: 3, within: 1m, for: 1h}"),
        {.secret = {}});
    ASSERT_TRUE(loaded);
    const LoadedRule& rule = loaded->set().rules[0];
    const auto is_exempt = [&](std::string_view source) {
        KeyBytes key;
        key.append_address(rule.keys[0][0], *parse_address(source));
        return may_be_exempt(rule, key.view());
    };
    for (const char* source :
         {"10.0.0.9", "10.0.4.1", "10.0.4.77", "2001:db8::7", "2001:db8:1::2"}) {
        EXPECT_TRUE(is_exempt(source)) << source;
    }
    for (const char* source : {"10.0.0.7", "10.0.0.2", "10.0.0.8", "10.1.0.1", "10.0.5.0",
                               "2001:db8::8", "2001:db8:2::1"}) {
        EXPECT_FALSE(is_exempt(source)) << source;
    }
}

// Exempt ranges within a ban are left to the box, and so is a ban within them.
TEST(EarlyDrop, ABannedNetworkIsDroppedButForRangesThatAreExempt) {
    const std::string banned = "10.0.0.0/16,,,,,,,yes\n";
    const auto shown = [&](const std::string& more) {
        return shown_of(found_in(set_banning(banned + more)));
    };
    EXPECT_EQ(shown("10.0.4.0/24,exempt,,,,,,\n"), "10.0.4.0/24=passes 10.0.0.0/16");
    EXPECT_EQ(shown("10.0.0.2-10.0.0.6,exempt,,,,1970-01-01,,\n"),
              "10.0.0.2/31=passes 10.0.0.4/31=passes 10.0.0.6=passes 10.0.0.0/16");
    // A ban within what is exempt holds, and a key of it too.
    EXPECT_EQ(shown("10.0.4.0/24,exempt,,,,,,\n10.0.4.0/28,,,,,,,yes\n10.0.4.9,,,,,,,yes\n"),
              "10.0.4.0/24=passes 10.0.0.0/16 10.0.4.9");
    EXPECT_EQ(shown("10.0.0.0/16,exempt,,,,,,\n"), "");
    EXPECT_EQ(shown("10.0.0.0/8,exempt,,,,,,\n"), "");
    EXPECT_EQ(shown("10.0.255.0-10.1.0.0,exempt,,,,,,\n"), "");
    EXPECT_EQ(shown("9.255.0.0-10.0.0.0,exempt,,,,,,\n"), "");
    // Numbers of a network are no way out.
    EXPECT_EQ(shown("10.0.4.0/24,1,9/s,90,,,,\n11.0.0.0/24,exempt,,,,,,\n"), "10.0.0.0/16");
    const RuleSet many = set_banning(banned + "10.0.0.1-10.0.0.254,exempt,,,,,,\n");
    EXPECT_EQ(found_in(many, 15).networks.size(), 15U);
    EXPECT_TRUE(found_in(many, 14).networks.empty());
}

// A network is in the kernel with all that passes within it, or not at all.
TEST(EarlyDrop, ANetworkWithoutRoomForWhatPassesIsLeftOut) {
    const RuleSet set = set_banning(
        "10.0.0.0/24,,,,,,,yes\n10.0.0.1,exempt,,,,,,\n10.0.0.2,exempt,,,,,,\n"
        "10.0.1.0/24,,,,,,,yes\n");
    EXPECT_EQ(shown_of(found_in(set, 4)),
              "10.0.0.1=passes 10.0.0.2=passes 10.0.0.0/24 10.0.1.0/24");
    const DroppedNetworks found = found_in(set, 2);
    EXPECT_EQ(shown_of(found), "10.0.1.0/24");
    EXPECT_EQ(found.left_out, 1U);
}

TEST(EarlyDrop, WhatHasNoRoomIsCounted) {
    const RuleSet set = set_of(rules_of({deny("ip.src in {10.0.0.1 10.0.0.3 10.0.0.5}")}));
    const DroppedNetworks found = found_in(set, 2);
    EXPECT_EQ(found.networks.size(), 2U);
    EXPECT_EQ(found.left_out, 1U);
}

TEST(EarlyDrop, ABanHasItsEnd) {
    const RuleSet set = set_of(
        rules_of({"id: r, mode: enforce, key: [ip.src], " + kLimits +
                  ", overrides: {inline: [{key: [192.0.2.9], exempt: true, until: 2100-01-01}]}"}));
    const DroppedNetworks found = found_in(set);
    ASSERT_EQ(found.networks.size(), 1U);
    // All of that day.
    EXPECT_EQ(found.networks[0].until, Nanoseconds{std::chrono::seconds{4'102'531'200}});
}

TEST(EarlyDrop, AKeyInThePenaltyBoxOfARuleThatDropsIsToo) {
    const auto boxed = [](const std::string& rules, std::string_view source) {
        const RuleSet set = set_of(rules);
        const auto address = parse_address(source);
        KeyBytes key;
        key.append_address(set.rules[0].keys[0][0], *address);
        EarlyDropProof proof{set, {.pair = port_name("lab"), .dir = Direction::In}};
        const auto found = proof.boxed(0, key.view(), Nanoseconds{7});
        const bool is_right =
            found && found->until == Nanoseconds{7} && found->source == EarlyDropSource::PenaltyBox;
        return is_right ? to_text(found->from) : "";
    };
    const std::string limited = "id: r, mode: enforce, key: [ip.src], " + kLimits;
    const std::string bans = ", ban: {after: 3, within: 1m, for: 1h}";
    EXPECT_EQ(boxed(rules_of({limited + bans}), "192.0.2.9"), "192.0.2.9");
    EXPECT_EQ(boxed(rules_of({limited}), "192.0.2.9"), "");
    EXPECT_EQ(boxed(rules_of({limited + bans + ", when: 'l4.dport eq 53'"}), "192.0.2.9"), "");
    EXPECT_EQ(boxed(rules_of({limited + ", ban: {after: 3, within: 1m, for: 1h, action: reset}"}),
                    "192.0.2.9"),
              "");
    const std::string friends =
        "id: friends, mode: enforce, on_match: allow, when: 'ip.src in {192.0.2.0/24}'";
    EXPECT_EQ(boxed(rules_of({limited + bans, friends}), "192.0.2.9"), "");
    EXPECT_EQ(boxed(rules_of({limited + bans, friends}), "192.0.3.9"), "192.0.3.9");
    const std::string of_sources =
        ", when: 'l4.dport eq 53', ban: {after: 3, within: 1m, for: 1h, applies_to: source}";
    EXPECT_EQ(boxed(rules_of({limited + of_sources, friends}), "192.0.2.9"), "192.0.2.9");
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}
    std::size_t below(std::size_t bound) { return random_() % bound; }

    // One that no packet is, is an error.
    std::string possible_condition() {
        for (;;) {
            std::string when = random_condition(*this, 2);
            const auto parsed = parse_expression(when);
            SetPool sets;
            const auto clauses = clauses_of(std::get<ParsedExpression>(parsed).tree, sets);
            if (clauses && !clauses->empty() && !find_contradiction(*clauses, sets, {})) {
                return when;
            }
        }
    }
    std::string comparison() {
        static const std::string kComparisons[] = {
            "ip.src in {10.0.0.0/22 2001:db8:7::/48}",
            "ip.src in {10.0.2.0/23 10.0.5.1}",
            "not ip.src in {10.0.0.0/23}",
            "ip.src eq 10.0.4.9",
            "dir eq \"in\"",
            "port eq \"lab\"",
            "ip.proto eq 17",
            "l4.dport ge 60",
            "payload contains \"attack\"",
            "ip.dst in {198.51.100.0/24}",
        };
        return kComparisons[below(std::size(kComparisons))];
    }
    std::string rule(std::size_t number) {
        const std::string head = "id: r" + std::to_string(number) +
                                 ", mode: " + (below(4) == 0 ? "monitor" : "enforce") +
                                 (below(8) == 0 ? "" : ", when: '" + possible_condition() + "'");
        static constexpr const char* kActions[] = {"allow", "allow", "{action: tag, dscp: 8}",
                                                   "{action: reset}", "{action: drop}"};
        switch (below(4)) {
            case 0:
                return head + ", on_match: " + kActions[below(std::size(kActions))];
            case 1:
                return head + ", key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/h, " +
                       "burst: 1}], overrides: {inline: [{key: [10.0.1.1], exempt: true}]}" +
                       (below(4) == 0 ? ", rejected_spend: true" : "") +
                       (below(4) == 0 ? ", on_exceed: {action: tag, dscp: 8}" : "") +
                       (below(3) == 0 ? ", ban: {after: 3, within: 1m, for: 1h, applies_to: source}"
                                      : "");
            default:
                return head + ", on_match: drop";
        }
    }
    Octets frame() {
        static constexpr const char* kSources[] = {"10.0.0.1",   "10.0.1.1",     "10.0.2.7",
                                                   "10.0.4.9",   "10.0.5.1",     "203.0.113.5",
                                                   "10.0.3.255", "2001:db8:7::9"};
        static constexpr std::string_view kTexts[] = {"", "xx attack"};
        Frame frame = below(2) == 0 ? udp() : tcp().flags(2);
        const ByteView text = bytes_of(kTexts[below(2)]);
        frame.src(kSources[below(std::size(kSources))])
            .dport(static_cast<std::uint16_t>(50 + below(20)))
            .carries({text.begin(), text.end()});
        if (below(10) == 0) {
            frame.frag(8, false);
        }
        return frame.bytes();
    }

private:
    std::mt19937_64 random_;
};

// Nullptr: it is left to the box.
const DroppedNetwork* network_of(const DroppedNetworks& found, const PacketHeaders& headers) {
    const auto one = std::find_if(
        found.networks.begin(), found.networks.end(), [&](const DroppedNetwork& network) {
            return network.from.version == headers.ip_version &&
                   masked(headers.src, network.from.length) == network.from.address;
        });
    return one == found.networks.end() ? nullptr : &*one;
}

// By the rule that the box drops it by.
TEST(EarlyDrop, TheBoxWouldHaveDroppedItToo) {
    const char* const given = std::getenv("SLUICE_TEST_SEED");
    const std::uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice{seed};
    std::size_t early = 0;
    for (int round = 0; round < 150 && !HasFailure(); ++round) {
        std::vector<std::string> rules;
        for (std::size_t number = 1 + dice.below(5); number > 0; --number) {
            rules.push_back(dice.rule(number));
        }
        const std::string text = rules_of(rules);
        SCOPED_TRACE(text);
        const DroppedNetworks found = found_in(set_of(text));
        Box box{set_of(text)};
        for (int i = 0; i < 100; ++i) {
            const Octets bytes = dice.frame();
            PacketHeaders headers;
            (void)parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {}, headers);
            const DroppedNetwork* const network = network_of(found, headers);
            const Decision decision = box.judge(bytes, kStart);
            if (network != nullptr) {
                ++early;
                EXPECT_EQ(decision.verdict, Verdict::Drop);
                EXPECT_EQ(box.rule_name(decision), box.set().rules[network->rule].id);
            }
        }
    }
    EXPECT_GT(early, 500U) << "packets that would have been dropped early";
}

}  // namespace
}  // namespace sluice::test::early_drop_test

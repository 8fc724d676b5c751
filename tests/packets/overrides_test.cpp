#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/override_rules.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>

// Other numbers, or none, for single keys.
namespace sluice::overrides_test {
namespace {

using namespace std::chrono_literals;
using test::admitted_from;
using test::Box;
using test::send_from;
using test::udp;

constexpr Instant kStart{1h};

std::string rules(const std::string& overrides, const std::string& limits = test::kOverriddenLimit,
                  const std::string& more = "") {
    return test::rules_with_overrides(overrides, "ip.src", limits, more);
}

TEST(Overrides, AKeyHasItsOwnNumbersAndTheOthersTheRules) {
    Box box{
        rules("{key: [10.0.0.1], limits: {\"1\": {rate: 10/s, burst: 20}}}, "
              "{key: [10.0.0.2], limits: {\"1\": {burst: 2}}}")};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 20);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart), 2);
    EXPECT_EQ(admitted_from(box, "10.0.0.3", kStart), 5);
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 10);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart + 1s), 1);
    EXPECT_EQ(admitted_from(box, "10.0.0.3", kStart + 1s), 1);
}

// However long after the rules were loaded: nothing was owed before it came.
TEST(Overrides, AKeyThatComesLaterHasAFullBucketOfItsOwnNumbers) {
    Box box{rules("{key: [10.0.0.1], limits: {\"1\": {rate: 1/h, burst: 20}}}")};
    EXPECT_EQ(admitted_from(box, "10.0.0.3", kStart), 5);
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 3s), 20);
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 4s), 0);
}

TEST(Overrides, AnExemptKeyIsNotChargedAndCounted) {
    Box box{rules("{key: [10.0.0.1], exempt: true}")};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 50);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart), 5);
    EXPECT_EQ(box.counters(0).exempted.read(), 50U);
    EXPECT_EQ(box.counters(0).admitted.read(), 55U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 45U);
    EXPECT_EQ(box.buckets().registry.entries_of(1).read(), 1U);
}

TEST(Overrides, AnExemptKeyOwesNothingOnceItIsNoLonger) {
    Box box{rules("{key: [10.0.0.1], exempt: true}")};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 50);
    ASSERT_TRUE(box.reload(rules("{key: [10.0.0.1], limits: {\"1\": {rate: 1/h, burst: 20}}}")));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1ms), 20);
    ASSERT_TRUE(box.reload(rules("{key: [10.0.0.2], exempt: true}")));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1ms), 0);
}

TEST(Overrides, ExemptOfOneRuleIsNotExemptOfAnother) {
    Box box{rules("{key: [10.0.0.1], exempt: true}") +
            "  - id: s\n    mode: enforce\n    key: [ip.src]\n"
            "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 7}]\n"};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 7);
}

// UTC is the instant here: the box's clock says how far it is ahead, and these say 0.
TEST(Overrides, TheyEndByThemselves) {
    Box box{
        rules("{key: [10.0.0.1], exempt: true, until: 1970-01-01}, "
              "{key: [10.0.0.2], limits: {\"1\": {rate: 10/s, burst: 20}}, "
              "until: '1970-01-01T12:00:00Z'}")};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{24h - 1s}), 50);
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{24h}), 5);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{12h - 1s}), 20);
    // Ten came back by the end, and what remains owed is more than the rule's burst.
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{12h}), 0);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{12h + 3s}), 0);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{12h + 8s}), 3);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{12h + 100s}), 5);
}

// Their end was the step: no time passed that could be owed for.
TEST(Overrides, AClockSetAheadBeyondTheirEndEndsThemThen) {
    for (const Nanoseconds step : {Nanoseconds{2h}, Nanoseconds{24h * 400}}) {
        Box box{
            rules("{key: [10.0.0.1], limits: {\"1\": {rate: 10/s, burst: 20}}, "
                  "until: '1970-01-01T12:00:00Z'}")};
        const Instant set{12h - 1s};
        EXPECT_EQ(admitted_from(box, "10.0.0.1", set), 20);
        const std::vector<std::byte> bytes = udp().src("10.0.0.1").bytes();
        const FrameView frame{bytes, static_cast<std::uint32_t>(bytes.size())};
        const auto admitted_after = [&](Nanoseconds time) {
            int count = 0;
            for (int i = 0; i < 10; ++i) {
                const Now now{set + time, step};
                count += box.judge(frame, now).verdict == Verdict::Pass ? 1 : 0;
            }
            return count;
        };
        // Twenty are owed under the rule's numbers, of which five fit.
        EXPECT_EQ(admitted_after(1ms), 0);
        EXPECT_EQ(admitted_after(15s), 0);
        EXPECT_EQ(admitted_after(17s), 2);
        EXPECT_EQ(admitted_after(60s), 5);
    }
}

// What is used up when an override ends is not forgotten any sooner than the rule's rate says.
TEST(Overrides, AnIdleBucketIsKeptAsLongAsItOwesUnderTheRule) {
    const std::string slow = "{algorithm: token_bucket, rate: 1/h, burst: 5}";
    Box box{rules("{key: [10.0.0.1], limits: {\"1\": {rate: 10/s, burst: 20}}, "
                  "until: '1970-01-01T12:00:00Z'}",
                  slow),
            {},
            1};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{12h - 1s}), 20);
    // Others come and go, and look for places.
    for (int i = 1; i < 40; ++i) {
        (void)send_from(box, "10.0.1." + std::to_string(i), Instant{12h + 10s});
    }
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{12h + 10s}), 0);
    // Ten of twenty had not come back at the end: the first of the rule's five fits once six have.
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{18h - 1s}), 0);
    EXPECT_EQ(admitted_from(box, "10.0.0.1", Instant{18h}), 1);
}

TEST(Overrides, OfEveryKindOfLimit) {
    const std::string limits[] = {
        "{algorithm: leaky_bucket, rate: 1/h, queue: 5}",
        "{algorithm: fixed_window, count: 5, window: 1h}",
        "{algorithm: sliding_window, count: 5, window: 1h}",
        "{algorithm: sliding_counters, count: 5, window: 1h}",
        "{algorithm: sliding_log, count: 5, window: 1h}",
    };
    for (const std::string& limit : limits) {
        const bool bucket = limit.find("leaky") != std::string::npos;
        const std::string number = bucket ? "queue" : "count";
        const std::string more = "{key: [10.0.0.1], limits: {\"1\": {" + number + ": 9}}}";
        const std::string less = "{key: [10.0.0.1], limits: {\"1\": {" + number + ": 2}}}";
        Box box{rules(more, limit)};
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 9) << limit;
        EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart), 5) << limit;
        // Taken away: nine were used, of five.
        ASSERT_TRUE(box.reload(rules("", limit)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 0) << limit;
        // And back: of nine, nine are used.
        ASSERT_TRUE(box.reload(rules(more, limit)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 2s), 0) << limit;
        ASSERT_TRUE(box.reload(rules(less, limit)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 3s), 0) << limit;
        EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart + 3s), 0) << limit;
        // Used is used, also of a key that had nothing of its own before.
        ASSERT_TRUE(
            box.reload(rules("{key: [10.0.0.2], limits: {\"1\": {" + number + ": 6}}}", limit)));
        EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart + 4s), 1) << limit;
    }
}

TEST(Overrides, EachTierHasItsOwn) {
    Box box{
        "version: 1\nrules:\n  - id: r\n    mode: enforce\n    tiers:\n"
        "      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]}\n"
        "      - {key: [l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}\n"
        "    overrides: {inline: [{key: [10.0.0.1], limits: {t1.1: {burst: 7}}}, "
        "{key: ['53'], limits: {t2.1: {burst: 20}}}, {key: ['443'], exempt: true}]}\n"};
    const auto count = [&](const std::string& source, std::uint16_t port) {
        int passed = 0;
        for (int i = 0; i < 50; ++i) {
            passed +=
                box.judge(udp().src(source).dport(port).bytes(), kStart).verdict == Verdict::Pass
                    ? 1
                    : 0;
        }
        return passed;
    };
    EXPECT_EQ(count("10.0.0.1", 53), 7);
    EXPECT_EQ(count("10.0.0.2", 53), 5);
    EXPECT_EQ(count("10.0.0.3", 53), 5);
    EXPECT_EQ(count("10.0.0.4", 53), 3);
    EXPECT_EQ(count("10.0.0.5", 80), 5);
    EXPECT_EQ(count("10.0.0.6", 80), 4);
    // The port is exempt, and with it the whole rule.
    EXPECT_EQ(count("10.0.0.6", 443), 50);
}

TEST(Overrides, WithoutAPlaceAKeyIsChargedToWiderOnesAsOthersAre) {
    Box box{rules("{key: [192.0.9.1], limits: {\"1\": {rate: 1/d, burst: 9}}}",
                  "{algorithm: token_bucket, rate: 1/d, burst: 2}",
                  "    on_full: {coarsen: {factor: 4}}\n"),
            {},
            1};
    for (int i = 1; i <= 4; ++i) {
        (void)send_from(box, "192.0." + std::to_string(i) + ".1", kStart);
    }
    EXPECT_EQ(admitted_from(box, "192.0.9.1", kStart), 8);  // 2 * 4
}

KeySetting set_for(const std::string& key, KeySetting::What what) {
    return {.rule = "r", .key = key, .what = what, .limit = "1", .is_new = true};
}

// What an operator sets wins over the file, for that limit; what he has banned is refused whatever
// else is said, and neither spends nor is asked.
TEST(Overrides, WhatIsSetAtRunTimeWins) {
    using What = KeySetting::What;
    const std::string file =
        "{key: [10.0.0.1], exempt: true}, "
        "{key: [10.0.0.2], limits: {\"1\": {burst: 2}}}, "
        "{key: [10.0.0.3], limits: {\"1\": {burst: 2}}}";
    Box box{rules(file)};
    KeySettings keys{set_for("10.0.0.1", What::Numbers), set_for("10.0.0.2", What::Exempt),
                     set_for("10.0.0.3", What::Banned), set_for("10.0.0.4", What::Banned)};
    keys[0].burst = "8";
    keys[3].until = 10'000;
    ASSERT_TRUE(box.reload(rules(file), keys));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 8);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", kStart), 50);
    EXPECT_EQ(admitted_from(box, "10.0.0.3", kStart), 0);
    const Decision banned = send_from(box, "10.0.0.4", kStart);
    EXPECT_EQ(banned.verdict, Verdict::Drop);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(box.rule_name(banned), "r");
    EXPECT_EQ(admitted_from(box, "10.0.0.4", Instant{10'000s}), 5);
    EXPECT_EQ(box.counters(0).exceeded.read(), 42U + 50U + 1U + 45U);
    ASSERT_TRUE(box.reload(rules(file)));
    EXPECT_EQ(admitted_from(box, "10.0.0.3", Instant{10'000s}), 2);
}

// An operator's `exempt` goes before a file's ban of the key and of its network; his numbers wait
// for the end of the key's ban, and another ban of his own is no less than one of the file.
TEST(Overrides, WhatIsSetAtRunTimeGoesBeforeAFilesBan) {
    using What = KeySetting::What;
    const ListReader files =
        test::lists_of({{"o.csv",
                         "key,limit,rate,burst,count,expires,reason,ban\n"
                         "10.0.0.1,,,,,,,yes\n10.0.0.2,,,,,1970-01-01,,yes\n"
                         "10.0.0.2,1,,7,,,,\n10.0.0.3,,,,,,,yes\n10.0.1.0/24,,,,,,,yes\n"}});
    const std::string text = rules("") + "    overrides: {file: o.csv}\n";
    Box box{text, {}, 4096, &files};
    for (const char* key : {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.1"}) {
        EXPECT_EQ(send_from(box, key, kStart).reason, Reason::Banned) << key;
    }
    KeySettings keys{set_for("10.0.0.1", What::Exempt), set_for("10.0.0.2", What::Numbers),
                     set_for("10.0.0.3", What::Exempt), set_for("10.0.0.3", What::Banned),
                     set_for("10.0.1.1", What::Exempt)};
    keys[1].burst = "9";
    ASSERT_TRUE(box.reload(text, &files, &keys));
    EXPECT_EQ(send_from(box, "10.0.0.1", kStart).reason, Reason::Exempt);
    EXPECT_EQ(send_from(box, "10.0.0.2", kStart).reason, Reason::Banned);
    EXPECT_EQ(send_from(box, "10.0.0.3", kStart).reason, Reason::Banned);
    EXPECT_EQ(send_from(box, "10.0.1.1", kStart).reason, Reason::Exempt);
    EXPECT_EQ(admitted_from(box, "10.0.0.2", Instant{24h}), 9);  // the day is over
    ASSERT_TRUE(box.reload(text, &files));
    EXPECT_EQ(send_from(box, "10.0.0.1", kStart).reason, Reason::Banned);
}

TEST(Overrides, ABanOfAMonitoringRuleOnlyCounts) {
    std::string text = rules("");
    text.replace(text.find("enforce"), 7, "monitor");
    Box box{text};
    ASSERT_TRUE(box.reload(text, {set_for("10.0.0.1", KeySetting::What::Banned)}));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 50);
    EXPECT_EQ(box.counters(0).exceeded.read(), 50U);
}

// Random numbers for random keys, changed while they are in use, against a map of keys that counts
// in whole units: rates are whole units a second, and everything happens at whole seconds. Each
// change is seen at once, since every key is looked at.
struct Numbers {
    std::uint64_t rate = 1;
    std::uint64_t burst = 5;
    bool exempt = false;
};

class Model {
public:
    static constexpr int kKeys = 12;

    explicit Model(std::uint64_t seed) : random_{seed} {}

    [[nodiscard]] std::string draw() {
        std::string text;
        for (int key = 0; key < kKeys; ++key) {
            Numbers next;
            const std::string head = (text.empty() ? "{key: [10.0.0." : ", {key: [10.0.0.") +
                                     std::to_string(key) + "], ";
            if (random_() % 3 == 0) {
                next = {1 + random_() % 4, 1 + random_() % 9, false};
                text += head + "limits: {\"1\": {rate: " + std::to_string(next.rate) +
                        "/s, burst: " + std::to_string(next.burst) + "}}}";
            } else if (random_() % 6 == 0) {
                next.exempt = true;
                text += head + "exempt: true}";
            }
            next_[static_cast<std::size_t>(key)] = next;
        }
        return text;
    }
    void change(std::int64_t second) {
        for (int key = 0; key < kKeys; ++key) {
            pay(key, second);
            const auto at = static_cast<std::size_t>(key);
            numbers_[at] = next_[at];
        }
    }
    [[nodiscard]] bool judge(int key, std::int64_t second) {
        pay(key, second);
        const auto at = static_cast<std::size_t>(key);
        if (numbers_[at].exempt) {
            return true;
        }
        const bool fits = owes_[at] < numbers_[at].burst;
        owes_[at] += fits ? 1 : 0;
        return fits;
    }
    [[nodiscard]] std::uint64_t left(int key, std::int64_t second) {
        pay(key, second);
        const auto at = static_cast<std::size_t>(key);
        return numbers_[at].burst - std::min(owes_[at], numbers_[at].burst);
    }

private:
    void pay(int key, std::int64_t second) {
        const auto at = static_cast<std::size_t>(key);
        const std::uint64_t paid =
            static_cast<std::uint64_t>(second - seconds_[at]) * numbers_[at].rate;
        owes_[at] -= std::min(owes_[at], paid);
        seconds_[at] = second;
    }

    std::mt19937_64 random_;
    std::array<Numbers, kKeys> numbers_{};
    std::array<Numbers, kKeys> next_{};
    std::array<std::uint64_t, kKeys> owes_{};
    std::array<std::int64_t, kKeys> seconds_{};
};

TEST(Overrides, AgreeWithAMapOfKeys) {
    const auto seeds = static_cast<std::uint64_t>(std::max(test::rounds(12), 2));
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Model model{seed};
        std::mt19937_64 random{seed + 100};
        Box box{rules(""), {}, 64};
        std::int64_t second = 0;
        int drops = 0;
        for (int round = 0; round < 4000; ++round) {
            second += static_cast<std::int64_t>(random() % 9 == 0);
            const Instant now = kStart + std::chrono::seconds{second};
            if (random() % 100 == 0) {
                ASSERT_TRUE(box.reload(rules(model.draw())));
                model.change(second);
                for (int key = 0; key < Model::kKeys; ++key) {
                    const Result<ReadKey> read = box.read_key("10.0.0." + std::to_string(key));
                    const KeyAnswer answer =
                        box.ask({.load = box.set().load, .bytes = read->bytes}, now);
                    ASSERT_EQ(answer.buckets[0].remaining, Units{model.left(key, second)})
                        << "seed " << seed << " round " << round << " key " << key;
                }
                // The sweep comes round, so that numbers may change again.
                for (int burst = 0; burst < 200'000 && box.buckets().registry.stale(); ++burst) {
                    box.idle(now);
                }
            }
            const int key = static_cast<int>(random() % Model::kKeys);
            const bool passes = model.judge(key, second);
            ASSERT_EQ(send_from(box, "10.0.0." + std::to_string(key), now).verdict == Verdict::Pass,
                      passes)
                << "seed " << seed << " round " << round << " key " << key;
            drops += passes ? 0 : 1;
        }
        EXPECT_GT(drops, 100);
    }
}

}  // namespace
}  // namespace sluice::overrides_test
